"""Twins of captures of Linux: cases of ``tests/kernel`` run on Linux in virtual time, captured, turned into scenarios.

``python tests/kernel_twins.py --markdown`` needs the kernel (``tools/kernel-oracle/build``). ``--captures DIR`` keeps
what the kernel recorded and reads what is there already. A twin is compared with the capture that it is of.

The same in short: ``anabranch compare-kernel SCENARIO --runs 1 --pcap DIR``, then ``anabranch diagnose --twin``.
"""

import argparse
import concurrent.futures
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import test_kernel
from anabranch.diagnosis.twin import Likeness, captured, compared, made, paths_away
from anabranch.diagnosis.twin.likeness import BOUND
from anabranch.kernel import runner
from anabranch.kernel.translate import spec_of

FILE = "linux-6.1-seeded.csv"
PLACES = {"sender": ["client.pcap"], "receiver": ["server.pcap"], "both": ["client.pcap", "server.pcap"]}
BUDGET = 60.0


@dataclass
class Outcome:
    """One capture."""

    name: str
    goodput_mbps: float
    likeness: Likeness
    runs: int
    seconds: float
    toml: str


def chosen(which: str) -> list[test_kernel.Case]:
    """All cases of several paths, or of one; short ones last less than a second and are left out."""
    wanted = {"several": ("mptcp",), "one": ("tcp",), "all": ("mptcp", "tcp")}[which]
    return [c for c in test_kernel.cases(FILE) if c.row["group"] != "short" and c.row["protocol"] in wanted]


def record(case: test_kernel.Case, folder: Path) -> Path:
    """The captures of one run on Linux, in a folder of `folder` named after the case."""
    name = "".join(char if char.isalnum() or char in "-." else "_" for char in str(case))
    if not (folder / name / "server.pcap").exists():
        runner.once({**spec_of(case.scenario().check()), "capture": True}, keep=folder / name)
    return folder / name


def examine(case: test_kernel.Case, folder: Path, place: str, budget: float = BUDGET) -> Outcome:
    """Makes the twin of what was captured at `place`, runs it and compares."""
    files = [str(record(case, folder) / name) for name in PLACES[place]]
    began = time.monotonic()
    what = captured(files)
    twin = made(what, budget=budget)
    seconds = time.monotonic() - began
    gone = paths_away(what.found, what.number, what.frames)
    found = compared(what.found, gone, twin.scenario.run())
    return Outcome(str(case), what.found["goodput_mbps"], found, twin.runs, seconds, twin.toml)


def table(outcomes: list[Outcome], *, markdown: bool) -> str:
    """A line for each, and how many are like."""
    bar = " | " if markdown else "  "
    head = ["case", "goodput Mbit/s", "goodput %", "shares, points", "reordering, points"]
    head += ["resent, points", "srtt %", "outages %", "like"]
    lines = [bar.join(head)]
    if markdown:
        lines = [f"| {lines[0]} |", "|" + "---|" * len(head)]
    for o in outcomes:
        found = o.likeness
        cells = [
            o.name, f"{o.goodput_mbps:.2f}", f"{100 * found.goodput:+.1f}", f"{100 * found.shares:.1f}",
            *(f"{100 * value:+.1f}" for value in found[2:]), "yes" if found.is_like else "no",
        ]  # fmt: skip
        line = bar.join(cells)
        lines.append(f"| {line} |" if markdown else line)
    like = sum(o.likeness.is_like for o in outcomes)
    three = sum(max(map(abs, o.likeness[:3])) <= BOUND for o in outcomes)
    first = f"Of {len(outcomes)} twins goodput, shares and reordering are within 10 % of the capture's in {three};"
    return "\n".join([*lines, "", first, f"{like} are like it in losses, round trips and outages, too."])


def main() -> None:
    """Record, fit, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--captures", type=Path, help="Keep captures in this folder.")
    parser.add_argument("--place", choices=PLACES, default="both", help="Of which side (default: %(default)s).")
    parser.add_argument("--paths", choices=["several", "one", "all"], default="several")
    parser.add_argument("--budget", type=float, default=BUDGET, help="Seconds for each fit.")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", default="", help="Cases with this in their name.")
    parser.add_argument("--record", action="store_true", help="Captures, and nothing else.")
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--toml", type=Path, help="Write the twins to this folder.")
    wanted = parser.parse_args()
    cases = [case for case in chosen(wanted.paths) if wanted.only in str(case)]
    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ProcessPoolExecutor(wanted.jobs) as pool:
        folder = wanted.captures or Path(scratch)
        if wanted.record:
            list(pool.map(record, cases, [folder] * len(cases)))
            return
        arguments = zip(*[(case, folder, wanted.place, wanted.budget) for case in cases], strict=True)
        outcomes = []
        for outcome in pool.map(examine, *arguments):
            outcomes.append(outcome)
            sys.stderr.write(f"{outcome.name}: {outcome.likeness} {outcome.runs} runs {outcome.seconds:.0f} s\n")
            if wanted.toml:
                wanted.toml.mkdir(parents=True, exist_ok=True)
                (wanted.toml / f"{len(outcomes)}.toml").write_text(outcome.toml, "utf-8")
    sys.stdout.write(table(outcomes, markdown=wanted.markdown) + "\n")


if __name__ == "__main__":
    main()
