"""The ``anabranch`` command: ``python -m anabranch`` is the same."""

import sys

from anabranch import interrupt


def main() -> None:
    """Run the command line."""
    interrupt.install()
    from anabranch.cli import run_command

    interrupt.end(run_command(sys.argv[1:]))


if __name__ == "__main__":
    main()
