"""Diagnoses as a kind of result."""

from anabranch.results.result_kinds import DIAGNOSIS, ResultKind


class _Diagnoses(ResultKind):
    name = DIAGNOSIS
    meaning = "a diagnosis"
    hint = "; it is a diagnosis: its numbers are in diagnosis.json, its figures in report.html"


KIND = _Diagnoses()
