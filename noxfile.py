"""`make test` with every installed Python; versions that are not installed are skipped."""

import nox


@nox.session(python=["3.11", "3.12", "3.13", "3.14"], venv_backend="venv")
def test(session: nox.Session) -> None:
    """Run the same targets as on the Python of `make test`."""
    session.run("make", "test", f"VENV={session.virtualenv.location}", *session.posargs, external=True)
