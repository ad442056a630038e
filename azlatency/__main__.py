"""``python -m azlatency``: the command line."""

from azlatency.cli import main

main()
