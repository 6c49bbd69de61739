"""The closed loop of the twin: a drawn scenario is run, its captures are turned into a scenario, and that is run.

``python tests/twin_truth.py --count 60 --first 2000000`` says in how many the second run is like the first. Seeds below
2,000,000 are for development. The capture is the sender's.
"""

import argparse
import concurrent.futures
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import diagnosis_draw
from anabranch.diagnosis.twin import BOUNDS, Likeness, Twin, captured, compared, made, paths_away
from anabranch.scenario import Scenario

BUDGET = 60.0


@dataclass
class Outcome:
    """One scenario."""

    seed: int
    stratum: str
    likeness: Likeness
    first: Likeness
    runs: int
    seconds: float
    twin: Twin


def examine(seed: int, budget: float = BUDGET) -> Outcome | None:
    """Runs the scenario of `seed`, makes its twin of what the sender saw, compares the runs of the two."""
    _, stratum, draft = diagnosis_draw.draw(seed, "plain")
    with tempfile.TemporaryDirectory() as folder:
        run = Scenario.from_toml(draft.toml(), name=f"seed {seed}").run(pcap=folder)
        if not run.summary["bytes_delivered"]:
            return None
        sender = "server" if draft.transfer.get("direction") == "down" else "client"
        files = [str(f) for f in sorted(Path(folder).glob(f"{sender}-*.pcapng"))]
        began = time.monotonic()
        what = captured(files)
        twin = made(what, budget=budget)
        seconds = time.monotonic() - began
    # The truth is the first run itself, not what the capture made of it.
    again = twin.scenario.run()
    # Paths are numbered as they appear in the capture; the second octet from the right is that of the scenario.
    numbers = {flow["path"]: int(flow["client"].split(".")[2]) for flow in what.found["subflows"]}
    back = {number: path for path, number in numbers.items()}
    renamed = [{**flow, "path": back.get(flow["path"], -1)} for flow in run.summary["subflows"]]
    truth = {**run.summary, "subflows": renamed}
    gone = paths_away(truth, 0, SimpleNamespace(subflows=run.series))
    return Outcome(
        seed,
        stratum,
        compared(truth, gone, again),
        twin.likeness,
        twin.runs,
        seconds,
        twin,
    )


def several(seeds: list[int], jobs: int = 1, budget: float = BUDGET) -> list[Outcome]:
    """Outcomes of all that delivered anything."""
    if jobs == 1:
        found = [examine(seed, budget) for seed in seeds]
    else:
        with concurrent.futures.ProcessPoolExecutor(jobs) as pool:
            found = list(pool.map(examine, seeds))
    return [one for one in found if one is not None]


def table(outcomes: list[Outcome]) -> str:
    """How many are like, by stratum."""
    lines = [f"{'drawn for':16} like  {'  '.join(Likeness._fields)}  of"]
    for stratum in [*diagnosis_draw.STRATA, "all"]:
        mine = [o for o in outcomes if stratum in (o.stratum, "all")]
        if mine:
            within = [sum(abs(o.likeness[i]) <= bound for o in mine) for i, bound in enumerate(BOUNDS)]
            like = sum(o.likeness.is_like for o in mine)
            cells = "".join(f"{n:{len(name) + 2}}" for n, name in zip(within, Likeness._fields, strict=True))
            lines.append(f"{stratum:16} {like:4}{cells} {len(mine):3}")
    return "\n".join(lines)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--each", action="store_true", help="A line for each.")
    options = parser.parse_args()
    outcomes = several(list(range(options.first, options.first + options.count)), options.jobs)
    for o in outcomes if options.each else []:
        found = " ".join(f"{value:+.3f}" for value in o.likeness)
        fitted = " ".join(f"{value:+.3f}" for value in o.first)
        sys.stdout.write(f"{o.seed} {o.stratum:15} truth {found}  capture {fitted}  {o.runs} runs {o.seconds:.1f} s\n")
    sys.stdout.write(table(outcomes) + "\n")


if __name__ == "__main__":
    main()
