"""An axis of a sweep as an axis of a figure: numbers in one unit where its values are quantities, else names."""

import itertools
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

_UNITS: tuple[dict[str, float], ...] = (
    {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0},
    {"bit/s": 1.0, "kbit/s": 1e3, "Mbit/s": 1e6, "Gbit/s": 1e9},
    {"B": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30},
    {"packets": 1.0},
    {"%": 1.0},
    {"mm": 1e-3, "cm": 1e-2, "m": 1.0, "km": 1e3},
    {"m/s": 1.0, "km/h": 1 / 3.6},
    {"dB": 1.0},
    {"dBm": 1.0},
    {"": 1.0},
)
_NUMBER = re.compile(r"\s*([+-]?[0-9][0-9_]*(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)\s*([A-Za-z%/]*)\s*")


@dataclass(frozen=True)
class Scale:
    """Where the values of an axis stand.

    Attributes
    ----------
    places : tuple of float
        Of each value; its number if they are names.
    names : tuple of str
        What stands at each place.
    unit : str
        Of the places; empty if they have none.
    numeric : bool
        Whether the places are numbers, so that a line may join them.
    """

    places: tuple[float, ...]
    names: tuple[str, ...]
    unit: str
    numeric: bool

    @property
    def logarithmic(self) -> bool:
        """Whether the values are spread more evenly by their ratios."""
        if not self.numeric or len(self.places) < 3 or min(self.places) <= 0:
            return False
        ordered = sorted(self.places)
        return _evenness([math.log(x) for x in ordered]) > _evenness(ordered) and ordered[-1] > 10 * ordered[0]


def scale(values: Sequence[object]) -> Scale:
    """The places of `values` on an axis.

    >>> scale(["500 us", "10 ms", "1 s"])
    Scale(places=(0.0005, 0.01, 1.0), names=('500 us', '10 ms', '1 s'), unit='s', numeric=True)
    >>> scale([5, 10]).places, scale(["coupled", "cubic"]).places
    ((5.0, 10.0), (0.0, 1.0))
    """
    names = tuple(str(value) for value in values)
    quantities = [_quantity(value) for value in values]
    for table in _UNITS:
        found = [quantity for quantity in quantities if quantity is not None and quantity[1] in table]
        if len(found) == len(values) > 0:
            base = [number * table[unit] for number, unit in found]
            unit = max(found, key=lambda one: one[0] * table[one[1]])[1]
            plain = [f"{number / table[unit]:.12g}" for number in base]
            shown = tuple(plain) if len({one[1] for one in found}) == 1 else names
            return Scale(tuple(float(text) for text in plain), shown, unit, True)
    return Scale(tuple(float(i) for i in range(len(names))), names, "", False)


def _quantity(value: object) -> tuple[float, str] | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value), ""
    found = _NUMBER.fullmatch(value) if isinstance(value, str) else None
    return None if found is None else (float(found[1].replace("_", "")), found[2])


def _evenness(ordered: Sequence[float]) -> float:
    """Least distance of neighbours / largest one."""
    gaps = [b - a for a, b in itertools.pairwise(ordered)]
    return min(gaps) / max(gaps) if max(gaps) > 0 else 0.0


def written(value: float, _position: int | None = None) -> str:
    """A number without a power of ten, as far as that can be read.

    >>> written(0.0001), written(20000.0), written(5e9)
    ('0.0001', '20000', '5e+09')
    """
    return f"{value:.10g}" if 1e-5 <= abs(value) < 1e7 else f"{value:g}"


_STEPS = ((1,), (1, 3), (1, 2, 5), (1, 2, 3, 5, 7), (1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9))
_ENOUGH = 4


def round_numbers(low: float, high: float) -> list[float]:
    """Round numbers from `low` to `high`, more or less evenly by their ratios: two or more, seldom above seven.

    >>> round_numbers(0.01, 1), round_numbers(30, 800), round_numbers(12, 14)
    ([0.01, 0.03, 0.1, 0.3, 1.0], [30.0, 100.0, 300.0], [12.0, 13.0, 14.0])
    """
    if not 0 < low < high:
        return []
    first, last = math.floor(math.log10(low)), math.floor(math.log10(high))
    within = (low * (1 - 1e-9), high * (1 + 1e-9))
    for steps in _STEPS:
        every = max(1, -(-(last - first) // 6)) if len(steps) == 1 else 1
        found = [float(f"{step}e{power}") for power in range(first, last + 1, every) for step in steps]
        found = [x for x in found if within[0] <= x <= within[1]]
        if len(found) >= _ENOUGH or (len(found) >= 3 and len(steps) > 1):
            return found
    step = 10 ** math.floor(math.log10((high - low) / 2))
    step = next(s * step for s in (5, 2, 1, 0.5) if (high - low) / (s * step) >= 2)
    return [round(float(i * step), 12) for i in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]
