"""Quantities as people read them. Reading quantities is the engine's work; this module only writes them."""

import math
from collections.abc import Sequence

_TIMES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))
_DECIMAL = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def significant(value: float, digits: int = 3) -> str:
    """Write `value` with `digits` significant digits, without an exponent and without trailing zeros.

    >>> significant(6.2549), significant(0.94512), significant(13042.7), significant(20.0)
    ('6.25', '0.945', '13043', '20')
    """
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else str(value)
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    text = f"{value:.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def time(seconds: float) -> str:
    """Write a time.

    >>> time(0.2), time(25.56), time(0), time(5400), time(3600)
    ('200 ms', '25.6 s', '0 s', '1 h 30 min', '1 h')
    """
    if seconds == 0:
        return "0 s"
    whole = round(seconds)
    if whole >= 3600:
        minutes = round(seconds / 60) % 60
        return f"{round(seconds / 60) // 60} h" + (f" {minutes} min" if minutes else "")
    for scale, unit in _TIMES:
        if seconds >= scale * 0.9995:
            return f"{significant(seconds / scale)} {unit}"
    return f"{significant(seconds / 1e-9)} ns"


def _scaled(value: float, unit: str) -> str:
    for scale, prefix in _DECIMAL:
        if value >= scale * 0.9995:
            return f"{significant(value / scale)} {prefix}{unit}"
    return f"{significant(value)} {unit}"


def octets(count: float) -> str:
    """Write an amount of data.

    >>> octets(20_000_000), octets(296_800), octets(12)
    ('20 MB', '297 kB', '12 B')
    """
    return _scaled(count, "B")


def rate(bits_per_second: float) -> str:
    """Write a data rate.

    >>> rate(5e6), rate(500e3)
    ('5 Mbit/s', '500 kbit/s')
    """
    return _scaled(bits_per_second, "bit/s")


def percent(ratio: float) -> str:
    """Write a ratio of 0 to 1 as a percentage.

    >>> percent(0.4412), percent(0.0012), percent(1)
    ('44.1 %', '0.12 %', '100 %')
    """
    return f"{significant(100 * ratio)} %"


def column(values: Sequence[float | None], digits: int = 3) -> list[str]:
    """Write the numbers of one column, each with `digits` significant digits, the decimal points below each other.

    What is less than a thousandth of the largest has fewer. Cells are to be flush right; they end in blanks.

    >>> column([4.6149, 0.18, None])
    ['4.61 ', '0.180', '-']
    """
    known = [abs(v) for v in values if v is not None and math.isfinite(v)]
    most = _decimals(max(known, default=0.0), digits) + 3
    texts = ["-" if v is None or math.isnan(v) else f"{v:.{min(most, _decimals(abs(v), digits))}f}" for v in values]
    return _pointed(texts)


def halves(means: list[str], values: list[float]) -> list[str]:
    """Write half-widths of intervals beside `means`, no finer than these are written.

    What is narrower than the last digit of the mean is written as that digit; what is unknown (NaN) as a dash.

    >>> halves(["6.81", "279 ", "9.82", "1.00"], [0.8934, 3.2, 0.00031, math.nan])
    ['0.89', '3   ', '0.01', '-']
    """
    texts = []
    for mean, half in zip(means, values, strict=True):
        digits = len(mean.strip().partition(".")[2])
        texts.append("-" if math.isnan(half) else f"{_at_least(half, digits):.{digits}f}" if half else "0")
    return _pointed(texts)


def plus_minus(mean: float, half: float) -> str:
    """Write a mean and half of the width of its interval, which has two significant digits, or the sixth of the mean.

    >>> plus_minus(6.8123, 0.8934), plus_minus(9.82206, 1e-9), plus_minus(6.8123, math.nan), plus_minus(1234.6, 321.0)
    ('6.81 +- 0.89', '9.82206 +- 0.00001', '6.81', '1235 +- 321')
    """
    if math.isnan(mean):
        return "-"
    if not half > 0:
        return column([mean])[0].strip()
    digits = min(_decimals(half, 2), _decimals(abs(mean), 6)) if mean else _decimals(half, 2)
    return f"{mean:.{digits}f} +- {_at_least(half, digits):.{digits}f}"


def _at_least(half: float, digits: int) -> float:
    """`half`, but not less than one unit of the last of `digits` behind the point."""
    return max(half, 10.0**-digits)


def _pointed(texts: list[str]) -> list[str]:
    """`texts` with blanks behind, so that flush right the points stand below each other."""
    behind = [len(text) - text.index(".") if "." in text else 0 for text in texts]
    width = max(behind, default=0)
    return [text if text == "-" else text + " " * (width - n) for text, n in zip(texts, behind, strict=True)]


def _decimals(value: float, digits: int) -> int:
    """Digits behind the point, if `value` has `digits` significant ones."""
    return max(0, digits - 1 - math.floor(math.log10(value))) if value > 0 and math.isfinite(value) else 0


def count(number: int, what: str) -> str:
    """Write how many there are of something.

    >>> count(1, "connection"), count(3, "seed")
    ('1 connection', '3 seeds')
    """
    return f"{number} {what}{'' if number == 1 else 's'}"
