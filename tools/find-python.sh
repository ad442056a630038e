#!/bin/sh
# Prints the first Python that can make the environment: 3.11 or newer, with venv and ensurepip.
# Where there is none it fails with one line on standard error that says what to install.
# usage: find-python.sh [CANDIDATE...]
[ $# -gt 0 ] || set -- python3 python3.13 python3.12 python3.14 python3.11 python

probe='import sys
if sys.version_info < (3, 11):
    print("old %d.%d" % sys.version_info[:2])
else:
    try:
        import ensurepip, venv
        print("good")
    except ImportError:
        print("bare %d.%d" % sys.version_info[:2])'

old='' bare=''
for python in "$@"; do
    command -v "$python" >/dev/null 2>&1 || continue
    answer=$("$python" -c "$probe" 2>/dev/null) || continue
    case $answer in
        good) command -v "$python"; exit 0 ;;
        bare*) [ -n "$bare" ] || bare=${answer#bare } ;;
        old*) [ -n "$old" ] || old="$python is ${answer#old }" ;;
    esac
done

if [ -n "$bare" ]; then
    echo "Python $bare is here without venv; install it (Debian and Ubuntu: apt install python$bare-venv)"
else
    echo "azlatency needs Python 3.11 or newer with venv (${old:-no Python found}); install it (Debian and Ubuntu: apt install python3 python3-venv; macOS: brew install python@3.13)"
fi >&2
exit 1
