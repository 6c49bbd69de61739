"""What is wrong with a capture as a whole, and what can still be said; one sentence each."""

from collections.abc import Mapping
from typing import Any

from anabranch.captures.text import not_opened
from anabranch.sentences import diagnose as say


def notes(capture: Mapping[str, Any], connections: int, *, of_run: bool = False) -> list[str]:
    """Of what an analysis says about its `capture`, in which so many `connections` with data were found.

    `of_run`: the captures are those of a run, which is what the user diagnoses.
    """
    told = [say.CUT(file=file["name"], reason=file["cut"]) for file in capture["files"] if file["cut"]]
    if capture["split_connections"]:
        told.append(say.SPLIT(count=capture["split_connections"]))
    if not connections and of_run:
        told.append(say.NO_DATA_IN_RUN())
    elif not connections:
        told.append(say.NO_DATA(count=capture["connections_without_data"]))
    elif capture["connections_without_data"]:
        told.append(say.WITHOUT_DATA(count=capture["connections_without_data"]))
    if capture["unlisted_connections"] and capture["unlisted_bytes"]:
        told.append(say.UNLISTED(count=capture["unlisted_connections"]))
    if connections and not capture["mptcp_connections"]:
        source = say.THE_RUN if of_run else say.THE_CAPTURE
        told.append(say.NO_MPTCP(source=source()))
    return told + not_opened(capture)
