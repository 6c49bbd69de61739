"""A plugin of pytest that records which functions each test calls, for `tools/mutants`.

With ANABRANCH_MUTANTS_REACHED, a folder, each process of pytest writes a file there with a line of
JSON for each test that passed: its node ID, its processor time in seconds, and the functions below
ANABRANCH_MUTANTS_SOURCES that it called, as pairs of a path and the line of the `def` or its first
decorator. What a fixture of a module or of the session called counts for all tests that use the
fixture. Code in other processes that a test starts is not recorded.
"""

import json
import os
import sys
import threading
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

SOURCES = os.environ["ANABRANCH_MUTANTS_SOURCES"].split(os.pathsep)
RECORD = Path(os.environ["ANABRANCH_MUTANTS_REACHED"]) / f"{os.getpid()}.jsonl"
called: set[CodeType] = set()
by_fixture: defaultdict[Any, set[CodeType]] = defaultdict(set)


def note(frame: FrameType, event: str, _: object) -> None:
    """Notes a call. Returns no trace function, so that lines are not traced."""
    if event == "call":
        called.add(frame.f_code)


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
    threading.settrace(note)
    sys.settrace(note)
    begin = sum(os.times()[:4])
    try:
        result = yield
    finally:
        sys.settrace(None)
        threading.settrace(None)  # type: ignore[arg-type]
    seconds = sum(os.times()[:4]) - begin
    of_name = item._fixtureinfo.name2fixturedefs if hasattr(item, "_fixtureinfo") else {}
    code = called.union(*(by_fixture[fixture] for fixtures in of_name.values() for fixture in fixtures))
    functions = {(c.co_filename, c.co_firstlineno) for c in code if c.co_filename.startswith(tuple(SOURCES))}
    if item.session.testsfailed == failed:
        with RECORD.open("a") as file:
            file.write(json.dumps([item.nodeid, seconds, sorted(functions)]) + "\n")
    return result
