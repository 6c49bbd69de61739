"""Two results beside each other: runs, analyses of captures, a run and an analysis, or sweeps."""

from anabranch.comparison.errors import MeasureError
from anabranch.comparison.result import Comparison, compare

__all__ = ["Comparison", "MeasureError", "compare"]
