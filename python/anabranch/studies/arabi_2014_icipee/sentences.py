"""Sentences of the report of the study `arabi-2014-icipee`. The study fills in the values in braces."""

from collections.abc import Mapping

from anabranch.sentences import Phrase, Sentence

OPENING = Sentence(
    "A file of 10 MB over three links of 5, 2 and 7 Mbit/s has a goodput of {independent!n} Mbit/s, without any "
    "reordering recovery. The receiver acknowledges each subflow independently of the data order (RFC 8684). Plain TCP "
    "over the best of the links has {best!n} Mbit/s. The model that the paper measured has {legacy!n} Mbit/s: three "
    "links are {worse} than one. The cause is the model's rule that a gap in the data order stops the acknowledgements "
    "of a subflow. With this rule, Anabranch's own engine has {coupled!n} Mbit/s. All these goodputs are with the "
    "controller Uncoupled."
)
WORSE = Phrase("worse")
BETTER = Phrase("better")

# Findings.

REPRODUCTION = Sentence(
    "The paper's Fig. 9 in the legacy model: the best recovery with three subflows and Uncoupled is {best} (the paper "
    "states D-SACK). The throughput that this model prints is window / round-trip time. This throughput reaches "
    "{peak!n} Mbit/s with D-SACK (the paper states about {stated!n} Mbit/s), while the file arrives with {goodput!n} "
    'Mbit/s. F-RTO is {frto} no recovery and Eifel is {eifel} no recovery; the paper says "40 less" of both, '
    "presumably per cent. F-RTO's loss does not come from the algorithm. If F-RTO is chosen, that model discards "
    "acknowledgements on purpose, and its detection changes nothing."
)
BELOW = Phrase("{share!n} % below")
ABOVE = Phrase("{share!n} % above")
COUPLED = Sentence(
    "With the coupled receiver, and each algorithm as its own paper or RFC defines it: {recoveries}. A difference of "
    "less than {worth!n} % counts as none. Eifel's verdicts are right, and where it loses, it loses because it "
    "restores the whole window. The restored windows are soon more than paths and queues hold. With Eifel {drops!n} "
    "packets are dropped (three subflows, Uncoupled), and {before!n} packets without it. Without SACK, fast recovery "
    "repairs at most one loss per round trip. Without recovery, MPTCP with this receiver is slower than plain TCP over "
    "the best link, in {below} combinations of controller and links."
)
HELPS = Phrase("{recovery} helps in {better} cells and harms in {worse!n} {worse:cell|cells} ({gains})")
INDEPENDENT = Sentence("With the independent receiver recoveries change the goodput by at most {most!n} %{nothing}.")
NOTHING = Phrase(": there is nothing to recover")
INDEPENDENT_SHARES = Sentence(
    "With the independent receiver, the goodput of the file of 10 MB is {shares} of the rate of all links. This "
    "includes slow start, headers and the last packets on the slowest link. With {controller} over {links} the goodput "
    "is {least!n} % of this rate."
)
INDEPENDENT_FULLY = Sentence(
    "Fully Coupled takes half of the total window from the subflow that lost a packet, which leaves the subflow almost "
    "no window."
)
SENSITIVITY = Sentence(
    "The paper gives neither the size of the file nor the queues nor how delays vary, and these have a large effect. "
    "D-SACK, three subflows, Uncoupled, one choice changed at a time: {models}."
)
SENSITIVITY_MODEL = Phrase("{model} {low!n} Mbit/s ({lowest}) to {high!n} Mbit/s ({highest})")
SENSITIVITY_STATED = Sentence(
    "In the legacy model D-SACK is more than a tenth above no recovery under {dsack!n} of {total!n} choices. F-RTO is "
    "30 to 50 % below no recovery under {frto!n} {frto:choice|choices}, and Eifel under {eifel!n} "
    "{eifel:choice|choices}. All three results hold at once under: {together}."
)
SENSITIVITY_STALLS = Sentence("With queues of 20 packets the legacy model stalls with {recoveries}.")
NO_CHOICE = Phrase("no choice")
NO_RECOVERY = Phrase("none of the recoveries")
SHARED = Sentence(
    "Future work: a shared bottleneck of 14 Mbit/s, beside one other connection. A multipath connection should get "
    "what the best of its paths alone would get, and no more (RFC 6356, goals 1 and 2). Goodput without recovery: "
    "{models}. The shortest path of the multipath connection has a fifth of the other connection's round-trip time. "
    "This alone gives the multipath connection most of the link."
)
DISJOINT = Sentence(
    "Future work: disjoint bottlenecks of 5, 2 and 7 Mbit/s, each with a connection of its own. Goodput without "
    "recovery: {models}. With the independent receiver Uncoupled leaves the three other connections {uncoupled!n} "
    "Mbit/s in total, and RTT Compensation leaves them {linked!n} Mbit/s."
)
RIVAL_MODEL = Phrase("{model} {rates}, a connection over the best path alone {alone!n} Mbit/s")
RIVAL_RATE = Phrase("{rate!n} Mbit/s ({controller})")

