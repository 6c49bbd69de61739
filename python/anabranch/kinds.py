"""What a directory holds."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

from anabranch.directory import PROVENANCE, ResultError

if TYPE_CHECKING:
    import os

RUN = "run"
SWEEP = "sweep"
ANALYSIS = "analysis"
STUDY = "study"
DIAGNOSIS = "diagnosis"
RECOMMENDATION = "recommendation"

_FORMATS = {
    "anabranch-result": RUN,
    "anabranch-sweep": SWEEP,
    "anabranch-capture": ANALYSIS,
    "anabranch-study": STUDY,
    "anabranch-diagnosis": DIAGNOSIS,
    "anabranch-recommendation": RECOMMENDATION,
}
MEANING = {
    RUN: "a run",
    SWEEP: "a sweep",
    ANALYSIS: "an analysis of captures",
    STUDY: "a study; its sweeps are in its directory sweeps",
    DIAGNOSIS: "a diagnosis",
    RECOMMENDATION: "a recommendation",
}


def kind(directory: "str | os.PathLike[str]") -> str:
    """What `directory` holds, by the mark that it bears.

    Raises
    ------
    ResultError
        If it is none of ours.
    """
    folder = Path(directory)
    if not folder.is_dir():
        what = "is a file, not a directory" if folder.exists() else "no such directory"
        raise ResultError(
            f"{folder}: {what}; give a directory that `anabranch run`, `sweep`, `analyze`, `diagnose` or `recommend` "
            "wrote with --out"
        )
    for marker in ("sweep.json", "study.json", PROVENANCE):
        try:
            content = json.loads((folder / marker).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
        if isinstance(content, dict) and content.get("format") in _FORMATS:
            return _FORMATS[content["format"]]
    raise ResultError(
        f"{folder}: not an Anabranch result: it has no sweep.json, study.json or {PROVENANCE} of Anabranch"
    )
