"""Studies: a paper's experiments, run again, beside the paper's numbers.

Each study has a folder here, named after the study with underscores. (``studies/`` at the root of the source tree is a
link to this package.) Its `study.py` declares sweeps, tables, figures and sentences; TOML and CSV files beside it hold
scenarios, sweeps and the paper's numbers. `base` says what a study is, `run` runs one and writes its directory, `page`
is the report.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from anabranch.studies.base import Study

_NAMES = (
    "alheid-2014-aina",
    "alheid-2014-sims",
    "alheid-2016-ict",
    "arabi-2014-icipee",
    "raiciu-2011-fattree",
    "reordering-today",
    "receive-buffer",
    "simult-flows",
    "pareto",
    "schedulers",
    "links-today",
)


def names() -> list[str]:
    """The studies there are."""
    return list(_NAMES)


def find(name: str) -> "Study":
    """The study `name`; ModuleNotFoundError if there is none."""
    study: Study = import_module(f"anabranch.studies.{name.replace('-', '_')}.study").STUDY
    return study
