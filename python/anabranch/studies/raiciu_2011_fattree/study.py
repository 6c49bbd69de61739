"""Raiciu et al., SIGCOMM 2011: how much of a fat-tree is used, by the number of subflows."""

from anabranch.studies.base import FigureSpec, Study, TableSpec
from anabranch.studies.raiciu_2011_fattree.figures import draw_ranks, draw_share
from anabranch.studies.raiciu_2011_fattree.measures import table
from anabranch.studies.raiciu_2011_fattree.text import NOTES, findings, opening

STUDY = Study(
    name="raiciu-2011-fattree",
    title="A fat-tree with one to eight subflows per connection",
    source=(
        "C. Raiciu, S. Barre, C. Pluntke, A. Greenhalgh, D. Wischik, M. Handley: Improving Datacenter Performance and "
        "Robustness with Multipath TCP. SIGCOMM 2011"
    ),
    summary="1, 2, 4 and 8 subflows over the equal-cost paths of a fat-tree, permutation traffic, LIA",
    sweeps={"small": True, "large": False},
    tables={"utilisation": TableSpec(("small", "large"), table)},
    figures={
        "utilisation": FigureSpec(
            "How much of the network is used",
            "Goodput of all hosts together divided by the rate of all their links, with the 95 % interval over seeds; "
            "dotted: the share that headers leave for data.",
            ("small", "large"),
            draw_share,
        ),
        "ranks": FigureSpec(
            "How hosts fare",
            "Goodput of every connection divided by the rate of its host's link, from the worst to the best, all "
            "seeds together.",
            ("small", "large"),
            draw_ranks,
        ),
    },
    opening=opening,
    findings=findings,
    notes=NOTES,
)
