"""Parameters of an algorithm: class attributes with a unit and a range, set from a scenario."""

from dataclasses import dataclass
from typing import Any, overload

UNITS = ("number", "whole", "time", "share", "round_trips")
"""What a parameter may count: ``time`` is in seconds, ``share`` a fraction, ``round_trips`` in smoothed ones."""


@dataclass(frozen=True)
class Parameter:
    """A parameter of an algorithm, as a class attribute.

    Parameters
    ----------
    default : float
        The value unless the scenario says otherwise.
    least, most : float
        The range of values.
    unit : str
        ``"number"``, ``"whole"``, ``"time"`` (seconds), ``"share"`` (a fraction) or ``"round_trips"``.
    meaning : str
        One line.

    Examples
    --------
    >>> import anabranch as ab
    >>> class Patient(ab.Scheduler):
    ...     wait = ab.Parameter(0.01, 0, 1, unit="time", meaning="time that it waits for the fast path")
    ...
    ...     def pick(self, offer):
    ...         return offer.open()
    >>> Patient().wait
    0.01
    """

    default: float
    least: float
    most: float
    unit: str = "number"
    meaning: str = ""
    name: str = ""

    def __set_name__(self, owner: type, name: str) -> None:
        object.__setattr__(self, "name", name)

    @overload
    def __get__(self, algorithm: None, owner: type) -> "Parameter": ...
    @overload
    def __get__(self, algorithm: object, owner: type) -> float: ...
    def __get__(self, algorithm: Any, owner: type) -> "Parameter | float":
        if algorithm is None:
            return self
        return float(algorithm.__dict__.get(self.name, self.default))

    @property
    def row(self) -> tuple[str, str, float, float, float, str]:
        """What the engine is told."""
        meaning = self.meaning or f"parameter {self.name}"
        return self.name, self.unit, float(self.default), float(self.least), float(self.most), meaning


def parameters_of(cls: type) -> list[Parameter]:
    """Parameters of a class and of its bases, in the order in which they are defined."""
    found: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        found.update(vars(base))
    return [value for value in found.values() if isinstance(value, Parameter)]
