"""Sentences of the report of the study `alheid-2016-ict`. The study fills in the values in braces."""

from collections.abc import Mapping

from anabranch.sentences import Phrase, Sentence

OPENING = Sentence("Goodput over two wireless paths at 10 m, without reordering recovery, all controllers. {cases}.")
OPENING_CASE = Phrase(
    "{case}: {independent!n} Mbit/s with the independent receiver, {coupled!n} Mbit/s with the coupled receiver, "
    "{legacy!n} Mbit/s in the model that the paper measured; plain TCP has {tcp!n} Mbit/s"
)
OPENING_SHORT = Sentence(
    "The runs take 8 s. The data that still wait for the slower path at the end are not counted, so runs of 50 s show "
    "a higher goodput."
)
OPENING_WHY = Sentence(
    "A receiver that acknowledges each subflow independently of the data order (RFC 8684) uses both paths, equal or "
    "not. If a gap in the data order stops the acknowledgements of a subflow, one path is lost, and it may be the "
    "faster one."
)

# Findings.

REPRODUCTION = Sentence(
    "Mean distance from the paper's Table III, and from its Table IV, over {cells!n} cells: {models}. Out-of-order "
    "ratios of scenario 1 in the legacy model: {ratios}."
)
REPRODUCTION_MODEL = Phrase(
    "{model} {ratio!n} points of out-of-order ratio, and half of the reordering buffers within a factor of {factor!n} "
    "of the paper's"
)
REPRODUCTION_RATIO = Phrase("{recovery} with {controller} {ratio!n} % (paper: {printed!n} %)")
GOODPUT = Sentence(
    "The paper states throughput only in its text. In the legacy model at 10 m, scenario 1 with TCP-DOOR and Uncoupled "
    "has {door!n} Mbit/s (paper: up to 25 Mbit/s). This is {gain!n} % above no recovery with {none!n} Mbit/s (paper: "
    "66 %). Scenario 3 has at most {dsack!n} Mbit/s with D-SACK (paper: up to 15 Mbit/s), and {slow!n} Mbit/s without "
    "recovery (paper: not above 2 Mbit/s). If the paths are unequal, the subflow over the slower path continues. Plain "
    "TCP over 54 Mbit/s has {tcp!n} Mbit/s (paper: at most 15 Mbit/s). The engine delays acknowledgements; with an "
    "acknowledgement for each packet plain TCP has 15.8 Mbit/s."
)
ADVICE = Sentence(
    "The paper advises TCP-DOOR for equal paths (scenarios 1 and 2) and D-SACK for unequal ones (3 and 4). Best "
    "recovery by scenario, mean of all controllers and distances, with its gain over no recovery: {models}."
)
ADVICE_MODEL = Phrase("{model} {cases}")
ADVICE_BEST = Phrase("scenario {case!n} {recovery} ({gain!n} %)")
ADVICE_NONE = Phrase("scenario {case!n} no recovery needed")
COUPLED = Sentence(
    "With the coupled receiver, and each algorithm as its own paper or RFC defines it, at 10 m: {recoveries}. A "
    "difference of less than {worth!n} % counts as none. By scenario, the best combination of controller and recovery "
    "has {shares} of the sum of the goodputs of plain TCP over each of the two paths."
)
HELPS = Phrase("{recovery} helps in {better} cells and harms in {worse!n} {worse:cell|cells}")
INDEPENDENT_NONE = Sentence("With the independent receiver no recovery is needed.")
INDEPENDENT = Sentence(
    "At 10 m, without recovery, the independent receiver has {shares} of the sum of the goodputs of plain TCP over "
    "each path (all scenarios and controllers). A recovery changes the goodput by {change}. The cost is memory: up to "
    "{size!n} packets wait for packets of the slower path."
)
DISTANCE = Sentence(
    "Over distance, plain TCP over 54 Mbit/s falls below half of its goodput at {half!n} m{ends} (paper: worse beyond "
    "70 m, less than 1 Mbit/s beyond 80 m). Share of all scenarios, controllers and distances in which two paths "
    "without recovery are slower than plain TCP over the better one: {models}."
)
DISTANCE_ENDS = Phrase("and has less than 1 Mbit/s from {none!n} m on")
DISTANCE_MODEL = Phrase("{model} in {worse} cells")
WORST = Sentence(
    "With the independent receiver the worst of these cells is scenario {case!n} with {controller} at {metres!n} m: "
    "{rate!n} Mbit/s, and plain TCP has {best!n} Mbit/s."
)
SENSITIVITY = Sentence(
    "Effect of what the paper leaves open (Coupled). At 10 m in the legacy model, TCP-DOOR is best in scenario 1 and "
    "D-SACK in scenario 3 under {choices} choices. Goodput of scenario 1 without recovery, over all choices: {models}. "
    "At 50 m the exponent of the path loss decides. In scenario 1 the independent receiver has {low!n} Mbit/s there "
    "with an exponent of 2.0, {chosen!n} Mbit/s with 2.5 and {high!n} Mbit/s with 3.0."
)
SENSITIVITY_MODEL = Phrase("{model} {rate!n} Mbit/s")

