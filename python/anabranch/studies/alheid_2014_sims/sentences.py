"""Sentences of the report of the study `alheid-2014-sims`. The study fills in the values in braces."""

from collections.abc import Mapping

from anabranch.sentences import Phrase, Sentence

OPENING = Sentence(
    "At 10 m plain TCP has {wifi!n} Mbit/s over the wireless link and {wired!n} Mbit/s over the wired link. A receiver "
    "that acknowledges each subflow independently of the data order (RFC 8684) has {independent!n} Mbit/s over both "
    "links with every controller, without any reordering recovery. The model that the paper measured has {legacy!n} "
    "Mbit/s, and the paper has {paper!n} Mbit/s. In the legacy model a gap in the data order stops the "
    "acknowledgements of a subflow, and its window closes. With this rule, Anabranch's own engine has {coupled!n} "
    "Mbit/s."
)
ONE_LINK = Sentence(
    "The goodput of the legacy model and the goodput in the paper are about those of plain TCP over one link alone."
)

# Findings.

REPRODUCTION = Sentence(
    "Goodput of the legacy model beside the paper's Table III, over the three controllers: {recoveries}. With "
    "Uncoupled, the legacy model's D-SACK uses {wifi!n} % of the wireless link (paper: 66 %), and its TCP-DOOR has an "
    "out-of-order ratio of {ratio!n} % (paper: 43 %)."
)
REPRODUCTION_ONE = Phrase(
    "{recovery} {found!n} Mbit/s (paper: {printed!n} Mbit/s; {near} goodputs within a tenth of the paper's)"
)
STALLED = Sentence("The legacy model stalls in {cells}.")
STALLED_CELL = Phrase("{count!n} of {seeds!n} {seeds:run|runs} of {recovery} with {controller}")
LOCKED = Sentence(
    "Without recovery one subflow of the legacy model soon carries no more data, and chance decides which. In the "
    "paper the wireless subflow continues (the wireless link carries 68 % and the wired link 2 % of 6 Mbit/s; at most "
    "4 packets wait in the reordering buffer). In the legacy model here, the wireless subflow continues in {count!n} "
    "of {runs!n} {runs:run|runs}."
)
LOCKED_STILL = Sentence(
    "Without fading the wireless subflow of the legacy model continues to carry data in {count!n} of {runs!n} "
    "{runs:run|runs} (Uncoupled)."
)
LOCKED_LIKE = Sentence(
    "One run in which the wireless subflow continues carries {wifi!n} % of 6 Mbit/s over the wireless and {wired!n} % "
    "over the wired link. At most {size!n} packets wait in the reordering buffer."
)
QUEUE = Sentence(
    "In transfers of 500 MB with the legacy model, the MAC's queue of 400 packets can stop the subflow that continues. "
    "The window of this subflow grows until the queue overflows. Then several packets of one window are lost, and the "
    "sender of this model repairs one of them per timeout. Round-trip samples include the wait for the previous "
    "timeout, so each timeout is longer than the last, until the transfer stalls. With a queue of 2000 packets "
    "{stalled} runs stall; with 400 packets {before!n} runs stall. Without recovery the wireless subflow continues in "
    "{alive} runs with 2000 packets{shares}. With 2000 packets TCP-DOOR has {door!n} Mbit/s."
)
QUEUE_SHARES = Phrase("({wifi!n} % of 6 Mbit/s over the wireless and {wired!n} % over the wired link)")
COUPLED = Sentence(
    "With the coupled receiver, and each algorithm as its own paper or RFC defines it, the gains over no recovery are: "
    "{gains}. No combination of controller and recovery has more than {most!n} Mbit/s: none of the recoveries makes up "
    "for the receiver."
)
GAIN = Phrase("{recovery} {gains}")
INDEPENDENT = Sentence(
    "With the independent receiver a recovery changes the goodput by {change}. The reordering remains: {ratio!n} % "
    "of the packets wait for others, and up to {size!n} packets at once. Waiting costs memory, but no throughput."
)
DISTANCE = Sentence(
    "Over distance, the goodput of plain TCP over Wi-Fi {falls}. Mean goodput over {first!n} to {last!n} m without "
    "recovery: {models} (paper: {paper!n} Mbit/s). With Uncoupled and no recovery, two paths are slower than plain TCP "
    "over the better path at {worse}."
)
FALLS = Phrase("falls below half of its value at the shortest distance at {half!n} m")
FALLS_NOT = Phrase("is {rate!n} Mbit/s at {last!n} m")
DISTANCE_MODEL = Phrase("{model} {rate!n} Mbit/s")
WORSE = Phrase("{count!n} of {total!n} distances ({model})")
SENSITIVITY = Sentence(
    "Effect of what the paper leaves open, at 10 m with Uncoupled: {spreads}. With BPSK 1/2 in 10 MHz, D-SACK uses "
    "{bpsk!n} % of 6 Mbit/s over Wi-Fi, where the paper has 66 %. So the paper cannot mean BPSK 1/2 in 10 MHz. At 100 "
    "m the exponent of the path loss decides. Without recovery the legacy model has {low!n} Mbit/s with an exponent of "
    "2.0, {chosen!n} Mbit/s with 2.5 and {high!n} Mbit/s with 3.0."
)
SPREADS = Phrase("{model}, no recovery {none}, D-SACK {dsack}")
SPREAD = Phrase("{low!n} Mbit/s ({lowest}) to {high!n} Mbit/s ({highest})")

