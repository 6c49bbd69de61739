"""A plugin of pytest that records which functions each test calls, for `tools/mutants`.

It runs in a copy of the repository in which each function calls `note` (`python_source.recording`).
With ANABRANCH_MUTANTS_REACHED, a folder, each process of pytest writes a file there with a line of
JSON for each test that passed: its node ID, its processor time in seconds, and the functions that
it called, as pairs of a path and the line of the `def` or its first decorator. What a fixture of a
module or of the session called counts for all tests that use the fixture. Calls in other processes
that a test starts are not recorded.
"""

import json
import os
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

RECORD = Path(os.environ["ANABRANCH_MUTANTS_REACHED"]) / f"{os.getpid()}.jsonl"
called: set[tuple[str, int]] = set()
by_fixture: defaultdict[Any, set[tuple[str, int]]] = defaultdict(set)


def note(file: str, line: int) -> None:
    """Notes the call of a function."""
    called.add((file, line))


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: Any) -> Iterator[None]:
    """Sets up a fixture. Records what a fixture calls that several tests share."""
    if fixturedef.scope == "function":
        return (yield)
    before = set(called)
    called.clear()
    try:
        return (yield)
    finally:
        by_fixture[fixturedef] |= called
        called.update(before)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: Any) -> Iterator[None]:
    """Runs a test with its fixtures and records it if it passed."""
    called.clear()
    failed = item.session.testsfailed
    begin = sum(os.times()[:4])
    result = yield
    seconds = sum(os.times()[:4]) - begin
    of_name = item._fixtureinfo.name2fixturedefs if hasattr(item, "_fixtureinfo") else {}
    functions = called.union(*(by_fixture[fixture] for fixtures in of_name.values() for fixture in fixtures))
    if item.session.testsfailed == failed:
        with RECORD.open("a") as file:
            file.write(json.dumps([item.nodeid, seconds, sorted(functions)]) + "\n")
    return result
