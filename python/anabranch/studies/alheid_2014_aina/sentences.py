"""Sentences of the report of the study `alheid-2014-aina`. The study fills in the values in braces."""

from collections.abc import Mapping

from anabranch.sentences import Phrase, Sentence

OPENING = Sentence(
    "A receiver that acknowledges each subflow independently of the data order (RFC 8684) lets MPTCP fill both links "
    "without any reordering recovery. In {cells} cells (three controllers, constant delays, subflow SF-1 with a delay "
    "of 10 to 500 ms) the goodput is at least {goal!n} times the ceiling. The ceiling is {ceiling!n} Mbit/s: 2 x 0.5 "
    "Mbit/s, with {payload!n} octets of data in a packet of {packet!n} octets. The minimum is {least!n} times the "
    "ceiling ({rate!n} Mbit/s), with {controller} and SF-1 at {delay}."
)
COLLAPSE = Sentence(
    "In the model that the paper measured, a gap in the data order stops the acknowledgements of the subflow. The "
    "transfer then has the goodput of one link: {rates} with SF-1 at {delay}; the paper has 0.50 Mbit/s. The cause is "
    "this rule and not the reordering: with the rule, Anabranch's own engine also has only {coupled!n} Mbit/s."
)
COLLAPSE_RATE = Phrase("{rate!n} Mbit/s ({controller})")

# Findings.

FLUCTUATING = Sentence(
    "With delays that vary by 5 %, as in the paper, the independent receiver reaches {goal!n} times the ceiling in "
    "{cells} cells."
)
FLUCTUATING_BELOW = Sentence("Cells in which the independent receiver has a smaller share of the ceiling: {below}.")
BELOW = Phrase("{share!n} times the ceiling with {controller} at {delay}")
FLUCTUATING_LINKS = Sentence(
    "If the delay of a link is 500 ms and varies by 5 %, the link itself reorders packets of its subflow: 5 % of 500 "
    "ms is more than the 23.6 ms between two packets."
)
FLUCTUATING_LOSSES = Sentence(
    "Drops of a full queue are genuine losses. After a loss, Fully Coupled subtracts half of the total window from the "
    "window of the subflow that lost the segment. This can leave that subflow with a window of one segment for minutes."
)
REPRODUCTION = Sentence(
    "Mean distance from the paper's Tables I and II over their 15 cells: {models}. The legacy model re-implements the "
    "simulator of the paper; links and random draws follow the paper as far as they are known. The coupled and the "
    "independent receiver are not meant to agree with the paper."
)
REPRODUCTION_MODEL = Phrase("{model} {ratio!n} points of out-of-order ratio and {rate!n} Mbit/s")
COUPLED = Sentence(
    "With the coupled receiver, and each algorithm as its own paper or RFC defines it, the largest gains over no "
    "recovery with SF-1 at {delay} are: {gains}. Spurious loss episodes of a transfer that the sender recognised: "
    "{seen}. TCP-DOOR looks for packets that overtake each other on a subflow. The coupled receiver sends duplicate "
    "acknowledgements for packets that arrived in order on the subflow."
)
BEST = Phrase("{controller}: {recovery}, {rate!n} Mbit/s instead of {before!n} Mbit/s")
BEST_NONE = Phrase("{controller}: no clear gain (goodput without recovery {rate!n} Mbit/s)")
SEEN = Phrase("{recovery} {seen!n} of {total!n} {total:episode|episodes}")
INDEPENDENT = Sentence(
    "With the independent receiver and SF-1 at {delay}, a recovery has almost nothing to do: {spurious}. The largest "
    "difference from no recovery is {difference!n} Mbit/s ({recovery} with {controller}). Packets still wait for the "
    "other path (see the out-of-order ratio); waiting costs memory and delay, but no throughput."
)
SPURIOUS = Phrase("on average, {episodes!n} loss episodes of a transfer are spurious")
SPURIOUS_NONE = Phrase("no loss episode is spurious")
DELAYS = Sentence("Goodput with delay differences of 0 to 500 ms, all controllers and recoveries together: {models}.")
DELAYS_MODEL = Phrase(
    "{model} {low!n} to {high!n} Mbit/s, the minimum with {controller} and {recovery} at {difference!n} ms"
)
DOOR = Sentence(
    "The authors of TCP-DOOR give no values for its T1 (how long the congestion response is off) and its T2 (up to "
    "which age a reduction is undone). With 0.5 to 8 round-trip times for each, the minimum of the goodput is {low!n} "
    "Mbit/s, with T1 {low_t1!n} and T2 {low_t2!n} round-trip times. The maximum is {high!n} Mbit/s, with T1 "
    "{high_t1!n} and T2 {high_t2!n} round-trip times."
)

