"""The start of the command line, also as ``python -m azlatency``."""

import os
import sys


def main() -> None:
    """Run the command line; Ctrl-C ends it with one line from the first import on."""
    try:
        from azlatency.cli import main as run

        run()
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    # Python puts the working directory on the import path: in a stranger's folder, its `pandas.py` would run.
    if not sys.flags.safe_path and sys.path[0] in ("", os.getcwd()):
        del sys.path[0]
    main()
