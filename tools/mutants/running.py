"""Tests run with a mutant on, within limits, up to the first that fails."""

import json
import os
import re
import signal
import subprocess
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from pathlib import Path

MEMORY = 4 << 30
# Parts of the names of tests that measure wall-clock time, which means nothing here.
TIMED = ["a_hundred_thousand_", "polls::", "limits::", "tens_of_thousands_of_holes_are_found_quickly"]
# The time of a processor that a mutant may take: this, and so many times what the tests take without it.
SECONDS, TIMES = 2, 3


@dataclass
class Program:
    """A program of tests, and where it is run."""

    path: str
    folder: Path

    def tests(self, *which: str) -> list[str]:
        """The names of its tests, or of those that are ignored."""
        command = [self.path, "--list", "--format", "terse", *which]
        out = subprocess.run(command, cwd=self.folder, check=True, capture_output=True, text=True).stdout
        return [line.removesuffix(": test") for line in out.splitlines() if line.endswith(": test")]


def programs(tree: Path, paths: dict[str, str]) -> dict[str, Program]:
    """The programs at `paths` (by key of `crates.PROGRAMS`), each run in its crate's folder below `tree`."""
    return {key: Program(path, tree / "crates" / key.removesuffix("-it")) for key, path in paths.items()}


@dataclass
class Test:
    """A test: the seconds that it takes, and the mutants that make a difference where they stand."""

    program: str
    name: str
    seconds: float
    reached: list[int]


def run(program: Program, names: list[str], seconds: float, variables: dict[str, str]) -> tuple[str, float]:
    """`passed`, else the first test that failed, or what ended the tests; and the processor's time that they took."""
    limits = f'ulimit -c 0; ulimit -v {MEMORY >> 10}; ulimit -t {int(seconds) + 1}; exec "$@"'
    command = ["sh", "-c", limits, "sh", program.path, "--exact", "--test-threads", "1", *names]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True, "errors": "replace"}
    with subprocess.Popen(command, cwd=program.folder, env=os.environ | variables, **pipes) as process:
        # What waits and takes no time is ended, too. (Popen.kill might take the times of what has ended already.)
        end = partial(os.kill, process.pid, signal.SIGKILL)
        timer = threading.Timer(60 + 10 * seconds, end)
        timer.start()
        failed = None
        for line in process.stdout or []:
            if failed := re.match(r"test (.*?)(?: - should panic)? \.\.\. FAILED$", line):
                end()
                break
        timer.cancel()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    told = failed[1] if failed else "passed" if status == 0 else f"ended by {process.returncode}"
    return told, used.ru_utime + used.ru_stime


def chosen(program: Program, words: list[str]) -> list[str]:
    """The tests whose names contain one of the words, without those that are ignored or ask the clock on the wall."""
    ignored = set(program.tests("--ignored"))
    named = lambda test, some: any(word in test for word in some)  # noqa: E731
    return [t for t in program.tests() if t not in ignored and named(t, words) and not named(t, TIMED)]


def reach(
    programs: dict[str, Program], wanted: dict[str, list[str]], longest: float, jobs: int, record: Path
) -> list[Test]:
    """Each test by itself, without a mutant: its time, and what it reaches; none that takes longer, or fails.

    Noted, for as long as the programs are the same; how long a test takes, for good. A test is ended after three times
    `longest`, as it takes longer while it is noted what it reaches.
    """
    known = [Test(*row) for row in json.loads(record.read_text())] if record.exists() else []
    if known and record.stat().st_mtime > max(Path(p.path).stat().st_mtime for p in programs.values()):
        fresh = {(t.program, t.name): t for t in known if t.seconds <= longest}
    else:
        fresh = {}
    long = {(t.program, t.name): t for t in known if t.seconds > longest}

    def one(key: str, name: str) -> Test | None:
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder) / "reached"
            most = min(900, 3 * longest)
            told, seconds = run(programs[key], [name], most, {"ANABRANCH_MUTANTS_REACHED": str(place)})
            if told != "passed" and seconds >= most:
                return Test(key, name, seconds, [])
            if told != "passed":
                print(f"left out: {name} fails without a mutant ({told})", flush=True)
                return None
            return Test(key, name, seconds, list(map(int, place.read_text().split())) if place.exists() else [])

    which = [(key, name) for key in programs for name in chosen(programs[key], wanted[key])]
    new = [test for test in which if test not in fresh and test not in long]
    with ThreadPoolExecutor(jobs) as pool:
        fresh |= {(t.program, t.name): t for t in pool.map(lambda t: one(*t), new) if t}
    record.write_text(json.dumps([(t.program, t.name, t.seconds, t.reached) for t in (fresh | long).values()]))
    return [fresh[test] for test in which if test in fresh and fresh[test].seconds <= longest]


def batches(tests: list[Test]) -> list[list[Test]]:
    """Tests of one program each, quick ones together; each batch may take as long as all before it."""
    out: list[list[Test]] = []
    total = budget = 0.0
    for test in tests:
        if out and out[-1][0].program == test.program and budget + test.seconds <= max(0.2, total):
            out[-1].append(test)
            budget += test.seconds
        else:
            out.append([test])
            total, budget = total + budget, test.seconds
    return out


def limited(tests: list[Test], seconds: float) -> list[Test]:
    """The first of the tests, as many as take no more than `seconds` together."""
    totals = accumulate(test.seconds for test in tests)
    return [test for test, total in zip(tests, totals, strict=True) if total <= seconds]


def attempt(programs: dict[str, Program], number: int | None, tests: list[Test]) -> str:
    """Tests with a mutant on (None: the program has just one): `passed`, or what noticed it."""
    variables = {} if number is None else {"ANABRANCH_MUTANT": str(number)}
    for batch in batches(tests):
        seconds = SECONDS + TIMES * sum(t.seconds for t in batch)
        told, _ = run(programs[batch[0].program], [t.name for t in batch], seconds, variables)
        if told != "passed":
            return told
    return "passed"
