"""What a subflow may wait for: words, meanings, and how a capture shows it.

The engine has the list, in order of precedence, with labels and meanings: ``crates/measures/src/causes.rs``.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from anabranch.measures import table as measures
from anabranch.sentences import diagnose as say


@dataclass(frozen=True)
class Cause:
    """One cause of waiting.

    Attributes
    ----------
    name, meaning : str
        Its label, and what it means.
    fact : bool
        A capture proves it; it only suggests the others.
    ground, remedy : str
        How a capture shows it, and what may help.
    """

    name: str
    meaning: str
    fact: bool
    ground: str
    remedy: str


CAUSES: Mapping[str, Cause] = {
    told["name"]: Cause(
        name=told["label"],
        meaning=told["meaning"],
        fact=told["evidence"] == "packets",
        **{part: text() for part, text in say.CAUSES[told["name"]].items()},
    )
    for told in measures.CAUSES
}
"""By field of the JSON, in order of precedence: at every instant the first that applies."""

SENDERS_OWN = tuple(told["name"] for told in measures.CAUSES if "timing" in told["evidence"])
"""What no packet says, only the sender's timing: its receiver knows the sum of these and guesses the parts."""

SENDERS_OPEN = tuple(told["name"] for told in measures.CAUSES if told["evidence"] == "open timing")
"""What may look alike at the sender: pacing, a full send buffer, and an application that writes steadily."""
