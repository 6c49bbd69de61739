"""Scenarios: what a run depends on, as a TOML document plus changes to it.

The engine reads and validates the document; this class only carries it, so that a file, a string and a scenario built
here are judged by the same rules and answered with the same messages.
"""

import contextlib
import json
import re
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast, overload

from anabranch import _core
from anabranch._core import ScenarioError
from anabranch.algorithms.base import Algorithm
from anabranch.results.drafts import whole, whole_files

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping, Sequence

    from anabranch._keys import Changes, Key
    from anabranch.algorithms.description import Description
    from anabranch.runs.run import Run

__all__ = ["Scenario", "ScenarioError"]

ScenarioError.__module__ = "anabranch"  # as users know it, in tracebacks and pickles

Value: TypeAlias = str | int | float | bool | Algorithm | type[Algorithm]

_TIME = re.compile(r"^\s*[0-9][0-9._]*\s*(ns|us|µs|ms|s|min|h)\s*$")


_LONGEST = 100_000_000
"""Characters of the longest scenario: of a device nobody knows where it ends."""


@dataclass(frozen=True)
class Scenario:
    """A scenario; immutable, so each change gives a new one.

    Parameters
    ----------
    toml : str
        The TOML document.
    name : str
        What messages call it, normally the file's name.
    overrides : tuple of (str, str)
        Changes on top of the document, as ``--set`` takes them: key path and value.
    classes : tuple of classes
        Algorithms written in Python that `set` was given; others are imported when the scenario is read.

    Examples
    --------
    >>> import anabranch as ab
    >>> slow = ab.Scenario.two_path("5 Mbit/s, 100 ms", "2 Mbit/s, 10 ms", transfer="1 MB")
    >>> fast = slow.set("path.1.rate", "20 Mbit/s")
    >>> fast.run().summary["goodput_mbps"] > slow.run().summary["goodput_mbps"]
    True
    """

    toml: str
    name: str = "scenario.toml"
    overrides: tuple[tuple[str, str], ...] = ()
    classes: tuple[type[Algorithm], ...] = ()

    @classmethod
    def load(cls, path: "str | os.PathLike[str]") -> "Scenario":
        """Read a scenario file.

        Raises
        ------
        OSError
            If the file cannot be read.
        ScenarioError
            If it is not UTF-8 text, or too long for one. Its content is validated by `check` and `run`.
        """
        path = Path(path)
        try:
            with path.open(encoding="utf-8-sig") as file:
                text = file.read(_LONGEST + 1)
            if len(text) > _LONGEST:
                raise ScenarioError(
                    f"{path}: more than {_LONGEST // 1_000_000} million characters; give a shorter scenario file"
                )
            return cls(text, name=str(path))
        except UnicodeDecodeError as error:
            raise ScenarioError(f"{path}: not UTF-8 text (octet {error.start}); a scenario is a TOML file") from None

    @classmethod
    def from_toml(cls, text: str, name: str = "scenario.toml") -> "Scenario":
        """Make a scenario of TOML text."""
        return cls(text, name=name)

    @classmethod
    def two_path(cls, first: str, second: str, *, transfer: str, **connection: Value) -> "Scenario":
        """Two hosts joined by two disjoint paths.

        Parameters
        ----------
        first, second : str
            ``"RATE, DELAY"`` of each path (the delay is one way), then further keys of a path if wanted:
            ``"5 Mbit/s, 100 ms, loss 1 %, queue 64 kB"``. Or a link of ``anabranch list links``: ``"starlink"``,
            ``"lte driving"``, ``"wifi 30 m"``. The first one carries the first handshake.
        transfer : str
            How much the client sends (``"20 MB"``) or for how long (``"20 s"``).
        **connection
            Keys of ``[connection]``, such as ``controller="uncoupled"``.

        Examples
        --------
        >>> import anabranch as ab
        >>> print(ab.Scenario.two_path("5 Mbit/s, 100 ms", "2 Mbit/s, 10 ms", transfer="20 MB", sack=False))
        title = "5 Mbit/s, 100 ms + 2 Mbit/s, 10 ms"
        <BLANKLINE>
        [connection]
        sack = false
        <BLANKLINE>
        [transfer]
        bytes = "20 MB"
        <BLANKLINE>
        [[path]]
        rate = "5 Mbit/s"
        delay = "100 ms"
        <BLANKLINE>
        [[path]]
        rate = "2 Mbit/s"
        delay = "10 ms"
        """
        return cls.of_paths((first, second), transfer=transfer, name="two_path", **connection)

    @classmethod
    def of_paths(cls, paths: "Sequence[str]", *, transfer: str, name: str = "paths", **connection: Value) -> "Scenario":
        """Two hosts with any number of disjoint links, each written in short.

        Parameters
        ----------
        paths : sequence of str
            ``"RATE, DELAY"``, such as ``"5 Mbit/s, 100 ms"``; or ``"wifi STANDARD RATE, DISTANCE"``, such as
            ``"wifi 11g 54, 30 m"``, where the rate in Mbit/s may be missing or the name of a rate control. Further
            keys of a path, or of its ``wifi`` table, may follow: ``"5 Mbit/s, 100 ms, loss 1 %"``,
            ``"wifi 11g 54, 30 m, fading nakagami"``. Or a link of ``anabranch list links``, such as ``"lte driving"``.
        transfer : str
            How much is sent (``"20 MB"``), or for how long (``"20 s"``).
        name : str
            What errors call it.
        **connection
            Parameters of the connection.

        Examples
        --------
        >>> import anabranch as ab
        >>> print(ab.Scenario.of_paths(["wifi 11g 54, 30 m"], transfer="20 s").toml)
        title = "wifi 11g 54, 30 m"
        <BLANKLINE>
        [transfer]
        duration = "20 s"
        <BLANKLINE>
        [[path]]
        wifi = { standard = "802.11g", rate = "54 Mbit/s", distance = "30 m" }
        <BLANKLINE>
        """
        lines = [f"title = {literal(' + '.join(paths))}", ""]
        if connection:
            lines += ["[connection]", *(f"{key} = {literal(value)}" for key, value in connection.items()), ""]
        lines += ["[transfer]", f"{'duration' if _TIME.match(transfer) else 'bytes'} = {literal(transfer)}"]
        for path in paths:
            lines += ["", "[[path]]", *_path(path)]
        return cls("\n".join(lines) + "\n", name=name)

    @overload
    def set(self, key: "Key", value: Value) -> "Scenario": ...
    @overload
    def set(self, key: str, value: Value) -> "Scenario": ...
    @overload
    def set(self, key: "Changes") -> "Scenario": ...
    @overload
    def set(self, key: "Mapping[str, Value]") -> "Scenario": ...
    def set(self, key: "str | Mapping[str, Value] | Changes", value: Value | None = None) -> "Scenario":
        """Change one value, or several given as a mapping; the original stays as it is.

        Parameters
        ----------
        key : str or mapping
            A key path as in the file: ``"connection.controller"``, ``"path.1.delay"`` or ``"path[1].delay"``.
        value : str, int, float, bool, class or object
            The new value, with its unit: ``"200 ms"``. For a controller, scheduler, detector, reduction or judge also a
            class written in Python, or an object of it, of which the run takes the parameters.

        Examples
        --------
        >>> import anabranch as ab
        >>> base = ab.Scenario.two_path("5 Mbit/s, 100 ms", "2 Mbit/s, 10 ms", transfer="20 MB")
        >>> other = base.set({"connection.controller": "uncoupled", "path.1.delay": "200 ms"})
        >>> other.check()["connections"][0]["controller"]
        'uncoupled'
        """
        if isinstance(key, str):
            if value is None:
                raise TypeError(f"set({key!r}) needs a value")
            changes: Mapping[str, Value] = {key: value}
        else:
            changes = cast("Mapping[str, Value]", key)
        classes = self.classes
        for given in changes.values():
            cls = type(given) if isinstance(given, Algorithm) else given
            if isinstance(cls, type):
                classes = with_class(classes, cls)
        overrides = self.overrides + tuple((k, _plain(v)) for k, v in changes.items())
        return replace(self, overrides=overrides, classes=classes)

    def algorithms(self) -> "list[Description]":
        """Descriptions of the algorithms written in Python that the scenario names.

        Raises
        ------
        AlgorithmError
            If a class cannot be found, or lacks a method.
        """
        from anabranch.algorithms.references import descriptions

        return descriptions(self.toml, self.name, self.overrides, self.classes)

    def check(self, *, timeout: float | None = None, memory: int | None = None) -> dict[str, Any]:
        """Validate, without running.

        Parameters
        ----------
        timeout : float, optional
            Seconds that it may take.
        memory : int, optional
            Octets that the engine may hold meanwhile.

        Returns
        -------
        dict
            Every value of the scenario, defaults included, in SI units; ``warnings`` is a list of lines.

        Raises
        ------
        ScenarioError
            Names the place, the value, what is allowed and the nearest valid word.
        RunError
            If it takes more time or memory than it may.
        """
        changes, algorithms = list(self.overrides), self.algorithms()
        resolved: dict[str, Any] = json.loads(_core.check(self.toml, self.name, changes, timeout, memory, algorithms))
        return resolved

    def expanded(self) -> "Scenario":
        """Write out what is generated: ``[topology]`` and ``[traffic]`` as hosts, routers, links and connections.

        Returns
        -------
        Scenario
            The same scenario without changes on top, in the long form if it had one of the two tables.

        Examples
        --------
        >>> import anabranch as ab
        >>> tree = ab.Scenario.from_toml('''
        ... transfer.bytes = "1 MB"
        ... topology = { kind = "fat-tree", k = 4 }
        ... traffic = { pattern = "permutation", subflows = 2 }
        ... ''')
        >>> tree.expanded().toml.count("[[link]]")
        48
        """
        text = _core.expanded(self.toml, self.name, list(self.overrides), self.algorithms())
        return Scenario(text, self.name, classes=self.classes)

    def inlined(self) -> "Scenario":
        """Write the files that it names, such as traces, into it: the same scenario wherever it is read.

        Pickling does so by itself, so that a scenario runs on another machine; a sweep does, too.

        Returns
        -------
        Scenario
            This one if it names no file; else one without changes on top.

        Raises
        ------
        ScenarioError
            If a file cannot be read.
        """
        if "trace" not in self.toml and not any("trace" in part for change in self.overrides for part in change):
            return self  # without the cost of reading a large document
        text = _core.inlined(self.toml, self.name, list(self.overrides))
        return self if text is None else Scenario(text, self.name, classes=self.classes)

    def __reduce__(self) -> tuple[Any, ...]:
        try:
            whole = self.inlined()
        except ScenarioError:  # whoever reads it is told when it is used
            whole = self
        return Scenario, (whole.toml, whole.name, whole.overrides, whole.classes)

    def run(
        self,
        seed: int | None = None,
        *,
        trace: "str | os.PathLike[str] | None" = None,
        pcap: "str | os.PathLike[str] | None" = None,
        poll: "Callable[[dict[str, Any]], None] | None" = None,
        timeout: float | None = None,
    ) -> "Run":
        """Run it. The same scenario, seed and version give the same ``trace_sha256`` on every machine.

        Parameters
        ----------
        seed : int, optional
            Instead of the scenario's own seed, which is 1 unless given.
        trace : path, optional
            A text file to write one row per protocol event to. It appears when the run has ended, whole or not at all;
            a pipe or a device is written as it goes.
        pcap : path, optional
            A directory for captures, one of each interface: ``client-0.pcapng``, ..., ``server-0.pcapng``, ... They
            appear like `trace`.
        poll : callable, optional
            Called about 20 times a second with ``t`` and ``duration`` (virtual seconds), ``delivered`` and ``total``
            (octets; ``total`` may be None). What it raises ends the run.
        timeout : float, optional
            Seconds of wall-clock time that it may take.

        Returns
        -------
        Run
            Summary, series, figures.

        Raises
        ------
        ScenarioError
            If the scenario is not valid.
        AlgorithmError
            If an algorithm written in Python raises an exception, or returns or sets what is not allowed.
        RunError
            If it takes longer than `timeout`.
        """
        from anabranch.algorithms.origin import origin
        from anabranch.algorithms.watchdog import guarded
        from anabranch.results import provenance
        from anabranch.runs.run import Run

        started = provenance.now()
        with contextlib.ExitStack() as stack:
            events = None if trace is None else str(stack.enter_context(whole(trace)))
            packets = None if pcap is None else str(stack.enter_context(whole_files(pcap)))
            try:
                algorithms = self.algorithms()
                origins = [origin(one) for one in algorithms]  # before the run, which may change the file
                call = partial(
                    _core.run,
                    *(self.toml, self.name, list(self.overrides), seed, events, poll, packets),
                    timeout=timeout,
                    algorithms=algorithms,
                )
                done = guarded(call, timeout if algorithms else None)
            except _core.AlgorithmError as error:
                if hasattr(error, "time"):
                    error.add_note(_replayed(error.time))
                raise
        summary = json.loads(done.summary)
        return Run(
            summary=summary,
            toml=done.toml,
            provenance=provenance.of_run(done.toml, summary, started=started, algorithms=origins),
            series=done.subflows,
            parts=done.items,
            classes=self.classes,
        )

    def _repr_html_(self) -> str:
        from anabranch.runs.scenario_page import scenario_html

        return scenario_html(self)

    def __str__(self) -> str:
        """The document, with the changes as comments."""
        changes = "".join(f"# --set {key}={value}\n" for key, value in self.overrides)
        return changes + self.toml.rstrip("\n")


