"""Mutation testing of the engine: finds changes of the source that no test notices.

    tools/mutants [--sample 600 | --all] [--seed 1] [--out out/mutants] [--tool PATH]
    tools/mutants --only 'scoreboard.rs:72:37' [--alone]  mutants whose name contains this text
    tools/mutants --rfc 8684 9293:3.8.6 [--level MUST]    rows of docs/rfc, by RFC or section
    tools/mutants --rfc sample:100 [--seed 1]             a random sample of the other obeyed rows

cargo-mutants lists all mutants of `stack`. This tool shuffles them by the seed and tries them in
that order until the sample is full. Each result is appended to `tried.jsonl`: an interrupted run
has tried a random sample, too, and the next run resumes where it stopped.

Nearly all mutants are compiled into one program, each behind a switch (`schema.py`). Each mutant is
tried only with the tests that reach it, quick tests first, up to the first that fails. Mutants that
do not compile behind a switch are built and tried one at a time (`alone.py`). With --alone, all
mutants are.

A mutant is viable if it compiles. It is killed if a test fails, takes far longer than without the
mutant, or runs out of memory. The tests are those of the engine, and those of the laboratory that
hold the engine to exact results.

With --rfc, only the code under the comments that rows of docs/rfc cite is mutated, with the mutants
of cargo-mutants and those of `breaking.py`. Only the tests that a row names are run (`proving.py`).
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

# Tests to run, by parts of their names. Of the laboratory, only tests that run transfers and hold
# the engine to exact results.
LAB = """accounting applications bbr changes chance delay determinism ending failover fast_open gaps golden judges
    latency loss_cycles messages middlebox path_mtu paths pep receivers schedulers scripts torture_found"""
WANTED = {"stack": [""], "stack-it": [""], "lab-it": [f"{module}::" for module in LAB.split()] + ["middlebox_"]}
# Number of mutants compiled into one program. Fewer switches make quicker tests.
CHUNK = 1000
# Mutants of test support code are left out: they would change the tests, not the engine.
TESTS = "stack/src/testing/"


def listed(tool: str) -> list[dict]:
    """Returns the mutants that cargo-mutants (at path `tool`) lists, sorted by place."""
    command = [tool, "mutants", "--list", "--json", "--package", "anabranch-stack"]
    out = subprocess.run(command, cwd=build.ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    at = lambda m, key: (m["span"][key]["line"], m["span"][key]["column"])  # noqa: E731
    place = lambda m: (m["file"], at(m, "start"), at(m, "end"), m["genre"], m["name"])  # noqa: E731
    return sorted((m for m in json.loads(out) if not m["file"].startswith(TESTS)), key=place)


def shuffled(mutants: list[dict], seed: int) -> list[int]:
    """Returns the numbers of the mutants in the order in which they are tried.

    The order is by a hash of the seed and the mutant's name without line and column. If other
    mutants are added, removed or moved, a mutant keeps its hash.
    """
    seen: Counter[str] = Counter()
    keys = []
    for mutant in mutants:
        what = re.sub(r":\d+:\d+:", "", mutant["name"])
        seen[what] += 1
        keys.append(hashlib.sha256(f"{seed} {what} {seen[what]}".encode()).digest())
    return sorted(range(len(mutants)), key=keys.__getitem__)


def report(tried: list[dict]) -> str:
    """Returns the counts of tried, viable and killed mutants, and the names of those not killed."""
    count = lambda outcome: sum(t["outcome"] == outcome for t in tried)  # noqa: E731
    killed, missed = count("killed"), count("missed")
    rate = 100 * killed / max(1, killed + missed)
    text = f"{len(tried)} tried, {killed + missed} viable, {killed} killed: {rate:.1f} %\n"
    return text + "".join(f"  not noticed: {t['name']}\n" for t in tried if t["outcome"] == "missed")


def quick_first(test: running.Test) -> tuple:
    """Returns a sort key: quick tests first; tests of similar duration are grouped by program."""
    return math.floor(math.log2(max(test.seconds, 0.1))), test.program, test.seconds


class Trial:
    """A run without --rfc: the mutants, the test programs, and the tests that reach each mutant."""

    def __init__(self, a: argparse.Namespace):
        self.a = a
        self.mutants = listed(a.tool)
        self.order = shuffled(self.mutants, a.seed)
        self.tree, self.alone = a.out / "tree", alone.Alone(a.out / "alone")
        self.compiled: set[int] = set()

    def name(self, number: int) -> str:
        """Returns the name of a mutant, which begins with file, line and column."""
        return self.mutants[number]["name"]

    def compile(self, numbers: list[int]) -> None:
        """Builds the test programs with these mutants, and finds the tests that reach each one."""
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
        """Tries one mutant and returns its result as a line of `tried.jsonl`.

        `outcome`: `killed`, `missed` (all tests pass) or `unviable` (does not compile). `by`: the
        test that killed it, `passed`, or None. `seconds`: wall-clock time.
        """
        mutant, begin = self.mutants[number], time.monotonic()
        if self.a.alone or number not in self.within:
            by = self.alone.attempt(mutant, WANTED)
        else:
            by = running.attempt(self.programs, number, self.reaching[number])
        outcome = {None: "unviable", "passed": "missed"}.get(by, "killed")
        seconds = round(time.monotonic() - begin, 1)
        return {"name": mutant["name"], "outcome": outcome, "by": by, "seconds": seconds}


def main() -> None:
    """Runs the command: tries a sample of mutants, those of `--only`, or the rows of `--rfc`."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sample", type=int, default=600, help="viable mutants to try")
    parser.add_argument("--all", action="store_true", help="try all mutants")
    parser.add_argument("--again", action="store_true", help="first retry the mutants that survived before")
    parser.add_argument("--longest", type=float, default=math.inf, help="leave out tests that take longer, in seconds")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--rfc",
        nargs="+",
        metavar="WHICH",
        help="prove rows of docs/rfc: RFC, RFC:SECTION, or sample:N (N obeyed rows at random, no MUST of 8684 or 9293)",
    )
    parser.add_argument("--level", help="with --rfc: only rows of this level, such as MUST (not for samples)")
    parser.add_argument(
        "--verbose", action="store_true", help="with --rfc: try all mutants of a row, and print all that survive"
    )
    parser.add_argument("--only", help="try the mutants whose name contains this text; does not write tried.jsonl")
    parser.add_argument("--alone", action="store_true", help="build and try each mutant by itself")
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
    """Tries the mutants of the sample that have no result in `tried.jsonl` yet.

    Returns the results of the whole sample, in shuffled order, new and old.
    """
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
                # Compile an eighth more than needed, because some mutants are not viable.
                trial.compile(new + [n for n in order if trial.name(n) not in known][: len(new) // 8])
            attempts(new)
            tried += [known[trial.name(n)] for n in now]
            viable = sum(t["outcome"] != "unviable" for t in tried)
    return tried


def each(trial: Trial, numbers: list[int]) -> Iterator[dict]:
    """Yields the result of each mutant as soon as it is known."""
    with ThreadPoolExecutor(trial.a.jobs) as pool:
        try:
            for done in as_completed([pool.submit(trial.attempt, n) for n in numbers]):
                yield done.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


if __name__ == "__main__":
    main()
