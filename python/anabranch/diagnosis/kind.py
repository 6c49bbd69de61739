"""Diagnoses as a kind of result."""

from anabranch.results.result_kinds import DIAGNOSIS, ResultKind
from anabranch.sentences import diagnose as say


class _Diagnoses(ResultKind):
    name = DIAGNOSIS
    meaning = "a diagnosis"
    hint = f"; {say.IN_PLACE_OF_RUN()}"


KIND = _Diagnoses()
