"""Fitting: what a capture does not show is tried until the run is like the capture.

One choice at a time, those first that say most: controller and scheduler, then sizes that the capture bounds but does
not show. What is tried is in the order of what is usual, and a change stays only if the run is clearly more like the
capture, so that a twin that fits stays as the capture says.
"""

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from anabranch.diagnosis.twin.draft import INFERENCE, UNKNOWN, Draft, Said, drafts, text, units_rate
from anabranch.diagnosis.twin.likeness import BOUND, BOUNDS, Likeness, Outages, compared, paths_away
from anabranch.scenario import Scenario, ScenarioError

if TYPE_CHECKING:
    from anabranch.capture_data import Frames

ENOUGH = 0.03
"""Nothing more is tried for a run this like."""
BETTER = 0.01
"""By so much a change must bring the run closer."""
BUDGET = 60.0
"""Seconds that a fit takes at most."""
SEEDS = (1, 2, 3)
"""Where losses are random."""
_OUTCOMES = 20
"""Seeds of which the twin has the one whose run is likest."""
_LINUX = {"profile": Said(text("linux"), UNKNOWN, "fits best of those tried; no packet says it")}
_CONTROLLERS = ("coupled", "cubic", "uncoupled", "olia", "balia", "aimd", "linked-increases")
_PLAIN = ("cubic", "aimd", "bbr")
_SCHEDULERS = (
    "min-rtt", "linux", "round-robin", "redundant", "blest", "load-balancing", "ecf", "duplicate", "remp", "daps",
    "otias", "active-standby", "priority", "smallest-delay",
)  # fmt: skip
_SCALES = (0.9, 1.1, 0.75, 1.3, 0.5, 1.8)
_WIDE = (4.0, 0.3)
"""Further ones for what the capture does not bound."""
_RATES, _QUEUES = (1.0, 2.0, 4.0, 8.0), (0.03, 0.1, 0.3, 1.0)
_JITTER = (0.05, 0.1, 0.2, 0.4)
"""Of the delay, by which it may differ from packet to packet."""
_ROUNDS = 3


@dataclass(frozen=True)
class Twin:
    """A scenario like a capture.

    Attributes
    ----------
    draft : Draft
        Its lines, each with its ground.
    likeness : Likeness
        How like its run is, with its own seed.
    runs : int
        That it took.
    interrupted : bool
        By Ctrl-C; the draft is the best until then.
    """

    draft: Draft
    likeness: Likeness
    runs: int
    interrupted: bool = False

    @property
    def toml(self) -> str:
        """The scenario."""
        found = self.likeness
        verdict = "like" if found.is_like else "NOT like"
        first, rest = found.said()
        return self.draft.toml(
            [
                "Written by `anabranch diagnose --twin`: what a capture implies. Facts are in the capture, inferences",
                "have their ground beside them, and what is unknown was tried until the run was like the capture.",
                f"Its run is {verdict} the capture: {first};",
                f"{rest}.",
            ]
        )

    @property
    def scenario(self) -> Scenario:
        """The same, ready to run."""
        return Scenario.from_toml(self.toml, name="twin.toml")


def twin_of(found: Mapping[str, Any], number: int, frames: "Frames", **how: Any) -> Twin:
    """The twin of connection `number`; see `fit`."""
    return fit(found, drafts(found, number, frames), paths_away(found, number, frames), **how)


def fit(
    found: Mapping[str, Any],
    draft: Draft,
    gone: Outages,
    *,
    budget: float = BUDGET,
    progress: Callable[[int, float], None] | None = None,
) -> Twin:
    """Change `draft` until its run is like what was `found`, outages included, or `budget` seconds are over.

    `progress` is told the number of runs and how much differs.
    """
    return _Fit(found, gone, draft, time.monotonic() + budget, progress).make()


