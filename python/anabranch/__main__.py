"""The ``anabranch`` command: ``python -m anabranch`` is the same."""

import sys


def main() -> None:
    """Run the command line; an interrupt that comes while Python still loads ends quietly, too."""
    try:
        from anabranch.cli import run_command

        status = run_command(sys.argv[1:])
    except KeyboardInterrupt:
        sys.stderr.write("interrupted: nothing was written\n")
        status = 130
    sys.exit(status)


if __name__ == "__main__":
    main()
