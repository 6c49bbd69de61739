"""One run of a sweep: what it takes and what it leaves.

`perform` is the same function for a thread of this process, for a process beside it and for a worker of a cluster.
Whatever goes wrong in a run is its result: a row that says so.
"""

import json
import math
import traceback
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple, Self

from anabranch import _core
from anabranch.algorithms.carried import packed, unpacked
from anabranch.algorithms.watchdog import guarded
from anabranch.results import provenance
from anabranch.scenario import Scenario, ScenarioError
from anabranch.sweeps.plan import Cell, Options, engine

REFUSED = "refused"
FAILED = "failed"


class Task(NamedTuple):
    """A run to be made.

    Attributes
    ----------
    key, scenario_sha256, seed
        As in the record that it gives.
    scenario : Scenario
        What is run.
    error : str
        Why the scenario is refused; empty if it is not.
    code : bytes
        Its algorithms written in Python; empty if it has none.
    """

    key: str
    scenario_sha256: str
    seed: int
    scenario: Scenario
    error: str
    code: bytes = b""

    @classmethod
    def of(cls, cell: Cell, seed: int) -> Self:
        """A run of `cell`; one that is refused carries no code."""
        code = b"" if cell.error else cell.code or packed(cell.scenario.algorithms())
        scenario = replace(cell.scenario, classes=())  # which may not be importable where the run is made
        return cls(cell.key(seed), cell.sha256, seed, scenario, cell.error, code)


class Record(NamedTuple):
    """A run as it is stored.

    Attributes
    ----------
    key : str
        Hash of scenario, seed and engine.
    scenario_sha256 : str
        Of the cell.
    seed : int
        Of the run.
    status : str
        As in the summary; ``"refused"``: the scenario is not valid; ``"failed"``: the engine broke off.
    error : str
        Why it was refused or failed.
    engine, machine : str
        What made it, and where; see `Provenance`.
    summary : str
        The summary as JSON; empty if there is none.
    series : str
        The decimated series as JSON, column by column; empty if none was wanted.
    events_hash : str
        Hash of the run's events without random keys and sequence numbers; empty in sweeps of older versions.
    """

    key: str
    scenario_sha256: str
    seed: int
    status: str
    error: str
    engine: str
    machine: str
    summary: str
    series: str = ""
    events_hash: str = ""


class Stop(Exception):  # noqa: N818 - not an error
    """Ends a run that is no longer wanted."""


def perform(task: Task, options: Options, poll: Callable[[Any], None] | None = None) -> Record:
    """Make a run. Nothing but `Stop`, raised by `poll`, and KeyboardInterrupt come out of it as exceptions."""
    scenario = task.scenario
    status, error, summary, series, events = REFUSED, task.error, "", "", ""
    if not error:
        try:
            algorithms = unpacked(task.code) if task.code else []
            own: dict[str, Any] = {"algorithms": algorithms} if algorithms else {}
            call = partial(
                _core.run,
                scenario.toml,
                scenario.name,
                list(scenario.overrides),
                task.seed,
                None,
                poll,
                None,
                options.timeout,
                options.memory,
                options.series > 0,
                **own,
            )
            run = guarded(call, options.timeout if algorithms else None)
            summary, events = run.summary, getattr(run, "events_hash", "")
            status = json.loads(summary)["status"]
            series = _series(run, options.series) if options.series else ""
        except (Stop, KeyboardInterrupt):
            raise
        except ScenarioError as refusal:
            error = str(refusal)
        except (_core.RunError, _core.AlgorithmError) as failure:
            status, error = FAILED, f"{failure}{raised_at(failure)}"
        except BaseException as failure:  # a fault of ours, too, is one row and not the end of the sweep
            status, error, summary, events = FAILED, f"{type(failure).__name__}: {failure}", "", ""
    made = (task.key, task.scenario_sha256, task.seed, status, error, str(engine()), machine())
    return Record(*made, summary, series, events)


def raised_at(failure: BaseException) -> str:
    """The line of an algorithm that raised, if one did."""
    frames = traceback.extract_tb(failure.__cause__.__traceback__) if failure.__cause__ is not None else []
    return f" ({Path(frames[-1].filename).name}:{frames[-1].lineno}, in {frames[-1].name})" if frames else ""


def _series(run: Any, samples: int) -> str:
    """At most `samples` times of the run's series: every second one, every third one, and so on."""
    import numpy as np

    columns = run.subflows()
    times, place = np.unique(columns["t"], return_inverse=True)
    step = max(1, -(-len(times) // samples))
    kept = place % step == 0
    return json.dumps({name: _plain(values[kept]) for name, values in columns.items()}, separators=(",", ":"))


def _plain(values: Any) -> list[Any]:
    """Numbers as JSON has them: what is not finite becomes null (NaN) or text (infinity)."""
    return [x if math.isfinite(x) else None if math.isnan(x) else str(x) for x in values.tolist()]


@cache
def machine() -> str:
    """Where runs are made."""
    return provenance.machine()
