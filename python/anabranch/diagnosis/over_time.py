"""What a report shows over time: the rate and the round-trip time of each subflow, and the sequence of the data."""

import base64
import math
from collections.abc import Callable
from html import escape
from typing import TYPE_CHECKING, Any

from anabranch.captures.plots import CapturePlots
from anabranch.captures.report import figure_html, image
from anabranch.measures.labels import connections_of
from anabranch.measures.series import by_subflow, end_of
from anabranch.plots.files import picture
from anabranch.plots.round_trips import round_trips
from anabranch.sentences import diagnose as say

if TYPE_CHECKING:
    import pandas as pd

    from anabranch.captures.data import CaptureData


def over_time(capture: "CaptureData") -> list[str]:
    """HTML of the figures."""
    plots = CapturePlots(capture)
    frame = rtt_frame(capture)
    end = max((end_of(each) for each in (capture.subflows, frame) if len(each)), default=math.nan)
    drawn = capture.subflows[capture.subflows["connection"].isin(capture.drawn)]
    several = len(list(by_subflow(drawn))) > 1
    caption = f"{say.REPORT_RATE_CAPTION} {say.REPORT_RATE_TOTAL}" if several else say.REPORT_RATE_CAPTION()
    rates = _figure(say.REPORT_RATE, caption, lambda ax: plots.throughput(ax, end=end))
    trips = _figure(
        say.REPORT_RTT,
        say.REPORT_RTT_CAPTION,
        lambda ax: round_trips(frame, ax, labels=capture.labels, end=end),
    )
    sequence = figure_html(capture, "sequence", image(capture, "sequence", "svg").decode())
    return [f"<h2>{say.REPORT_OVER_TIME}</h2>", rates, *([trips] if frame["rtt"].notna().any() else []), sequence]


def rtt_frame(capture: "CaptureData") -> "pd.DataFrame":
    """Round-trip times (s) of the subflows that figures show, over time (s since the capture began)."""
    import numpy as np
    import pandas as pd

    parts = []
    connections = connections_of(capture.summary)
    for c in capture.drawn:
        for s, flow in enumerate(connections[c]["subflows"]):
            told = (flow.get("diagnosis") or {}).get("rtt_over_time")
            if told is None or not told["ms"]:
                continue
            values = np.array(told["ms"], dtype=float) / 1e3
            start = connections[c]["start_s"] + told["start_s"]
            times = start + told["step_s"] * (np.arange(len(values)) + 0.5)
            parts.append(pd.DataFrame({"t": times, "connection": c, "subflow": s, "rtt": values}))
    empty = pd.DataFrame({name: np.array([], dtype=float) for name in ("t", "connection", "subflow", "rtt")})
    return pd.concat(parts, ignore_index=True) if parts else empty


def _figure(title: str, caption: str, draw: Callable[[Any], object]) -> str:
    data = base64.b64encode(picture(draw, "svg", {})).decode()
    return (
        f'<figure><img alt="{escape(say.REPORT_FIGURE(title=title))}" src="data:image/svg+xml;base64,{data}">'
        f"<figcaption>{escape(caption)}</figcaption></figure>"
    )
