"""What is measured: the share of the hosts' links that their goodput fills, and how evenly."""

from typing import Any

from anabranch.studies.base import Data, Entry, Table
from anabranch.studies.beside import frame_of
from anabranch.studies.words import number
from anabranch.sweeps.paired import Interval

NETWORKS = {"small": ("16 hosts", 16), "large": ("128 hosts", 128)}
SUBFLOWS = ("1", "2", "4", "8")
RATE = 10.0
"""Of a host's link, in Mbit/s."""
PAYLOAD = 100 * 1400 / 1472
"""Per cent of a full packet: 20 octets of IP, 20 of TCP, 12 of timestamps and 20 of the mapping are headers."""


def networks(data: Data) -> list[str]:
    """Those that were run."""
    return [name for name in NETWORKS if name in data.sweeps]


def share(data: Data, network: str, subflows: str) -> Interval:
    """Per cent of what all hosts could send."""
    hosts = NETWORKS[network][1]
    return data.mean(network, "goodput_mbps", 100 / (RATE * hosts), subflows=subflows)


def ranked(data: Data, network: str, subflows: str) -> list[float]:
    """Per cent of its link that each connection of each run fills, in order."""
    flows = data.sweeps[network].subflows
    rates = flows[flows["subflows"] == subflows].groupby(["seed", "connection"])["goodput_mbps"].sum()
    return sorted(100 * float(rate) / RATE for rate in rates)


def resent(data: Data, network: str, subflows: str) -> float:
    """Per cent of the segments that timers sent again."""
    flows = data.sweeps[network].subflows
    own = flows[flows["subflows"] == subflows]
    return float(100 * own["retransmissions_timeout"].sum() / own["segments"].sum())


def table(data: Data) -> Table:
    """One row for each network and number of subflows."""
    rows: list[list[str | Entry]] = []
    records: list[dict[str, Any]] = []
    for network in networks(data):
        for subflows in SUBFLOWS:
            used, jain = share(data, network, subflows), data.mean(network, "jain", subflows=subflows)
            order = ranked(data, network, subflows)
            worst, median = order[len(order) // 10], order[len(order) // 2]
            timers = resent(data, network, subflows)
            rows.append(
                [
                    NETWORKS[network][0],
                    subflows,
                    Entry.of(used, 1),
                    number(jain.mean, 3),
                    number(worst, 0),
                    number(median, 0),
                    number(timers, 2),
                ]
            )
            records.append(
                {
                    "network": network,
                    "subflows": subflows,
                    "used_percent": used.mean,
                    "used_low": used.low,
                    "used_high": used.high,
                    "jain": jain.mean,
                    "tenth_percent": worst,
                    "median_percent": median,
                    "resent_by_timeout_percent": timers,
                }
            )
    return Table(
        "Use of the network",
        "Goodput of all hosts divided by the rate of all their links, slow start included; Jain's index over the "
        "connections; share of its link that the connection at the 10th percentile and the median connection get; "
        "retransmissions by timeout.",
        [("", 2), ("All hosts", 2), ("A connection (% of its link)", 2), ("", 1)],
        ["Network", "Subflows", "used (%)", "Jain", "tenth", "median", "resent by timer (%)"],
        rows,
        2,
        frame_of(records),
    )
