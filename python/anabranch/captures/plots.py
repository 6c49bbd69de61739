"""Figures of a capture."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Unpack

from anabranch.captures.data import CaptureData

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from anabranch.plots import Look


@dataclass(frozen=True)
class CapturePlots:
    """Figures of a capture; each method draws into `ax`, or into a new figure, and returns the axes."""

    capture: CaptureData

    def _shown(self, frame: "pd.DataFrame") -> "pd.DataFrame":
        return frame[frame["connection"].isin(self.capture.drawn)]

    def sequence(self, ax: "Axes | None" = None, **look: "Unpack[Look]") -> "Axes":
        """Which part of the data stream each subflow sent when, and the receiver's window."""
        from anabranch.plots import sequence

        sent, said = self._shown(self.capture.sequence), self._shown(self.capture.window)
        return sequence(sent, said, ax, **self._told(look))

    def throughput(self, ax: "Axes | None" = None, **look: "Unpack[Look]") -> "Axes":
        """Rate of first arrivals of each subflow, and their sum, over time."""
        from anabranch.plots import throughput

        return throughput(self._shown(self.capture.subflows), ax, **self._told(look))

    def in_flight(self, ax: "Axes | None" = None, **look: "Unpack[Look]") -> "Axes":
        """Octets sent and not acknowledged, over time."""
        from anabranch.plots import in_flight

        return in_flight(self._shown(self.capture.subflows), ax, **self._told(look))

    def ooo_buffer(self, ax: "Axes | None" = None, **look: "Unpack[Look]") -> "Axes":
        """Packets waiting in the reordering buffer, by the subflow they came on, over time."""
        from anabranch.plots import ooo_buffer

        return ooo_buffer(self._shown(self.capture.subflows), ax, **self._told(look))

    def srtt(self, ax: "Axes | None" = None, **look: "Unpack[Look]") -> "Axes":
        """Smoothed round-trip time of each subflow over time."""
        from anabranch.plots import srtt

        return srtt(self._shown(self.capture.subflows), ax, **self._told(look))

    def _told(self, look: "Look") -> "Look":
        from anabranch.measures.series import end_of

        capture = self.capture
        ends = [end_of(frame) for frame in (capture.subflows, capture.sequence, capture.window)]
        return {"labels": capture.labels, "end": max(end for end in [0.0, *ends] if not math.isnan(end)), **look}
