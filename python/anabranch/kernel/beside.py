"""One scenario on Anabranch and on Linux, side by side."""

import itertools
import math
import os
import random
import tempfile
import tomllib
from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean, median, stdev
from typing import TYPE_CHECKING, Any, NamedTuple

from anabranch.kernel import runner
from anabranch.kernel.counted import Counted, counted
from anabranch.kernel.translate import spec_of
from anabranch.measures import units
from anabranch.measures.table import label
from anabranch.sentences import tools as say

if TYPE_CHECKING:
    from anabranch.runs.run import Run
    from anabranch.scenario import Scenario, Value

MEASURES = {
    "goodput_mbps": label("goodput_mbps"),
    "completion_s": label("completion_s"),
    "retransmissions": "retransmissions",
    "timeouts": "timeouts",
}
"""What is compared, and what the table calls it; then a share and the queue drops of each path."""


@dataclass
class Beside:
    """The figures of both, one dict for each run.

    Keys of a run: ``goodput_mbps`` (octets read over the time from the first octet read to the last), ``completion_s``
    (from the first SYN to the last octet read), ``retransmissions``, ``timeouts`` (expiries of the sender's
    retransmission timers), ``share`` (of the transmissions, one for each path, 0 to 1) and ``queue_drops`` (one for
    each path, in the direction of the data).
    """

    kernel: str
    scenario: dict[str, Any]
    first: "Run"
    """The first run of Anabranch."""
    anabranch: list[dict[str, Any]] = field(default_factory=list)
    linux: list[dict[str, Any]] = field(default_factory=list)
    vary: float = 0.0
    """By which share the links differ between the runs; run by run they are the same on both sides."""

    def to_json(self) -> dict[str, Any]:
        """Everything as one JSON object."""
        names = [*MEASURES, "share", "queue_drops"]
        return {
            "kernel": self.kernel,
            "anabranch": {"runs": self.anabranch, "mean": {n: _mean(self.anabranch, n) for n in names}},
            "linux": {"runs": self.linux, "mean": {n: _mean(self.linux, n) for n in names}},
            "goodput_difference": _ratio(self.anabranch, self.linux),
            "vary": self.vary,
            "distance": None if self.distance is None else self.distance._asdict(),
        }

    @property
    def distance(self) -> "Distance | None":
        """How far apart the distributions of the goodput are; None without `vary`."""
        if not self.vary:
            return None
        return distance(*(_values(runs, "goodput_mbps") for runs in (self.anabranch, self.linux)))

    def __str__(self) -> str:
        """The table that ``anabranch compare-kernel`` prints."""
        shown = _range if self.vary else _spread
        here = say.ANABRANCH(runs=len(self.anabranch))
        there = say.LINUX(version=self.kernel, runs=len(self.linux))
        rows = [("", here, there, say.DIFFERENCE())]
        for name, called in MEASURES.items():
            ours, theirs = _values(self.anabranch, name), _values(self.linux, name)
            apart = _percent(mean(ours), mean(theirs)) if name in ("goodput_mbps", "completion_s") else ""
            rows.append((called, shown(ours), shown(theirs), apart))
        links = [path[0] for path in self.scenario["connections"][0]["paths"]]
        for i, link in enumerate(links):
            ours, theirs = ([100 * r["share"][i] for r in runs] for runs in (self.anabranch, self.linux))
            points = say.POINTS(difference=f"{mean(ours) - mean(theirs):+.1f}")
            rows.append((say.SHARE(path=link), shown(ours), shown(theirs), points))
        for i, link in enumerate(links):
            ours, theirs = ([r["queue_drops"][i] for r in runs] for runs in (self.anabranch, self.linux))
            rows.append((say.QUEUE_DROPS(path=link), shown(ours), shown(theirs), ""))
        widths = [max(len(row[k]) for row in rows) for k in range(4)]
        lines = [
            f"{a:<{widths[0]}}  " + "  ".join(f"{c:>{w}}" for c, w in zip(rest, widths[1:], strict=True))
            for a, *rest in rows
        ]
        return "\n".join([*(line.rstrip() for line in lines), *self._varied()])

    def _varied(self) -> list[str]:
        """What the rows are of, and whether the goodputs differ, where the links vary."""
        if self.distance is None:
            return []
        goodputs = (sorted(_values(runs, "goodput_mbps")) for runs in (self.anabranch, self.linux))
        here, there = (" ".join(f"{value:.2f}" for value in values) for values in goodputs)
        return [
            "",
            say.VARIED(share=f"{100 * self.vary:g}"),
            say.GOODPUTS(ours=here, theirs=there),
            say.DISTANCE(largest=f"{self.distance.largest:.2f}", chance=f"{self.distance.p:.2g}"),
        ]


def _values(runs: list[dict[str, Any]], name: str) -> list[float]:
    return [float(r[name]) for r in runs if r[name] is not None] or [math.nan]


def _mean(runs: list[dict[str, Any]], name: str) -> Any:
    if runs and isinstance(runs[0][name], list):
        return [mean(r[name][i] for r in runs) for i in range(len(runs[0][name]))]
    found = mean(_values(runs, name))
    return None if math.isnan(found) else found


