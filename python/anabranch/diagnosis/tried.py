"""Twin and remedies as a part of a diagnosis: fields and text."""

import math
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from anabranch.sentences import diagnose as say

if TYPE_CHECKING:
    from anabranch.captures.data import CaptureData
    from anabranch.diagnosis.twin import Twin
    from anabranch.execution.progress import State

_WIDTH = 100
_REMEDY = 2
"""Which of the three sentences says what would help."""


@dataclass(frozen=True)
class Watch:
    """What is told how far it is.

    Attributes
    ----------
    fit : callable, optional
        Called with the number of runs and how much differs still (0.1: ten percent).
    trials : callable, optional
        Called with the `State` of the runs that try changes.
    """

    fit: Callable[[int, float], None] | None = None
    trials: "Callable[[State], None] | None" = None


def with_trials(
    found: Mapping[str, Any], capture: "CaptureData", own: str | None, seeds: int, watch: Watch
) -> dict[str, Any]:
    """The diagnosis `found`, of `capture`, with ``twin`` and ``remedies``; its remedy sentence is that of the trials.

    `own` is the scenario of a run, which is its twin.
    """
    from anabranch.diagnosis.given import main_of
    from anabranch.diagnosis.of_run import numbers
    from anabranch.diagnosis.remedies import On, remedies
    from anabranch.scenario import Scenario

    connections = found["connections"]
    if not connections:
        return {**found, "twin": None, "remedies": None}
    number = main_of(connections)
    main = connections[number]
    if own is not None:
        twin, on = _of_run(own), On(Scenario.from_toml(own), numbers([main])[0])
    else:
        twin, found_twin = _of_capture(capture, watch)
        measured = main["paths_mbps"] if main["paths_are_lower_bounds"] else math.inf
        on = On(found_twin.scenario, measured=measured, open=found_twin.open)
    sentence, fields = None, None
    if main["incomplete"]:
        # Data that the capture lacks may be what limited the connection: a change that helps the
        # twin proves nothing.
        return {**found, "twin": twin, "remedies": None}
    if not twin["like"] and not twin["interrupted"]:
        sentence = _unlike(twin)
    elif seeds and not twin["interrupted"]:
        tried = remedies(on, seeds=seeds, progress=watch.trials)
        sentence = tried.sentence(say.SCENARIO_OF_RUN() if own is not None else say.TWIN())
        fields = {**tried.summary(), "sentences": tried.sentences()}
    told = list(connections)
    if sentence is not None:
        said = main["sentences"]
        told[number] = {**main, "sentences": [*said[:_REMEDY], sentence, *said[_REMEDY + 1 :]]}
    return {**found, "connections": told, "twin": twin, "remedies": fields}


def _of_run(toml: str) -> dict[str, Any]:
    from anabranch.diagnosis.twin import Likeness

    same = Likeness(0.0, 0.0, 0.0)
    return {
        "connection": None, "toml": toml, **same._asdict(), "like": True, "differs": None, "runs": 0,
        "interrupted": False,
    }  # fmt: skip


def _of_capture(capture: "CaptureData", watch: Watch) -> "tuple[dict[str, Any], Twin]":
    from anabranch.diagnosis.twin import captured, made

    what = captured(capture)
    twin = made(what, progress=watch.fit)
    like = twin.likeness
    fields = {
        "connection": what.found["name"],
        "toml": twin.toml,
        **like._asdict(),
        "like": like.is_like,
        "differs": None if like.is_like else like.differs,
        "runs": twin.runs,
        "interrupted": twin.interrupted,
    }
    return fields, twin


def _unlike(twin: Mapping[str, Any]) -> str:
    """Why nothing was tried: the field of the twin that differs most."""
    from anabranch.diagnosis.twin import Likeness

    like = Likeness(**{name: twin[name] for name in Likeness._fields})
    return say.UNLIKE(difference=like.difference())


def tried_text(summary: Mapping[str, Any]) -> list[str]:
    """Paragraphs; none if nothing was tried."""
    twin, remedies = summary.get("twin"), summary.get("remedies")
    if twin is None:
        return []
    from anabranch.diagnosis.twin import Likeness

    like = Likeness(**{name: twin[name] for name in Likeness._fields})
    lines = []
    if not twin["like"] and not twin["interrupted"]:
        lines.append(say.TWIN_UNLIKE(differences=", ".join(like.said())))
    if twin["runs"] and twin["like"]:
        lines.append(say.TWIN_FOUND(runs=twin["runs"], differences=", ".join(like.said())))
        if any(
            connection["incomplete"]
            for connection in summary["connections"]
            if connection["name"] == twin["connection"]
        ):
            lines.append(say.TWIN_INCOMPLETE())
    if twin["interrupted"]:
        lines.append(say.INTERRUPTED_FIT())
    if remedies is not None:
        lines += remedies["sentences"]
        if remedies["interrupted"]:
            lines.append(say.INTERRUPTED_TRIALS(seeds=remedies["seeds"]))
    return ["\n".join(_filled(lines))]


def _filled(lines: Sequence[str]) -> list[str]:
    return [textwrap.fill(line, _WIDTH, subsequent_indent="  ", break_on_hyphens=False) for line in lines]
