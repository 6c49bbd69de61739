"""Recommendations as a kind of result."""

from anabranch.results.result_kinds import RECOMMENDATION, ResultKind


class _Recommendations(ResultKind):
    name = RECOMMENDATION
    meaning = "a recommendation"


KIND = _Recommendations()
