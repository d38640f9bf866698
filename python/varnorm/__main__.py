"""The program `varnorm`: `python -m varnorm demo`, or `varnorm demo` where the wheel is installed."""

from __future__ import annotations

import signal
import sys

from ._core import run_program


def main() -> int:
    """Runs the program with the arguments of this process, and gives its exit code."""
    # The program stops its work itself at Ctrl-C, and says what is kept.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return run_program(["varnorm", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
