"""What ``anabranch sweep`` and ``anabranch compare`` say below and above their tables."""

from anabranch.sentences.template import Phrase, Sentence

# Two runs.

SAME_TRACE = Sentence("Both runs have the same trace: every protocol event is the same.")
SAME_TRACE_OTHER_SCENARIO = Sentence(
    "Both runs have the same trace, so the differences between the scenarios had no effect."
)
SCENARIOS_DIFFER = Phrase("the scenarios differ:")
VERSIONS_DIFFER = Sentence("The runs were made by different versions of Anabranch: {first} and {second}.")
SAME_SCENARIO = Sentence("The scenario is the same, but the traces differ.")
ALL_CONNECTIONS = Phrase("all connections")

# Captures.

ESTIMATED = Phrase(
    "{name}: {places}; completion, first and last octet read, goodput, out-of-order ratio, reordering buffer and "
    "head-of-line delay are estimated from acknowledgements"
)
ESTIMATED_SOME = Phrase(
    "{name}: {places}; for {count!n} of {total!n} connections, completion, first and last octet read, goodput, "
    "out-of-order ratio, reordering buffer and head-of-line delay are estimated from acknowledgements"
)
CAPTURED = Phrase("{name}: {places}")
INFERRED = Sentence("(?) marks a number that is inferred: a capture only suggests it.")
RUN_AND_CAPTURE = Sentence(
    "The table compares a run with a capture and has only measures that both have. Connections and subflows are "
    "matched by their order."
)

# Two sweeps.

SWEEPS = Phrase("{measure}; differences are {second} minus {first}, in pairs of runs with the same seed")
PAIRS_IDENTICAL = Phrase("{pairs!n} {pairs:pair|pairs} ({identical!n} identical)")
SAME_TRACES = Sentence("In every pair, both runs have the same trace.")
SOME_SAME_TRACES = Sentence("In {count!n} of {pairs!n} pairs, both runs have the same trace.")
ONLY_IN = Sentence("{count!n} {count:cell is|cells are} only in {name}.")
ENGINES_DIFFER = Sentence("The sweeps were made by different versions of Anabranch: {first} and {second}.")

# One sweep.

AGAINST = Phrase("{measure}; differences from {axis} = {baseline}, in pairs of runs with the same seed")
ALL_CELLS = Sentence("All cells: `table.csv` in the directory of --out, or `sweep.means()` in Python.")
ENDED = Phrase("{count!n} {count:run|runs} {status}; the first error: {error}")
UNFINISHED = Sentence("{count!n} of {runs!n} runs did not complete their transfer (column `status`).")
NOTHING_ARRIVED = Sentence("In {count!n} of {runs!n} runs nothing arrived.")
CHANCE = Sentence(
    "{count!n} comparisons: on average, {misses!n} of their {confidence} intervals miss the true difference by chance. "
    "{alone!n} {alone:difference has|differences have} p below {level!s}, {corrected!n} of them also with Holm's "
    "correction."
)
IDENTICAL_CELL = Phrase("the runs of the cell are identical")
IDENTICAL_CELLS = Phrase("the runs of each cell are identical")
PRECISION_IDENTICAL = Sentence("{seeds!n} {seeds:seed|seeds}: {what}. {why}")
SEEDS_ALIKE = Sentence(
    "Nothing in this scenario is random: every seed gives the same run, so there are no confidence intervals. "
    'With `delay_variation = "1 %"` on each path, seeds give different runs.'
)
NOTHING_RANDOM = Sentence("Nothing in the scenarios is random.")
NO_CHANCE = Sentence("Nothing in the scenarios is random, or chance changed nothing in these runs.")
PRECISION_REACHED = Sentence(
    "{seeds!n} {seeds:seed|seeds}: half the width of the 95 % interval of {measure} is at most {share} of the mean in "
    "every cell with an interval."
)
PRECISION_MISSED = Sentence(
    "{seeds!n} {seeds:seed|seeds}: half the width of the 95 % interval of {measure} is up to {reached} of the mean, "
    "more than the {share} that was asked for."
)
PRECISION_CAP = Sentence(
    "{seeds!n} {seeds:seed|seeds}, the maximum: half the width of the 95 % interval of {measure} is up to {reached} of "
    "the mean, more than the {share} that was asked for."
)
PRECISION_NONE = Sentence(
    "{seeds!n} {seeds:seed|seeds}: no cell has two runs with a value of {measure}, so there is no interval."
)
PRECISION_SOME_IDENTICAL = Sentence("In {count!n} of {cells!n} cells the runs are identical.")
PRECISION_SOME_FEW = Sentence(
    "In {count!n} of {cells!n} cells fewer than two runs have a value of {measure}, so there is no interval."
)
NO_AXES = Phrase("none")
"""Axes of a sweep without axes."""

# Errors of `compare`.

OTHER_AXES = Phrase(
    "{first} and {second} have different axes ({ours}; {theirs}); only cells with the same axes can be compared"
)
NO_CELL = Phrase("{first} and {second} have no cell in common; compare sweeps whose axes have common values")
NO_SEED = Phrase("{first} and {second} have no seed in common; compare sweeps with the same seeds")
MEASURE_OF_SWEEPS = Phrase("a measure is for two sweeps; leave it out to compare all measures of other results")
STUDY = Phrase("{folder}: {study}; compare one of these sweeps")
OTHER_KINDS = Phrase(
    "{first} is {kind}, {second} is {other}\n  compare two runs, two sweeps, two analyses, or a run and an analysis"
)

# Errors of a sweep.

WRONG_CONFIDENCE = Phrase("confidence must be from 0 to below 1, such as 0.95, not {value}")
WRONG_PROBABILITY = Phrase("probability must be from 0.5 to below 1, not {value}")
WRONG_SEEDS = Phrase(
    "seeds: {text} is not a number of seeds\n"
    '  write a count, a list, or "until 1 %", "until 2 % of completion_s, at most 400": '
    "a share above 0 and below 100 %, and at least 2 seeds"
)
TOO_MANY_SEEDS = Phrase("seeds: {text} allows {cap!n} seeds, but a sweep has at most {most!n} seeds")

# A directory with other runs.

OTHER_RUNS = Sentence(
    "{folder} also keeps {count!n} {count:run|runs} of another scenario, other values or other seeds; "
    "{count:it is|they are} not shown."
)
