"""What ``check``, ``replay``, ``list``, ``doctor``, ``script``, ``torture``, ``study`` and ``compare-kernel`` print."""

from collections.abc import Mapping

from anabranch.sentences.template import Phrase, Sentence

# check

VALID = Phrase("{name}: valid: {count!n} {count:connection|connections}, {paths!n} {paths:path|paths}")
VALID_SWEEP = Phrase(
    "{name}: valid: {cells!n} {cells:cell|cells}, {seeds!n} {seeds:seed|seeds}, {runs!n} {runs:run|runs}, {duration}"
)
CONNECTIONS = Phrase("{count!n} {count:connection|connections}")
IN_FORCE = Phrase("{name}: profile {profile}, detector {detector}, reduction {reduction}")
IN_FORCE_NO_SACK = Phrase(
    "{name}: profile {profile}, detector {detector}, reduction {reduction} ({wanted} needs an independent receiver "
    "with SACK)"
)
BY_CONTROLLER = Phrase("by the controller {controller}")
"""The reduction of a controller that decides itself how its window falls."""
WARNING = Phrase("warning: {what}")
MORE_SEEDS = Phrase(
    "more seeds follow until the precision is reached: at most {seeds!n} {seeds:seed|seeds}, {runs!n} {runs:run|runs}"
)
AXIS = Phrase("{axis}: {choices}")
REPEATED = Phrase(
    "{count!n} {count:cell has|cells have} the same scenario as another cell and {count:shares|share} its runs"
)
REFUSED = Phrase("{count!n} of {cells!n} {cells:cell|cells} {count:is|are} refused; the first error: {error}")
LASTS = Phrase("about {time} on {threads!n} {threads:thread|threads} (estimated from {runs!n} trial {runs:run|runs})")
LASTS_LITTLE = Phrase(
    "less than 1 s on {threads!n} {threads:thread|threads} (estimated from {runs!n} trial {runs:run|runs})"
)
LASTS_UNKNOWN = Phrase("duration unknown: no trial run came far enough for an estimate")
NOT_FOR_SWEEP = Phrase("{option} is for a scenario, and {file} is a sweep: {remedy}")
SET_IN_SWEEP = Phrase("write the change into the table `set` of the sweep")
EXPAND_SCENARIO = Phrase("give a file that has only the scenario")

# replay

REPRODUCED = Phrase("{folder}: reproduced")
REPRODUCED_TRACE = Phrase("{folder}: reproduced, trace_sha256 {hash}")
REPRODUCED_BY = Phrase("{folder}: reproduced by {now} (it was made by {then}), trace_sha256 {hash}")
DIFFERS = Phrase("{folder}: DIFFERS in {names}")
DIFFERS_TRACE = Phrase("{folder}: DIFFERS: the stored trace_sha256 is {stored}, now it is {hash}")
SAME_TRACE_OTHER_TEXT = Phrase("{folder}: same trace, but scenario.toml was changed after the run")
OTHER_TEXT = Phrase("scenario.toml was changed after the run")
OTHER_VERSION = Phrase("the result was made by {then}, this is {now}; another version may give another trace")
OTHER_PROGRAM = Phrase(
    "the result was made by {then}, and this program is {then}, too; if the source was not changed in between, the "
    "difference is a fault of Anabranch, please report it"
)
OWN_ALGORITHM = Phrase(
    "version, scenario and algorithms are the same; `anabranch check-algorithm {name}` shows whether the algorithm "
    "makes runs differ"
)
FAULT = Phrase("version and scenario are the same: this is a fault of Anabranch, please report it")

# check-algorithm

AT = Phrase("{place}: {what}")
IN_SCENARIO = Phrase('scenario "{name}": {what}')
NOT_COMPLETED = Phrase('scenario "{name}": the run did not complete: {status}')
TWO_HASHES = Phrase('scenario "{name}": two runs with the same seed differ: trace {first} and {second}')
IN_SUITE = Phrase("conformance suite, random run {life!s}: {what}")
SCENARIOS_DONE = Phrase("{number!s} of {total!s} scenarios done")
ONE_KIND = Phrase("--sweep and --algorithm: give only one of them")
SCENARIOS_REFUSED = Phrase("{count!n} {count:scenario does|scenarios do} not accept this {kind}: {names}")
NO_FAULT = Phrase("{name}: no fault in the conformance suite and in {runs!n} {runs:scenario|scenarios}")
FAULTS = Phrase("{name}: {count!n} {count:fault|faults}; {runs!n} {runs:scenario was|scenarios were} run")

# list

NOTHING = Phrase("none")
ALIASES = Phrase("aliases")
FIGURE = Phrase("{value} ({source})")
PARAMETER = Phrase("{meaning} ({range}, default {default})")
RANGES: Mapping[str, Phrase] = {
    "number": Phrase("{least!s} to {most!s}"),
    "share": Phrase("share, {least!s} to {most!s}"),
    "whole number": Phrase("whole number, {least!s} to {most!s}"),
}
RANGE = Phrase("{least!s} to {most!s} {unit}")
NO_KIND = Phrase("unknown kind {kind}; choices: {choices}")
NO_TABLE = Phrase("unknown table {table}; choices: {choices}")
OF_KEYS = Phrase("{what} is only for `anabranch list keys`")

