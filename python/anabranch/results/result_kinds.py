"""What a directory holds."""

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

from anabranch.results.directory import PROVENANCE, ResultError, missing

if TYPE_CHECKING:
    import os

CAPTURE = re.compile(r"\.pcap(ng)?(\.gz)?$")
"""Ends the name of a capture."""

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
        raise ResultError(
            f"{folder}: {missing(folder)}; give a directory that `anabranch run`, `sweep`, `analyze`, `diagnose` or "
            "`recommend` wrote with --out"
        )
    for marker in ("sweep.json", "study.json", PROVENANCE):
        try:
            content = json.loads((folder / marker).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
        if isinstance(content, dict) and content.get("format") in _FORMATS:
            return _FORMATS[content["format"]]
    if captures := sorted(entry.name for entry in folder.iterdir() if CAPTURE.search(entry.name)):
        ending = captures[0][captures[0].index(".pcap") :]
        raise ResultError(f"{folder}: a folder with captures; give the files: {folder / ('*' + ending)}")
    raise ResultError(
        f"{folder}: not an Anabranch result: it has no sweep.json, study.json or {PROVENANCE} of Anabranch"
    )
