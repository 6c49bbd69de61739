"""Arabi, Bozed and Zerek, ICIPEE 2014: two and three wired subflows, four controllers, three recoveries."""

from anabranch.studies.arabi_2014_icipee.figures import FIGURES
from anabranch.studies.arabi_2014_icipee.tables import TABLES
from anabranch.studies.arabi_2014_icipee.text import NOTES, findings, opening
from anabranch.studies.base import Study

STUDY = Study(
    name="arabi-2014-icipee",
    title="Two and three wired subflows, seen again",
    source=(
        "T. Arabi, K. A. Bozed, A. R. Zerek: Performance Evaluation and Computer Simulation of Multipath Transmission "
        "Control Protocol. ICIPEE 2014, Tebessa, pp. 388 ff."
    ),
    summary="four controllers x three recoveries over two and three wired links; Figs. 8, 9, and its future work",
    sweeps={
        "tables": True,
        "single-path": True,
        "sensitivity": False,
        "point-to-point": False,
        "shared-bottleneck": False,
        "shared-single": False,
        "disjoint-bottlenecks": False,
        "disjoint-single": False,
    },
    tables=TABLES,
    figures=FIGURES,
    opening=opening,
    findings=findings,
    notes=NOTES,
    scenarios=("scenario", "shared", "disjoint"),
)
