"""Twin and remedies as a part of a diagnosis: fields and text."""

import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from anabranch.sweeps.execute import State

_WIDTH = 100


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


def tried(files: Sequence[str], own: str | None, seeds: int, watch: Watch, *, wanted: bool) -> dict[str, Any]:
    """``twin`` and ``remedies`` of a diagnosis: None each unless `wanted`. `own` is the scenario of a run."""
    if not wanted:
        return {"twin": None, "remedies": None}
    from anabranch.diagnosis.remedies import remedies
    from anabranch.diagnosis.twin import Likeness, captured, made
    from anabranch.scenario import Scenario

    if own is not None:
        scenario = Scenario.from_toml(own)
        same = Likeness(0.0, 0.0, 0.0)
        twin: dict[str, Any] = {"connection": None, "toml": own, **same._asdict(), "like": True}
        twin |= {"runs": 0, "interrupted": False}
    else:
        what = captured(files)
        made_of = made(what, progress=watch.fit)
        scenario, like = made_of.scenario, made_of.likeness
        twin = {
            "connection": what.found["name"],
            "toml": made_of.toml,
            **like._asdict(),
            "like": like.is_like,
            "runs": made_of.runs,
            "interrupted": made_of.interrupted,
        }
    found = remedies(scenario, seeds=seeds, progress=watch.trials) if seeds and not twin["interrupted"] else None
    return {"twin": twin, "remedies": None if found is None else {**found.summary(), "sentences": found.sentences()}}


def tried_text(summary: Mapping[str, Any]) -> list[str]:
    """Paragraphs; none if nothing was tried."""
    twin, remedies = summary.get("twin"), summary.get("remedies")
    if twin is None:
        return []
    from anabranch.diagnosis.twin import Likeness

    lines = []
    if twin["runs"]:
        lines.append(
            f"A twin of it, found in {twin['runs']} runs, is {'like' if twin['like'] else 'not like'} the capture: "
            f"{'; '.join(Likeness(**{name: twin[name] for name in Likeness._fields}).said())}."
        )
    if twin["interrupted"]:
        lines.append("interrupted: nothing was tried on it")
    if remedies is not None:
        if not twin["like"]:
            lines.append("What follows is tried on a twin that is not like the capture: do not rely on it.")
        lines += remedies["sentences"]
        if remedies["interrupted"]:
            lines.append(f"interrupted: with the seeds that were done ({remedies['seeds']})")
    return ["\n".join(textwrap.fill(line, _WIDTH, subsequent_indent="  ", break_on_hyphens=False) for line in lines)]
