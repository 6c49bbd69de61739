"""Sentences of the report."""

from itertools import pairwise

from anabranch.experiments.base import Data
from anabranch.experiments.raiciu2011.measures import NETWORKS, PAYLOAD, SUBFLOWS, networks, ranked, share


def opening(data: Data) -> str:
    """What came out."""
    parts = [
        f"{NETWORKS[network][0]}: {share(data, network, '1').mean:.0f} % of the network with one subflow, "
        f"{share(data, network, '8').mean:.0f} % with eight"
        for network in networks(data)
    ]
    return f"The more subflows, the nearer to full bisection. {'; '.join(parts)}."


def findings(data: Data) -> list[str]:
    """What else the numbers say."""
    said = []
    for network in networks(data):
        name = NETWORKS[network][0]
        found = [share(data, network, subflows).mean for subflows in SUBFLOWS]
        rises = all(more > less for less, more in pairwise(found))
        steps = ", ".join(f"{value:.0f} %" for value in found)
        judged = "each doubling adds" if rises else "not each doubling adds"
        said.append(f"{name}, with 1, 2, 4 and 8 subflows: {steps}; {judged}. {_evenness(data, network)}")
    said.append(
        "Where the rest goes. Headers leave "
        f"{PAYLOAD:.0f} %. With one subflow the loss is that of collisions: two hashes on one link give half of it to "
        "each, and other links stay idle. With several, the linked increase moves a connection's traffic away from "
        "crowded links, but slowly: a coupled connection takes no more than one TCP would, so a subflow on an idle "
        "link grows by less than a segment in a round trip. 16 hosts, seed 1, over 5, 20 and 80 s: 60, 64 and 66 % "
        "with one subflow, 67, 76 and 83 % with eight."
    )
    return said


def _evenness(data: Data, network: str) -> str:
    one, eight = (ranked(data, network, subflows) for subflows in ("1", "8"))
    tenth = len(one) // 10
    return (
        f"It helps the unlucky: the connection at the tenth part from below gets {one[tenth]:.0f} % of its link with "
        f"one subflow and {eight[tenth]:.0f} % with eight."
    )


NOTES = (
    "The paper's statement is the order, and that many subflows come near to the whole; its numbers are of other rates "
    "and of a steady state, and are not repeated here.",
    "Used: octets that applications read, over the rate of all hosts' links and the whole 20 s, so slow start and the "
    "time until the windows are found count as lost.",
    "A path is drawn for each subflow on its own (ECMP), so that of eight subflows some share a path; a permutation "
    "and all paths are drawn anew with each seed.",
)
