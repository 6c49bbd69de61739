"""Linux 6.1 as a judge: cases measured by tools/kernel-oracle (tests/kernel) against `profile = "linux-6.1"`."""

import csv
import json
import math
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import pytest

import anabranch as ab
from anabranch.kernel import KernelError
from anabranch.kernel.beside import ours
from anabranch.kernel.translate import spec_of

KERNEL = Path(__file__).parent / "kernel"
FILES = ("linux-6.1.csv", "linux-6.1-seeded.csv")
"""Cases measured elsewhere, and those measured with the tool as it is here."""

SEEDS = 20
CONTROLLERS = {"reno": "uncoupled", "cubic": "cubic"}


@dataclass(frozen=True)
class Case:
    """One case with its runs on Linux."""

    key: tuple[str, ...]
    runs: tuple[dict[str, str], ...]

    @property
    def row(self) -> dict[str, str]:
        return self.runs[0]

    @property
    def paths(self) -> list[dict[str, float]]:
        paths: list[dict[str, float]] = json.loads(self.row["paths"])
        return paths

    @property
    def has_chance(self) -> bool:
        return any(p["loss"] or p.get("jitter") for p in self.paths)

    def scenario(self) -> ab.Scenario:
        """The same case here: 14 octets of Ethernet in each packet, half of the memory as window."""
        row = self.row
        lines = [
            "[connection]",
            'profile = "linux-6.1"',
            f'protocol = "{row["protocol"]}"',
            f'controller = "{CONTROLLERS[row["controller"]]}"',
            f'receive_buffer = "{int(row["rmem_max"] or 4194304) // 2} B"',
            f"mss = {1424 if row['protocol'] == 'mptcp' else 1448}",
        ]
        changes = ""
        if row["events"]:
            # Silence by loss, or the client's device down: its subflow stays, and what it sends goes nowhere.
            again = ', { at = "6 s", loss = "0 %" }' if re.search(r"3-6 s", row["events"]) else ""
            changes = f'changes = [{{ at = "3 s", loss = "100 %" }}{again}]'
        lines += ["[transfer]", f'bytes = "{row["bytes"]} B"']
        for i, p in enumerate(self.paths):
            lines += [
                "[[path]]",
                f'rate = "{p["rate"]} Mbit/s"',
                f'delay = "{p["delay"]} ms"',
                f'queue = "{p["queue"]} packets"',
                f'loss = "{p["loss"]} %"',
                'overhead = "14 B"',
            ]
            if p.get("jitter"):
                lines += [f'delay_variation = "{100 * p["jitter"] / p["delay"]} %"', "overtaking = true"]
            if i == 0 and changes:
                lines.append(changes)
        return ab.Scenario.from_toml("\n".join(lines))

    def theirs(self) -> list[float]:
        """Goodput of Linux in Mbit/s, from the first octet to the last."""
        return [int(r["bytes"]) * 8e-6 / float(r["receive_s"]) for r in self.runs]

    def ours(self) -> list[dict[str, Any]]:
        scenario = self.scenario()
        seeds = range(1, SEEDS + 1) if self.has_chance else (1,)
        return [ours(scenario.run(seed), len(self.paths)) for seed in seeds]

    def tolerance(self) -> float:
        """The share by which goodput may differ."""
        if self.row["group"] in ("rcvbuf", "jitter"):
            return 0.15
        if self.row["group"] == "failure" or self.has_chance:
            return 0.12
        return 0.05

    def kind(self) -> str:
        """What the case tries."""
        special = {"rcvbuf": "buffer", "jitter": "reordering", "failure": "failure"}
        return special.get(self.row["group"], "loss" if self.has_chance else "lossless")

    def __str__(self) -> str:
        paths = "+".join(f"{p['rate']}/{p['delay']}/{p['queue']}/{p['loss']}" for p in self.paths)
        return " ".join([*self.key[:3], paths, self.row["events"], self.row["rmem_max"]]).strip()


@cache
def cases(name: str) -> list[Case]:
    """The cases of a file that are not ablations, runs of one case together."""
    with (KERNEL / name).open(encoding="utf-8") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    columns = ("group", "protocol", "controller", "bytes", "paths", "events", "rmem_max")
    found: dict[tuple[str, ...], list[dict[str, str]]] = {}
    for row in rows:
        if row["group"] != "ablation":
            found.setdefault(tuple(row[c] for c in columns), []).append(row)
    return [Case(key, tuple(runs)) for key, runs in found.items()]


