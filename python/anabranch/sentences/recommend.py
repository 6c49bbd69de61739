"""All that ``anabranch recommend`` says: templates, in the order in which they are printed.

Labels are those of docs/columns.md. Values come with their units, except numbers of things.
"""

from collections.abc import Mapping

from anabranch.sentences.template import Phrase, Sentence

# First line, paths, answer.

GOALS: Mapping[str, Phrase] = {
    "throughput": Phrase("the highest goodput"),
    "latency": Phrase("the lowest head-of-line delay"),
    "memory": Phrase("the smallest reordering buffer"),
}
HEADLINE = Phrase("goal: {goal}; transfer: {transfer}, {direction}, over {paths!n} {paths:path|paths}")
DIRECTIONS: Mapping[str, Phrase] = {
    "down": Phrase("down (server to client)"),
    "up": Phrase("up (client to server)"),
    "both": Phrase("both (server and client send at once)"),
}
PATH = Phrase("{kind}, {delay}, queue {queue} ({time} when full)")
PATH_DELAY = Phrase("{delay} one way")
PATH_DELAYS = Phrase("{up} up and {down} down")
PATH_RADIO = Phrase("{standard}, {distance!n} m, {rate}")
ABOUT = Phrase("about {rate}")
"""A rate, or a delay, that depends on the radio."""
PACKETS = Phrase("{count!n} {count:packet|packets}")
"""A queue as a scenario has it."""
RECOMMENDED = Phrase("recommended: {candidate}")

# A candidate, in full and as a label.

CANDIDATE_ALONE = Phrase("plain TCP over {path} alone")
CANDIDATE_BACKUP = Phrase("{path} as backup")
CANDIDATE_CONTROLLER = Phrase("controller {name}")
CANDIDATE_JUDGE = Phrase("judge {name}")
CANDIDATE_SCHEDULER = Phrase("scheduler {name}")
CANDIDATE_BUFFER = Phrase("receive buffer {size}")
CANDIDATE_DETECTOR = Phrase("detector {name}")
LABEL_ALONE = Phrase("TCP over {path} alone")
LABEL_BUFFER = Phrase("buffer {size}")

# Sentences after the answer.

