"""What ``anabranch sweep`` and ``anabranch compare`` say below and above their tables."""

from anabranch.sentences.template import Phrase, Sentence

# Two runs.

SAME_TRACE = Sentence("Both runs have the same trace: every protocol event is the same.")
SAME_TRACE_OTHER_SCENARIO = Sentence(
    "Both runs have the same trace, so the differences between the scenarios had no effect."
)
SCENARIOS_DIFFER = Phrase("the scenarios differ:")
VERSIONS_DIFFER = Sentence("The versions differ: {first} and {second}.")
SAME_SCENARIO = Sentence("The scenario is the same, but the traces differ.")
ALL_CONNECTIONS = Phrase("all connections")

# Captures.

ESTIMATED = Phrase("{name}: {places}; measures of the arrivals are estimated from acknowledgements")
CAPTURED = Phrase("{name}: {places}")
INFERRED = Sentence("(?) marks a number that is inferred: a capture only suggests it.")
RUN_AND_CAPTURE = Sentence(
    "The table compares a run with a capture and has the measures that both have. Subflows are matched by their order."
)

# Two sweeps.

SWEEPS = Phrase("{measure}, {second} against {first}, in pairs of runs with the same seed")
SAME_TRACES = Sentence("In every pair the traces are the same.")
SOME_SAME_TRACES = Sentence("{count!n} of {pairs!n} pairs have the same trace.")
ONLY_IN = Sentence("{count!n} {count:cell is|cells are} only in {name}.")
ENGINES_DIFFER = Sentence("The engines differ: {first} and {second}.")

# One sweep.

AGAINST = Phrase("{measure}, {axis} against {baseline}")
ALL_CELLS = Sentence("All cells: `table.csv` in the directory of --out, or `sweep.means()` in Python.")
ENDED = Phrase("{count!n} {count:run|runs} {status}; the first error: {error}")
UNFINISHED = Sentence("{count!n} of {runs!n} runs did not complete their transfer (column `status`).")
NOTHING_ARRIVED = Sentence("In {count!n} of {runs!n} runs nothing arrived.")
CHANCE = Sentence(
    "{count!n} comparisons: by chance, about {misses!n} of their {confidence} intervals miss the true difference. "
    "{alone!n} {alone:interval excludes|intervals exclude} 0, {corrected!n} of them also with Holm's correction."
)
IDENTICAL_CELL = Phrase("the runs of the cell are identical")
IDENTICAL_CELLS = Phrase("the runs of each cell are identical")
PRECISION_IDENTICAL = Sentence("{seeds!n} {seeds:seed|seeds}: {what}. {why}")
SEEDS_ALIKE = Sentence(
    "Nothing in this scenario is random: every seed gives the same run, so there are no intervals. "
    'With `delay_variation = "1 %"` on each path, seeds give different runs.'
)
NOTHING_RANDOM = Sentence("Nothing in the scenarios is random.")
NO_CHANCE = Sentence("Nothing in the scenarios is random, or chance changed nothing in these runs.")
PRECISION_REACHED = Sentence(
    "{seeds!n} {seeds:seed|seeds}: half of the 95 % interval of {measure} is at most {share} of the mean in every cell."
)
PRECISION_MISSED = Sentence(
    "{seeds!n} {seeds:seed|seeds}: half of the 95 % interval of {measure} is up to {reached} of the mean, not {share}."
)
PRECISION_CAP = Sentence(
    "{seeds!n} {seeds:seed|seeds}, the maximum: half of the 95 % interval of {measure} is up to {reached} of the mean, "
    "not {share}."
)
PRECISION_SOME_IDENTICAL = Sentence("In {count!n} of {cells!n} cells the runs are identical.")

# Errors of `compare`.

OTHER_AXES = Phrase(
    "{first} and {second} have different axes ({ours}; {theirs}); only cells with the same axes can be compared"
)
NO_CELL = Phrase("{first} and {second} have no cell in common; compare sweeps of the same axes")
NO_SEED = Phrase("{first} and {second} have no seed in common; compare sweeps with the same seeds")
MEASURE_OF_SWEEPS = Phrase("a measure is for two sweeps; leave it out to compare all measures of other results")
STUDY = Phrase("{folder}: {study}; compare one of these sweeps")
OTHER_KINDS = Phrase(
    "{first} is {kind}, {second} is {other}\n  compare two runs, two sweeps, two analyses, or a run and an analysis"
)

# Errors of a sweep.

WRONG_PROBABILITY = Phrase("probability must be from 0.5 to below 1, not {value}")
WRONG_SEEDS = Phrase(
    "seeds: {text} is not a number of seeds\n"
    '  write a count, a list, or "until 1 %", "until 2 % of completion_s, at most 400"'
)
TOO_MANY_SEEDS = Phrase("seeds: {text}: at most {cap!n} seeds; a sweep has at most {most!n} seeds")

# A directory with other runs.

OTHER_RUNS = Sentence(
    "{folder} also keeps {count!n} {count:run|runs} of another scenario, other values or other seeds; "
    "{count:it is|they are} not shown."
)
