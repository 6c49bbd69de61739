"""Sweeps: one scenario, several axes, the same seeds in every cell.

`plan` says which runs there are, `execute` makes them with all cores, `store` keeps them in a directory, `results`
reads them as frames and compares them in pairs, `document` reads a sweep from a file.
"""

from anabranch.sweeps.document import read
from anabranch.sweeps.execute import sweep
from anabranch.sweeps.plan import Plan
from anabranch.sweeps.results import Sweep

__all__ = ["Plan", "Sweep", "read", "sweep"]
