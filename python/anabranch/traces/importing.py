"""One file of measurements, of a kind that is named."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from anabranch import _core
from anabranch.traces import errant, goodput, iperf3, lens, mahimahi, ping
from anabranch.traces.reading import Found, TraceError, Wanted, looks_like, text_of

_READ: "Mapping[str, Callable[[str, str, Wanted], Found]]" = {
    "goodput": goodput.read,
    "ping": ping.read,
    "lens": lens.read,
    "errant": errant.read,
    "mahimahi": mahimahi.read,
    "iperf3": iperf3.read,
}
KINDS = tuple(_READ)
GAPS = ("refuse", "zero", "hold")
_TAKES: Mapping[str, frozenset[str]] = {
    "goodput": frozenset(("column", "time", "unit", "step", "gaps")),
    "ping": frozenset(("column", "time", "step", "gaps", "resolution")),
    "lens": frozenset(("gaps", "resolution")),
    "errant": frozenset(("where", "step")),
    "mahimahi": frozenset(),
    "iperf3": frozenset(("gaps",)),
}


@dataclass(frozen=True)
class Imported:
    """What a link takes of a file.

    Attributes
    ----------
    kind : str
        One of `KINDS`.
    stamps : list of int or None
        Of a trace: milliseconds at which 1500 octets may leave.
    text : str
        The file for `trace`, or keys of a link in TOML.
    notes : tuple of str
        How the file was read: columns and units used (``goodput`` and ``ping``), number of merged rows, unused columns.
    """

    kind: str
    stamps: list[int] | None
    text: str
    notes: tuple[str, ...] = ()


def load(path: str, kind: str, **options: Any) -> Imported:
    """Read measurements.

    Parameters
    ----------
    path : str
        The file.
    kind : str
        ``"goodput"``, ``"ping"``, ``"lens"``, ``"errant"``, ``"mahimahi"`` or ``"iperf3"``; docs/links.md describes
        each.
    **options
        As those of ``anabranch trace import``: `column`, `time`, `unit`, `step`, `where` (a dict), `gaps`, `begin` (its
        ``--from``), `length`, `resolution`. Times are words with a unit, such as ``"15 s"``.

    Raises
    ------
    TraceError
        If the file is not of this kind, or has a fault.
    OSError
        If it cannot be read.
    """
    if kind not in KINDS:
        close = get_close_matches(kind, KINDS, 1)
        hint = f"did you mean {close[0]!r}? " if close else ""
        raise TraceError(f"unknown kind {kind!r}; {hint}kinds: {', '.join(KINDS)}")
    wanted = _wanted(kind, {key: value for key, value in options.items() if value})
    text = text_of(path)
    looks = looks_like(text)
    try:
        if kind == "goodput" and looks == "mahimahi" and wanted.column is None:
            raise TraceError(
                f"{path}: whole numbers that never fall look like times, not rates; --column value reads them as rates"
            )
        found = _READ[kind](path, text, wanted)
    except TraceError as error:
        if looks in (None, kind):
            raise
        raise TraceError(f"{error}\nthe file looks like --kind {looks}") from None
    if isinstance(found.content, str):
        return Imported(kind, None, found.content, tuple(found.notes))
    return Imported(kind, found.content, "".join(f"{stamp}\n" for stamp in found.content), tuple(found.notes))


def _wanted(kind: str, options: dict[str, Any]) -> Wanted:
    for name in options:
        if name not in _TAKES[kind] and name not in ("begin", "length"):
            of = [k for k in KINDS if name in _TAKES[k]]
            raise TraceError(f"--{name} is not for --kind {kind}" + (f", but for {', '.join(of)}" if of else ""))
    for name in ("step", "begin", "length", "resolution"):
        if name in options:
            options[name] = seconds(options[name], "from" if name == "begin" else name)
    if (gaps := options.get("gaps", "refuse")) not in GAPS:
        raise TraceError(f"--gaps: {gaps} is not a choice; choices: {', '.join(GAPS)}")
    if (unit := options.get("unit")) is not None and unit not in goodput.UNITS:
        raise TraceError(f"--unit: {unit} is not a unit of rates; units: {', '.join(goodput.UNITS)}")
    return Wanted(**options)


def seconds(text: str, option: str) -> float:
    """A time on the command line; it has to be above zero, but for ``--from``."""
    try:
        value = _core.duration(text)
    except _core.ScenarioError as error:
        raise TraceError(f"--{option}: {error}") from None
    if value <= 0 and option != "from":
        raise TraceError(f"--{option} {text}: must be above 0")
    return value