def with_class(classes: tuple[type[Algorithm], ...], cls: type[Algorithm]) -> tuple[type[Algorithm], ...]:
    """`classes` with one more; a class that was defined again, as in a notebook, replaces the former one."""
    from anabranch.algorithms.description import check, reference_of

    check(cls)
    return (*(other for other in classes if reference_of(other) != reference_of(cls)), cls)


def _replayed(time: float) -> str:
    """How to run a scenario up to the virtual time at which an algorithm failed."""
    if not time > 0:
        return "it failed before the first event of the run"
    last = f"{round(time * 1e9) - 1} ns"  # the run includes its last nanosecond
    return (
        f'to run up to there: scenario.set("duration", "{last}").run(trace="events.txt"), '
        f"or repeat the command with --set 'duration={last}' --trace events.txt"
    )


def literal(value: Value) -> str:
    """`value` as TOML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return repr(value)


def _plain(value: Value) -> str:
    """`value` as it would follow ``--set key=``."""
    if isinstance(value, Algorithm | type):
        from anabranch.algorithms.references import value_of

        return value_of(value)
    return value if isinstance(value, str) else literal(value)


_WIFI = re.compile(r"wifi\s+(?:802\.)?(11[a-z]*)(?:\s+(.+))?")
_ON_AIR = frozenset(
    (
        *("mode", "tx_power", "path_loss", "path_loss_exponent", "reference_loss", "reference_distance", "fading"),
        *("nakagami_m", "error_model", "preamble_detection", "noise_figure", "channel_width", "frequency"),
        *("retry_limit", "rts_threshold", "max_age", "channel", "velocity", "distance"),
    )
)
"""Keys of a ``wifi`` table that may follow in the short form; ``rate``, ``queue`` and others are the wired hop's."""


