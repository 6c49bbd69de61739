"""Sentences of the report of the study `raiciu-2011-fattree`. The study fills in the values in braces."""

from anabranch.sentences import Phrase, Sentence

OPENING = Sentence(
    "With more subflows, the connections use more of the network. Used share of the full bisection bandwidth: "
    "{networks}."
)
NETWORK = Phrase("{network}: {one!n} % with one subflow, {eight!n} % with eight")
SUBFLOWS = Sentence("{network}: the used share of the network is {shares} with 1, 2, 4 and 8 subflows.")
RISES = Sentence("Each doubling of the number of subflows raises the used share of the network.")
DOES_NOT_RISE = Sentence("Not every doubling of the number of subflows raises the used share of the network.")
EVENNESS = Sentence(
    "Subflows help the worst connections most: the connection at the 10th percentile gets {one!n} % of its link with "
    "one subflow and {eight!n} % with eight."
)
REST = Sentence(
    "Headers leave {payload!n} % of the rate of the links for data. With one subflow, collisions cost most of the "
    "difference to this share: two connections hashed to one link get half of it each, while other links stay idle."
)
SLOWLY = Sentence(
    "With several subflows, the linked increase moves traffic away from crowded links, but slowly. A coupled "
    "connection takes no more than one TCP connection would, so a subflow on an idle link grows by less than one "
    "segment per round trip."
)
LONGER = Sentence(
    "With 16 hosts and seed 1, longer runs use a larger share of the network: runs of 5, 20 and 80 s use 60, 64 and 66 "
    "% with one subflow, and 67, 76 and 83 % with eight."
)

NOTES = (
    Sentence(
        "The paper states an order, and that many subflows come close to full use. Its numbers were measured at other "
        "rates and in a steady state, so they are not repeated here."
    ),
    Sentence(
        "The share is the octets that applications read, divided by what the links of all hosts could carry in the 20 "
        "s of the run. Slow start and the time until the windows have converged therefore count as lost."
    ),
    Sentence(
        "Each subflow draws its own path (ECMP), so some of eight subflows share a path. The permutation and all paths "
        "are drawn again with each seed."
    ),
)
