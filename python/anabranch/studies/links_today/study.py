"""Links of today: walking away from Wi-Fi 6, Starlink and a carrier on the road, a delay that steps."""

from anabranch.studies.base import FigureSpec, Study, TableSpec
from anabranch.studies.links_today.figures import draw
from anabranch.studies.links_today.measures import calls, downloads, steps
from anabranch.studies.links_today.text import NOTES, findings, opening

STUDY = Study(
    name="links-today",
    title="Links of today: a walk, a drive, a delay that steps",
    source="models of docs/links.md and docs/wifi.md; published gains: Hu et al., CoNEXT 2023",
    summary="a video call away from Wi-Fi 6, downloads over Starlink and a carrier, schedulers and a delay that steps",
    sweeps={"walk": True, "road": True, "steps": True},
    shorter={"walk": "walk-quick", "road": "road-quick", "steps": "steps-quick"},
    scenarios=("walk-links", "road-links", "steps-links"),
    tables={
        "walk": TableSpec(("walk",), calls),
        "road": TableSpec(("road",), downloads),
        "steps": TableSpec(("steps",), steps),
    },
    figures={
        "walk": FigureSpec(
            "Latency of a video call, 99 %",
            "Mean and 95 % interval over the seeds in which the call lasted to its end; the dotted line is at 150 ms.",
            ("walk",),
            draw,
        ),
    },
    opening=opening,
    findings=findings,
    notes=NOTES,
)
