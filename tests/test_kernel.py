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
from anabranch.kernel.beside import compare_kernel, distance, ours, varied
from anabranch.kernel.counted import counted
from anabranch.kernel.translate import spec_of
from helpers import Command

KERNEL = Path(__file__).parent / "kernel"
FILES = ("linux-6.1.csv", "linux-6.1-seeded.csv")
ONE_OF_FILES = (FILES[0], pytest.param(FILES[1], marks=pytest.mark.long))
"""The first file in `make test`, both in `make check-long`. `test_kernel_draw` has further cases."""
"""Cases measured elsewhere, and those measured with the tool as it is here."""

SEEDS = 20
RUNS: dict[tuple[str, ...], list[dict[str, Any]]] = {}
CONTROLLERS = {"reno": "uncoupled", "cubic": "cubic"}
TURNED = ab.Scenario.from_toml(
    """
    [connection]
    controller = "cubic"
    paths = ["path1", "path0"]
    [transfer]
    bytes = "2 MB"
    [[path]]
    rate = "4 Mbit/s"
    delay = "10 ms"
    queue = "5 packets"
    [[path]]
    rate = "9 Mbit/s"
    delay = "10 ms"
    queue = "1000 packets"
    """
)
"""Two paths; the connection has the second one first."""


@dataclass(frozen=True)
class Case:
    """A case with its measured runs on Linux."""

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
        """Simulated runs of the case, one for each seed; cached, because several tests use them."""
        if self.key not in RUNS:
            scenario = self.scenario()
            seeds = range(1, SEEDS + 1) if self.has_chance else (1,)
            RUNS[self.key] = [ours(scenario.run(seed), len(self.paths)) for seed in seeds]
        return RUNS[self.key]

    def tolerance(self) -> float:
        """Largest allowed difference of the mean goodput, relative to Linux's."""
        if self.row["group"] in ("rcvbuf", "jitter"):
            return 0.15
        if self.row["group"] == "failure" or self.has_chance:
            return 0.12
        return 0.05

    def kind(self) -> str:
        """Class of the case, a key of `LEAST`."""
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
    "linux-6.1.csv": {"lossless": 11 / 12, "loss": 8 / 9, "reordering": 1.0, "failure": 1.0, "buffer": 0.5},
    "linux-6.1-seeded.csv": {"lossless": 34 / 38, "loss": 0.9, "reordering": 3 / 4, "failure": 1.0, "buffer": 5 / 6},
}
"""Of the cases of each kind, the share within the tolerance. docs/validation/linux-kernel.md names the others."""


@pytest.mark.parametrize("name", ONE_OF_FILES)
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
    "linux-6.1.csv": {
        "jitter mptcp cubic 10/25/60/0+10/25/60/0",
        "rcvbuf mptcp reno 10/10/60/0+10/50/60/0  65536",
    },
    "linux-6.1-seeded.csv": {
        "jitter mptcp reno 10/25/60/0+10/25/60/0",
        "jitter mptcp cubic 10/25/60/0+10/25/60/0",
        "rcvbuf mptcp cubic 10/10/60/0+10/50/60/0  65536",
    },
}
"""Cases whose share differs by more than five points (docs/validation/linux-kernel.md).

Delay variation: some runs never use the second path, 1 of 3 and 2 of 6 on Linux, 1 and 3 of 20 here. 64 kB of memory:
NewReno has two regimes on Linux, and the first file has the other one; with CUBIC the engine puts six points more on
the long path than Linux, for a reason that is not known."""


@pytest.mark.parametrize("name", ONE_OF_FILES)
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


