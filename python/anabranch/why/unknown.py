"""What the captures at hand cannot tell, and which other one would; docs/diagnose.md has the list."""

from collections.abc import Mapping
from typing import Any

_AT_SENDER = "at the sender"
_AT_RECEIVER = "at the receiver"


def unknown(connection: Mapping[str, Any]) -> list[dict[str, str]]:
    """What cannot be known of `connection` from where it was captured: ``what``, ``why``, ``capture``."""
    if connection["is_known"]:
        return []
    sender = connection["data_from"]
    places = connection["captured_at"]
    told = []
    if sender not in places:
        told += [
            ("what was sent and lost before it came here", "lost packets do not pass", _AT_SENDER),
            ("when the sender gave up waiting on a path that failed", "its repeated segments do not pass", _AT_SENDER),
            ("whether retransmissions were needless", "only one copy need pass", _AT_SENDER),
            (
                "why the sender sent no faster where neither window, gap nor repair says it",
                "full windows, send buffers, schedulers and idle applications look alike from here: the sum is known",
                _AT_SENDER,
            ),
            ("subflows of which no packet arrived", "their SYNs do not pass", _AT_SENDER),
            ("queues shorter than 2.5 ms", "timestamps tell when packets left, in milliseconds", _AT_SENDER),
        ]
    if not places or places == [sender]:
        told += [
            ("delays one way", "only round trips show", _AT_RECEIVER),
            ("subflows that the receiver tried to open in vain", "their SYNs do not pass", _AT_RECEIVER),
            ("for how long data waited for a gap", "arrivals are estimated from acknowledgements", _AT_RECEIVER),
        ]
    if not connection["complete_beginning"]:
        told.append(
            ("window scale, keys and the time of joins", "the handshakes are not in the capture", "from the beginning")
        )
    told += [
        ("whether the sender waited for its send buffer or its application", "no packet says it", "none: ask `ss -tim`")
    ]
    return [{"what": what, "why": why, "capture": capture} for what, why, capture in told]
