"""Alheid, Doufexi and Kaleshi, ICT 2016: two access points, four pairs of radios, 10 to 100 m."""

from anabranch.studies.alheid_2016_ict.figures import FIGURES
from anabranch.studies.alheid_2016_ict.tables import TABLES
from anabranch.studies.alheid_2016_ict.text import NOTES, findings, opening
from anabranch.studies.base import Study

STUDY = Study(
    name="alheid-2016-ict",
    title="Two wireless paths, seen again",
    source=(
        "A. Alheid, A. Doufexi, D. Kaleshi: Packet Reordering Response for MPTCP under Wireless Heterogeneous "
        "Environment. ICT 2016"
    ),
    summary="three controllers x four recoveries over four pairs of Wi-Fi links; Tables III, IV, Figs. 3-6",
    sweeps={"distances": True, "single-path": True, "sensitivity": False},
    tables=TABLES,
    figures=FIGURES,
    opening=opening,
    findings=findings,
    notes=NOTES,
    shorter={name: f"{name}-quick" for name in ("distances", "single-path")},
)
