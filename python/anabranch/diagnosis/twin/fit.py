"""Fitting: what a capture does not show is tried until the run is like the capture.

First the algorithms, then one choice at a time: buffers, the application, sizes that the capture only bounds. What the
capture measured stays inside its interval. What is tried is in the order of what is usual, and a change stays only if
the runs are clearly more like the capture, so that a twin that fits stays as the capture says.
"""

import json
import math
import textwrap
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from anabranch.diagnosis.twin.draft import (
    INFERENCE,
    LEAST_QUEUE,
    UNKNOWN,
    Draft,
    Said,
    Span,
    drafts,
    packet_s,
    packets,
    queue_of,
    text,
    units_rate,
)
from anabranch.diagnosis.twin.likeness import BOUND, BOUNDS, Likeness, Outages, compared, paths_away
from anabranch.scenario import Scenario, ScenarioError, Value
from anabranch.sentences import diagnose as say

if TYPE_CHECKING:
    from anabranch.captures.data import Frames

ENOUGH = 0.05
"""Nothing more is tried for runs this like."""
BETTER = 0.01
"""By so much a change must bring the run closer."""
BUDGET = 60.0
"""Seconds of computing that a fit takes at most."""
SEEDS = (1, 2, 3)
"""The capture is one outcome; what counts is what runs are like in the mean."""
JITTER = "1 %"
"""Of the delays, so that seeds differ where nothing else is random."""
_FAR = 2.0
"""Times the cost of the best draft: a draft whose first run costs more is not run again."""
_OUTCOMES = 20
"""Seeds of which the twin has the one whose run is likest."""
_HEAD = 98
"""Characters of a line of the head."""
_FITS = say.GROUND_FITS()
_LINUX = {"profile": Said(text("linux"), UNKNOWN, _FITS)}
_CONTROLLERS = ("coupled", "cubic", "uncoupled", "olia", "balia", "bbr", "linked-increases", "aimd")
_PLAIN = ("cubic", "uncoupled", "bbr", "aimd")
_SCHEDULERS = (
    "min-rtt", "linux", "round-robin", "blest", "ecf", "load-balancing", "daps", "otias", "active-standby", "priority",
    "smallest-delay",
)  # fmt: skip
_USUAL = {"scheduler": ("min-rtt", "linux", "round-robin"), "controller": ("coupled", "cubic", "uncoupled")}
_COPYING = ("redundant", "duplicate", "remp")
"""Schedulers that send copies of what another subflow carries."""
_COPIES = 0.05
"""Of the segments: so many copies are more than reinjections after timeouts."""
_OTHERS = 8
"""Drafts that are kept beside the best one."""
_LIKELIEST = 3
"""Schedulers with which each controller is tried."""
_SCALES = (0.9, 1.02, 1.05, 1.1, 0.75, 1.3, 0.5, 1.8)
_WIDE = (3.0, 6.0)
"""Further ones for a rate of which only a lower bound is known."""
_RATES, _QUEUES = (1.0, 2.0, 4.0, 8.0), (0.03, 0.1, 0.3, 1.0)
_BUFFERS = (1.0, 0.9, 1.1)
"""Send buffers, of the most data that were out without DATA_ACK."""
_JITTER, _OVERTAKING = (0.02, 0.045), (0.05, 0.1, 0.2, 0.4)
"""Of the delay, by which it may differ from packet to packet: in any case, and if packets overtake each other."""
_NEEDLESS = 0.01
"""Of the segments: so many needless retransmissions show that packets overtake each other."""
_ROUNDS = 3
_NO_RUN = 1e9
"""Cost of a draft that gives no run."""
_ESTIMATED = 0.05
"""By so much a sender's capture may be wrong about the share of data out of order, which it only estimates."""
_WAYS = 4
"""Values of a queue whose length the capture does not show."""


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
        is_like = say.IS_LIKE if found.is_like else say.IS_NOT_LIKE
        head = say.TWIN_HEAD(is_like=is_like, differences=", ".join(found.said()))
        return self.draft.toml(textwrap.wrap(head, _HEAD, break_on_hyphens=False))

    @property
    def scenario(self) -> Scenario:
        """The same, ready to run."""
        return Scenario.from_toml(self.toml, name="twin.toml")

    @property
    def open(self) -> list[dict[str, Value]]:
        """What else it may be: queues that were never seen full may be as short as what waited, or longer."""
        known = {n: unknown.get("queue") for n, unknown in self.draft.free["paths"].items()}
        spans = {n: span for n, span in known.items() if span is not None and span.high == math.inf}
        ways: list[dict[str, Value]] = [{} for _ in range(_WAYS if spans else 1)]
        for turn, (number, span) in enumerate(spans.items()):
            rate = self.draft.free["paths"][number]["mbps"]
            low, high = sorted((max(span.low, packet_s(rate) * LEAST_QUEUE), span.value))
            for place, way in enumerate(ways):
                part = (place + turn) % _WAYS / (_WAYS - 1)
                way[f"path.{number}.queue"] = f"{packets(low * (high / low) ** part, rate)} packets"
        return ways


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
    return _Fit(found, gone, draft, time.process_time() + budget, progress).make()


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
        self.others: list[tuple[float, int, Draft]] = []
        self.cost = self.considered = self.judge(draft)

    def make(self) -> Twin:
        """The best draft, when it is good enough, time is up, or somebody asks for it."""
        draft = self.best
        try:
            self.search()
            if self.cost > BOUND and "profile" in draft.connection:
                self.again(draft)
            self.simplify()
            return self.done()
        except KeyboardInterrupt:
            self.until = 0.0
            return replace(self.done(), interrupted=True)

    def again(self, draft: Draft) -> None:
        """From another beginning: without the profile that was guessed. The better end counts."""
        best, cost = self.best, self.cost
        lines = {key: said for key, said in draft.connection.items() if key != "profile"}
        lines["controller"] = Said(text("coupled"), UNKNOWN, say.GROUND_NONE())
        if "scheduler" in lines:
            lines["scheduler"] = Said(text("min-rtt"), UNKNOWN, say.GROUND_NONE())
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
                    if self.cost <= ENOUGH or self.is_over():
                        return
                    self.consider(draft)
            if self.cost > before - BETTER:
                return

    def simplify(self) -> None:
        """A usual scheduler or controller in place of a rare one, if the runs are as like the capture with it."""
        for key, usual in _USUAL.items():
            if key not in self.best.connection:
                continue
            now = json.loads(self.best.connection[key].value)
            for name in usual[: usual.index(now)] if now in usual else usual:
                draft = self.best.with_lines(connection={key: Said(text(name), UNKNOWN, _FITS)})
                if self.is_over():
                    return
                cost = self.judge(draft, self.cost)
                if cost <= max(ENOUGH, self.cost + BETTER):
                    self.best, self.cost = draft, cost
                    break

    def is_over(self) -> bool:
        """The time is up."""
        return time.process_time() > self.until

    def done(self) -> Twin:
        """The draft that is likest in the mean; if no run of it is like the capture, the next one of which one is."""
        best: tuple[tuple[bool, float], Likeness, Draft] | None = None
        for draft in [self.best, self.first, *(draft for _, _, draft in self.others)]:
            found = self.outcome(draft)
            if found is not None and (best is None or found[0] < best[0]):
                best = found
            if (best is not None and best[1].is_like) or self.is_over():
                break
        if best is None:
            return Twin(self.best, Likeness(-1.0, 1.0, 1.0), self.runs)
        return Twin(best[2], best[1], self.runs)

    def outcome(self, draft: Draft) -> tuple[tuple[bool, float], Likeness, Draft] | None:
        """As it is, if its run is like the capture; else with the seed, of those tried, whose run is likest."""
        noisy, best = _noisy(draft), None
        for seed in range(_OUTCOMES + 1):
            if seed > len(SEEDS) and self.is_over():
                break
            one = replace(noisy, seed=seed) if seed else draft
            like = self.likeness(one) if seed or noisy is not draft else None
            if like is None:
                continue
            rank = (not like.is_like, self.cost_of([like]))
            if best is None or rank < best[0]:
                best = rank, like, one
            if rank <= (False, ENOUGH) or (not seed and like.is_like):
                break
        return best

    def likeness(self, draft: Draft) -> Likeness | None:
        self.runs += 1
        try:
            run = Scenario.from_toml(draft.toml(), name="twin.toml").run()
        except (ScenarioError, RuntimeError, ValueError):
            return None
        return compared(self.found, self.gone, run)

    def judge(self, draft: Draft, best: float = math.inf) -> float:
        """What its runs cost; if the first costs much more than the `best` draft, what that one costs.

        The mean over seeds counts half: a capture is one outcome, but a run that is like it by chance alone, while its
        seeds are not, is none to try changes on. Of random losses the mean is all that counts.
        """
        first = self.likeness(draft)
        if first is None:
            return _NO_RUN
        quick = self.cost_of([first])
        if quick > _FAR * best + BOUND:
            return quick
        noisy = _noisy(draft)
        all_ = [self.likeness(replace(noisy, seed=seed)) for seed in SEEDS]
        mean = self.cost_of([one for one in all_ if one is not None])
        return mean if noisy is draft else max(quick, mean / 2)

    def cost_of(self, all_: Sequence[Likeness]) -> float:
        """What differs most, of the means and in units of what may differ, and a little of the rest."""
        if not all_:
            return _NO_RUN
        means = Likeness(*(sum(values) / len(all_) for values in zip(*all_, strict=True)))
        if "ooo_ratio" in (self.found.get("estimated") or ()):
            means = means._replace(reordering=max(0.0, abs(means.reordering) - _ESTIMATED))
        parts = [BOUND * abs(value) / bound for value, bound in zip(means, BOUNDS, strict=True)]
        return float(max(parts) + 0.1 * (sum(parts) - max(parts)))

    def consider(self, draft: Draft) -> None:
        self.considered = cost = self.judge(draft, self.cost)
        self.others = sorted([*self.others, (cost, self.runs, draft)], key=lambda one: one[:2])[:_OTHERS]
        if cost < self.cost - BETTER:
            self.best, self.cost = draft, cost
        if self.progress is not None:
            self.progress(self.runs, self.cost)

    def stages(self) -> Iterator[Iterator[Draft]]:
        """Drafts to consider, each made of the best so far."""
        yield self.usual()
        yield self.applications()
        yield self.algorithms()
        yield self.buffers()
        yield self.losses()
        yield self.sizes()
        yield self.jitters()
        yield self.grids()

    def usual(self) -> Iterator[Draft]:
        """What most hosts have, and a send buffer with each."""
        starts = [self.best] if "profile" in self.best.connection else [self.best, self.linux()]
        schedulers = _USUAL["scheduler"][:2] if "scheduler" in self.best.connection else ()
        for start in starts:
            ways = [start.with_lines(connection={"scheduler": Said(text(name), UNKNOWN, _FITS)}) for name in schedulers]
            for way in ways or [start]:
                yield way
                yield from self.buffers(way)

    def algorithms(self) -> Iterator[Draft]:
        """Each scheduler with the usual controllers, then each controller with the schedulers that fit best."""
        several = self.found["protocol"] == "mptcp" and len(self.best.paths) > 1
        if several:
            profiles = [{}] if "profile" in self.best.connection else [{}, _linux("cubic")]
            ways = [self.with_scheduler(name, lines) for lines in profiles for name in self.schedulers()]
            costs = []
            for number, way in enumerate(ways):
                yield way
                costs.append((self.considered, number))
            starts = [ways[number] for _, number in sorted(costs)[:_LIKELIEST]]
        else:
            starts = [self.best] if "profile" in self.best.connection else [self.best, self.linux()]
        for start in starts:
            for name in _CONTROLLERS if self.found["protocol"] == "mptcp" else _PLAIN:
                yield start.with_lines(connection={"controller": Said(text(name), UNKNOWN, _FITS)})

    def schedulers(self) -> Sequence[str]:
        """Those that could have sent what was captured."""
        flows = self.found["subflows"]
        copies = sum(flow["reinjections"] or 0 for flow in flows)
        sent = sum(flow["segments"] for flow in flows)
        return (*_SCHEDULERS, *_COPYING) if copies >= _COPIES * sent else _SCHEDULERS

    def with_scheduler(self, name: str, lines: Mapping[str, Said]) -> Draft:
        return self.best.with_lines(connection={**lines, "scheduler": Said(text(name), UNKNOWN, _FITS)})

    def linux(self) -> Draft:
        return self.best.with_lines(connection=_linux("cubic"))

    def buffers(self, draft: Draft | None = None) -> Iterator[Draft]:
        """Send buffers: of about the most data that were out without DATA_ACK."""
        draft = self.best if draft is None else draft
        span: Span | None = draft.free.get("send_buffer")
        for scale in _BUFFERS:
            if span is None:
                return
            said = Said(text(f"{span.times(scale).value:.0f} B"), UNKNOWN, say.GROUND_UNACKNOWLEDGED())
            yield draft.with_lines(connection={"send_buffer": said})

    def applications(self) -> Iterator[Draft]:
        """A reader that is slow; a writer that is not."""
        if "rate" in self.best.transfer:
            yield replace(
                self.best, transfer={k: v for k, v in self.best.transfer.items() if k not in ("on", "off", "rate")}
            )
        causes = [flow.get("diagnosis", {}).get("causes") for flow in self.found["subflows"]]
        if any(one and one["receive_window"] > BOUND for one in causes):
            said = Said(text(units_rate(self.found["goodput_mbps"])), INFERENCE, say.GROUND_READER())
            yield self.best.with_lines(transfer={"read_rate": said})

    def losses(self) -> Iterator[Draft]:
        """Receivers without SACK, and losses that were the queue's after all."""
        if "lossless" not in self.best.free and "sack" not in self.best.free:
            said = Said("false", UNKNOWN, say.GROUND_BEST())
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
            shares = (*_JITTER, *_OVERTAKING) if all(self.overtakes(n) for n in chosen) else _JITTER
            for share in shares:
                yield self.best.with_lines(paths={n: self.jitter(n, share) for n in chosen})

    def overtakes(self, number: int) -> bool:
        """Whether the capture shows that packets overtake each other on this path."""
        name = json.loads(self.first.paths[number]["name"].value)
        flows = [flow for flow in self.found["subflows"] if f"path{flow['path']}" == name]
        needless = sum(flow["spurious"] or 0 for flow in flows)
        return bool(needless >= _NEEDLESS * max(1, sum(flow["segments"] for flow in flows)))

    def jitter(self, number: int, share: float) -> dict[str, Said]:
        """Of the delay of a path, whose shortest stays what the capture shows."""
        path = self.first.paths[number]
        shortest = float(json.loads(path["delay"].value).removesuffix(" ms"))
        ground = say.GROUND_OVERTAKING()
        return {
            "delay": Said(text(f"{shortest / (1 - share):.4g} ms"), path["delay"].kind, path["delay"].ground),
            "delay_variation": Said(text(f"{100 * share:g} %"), UNKNOWN, ground),
            "overtaking": Said("true", UNKNOWN, ground),
        }

    def sizes(self) -> Iterator[Draft]:
        """What the capture only bounds: queues, rates without a standing queue, losses."""
        for number, unknown in self.best.free["paths"].items():
            for scale in (*_SCALES, *_WIDE):
                for key in ("queue", "loss", "rate"):
                    if key in unknown and (scale in _SCALES or key == "rate"):
                        yield from self.scaled(number, key, scale)

    def grids(self) -> Iterator[Draft]:
        """Rate and queue of a path at once, where neither was seen: a fast link with a short queue looks idle."""
        if self.cost <= BOUND:
            return
        for number, unknown in self.best.free["paths"].items():
            for rate in _RATES if "rate" in unknown and "queue" in unknown else ():
                for queue in _QUEUES:
                    for draft in [self.best, *self.scaled(number, "rate", rate)][-1:]:
                        yield from self.scaled(number, "queue", queue, draft)

    def scaled(self, number: int, key: str, scale: float, draft: Draft | None = None) -> Iterator[Draft]:
        """With another value inside its interval, if there is one."""
        draft = self.best if draft is None else draft
        unknown = dict(draft.free["paths"][number])
        span = unknown[key].times(scale)
        if span.value == unknown[key].value:
            return
        unknown[key] = span
        unknown |= {"mbps": span.value} if key == "rate" else {"queue_s": span.value} if key == "queue" else {}
        values = {
            "rate": ("rate", text(units_rate(unknown["mbps"]))),
            "queue": ("queue", queue_of(unknown["queue_s"], unknown["mbps"])),
            "loss": (f"loss_{unknown['way']}", text(f"{100 * min(span.value, 0.9):.3g} %")),
        }
        lines = {}
        # A queue is known by the time that it takes, so with the rate the number of its packets changes.
        for name, value in [values[key], *([values["queue"]] if key == "rate" else [])]:
            old = draft.paths[number][name]
            fits = say.GROUND_SCALED(ground="")
            lines[name] = Said(value, old.kind, say.GROUND_SCALED(ground=old.ground.removesuffix(fits)))
        paths = {**draft.free["paths"], number: unknown}
        yield replace(draft.with_lines(paths={number: lines}), free={**draft.free, "paths": paths})


def _noisy(draft: Draft) -> Draft:
    """The same, so that its seeds differ: with delays that vary by a little, where nothing else is random."""
    if any(key.startswith("loss") or key == "delay_variation" for path in draft.paths for key in path):
        return draft
    said = Said(text(JITTER), UNKNOWN, say.GROUND_JITTER())
    return draft.with_lines(paths={number: {"delay_variation": said} for number in range(len(draft.paths))})


def _linux(controller: str) -> dict[str, Said]:
    return {**_LINUX, "controller": Said(text(controller), UNKNOWN, _FITS)}
