"""What all algorithms written in Python share."""

import copy
import sys
from typing import TYPE_CHECKING, Any, ClassVar, Self

if TYPE_CHECKING:
    from random import Random


KINDS = ("controller", "scheduler", "detector", "reduction", "judge")
"""The kinds of algorithms; the base class of each has its name, with a capital letter."""


def of_package(cls: type) -> bool:
    """Whether a class is one of those of this package, which users derive from."""
    module = sys.modules.get(cls.__module__)
    return cls.__module__.startswith("anabranch.algorithms.") and getattr(module, cls.__name__, None) is cls


class Algorithm:
    """An algorithm of a scenario; the base of `Controller`, `Scheduler`, `Detector`, `Reduction` and `Judge`.

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
    compiled: ClassVar[bool] = False
    """The engine calls machine code, not methods."""
    label: ClassVar[str] = ""
    source: ClassVar[str] = ""
    needs: ClassVar[tuple[str, ...]] = ()
    fairness: ClassVar[str | None] = None

    def __init__(self, **parameters: float) -> None:
        for name, value in parameters.items():
            if name not in {parameter.name for parameter in _parameters(type(self))}:
                known = ", ".join(parameter.name for parameter in _parameters(type(self))) or "none"
                raise TypeError(f"{type(self).__name__} has no parameter {name!r}; its parameters: {known}")
            self.__dict__[name] = value

    @property
    def random(self) -> "Random":
        """A generator of random numbers, seeded from the seed of the run and the number of the object."""
        from random import Random

        found = self.__dict__.get("_random")
        if found is None:
            found = self.__dict__["_random"] = Random(self.__dict__.get("_seed", ""))
        return found

    def record(self, name: str, value: float) -> None:
        """Record a value, which becomes a column of ``run.subflows``; ``run.plot.recorded(name)`` draws it.

        A row has the last value that was recorded before its time, by the algorithm of its subflow, or by the scheduler
        of its connection; NaN before the first. What a loss episode recorded stays when the episode is undone. A method
        that is not told the time, such as `adjust`, records at the time of the call before. Outside of a run nothing
        is recorded.

        Parameters
        ----------
        name : str
            Letters of ASCII, digits and ``_``, such as ``"alpha"``; no measure of Anabranch.
        value : float
            In a unit of your choice, which the name may say: ``"target_s"``. NaN stands for no value.

        Raises
        ------
        AlgorithmError
            If a column cannot have the name, or if a run records more than 64 names.
        """
        recorder = self.__dict__.get("_recorder")
        if recorder is not None:
            recorder.record(name, value)

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
    def _prepare(cls) -> None:
        """Make ready to run here; raise AlgorithmError if that is not possible."""

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
