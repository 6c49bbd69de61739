"""What several commands say."""

from collections.abc import Mapping

from anabranch.sentences.template import Phrase, Sentence

INTERRUPTED = Phrase("interrupted: the results include only what was read or run until then")

# Runs with the same trace: `sweep`, `compare`, `recommend`.

SAME_TRACE = Sentence(
    "{what}: {members} gave the same trace in {runs:their run|each run}, so the choice made no difference."
)
ALL_VALUES = Phrase("all values")
AND = Phrase("{names} and {name}")
CHOICE_RATIO = Sentence("More than one subflow could send for {share} of the segments.")
WHY: Mapping[str, Sentence] = {
    "scheduler": Sentence(
        "Schedulers that choose among the subflows whose window has room differ only if more than one has room. "
        "A bulk sender with full congestion windows mostly has at most one such subflow. "
        "Try a transfer with pauses or requests, or smaller buffers."
    ),
    "judge": Sentence("A judge of loss episodes makes a difference only in runs with loss episodes."),
    "recovery": Sentence(
        "A judge of loss episodes (`recovery` is its older name) makes a difference only in runs with loss episodes."
    ),
    "response": Sentence(
        "A response to spurious loss episodes matters only in runs in which a loss episode is judged spurious."
    ),
}
"""Why a choice among values of an axis may make no difference."""

# Number of runs.

RUNS = Phrase("{runs!n} {runs:run|runs}")
RUNS_IDENTICAL = Phrase("{runs!n} {runs:run|runs} ({identical!n} identical)")
