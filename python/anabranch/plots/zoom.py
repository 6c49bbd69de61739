"""Data sequence numbers over time, in a report: a picture to be zoomed, with all that it needs in the same file."""

import html
import json
from importlib import resources
from typing import TYPE_CHECKING, Any

from anabranch.measures.series import by_subflow, end_of
from anabranch.plots import places, style
from anabranch.plots.sequence import HEADROOM, SHADES

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

DUPLICATE = "duplicate"
"""Sent again although the receiver had acknowledged it at data level."""
_DUPLICATE_SHADE = "#EE7733"
_PLURAL = {
    "retransmission": "retransmissions",
    "reinjection": "reinjections (again on another subflow)",
    DUPLICATE: "duplicates (acknowledged before they were sent again)",
}


def duplicates(frame: "pd.DataFrame", window: "pd.DataFrame") -> "pd.Series[bool]":
    """Which rows of ``capture.sequence`` were sent again although a DATA_ACK had covered all of them."""
    import numpy as np
    import pandas as pd

    found = pd.Series(data=False, index=frame.index)
    for c in frame["connection"].unique():
        said = window[window["connection"] == c]
        rows = frame[(frame["connection"] == c) & (frame["kind"] != "new")]
        if said.empty or rows.empty:
            continue
        # What was said in the same step of time may have come after the packet.
        before = np.searchsorted(said["t"].to_numpy(), rows["t"].to_numpy(), side="left") - 1
        acknowledged = np.where(before >= 0, said["data_ack"].to_numpy()[np.maximum(before, 0)], 0)
        found[rows.index] = rows["high"].to_numpy() <= acknowledged
    return found


def zoomable(
    frame: "pd.DataFrame", window: "pd.DataFrame", labels: "Mapping[tuple[int, int], str]", title: str, still: str
) -> str:
    """HTML of the picture: subflows as colours, acknowledgements, the window's edge, reinjections, duplicates.

    `still` is shown where scripts are switched off.
    """
    several = style.several_connections(frame)
    frame = frame.assign(kind=frame["kind"].where(~duplicates(frame, window), DUPLICATE))
    spans, keys = [], []
    for c, s, rows in by_subflow(frame):
        new = rows[rows["kind"] == "new"]
        spans.append({"colour": style.colour(c, s), "mark": "", **_columns(new)})
        keys.append((style.colour(c, s), style.label(c, s, {"labels": labels}, several)))
    shades = {**SHADES, DUPLICATE: _DUPLICATE_SHADE}
    for kind, shade in shades.items():
        rows = frame[frame["kind"] == kind]
        if len(rows):
            spans.append({"colour": shade, "mark": "x" if kind == DUPLICATE else "|", **_columns(rows)})
            keys.append((shade, _PLURAL[kind]))
    top = HEADROOM * float(frame["high"].max())
    lines = []
    for c in sorted(int(number) for number in window["connection"].unique()):
        rows = window[window["connection"] == c]
        for column, dashes in (("data_ack", []), ("edge", [2, 3])):
            line = {"t": _rounded(rows["t"]), "v": _rounded(rows[column], 0)}
            lines.append({"colour": places.TOTAL, "dashes": dashes, **line})
    keys += [(places.TOTAL, "acknowledged (solid), window ends (dotted)")] if lines else []
    data: dict[str, Any] = {"end": max(end_of(frame), end_of(window), 1e-6), "top": top, "grid": style.GRID}
    data |= {"spans": spans, "lines": lines}
    # Nothing in it can end the element it stands in.
    inside = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
    legend = "".join(f'<span><i style="background:{colour}"></i>{html.escape(name)}</span>' for colour, name in keys)
    script = resources.files("anabranch.plots").joinpath("zoom.js").read_text("utf-8")
    return (
        f'<div class="zoom"><noscript>{still}</noscript><p class="legend">{legend}</p>'
        f'<canvas aria-label="{html.escape(title)}"></canvas>'
        f'<script type="application/json">{inside}</script><script>{script}</script></div>'
    )


STYLE = """
.zoom canvas { width: 100%; height: 26rem; display: block; cursor: grab; touch-action: none; }
.zoom .legend { font-size: .85rem; display: flex; flex-wrap: wrap; gap: .2rem 1.4rem; }
.zoom .legend i { display: inline-block; width: .9rem; height: .9rem; margin-right: .4rem; vertical-align: -.1rem; }
"""


def _columns(rows: "pd.DataFrame") -> dict[str, list[float]]:
    return {"t": _rounded(rows["t"]), "low": _rounded(rows["low"], 0), "high": _rounded(rows["high"], 0)}


def _rounded(values: "pd.Series[float]", digits: int = 6) -> list[float]:
    return [round(float(value), digits) if digits else int(value) for value in values]
