"""Mutation testing: finds changes of the source that no test notices.

    tools/mutants [--sample 600 | --all] [--seed 1] [--out out/mutants] [--tool PATH]
    tools/mutants --crate sim [--sample 300]              mutants of the simulator, not of the engine
    tools/mutants --crate python [--sample 100]           mutants of the Python package (`python.py`)
    tools/mutants --only 'scoreboard.rs:72:37' [--alone]  mutants whose name contains this text
    tools/mutants --rfc 8684 9293:3.8.6 [--level MUST]    rows of docs/rfc, by RFC or section
    tools/mutants --rfc sample:100 [--seed 1]             a random sample of the other obeyed rows

cargo-mutants lists all mutants of a crate (`crates.py`). This tool shuffles them by the seed and
tries them in that order until the sample is full. Each result is appended to `tried.jsonl`: an
interrupted run has tried a random sample, too, and the next run resumes where it stopped.

Nearly all mutants are compiled into one program, each behind a switch (`schema.py`). Each mutant is
tried only with the tests that reach it, quick tests first, up to the first that fails. For crates of the laboratory,
these tests are limited to 20 s in all, as measured without a mutant, and the golden traces and
reports; a mutant that survives them is tried with 30 s of the Python tests that reach it
(`binding.py`), unless --rust is given. Mutants that do not compile behind a switch are built and
tried one at a time, with Rust tests only (`alone.py`). With --alone, all mutants are.

A mutant is viable if it compiles. It is killed if a test fails, takes far longer than without the
mutant, or runs out of memory. Mutants of the engine are tried with its own tests and with those of
the laboratory that hold the engine to exact results.

With --rfc, only the code under the comments that rows of docs/rfc cite is mutated, with the mutants
of cargo-mutants and those of `breaking.py`. Only the tests that a row names are run (`proving.py`).
"""

import argparse
import json
import math
import subprocess
import sys
import time
from pathlib import Path

import alone
import binding
import build
import proving
import python
import running
import sampling
from crates import CRATES, STACK, Crate


def listed(tool: str, crate: Crate) -> list[dict]:
    """Returns the mutants of `crate` that cargo-mutants (at path `tool`) lists, sorted by place."""
    command = [tool, "mutants", "--list", "--json", "--package", crate.package]
    out = subprocess.run(command, cwd=build.ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    at = lambda m, key: (m["span"][key]["line"], m["span"][key]["column"])  # noqa: E731
    place = lambda m: (m["file"], at(m, "start"), at(m, "end"), m["genre"], m["name"])  # noqa: E731
    return sorted((m for m in json.loads(out) if crate.has(m["file"])), key=place)


def quick_first(test: running.Test) -> tuple:
    """Returns a sort key: quick tests first; tests of similar duration are grouped by program."""
    return math.floor(math.log2(max(test.seconds, 0.1))), test.program, test.seconds


class Trial:
    """A run without --rfc: the mutants, the test programs, and the tests that reach each mutant."""

    def __init__(self, a: argparse.Namespace):
        self.a, self.crate = a, CRATES[a.crate]
        self.mutants = listed(a.tool, self.crate)
        self.order = sampling.shuffled(self.mutants, a.seed)
        self.tree, self.alone = a.out / "tree", alone.Alone(a.out / "alone")
        self.compiled: set[int] = set()

    def name(self, number: int) -> str:
        """Returns the name of a mutant, which begins with file, line and column."""
        return self.mutants[number]["name"]

    def compile(self, numbers: list[int]) -> None:
        """Builds the test programs with these mutants, and finds the tests that reach each one.

        With --alone, builds them without mutants, to measure how long the tests take.
        """
        numbers = [] if self.a.alone else numbers
        self.compiled = set(numbers)
        left_out = build.schema(self.tree, self.mutants, numbers, self.crate.tests, self.crate)
        self.within = self.compiled - left_out
        print(f"{len(numbers)} of {len(self.mutants)} mutants, {len(left_out)} not behind a switch", flush=True)
        paths = {key: str(build.program(self.tree, key)) for key in self.crate.tests}
        self.programs = running.programs(self.tree, paths)
        begin, record = time.monotonic(), self.a.out / "reached.json"
        longest = min(self.a.longest, self.crate.seconds)
        tests = running.reach(self.programs, self.crate.tests, longest, self.a.jobs, record)
        self.tests = sorted(tests, key=quick_first)
        print(f"{len(tests)} tests in {time.monotonic() - begin:.0f} s", flush=True)
        self.python: list[running.Test] = []
        if self.crate.python and not self.a.rust:
            if binding.built(self.tree) is None:
                raise SystemExit("the Python binding cannot be built with the mutants")
            begin = time.monotonic()
            words, record = self.crate.python, self.a.out / "reached-python"
            self.python = binding.reach(self.tree, words, self.a.longest, self.a.jobs, record)
            print(f"{len(self.python)} Python tests in {time.monotonic() - begin:.0f} s", flush=True)

    def reaching(self, number: int) -> list[running.Test]:
        """Returns the tests to try a mutant with, the quick ones first, within the crate's limits.

        For a mutant without a switch, which tests reach it is unknown. The tests that reach another
        mutant of its file come first.
        """
        file = self.mutants[number]["file"]
        if number in self.within:
            tests = [t for t in self.tests if number in t.reached]
        else:
            near = {n for n in self.within if self.mutants[n]["file"] == file}
            tests = sorted(self.tests, key=lambda t: near.isdisjoint(t.reached))
        chosen = running.limited(tests, self.crate.seconds)
        always = [t for t in tests if any(word in t.name for word in self.crate.always)]
        return chosen + [t for t in always if t not in chosen]

    def attempt(self, number: int) -> dict:
        """Tries one mutant and returns its result as a line of `tried.jsonl`.

        `outcome`: `killed`, `missed` (all tests pass) or `unviable` (does not compile). `by`: the
        test that killed it, `passed`, or None. `seconds`: wall-clock time.
        """
        mutant, begin = self.mutants[number], time.monotonic()
        if number in self.within:
            by = running.attempt(self.programs, number, self.reaching(number))
            if by == "passed":
                tests = [t for t in self.python if number in t.reached]
                by = binding.attempt(self.tree, number, running.limited(tests, self.crate.python_seconds))
        else:
            by = self.alone.attempt(mutant, self.crate, self.reaching(number))
        outcome = {None: "unviable", "passed": "missed"}.get(by, "killed")
        seconds = round(time.monotonic() - begin, 1)
        return {"name": mutant["name"], "outcome": outcome, "by": by, "seconds": seconds}


def main() -> None:
    """Runs the command: tries a sample of mutants, those of `--only`, or the rows of `--rfc`."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--crate", choices=[*CRATES, "python"], default="stack", help="what to mutate")
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
    parser.add_argument("--rust", action="store_true", help="try mutants of the laboratory with the Rust tests only")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, default=build.ROOT / "out" / "mutants")
    parser.add_argument("--tool", default="cargo-mutants")
    a = parser.parse_args()
    a.out = a.out.resolve() / ("rfc" if a.rfc else a.crate)
    a.out.mkdir(parents=True, exist_ok=True)
    if a.rfc:
        sys.exit(proving.prove(a, listed(a.tool, STACK)))
    trial = python.Trial(a) if a.crate == "python" else Trial(a)
    if a.only:
        numbers = [n for n in trial.order if a.only in trial.name(n)]
        trial.compile(numbers)
        print(sampling.report([trial.attempt(n) for n in numbers]))
    else:
        print(sampling.report(sampling.sample(trial)))


if __name__ == "__main__":
    main()