def _ratio(ours: list[dict[str, Any]], theirs: list[dict[str, Any]]) -> float | None:
    a, b = _mean(ours, "goodput_mbps"), _mean(theirs, "goodput_mbps")
    return a / b - 1 if a is not None and b else None


def _percent(ours: float, theirs: float) -> str:
    return say.PERCENT(difference=f"{100 * (ours / theirs - 1):+.1f}") if theirs else ""


def _spread(values: list[float]) -> str:
    """Mean, and the standard deviation if the runs differ."""
    digits = 0 if all(float(v).is_integer() for v in values) and len(values) == 1 else 2 if mean(values) < 100 else 1
    text = f"{mean(values):.{digits}f}"
    if len(values) > 1 and stdev(values) > 0:
        text += f" +- {stdev(values):.{digits}f}"
    return text


def _range(values: list[float]) -> str:
    """Median, least and most."""
    digits = 0 if all(float(v).is_integer() for v in values) else 2 if median(values) < 100 else 1
    low, middle, high = (f"{v:.{digits}f}" for v in (min(values), median(values), max(values)))
    return middle if low == high else f"{middle} ({low} to {high})"


class Distance(NamedTuple):
    """How far apart two samples are.

    Attributes
    ----------
    largest : float
        Largest difference of their distribution functions (Kolmogorov and Smirnov), 0 to 1.
    p : float
        Share of the ways to deal the values to two such samples that put them at least as far apart.
    """

    largest: float
    p: float


def distance(first: Sequence[float], second: Sequence[float]) -> Distance:
    """Return the distance of two samples; of many values `p` is that of 10,000 drawn ways.

    >>> distance([1, 2, 3, 4], [5, 6, 7, 8])
    Distance(largest=1.0, p=0.02857142857142857)
    """
    values, count = [*first, *second], len(first)

    def apart(chosen: "Collection[int]") -> float:
        one, other = ([values[i] for i in range(len(values)) if (i in chosen) is side] for side in (True, False))
        return max(abs(_share(one, v) - _share(other, v)) for v in values)

    found = apart(range(count))
    if math.comb(len(values), count) <= 10_000:
        ways: Iterable[Collection[int]] = (set(way) for way in itertools.combinations(range(len(values)), count))
    else:
        drawn = random.Random(1)
        ways = (set(drawn.sample(range(len(values)), count)) for _ in range(10_000))
    far = [apart(way) >= found - 1e-9 for way in ways]
    return Distance(found, sum(far) / len(far))


def _share(values: Sequence[float], most: float) -> float:
    """Share of `values` that are at most `most`."""
    return sum(v <= most for v in values) / len(values)


def ours(run: "Run", paths: int, count: Counted | None = None) -> dict[str, Any]:
    """The figures of a run of Anabranch; without the `count` of its sender, those of its summary in its place."""
    s = run.summary
    flows = s["subflows"]
    if count is None:
        count = Counted(
            sum(f["retransmissions_timeout"] for f in flows), {i: f["queue_drops"] for i, f in enumerate(flows)}
        )
    sent = [sum(f["segments"] for f in flows if f["path"] == i) for i in range(paths)]
    first, last = s["first_byte_s"], s["last_byte_s"]
    took = last - first if first is not None and last is not None else 0.0
    return {
        "goodput_mbps": 8e-6 * s["bytes_delivered"] / took if took > 0 else None,
        "completion_s": s["completion_s"],
        "retransmissions": sum(f["retransmissions_fast"] + f["retransmissions_timeout"] for f in flows),
        "timeouts": count.timeouts,
        "share": [n / max(1, sum(sent)) for n in sent],
        "queue_drops": [sum(n for k, n in count.queue_drops.items() if flows[k]["path"] == i) for i in range(paths)],
    }


def theirs(result: dict[str, Any], direction: str) -> dict[str, Any]:
    """The figures of a run of Linux."""
    reader, client = result["reader_times"], result["client_times"]
    counters = result["client" if direction == "up" else "server"]
    sent = [q["octets"] for q in result["queues"]["bottleneck"]]
    took = reader["last"] - (reader["first"] or reader["last"])
    return {
        "goodput_mbps": 8e-6 * reader["octets"] / took if took > 0 else None,
        "completion_s": reader["last"] - client["began"],
        "retransmissions": counters.get("RetransSegs", 0),
        "timeouts": counters.get("TCPTimeouts", 0),
        "share": [n / max(1, sum(sent)) for n in sent],
        "queue_drops": [q["drops"] for q in result["queues"]["bottleneck"]],
        "counters": counters,
    }