def interval(a: list[float], b: list[float]) -> float:
    """Half of the 95 % interval of the difference of two means."""
    # A single run has no spread of its own: it is taken to be that of the other side.
    spread = [stdev(x) if len(x) > 1 else None for x in (a, b)]
    known = [s for s in spread if s is not None]
    parts = [(max(known) if s is None else s) ** 2 / len(x) for s, x in zip(spread, (a, b), strict=True)]
    return 1.96 * math.sqrt(sum(parts))


LEAST = {
    "linux-6.1.csv": {"lossless": 11 / 12, "loss": 8 / 9, "reordering": 1.0, "failure": 1.0, "buffer": 0.0},
    "linux-6.1-seeded.csv": {"lossless": 36 / 38, "loss": 0.9, "reordering": 0.75, "failure": 1.0, "buffer": 5 / 6},
}
"""Of the cases of each kind, the share within the tolerance. docs/validation.md names the others: among them the
lossless ones and the buffers in which Linux itself has two outcomes, of which a file has the one or the other."""


@pytest.mark.parametrize("name", FILES)
def test_goodput_is_linuxs(name: str) -> None:
    inside: dict[str, list[bool]] = {}
    outside = []
    for case in cases(name):
        if case.row["group"] == "short":
            continue
        here, there = [r["goodput_mbps"] for r in case.ours()], case.theirs()
        allowed = case.tolerance() * mean(there)
        if case.has_chance:
            allowed = max(allowed, interval(here, there))
        fits = abs(mean(here) - mean(there)) <= allowed
        inside.setdefault(case.kind(), []).append(fits)
        if not fits:
            outside.append(f"{case}: {mean(here):.2f} here, {mean(there):.2f} Mbit/s on Linux")
    assert set(inside) == set(LEAST[name])
    for kind, least in LEAST[name].items():
        assert mean(inside[kind]) >= least, (kind, outside)
    assert len(outside) <= 7, outside


@pytest.mark.parametrize("name", FILES)
def test_short_transfers_complete_within_a_round_trip_of_linuxs(name: str) -> None:
    for case in cases(name):
        if case.row["group"] == "short":
            # Linux's total ends with the peer's close, half a round trip after the last octet.
            round_trip = 2e-3 * max(p["delay"] for p in case.paths)
            for row in case.runs:
                assert abs(case.ours()[0]["completion_s"] - float(row["total_s"])) <= round_trip, case


APART = {
    "linux-6.1.csv": {"jitter mptcp cubic 10/25/60/0+10/25/60/0"},
    "linux-6.1-seeded.csv": {"jitter mptcp reno 10/25/60/0+10/25/60/0"},
}
"""One run of Linux in three and two in six, of ours one in twenty and three, never join the second path. The shares of
the others agree (docs/validation.md)."""


@pytest.mark.parametrize("name", FILES)
def test_the_share_of_each_path_is_linuxs(name: str) -> None:
    """Within five points."""
    apart = {}
    for case in cases(name):
        if case.row["protocol"] != "mptcp":
            continue
        sent = [[int(n) for n in row["path_bytes"].split()] for row in case.runs]
        there = mean(s[0] / sum(s) for s in sent)
        here = mean(r["share"][0] for r in case.ours())
        if abs(here - there) > 0.05:
            apart[str(case)] = (here, there)
    assert apart.keys() <= APART[name], apart


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"connection.controller": "coupled"}, "connection.controller: "),
        ({"connection.acknowledgement": "coupled"}, "connection.acknowledgement: "),
        ({"path.0.discipline": "codel"}, "path[0].discipline: "),
        ({"path.0.queue": "64 kB"}, "path[0].queue: "),
        ({"path.1.delay_variation": "10 %"}, "path[1].delay_variation: "),
        ({"path.1.duplication": "1 %"}, "path[1].duplication: "),
        ({"transfer.start": "1 s"}, "transfer.start: "),
        ({"connection.path_manager": "full-mesh"}, "connection.path_manager: "),
        ({"connection.dsn_octets": "4"}, "connection.dsn_octets: "),
        ({"connection.send_buffer": "1 MB"}, "connection.send_buffer: "),
        ({"connection.tcp_wmem": "4096 16384 1000000"}, "connection.send_buffer: "),
        ({"connection.min_rto": "205 ms"}, "connection.min_rto: "),
        ({"connection.min_rto": "1 ms"}, "connection.min_rto: "),
        ({"connection.max_rto": "1 min"}, "connection.max_rto: "),
        ({"connection.initial_rto": "3 s"}, "connection.initial_rto: "),
    ],
)
def test_what_linux_cannot_follow_is_refused_by_name(change: dict[str, str], place: str) -> None:
    scenario = ab.Scenario.two_path("5 Mbit/s, 100 ms", "2 Mbit/s, 10 ms", transfer="1 MB", controller="cubic")
    spec_of(scenario.check())
    with pytest.raises(KernelError, match=re.escape(place)):
        spec_of(scenario.set(change).check())