def _path(text: str) -> list[str]:
    """Lines of a ``[[path]]`` written as ``"RATE, DELAY"`` or ``"wifi STANDARD RATE, DISTANCE"``, and further keys."""
    first, *parts = (part.strip() for part in text.split(","))
    wireless = _WIFI.fullmatch(first)
    if not wireless and _is_preset(first):
        return [f"preset = {literal(first)}", *_keys(parts, radio=first.lower().startswith("wifi"))]
    if not parts or (first.startswith("wifi") and not wireless):
        near = [] if wireless else get_close_matches(first.lower(), _link_names(), 1)
        raise ScenarioError(
            (f"did you mean {literal(near[0])}? " if near else "")
            + 'a path is written "RATE, DELAY", such as "5 Mbit/s, 100 ms", or "wifi STANDARD RATE, DISTANCE", such as '
            f'"wifi 11g 54, 30 m", or as a link of `anabranch list links`, such as "lte driving"; got {text!r}'
        )
    head = parts.pop(0)
    air: list[str] = []
    lines: list[str] = []
    if wireless:
        standard, rate = wireless.groups()
        air = [f"standard = {literal(f'802.{standard}')}"]
        if rate:
            air.append(f"rate = {literal(f'{rate} Mbit/s' if re.fullmatch(r'[0-9.]+', rate) else rate)}")
        air.append(f"distance = {literal(head)}")
    else:
        lines = [f"rate = {literal(first)}", f"delay = {literal(head)}"]
    return lines + _keys(parts, radio=wireless is not None, air=air)