# Values in the table of the paper's statements.

AT_MOST = Phrase("at most {rate}")
MEMORY = Phrase("{recovery}, {count!n} of {total!n} cells")

STATED: Mapping[str, tuple[Phrase, Phrase, Phrase]] = {
    "1_door": (Phrase("Scenario 1, TCP-DOOR (Mbit/s)"), Phrase("IV.A"), Phrase("up to 25")),
    "1_door_gain": (Phrase("Scenario 1, gain of TCP-DOOR over no recovery"), Phrase("IV.A"), Phrase("+66 %")),
    "1_dsack_gain": (
        Phrase("Scenario 1, gain of D-SACK over no recovery, not Fully Coupled"),
        Phrase("IV.A"),
        Phrase("+33 %"),
    ),
    "2_gains": (
        Phrase("Scenario 2, gain of TCP-DOOR, D-SACK and F-RTO over no recovery, Uncoupled"),
        Phrase("IV.A"),
        Phrase("up to +42 %"),
    ),
    "2_eifel_gain": (Phrase("Scenario 2, gain of Eifel over no recovery"), Phrase("IV.A"), Phrase("not noticeable")),
    "3_dsack": (Phrase("Scenario 3, D-SACK (Mbit/s)"), Phrase("IV.B"), Phrase("up to 15")),
    "3_none": (Phrase("Scenario 3, no recovery (Mbit/s)"), Phrase("IV.B"), Phrase("not above 2")),
    "3_eifel": (Phrase("Scenario 3, Eifel (Mbit/s)"), Phrase("IV.B"), Phrase("not above 2")),
    "4_dsack": (Phrase("Scenario 4, D-SACK (Mbit/s)"), Phrase("IV.B"), Phrase("4 to 5")),
    "4_frto": (Phrase("Scenario 4, F-RTO (Mbit/s)"), Phrase("IV.B"), Phrase("4 to 5")),
    "4_none": (Phrase("Scenario 4, no recovery (Mbit/s)"), Phrase("IV.B"), Phrase("less than 2")),
    "4_eifel": (Phrase("Scenario 4, Eifel (Mbit/s)"), Phrase("IV.B"), Phrase("4, up to 40 m")),
    "beyond": (Phrase("Scenario 1 beyond 80 m (Mbit/s)"), Phrase("V"), Phrase("less than 1")),
    "memory": (Phrase("Smallest reordering buffer"), Phrase("VI"), Phrase("D-SACK")),
}
"""What the paper states, where, and its number."""

NOTES = (
    Sentence(
        "Column Paper: Tables III and IV as printed, and statements of the text, at 10 m unless they say otherwise. "
        "The paper's figures have no numbers."
    ),
    Sentence(
        "The paper's Coupled and Fully Coupled are taken to be those of the authors' other papers: the controllers "
        "rtt-compensator and fully-coupled."
    ),
    Sentence(
        "The paper does not state the path loss exponent, the shape of the fading, slots, queues, the transmit power "
        "or the number of runs. The file scenario.toml says what was chosen for all but the number of runs, and why. "
        'In the full form, the tables "Effect of what the paper does not state" change these choices, except the '
        "transmit power, one at a time."
    ),
    Sentence(
        "The paper's KB are 1024 octets, in whole packets of 1400 octets, unlike in its authors' earlier paper. "
        'Transfers take 50 s from the first SYN on, as in the paper. Those in the tables "Effect of what the paper '
        'does not state" take 20 s, and those of the quick form 8 s.'
    ),
)
