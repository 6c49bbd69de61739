"""Schedulers side by side: the links of the BLEST and the ECF paper, all schedulers, five kinds of traffic."""

from anabranch.studies.base import Data, FigureSpec, Study, Table, TableSpec
from anabranch.studies.schedulers.figures import draw
from anabranch.studies.schedulers.measures import NETWORKS
from anabranch.studies.schedulers.tables import against, downloads, leading, memory, published
from anabranch.studies.schedulers.text import NOTES, findings, opening

_SWEEPS = ("wlan", "lte", "blest", "ecf")
_CONTROLLERS = ("olia", "coupled", "cubic")


def _against(network: str, controller: str) -> TableSpec:
    def make(data: Data) -> Table:
        return against(data, network, controller)

    # The quick form has one controller.
    return TableSpec((network,), make, full=controller != "olia", folded=controller != "olia")


STUDY = Study(
    name="schedulers",
    title="Schedulers: which one, for what, and how long are the queues?",
    source=(
        "Links and figures of Ferlin, Alay, Mehani, Boreli: BLEST (IFIP Networking 2016) and of Lim, Nahum, Towsley, "
        "Gibbens: ECF (CoNEXT 2017)"
    ),
    summary="18 schedulers x 3 controllers x queues of 0.25 to 4 bandwidth-delay products x 5 kinds of traffic",
    sweeps=dict.fromkeys(_SWEEPS, True),
    shorter={name: f"{name}-quick" for name in _SWEEPS},
    tables={
        "leading": TableSpec(("wlan", "lte"), leading),
        **{f"{network}-{name}": _against(network, name) for name in _CONTROLLERS for network in NETWORKS},
        "memory": TableSpec(("wlan", "lte"), memory, folded=True),
        "blest": TableSpec(("blest",), published),
        "ecf": TableSpec(("ecf",), downloads),
    },
    figures={
        "gain": FigureSpec(
            "Gain over the default scheduler",
            "Gain over min-rtt (higher goodput or bitrate, lower page-load time or latency) over the length of the "
            "queues in bandwidth-delay products, with OLIA; bars: 95 % interval of pairs with the same seed. Gains "
            "below -100 % (more than twice the time) are outside the figure.",
            ("wlan", "lte"),
            draw,
        ),
    },
    opening=opening,
    findings=findings,
    notes=NOTES,
    scenarios=("scenario", "lte-links"),
)
