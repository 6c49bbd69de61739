"""Scripts in packetdrill's dialect, run against the engine in virtual time (`docs/scripts.md`)."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from anabranch import _core
from anabranch.results.directory import ResultError
from anabranch.sentences import tools as say

Status = Literal["passed", "passed with notes", "failed", "unsupported", "invalid"]

LARGEST = 4 << 20
"""Largest size of a script file, octets."""


@dataclass(frozen=True)
class Note:
    """A remark on one line (counted from 1) of a script."""

    line: int
    text: str


@dataclass(frozen=True)
class Mismatch:
    """The first event at which the engine differs from the script.

    Attributes
    ----------
    line, text : the line of the script, counted from 1, and its text
    time : virtual time in seconds
    expected, actual : what the script expects, and what the engine did
    state : send and receive sequence space at that time, one line each
    """

    line: int
    text: str
    time: str
    expected: str
    actual: str
    state: tuple[str, ...]


@dataclass(frozen=True)
class Outcome:
    """The result of a script under one profile.

    Attributes
    ----------
    file : name of the script
    status : "passed", "passed with notes" (the runner accepted a behaviour without carrying it
        out, or a difference), "failed", "unsupported" (it needs a feature that the engine lacks)
        or "invalid" (it is not a valid script)
    profile : the stack whose defaults were used
    events : number of events that happened as the script says
    mismatch : where the script failed; None if it did not fail
    why : the missing feature, or why the script is invalid; else None
    unchecked : parts of the script that were not checked
    notes : behaviours accepted but not carried out that could change the result
    inert : behaviours and differences accepted that cannot change the result
    linux : the result under Linux's profile, if the script failed under another profile; else None
    """

    file: str
    status: Status
    profile: str
    events: int
    mismatch: Mismatch | None
    why: Note | None
    unchecked: tuple[Note, ...]
    notes: tuple[Note, ...]
    inert: tuple[Note, ...]
    linux: "Outcome | None" = field(default=None)

    @property
    def passed(self) -> bool:
        """True if every event happened as the script says, with or without notes."""
        return self.status in ("passed", "passed with notes")

    def __str__(self) -> str:
        return "\n".join(_lines(self))


def run(
    file: str | Path,
    *,
    profile: str = "modern",
    over_mptcp: bool = False,
    tolerance: str | None = None,
    defines: Mapping[str, str] | None = None,
) -> Outcome:
    """Run the script in `file`.

    Parameters
    ----------
    file : a script in packetdrill's dialect
    profile : the stack whose defaults hold: "modern", "classic" or "linux"
    over_mptcp : the connection is of Multipath TCP with one subflow, which the script, of plain TCP, does not see
    tolerance : by how much times may be off ("1 ms"); None: as the script says, else not at all
    defines : words that stand for others in the script
    """
    path = Path(file)
    if path.is_dir():
        raise ResultError(say.IS_DIRECTORY(file=path))
    octets = path.read_bytes()
    if len(octets) > LARGEST:
        raise ResultError(say.TOO_LARGE(file=path, size=len(octets), most=LARGEST))
    try:
        text = octets.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ResultError(say.NOT_UTF8(file=path, octet=error.start)) from None
    return run_text(
        text,
        name=str(file),
        directory=path.parent,
        profile=profile,
        over_mptcp=over_mptcp,
        tolerance=tolerance,
        defines=defines,
    )


def run_text(
    text: str,
    *,
    name: str = "<script>",
    directory: Path | None = None,
    profile: str = "modern",
    over_mptcp: bool = False,
    tolerance: str | None = None,
    defines: Mapping[str, str] | None = None,
) -> Outcome:
    """Run the script `text`; files that it names are looked for in `directory`."""
    where = None if directory is None else str(directory)
    own: dict[str, int] = {}  # names that the script's code gives to numbers

    def evaluate(code: str, names: dict[str, int]) -> tuple[str, str, str] | None:
        # Python's parser is needed by few scripts.
        from anabranch.packetdrill.assertion import evaluate

        return evaluate(code, names, own)

    answer = _core.script(text, profile, over_mptcp, tolerance, dict(defines or {}), where, evaluate)
    return _outcome(name, json.loads(answer))


def summary(outcomes: Iterable[Outcome]) -> dict[str, int]:
    """Return the number of scripts for each status."""
    counts = {"passed": 0, "passed with notes": 0, "failed": 0, "unsupported": 0, "invalid": 0}
    for outcome in outcomes:
        counts[outcome.status] += 1
    return counts


def _outcome(name: str, answer: dict[str, Any]) -> Outcome:
    found, linux = answer["mismatch"], answer.get("linux")
    return Outcome(
        file=name,
        status=answer["status"],
        profile=answer["profile"],
        events=answer["events"],
        mismatch=None if found is None else Mismatch(**{**found, "state": tuple(found["state"])}),
        why=None if answer["why"] is None else Note(**answer["why"]),
        unchecked=tuple(Note(**note) for note in answer["unchecked"]),
        notes=tuple(Note(**note) for note in answer["notes"]),
        inert=tuple(Note(**note) for note in answer["inert"]),
        linux=None if linux is None else _outcome(name, linux),
    )


def _lines(outcome: Outcome) -> list[str]:
    lines = [f"{outcome.file}: {outcome.status}"]
    if outcome.why is not None:
        lines[0] = f"{outcome.file}:{outcome.why.line}: {outcome.status}: {outcome.why.text}"
    if outcome.mismatch is not None:
        m = outcome.mismatch
        lines[0] = say.FAILED(file=outcome.file, line=m.line, time=m.time)
        lines += [f"  script    {m.text}", f"  expected  {m.expected}", f"  actual    {m.actual}"]
        lines += [f"  {line}" for line in m.state]
        if outcome.linux is not None:
            lines.append(f"  linux     {_of_linux(m, outcome.linux)}")
        lines += [f"  note      {say.NOTE(line=note.line, what=note.text)}" for note in outcome.notes]
    return lines


def _of_linux(mismatch: Mismatch, linux: Outcome) -> str:
    """Say whether the expectation that failed holds under Linux's profile."""
    if linux.passed:
        return say.LINUX_PASSES(line=mismatch.line)
    place = linux.mismatch or linux.why
    line = 0 if place is None else place.line
    if line > mismatch.line:
        return say.LINUX_LATER(line=mismatch.line, other=line)
    return say.LINUX_FAILS(line=line)
