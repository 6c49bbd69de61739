"""What the captures at hand cannot show, and which other one would; docs/diagnose.md has the list."""

from collections.abc import Mapping
from typing import Any

from anabranch.sentences import diagnose as say


def unknown(connection: Mapping[str, Any]) -> list[dict[str, str]]:
    """What cannot be known of `connection` from where it was captured: ``what``, ``why``, ``capture``."""
    if connection["is_known"]:
        return []
    sender = connection["data_from"]
    places = connection["captured_at"]
    told = []
    if sender not in places:
        told += [(*pair, say.AT_SENDER) for pair in say.UNKNOWN_AT_RECEIVER]
    if not places or places == [sender]:
        told += [(*pair, say.AT_RECEIVER) for pair in say.UNKNOWN_AT_SENDER]
    if not connection["complete_beginning"]:
        told.append((*say.UNKNOWN_WITHOUT_BEGINNING, say.FROM_BEGINNING))
    told.append((*say.UNKNOWN_ANYWHERE, say.NO_CAPTURE))
    return [{"what": what(), "why": why(), "capture": capture()} for what, why, capture in told]
