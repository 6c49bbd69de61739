"""Studies: a paper's experiments, run again, beside the paper's numbers.

A study consists of scenario and sweep files and the paper's numbers (``studies/`` in the source tree, part of the
installed package) and of code that makes tables, figures and sentences of the runs. `base` says what a study is,
`run` runs one and writes its directory, `page` is the report.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from anabranch.experiments.base import Study

_HOME = {
    "alheid-2014-aina": "anabranch.experiments.aina2014",
    "alheid-2014-sims": "anabranch.experiments.sims2014",
    "alheid-2016-ict": "anabranch.experiments.ict2016",
    "arabi-2014-icipee": "anabranch.experiments.arabi2014",
    "raiciu-2011-fattree": "anabranch.experiments.raiciu2011",
    "reordering-today": "anabranch.experiments.reordering",
    "receive-buffer": "anabranch.experiments.receive_buffer",
    "simult-flows": "anabranch.experiments.simult_flows",
    "pareto": "anabranch.experiments.pareto",
    "schedulers": "anabranch.experiments.schedulers",
    "links-today": "anabranch.experiments.links_today",
}


def names() -> list[str]:
    """The studies there are."""
    return list(_HOME)


def find(name: str) -> "Study":
    """The study `name`; KeyError if there is none."""
    study: Study = import_module(_HOME[name]).STUDY
    return study
