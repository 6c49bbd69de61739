"""What a subflow may wait for: words, meanings, and how a capture shows it.

The engine has the same list, in the same order of precedence: ``lab/src/metrics/causes.rs``.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from anabranch.sentences import diagnose as say


@dataclass(frozen=True)
class Cause:
    """One cause of waiting."""

    name: str
    meaning: str
    fact: bool
    ground: str
    remedy: str


_FACTS = {"not_up", "recovery", "receive_window", "head_of_line"}
"""Causes that a capture proves; it only suggests the others."""

CAUSES: Mapping[str, Cause] = {
    name: Cause(fact=name in _FACTS, **{part: text() for part, text in texts.items()})
    for name, texts in say.CAUSES.items()
}
"""By name, in order of precedence: at every instant the first that applies."""

SENDERS_OWN = ("failed", "reinjection", "cwnd", "scheduler", "send_buffer", "application")
"""What no packet says, only the sender's timing: its receiver knows the sum of these and guesses the parts."""

SENDERS_OPEN = ("cwnd", "send_buffer", "application")
"""What may look alike at the sender: pacing, a full send buffer, and an application that writes steadily."""