def varied(scenario: "Scenario", share: float, run: int) -> "Scenario":
    """Return `scenario` with each rate and delay of its paths changed by up to `share`; the same for equal `run`.

    Run 0 is the scenario as it is.
    """
    if not share or not run:
        return scenario
    resolved = scenario.check()
    key = "path" if "path" in tomllib.loads(scenario.toml) else "link"
    changes: dict[str, Value] = {}
    for i, link in enumerate(resolved["links"]):
        drawn = random.Random(f"{resolved['seed']} {run} {link['name']}")
        for name, unit in (("rate_bps", "bit/s"), ("delay_s", "s")):
            factor = 1 + drawn.uniform(-share, share)
            for way in ("up", "down"):
                value = link[way][name] * factor
                written = f"{round(value)}" if unit == "bit/s" else f"{value:.9f}"
                changes[f"{key}.{i}.{name.split('_')[0]}_{way}"] = f"{written} {unit}"
    return scenario.set(changes)


OCTETS_A_SECOND = 8e6
"""Octets that the kernel transfers in a second of wall time, about, on a processor of 2024 that does nothing else."""
BOOT = 3.0
"""Seconds of wall time to start and end the kernel, about."""


def takes(octets: int, runs: int, processors: int) -> str:
    """Say what `runs` of Linux will take.

    >>> takes(150_000_000, 3, 2)
    'Linux takes about 22 s of wall-clock time for a run of 150 MB; 2 runs at a time: about 44 s in all'
    """
    each = BOOT + octets / OCTETS_A_SECOND
    rounds = math.ceil(runs / processors)
    said = say.TAKES(time=f"{each:.0f}", amount=units.octets(octets))
    if runs == 1:
        return said
    return say.TAKES_PARALLEL(takes=said, runs=min(runs, processors), total=f"{each * rounds:.0f}")


def compare_kernel(
    scenario: "Scenario",
    *,
    runs: int = 3,
    without: tuple[str, ...] = (),
    pcap: Path | None = None,
    vary: float = 0.0,
    told: Callable[[str], None] = lambda _: None,
) -> Beside:
    """Run a scenario `runs` times on each side.

    Anabranch takes the seeds from the scenario's on, Linux has chance of its own.

    Parameters
    ----------
    scenario : Scenario
        What to run.
    runs : int
        Runs of each; of Anabranch one is enough if the scenario has no chance in it, since all are the same.
    without : tuple of str
        Features of Linux to switch off: ``prr``, ``rack``, ``quick-acks``, ``hystart``.
    pcap : path, optional
        Directory for the captures of both ends of each run: ``linux-1/client.pcap``, ``anabranch-1/client-0.pcapng``.
    vary : float
        By which share each rate and delay of the paths may differ from run to run, 0 to 0.5. Linux has two outcomes in
        some lossless cases, so a single run is one draw: runs of links that differ a little show both.
    told : callable
        Called with a line of progress.

    Raises
    ------
    KernelError
        If Linux or the topology cannot follow the scenario, or a run fails.
    ScenarioError
        If the scenario is wrong.
    """
    features = {name.replace("-", "_"): True for name in without}
    spec_of(scenario.check(), features)  # before it is varied: what is refused is what the user wrote
    scenarios = [varied(scenario, vary, k) for k in range(runs if vary else 1)]
    specs = [spec_of(each.check(), features) | {"capture": pcap is not None} for each in scenarios]
    spec, resolved = specs[0], scenario.check()
    runner.kernel(spec["kernel"])
    paths = len(spec["paths"])
    chance = any(way["loss"] or way["jitter_us"] for path in spec["paths"] for way in path.values())
    # A change to a loss of 100 % or 0 % makes no run random.
    chance = chance or any(event.get("loss", 0) not in {0, 1} for event in spec["events"])
    own = runs if chance or vary else 1
    seed, sender = resolved["seed"], "client" if spec["direction"] == "up" else "server"

    def here(k: int) -> "tuple[Run, dict[str, Any]]":
        told(say.OWN_RUN(run=k + 1, runs=own))
        with tempfile.TemporaryDirectory(prefix="anabranch-trace-") as scratch:
            trace = Path(scratch) / "trace"
            packets = None if pcap is None else str(pcap / f"anabranch-{k + 1}")
            run = scenarios[k % len(scenarios)].run(seed + k, trace=trace, pcap=packets)
            with trace.open(encoding="utf-8") as lines:
                return run, ours(run, paths, counted(lines, sender))

    first, figures = here(0)
    found = Beside(kernel=spec["kernel"], scenario=resolved, first=first, anabranch=[figures], vary=vary)
    found.anabranch += [here(k)[1] for k in range(1, own)]
    processors = max(1, os.cpu_count() or 1)
    told(takes(spec["bytes"], runs, processors))

    def one(k: int) -> dict[str, Any]:
        def progress(share: float, seconds: float) -> None:
            told(say.LINUX_AT(run=k + 1, runs=runs, share=f"{100 * share:.0f}", time=f"{seconds:.0f}"))

        told(say.LINUX_RUN(run=k + 1, runs=runs))
        keep = None if pcap is None else pcap / f"linux-{k + 1}"
        result = runner.once(specs[k % len(specs)], keep=keep, progress=progress)
        return theirs(result, spec["direction"])

    with ThreadPoolExecutor(processors) as pool:
        found.linux = list(pool.map(one, range(runs)))
    return found