class _Fit:
    def __init__(
        self,
        found: Mapping[str, Any],
        gone: Outages,
        draft: Draft,
        until: float,
        progress: Callable[[int, float], None] | None,
    ) -> None:
        self.found, self.gone, self.until, self.progress = found, gone, until, progress
        self.first, self.best, self.runs = draft, draft, 0
        self.seeds = SEEDS if any("loss" in unknown for unknown in draft.free["paths"].values()) else SEEDS[:1]
        self.cost = self.judge(draft)

    def make(self) -> Twin:
        """The best draft, when it is good enough, time is up, or somebody asks for it."""
        draft = self.best
        try:
            self.search()
            if self.cost > BOUND and "profile" in draft.connection:
                self.again(draft)
            return self.done()
        except KeyboardInterrupt:
            self.until = 0.0
            return replace(self.done(), interrupted=True)

    def again(self, draft: Draft) -> None:
        """From another beginning: without the profile that was guessed. The better end counts."""
        best, cost = self.best, self.cost
        lines = {key: said for key, said in draft.connection.items() if key != "profile"}
        lines["controller"] = Said(text("coupled"), UNKNOWN, "no packet says it")
        if "scheduler" in lines:
            lines["scheduler"] = Said(text("min-rtt"), UNKNOWN, "no packet says it")
        self.best = replace(draft, connection=lines)
        self.cost = self.judge(self.best)
        self.search()
        if cost <= self.cost:
            self.best, self.cost = best, cost

    def search(self) -> None:
        for _ in range(_ROUNDS):
            before = self.cost
            for choices in self.stages():
                for draft in choices:
                    if self.cost <= ENOUGH or time.monotonic() > self.until:
                        return
                    self.consider(draft)
            if self.cost > before - BETTER:
                return

    def done(self) -> Twin:
        """With the seed, of those tried, whose run is likest: the capture is one outcome of its losses, too."""
        best: tuple[float, Likeness, int] | None = None
        for seed in range(1, (_OUTCOMES if len(self.seeds) > 1 else 1) + 1):
            if seed > len(self.seeds) and ((best and best[0] <= ENOUGH) or time.monotonic() > self.until):
                break
            one = self.likeness(replace(self.best, seed=seed))
            if one is not None and (best is None or _cost([one]) < best[0]):
                best = _cost([one]), one, seed
        if best is None:
            return Twin(self.best, Likeness(-1.0, 1.0, 1.0), self.runs)
        return Twin(replace(self.best, seed=best[2]), best[1], self.runs)

    def likeness(self, draft: Draft) -> Likeness | None:
        self.runs += 1
        try:
            run = Scenario.from_toml(draft.toml(), name="twin.toml").run()
        except (ScenarioError, RuntimeError, ValueError):
            return None
        return compared(self.found, self.gone, run)

    def judge(self, draft: Draft) -> float:
        all_ = [self.likeness(replace(draft, seed=seed)) for seed in self.seeds]
        return _cost([one for one in all_ if one is not None])

    def consider(self, draft: Draft) -> None:
        cost = self.judge(draft)
        if cost < self.cost - BETTER:
            self.best, self.cost = draft, cost
        if self.progress is not None:
            self.progress(self.runs, self.cost)

    def stages(self) -> Iterator[Iterator[Draft]]:
        """Drafts to consider, each made of the best so far."""
        yield self.controllers()
        if self.found["protocol"] == "mptcp" and len(self.best.paths) > 1:
            yield self.schedulers()
        yield self.applications()
        yield self.losses()
        yield self.sizes()
        yield self.jitters()
        yield self.grids()

    def controllers(self) -> Iterator[Draft]:
        names = _PLAIN if self.found["protocol"] == "tcp" else _CONTROLLERS
        ground = "fits best of those tried; no packet says it"
        for linux in ({},) if "profile" in self.best.connection else ({}, _LINUX):
            for name in names:
                yield self.best.with_lines(connection={**linux, "controller": Said(text(name), UNKNOWN, ground)})

    def schedulers(self) -> Iterator[Draft]:
        for name in _SCHEDULERS:
            said = Said(text(name), UNKNOWN, "fits best of those tried; no packet says it")
            yield self.best.with_lines(connection={"scheduler": said})

    def applications(self) -> Iterator[Draft]:
        """A reader that is slow; a writer that is not."""
        if "rate" in self.best.transfer:
            yield replace(
                self.best, transfer={k: v for k, v in self.best.transfer.items() if k not in ("on", "off", "rate")}
            )
        causes = [flow.get("diagnosis", {}).get("causes") for flow in self.found["subflows"]]
        if any(one and one["receive_window"] > BOUND for one in causes):
            said = Said(
                text(units_rate(self.found["goodput_mbps"])), INFERENCE, "the window closed: the reader is slow"
            )
            yield self.best.with_lines(transfer={"read_rate": said})

    def losses(self) -> Iterator[Draft]:
        """Receivers without SACK, and losses that were the queue's after all."""
        if "lossless" not in self.best.free and "sack" not in self.best.free:
            said = Said("false", UNKNOWN, "fits best of those tried")
            yield self.best.with_lines(connection={"sack": said})
        for number, unknown in self.best.free["paths"].items():
            if "loss" in unknown:
                key = f"loss_{unknown['way']}"
                paths = list(self.best.paths)
                paths[number] = {k: v for k, v in paths[number].items() if k != key}
                rest = {**self.best.free["paths"], number: {k: v for k, v in unknown.items() if k != "loss"}}
                yield replace(self.best, paths=tuple(paths), free={**self.best.free, "paths": rest})

    def jitters(self) -> Iterator[Draft]:
        """Packets that overtake each other: if more arrived out of order than losses and unlike paths explain."""
        if self.cost <= BOUND:
            return
        numbers = range(len(self.best.paths))
        groups = [tuple(numbers)] if len(numbers) == 1 else [tuple(numbers), *((n,) for n in numbers)]
        for chosen in groups:
            for share in _JITTER:
                yield self.best.with_lines(paths={n: self.jitter(n, share) for n in chosen})

    def jitter(self, number: int, share: float) -> dict[str, Said]:
        """Of the delay of a path, whose shortest stays what the capture shows."""
        path = self.first.paths[number]
        shortest = float(json.loads(path["delay"].value).removesuffix(" ms"))
        ground = "fits best of those tried: packets overtake"
        return {
            "delay": Said(text(f"{shortest / (1 - share):.4g} ms"), path["delay"].kind, path["delay"].ground),
            "delay_variation": Said(text(f"{100 * share:g} %"), UNKNOWN, ground),
            "overtaking": Said("true", UNKNOWN, ground),
        }

    def sizes(self) -> Iterator[Draft]:
        """What the capture bounds: queues, rates without a standing queue, losses, the send buffer."""
        for number, unknown in self.best.free["paths"].items():
            for scale in (*_SCALES, *_WIDE):
                for key in ("queue", "loss", "rate"):
                    if key in unknown and (scale in _SCALES or key == "rate"):
                        yield self.scaled(number, key, scale)
        for scale in _SCALES if "send_buffer" in self.best.free else ():
            kept = scale * self.best.free["send_buffer"]
            said = Said(text(f"{kept:.0f} B"), INFERENCE, "data in flight kept to one ceiling; the size fits best")
            draft = self.best.with_lines(connection={"send_buffer": said})
            yield replace(draft, free={**draft.free, "send_buffer": kept})

    def grids(self) -> Iterator[Draft]:
        """Rate and queue of a path at once, where neither was seen: a fast link with a short queue looks idle."""
        if self.cost <= BOUND:
            return
        for number, unknown in self.best.free["paths"].items():
            for rate in _RATES if "rate" in unknown else ():
                for queue in _QUEUES:
                    yield self.scaled(number, "queue", queue, self.scaled(number, "rate", rate))

    def scaled(self, number: int, key: str, scale: float, draft: Draft | None = None) -> Draft:
        draft = self.best if draft is None else draft
        unknown = draft.free["paths"][number]
        value = unknown[key] * scale
        name, shown = {
            "queue": ("queue", f"{max(2, round(value))} packets"),
            "loss": (f"loss_{unknown['way']}", f"{100 * min(value, 0.9):.3g} %"),
            "rate": ("rate", units_rate(value)),
        }[key]
        old = draft.paths[number][name]
        ground = old.ground.removesuffix("; fits best") + "; fits best"
        draft = draft.with_lines(paths={number: {name: Said(text(shown), old.kind, ground)}})
        paths = {**draft.free["paths"], number: {**unknown, key: value}}
        return replace(draft, free={**draft.free, "paths": paths})


def _cost(all_: Sequence[Likeness]) -> float:
    """What differs most, of the means and in units of what may differ, and a little of the rest."""
    if not all_:
        return 1e9
    means = [BOUND * abs(sum(values) / len(all_)) / bound for *values, bound in zip(*all_, BOUNDS, strict=True)]
    return float(max(means) + 0.1 * (sum(means) - max(means)))
