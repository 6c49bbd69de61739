"""The twin: the scenario that a capture implies, fitted until its run is like the capture.

`draft` reads off what the capture shows, `likeness` says how like a run is, `fit` tries what the capture does not show.
"""

from anabranch.diagnosis.twin.command import Captured, captured, made
from anabranch.diagnosis.twin.draft import Draft, Said, drafts
from anabranch.diagnosis.twin.fit import Twin, fit, twin_of
from anabranch.diagnosis.twin.likeness import BOUNDS, Likeness, compared, likeness, paths_away

__all__ = [
    "BOUNDS",
    "Captured",
    "Draft",
    "Likeness",
    "Said",
    "Twin",
    "captured",
    "compared",
    "drafts",
    "fit",
    "likeness",
    "made",
    "paths_away",
    "twin_of",
]
