"""Studies: a paper's experiments, run again, beside the paper's numbers.

A study consists of scenario and sweep files and the paper's numbers (``studies/`` in the source tree, part of the
installed package) and of code that makes tables, figures and sentences of the runs. `base` says what a study is,
`run` runs one and writes its directory, `page` is the report.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from anabranch.study.base import Study

_HOME = {
    "alheid-2014-aina": "anabranch.study.aina2014",
    "alheid-2014-sims": "anabranch.study.sims2014",
    "alheid-2016-ict": "anabranch.study.ict2016",
    "arabi-2014-icipee": "anabranch.study.arabi2014",
    "raiciu-2011-fattree": "anabranch.study.raiciu2011",
    "reordering-today": "anabranch.study.reordering",
    "receive-buffer": "anabranch.study.receive_buffer",
    "simult-flows": "anabranch.study.simult_flows",
    "pareto": "anabranch.study.pareto",
    "schedulers": "anabranch.study.schedulers",
    "links-today": "anabranch.study.links_today",
}


def names() -> list[str]:
    """The studies there are."""
    return list(_HOME)


def find(name: str) -> "Study":
    """The study `name`; KeyError if there is none."""
    study: Study = import_module(_HOME[name]).STUDY
    return study
