"""The ``anabranch`` command: ``python -m anabranch`` is the same."""

import io
import sys

from anabranch.execution import interrupt


def main() -> None:
    """Run the command line."""
    interrupt.install()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a title may hold what a terminal cannot show
    from anabranch.cli import run_command

    interrupt.end(run_command(sys.argv[1:]))


if __name__ == "__main__":
    main()
