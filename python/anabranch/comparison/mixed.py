"""A run and an analysis of captures beside each other: the fields that both have."""

from typing import TYPE_CHECKING

from anabranch.comparison.captures import FIELDS as CAPTURE_FIELDS
from anabranch.comparison.captures import INFERRED
from anabranch.comparison.captures import SUBFLOW_FIELDS as CAPTURE_SUBFLOW_FIELDS
from anabranch.comparison.rows import Both, Fields, Pair, by_place, table, value
from anabranch.comparison.runs import FIELDS, SUBFLOW_FIELDS
from anabranch.measures.labels import connections_of
from anabranch.sentences import sweep as say
from anabranch.tables import Document

if TYPE_CHECKING:
    from anabranch.captures.data import CaptureData
    from anabranch.runs.data import RunData


def paired(first: "RunData | CaptureData", second: "RunData | CaptureData") -> list[Pair]:
    """Return connections and subflows at the same place."""
    sides = [connections_of(result.summary) for result in (first, second)]
    pairs = []
    for c, both in enumerate(by_place(*sides)):
        flows = by_place(*([] if side is None else side["subflows"] for side in both))
        labels = [[result.labels.get((c, s)) for result in (first, second)] for s in range(len(flows))]
        pairs.append(
            Pair(
                " | ".join(side["name"] for side in both if side is not None),
                both,
                [(" | ".join(filter(None, label)), pair) for label, pair in zip(labels, flows, strict=True)],
            )
        )
    return pairs


def shared(pairs: list[Pair]) -> tuple[Fields, Fields]:
    """Return the fields of connections and of subflows that both sides have."""
    fields = _shared({**FIELDS, **CAPTURE_FIELDS}, [pair.both for pair in pairs])
    every = [flows for pair in pairs for _, flows in pair.flows]
    return fields, _shared({**SUBFLOW_FIELDS, **CAPTURE_SUBFLOW_FIELDS}, every)


def document(first: "RunData | CaptureData", second: "RunData | CaptureData", names: tuple[str, str]) -> Document:
    """A table of the fields that both have."""
    pairs = paired(first, second)
    notes = [say.RUN_AND_CAPTURE(), INFERRED]
    return Document([table(names, pairs, *shared(pairs)), "", *notes])


def _shared(fields: Fields, pairs: list[Both]) -> Fields:
    """What is known of at least one connection or subflow of each side."""
    return {
        key: mark
        for key, mark in fields.items()
        if all(any(value(pair[place], key) is not None for pair in pairs) for place in (0, 1))
    }