RESULT = Sentence("Result: {values} ({runs}).")
RESULT_AMONG = Sentence("Result: {values} ({runs}). Only candidates with {share} of the best goodput or more qualify.")
VALUE = Phrase("{measure} {value!n} {unit}")
AGAINST_BEST_PATH = Sentence(
    "Compared with plain TCP over the path with the highest goodput ({candidate}): {differences}."
)
AGAINST = Sentence("Compared with {candidate}: {differences}.")
DIFFERENCE = Phrase("{measure} {value!n} {unit} ({details}), {verdict}")
DIFFERENCE_SHARE = Phrase("{share!n} %")
DIFFERENCE_INTERVAL = Phrase("95 % interval {low!n} to {high!n} {unit}")
DIFFERENCE_EXACT = Phrase("exact")
DIFFERENCE_PAIRS = Phrase("{pairs!n} {pairs:pair|pairs}")
DIFFERENCE_IDENTICAL = Phrase("{identical!n} identical pairs, counted as {pairs!n} {pairs:pair|pairs}")
SHORT = Phrase("{value!n} {unit}")
SHORT_INTERVAL = Phrase("{value!n} {unit}, 95 % interval {low!n} to {high!n} {unit}")
SURELY_BETTER = Phrase("surely better")
SURELY_WORSE = Phrase("surely worse")
BETTER = Phrase("better")
WORSE = Phrase("worse")
TOO_SMALL = Phrase("too small to count")
NOT_SURE = Phrase("not sure")
NOT_SURE_CORRECTED = Phrase("not sure after Holm's correction for all pairs of {candidates!n} candidates")
NOT_DISTINCT = Sentence("Not distinguishable from the recommendation by {measure}, but less simple: {candidates}.")
NOT_DISTINCT_SIMPLER = Sentence(
    "Simpler and not distinguishable from the recommendation by {measure}, but {verdict} than the best candidate "
    "({best}): {candidates}."
)
NOT_DISTINCT_ONE = Phrase("{candidate} ({difference}; {verdict})")
UNABLE = Sentence("Excluded for less than {share} of the best goodput: {candidates}.")
NO_DEFAULT = Sentence(
    "The configuration that the search started from ({candidate}) is not part of this comparison; more runs "
    "(`--runs`, `--budget`) would add it."
)
NO_DEFAULT_EARLIER = Sentence(
    "The configuration that the search started from ({candidate}) is not part of this comparison, but was part of an "
    "earlier one."
)
NO_DEFAULT_FAILED = Sentence(
    "The configuration that the search started from ({candidate}) is not part of this comparison: {error}."
)
NOTHING_RANDOM = Sentence(
    "Nothing in the scenario is random: {seeds!n} seeds gave the same run, so the differences are exact."
)
NO_CHANCE = Sentence(
    "Chance changed nothing in these runs: {seeds!n} seeds gave the same run, so the differences have no interval."
)
TOO_SHORT = Sentence(
    "The transfer is short: at the full rate of all paths it takes {time}, and slow start on {path} takes about "
    "{slow_start}. Use a transfer of {enough} or longer (`--transfer '{enough}'`)."
)
TOO_SHORT_TIME = Sentence(
    "The transfer is short: it lasts {time}, and slow start on {path} takes about {slow_start}. Use a transfer of "
    "{enough} or longer (`--transfer '{enough}'`)."
)
FIRST_LOOK = Sentence("With seed {seed!n}: {same}")
GREEDY = Sentence(
    "{controller} takes more than one connection's share where paths share a bottleneck, contrary to RFC 6356. "
    "No other traffic was simulated."
)
QUEUES_QUARTER = Phrase("a quarter of the queue lengths ({queues})")
QUEUES_TIMES = Phrase("{factor!n} times the queue lengths ({queues})")
QUEUES_NO_RESULT = Sentence("With {queues}: no result, because a run of the recommended candidate failed.")
QUEUES_UNABLE = Sentence(
    "With {queues}, the recommendation gives {value}, but its goodput is less than {share} of the best goodput with "
    "these queues."
)
QUEUES_BEST = Sentence(
    "With {queues}, the recommendation gives {value}; no other candidate is surely better ({candidates!n} "
    "{candidates:candidate|candidates} tried with these queues)."
)
QUEUES_BETTER = Sentence(
    "With {queues}, the recommendation gives {value}; {candidate} is {verdict} with these queues ({difference})."
)
RESTS = Sentence(
    "The answer rests on a comparison of {candidates!n} {candidates:candidate|candidates} with {seeds!n} "
    "{seeds:seed|seeds} each. {runs!n} {runs:run was|runs were} made in all."
)
RESTS_FIRST_LOOK = Sentence(
    "The answer rests on a comparison of {candidates!n} {candidates:candidate|candidates} with {seeds!n} "
    "{seeds:seed|seeds} each. The first look, by which the search chose candidates, had {looks!n} {looks:run|runs} of "
    "{looked!n} {looked:candidate|candidates}. {runs!n} {runs:run was|runs were} made in all."
)

# No answer.

NO_ANSWER = Sentence("No answer in {spent}: {why}.")
INTERRUPTED = Sentence("Interrupted, no answer in {spent}: {why}.")
SPENT = Phrase("{runs!n} {runs:run|runs}")
SPENT_TIME = Phrase("{time} ({runs!n} {runs:run|runs})")
TRY = Sentence("Try {option}.")
STILL_LOOKING = Phrase(
    "the first look at the candidates is not complete; first look and comparison need about {runs!n} runs"
)
NO_RIVAL = Phrase("there are fewer than two candidates to compare")
FEW_PAIRS = Phrase(
    "{pairs!n} {pairs:pair|pairs} of runs with the same seed {pairs:was|were} made, and a recommendation needs "
    "{needed!n} pairs"
)
WIDE = Phrase(
    "{measure} of ({candidate}) minus {measure} of ({other}) is {difference}; the interval is wider than {share} of "
    "the mean {measure} of ({baseline}), which is {reference}"
)

# Tables, and what stands below them.

COMPARED = Phrase("{runs} of each candidate; differences from the first row, in pairs of runs with the same seed:")
COMPARED_IDENTICAL = Phrase(
    "{identical!n} identical runs of each candidate, counted as one; differences from the first row:"
)
LOOKED = Phrase(
    "one run of each candidate tried so far, with seed {seed!n}; by these runs a search chooses which candidates to "
    "compare:"
)
LOOKED_SOME = Phrase(
    "one run of each candidate tried so far, with seed {seed!n}, the first {shown!n} of {looked!n} candidates by "
    "{measure}; by these runs a search chooses which candidates to compare:"
)
LOOKED_GIVEN = Phrase("the given candidates that were run, one run each, with seed {seed!n}:")
LOOKED_GIVEN_SOME = Phrase(
    "the given candidates that were run, one run each, with seed {seed!n}, the first {shown!n} of {looked!n} "
    "candidates by {measure}:"
)
COLUMN_CANDIDATE = Phrase("candidate")
COLUMN_DIFFERENCE = (Phrase("differ-"), Phrase("ence"))
COLUMN_INTERVAL = (Phrase("95 %"), Phrase("+-"))
COLUMN_EXACT = Phrase("exactly")
COLUMN_SURE = Phrase("surely")
AGAIN = Phrase("to get the same answer again:")
NOT_TRIED = Sentence(
    "Not tried: other transfer sizes, directions and traffic on the paths; other responses than each judge's own; "
    "parameters of algorithms; timers; segment sizes; receive buffers between the tried sizes; limits of the send "
    "buffer."
)