def test_a_scenario_becomes_a_run_of_the_kernel() -> None:
    scenario = ab.Scenario.two_path(
        "5 Mbit/s, 100 ms, loss 1 %",
        "2 Mbit/s, 10 ms, queue 30 packets",
        transfer="1 MB",
        controller="uncoupled",
        mss=1400,
    )
    spec = spec_of(scenario.check(), {"prr": True})
    first, second = (path["up"] for path in spec["paths"])
    assert (spec["controller"], spec["bytes"], spec["mtu"]) == ("reno", 1_000_000, 1476)
    assert (first["rate_bps"], first["delay_us"], first["loss"], second["queue"]) == (5_000_000, 100_000, 0.01, 30)
    assert spec["sysctl"]["net.ipv4.tcp_recovery"] == "17"


@pytest.mark.parametrize(
    ("change", "route", "rmem", "wmem"),
    [
        ({"connection.profile": "linux"}, [], "4096 131072 6291456", None),
        ({}, [], "4096 12000000 12000000", None),
        ({"connection.receive_initial": "16 kB"}, [], "4096 32000 12000000", None),
        ({"connection.tcp_rmem": "4096 65536 1000000"}, [], "4096 65536 1000000", None),
        ({"connection.receive_initial": "64 kB", "connection.receive_buffer": "32 kB"}, [], "4096 64000 64000", None),
        ({"connection.min_rto": "50 ms"}, ["rto_min", "50ms"], "4096 12000000 12000000", None),
        ({"connection.initial_window": 4}, ["initcwnd", "4"], "4096 12000000 12000000", None),
        ({"connection.send_buffer": "10 MB"}, [], "4096 12000000 12000000", "4096 16384 20000000"),
        ({"connection.send_buffer": "unlimited"}, [], "4096 12000000 12000000", "4096 16384 1073741824"),
    ],
)
def test_memory_and_timer_become_the_kernels(
    change: dict[str, Any], route: list[str], rmem: str, wmem: str | None
) -> None:
    scenario = ab.Scenario.two_path("5 Mbit/s, 100 ms", "2 Mbit/s, 10 ms", transfer="1 MB", controller="cubic")
    spec = spec_of(scenario.set(change).check())
    assert spec["route"] == route
    assert spec["sysctl"]["net.ipv4.tcp_rmem"] == rmem
    assert spec["sysctl"].get("net.ipv4.tcp_wmem") == wmem


def test_without_a_kernel_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from anabranch.kernel import runner

    monkeypatch.setenv("ANABRANCH_KERNEL", str(tmp_path / "none"))
    with pytest.raises(KernelError, match="tools/kernel-oracle/build"):
        runner.kernel()


def test_the_tool_without_the_package_says_what_it_needs(tmp_path: Path) -> None:
    tool = tmp_path / "tools" / "kernel-oracle" / "run"
    tool.parent.mkdir(parents=True)
    tool.write_bytes((KERNEL.parents[1] / "tools" / "kernel-oracle" / "run").read_bytes())
    bare = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, "-S", str(tool), "my.toml"], capture_output=True, text=True, env=bare, check=False
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert "this needs the package\n  make demo" in done.stderr
    assert "Traceback" not in done.stderr
