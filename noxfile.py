"""`make test`, and the tutorial with the wheel alone, with every installed Python; others are skipped."""

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


PYTHONS = ["3.11", "3.12", "3.13", "3.14"]


@nox.session(python=PYTHONS, venv_backend="venv", download_python="never")
def test(session: nox.Session) -> None:
    """Run the same targets as on the Python of `make test-all`."""
    # Relative, because make does not accept a path with blanks.
    environment = os.path.relpath(session.virtualenv.location)
    session.run("make", "test-all", f"VENV={environment}", *session.posargs, external=True)


@nox.session(python=PYTHONS, venv_backend="venv", download_python="never")
def wheel(session: nox.Session) -> None:
    """Run the tutorial with the wheel that `make dist` builds, in an empty environment and folder."""
    session.run("make", "dist", external=True)
    checkout = Path.cwd()
    (built,) = checkout.glob("dist/*.whl")
    session.install(f"{built}[report]", "pytest", "hypothesis", "pyyaml")  # as pip resolves it for a user
    session.chdir(session.create_tmp())
    session.run(
        "python", "-c", f"import azlatency; assert not azlatency.__file__.startswith({str(checkout / 'azlatency')!r})"
    )
    tutorial = checkout / "tests" / "docs" / "test_readme.py"
    session.run("pytest", "-q", "-m", "slow or not slow", f"{tutorial}::test_the_tutorial_prints_what_it_shows")
