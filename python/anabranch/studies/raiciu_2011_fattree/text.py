"""Chooses the sentences of the report: each number in them is computed from the runs."""

from itertools import pairwise

from anabranch.studies.base import Data
from anabranch.studies.raiciu_2011_fattree import sentences as say
from anabranch.studies.raiciu_2011_fattree.measures import NETWORKS, PAYLOAD, SUBFLOWS, networks, ranked, share


def opening(data: Data) -> str:
    """What came out."""
    parts = [
        say.NETWORK(
            network=NETWORKS[network][0],
            one=f"{share(data, network, '1').mean:.0f}",
            eight=f"{share(data, network, '8').mean:.0f}",
        )
        for network in networks(data)
    ]
    return say.OPENING(networks="; ".join(parts))


def findings(data: Data) -> list[str]:
    """What else the numbers say."""
    said = []
    for network in networks(data):
        found = [share(data, network, subflows).mean for subflows in SUBFLOWS]
        rises = all(more > less for less, more in pairwise(found))
        shares = ", ".join(f"{value:.0f} %" for value in found)
        told = say.SUBFLOWS(network=NETWORKS[network][0], shares=shares)
        said.append(f"{told} {say.RISES if rises else say.DOES_NOT_RISE} {_evenness(data, network)}")
    said.append(" ".join([say.REST(payload=f"{PAYLOAD:.0f}"), say.SLOWLY, say.LONGER]))
    return said


def _evenness(data: Data, network: str) -> str:
    one, eight = (ranked(data, network, subflows) for subflows in ("1", "8"))
    tenth = len(one) // 10
    return say.EVENNESS(one=f"{one[tenth]:.0f}", eight=f"{eight[tenth]:.0f}")


NOTES = tuple(note() for note in say.NOTES)
