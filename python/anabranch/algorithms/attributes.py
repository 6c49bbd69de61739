"""The attributes of an object as text, equal for a copy and its original."""

from collections import deque
from collections.abc import Mapping
from typing import Any

_OF_RUN = ("_seed", "_recorder")
"""Attributes that the run gives an object."""


def as_text(value: Any) -> str:
    """All attributes of an object and of nested objects, as text; engine views show only their type.

    >>> class Counter:
    ...     def __init__(self):
    ...         self.list, self.total = [1, 2.5], 0
    >>> as_text(Counter())
    'Counter(list=[1, 2.5], total=0)'
    """
    return _as_text(value, set())


def _as_text(value: Any, within: set[int]) -> str:
    if isinstance(value, str | int | float | complex | bytes | type(None)):
        return repr(value)
    if id(value) in within:
        return "..."
    within = within | {id(value)}
    match value:
        case list() | deque():
            return f"[{', '.join(_as_text(one, within) for one in value)}]"
        case tuple():
            return f"({', '.join(_as_text(one, within) for one in value)})"
        case set() | frozenset():
            return f"{{{', '.join(sorted(_as_text(one, within) for one in value))}}}"
        case Mapping():
            return f"{{{', '.join(f'{_as_text(key, within)}: {_as_text(one, within)}' for key, one in value.items())}}}"
    name = type(value).__name__
    if hasattr(value, "getstate"):  # a generator of random numbers
        return f"{name}{value.getstate()}"
    slots = [slot for cls in type(value).__mro__ for slot in getattr(cls, "__slots__", ())]
    own = {slot: getattr(value, slot) for slot in slots if hasattr(value, slot)} | getattr(value, "__dict__", {})
    parts = [f"{key}={_as_text(one, within)}" for key, one in sorted(own.items()) if key not in _OF_RUN]
    return f"{name}({', '.join(parts)})"
