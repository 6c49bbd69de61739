"""Reordering today: the question of 2014 put to today's detectors, with and without the recoveries of 2014."""

from anabranch.studies.base import FigureSpec, Study, TableSpec
from anabranch.studies.reordering_today.claims import table as claims
from anabranch.studies.reordering_today.figures import draw_displacement, draw_stalls, draw_unlike
from anabranch.studies.reordering_today.tables import alone, displaced, stalls, unlike
from anabranch.studies.reordering_today.text import NOTES, findings, opening

STUDY = Study(
    name="reordering-today",
    title="Reordering today: which recovery does a sender still need?",
    source=(
        "The question of Alheid, Kaleshi, Doufexi (AINA, SIMS 2014; ICT 2016) and of Arabi, Bozed, Zerek (ICIPEE "
        "2014), with algorithms that were standardised since then"
    ),
    summary="displacement of 0 to 2 round trips and delay spikes; 4 detectors x 5 judges, one and two subflows",
    sweeps={"displacement": True, "unlike": True, "spikes": True},
    shorter={name: f"{name}-quick" for name in ("displacement", "unlike", "spikes")},
    tables={
        "claims": TableSpec(("displacement", "unlike"), claims),
        "alone": TableSpec(("displacement",), alone),
        "one": TableSpec(("displacement",), lambda data: displaced(data, "one")),
        "mixed": TableSpec(("displacement",), lambda data: displaced(data, "mixed"), folded=True),
        "both": TableSpec(("displacement",), lambda data: displaced(data, "both"), folded=True),
        "unlike": TableSpec(("unlike",), unlike, folded=True),
        "stalls": TableSpec(("spikes",), lambda data: stalls(data, "one")),
        "stalls-mixed": TableSpec(("spikes",), lambda data: stalls(data, "mixed"), folded=True),
    },
    figures={
        "displacement": FigureSpec(
            "A link that reorders",
            "Goodput of one subflow over the displacement of its packets, with the 95 % interval over seeds; a panel "
            "for each detector, a line for each judge. The line of F-RTO coincides with the line without a judge, "
            "since F-RTO judges only timeouts.",
            ("displacement",),
            draw_displacement,
        ),
        "unlike": FigureSpec(
            "Links of unlike delay",
            "Goodput of two subflows over the difference of their delays, in round trips of the shorter path. No "
            "packet overtakes another packet of its subflow.",
            ("unlike",),
            draw_unlike,
        ),
        "stalls": FigureSpec(
            "A link that stalls",
            "Goodput of one subflow over the extra delay that one frame in every ten seconds has; later frames wait "
            "behind it.",
            ("spikes",),
            draw_stalls,
        ),
    },
    opening=opening,
    findings=findings,
    notes=NOTES,
)