BURSTS = "{ good_to_bad = 0.1, bad_to_good = 0.5 }"


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"connection.controller": "coupled"}, "connection.controller: "),
        ({"connection.acknowledgement": "coupled"}, "connection.acknowledgement: "),
        ({"path.0.discipline": "codel"}, "path[0].discipline: "),
        ({"path.0.queue": "64 kB"}, "path[0].queue: "),
        ({"path.1.delay_variation": "10 %"}, "path[1].delay_variation: "),
        ({"path.1.delay_variation": "1 ms"}, "path[1].delay_variation: 1000 us"),
        ({"path.1.policer.rate": "5 Mbit/s", "path.1.policer.burst": "64 kB"}, "path[1].policer: "),
        ({"path.1.mtu": "1400 B"}, "path[1].mtu: 1400"),
        ({"host.cost": "2 us"}, "host.cost: 2e-06"),
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
        ({"path.0.changes": '[{ at = "1 s", state = "down" }]'}, 'path[0].changes[0].state: "down"'),
        ({"path.1.changes": '[{ at = "1 s", state = "up" }]'}, 'path[1].changes[0].state: "up"'),
        ({"path.1.changes": f'[{{ at = "1 s", loss = {BURSTS} }}]'}, "path[1].changes[0].loss: loss in bursts"),
    ],
)
def test_what_linux_cannot_follow_is_refused_by_name(change: dict[str, str], place: str) -> None:
    scenario = ab.Scenario.two_path("5 Mbit/s, 100 ms", "2 Mbit/s, 10 ms", transfer="1 MB", controller="cubic")
    spec_of(scenario.check())
    with pytest.raises(KernelError, match=re.escape(place)):
        spec_of(scenario.set(change).check())


def test_a_refused_key_has_the_index_of_the_path_in_the_scenario_whatever_the_order_of_the_connection() -> None:
    turned = TURNED.set("path.1.changes", '[{ at = "1 s", loss = "100 %" }]')
    assert [event["path"] for event in spec_of(turned.check())["events"]] == [0]
    for change, place in (
        ({"path.1.discipline": "codel"}, "path[1].discipline: "),
        ({"path.0.changes": '[{ at = "1 s", state = "down" }]'}, 'path[0].changes[0].state: "down"'),
    ):
        with pytest.raises(KernelError, match=re.escape(place)):
            spec_of(TURNED.set(change).check())


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


def test_a_path_that_is_silent_is_one_that_loses_everything() -> None:
    scenario = ab.Scenario.two_path("5 Mbit/s, 100 ms", "2 Mbit/s, 10 ms", transfer="1 MB", controller="cubic")
    changed = scenario.set("path.0.changes", '[{ at = "1 s", loss = "100 %" }, { at = "2 s", loss = "0 %" }]')
    assert [(e["at_s"], e["loss"]) for e in spec_of(changed.check())["events"]] == [(1.0, 1.0), (2.0, 0.0)]


def test_timeouts_are_expiries_of_timers_and_drops_those_of_the_data(tmp_path: Path) -> None:
    """One path that is silent for 3 s while a window is in flight: timers expire at 0.2, 0.6, 1.4, ... s of silence."""
    scenario = ab.Scenario.from_toml(
        """
        [connection]
        protocol = "tcp"
        profile = "linux-6.1"
        controller = "cubic"
        [transfer]
        bytes = "2 MB"
        [[path]]
        rate_up = "4 Mbit/s"
        rate_down = "60 kbit/s"
        delay = "10 ms"
        queue_up = "20 packets"
        queue_down = "2 packets"
        changes = [{ at = "1 s", loss = "100 %" }, { at = "4 s", loss = "0 %" }]
        """
    )
    run = scenario.run(trace=tmp_path / "trace")
    lines = (tmp_path / "trace").read_text("utf-8").splitlines()
    found = counted(lines, "client")
    resent = [float(line.split()[0]) for line in lines if " send " in line and " Timeout " in line]
    silent = [t for t in resent if 1.0 < t < 4.0]
    # Each expiry sends one segment while nothing is acknowledged; the episode after the silence sends many more.
    assert len(silent) == len(set(silent)) >= 3
    assert len(silent) <= found.timeouts <= len(silent) + 1
    assert ours(run, 1, found)["timeouts"] < sum(f["retransmissions_timeout"] for f in run.summary["subflows"])
    dropped = [line.split()[3] for line in lines if line.endswith("dropped: Queue")]
    assert dropped.count("server") > 0  # acknowledgements, which `queue_drops` of the summary counts, too
    assert ours(run, 1, found)["queue_drops"] == [dropped.count("client")]
    assert sum(f["queue_drops"] for f in run.summary["subflows"]) == len(dropped)


