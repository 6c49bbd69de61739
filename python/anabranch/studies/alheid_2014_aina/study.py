"""Alheid, Kaleshi and Doufexi, AINA 2014: congestion control and reordering recovery over two unlike paths."""

from anabranch.studies.alheid_2014_aina.figures import FIGURES
from anabranch.studies.alheid_2014_aina.tables import TABLES
from anabranch.studies.alheid_2014_aina.text import NOTES, findings, opening
from anabranch.studies.base import Study

STUDY = Study(
    name="alheid-2014-aina",
    title="Out-of-order recovery and MPTCP throughput, seen again",
    source=(
        "A. Alheid, D. Kaleshi, A. Doufexi: An Analysis of the Impact of Out-Of-Order Recovery Algorithms on MPTCP "
        "Throughput. IEEE AINA 2014, pp. 156-163, DOI 10.1109/AINA.2014.50"
    ),
    summary="three controllers x five reordering recoveries over two paths of 0.5 Mbit/s; Tables I, II, Figs. 4-14",
    sweeps={
        "tables": True,
        "nopr": True,
        "ceiling": True,
        "single-path": True,
        "delays": False,
        "door": False,
    },
    tables=TABLES,
    figures=FIGURES,
    opening=opening,
    findings=findings,
    notes=NOTES,
)
