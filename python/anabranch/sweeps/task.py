"""One run of a sweep: what it takes and what it leaves.

`perform` is the same function for a thread of this process and for a worker of a cluster. Whatever goes wrong in a run
is its result: a row that says so.
"""

import json
import math
from collections.abc import Callable
from functools import cache, partial
from typing import Any, NamedTuple

from anabranch import _core
from anabranch.algorithms.watchdog import guarded
from anabranch.results import provenance
from anabranch.scenario import Scenario, ScenarioError
from anabranch.sweeps.plan import Options, engine

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
    """

    key: str
    scenario_sha256: str
    seed: int
    scenario: Scenario
    error: str


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
            algorithms = scenario.algorithms()
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
            status, error = FAILED, str(failure)
        except BaseException as failure:  # a fault of ours, too, is one row and not the end of the sweep
            status, error, summary, events = FAILED, f"{type(failure).__name__}: {failure}", "", ""
    made = (task.key, task.scenario_sha256, task.seed, status, error, str(engine()), machine())
    return Record(*made, summary, series, events)


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
