"""Captures of Multipath TCP and of TCP, measured with the instruments of a simulated run."""

import json
import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Protocol, Unpack

from anabranch import _core, units
from anabranch._core import CaptureError
from anabranch.labels import Labels, connections_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from anabranch.plots import Look

__all__ = ["Capture", "CaptureError", "CapturePlots", "analyze"]


class Frames(Protocol):
    """The columns of a capture's frames: from the engine, or from a directory."""

    def subflows(self) -> Mapping[str, Any]: ...
    def sequence(self) -> Mapping[str, Any]: ...
    def window(self) -> Mapping[str, Any]: ...


@dataclass(frozen=True, eq=False, repr=False)
class Capture:
    """What one or more captures show.

    Attributes
    ----------
    summary : dict
        The object ``anabranch analyze --json`` prints: the fields of a run's summary as far as a capture can know them,
        None where it cannot, and some that only captures have; ``docs/captures.md`` defines them.
    files : tuple of str
        What was read.
    hashes : tuple of str
        SHA-256 of these, of an analysis that was stored.
    subflows : pandas.DataFrame
        As of a run; ``cwnd``, ``ssthresh`` and ``rto`` are NaN, ``in_flight`` too unless captured at the sender.
    sequence : pandas.DataFrame
        What was sent when: ``t`` (s), ``connection``, ``subflow``, ``kind`` (``new``, ``retransmission``,
        ``reinjection``), ``low`` and ``high`` (octets of the data stream).
    window : pandas.DataFrame
        What the receiver said: ``t`` (s), ``connection``, ``data_ack`` and ``edge`` (octets of the data stream).
    plot : CapturePlots
        ``capture.plot.sequence()``, ``.throughput()``, ``.in_flight()``, ``.ooo_buffer()``, ``.srtt()``.
    """

    summary: dict[str, Any]
    files: tuple[str, ...]
    core: Frames
    hashes: tuple[str, ...] = ()

    @classmethod
    def load(cls, directory: "str | os.PathLike[str]") -> "Capture":
        """Read an analysis that `save` or ``anabranch analyze --out`` wrote.

        Raises
        ------
        ResultError
            If `directory` is not a whole one.
        """
        from anabranch.capture_store import load

        return load(directory)

    @cached_property
    def subflows(self) -> "pd.DataFrame":
        """Tidy frame over time."""
        return _frame(self.core.subflows())

    @cached_property
    def sequence(self) -> "pd.DataFrame":
        """Data sequence numbers over time."""
        return _frame(self.core.sequence())

    @cached_property
    def window(self) -> "pd.DataFrame":
        """Data acknowledgements and the window's right edge over time."""
        return _frame(self.core.window())

    @cached_property
    def labels(self) -> Labels:
        """What figures and tables call each ``(connection, subflow)``: its two ends."""
        connections = connections_of(self.summary)
        return {
            (c, s): f"{flow['client']} - {flow['server']}"
            for c, connection in enumerate(connections)
            for s, flow in enumerate(connection["subflows"])
        }

    @cached_property
    def drawn(self) -> tuple[int, ...]:
        """Numbers of the connections that figures show: those of MPTCP, or, if there are none, those of TCP."""
        kinds = [connection["protocol"] for connection in connections_of(self.summary)]
        chosen = [number for number, kind in enumerate(kinds) if kind != "tcp"]
        return tuple(chosen or range(len(kinds)))

    @property
    def plot(self) -> "CapturePlots":
        """Figures of this capture."""
        return CapturePlots(self)

    def save(self, directory: "str | os.PathLike[str]", *, command: Sequence[str] | None = None) -> None:
        """Write summary, frames, figures and report to `directory`, which appears whole or not at all.

        Parameters
        ----------
        directory : path
            An older analysis there is replaced; a directory that holds anything else is refused.
        command : sequence of str, optional
            The command line that made it, for the report.

        Raises
        ------
        ResultError
            If `directory` holds something else.
        OSError
            If it cannot be written.
        """
        from anabranch.capture_report import CaptureDraft

        with CaptureDraft(directory, command) as draft:
            draft.commit(self)

    def __str__(self) -> str:
        """The text ``anabranch analyze`` prints."""
        from anabranch.capture_text import capture_text

        return capture_text(self)

    def _repr_html_(self) -> str:
        from anabranch.notebook import capture_html

        return capture_html(self)

    def __repr__(self) -> str:
        connections = connections_of(self.summary)
        flows = sum(len(connection["subflows"]) for connection in connections)
        return (
            f"<anabranch.Capture {', '.join(self.files)}: {units.count(len(connections), 'connection')}, "
            f"{units.count(flows, 'subflow')}>"
        )


@dataclass(frozen=True)
class CapturePlots:
    """Figures of a capture; each method draws into `ax`, or into a new figure, and returns the axes."""

    capture: Capture

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
        from anabranch.series import end_of

        capture = self.capture
        ends = [end_of(frame) for frame in (capture.subflows, capture.sequence, capture.window)]
        return {"labels": capture.labels, "end": max(end for end in [0.0, *ends] if not math.isnan(end)), **look}


def analyze(
    paths: "str | os.PathLike[str] | Sequence[str | os.PathLike[str]]",
    *,
    protocol: Literal["mptcp", "tcp"] | None = None,
    poll: Callable[[int, int], None] | None = None,
) -> Capture:
    """Read captures of Multipath TCP (RFC 8684) and of TCP.

    Parameters
    ----------
    paths : path or sequence of paths
        pcap or pcapng files: of one interface each or merged, taken at either end, in the middle, or at both ends.
    protocol : {"mptcp", "tcp"}, optional
        Measure only these connections. Without it those of MPTCP come first, and of TCP the 20 largest are listed.
    poll : callable, optional
        Called now and then with octets and packets read.

    Raises
    ------
    CaptureError
        If a file cannot be read, is no capture, or none holds a connection to measure.

    Examples
    --------
    >>> import anabranch as ab
    >>> ab.analyze("no-such-file.pcap")
    Traceback (most recent call last):
    ...
    anabranch.CaptureError: no-such-file.pcap: cannot be read: no such file or directory (os error 2)
    """
    several = [paths] if isinstance(paths, str | os.PathLike) else paths
    files = [os.fspath(path) for path in several]
    core = _core.analyze(files, poll, protocol)
    return Capture(json.loads(core.summary), tuple(files), core)


def _frame(columns: Mapping[str, Any]) -> "pd.DataFrame":
    import pandas as pd

    return pd.DataFrame(dict(columns))
