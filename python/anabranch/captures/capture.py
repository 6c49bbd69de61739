"""Captures of Multipath TCP and of TCP, measured with the instruments of a simulated run."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal

from anabranch._core import CaptureError
from anabranch.captures.data import CaptureData, measure
from anabranch.captures.plots import CapturePlots
from anabranch.measures import units
from anabranch.measures.labels import connections_of

if TYPE_CHECKING:
    import os

__all__ = ["Capture", "CaptureError", "CapturePlots", "analyze"]


class Capture(CaptureData):
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
    protocol : {"mptcp", "tcp"}, optional
        What alone was measured.
    subflows : pandas.DataFrame
        As of a run; ``cwnd``, ``ssthresh`` and ``rto`` are NaN, ``in_flight`` and ``srtt`` too unless captured at the
        sender, with the acknowledgements.
    sequence : pandas.DataFrame
        What was sent when: ``t`` (s), ``connection``, ``subflow``, ``kind`` (``new``, ``retransmission``,
        ``reinjection``), ``low`` and ``high`` (octets of the data stream).
    window : pandas.DataFrame
        What the receiver said: ``t`` (s), ``connection``, ``data_ack`` and ``edge`` (octets of the data stream).
    plot : CapturePlots
        ``capture.plot.sequence()``, ``.throughput()``, ``.in_flight()``, ``.ooo_buffer()``, ``.srtt()``.
    """

    @classmethod
    def load(cls, directory: "str | os.PathLike[str]") -> "Capture":
        """Read an analysis that `save` or ``anabranch analyze --out`` wrote.

        Raises
        ------
        ResultError
            If `directory` is not a whole one.
        """
        from anabranch.captures.store import read

        return cls.around(read(directory))

    @classmethod
    def around(cls, found: CaptureData) -> "Capture":
        """The same with all that is made of it at hand."""
        return cls(found.summary, found.files, found.core, found.hashes, found.protocol)

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
        from anabranch.captures.report import CaptureDraft

        with CaptureDraft(directory, command) as draft:
            draft.commit(self)

    def __str__(self) -> str:
        """The text ``anabranch analyze`` prints."""
        from anabranch.captures.text import document

        return str(document(self))

    def _repr_html_(self) -> str:
        from anabranch.captures.notebook import notebook_html

        return notebook_html(self)

    def __repr__(self) -> str:
        connections = connections_of(self.summary)
        flows = sum(len(connection["subflows"]) for connection in connections)
        return (
            f"<anabranch.Capture {', '.join(self.files)}: {units.count(len(connections), 'connection')}, "
            f"{units.count(flows, 'subflow')}>"
        )


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
    return Capture.around(measure(paths, protocol, poll))
