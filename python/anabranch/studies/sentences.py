"""Sentences of the reports of several studies."""

from anabranch.sentences import Sentence

COLUMNS = Sentence(
    "Legacy model: the ns-3 model of 2011 that the paper measured, implemented again from a description of its "
    "behaviour, with the recoveries as coded in that model. Coupled receiver: Anabranch's engine, with each algorithm "
    "as its own paper or RFC defines it, and with one rule of the papers' model. By this rule a segment is "
    "acknowledged on its subflow only when it is also next in the data stream. Independent receiver: the same engine "
    "without this rule, as in RFC 8684."
)
"""What the columns of the studies of papers are."""
LEGACY_WIRELESS = Sentence(
    "The legacy model over a wireless link: a subflow of the model crosses the same simulated 802.11 link as a subflow "
    "of the engine. The model does not retransmit a handshake segment. If the MAC's seven transmissions of such a "
    "segment fail, the subflow ends."
)
PAIRS = Sentence(
    "Common random numbers: a seed gives the same random draws to all algorithms in the same engine or model, so "
    "differences are taken between two runs with the same seed. The 95 % intervals are Student's t over the seeds."
)
"""How runs are compared."""
