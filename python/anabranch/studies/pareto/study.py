"""Scenario C: what multipath users take of an access point that they do not need, and what the fluid model has."""

from anabranch.studies.base import FigureSpec, Study, TableSpec
from anabranch.studies.pareto.figures import draw
from anabranch.studies.pareto.tables import users
from anabranch.studies.pareto.text import NOTES, findings, opening

_SWEEPS = ("equal", "thrice")

STUDY = Study(
    name="pareto",
    title="Is Multipath TCP too aggressive to TCP users?",
    source='Khalili, Gast, Popovic, Le Boudec: "MPTCP Is Not Pareto-Optimal", CoNEXT 2012, scenario C',
    summary="multipath users with an access point of their own and a shared one: LIA, OLIA, BALIA and the fluid model",
    sweeps=dict.fromkeys(_SWEEPS, True),
    shorter={name: f"{name}-quick" for name in _SWEEPS},
    tables={"users": TableSpec(_SWEEPS, users)},
    figures={
        "users": FigureSpec(
            "What a TCP user keeps",
            "A TCP user's rate divided by C2, with the 95 % interval over seeds; dashes: the fluid model.",
            _SWEEPS,
            draw,
        ),
    },
    opening=opening,
    findings=findings,
    notes=NOTES,
    scenarios=("scenario", "crowded"),
)
