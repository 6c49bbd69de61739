"""The engine's table of measures: labels, units, bounds, definitions; and causes of waiting.

The table is in crates/measures/src/measures; docs/columns.md is made of it, too.
"""

import json
import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from anabranch import _core


class Measure(NamedTuple):
    """A measure with one value.

    Attributes
    ----------
    key : str
        Its column in the frames of a sweep or over time.
    field : str
        Its place in a summary, ``hol_delay_ms.p95`` for a field inside another.
    label : str
        What its axis is called, with the unit.
    words : str
        The label without the unit.
    short : str
        The label in headings of tables, without the unit.
    unit : str
        The unit in tables, where shares are percentages; empty for a count.
    scale : float
        From the field to the unit in tables.
    factor : float
        From the field to the unit of its axis, which shows shares as such.
    low, high : float
        Its bounds in the unit of its axis: an interval of its mean ends there.
    digits : int
        Digits behind the point in recommendations and papers.
    definition : str
        What it is.
    scopes : tuple of str
        Where it stands: ``run``, ``connection``, ``subflow``, ``frame``.
    capture : str
        What an analysis of captures knows of it.
    better : str
        ``more``, ``less`` or neither.
    kind : str
        ``number``, ``text`` or ``list``.
    is_summed : bool
        The sum over the subflows of a connection means something.
    """

    key: str
    field: str
    label: str
    words: str
    short: str
    unit: str
    scale: float
    factor: float
    low: float
    high: float
    digits: int
    definition: str
    scopes: tuple[str, ...]
    capture: str
    better: str
    kind: str
    is_summed: bool

    @property
    def heading(self) -> tuple[str, ...]:
        """The short label as the heading of a column, in two lines if it has two words.

        >>> MEASURES["goodput_mbps"].heading, MEASURES["spurious"].heading, MEASURES["status"].heading
        (('goodput', '(Mbit/s)'), ('spurious', 'retrans.'), ('status',))
        """
        return two_lines(f"{self.short} ({self.unit})" if self.unit else self.short)

    @property
    def title(self) -> str:
        """The label at the beginning of a sentence or over a column of a report, with the unit in tables.

        >>> MEASURES["ooo_ratio"].title
        'Out-of-order ratio (%)'
        """
        return headline(self.words) + (f" ({self.unit})" if self.unit else "")


def two_lines(label: str) -> tuple[str, ...]:
    """Break a label into the two lines that need the least width; a single word stays.

    >>> two_lines("base RTT (ms)"), two_lines("status")
    (('base', 'RTT (ms)'), ('status',))
    """
    words = label.split()
    splits = [(" ".join(words[:i]), " ".join(words[i:])) for i in range(1, len(words))]
    return min(splits, key=lambda parts: max(map(len, parts)), default=(label,))


def _measure(low: float | None, high: float | None, scopes: list[str], **told: Any) -> Measure:
    return Measure(
        low=-math.inf if low is None else low, high=math.inf if high is None else high, scopes=tuple(scopes), **told
    )


_TABLE = json.loads(_core.measures())

MEASURES: Mapping[str, Measure] = {told["key"]: _measure(**told) for told in _TABLE["columns"]}
"""Columns of a sweep's runs and of series over time, by name."""

CAUSES: tuple[Mapping[str, str], ...] = tuple(_TABLE["causes"])
"""Causes of waiting, in order of precedence: ``name``, ``label``, ``meaning``, ``evidence`` (`causes`)."""

PERCENTILES: Mapping[str, str] = _TABLE["percentiles"]
"""Names of fields in a summary, and the percentiles in words."""

_BY_FIELD = {measure.field: measure for measure in MEASURES.values()}


def label(name: str) -> str:
    """What the axis of the column `name` is called.

    >>> label("goodput_mbps"), label("detection_delay_ms"), label("my_share")
    ('goodput (Mbit/s)', 'detection delay (ms)', 'my share')
    """
    return MEASURES[name].label if name in MEASURES else name.replace("_", " ")


def of_field(field: str) -> Measure:
    """Return the measure of a field of the summary, ``hol_delay_ms.p95`` for one inside another.

    >>> of_field("hol_delay_ms.p95").label, of_field("reverse.goodput_mbps").words
    ('head-of-line delay, 95th percentile (ms)', 'goodput in the other direction')
    """
    return _BY_FIELD[field]


def column_of(*field: str) -> str:
    """The column of a sweep that holds a field of the summary.

    >>> column_of("hol_delay_ms", "p95"), column_of("limits", "cwnd"), column_of("ooo_ratio")
    ('hol_delay_p95_ms', 'limited_cwnd', 'ooo_ratio')
    """
    found = _BY_FIELD.get(".".join(field))
    return "_".join(field) if found is None else found.key


def scale(name: str) -> float:
    """From the column `name` to its unit in tables.

    >>> scale("ooo_ratio"), scale("ooo_buffer_max_bytes"), scale("goodput_mbps")
    (100.0, 0.001, 1.0)
    """
    return MEASURES[name].scale if name in MEASURES else 1.0


def bounds(name: str) -> tuple[float, float]:
    """Least and greatest value that the column `name` can have, in the unit of its axis; none if it is not known.

    >>> bounds("goodput_mbps"), bounds("ooo_ratio"), bounds("my_share")
    ((0.0, inf), (0.0, 1.0), (-inf, inf))
    """
    return (MEASURES[name].low, MEASURES[name].high) if name in MEASURES else (-math.inf, math.inf)


def factor(name: str) -> float:
    """From the column `name` to the unit of its axis.

    >>> factor("ooo_buffer_max_bytes"), factor("goodput_mbps")
    (0.001, 1.0)
    """
    return MEASURES[name].factor if name in MEASURES else 1.0


def headline(label: str) -> str:
    """Title of a figure whose axis is called `label`.

    >>> headline("goodput (Mbit/s)")
    'Goodput'
    """
    words = label.partition(" (")[0]
    return words[:1].upper() + words[1:]