# doctor

SOUND = Phrase("all checks passed")
UNSOUND = Phrase("at least one check failed: see FAIL above")
DETERMINISM = Phrase("two runs of one scenario have the same trace {hash}")
DETERMINISM_SPEED = Phrase("{determinism}, {speed!n} million data segments/s")
RESULT = Phrase("written, drawn and read back ({size!n} kB)")
TRANSFER_FAILED = Phrase("a transfer of 10 MB ended with status {status}, content_ok {content_ok}")
TWO_TRACES = Phrase("two runs of one scenario have different traces")
RESULT_DIFFERS = Phrase("the result that was read back differs from the result that was written")

# script

FAILED = Phrase("{file}:{line!s}: failed at {time!n} s")
NOTE = Phrase("line {line!s}: {what}")
LINUX_PASSES = Phrase("line {line!s} expects what Linux does: with --profile linux the script passes")
LINUX_LATER = Phrase(
    "line {line!s} expects what Linux does: with --profile linux this line passes, but line {other!s} does not"
)
LINUX_FAILS = Phrase("with --profile linux the script does not pass, either: it fails at line {line!s}")
IS_DIRECTORY = Phrase("{file}: a directory; name its files: {file}/*.pkt")
TOO_LARGE = Phrase("{file}: {size!n} octets; a script has at most {most!n} octets")
NOT_UTF8 = Phrase("{file}: not UTF-8 text (octet {octet!s}); a script is a text file")

# torture

HOLDS = Phrase("{file}: all invariants hold")
BROKEN = Phrase("{file}: {name}: {what}")
PROGRESS = Phrase("{count!n} of {runs!n} runs, {failures!n} failed, {time!n} s")
FAILURE = Phrase(
    "run {number!s}: {name}: {what}\n  anabranch torture --seed {number!s} --runs 1\n"
    "the reduced scenario fails with: {error}\n{scenario}"
)
RUNS = (
    Phrase("runs {first!s} to {last!s}: {runs!n} {runs:run|runs} in {time!n} s, {rate!n} runs/s"),
    Phrase("{large!n} {large:run|runs} of 5 MB or more, {wide!n} {wide:run|runs} with three to eight paths"),
    Phrase("{repeated!n} {repeated:run|runs} repeated in other forms, for example with a trace"),
    Phrase("{events!n} events, {amount!n} octets delivered"),
    Phrase("{features!n} features; {pairs!n} of {total!n} pairs of features occurred together in a run"),
    Phrase("{failures!n} {failures:run|runs} failed"),
)
"""A line each, and the indented lines after it."""
STOPPED = Phrase("interrupted: not all runs were made; continue with --seed {next!s}")

# study

ONLY_ALL = Phrase("--only: a table or figure belongs to one study; give the name of the study instead of `all`")
NO_STUDY = Phrase("give the name of a study, or `all`; studies: {choices}")
KEPT = Phrase("interrupted: {runs!n} {runs:run|runs} kept in {folder}; the same command continues from there")
RUNS_ONLY = Phrase("{folder} has the runs, but not all tables and figures; the same command makes the rest")
COMPLETE = Phrase("{folder} is complete")

# compare-kernel

SHARE = Phrase("share of {path} (%)")
QUEUE_DROPS = Phrase("queue drops of {path}")
ANABRANCH = Phrase("Anabranch ({runs!n} {runs:run|runs})")
LINUX = Phrase("Linux {version!s} ({runs!n} {runs:run|runs})")
DIFFERENCE = Phrase("difference")
POINTS = Phrase("{difference!n} points")
PERCENT = Phrase("{difference!n} %")
VARIED = Sentence(
    "Each number is a median, with the minimum and maximum in brackets if they differ. The rates and delays of a run "
    "differ from the scenario by up to {share!n} %, by the same amounts for Anabranch and for Linux. Differences are "
    "those of the means."
)
GOODPUTS = Phrase("goodputs of Anabranch: {ours} Mbit/s; of Linux: {theirs} Mbit/s")
DISTANCE = Phrase(
    "largest difference of the two cumulative distributions of goodput: {largest!s} (p = {chance!s}, permutation test)"
)
TAKES = Phrase("Linux takes about {time!n} s of wall-clock time for a run of {amount}")
TAKES_PARALLEL = Phrase("{takes}; {runs!n} {runs:run|runs} at a time: about {total!n} s in all")
OWN_RUN = Phrase("Anabranch, run {run!s} of {runs!s}")
LINUX_RUN = Phrase("Linux, run {run!s} of {runs!s}")
LINUX_AT = Phrase("Linux, run {run!s} of {runs!s}: {share!n} % after {time!n} s")
FEW_RUNS = Phrase("--vary compares distributions and needs at least {runs!n} runs, such as --runs 6")
NO_SHARE = Phrase('--vary: {value} is not a share above 0 and up to 50 %, such as "3 %"')