def test_a_syn_that_is_sent_again_is_an_expiry(tmp_path: Path) -> None:
    scenario = ab.Scenario.from_toml(
        """
        [connection]
        protocol = "tcp"
        [transfer]
        bytes = "10 kB"
        [[path]]
        rate = "4 Mbit/s"
        delay = "10 ms"
        loss = "100 %"
        changes = [{ at = "2 s", loss = "0 %" }]
        """
    )
    scenario.run(trace=tmp_path / "trace")
    with (tmp_path / "trace").open(encoding="utf-8") as lines:
        assert counted(lines, "client").timeouts == 2  # at 1 and 3 s


class FakeKernel:
    """Stands in for the kernel: what a run gives is what its goodput says."""

    def __init__(self, goodputs: list[float]) -> None:
        self.goodputs = list(goodputs)
        self.specs: list[dict[str, Any]] = []

    def once(self, spec: dict[str, Any], **_: Any) -> dict[str, Any]:
        self.specs.append(spec)
        took = spec["bytes"] * 8e-6 / self.goodputs[len(self.specs) - 1]
        queue = {"octets": 1000, "packets": 1, "drops": 3}
        return {
            "queues": {"bottleneck": [queue] * len(spec["paths"])},
            "client": {"TCPTimeouts": 1, "RetransSegs": 5},
            "server": {},
            "reader_times": {"octets": spec["bytes"], "first": 1.0, "last": 1.0 + took},
            "client_times": {"began": 0.9},
        }


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> FakeKernel:
    from anabranch.kernel import runner

    kernel = FakeKernel([24.0, 30.0, 24.1, 30.1, 24.2, 30.2, 24.3, 30.3])
    monkeypatch.setattr(runner, "once", kernel.once)
    monkeypatch.setattr(runner, "kernel", Path)
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    return kernel


TWO = ab.Scenario.two_path("20 Mbit/s, 10 ms", "10 Mbit/s, 20 ms", transfer="1 MB", controller="cubic")


def test_links_vary_from_run_to_run_and_alike_on_both_sides(fake: FakeKernel) -> None:
    found = compare_kernel(TWO, runs=6, vary=0.03)
    assert (len(found.anabranch), len(found.linux)) == (6, 6)
    rates = [[path["up"]["rate_bps"] for path in spec["paths"]] for spec in fake.specs]
    assert rates[0] == [20_000_000, 10_000_000]
    assert len({tuple(each) for each in rates}) == 6
    for spec in fake.specs:
        for path, (rate, delay) in zip(spec["paths"], ((20e6, 10_000), (10e6, 20_000)), strict=True):
            assert path["up"]["rate_bps"] == path["down"]["rate_bps"] == pytest.approx(rate, rel=0.0301)
            assert path["up"]["delay_us"] == pytest.approx(delay, rel=0.0301)
    # Ours run over the same links: the scenarios are drawn from the seed and the number of the run.
    again = [spec_of(varied(TWO, 0.03, k).check())["paths"] for k in range(6)]
    assert again == [spec["paths"] for spec in fake.specs]
    text = str(found)
    assert "27.10 (24.00 to 30.20)" in text
    assert "of Linux: 24.00 24.10 24.20 30.00 30.10 30.20 Mbit/s" in text
    assert "largest difference of the two cumulative distributions" in text
    assert found.to_json()["distance"]["largest"] == found.distance.largest  # type: ignore[union-attr]


def test_without_variation_the_runs_of_linux_are_draws_of_one_case(fake: FakeKernel) -> None:
    told: list[str] = []
    found = compare_kernel(TWO, runs=2, told=told.append)
    assert (len(found.anabranch), len(found.linux), found.distance) == (1, 2, None)
    assert fake.specs[0] == fake.specs[1]
    assert "27.00 +- 4.24" in str(found)
    assert any(line.startswith("Linux takes about 3 s of wall-clock time for a run of 1 MB") for line in told)
    assert told.index("Linux, run 1 of 2") > told.index("Anabranch, run 1 of 1")


