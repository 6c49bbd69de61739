"""One scenario on Anabranch and on Linux, side by side."""

import math
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean, stdev
from typing import TYPE_CHECKING, Any

from anabranch.kernel import runner
from anabranch.kernel.translate import spec_of

if TYPE_CHECKING:
    from anabranch.results import Run
    from anabranch.scenario import Scenario

MEASURES = {
    "goodput_mbps": "goodput, Mbit/s",
    "completion_s": "completion, s",
    "retransmissions": "retransmissions",
    "timeouts": "timeouts",
}
"""What is compared, and what the table calls it; then a share and the queue drops of each path."""


@dataclass
class Beside:
    """The figures of both, one dict for each run.

    Keys of a run: ``goodput_mbps`` (octets read over the time from the first octet read to the last), ``completion_s``
    (from the first SYN to the last octet read), ``retransmissions``, ``timeouts`` (of the retransmission timer; of
    Anabranch the segments that it sent again), ``share`` (of the transmissions, one for each path, 0 to 1) and
    ``queue_drops`` (one for each path).
    """

    kernel: str
    scenario: dict[str, Any]
    first: "Run"
    """The first run of Anabranch."""
    anabranch: list[dict[str, Any]] = field(default_factory=list)
    linux: list[dict[str, Any]] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """Everything as one JSON object."""
        names = [*MEASURES, "share", "queue_drops"]
        return {
            "kernel": self.kernel,
            "anabranch": {"runs": self.anabranch, "mean": {n: _mean(self.anabranch, n) for n in names}},
            "linux": {"runs": self.linux, "mean": {n: _mean(self.linux, n) for n in names}},
            "goodput_difference": _ratio(self.anabranch, self.linux),
        }

    def __str__(self) -> str:
        """The table that ``anabranch compare-kernel`` prints."""
        rows = [
            ("", f"Anabranch ({_runs(self.anabranch)})", f"Linux {self.kernel} ({_runs(self.linux)})", "difference")
        ]
        for name, called in MEASURES.items():
            ours, theirs = _values(self.anabranch, name), _values(self.linux, name)
            apart = _percent(mean(ours), mean(theirs)) if name in ("goodput_mbps", "completion_s") else ""
            rows.append((called, _spread(ours), _spread(theirs), apart))
        for i in range(len(self.linux[0]["share"])):
            ours, theirs = ([100 * r["share"][i] for r in runs] for runs in (self.anabranch, self.linux))
            rows.append(
                (f"share of path{i}, %", _spread(ours), _spread(theirs), f"{mean(ours) - mean(theirs):+.1f} points")
            )
        for i in range(len(self.linux[0]["queue_drops"])):
            ours, theirs = ([r["queue_drops"][i] for r in runs] for runs in (self.anabranch, self.linux))
            rows.append((f"queue drops of path{i}", _spread(ours), _spread(theirs), ""))
        widths = [max(len(row[k]) for row in rows) for k in range(4)]
        lines = [
            f"{a:<{widths[0]}}  " + "  ".join(f"{c:>{w}}" for c, w in zip(rest, widths[1:], strict=True))
            for a, *rest in rows
        ]
        return "\n".join(line.rstrip() for line in lines)


def _runs(runs: list[dict[str, Any]]) -> str:
    return "1 run" if len(runs) == 1 else f"{len(runs)} runs"


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
    return f"{100 * (ours / theirs - 1):+.1f} %" if theirs else ""


def _spread(values: list[float]) -> str:
    """Mean, and the standard deviation if the runs differ."""
    digits = 0 if all(float(v).is_integer() for v in values) and len(values) == 1 else 2 if mean(values) < 100 else 1
    text = f"{mean(values):.{digits}f}"
    if len(values) > 1 and stdev(values) > 0:
        text += f" +- {stdev(values):.{digits}f}"
    return text


def ours(run: "Run", paths: int) -> dict[str, Any]:
    """The figures of a run of Anabranch."""
    s = run.summary
    flows = s["subflows"]
    sent = [sum(f["segments"] for f in flows if f["path"] == i) for i in range(paths)]
    first, last = s["first_byte_s"], s["last_byte_s"]
    took = last - first if first is not None and last is not None else 0.0
    return {
        "goodput_mbps": 8e-6 * s["bytes_delivered"] / took if took > 0 else None,
        "completion_s": s["completion_s"],
        "retransmissions": sum(f["retransmissions_fast"] + f["retransmissions_timeout"] for f in flows),
        "timeouts": sum(f["retransmissions_timeout"] for f in flows),
        "share": [n / max(1, sum(sent)) for n in sent],
        "queue_drops": [sum(f["queue_drops"] for f in flows if f["path"] == i) for i in range(paths)],
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


def compare_kernel(
    scenario: "Scenario",
    *,
    runs: int = 3,
    without: tuple[str, ...] = (),
    pcap: Path | None = None,
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
    told : callable
        Called with a line of progress.

    Raises
    ------
    KernelError
        If Linux or the topology cannot follow the scenario, or a run fails.
    ScenarioError
        If the scenario is wrong.
    """
    resolved = scenario.check()
    spec = spec_of(resolved, {name.replace("-", "_"): True for name in without})
    spec["capture"] = pcap is not None
    runner.kernel()
    paths = len(spec["paths"])
    chance = any(way["loss"] or way["jitter_us"] for path in spec["paths"] for way in path.values())
    seed = resolved["seed"]

    def here(k: int) -> "Run":
        told(f"Anabranch, run {k + 1} of {runs if chance else 1}")
        return scenario.run(seed + k, pcap=None if pcap is None else str(pcap / f"anabranch-{k + 1}"))

    found = Beside(kernel="6.1", scenario=resolved, first=here(0))
    found.anabranch = [ours(found.first, paths)]
    found.anabranch += [ours(here(k), paths) for k in range(1, runs if chance else 1)]

    def one(k: int) -> dict[str, Any]:
        told(f"Linux, run {k + 1} of {runs}")
        keep = None if pcap is None else pcap / f"linux-{k + 1}"
        return theirs(runner.once(spec, keep=keep), spec["direction"])

    with ThreadPoolExecutor(max(1, os.cpu_count() or 1)) as pool:
        found.linux = list(pool.map(one, range(runs)))
    return found
