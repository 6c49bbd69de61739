"""A TCP user's rate, and a multipath user's, by network and controller."""

from typing import Any

from anabranch.studies.base import Data, Entry, Table
from anabranch.studies.beside import frame_of
from anabranch.studies.pareto.measures import CONTROLLERS, expected, kept, multipath, networks
from anabranch.studies.words import number


def users(data: Data) -> Table:
    """One row for each network."""
    rows: list[list[str | Entry]] = []
    records: list[dict[str, Any]] = []
    for network in networks(data):
        row: list[str | Entry] = [network.label, str(network.crowd)]
        for controller in CONTROLLERS:
            found, fluid = kept(data, network, controller), expected(network, controller)
            row += [Entry.of(found, 3), number(fluid, 3)]
            records.append({"c1_over_c2": network.private, "n1_over_n2": network.crowd, "controller": controller})
            records[-1] |= {"tcp": found.mean, "low": found.low, "high": found.high, "fluid": fluid}
            records[-1]["multipath"] = multipath(data, network, controller).mean
        rows.append([*row, *(Entry.of(multipath(data, network, name), 2, remark="") for name in CONTROLLERS)])
    return Table(
        "What a TCP user keeps",
        "Rates divided by C2. A TCP user's rate is its part of the data that the shared access point carries; it "
        "would be 1 if multipath users used only their own access point. Fluid: the equilibrium of the fluid model; "
        "for OLIA a bound, in which only probing traffic is missing.",
        [("", 2), *((f"TCP user beside {label}", 2) for label in CONTROLLERS.values()), ("Multipath user", 3)],
        ["C1/C2", "N1/N2", *["measured", "fluid"] * len(CONTROLLERS), *CONTROLLERS.values()],
        rows,
        2,
        frame_of(records),
    )
