"""The receive buffer between a fast and a slow path: opportunistic retransmission and penalisation."""

from anabranch.studies.base import FigureSpec, Study, TableSpec
from anabranch.studies.receive_buffer.figures import draw
from anabranch.studies.receive_buffer.measures import goodputs
from anabranch.studies.receive_buffer.text import NOTES, findings, opening

STUDY = Study(
    name="receive-buffer",
    title="The receive buffer: does Multipath TCP stay above TCP?",
    source="Raiciu et al.: How Hard Can It Be? Designing and Implementing a Deployable Multipath TCP, NSDI 2012, 4.2",
    summary="Wi-Fi and 3G, receive buffers of 50 kB to 4 MB; opportunistic retransmission and penalisation",
    sweeps={"buffers": True},
    shorter={"buffers": "buffers-quick"},
    tables={"goodput": TableSpec(("buffers",), goodputs)},
    figures={
        "goodput": FigureSpec(
            "Goodput over the receive buffer",
            "Mean and 95 % interval over seeds; dotted, TCP over Wi-Fi alone.",
            ("buffers",),
            draw,
        ),
    },
    opening=opening,
    findings=findings,
    notes=NOTES,
)
