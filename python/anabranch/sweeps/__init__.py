"""Sweeps: one scenario, several axes, the same seeds in every cell.

`plan` says which runs there are, `execute` has them made (by `threads` here, or by `cluster`), `task` makes one,
`store` and `dataset` keep them in a directory, `data` reads them as frames and compares them in pairs, `query` asks
them in SQL, `document` reads a sweep from a file; `results` is what users have of all this.
"""

from anabranch.sweeps.results import Plan, Sweep, read, sweep

__all__ = ["Plan", "Sweep", "read", "sweep"]
