"""What all algorithms written in Python share."""

import copy
import sys
from typing import TYPE_CHECKING, Any, ClassVar, Self

if TYPE_CHECKING:
    from random import Random

_RUN = ("_seed", "_random", "_recorder")
"""Attributes that the run gives an object."""


def of_package(cls: type) -> bool:
    """Whether a class is one of those of this package, which users derive from."""
    module = sys.modules.get(cls.__module__)
    return cls.__module__.startswith("anabranch.algorithms.") and getattr(module, cls.__name__, None) is cls


class Algorithm:
    """An algorithm of a scenario; the base of `Controller` and `Scheduler`.

    An object is made for each subflow (a scheduler: for each connection) of a run. ``__init__`` takes no arguments;
    when it is called, the object has the attributes that its kind documents and the values of its parameters.

    Attributes
    ----------
    label : str
        What tables and figures call it; the name of the class unless set.
    source : str
        The paper or RFC that it follows.
    needs : tuple of str
        What the engine must provide: ``"sack"``, ``"scoreboard"``, ``"timestamps"``, ``"door_options"``,
        ``"delivery_rate"``, ``"ecn"``, ``"exact_echo"``, ``"backlog"``, ``"blocks"``, ``"departures"``, ``"timer"``.
    """

    kind: ClassVar[str] = ""
    label: ClassVar[str] = ""
    source: ClassVar[str] = ""
    needs: ClassVar[tuple[str, ...]] = ()
    fairness: ClassVar[str | None] = None

    def __init__(self, **parameters: float) -> None:
        for name, value in parameters.items():
            if name not in {parameter.name for parameter in _parameters(type(self))}:
                known = ", ".join(parameter.name for parameter in _parameters(type(self))) or "none"
                raise TypeError(f"{type(self).__name__} has no parameter {name!r}; it has: {known}")
            self.__dict__[name] = value

    @property
    def random(self) -> "Random":
        """A generator of random numbers, seeded from the seed of the run and the number of the object."""
        from random import Random

        found = self.__dict__.get("_random")
        if found is None:
            found = self.__dict__["_random"] = Random(self.__dict__.get("_seed", ""))
        return found

    def snapshot(self) -> Self:
        """A copy with all its state, which the engine restores if a loss episode was spurious.

        The default is `copy.deepcopy`, which shares what the engine shows (paths, acknowledgements).
        """
        return copy.deepcopy(self)

    @classmethod
    def overrides(cls, method: str) -> bool:
        """Whether the class, or a base of it other than those of Anabranch, defines `method`."""
        for base in cls.__mro__:
            if method in vars(base):
                return not of_package(base)
        return False

    @classmethod
    def create(cls, values: "dict[str, float]", attributes: "dict[str, Any]") -> Self:
        """Make an object as a run does: its attributes are there before ``__init__`` is called."""
        made = cls.__new__(cls)
        made.__dict__.update(attributes)
        made.__dict__.update(values)
        made.__init__()  # type: ignore[misc] # as `cls()` would
        return made


def _parameters(cls: type) -> Any:
    from anabranch.algorithms.parameter import parameters_of

    return parameters_of(cls)
