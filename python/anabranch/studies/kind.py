"""Studies as a kind of result."""

from anabranch.results.result_kinds import STUDY, ResultKind


class _Studies(ResultKind):
    name = STUDY
    meaning = "a study; its sweeps are in its directory sweeps"
    marker = "study.json"


KIND = _Studies()
