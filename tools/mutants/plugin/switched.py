"""A pytest plugin that records which mutants of the Rust crates each test reaches (`switch.rs`).

With ANABRANCH_MUTANTS_RECORD, a folder, each process of pytest writes a file there with a line of
JSON for each test that passed: its node ID, its processor time in seconds, and the numbers of the
mutants that it reached. Processes that a test starts are recorded with the test. What a fixture of
a module or of the session reached counts for all tests that use the fixture.
"""

import ctypes
import json
import os
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(os.environ["ANABRANCH_MUTANTS_RECORD"])
NUMBERS, RECORD = FOLDER / f"{os.getpid()}.numbers", FOLDER / f"{os.getpid()}.jsonl"
NUMBERS.touch()
# Where the switch of this process, and of those that it starts, notes the mutants.
os.environ["ANABRANCH_MUTANTS_REACHED"] = str(NUMBERS)


class Reached:
    """The mutants that were reached since the last question, and those of fixtures."""

    def __init__(self) -> None:
        import anabranch._core as core

        self.forget = ctypes.CDLL(core.__file__).anabranch_mutants_forget
        self.file = NUMBERS.open()
        self.now: set[int] = set()
        self.fixtures: defaultdict[Any, set[int]] = defaultdict(set)

    def take(self) -> set[int]:
        """Returns the mutants reached since the last call; each is noted again when it is reached again."""
        found = {int(line) for line in self.file.read().split()}
        self.forget()
        return found


reached: Reached | None = None


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: Any, request: Any) -> Iterator[None]:
    """Sets up a fixture. One that other tests share has its mutants recorded apart."""
    if reached is None or fixturedef.scope == "function":
        return (yield)
    reached.now |= reached.take()
    try:
        return (yield)
    finally:
        reached.fixtures[fixturedef] |= reached.take()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: Any) -> Iterator[None]:
    """Runs a test with its fixtures and records it if it passed."""
    global reached  # noqa: PLW0603
    reached = reached or Reached()
    reached.take()
    reached.now = set()
    of_name = item._fixtureinfo.name2fixturedefs if hasattr(item, "_fixtureinfo") else {}
    failed = item.session.testsfailed
    begin = sum(os.times()[:4])
    result = yield
    # Processor time, that of ended processes that the test started included: other work on the
    # machine does not count.
    seconds = sum(os.times()[:4]) - begin
    numbers = reached.now | reached.take()
    for fixture in (f for fixtures in of_name.values() for f in fixtures):
        numbers |= reached.fixtures.get(fixture, set())
    if item.session.testsfailed == failed:
        with RECORD.open("a") as file:
            file.write(json.dumps([item.nodeid, seconds, sorted(numbers)]) + "\n")
    return result
