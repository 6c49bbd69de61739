"""Mutation testing of the engine: which changes of it no test notices.

    tools/mutants [--sample 600 | --all] [--seed 1] [--out out/mutants] [--tool PATH]
    tools/mutants --only 'scoreboard.rs:72:37'    those whose name contains that; with --alone, one by one
    tools/mutants --rfc 8684 9293:3.8.6 [--level MUST]    the rows of docs/rfc, or of a section: see below
    tools/mutants --rfc sample:100 [--seed 1]             so many of the other obeyed rows

cargo-mutants lists all mutants of `stack`; they are put in an order that follows from the seed, and tried from its
start until the sample is full. So a run that is broken off has tried a sample, too; the next one goes on where it
stopped (`tried.jsonl`). Nearly all of them are compiled into one program, each behind a switch (`schema.py`), and each
is tried with those tests only that reach it, the quick ones first, up to the first that fails. Those that do not
compile like this are tried alone. A mutant counts as viable if it compiles; it is killed if a test fails, of the
engine or of those of the laboratory that hold it to exact results, or takes far longer than without it, or all
memory.

With --rfc the code under the comments that the rows cite is broken, by the mutants that lie there and by some of
our own (`breaking.py`), and only the tests that a row names are run against them (`proving.py`).
"""

import argparse
import hashlib
import json
import math
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

import alone
import build
import proving
import running

# The tests, by words in their names: of the laboratory those that run transfers and hold the engine to exact results.
LAB = """accounting applications bbr changes chance delay determinism ending failover fast_open gaps golden judges
    latency loss_cycles messages middlebox path_mtu paths pep receivers schedulers scripts torture_found"""
WANTED = {"stack": [""], "stack-it": [""], "lab-it": [f"{module}::" for module in LAB.split()] + ["middlebox_"]}
# So many are compiled into one program: the fewer there are, the quicker are the tests.
CHUNK = 1000
# A test that is changed is no mutant of what it tests.
TESTS = "stack/src/testing/"


