"""What the captures at hand cannot show, and which other one would; docs/diagnose.md has the list."""

from collections.abc import Mapping
from typing import Any

from anabranch.diagnosis.seen import Seen
from anabranch.sentences import diagnose as say
from anabranch.sentences.template import Phrase


def unknown(connection: Mapping[str, Any], facts: Seen) -> list[dict[str, str]]:
    """What cannot be known of `connection` from where it was captured: ``what``, ``why``, ``capture``."""
    if connection["is_known"]:
        return []
    sender = connection["data_from"]
    places = connection["captured_at"]
    told = []
    if sender not in places:
        told += [(*pair, say.AT_SENDER) for pair in _at_receiver(facts)]
    if not places or places == [sender]:
        pairs = say.UNKNOWN_AT_SENDER + (say.UNKNOWN_AT_SENDER_OF_MPTCP if facts.is_multipath else ())
        told.append((*say.UNKNOWN_AT_ONE_PLACE, say.AT_BOTH_ENDS))
        told += [(*pair, say.AT_RECEIVER) for pair in pairs]
    if not connection["complete_beginning"]:
        told.append((*say.UNKNOWN_WITHOUT_BEGINNING, say.FROM_BEGINNING))
    told.append((*say.UNKNOWN_ANYWHERE, say.NO_CAPTURE))
    return [{"what": what(), "why": why(), "capture": capture()} for what, why, capture in told]


def _at_receiver(facts: Seen) -> list[tuple[Phrase, Phrase]]:
    """What a capture away from the sender does not show, and why."""
    told = [*say.UNKNOWN_AT_RECEIVER]
    told += say.UNKNOWN_AT_RECEIVER_OF_MPTCP if facts.is_multipath else say.UNKNOWN_AT_RECEIVER_OF_TCP
    if facts.with_timestamps:
        told.append(say.UNKNOWN_SHORT_QUEUES)
    if facts.without_timestamps:
        told.append(say.UNKNOWN_QUEUES)
    return told
