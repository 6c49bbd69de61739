"""The command line. Tables go to standard output, everything else a person may want to know to standard error.

Exit status: 0 done (also when `duration` was reached or the transfer stalled), 1 a proof failed (``replay``,
``doctor``, content that differs) or runs of a sweep failed or were all refused, 2 bad input, 3 a transfer of a run
delivered no octet, 130 interrupted, 128 + N ended by signal N.

`group` is the command, `main` runs it; each other module holds the commands of one group, or what they share.
"""

from anabranch.cli.main import run_command

__all__ = ["run_command"]