@pytest.mark.parametrize(("loss", "runs"), [("1 %", 2), ("100 %", 1)])
def test_anabranch_runs_more_than_once_if_a_change_brings_random_loss(fake: FakeKernel, loss: str, runs: int) -> None:
    changes = f'[{{ at = "20 ms", loss = "{loss}" }}, {{ at = "120 ms", loss = "0 %" }}]'
    found = compare_kernel(TWO.set("path.0.changes", changes), runs=2)
    assert (len(found.anabranch), len(found.linux)) == (runs, 2)


@pytest.mark.parametrize("names", [("path0", "path1"), ("wifi", "lte")])
def test_rows_of_a_path_have_the_name_of_its_link(fake: FakeKernel, names: tuple[str, str]) -> None:
    """The connection uses the second path first. Only the first path drops packets: its queue is short."""
    scenario = TURNED
    if names[0] == "wifi":
        named = {f"path.{i}.name": name for i, name in enumerate(names)}
        scenario = TURNED.set({**named, "connection.paths": '["lte", "wifi"]'})
    found = compare_kernel(scenario, runs=1)
    drops = dict(zip(reversed(names), found.anabranch[0]["queue_drops"], strict=True))
    assert drops[names[0]] > drops[names[1]] == 0
    rows = {line.partition("  ")[0]: line.split()[-2:] for line in str(found).splitlines()}
    for name in names:
        assert rows[f"queue drops of {name}"] == [str(drops[name]), "3"]
        assert f"share of {name} (%)" in rows


def test_the_distance_of_two_samples() -> None:
    assert distance([1.0, 2.0, 3.0], [1.0, 2.0, 3.0]) == (0.0, 1.0)
    assert distance([1.0] * 4, [2.0] * 4) == (1.0, 2 / math.comb(8, 4))
    many = distance([float(i) for i in range(30)], [i + 0.5 for i in range(30)])
    assert many.largest == pytest.approx(1 / 30)
    assert many.p > 0.9


@pytest.mark.parametrize("text", ["0 %", "60 %", "many", "3 % of it", "-1 %", "nan"])
def test_a_variation_that_is_none_is_refused(command: Command, fake: FakeKernel, here: Path, text: str) -> None:
    (here / "two.toml").write_text(str(TWO), encoding="utf-8")
    done = command("compare-kernel", "two.toml", "--vary", text, "--runs", "6")
    assert (done.status, fake.specs) == (2, [])
    assert '"3 %"' in done.err
    done = command("compare-kernel", "two.toml", "--vary", "3 %", "--runs", "3")
    assert done.status == 2
    assert "at least 4 runs" in done.err


def test_progress_and_a_timeout_of_the_kernel_are_told(tmp_path: Path) -> None:
    from anabranch.kernel import runner

    file = tmp_path / "progress"
    code = f"import time, pathlib\nfor s in (0.1, 0.5): pathlib.Path({str(file)!r}).write_text(str(s)); time.sleep(1.2)"
    seen: list[float] = []
    with subprocess.Popen([sys.executable, "-c", code]) as process:
        runner._watch(process, file, 60, lambda share, _: seen.append(share))
    assert seen == [0.1, 0.5]
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) as process:
        with pytest.raises(KernelError, match=r"did not finish within 0\.1 s; 50 % of the octets"):
            runner._watch(process, file, 0.1, lambda *_: None)
        process.kill()


def test_the_guest_tells_how_far_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import socket

    from anabranch.kernel import guest

    monkeypatch.setattr(guest, "OUT", tmp_path)
    monkeypatch.setattr(guest, "READER", tmp_path / "reader.json")
    reader, writer = socket.socketpair()
    with reader, writer:
        writer.sendall(bytes(600))
        writer.shutdown(socket.SHUT_WR)
        guest.receive(reader, 1000, 0)
    assert (tmp_path / "progress").read_text("utf-8") == "0.6"
    assert json.loads((tmp_path / "reader.json").read_text("utf-8"))["octets"] == 600


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
