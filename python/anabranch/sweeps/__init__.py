"""Sweeps: one scenario, several axes, the same seeds in every cell.

`plan` says which runs there are, `execute` has them made (by `threads` here, or by `anabranch.cluster`), `task` makes
one, `store` and `dataset` keep them in a directory, `results` reads them as frames and compares them in pairs, `query`
asks them in SQL, `document` reads a sweep from a file.
"""

from anabranch.sweeps.document import read
from anabranch.sweeps.execute import sweep
from anabranch.sweeps.plan import Plan
from anabranch.sweeps.results import Sweep

__all__ = ["Plan", "Sweep", "read", "sweep"]