# The report.

REPORT_TITLE = Phrase("Recommendation for {paths}")
REPORT_QUEUES = Phrase("With queues of {queues}")
REPORT_LOOK = Phrase("Runs with the first seed")
REPORT_LOOK_CAPTION = Sentence(
    "One run of each candidate of the first look, with seed {seed!n}. By these runs a search chooses which candidates "
    "to compare."
)
REPORT_LOOK_GIVEN = Sentence("One run of each given candidate that was run, with seed {seed!n}.")
REPORT_LEFT_OUT = Phrase("Algorithms and candidates left out")
REPORT_LEFT_OUT_HEAD = (Phrase("what"), Phrase("why"))
REPORT_MADE = Phrase("How this report was made")
REPORT_AGAIN = Phrase("to get the same answer again")

# Errors; the first line says what is wrong, a second one the remedy.

NO_ANSWER_YET = Phrase("no answer")
WRONG_CANDIDATE = Phrase("--candidate: {text} does not have the form {form}\n  example: {example}")
FORM = Phrase("CONTROLLER, JUDGE, SCHEDULER|alone=PATH, BUFFER[, detector=NAME][, backup=PATH]")
NO_SCHEDULER = Phrase("--candidate: {text}: {scheduler} is not a scheduler\n  write {form}")
ALONE_AND_BACKUP = Phrase("--candidate: {text}: one path alone has no backup\n  leave out alone=PATH or backup=PATH")
NO_PATH = Phrase("--candidate: {text}: no path is called {path}; paths: {paths}")
NOTHING_TO_TRY = Phrase("no {kind} to try: {why}")
NOTHING_LEFT = Phrase("--only and --without leave none; leave out one of their names")
UNKNOWN_NAME = Phrase("{option}: no {kinds} is called {name}\n  {remedy}")
OF_CANDIDATE = Phrase("--candidate: {text}")
KINDS = Phrase("{kinds} or {kind}")
DID_YOU_MEAN = Phrase("did you mean {names}?")
LIST_SHOWS_ALL = Phrase("`anabranch list` shows all")
SEARCHED_KEY = Phrase(
    "--set {key}: recommend varies this key itself\n"
    "  --only NAME restricts the search to NAME; --candidate compares only whole configurations that you give"
)
SEARCHED_VALUE = Phrase(
    "--set {key}: recommend varies this key itself\n"
    "  --candidate compares only whole configurations that you give, such as {example}"
)
WRONG_BUDGET = Phrase(
    "--budget {value}: takes a time above 0 and at most 1 h with its unit, such as 30 s or 2 min, or a number of "
    "seconds"
)
WRONG_RUNS = Phrase("--runs {value}: takes a number of runs above 0, such as 60")
WRONG_SEED = Phrase("--seed {value!n}: takes a number from 0 to {most}")
WRONG_SEEDS = Phrase("--seeds {value!n}: takes a number above 0")
WRONG_GOAL = Phrase("--goal {goal}: takes {goals}")
SCENARIO_AND_MORE = Phrase(
    "recommend: the arguments direction, transfer, receiver and changes are for paths, not for a Scenario; change the "
    "Scenario with Scenario.set"
)
WITHOUT_PATH = Phrase("--path: give at least one path")
ONLY_AND_CANDIDATE = Phrase(
    "--only and --without restrict a search, but with --candidate there is no search\n"
    "  leave out --candidate, or --only and --without"
)
SEEDS_WITHOUT_CANDIDATE = Phrase(
    "--seeds: only for --candidate; a search takes as many seeds as an answer needs, and --runs or --budget limits it"
)
CONNECTIONS = Phrase("{scenario}: it has {count!n} connections; recommend takes one")
LONG_FORM = Phrase("{scenario}: recommend takes a scenario whose links are written as [[path]]")
DATAGRAMS = Phrase("--set connection.protocol: a UDP flow has no controller to recommend; allowed: mptcp, tcp")
