# SPDX-License-Identifier: GPL-2.0-only
"""Compares transfers inside ns-3 with `anabranch run`, and with ns-3's TCP.

    python bars.py BUILD [--long]

BUILD is the folder with the programs of CMake. Prints one line per comparison and ends with status 1
if one fails. `--long` adds the other controllers and schedulers in both directions and the runs with
losses. Needs the Python package `anabranch`.
"""

import argparse
import hashlib
import json
import math
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import anabranch

if TYPE_CHECKING:
    from collections.abc import Callable

CONTROLLERS = ("coupled", "cubic", "olia", "balia", "uncoupled")
SCHEDULERS = ("min-rtt", "round-robin", "blest", "ecf")
FIRST, SECOND = "5 Mbit/s, 100 ms", "2 Mbit/s, 10 ms"
# A packet with 1400 octets of payload, 32 of TCP (with timestamps), 20 of IPv4 and 24 of MPTCP has
# 1476 octets; PPP adds two.
PPP = 1478 / 1476


class Bars:
    """Runs programs, and counts bars that were missed."""

    def __init__(self, build: Path) -> None:
        self.build = build
        self.missed = 0

    def program(self, **options: object) -> dict[str, float]:
        """Runs `anabranch-bars` and returns its numbers."""
        words = [f"--{key.replace('_', '-')}={value}" for key, value in options.items()]
        done = subprocess.run([str(self.build / "anabranch-bars"), *words], check=True, capture_output=True, text=True)
        return json.loads(done.stdout)

    def bar(self, name: str, holds: bool, figures: str) -> None:
        """Prints the outcome of a comparison."""
        self.missed += not holds
        print(f"{'ok    ' if holds else 'MISSED'} {name}: {figures}", flush=True)

    def compare(self, name: str, here: float, there: float, most: float) -> None:
        """The two values differ by at most the share `most`."""
        apart = abs(here / there - 1)
        figures = f"{here:.5f} and {there:.5f}, {100 * apart:.3f} % apart (at most {100 * most:g} %)"
        self.bar(name, apart <= most, figures)


def two_links(bars: Bars, controller: str, scheduler: str, down: bool) -> None:
    """Goodput over the two links, as of `anabranch run`."""
    here = bars.program(controller=controller, scheduler=scheduler, reverse=int(down))
    scenario = anabranch.Scenario.two_path(FIRST, SECOND, transfer="20 MB", controller=controller, scheduler=scheduler)
    run = scenario.set("transfer.direction", "down" if down else "up").run()
    name = f"two links, {controller}, {scheduler}, {'down' if down else 'up'}"
    bars.compare(name, here["goodput"] * PPP, run.summary["goodput_mbps"], 0.001)


def linux(bars: Bars) -> None:
    """The profile `linux-6.1`."""
    here = bars.program(profile="linux-6.1")
    run = anabranch.Scenario.two_path(FIRST, SECOND, transfer="20 MB", profile="linux-6.1").run()
    bars.compare("two links, linux-6.1", here["goodput"] * PPP, run.summary["goodput_mbps"], 0.015)


def one_path(bars: Bars) -> None:
    """One path without loss, compared with ns-3's TcpLinuxReno."""
    path = {"rates": "20Mbps", "delays": "25ms", "bytes": 20000000}
    ours = bars.program(connection="protocol='tcp'", controller="uncoupled", **path)
    theirs = bars.program(tcp="ns3::TcpLinuxReno", **path)
    bars.compare("one path, TcpLinuxReno", ours["goodput"], theirs["goodput"], 0.005)


def events(bars: Bars) -> None:
    """Events a segment."""
    each = bars.program()["events"] / (20000000 / 1400)
    bars.bar("events a segment, two links", each <= 3.3, f"{each:.2f} (at most 3.3)")


def instructions_a_segment(bars: Bars) -> None:
    """Instructions, compared with those of ns-3's CUBIC."""
    if shutil.which("valgrind") is None:
        print("skipped: instructions a segment, because valgrind is not installed")
        return
    counts = []
    for options in ({}, {"tcp": "ns3::TcpCubic", "rates": "5Mbps", "delays": "100ms"}):
        # The difference of two transfers leaves out what a run costs anyway.
        counts.append((instructions(bars, 3000000, options) - instructions(bars, 1000000, options)) / (2000000 / 1400))
    share = counts[0] / counts[1]
    figures = f"{counts[0]:.0f} and {counts[1]:.0f} of ns-3's CUBIC on one path: {share:.2f} (at most 0.6)"
    bars.bar("instructions a segment, two links", share <= 0.6, figures)


def instructions(bars: Bars, octets: int, options: dict[str, object]) -> int:
    """Instructions of a transfer."""
    words = [f"--{key}={value}" for key, value in options.items()]
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    done = subprocess.run(
        [*command, str(bars.build / "anabranch-bars"), f"--bytes={octets}", *words],
        check=True,
        capture_output=True,
        text=True,
    )
    found = re.search(r"Collected : (\d+)", done.stderr)
    assert found, done.stderr
    return int(found[1])


