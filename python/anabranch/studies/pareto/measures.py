"""What a TCP user keeps of its share, measured and in the fluid model."""

from typing import TYPE_CHECKING, NamedTuple

from anabranch.scenario import Value
from anabranch.studies.base import Data
from anabranch.studies.models import LABELS
from anabranch.studies.pareto import fluid
from anabranch.sweeps.paired import Interval

if TYPE_CHECKING:
    import pandas as pd

CONTROLLERS = {name: LABELS["controller"][name] for name in ("coupled", "olia", "balia")}
RATE = 5.0 * 1448 / 1500
"""C2 in Mbit/s of payload."""
PROBE = 1448 * 8e-6 / 0.08 / RATE
"""A segment in a round trip without a queue, as a part of C2."""


class Network(NamedTuple):
    """A sweep, the label of C1/C2 there, and both ratios."""

    sweep: str
    label: str
    private: float
    crowd: int


_MULTIPATH, _TCP = {"equal": 2, "thrice": 6}, 2
NETWORKS = (
    Network("equal", "1", 1.0, 1),
    Network("equal", "1.5", 1.5, 1),
    Network("equal", "2", 2.0, 1),
    Network("thrice", "1", 1.0, 3),
    Network("thrice", "2", 2.0, 3),
)


def networks(data: Data) -> list[Network]:
    """Those that were run."""
    points = {name: [point.label for point in sweep.plan.axes["private"]] for name, sweep in data.sweeps.items()}
    return [network for network in NETWORKS if network.label in [str(label) for label in points[network.sweep]]]


def kept(data: Data, network: Network, controller: str) -> Interval:
    """The TCP users' part of what the shared access point carries: their rate over C2, as there is C2 for each."""
    flows = _flows(data, network, controller)
    shared = flows[(flows["connection"] >= _MULTIPATH[network.sweep]) | (flows["path"] == 1)]
    tcp = shared[shared["connection"] >= _MULTIPATH[network.sweep]].groupby("seed")["goodput_mbps"].sum()
    parts = [float(part) for part in tcp / shared.groupby("seed")["goodput_mbps"].sum()]
    return data.over(parts, network.sweep, _cell(data, network, controller))


def multipath(data: Data, network: Network, controller: str) -> Interval:
    """A multipath user's rate over C2."""
    flows = _flows(data, network, controller)
    users = _MULTIPATH[network.sweep]
    total = flows[flows["connection"] < users].groupby("seed")["goodput_mbps"].sum()
    rates = [float(rate) / users / RATE for rate in total]
    return data.over(rates, network.sweep, _cell(data, network, controller))


def expected(network: Network, controller: str) -> float:
    """What the fluid model has of the first of these."""
    if controller == "olia":
        return fluid.olia(network.crowd, PROBE)
    return (fluid.lia if controller == "coupled" else fluid.balia)(network.private, network.crowd)


def _cell(data: Data, network: Network, controller: str) -> dict[str, Value]:
    label = next(p.label for p in data.sweeps[network.sweep].plan.axes["private"] if str(p.label) == network.label)
    return {"controller": controller, "private": label}


def _flows(data: Data, network: Network, controller: str) -> "pd.DataFrame":
    flows = data.sweeps[network.sweep].subflows
    return flows[(flows["controller"] == controller) & (flows["private"].astype(str) == network.label)]
