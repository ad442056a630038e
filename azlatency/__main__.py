"""``python -m azlatency``: the command line."""

import os
import sys

# Python puts the working directory on the import path: in a stranger's folder, its `pandas.py` would run.
if not sys.flags.safe_path and sys.path[0] in ("", os.getcwd()):
    del sys.path[0]

from azlatency.cli import main

main()