def captures(bars: Bars, folder: Path) -> None:
    """Captures: equal in two runs, with right checksums, tokens and HMACs."""
    sums = []
    for run in ("a", "b"):
        bars.program(bytes=1000000, pcap=str(folder / run))
        files = sorted(folder.glob(f"{run}-*.pcap"))
        sums.append([hashlib.sha256(file.read_bytes()).hexdigest() for file in files])
    bars.bar("captures of two equal runs", sums[0] == sums[1] and len(sums[0]) == 4, f"{len(sums[0])} files")
    report = str(anabranch.analyze(sorted(folder.glob("a-0-*.pcap"))))
    for what in ("tokens of joins", "HMACs of joins", "HMACs of ADD_ADDR"):
        found = re.search(rf"{what}: (\d+) of (\d+) valid", report)
        bars.bar(what, found is not None and found[1] == found[2] != "0", found[0] if found else "not in the report")
    if shutil.which("tshark") is None:
        print("skipped: checksums, because tshark is not installed")
        return
    for file in sorted(folder.glob("a-*.pcap")):
        wrong = tshark(file, "tcp.checksum.status != 1 or _ws.malformed or ip.checksum.status == 0")
        every = tshark(file, "tcp")
        bars.bar(f"checksums of {file.name}", wrong == 0 and every > 100, f"{wrong} of {every} packets wrong")


def tshark(file: Path, expression: str) -> int:
    """Number of packets that fit the display filter."""
    done = subprocess.run(
        ["tshark", "-r", str(file), "-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE", "-Y", expression],
        check=True,
        capture_output=True,
        text=True,
    )
    return len(done.stdout.splitlines())


def misuse(bars: Bars) -> None:
    """Wrong words, and nodes that are not ready, end the simulation with what is right."""
    for word, remedy in (
        ("--stack=none", "call InternetStackHelper::Install first"),
        ("--stack=twice", "call AnabranchHelper::Install instead"),
        ("--controller=olai", 'did you mean "olia"?'),
        ("--path-manager=mesh", "one-per-interface, full-mesh or none"),
        ("--connection=contoller='olia'", 'did you mean "controller"?'),
    ):
        done = subprocess.run([str(bars.build / "anabranch-bars"), word], capture_output=True, text=True, check=False)
        bars.bar(word, done.returncode != 0 and remedy in done.stderr, f"status {done.returncode}")


def phone(bars: Bars) -> None:
    """LTE and Wi-Fi at once, compared with the sum of each alone."""
    rates = {}
    for paths in ("lte", "wifi", "both"):
        command = [str(bars.build / "anabranch-phone"), f"--paths={paths}"]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        rates[paths] = float(done.stdout.split()[1])
    share = rates["both"] / (rates["lte"] + rates["wifi"])
    figures = f"{rates['both']:.2f}; alone {rates['lte']:.2f} and {rates['wifi']:.2f}: {share:.3f} of the sum"
    bars.bar("phone, LTE and Wi-Fi", share >= 0.8, f"{figures} (at least 0.8)")


def losses(bars: Bars) -> None:
    """With losses: means of 30 runs."""
    for controller in CONTROLLERS:
        here = [
            bars.program(controller=controller, bytes=5000000, loss=0.005, RngRun=run)["goodput"] * PPP
            for run in range(1, 31)
        ]
        scenario = anabranch.Scenario.two_path(FIRST, SECOND, transfer="5 MB", controller=controller)
        scenario = scenario.set("path.0.loss", "0.5 %").set("path.1.loss", "0.5 %")
        there = [scenario.set("seed", run).run().summary["goodput_mbps"] for run in range(1, 31)]
        means = [sum(x) / 30 for x in (here, there)]
        errors = [math.sqrt(sum((v - m) ** 2 for v in x) / 29 / 30) for x, m in zip((here, there), means, strict=True)]
        apart = abs(means[0] - means[1])
        holds = apart <= max(0.05 * means[1], 2 * math.hypot(*errors))
        figures = f"{means[0]:.3f} and {means[1]:.3f}, errors {errors[0]:.3f} and {errors[1]:.3f}"
        bars.bar(f"0.5 % loss, {controller}", holds, figures)


def main() -> int:
    """Runs the comparisons."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("--long", action="store_true")
    options = parser.parse_args()
    bars = Bars(options.build)
    short = [("coupled", "min-rtt", False), ("olia", "blest", True), ("cubic", "ecf", False)]
    every = [(c, s, down) for c in CONTROLLERS for s in SCHEDULERS for down in (False, True)]
    for controller, scheduler, down in every if options.long else short:
        two_links(bars, controller, scheduler, down)
    steps: list[Callable[[Bars], None]] = [linux, one_path, events, misuse]
    for step in steps:
        step(bars)
    with tempfile.TemporaryDirectory() as folder:
        captures(bars, Path(folder))
    if options.long:
        phone(bars)
        losses(bars)
        instructions_a_segment(bars)
    print(f"{bars.missed} bars missed")
    return 1 if bars.missed else 0


if __name__ == "__main__":
    sys.exit(main())
