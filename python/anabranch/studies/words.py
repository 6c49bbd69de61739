"""Numbers as words of a report: dashes, signs, spans."""

import math
import re
from collections.abc import Iterable, Sequence

NONE = "\N{EN DASH}"
"""Where there is no number."""
MINUS = "\N{MINUS SIGN}"


def number(value: float, decimals: int) -> str:
    """`value` with `decimals`, a dash if there is none."""
    return NONE if math.isnan(value) else f"{value:.{decimals}f}"


def signed(value: float, decimals: int) -> str:
    """A difference; a true minus sign, and nothing if there is none.

    >>> signed(1.25, 1), signed(0.01, 1), signed(float("nan"), 1)
    ('+1.2', '±0.0', '')
    """
    if math.isnan(value):
        return ""
    text = f"{abs(value):.{decimals}f}"
    return "±" + text if float(text) == 0 else ("+" if value > 0 else MINUS) + text


def span(values: Iterable[float], form: str) -> str:
    """Least to most of those values that there are, or the one value if they are written alike.

    >>> span([0.5, 0.25, float("nan")], "{:.2f}"), span([1.0], "{:.1f}"), span([], "{:.1f}") == NONE
    ('0.25 to 0.50', '1.0', True)
    >>> span([-0.01, 0.01], "{:+.0f} %")
    '0 %'
    """
    known = [value for value in values if not math.isnan(value)]
    if not known:
        return NONE
    low, high = (typeset(form.format(end)) for end in (min(known), max(known)))
    return low if low == high else f"{low} to {high}"


def typeset(text: str) -> str:
    """Numbers with a true minus sign, and no sign before a zero."""
    return re.sub(r"-(?=[0-9])", MINUS, re.sub(r"[+-](?=0(\.0*)?(?![0-9.]))", "", text))


def of(count: int, total: int) -> str:
    """`count` of `total`.

    >>> of(3, 5), of(5, 5)
    ('3 of 5', 'all 5')
    """
    return f"all {total}" if count == total else f"{count} of {total}"


def listed(parts: Sequence[str]) -> str:
    """Parts of a sentence.

    >>> listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    """
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}" if parts else ""
