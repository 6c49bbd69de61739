"""Alheid, Kaleshi and Doufexi, SIMS 2014: a wired link and a direct wireless one, 10 to 150 m."""

from anabranch.studies.alheid_2014_sims.figures import FIGURES
from anabranch.studies.alheid_2014_sims.tables import TABLES
from anabranch.studies.alheid_2014_sims.text import NOTES, findings, opening
from anabranch.studies.base import Study

STUDY = Study(
    name="alheid-2014-sims",
    title="A wired and a wireless path, seen again",
    source=(
        "A. Alheid, D. Kaleshi, A. Doufexi: Performance Evaluation of MPTCP in Indoor Heterogeneous Networks. SIMS "
        "2014, pp. 213-218. DOI 10.1109/SIMS.2014.40"
    ),
    summary="three controllers x four recoveries over 6 Mbit/s and 802.11g, 10 to 150 m; Tables I-III, Figs. 2-4",
    sweeps={"tables": True, "distances": True, "single-path": True, "queue": False, "sensitivity": False},
    tables=TABLES,
    figures=FIGURES,
    opening=opening,
    findings=findings,
    notes=NOTES,
    shorter={name: f"{name}-quick" for name in ("tables", "distances", "single-path")},
)