# Values in the table of the paper's statements.

FOLD = Phrase("{factor!n}-fold")
BUFFER = Phrase("{recovery}, {size!n} packets")
NO_DIFFERENCE = Phrase("no difference")

STATED: Mapping[str, tuple[Phrase, Phrase, Phrase]] = {
    "both_links": (
        Phrase("Without recovery, equal and constant delays: goodput of both links (Mbit/s)"),
        Phrase("IV.C.1"),
        Phrase("1"),
    ),
    "one_link": (
        Phrase("Without recovery, unequal or varying delays: goodput of one link (Mbit/s)"),
        Phrase("IV.C.1"),
        Phrase("0.5"),
    ),
    "growth": (Phrase("Recovery raises the out-of-order ratio at most by"), Phrase("IV.C.2"), Phrase("8-fold")),
    "dsack_ratio": (Phrase("Out-of-order ratio with D-SACK, on average"), Phrase("IV.C.2"), Phrase("40.6 %")),
    "dsack_gain": (Phrase("Gain of D-SACK over no recovery, all controllers"), Phrase("IV.C.2"), Phrase("60 to 70 %")),
    "door_gain": (Phrase("Gain of TCP-DOOR over no recovery, Uncoupled and Coupled"), Phrase("IV.C.2"), Phrase("70 %")),
    "frto_gain": (Phrase("Gain of F-RTO over no recovery, at most"), Phrase("IV.C.2"), Phrase("43.1 %")),
    "memory": (
        Phrase("Recovery with the smallest reordering buffer"),
        Phrase("IV.C.2"),
        Phrase("F-RTO, 12 to 29 packets"),
    ),
    "far": (
        Phrase("Gain of any recovery if the delays differ by more than 200 ms, coupled controllers"),
        Phrase("IV.C.2"),
        Phrase("below 20 %"),
    ),
}
"""What the paper states, where, and its number."""

NOTES = (
    Sentence(
        "Column Paper: Tables I and II as printed, and statements of the text. The column is empty where the paper has "
        "only a figure without numbers."
    ),
    Sentence(
        "The paper's controller Coupled is RFC 6356 per acknowledgement, with alpha as in the paper's equation (6): "
        "Anabranch's controller rtt-compensator. The controller Fully Coupled follows the paper's equations (3) and "
        "(4)."
    ),
    Sentence(
        'The paper heads its buffer column "KB" and its text says "2MB". Neither is the unit. The printed number x '
        "10^6 / (8 x 1400) is a whole number of packets in every cell (1.1648 is 104, 2.296 is 205). So the unit is "
        "Mbit of payload, and this report has packets."
    ),
    Sentence(
        "The paper's columns disagree in places. The throughput should be 0.5 Mbit/s x (SF-0 + SF-1 utilisation). For "
        "Fully Coupled this is 0.72 Mbit/s with Eifel, 0.83 with TCP-DOOR and 0.62 with D-SACK; printed are 0.50, 0.61 "
        "and 0.80 Mbit/s."
    ),
    Sentence(
        "The paper does not say how often the delay is drawn, what the queues hold, or how many runs a number has. "
        "Here all columns follow the legacy model in this. Each write of the application draws the delay once for both "
        "directions, packets may overtake each other, and queues hold 100 packets."
    ),
)
