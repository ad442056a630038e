"""`make test` with every installed Python; versions that are not installed are skipped."""

import os
from pathlib import Path

import nox

# nox looks in PATH only, and version managers keep the versions that are not selected elsewhere.
MANAGERS = {
    "PYENV_ROOT": ("~/.pyenv", "versions"),
    "ASDF_DATA_DIR": ("~/.asdf", "installs/python"),
    "MISE_DATA_DIR": ("~/.local/share/mise", "installs/python"),
    "UV_PYTHON_INSTALL_DIR": ("~/.local/share/uv/python", ""),
}
MANAGED = [
    str(folder)
    for variable, (default, versions) in MANAGERS.items()
    for folder in sorted((Path(os.environ.get(variable, default)).expanduser() / versions).glob("*/bin"))
]
os.environ["PATH"] = os.pathsep.join([os.environ["PATH"], *MANAGED])
nox.options.error_on_missing_interpreters = False


@nox.session(python=["3.11", "3.12", "3.13", "3.14"], venv_backend="venv", download_python="never")
def test(session: nox.Session) -> None:
    """Run the same targets as on the Python of `make test`."""
    # Relative, because make does not accept a path with blanks.
    environment = os.path.relpath(session.virtualenv.location)
    session.run("make", "test", f"VENV={environment}", *session.posargs, external=True)
