"""What is wrong with a capture as a whole, and what can still be said; one sentence each."""

from collections.abc import Mapping
from typing import Any

from anabranch.capture_text import not_opened
from anabranch.units import count


def notes(capture: Mapping[str, Any], connections: int) -> list[str]:
    """Of what an analysis says about its `capture`, in which so many `connections` with data were found."""
    told = [
        f"{file['name']}: {file['cut']}: what follows is not in the diagnosis"
        for file in capture["files"]
        if file["cut"]
    ]
    split = capture["split_connections"]
    if split:
        told.append(
            f"a proxy between the captures splits {count(split, 'connection')}: the sequence numbers on its two sides "
            "are different ones, and each side is told of alone"
        )
    if not connections:
        empty = capture["connections_without_data"]
        told.append(
            f"no data in {count(empty, 'connection')}: either none were sent, or the capture has only the direction of "
            "the acknowledgements; capture both directions"
        )
    elif capture["connections_without_data"]:
        told.append(f"{count(capture['connections_without_data'], 'connection')} without data are not shown")
    if capture["unlisted_connections"] and capture["unlisted_bytes"]:
        told.append(f"{count(capture['unlisted_connections'], 'smaller connection')} are not shown")
    if connections and not capture["mptcp_connections"]:
        told.append("there is no Multipath TCP in it: each connection is one path")
    return told + not_opened(capture)
