"""The check of an algorithm: the engine's conformance suite, twenty scenarios, each run twice."""

import contextlib
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from anabranch import _core
from anabranch._core import AlgorithmError, RunError
from anabranch.algorithms.description import Description
from anabranch.algorithms.references import load
from anabranch.algorithms.watchdog import guarded
from anabranch.conformance.calls import Calls, inexact
from anabranch.conformance.scenarios import scenarios
from anabranch.scenario import Scenario, ScenarioError
from anabranch.sentences import tools as say
from anabranch.sweeps.plan import Cell, Options, plan
from anabranch.sweeps.process import Process
from anabranch.sweeps.task import FAILED, REFUSED, Task, raised_at

_OPTIONS = Options(timeout=60.0)


@dataclass(frozen=True)
class Report:
    """What a check found.

    Attributes
    ----------
    name, kind : str
        The class, and the kind of algorithms that it is.
    faults : tuple of str
        What does not hold.
    runs, refused : tuple of str
        Names of the scenarios that were run, and of those that refuse such an algorithm.
    """

    name: str
    kind: str
    faults: tuple[str, ...]
    runs: tuple[str, ...]
    refused: tuple[str, ...]


def check(reference: str, progress: Callable[[int, int], None] | None = None) -> Report:
    """Check a class.

    Parameters
    ----------
    reference : str
        ``"file.py:Class"`` or ``"module:Class"``.
    progress : callable, optional
        Called with the number of scenarios that were run, and of all of them.

    Raises
    ------
    AlgorithmError
        If there is no such class, or if it lacks a method.
    ScenarioError
        If no scenario accepts the class, for example because the engine does not know what it needs.
    """
    description = Description(load(reference), reference)
    prepared, refused, why = dict[str, Cell](), list[str](), list[ScenarioError]()
    for name, scenario in scenarios().items():
        try:
            prepared[name] = _cell(scenario, description)
        except ScenarioError as refusal:
            refused.append(name)
            why.append(refusal)
    if not prepared:
        raise why[0]
    faults = [_conformance(description)]
    faults += [say.AT(place=place, what=what) for place, what in dict(inexact(description.cls)).items()]
    runs = list[str]()
    calls = Calls()
    again = Process()
    try:
        for name, cell in prepared.items():
            runs.append(name)
            try:
                faults.append(_run(name, cell, calls, again))
            except (AlgorithmError, RunError) as error:
                # A method that raises, returns what is not allowed or does not return fails in most
                # scenarios: one is enough.
                faults.append(say.IN_SCENARIO(name=name, what=f"{error}{raised_at(error)}"))
                break
            if progress is not None:
                progress(len(runs), len(prepared))
    finally:
        again.end()
    faults += [say.AT(place=place, what=what) for what, place in calls.found.items()]
    return Report(reference, description.kind, tuple(filter(None, faults)), tuple(runs), tuple(refused))


def _cell(scenario: Scenario, description: Description) -> Cell:
    (cell,) = plan(scenario.set(f"connection.{description.kind}", description.name), {}, 1, _OPTIONS).cells
    return cell


def _run(name: str, cell: Cell, calls: Calls, again: Process) -> str:
    """Run a scenario here and in another process, which has other hashes of strings; return what is wrong."""
    with calls:
        summary = cell.scenario.run(1, timeout=_OPTIONS.timeout).summary
    if summary["status"] != "completed":
        return say.NOT_COMPLETED(name=name, status=summary["status"])
    record = again.perform(Task.of(cell, 1), _OPTIONS)
    if record.status in {FAILED, REFUSED}:
        return say.IN_SCENARIO(name=name, what=record.error)
    other = re.search(r'"trace_sha256":\s*"(\w+)"', record.summary)
    if other is None or other[1] != summary["trace_sha256"]:
        return say.TWO_HASHES(name=name, first=summary["trace_sha256"][:12], second=other[1][:12] if other else "none")
    return ""


def _conformance(description: Description) -> str:
    """What the conformance suite of the engine finds; empty if all holds."""
    with _standard_error() as written:
        try:
            found = guarded(partial(_core.conform, description), _OPTIONS.timeout)
        except (AlgorithmError, RunError) as error:
            return say.IN_SUITE(what=f"{error}{raised_at(error)}", life=_life(written.read_text(errors="replace")))
        if found is None:
            return ""
        what = re.sub(r"^panic at \S+: ", "", found)
        return say.IN_SUITE(what=what, life=_life(written.read_text(errors="replace")))


def _life(text: str) -> str:
    """The life in which a check failed, as the suite writes it to standard error."""
    found = re.search(r"life (\d+)", text)
    return found[1] if found else "0"


@contextlib.contextmanager
def _standard_error() -> Iterator[Path]:
    """Within the block, what the engine writes to standard error goes to a file."""
    sys.stderr.flush()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "stderr"
        keep = os.dup(2)
        try:
            with file.open("wb") as stream:
                os.dup2(stream.fileno(), 2)
            yield file
        finally:
            os.dup2(keep, 2)
            os.close(keep)
