"""Anabranch: a multipath-TCP laboratory.

>>> import anabranch as ab
>>> scenario = ab.Scenario.two_path("5 Mbit/s, 100 ms", "2 Mbit/s, 10 ms", transfer="1 MB")
>>> run = scenario.run(seed=1)
>>> run.summary["status"]
'completed'

``print(run)`` shows the table, ``run.subflows`` is a frame over time, ``run.plot.cwnd()`` draws it, and
``run.save("out")`` keeps everything for :func:`load`. ``ab.sweep(scenario, {"judge": ["none", "dsack"]})`` runs
many and compares them. Frames and figures load only when they are used.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from anabranch import plots
    from anabranch._core import AlgorithmError, Move, Penalise, Queue, Reordered, Resend, RunError, SendAll, Wait
    from anabranch.algorithms import math as math
    from anabranch.algorithms.compiled import WAIT, compiled
    from anabranch.algorithms.controller import Controller
    from anabranch.algorithms.detector import Detector
    from anabranch.algorithms.judge import Judge
    from anabranch.algorithms.parameter import Parameter
    from anabranch.algorithms.reduction import Reduction
    from anabranch.algorithms.scheduler import Scheduler
    from anabranch.captures.capture import Capture, CaptureError, analyze
    from anabranch.comparison import Comparison, compare
    from anabranch.diagnosis import Diagnosis, diagnose
    from anabranch.measures import series as series
    from anabranch.packetdrill import script as script
    from anabranch.recommendation import Recommendation, recommend
    from anabranch.results.directory import ResultError
    from anabranch.results.provenance import Provenance
    from anabranch.runs.run import Run, load
    from anabranch.scenario import Scenario, ScenarioError
    from anabranch.studies.result import StudyError, StudyResult, study
    from anabranch.sweeps import Plan, Sweep, sweep

    __version__: str

__all__ = [
    "WAIT",
    "AlgorithmError",
    "Capture",
    "CaptureError",
    "Comparison",
    "Controller",
    "Detector",
    "Diagnosis",
    "Judge",
    "Move",
    "Parameter",
    "Penalise",
    "Plan",
    "Provenance",
    "Queue",
    "Recommendation",
    "Reduction",
    "Reordered",
    "Resend",
    "ResultError",
    "Run",
    "RunError",
    "Scenario",
    "ScenarioError",
    "Scheduler",
    "SendAll",
    "StudyError",
    "StudyResult",
    "Sweep",
    "Wait",
    "__version__",
    "analyze",
    "compare",
    "compiled",
    "diagnose",
    "load",
    "math",
    "plots",
    "recommend",
    "study",
    "sweep",
]

_HOME = {
    "WAIT": "anabranch.algorithms.compiled",
    "AlgorithmError": "anabranch._core",
    "Capture": "anabranch.captures.capture",
    "CaptureError": "anabranch.captures.capture",
    "Comparison": "anabranch.comparison",
    "Controller": "anabranch.algorithms.controller",
    "Detector": "anabranch.algorithms.detector",
    "Diagnosis": "anabranch.diagnosis",
    "Judge": "anabranch.algorithms.judge",
    "Move": "anabranch._core",
    "Parameter": "anabranch.algorithms.parameter",
    "Penalise": "anabranch._core",
    "Plan": "anabranch.sweeps",
    "Provenance": "anabranch.results.provenance",
    "Queue": "anabranch._core",
    "Recommendation": "anabranch.recommendation",
    "Reduction": "anabranch.algorithms.reduction",
    "Reordered": "anabranch._core",
    "Resend": "anabranch._core",
    "ResultError": "anabranch.results.directory",
    "Run": "anabranch.runs.run",
    "RunError": "anabranch._core",
    "Scenario": "anabranch.scenario",
    "ScenarioError": "anabranch.scenario",
    "Scheduler": "anabranch.algorithms.scheduler",
    "SendAll": "anabranch._core",
    "StudyError": "anabranch.studies.result",
    "StudyResult": "anabranch.studies.result",
    "Sweep": "anabranch.sweeps",
    "Wait": "anabranch._core",
    "analyze": "anabranch.captures.capture",
    "compare": "anabranch.comparison",
    "compiled": "anabranch.algorithms.compiled",
    "diagnose": "anabranch.diagnosis",
    "load": "anabranch.runs.run",
    "recommend": "anabranch.recommendation",
    "study": "anabranch.studies.result",
    "sweep": "anabranch.sweeps",
}

_MODULES = {
    "math": "anabranch.algorithms.math",
    "plots": "anabranch.plots",
    "script": "anabranch.packetdrill.script",
    "series": "anabranch.measures.series",
}
"""Modules that users reach as attributes of the package, such as ``anabranch.script.run``."""


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used."""
    from importlib import import_module

    if name == "__version__":
        value: Any = import_module("anabranch._core").version()
    elif name in _MODULES:
        value = import_module(_MODULES[name])
    elif name in _HOME:
        value = getattr(import_module(_HOME[name]), name)
    else:
        raise AttributeError(f"module 'anabranch' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Public names, loaded or not."""
    return sorted({*globals(), *__all__})