def listed(tool: str) -> list[dict]:
    """The mutants, by their place: those of one place follow each other."""
    command = [tool, "mutants", "--list", "--json", "--package", "anabranch-stack"]
    out = subprocess.run(command, cwd=build.ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    at = lambda m, key: (m["span"][key]["line"], m["span"][key]["column"])  # noqa: E731
    place = lambda m: (m["file"], at(m, "start"), at(m, "end"), m["genre"], m["name"])  # noqa: E731
    return sorted((m for m in json.loads(out) if not m["file"].startswith(TESTS)), key=place)


def shuffled(mutants: list[dict], seed: int) -> list[int]:
    """The numbers of the mutants, in the order in which they are tried.

    The place of each follows from what it changes and in which function, so that it stays when others come, go or move.
    """
    seen: Counter[str] = Counter()
    keys = []
    for mutant in mutants:
        what = re.sub(r":\d+:\d+:", "", mutant["name"])
        seen[what] += 1
        keys.append(hashlib.sha256(f"{seed} {what} {seen[what]}".encode()).digest())
    return sorted(range(len(mutants)), key=keys.__getitem__)


def report(tried: list[dict]) -> str:
    """How many were killed, and which were not."""
    count = lambda outcome: sum(t["outcome"] == outcome for t in tried)  # noqa: E731
    killed, missed = count("killed"), count("missed")
    rate = 100 * killed / max(1, killed + missed)
    text = f"{len(tried)} tried, {killed + missed} viable, {killed} killed: {rate:.1f} %\n"
    return text + "".join(f"  not noticed: {t['name']}\n" for t in tried if t["outcome"] == "missed")


def quick_first(test: running.Test) -> tuple:
    """An order in which tests of one program that take about the same time follow each other."""
    return math.floor(math.log2(max(test.seconds, 0.1))), test.program, test.seconds


class Trial:
    """The mutants, the programs with some of them, and what is known of the tests."""

    def __init__(self, a: argparse.Namespace):
        self.a = a
        self.mutants = listed(a.tool)
        self.order = shuffled(self.mutants, a.seed)
        self.tree, self.alone = a.out / "tree", alone.Alone(a.out / "alone")
        self.compiled: set[int] = set()

    def name(self, number: int) -> str:
        """Its name, with its place."""
        return self.mutants[number]["name"]

    def compile(self, numbers: list[int]) -> None:
        """Builds the programs with these mutants, and finds which tests reach them."""
        self.compiled = set(numbers)
        left_out = build.schema(self.tree, self.mutants, numbers)
        self.within = self.compiled - left_out
        print(f"{len(numbers)} of {len(self.mutants)} mutants, {len(left_out)} not behind a switch", flush=True)
        folder = lambda key: self.tree / key.removesuffix("-it")  # noqa: E731
        paths = {key: build.program(self.tree, key) for key in build.PROGRAMS}
        self.programs = {key: running.Program(str(path), folder(key)) for key, path in paths.items()}
        begin = time.monotonic()
        tests = running.reach(self.programs, WANTED, self.a.longest, self.a.jobs, self.a.out / "reached.json")
        self.reaching = {number: [] for number in range(len(self.mutants))}
        for test in sorted(tests, key=quick_first):
            for number in test.reached:
                self.reaching[number].append(test)
        print(f"{len(tests)} tests in {time.monotonic() - begin:.0f} s", flush=True)

    def attempt(self, number: int) -> dict:
        """What becomes of a mutant, and which test noticed it."""
        mutant, begin = self.mutants[number], time.monotonic()
        if self.a.alone or number not in self.within:
            by = self.alone.attempt(mutant, WANTED)
        else:
            by = running.attempt(self.programs, number, self.reaching[number])
        outcome = {None: "unviable", "passed": "missed"}.get(by, "killed")
        seconds = round(time.monotonic() - begin, 1)
        return {"name": mutant["name"], "outcome": outcome, "by": by, "seconds": seconds}


def main() -> None:
    """Builds, and tries a sample, or those that are named."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sample", type=int, default=600, help="viable mutants to try")
    parser.add_argument("--all", action="store_true", help="all mutants")
    parser.add_argument("--again", action="store_true", help="first those that no test noticed before")
    parser.add_argument(
        "--longest", type=float, default=math.inf, help="without tests that take more seconds than this"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--rfc",
        nargs="+",
        metavar="WHICH",
        help="rows of docs/rfc: RFC, RFC:SECTION, or sample:N, so many obeyed rows that are no MUST of 8684 or 9293",
    )
    parser.add_argument("--level", help="with --rfc: only rows of that level (MUST)")
    parser.add_argument(
        "--verbose", action="store_true", help="with --rfc: try all mutants of a row, and name all that survive"
    )
    parser.add_argument("--only", help="the mutants whose name contains this, and nothing is noted")
    parser.add_argument("--alone", action="store_true", help="one by one")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, default=build.ROOT / "out" / "mutants")
    parser.add_argument("--tool", default="cargo-mutants")
    a = parser.parse_args()
    a.out = a.out.resolve() / "rfc" if a.rfc else a.out.resolve()
    a.out.mkdir(parents=True, exist_ok=True)
    if a.rfc:
        sys.exit(proving.prove(a, listed(a.tool)))
    trial = Trial(a)
    if a.only:
        numbers = [n for n in trial.order if a.only in trial.name(n)]
        if not a.alone:
            trial.compile(numbers)
        print(report([trial.attempt(n) for n in numbers]))
    else:
        print(report(sample(trial)))


def sample(trial: Trial) -> list[dict]:
    """Tries what is missing; answers with what is known of the first in order, until the sample is full."""
    a = trial.a
    record = a.out / "tried.jsonl"
    lines = record.read_text().splitlines() if record.exists() else []
    known = {t["name"]: t for t in map(json.loads, lines)}
    print(f"{len(known)} tried before, seed {a.seed}", flush=True)
    with record.open("a") as file:

        def attempts(numbers: list[int]) -> None:
            for done in each(trial, numbers):
                known[done["name"]] = done
                file.write(json.dumps(done) + "\n")
                file.flush()

        if a.again and (missed := [n for n in trial.order if known.get(trial.name(n), {}).get("outcome") == "missed"]):
            trial.compile(missed)
            attempts(missed)
        order, viable, tried = trial.order, 0, []
        wanted = len(order) if a.all else a.sample
        while order and viable < wanted:
            now, order = order[: min(CHUNK, wanted - viable)], order[min(CHUNK, wanted - viable) :]
            new = [n for n in now if trial.name(n) not in known]
            if not trial.compiled.issuperset(new):
                # Some more, as some of them are not viable.
                trial.compile(new + [n for n in order if trial.name(n) not in known][: len(new) // 8])
            attempts(new)
            tried += [known[trial.name(n)] for n in now]
            viable = sum(t["outcome"] != "unviable" for t in tried)
    return tried


def each(trial: Trial, numbers: list[int]) -> Iterator[dict]:
    """What becomes of each, as it is known."""
    with ThreadPoolExecutor(trial.a.jobs) as pool:
        try:
            for done in as_completed([pool.submit(trial.attempt, n) for n in numbers]):
                yield done.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


if __name__ == "__main__":
    main()