# Values in the table of the paper's statements.

FOLD = Phrase("{factor!n}-fold")
BUFFER = Phrase("{recovery}, {size!n} packets")
NO_DIFFERENCE = Phrase("no difference")

STATED: Mapping[str, tuple[Phrase, Phrase, Phrase]] = {
    "one_link": (
        Phrase("Without recovery: about the goodput of one link (Mbit/s)"),
        Phrase("IV.C.1"),
        Phrase("about 4"),
    ),
    "growth": (Phrase("Recovery raises the out-of-order ratio up to"), Phrase("IV.C.2"), Phrase("30-fold")),
    "door_ratio": (Phrase("Largest out-of-order ratio with TCP-DOOR"), Phrase("IV.C.2"), Phrase("48 %")),
    "dsack_gain": (
        Phrase("Gain of D-SACK over no recovery, Fully Coupled"),
        Phrase("IV.C.2"),
        Phrase("80 to 100 %; Table III: +110 %"),
    ),
    "frto_gain": (Phrase("Gain of F-RTO over no recovery, Uncoupled"), Phrase("IV.C.2"), Phrase("70 to 100 %")),
    "eifel_gain": (
        Phrase("Gain of Eifel over no recovery"),
        Phrase("IV.C.2"),
        Phrase("about 30 %; Table III: +33 to +66 %"),
    ),
    "door_gain": (
        Phrase("Gain of TCP-DOOR over no recovery"),
        Phrase("IV.C.2"),
        Phrase("more than 100 %; Table III: +88 to +112 %"),
    ),
    "best": (Phrase("Best recovery at 10 m"), Phrase("IV.C.2"), Phrase("TCP-DOOR; Fully Coupled: D-SACK")),
    "memory": (
        Phrase("Recovery with the smallest reordering buffer"),
        Phrase("IV.C.2"),
        Phrase("F-RTO, 36 packets at 10 m"),
    ),
}
"""What the paper states, where, and its number."""

NOTES = (
    Sentence(
        "Column Paper: Tables I to III as printed, and statements of the text. The paper's figures print no numbers; "
        "their points in Figs. 2 to 4 are those of its Table III, at 10 m."
    ),
    Sentence(
        "The paper's controller Coupled is RFC 6356 per acknowledgement, with alpha as in the paper's equation (6): "
        "Anabranch's controller rtt-compensator. The controller Fully Coupled follows the paper's equations (3) and "
        "(4)."
    ),
    Sentence(
        "The paper says BPSK 1/2 and 6 Mbit/s, but also 10 MHz, where BPSK 1/2 has 3 Mbit/s, and 2.6 GHz, where "
        "802.11g has no channel. It does not state the path loss exponent, the shape of the fading, the mode, queues "
        "or the number of runs. The file scenario.toml says what was chosen for all but the number of runs, and why. "
        'In the full form, the table "Effect of what the paper does not state" changes these choices one at a time.'
    ),
    Sentence(
        "The paper's KB are 1000 octets, in whole packets of 1400 octets. Its utilisation is what arrived, as a share "
        "of 6 Mbit/s. It sends 500 MB, as Tables II and III do here. Table I, the figures and the baselines have 50 "
        "MB, and the quick form has 50 or 10 MB. Slow start weighs more in short transfers."
    ),
)