def _keys(parts: "Sequence[str]", *, radio: bool, air: "Sequence[str]" = ()) -> list[str]:
    """Lines of further keys of a path, after `air`; of a `radio`, those of its ``wifi`` table stand in that."""
    inside = list(air)
    lines: list[str] = []
    for line in map(_key, parts):
        own = line.startswith("wifi.") or (radio and line.split(" ", 1)[0] in _ON_AIR)
        (inside if own else lines).append(line.removeprefix("wifi."))
    return [*([f"wifi = {{ {', '.join(inside)} }}"] if inside else []), *lines]


def _key(part: str) -> str:
    """The line of ``"KEY VALUE"``; the key may be one of a table: ``"cellular.rate_down 30 Mbit/s"``."""
    key, _, value = part.partition(" ")
    value = value.strip()
    if not value or not re.fullmatch(r"([a-z]+\.)?[a-z_]+", key):
        raise ScenarioError(f'a further key of a path is written "KEY VALUE", such as "loss 1 %"; got {part!r}')
    bare = value in ("true", "false") or key.rpartition(".")[2] in _NUMBERS
    return f"{key} = {value if bare else literal(value)}"


def _is_preset(text: str) -> bool:
    """Whether this is the name of a link that `anabranch list links` shows, perhaps with a distance."""
    words = text.lower().split()
    return not {" ".join(words), " ".join(words[:-2])}.isdisjoint(_link_names())


def _link_names() -> list[str]:
    """Names of the links that `anabranch list links` shows."""
    links = json.loads(_core.registry())["link"]
    return [name for link in links for name in (link["name"], *link["also"])]


_NUMBERS = frozenset(("path_loss_exponent", "nakagami_m", "retry_limit", "cost", "weight", "priority"))
"""Keys whose values have no unit and no quotes."""
