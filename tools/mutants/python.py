"""Tries mutants of the Python package (`python_source.py`).

A recorded run of pytest tells which tests call the function around a
mutant (`plugin/reached.py`). Each mutant is tried with these tests alone in a copy of the
repository, quick tests first, up to the first that fails.
"""

import argparse
import hashlib
import json
import math
import queue
import time
from pathlib import Path

import build
import pytests
import running
import sampling
from python_source import Mutant, mutants, recording

MODULES = ("comparison", "diagnosis", "recommendation", "sweeps")
# Names of the files of tests that are run, beside the doctests of the modules.
TESTS = ("cluster", "compare", "diagnose", "query", "recommend", "sweep", "tables")
# Limit in seconds of the summed durations of the tests that a mutant is tried with.
SECONDS = 30
# File beside the record of the tests, if it is whole: hashes of what was recorded.
WHOLE = "whole.json"


def hashes(tree: Path) -> dict[str, str]:
    """Returns the hash of each file of tests and of the package in `tree`."""
    files = [p for folder in ("tests", "python") for p in sorted((tree / folder).rglob("*.py"))]
    return {str(p.relative_to(tree)): hashlib.sha256(p.read_bytes()).hexdigest() for p in files}


class Trial:
    """A run with `--crate python`: the mutants, a copy of the repository for each job, and the tests."""

    def __init__(self, a: argparse.Namespace):
        self.a, self.compiled = a, set()
        files = [p for m in MODULES for p in sorted((build.ROOT / pytests.PACKAGE / m).rglob("*.py"))]
        self.mutants = [m for p in files for m in mutants(str(p.relative_to(build.ROOT)), p.read_text())]
        self.order = sampling.shuffled([{"name": m.name} for m in self.mutants], a.seed)
        self.trees: queue.Queue[Path] = queue.Queue()

    def name(self, number: int) -> str:
        """Returns the name of a mutant, which begins with file, line and column."""
        return self.mutants[number].name

    def compile(self, numbers: list[int]) -> None:
        """Copies the repository and records which tests call which functions, unless that is recorded already."""
        self.compiled = set(range(len(self.mutants)))
        print(f"{len(numbers)} of {len(self.mutants)} mutants", flush=True)
        self.trees.queue.clear()
        for job in range(self.a.jobs):
            self.trees.put(self.copied(f"tree{job}"))
        tree, record = self.a.out / "tree0", self.a.out / "reached"
        now = hashes(tree)
        if stale := self.stale(tree, record, now):
            variables = {"ANABRANCH_MUTANTS_REACHED": str(record)}
            workers = str(self.a.jobs) if self.a.jobs > 1 else "0"
            words = ["-p", "reached", "-n", workers, "--dist", "loadfile", *stale]
            pytests.run(self.recording(), words, variables, 7200)
        (record / WHOLE).write_text(json.dumps(now))
        lines = [json.loads(line) for file in record.glob("*.jsonl") for line in file.read_text().splitlines()]
        self.tests = [(running.Test("", name, seconds, []), set(map(tuple, of))) for name, seconds, of in lines if of]
        self.tests.sort(key=lambda test: test[0].seconds)
        print(f"{len(self.tests)} tests of {len(lines)} reach a mutant", flush=True)

    def copied(self, name: str) -> Path:
        """Returns a copy of the repository with the built binding."""
        tree = self.a.out / name
        build.copy(tree)
        for core in (build.ROOT / pytests.PACKAGE).glob("_core.*.so"):
            build.write(tree / pytests.PACKAGE / core.name, core.read_bytes())
        return tree

    def recording(self) -> Path:
        """Returns a copy in which each function of `MODULES` notes that it was called."""
        tree = self.copied("recording")
        for file in sorted({mutant.file for mutant in self.mutants}):
            (tree / file).write_text(recording(file, (build.ROOT / file).read_text()))
        return tree

    def stale(self, tree: Path, record: Path, now: dict[str, str]) -> list[str]:
        """Returns the files of tests and modules to record, and removes what is recorded of them.

        If only files of tests changed since the last record, only these are recorded again. `now`: hashes of the files.
        """
        record.mkdir(exist_ok=True)
        whole, old = record / WHOLE, list(record.glob("*.jsonl"))
        tests = pytests.files(tree, TESTS)
        stale = tests + [f"{pytests.PACKAGE}/{m}" for m in MODULES]
        if whole.exists():
            known = json.loads(whole.read_text())
            changed = {name for name, value in now.items() if known.get(name) != value}
            stale = sorted(changed) if changed.issubset(tests) else stale
        kept = [line for file in old for line in file.read_text().splitlines()]
        kept = [line for line in kept if not json.loads(line)[0].startswith(tuple(stale))]
        whole.unlink(missing_ok=True)
        for file in old:
            file.unlink()
        (record / "kept.jsonl").write_text("".join(f"{line}\n" for line in kept))
        return stale

    def reaching(self, mutant: Mutant) -> list[running.Test]:
        """Returns the tests that call the mutant's function (outside of one: any of its file), quick ones first."""
        here = lambda f: f == (mutant.file, mutant.function) or (f[0] == mutant.file and not mutant.function)  # noqa: E731
        return running.limited([test for test, functions in self.tests if any(map(here, functions))], SECONDS)

    def attempt(self, number: int) -> dict:
        """Tries one mutant and returns its result as a line of `tried.jsonl`; see `Trial.attempt` of the crates."""
        mutant, begin, tree = self.mutants[number], time.monotonic(), self.trees.get()
        file, tests = tree / mutant.file, self.reaching(mutant)
        source = file.read_bytes()
        try:
            new = source[: mutant.start] + mutant.text.encode() + source[mutant.end :]
            compile(new, mutant.file, "exec")
            file.write_bytes(new)
            by = pytests.attempt(tree, [test.name for test in tests], sum(test.seconds for test in tests), {})
        except SyntaxError:
            by = None
        finally:
            file.write_bytes(source)
            self.trees.put(tree)
        outcome = {None: "unviable", "passed": "missed"}.get(by, "killed")
        return {"name": mutant.name, "outcome": outcome, "by": by, "seconds": math.ceil(time.monotonic() - begin)}
