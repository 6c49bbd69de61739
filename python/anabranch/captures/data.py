"""What captures show, before anything is made of it.

Texts, figures, reports and files are made of this; `capture.Capture` is the same with all of these at hand.
"""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol

from anabranch import _core
from anabranch.measures.labels import Labels, connections_of
from anabranch.results.directory import naming
from anabranch.results.drafts import whole
from anabranch.results.result_kinds import ANALYSIS

if TYPE_CHECKING:
    import pandas as pd


class Frames(Protocol):
    """The columns of a capture's frames: from the engine, or from a directory."""

    def subflows(self) -> Mapping[str, Any]:
        """Over time."""

    def sequence(self) -> Mapping[str, Any]:
        """What was sent when."""

    def window(self) -> Mapping[str, Any]:
        """What the receiver said."""


@dataclass(frozen=True, eq=False, repr=False)
class CaptureData:
    """The numbers of captures; the attributes are those of `anabranch.captures.capture.Capture`."""

    kind: ClassVar[str] = ANALYSIS

    summary: dict[str, Any]
    files: tuple[str, ...]
    core: Frames
    hashes: tuple[str, ...] = ()
    protocol: Literal["mptcp", "tcp"] | None = None

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


def measure(
    paths: "str | os.PathLike[str] | Sequence[str | os.PathLike[str]]",
    protocol: Literal["mptcp", "tcp"] | None = None,
    poll: Callable[[int, int], None] | None = None,
) -> CaptureData:
    """Read captures; see `anabranch.captures.capture.analyze`."""
    several = [paths] if isinstance(paths, str | os.PathLike) else paths
    files = [os.fspath(path) for path in several]
    core = _core.analyze(files, poll, protocol)
    if core.interrupted:
        raise KeyboardInterrupt
    return CaptureData(json.loads(core.summary), tuple(files), core, protocol=protocol)


def write_qlog(paths: Sequence["str | os.PathLike[str]"], file: "str | os.PathLike[str]") -> int:
    """Write every segment of captures to `file` as an event of qlog; returns how many. docs/captures.md defines them.

    The file appears whole or not at all.

    Raises
    ------
    CaptureError
        If a capture cannot be read.
    OSError
        If `file` cannot be written.
    """
    with naming(os.fspath(file)), whole(file) as draft:
        return _core.qlog([os.fspath(path) for path in paths], os.fspath(draft))


def _frame(columns: Mapping[str, Any]) -> "pd.DataFrame":
    import pandas as pd

    return pd.DataFrame(dict(columns))
