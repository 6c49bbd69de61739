"""`diagnose`: captures, the folder of a run, or the folder of an analysis; and what comes of it."""

import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anabranch._core import CaptureError
from anabranch.captures.data import CaptureData
from anabranch.diagnosis.given import Given, add, rates
from anabranch.diagnosis.measure import examined
from anabranch.diagnosis.text import diagnosis_text
from anabranch.diagnosis.tried import Watch, tried_text, with_trials
from anabranch.results.directory import ResultError
from anabranch.results.result_kinds import ANALYSIS, RUN, kind, named
from anabranch.sentences import diagnose as say
from anabranch.tables import terminal_width


@dataclass(frozen=True, eq=False, repr=False)
class Diagnosis:
    """Why it was not faster.

    Attributes
    ----------
    summary : dict
        The object ``anabranch diagnose --json`` prints; ``docs/columns.md`` defines its fields.
    capture : CaptureData, optional
        What the diagnosis is of, as it was analysed: its frames are drawn in the report.
    """

    summary: dict[str, Any]
    capture: CaptureData | None = None

    @property
    def connections(self) -> list[dict[str, Any]]:
        """One object per connection with data."""
        found: list[dict[str, Any]] = self.summary["connections"]
        return found

    @property
    def sentences(self) -> list[str]:
        """Of the first connection: what its paths could do, where the time went, what would help.

        If there is none with data, what is wrong with the capture.
        """
        return list(self.connections[0]["sentences"] if self.connections else self.summary["notes"])

    def save(self, directory: "str | os.PathLike[str]", *, command: Sequence[str] | None = None) -> None:
        """Write ``diagnosis.json`` and ``report.html`` to `directory`, which appears whole or not at all."""
        from anabranch.diagnosis.report import DiagnosisDraft

        with DiagnosisDraft(directory, command) as draft:
            draft.commit((self.summary, self.capture))

    @property
    def twin(self) -> str | None:
        """The scenario that the connection with the most data implies, as TOML; None if not asked for."""
        twin = self.summary.get("twin")
        return None if twin is None else str(twin["toml"])

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended a capture from standard input, the fit of the twin, or the trials."""
        parts = (self.summary, self.summary["twin"], self.summary["remedies"])
        return any(part is not None and part["interrupted"] for part in parts)

    def __str__(self) -> str:
        """The text ``anabranch diagnose`` prints."""
        return self.text(terminal_width())

    def text(self, width: int | None = None) -> str:
        """Return the same with tables that fit `width`, if it is given."""
        return "\n\n".join([diagnosis_text(self.summary, width), *tried_text(self.summary)])

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        from anabranch.diagnosis.page import notebook_html

        return notebook_html(self.summary)

    def __repr__(self) -> str:
        return f"<anabranch.Diagnosis of {', '.join(self.summary['files'])}>"


def diagnose(
    paths: "str | os.PathLike[str] | Sequence[str | os.PathLike[str]]",
    *,
    poll: Callable[[int, int], None] | None = None,
    every: float | None = None,
    told: "Callable[[Diagnosis], None] | None" = None,
    twin: bool = False,
    seeds: int = 0,
    watch: Watch | None = None,
    capacity: Given | None = None,
) -> Diagnosis:
    """Why was it not faster? Of captures, of a run, or of an analysis.

    Parameters
    ----------
    paths : path or sequence of paths
        pcap or pcapng files of the sender, of the receiver or of both; or one folder that ``anabranch run --out`` or
        ``anabranch analyze --out`` wrote. A run is run again with captures, and must give the same trace.
    poll : callable, optional
        Called now and then with octets and packets read.
    every, told : float and callable, optional
        While captures are read, `told` gets the diagnosis so far after each `every` seconds of the capture's time.
    twin : bool
        Also make the scenario that a capture implies: of the connection with the most data, fitted until its run is
        like the capture, for a minute at most. Of a run it is the run's own scenario.
    seeds : int
        With how many seeds to try on the twin what its user could change; 0: not at all.
    watch : Watch, optional
        What is told how far both are.
    capacity : mapping, optional
        Capacities that you know, from a speed test for example, and that count as exact: by the number of a path in
        the tables (of the connection with the most data) or the client's address, such as ``{0: "80 Mbit/s"}``.

    Raises
    ------
    CaptureError
        If a file cannot be read, is no capture, or none holds a connection.
    CapacityError
        If `capacity` names no path, is no rate, or is less than the capture shows.
    ResultError
        If a folder is neither a run nor an analysis, or a run does not give its trace again.

    Examples
    --------
    >>> import tempfile, anabranch as ab
    >>> scenario = ab.Scenario.two_path("5 Mbit/s, 100 ms", "2 Mbit/s, 10 ms", transfer="1 MB")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     scenario.set("connection.receive_buffer", "60 kB").run().save(folder + "/run")
    ...     ab.diagnose(folder + "/run").connections[0]["main_cause"]
    'receive_window'
    """
    several = [os.fspath(paths)] if isinstance(paths, str | os.PathLike) else [os.fspath(path) for path in paths]
    if every is not None and not 0 < every < math.inf:
        raise ValueError(say.NO_SECONDS(value=repr(every)))
    wanted = twin or seeds > 0
    if wanted and "-" in several:
        raise ResultError(say.TWIN_OF_STDIN())
    exact = rates(capacity)
    own = None
    if len(several) == 1 and Path(several[0]).is_dir():
        found, capture, own = _of_folder(several[0], poll, exact)
    else:
        tell = None if told is None else lambda so_far: told(Diagnosis({**so_far, **_UNTRIED}))
        found, capture = examined(several, poll, every, tell, _adding(exact))
    if not wanted:
        return Diagnosis({**found, **_UNTRIED}, capture)
    return Diagnosis(with_trials(found, capture, own, seeds, watch or Watch()), capture)


_UNTRIED = {"twin": None, "remedies": None}
_Found = tuple[dict[str, Any], CaptureData, str | None]
"""A diagnosis, what it is of, and the scenario of a run."""


def _adding(exact: Mapping[str, float]) -> Callable[[dict[str, Any], bool], None]:
    return lambda summary, partial: add(summary, exact, partial=partial)


def _of_folder(folder: str, poll: Callable[[int, int], None] | None, exact: Mapping[str, float]) -> _Found:
    found = kind(folder)
    if found.name not in _OF:
        meanings = {name: named(name).meaning for name in _OF}
        raise ResultError(say.WRONG_KIND(folder=folder, found=found.meaning, **meanings))
    return _OF[found.name](folder, poll, exact)


def _of_analysis(folder: str, poll: Callable[[int, int], None] | None, exact: Mapping[str, float]) -> _Found:
    from anabranch.captures.store import again_readable

    return *examined(list(again_readable(folder)), poll, given=_adding(exact)), None


def _of_run(folder: str, poll: Callable[[int, int], None] | None, exact: Mapping[str, float]) -> _Found:
    from anabranch.diagnosis.explanation import OtherTraceError, diagnose_run

    if exact:
        raise ResultError(say.CAPACITY_OF_RUN(folder=folder))
    stored = named(RUN).load(folder)
    try:
        found, capture = diagnose_run(stored, poll)
    except CaptureError:
        raise ResultError(say.NO_TCP_IN_RUN(folder=folder)) from None
    except OtherTraceError as other:
        then = stored.summary["version"]
        raise ResultError(say.OTHER_TRACE(folder=folder, now=str(other), then=then)) from None
    return {**found, "files": [folder]}, capture, stored.toml


_OF = {RUN: _of_run, ANALYSIS: _of_analysis}
"""How a stored result is diagnosed, by its kind."""
