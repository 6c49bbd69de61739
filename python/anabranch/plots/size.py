"""Sizes of figures as people and publishers give them: ``"88 mm"``, ``"3.5 in"``."""

import re

_UNITS = {"mm": 1 / 25.4, "cm": 1 / 2.54, "in": 1.0, "pt": 1 / 72}
_LEAST, _MOST = 1.5, 60.0
"""Inches: less holds no axes, more is a slip of the pen."""


class LookError(ValueError):
    """A figure that is not there, or cannot look so; the message begins with the option."""


def inches(length: str | float, what: str) -> float:
    """A length in inches.

    Parameters
    ----------
    length : str or float
        With its unit, ``"88 mm"``; a number is in inches, as in matplotlib.
    what : str
        What errors call it.

    Raises
    ------
    LookError
        If it is none, or no figure can be so small or so large.

    Examples
    --------
    >>> round(inches("88 mm", "width"), 3), inches(3.5, "width"), inches("252pt", "width")
    (3.465, 3.5, 3.5)
    """
    text = f"{length} in" if isinstance(length, int | float) else length
    found = re.fullmatch(r"\s*([0-9]*\.?[0-9]+)\s*([a-z]+)\s*", text)
    if found is None or found[2] not in _UNITS:
        raise LookError(f'{what}: {length!r} is not a length; write "88 mm"; units: {", ".join(_UNITS)}')
    size = float(found[1]) * _UNITS[found[2]]
    if not _LEAST <= size <= _MOST:
        raise LookError(f"{what}: {length!r} is not between {_LEAST * 25.4:.0f} mm and {_MOST * 25.4:.0f} mm")
    return size
