"""Two links at once: the kernel's selftest simult_flows.sh."""

from anabranch.studies.base import FigureSpec, Study, TableSpec
from anabranch.studies.simult_flows.figures import draw
from anabranch.studies.simult_flows.measures import times
from anabranch.studies.simult_flows.text import NOTES, findings, opening

STUDY = Study(
    name="simult-flows",
    title="Two flows at once: does a transfer take the time of the sum of the rates?",
    source="Linux, tools/testing/selftests/net/mptcp/simult_flows.sh: its rates, delays and directions",
    summary="10 + 10 and 10 + 3 Mbit/s with equal and unequal delays, both directions, two senders",
    sweeps={"cases": True},
    shorter={"cases": "cases-quick"},
    tables={"times": TableSpec(("cases",), times)},
    figures={
        "times": FigureSpec(
            "Time over expected time",
            "Time of the transfer divided by the expected time: mean over seeds, with the 95 % interval.",
            ("cases",),
            draw,
        ),
    },
    opening=opening,
    findings=findings,
    notes=NOTES,
)