# Values in the table of the paper's statements.

BOTH = Phrase("{linked} and {plain}")
FOLD = Phrase("{factor!n} times")
BEST = Phrase("{recovery}, {controller}, {rate}")
BEST_SAME = Phrase("no difference between recoveries with {controller}, {rate}")
WITH_UNIT = Phrase("{best} Mbit/s")
PEAK = Phrase("{peak} (goodput {goodput})")
RANK = Phrase("{rate}, {count!n} of {total!n} cells better")
USED = Phrase("at most {share!n} % of the rate of the links")
EIFEL = Phrase("{links}: {controllers}")
NONE = Phrase("none")

STATED: Mapping[str, tuple[Phrase, Phrase, Phrase]] = {
    "linked_none": (
        Phrase("Linked Increases without recovery: the same throughput as Uncoupled (Mbit/s of both, two subflows)"),
        Phrase("Fig. 8"),
        Phrase("the same"),
    ),
    "linked_dsack": (
        Phrase("Linked Increases with D-SACK: throughput stays the same (Mbit/s with it and with Uncoupled)"),
        Phrase("Fig. 8"),
        Phrase("the same"),
    ),
    "linked_eifel": (
        Phrase("Linked Increases: throughput of Eifel decreases (against no recovery)"),
        Phrase("Fig. 8"),
        Phrase("decreases"),
    ),
    "linked_frto": (
        Phrase("Linked Increases: throughput of F-RTO decreases (against no recovery)"),
        Phrase("Fig. 8"),
        Phrase("decreases"),
    ),
    "third_link": (
        Phrase("Three subflows, Uncoupled: throughput increased (against two subflows)"),
        Phrase("Fig. 9"),
        Phrase("increased"),
    ),
    "best_uncoupled": (
        Phrase("Three subflows, Uncoupled: D-SACK is best (best, Mbit/s)"),
        Phrase("Fig. 9"),
        Phrase("D-SACK"),
    ),
    "peak": (
        Phrase("Three subflows, Uncoupled, D-SACK: largest window / round-trip time (Mbit/s)"),
        Phrase("Fig. 9"),
        Phrase("about 10"),
    ),
    "frto": (Phrase("Three subflows, Uncoupled: F-RTO against no recovery"), Phrase("Fig. 9"), Phrase('"40 less"')),
    "eifel": (Phrase("Three subflows, Uncoupled: Eifel against no recovery"), Phrase("Fig. 9"), Phrase('"40 less"')),
    "rank": (
        Phrase("D-SACK with RTT Compensation, two subflows: good, not the best (Mbit/s)"),
        Phrase("Conclusion"),
        Phrase("not the best"),
    ),
    "eifel_helps": (
        Phrase("Eifel helps only over two subflows, not with Fully Coupled"),
        Phrase("Conclusion"),
        Phrase("two: all but Fully Coupled; three: none"),
    ),
    "best": (
        Phrase("Best combination of recovery and controller over three subflows (Mbit/s)"),
        Phrase("Conclusion"),
        Phrase("D-SACK, Uncoupled"),
    ),
    "used": (
        Phrase("No one of the three recoveries is optimal"),
        Phrase("Conclusion"),
        Phrase("none optimal"),
    ),
}
"""What the paper states, where, and its number."""

NOTES = (
    Sentence(
        'Column Paper: the paper has no table. The table "What the paper states in words" has what its text says of '
        "Figs. 8 and 9 and in its conclusion."
    ),
    Sentence(
        "The paper's RTT Compensation is what other papers on the same model call Coupled: min(alpha/w, 1/w_r) per "
        "acknowledgement, the controller rtt-compensator. Its Linked Increases is alpha/w. The throughput of its "
        "figures is what the model prints, an estimate from window and round-trip time. The tables here have what the "
        "application received; Figs. 8 and 9 have both."
    ),
    Sentence(
        "The paper does not state the size of the file, the queues, the variation of the delays, the segment size or "
        "the number of runs. The scenario file says what was chosen for all but the number of runs, and why. In the "
        'full form, the table "Effect of what the paper does not state" changes these choices, except the segment '
        "size, one at a time. In the model as shipped, links ignore their configured delay. Their delay varies about "
        "24.75 ms with a standard deviation of 3.3 ms; here a uniform variation of 23 % stands for this."
    ),
    Sentence(
        "Future work: the paper names three scenarios and gives no parameter of the last two. Its model has only "
        "multipath connections, so connections with one subflow take the place of TCP."
    ),
)
