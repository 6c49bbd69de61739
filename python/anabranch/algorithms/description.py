"""What the engine is told of a class of algorithms."""

import inspect
import re
from types import FunctionType
from typing import TYPE_CHECKING, Any

from anabranch._core import AlgorithmError
from anabranch.algorithms.base import KINDS, Algorithm, of_package
from anabranch.algorithms.parameter import parameters_of

if TYPE_CHECKING:
    from anabranch._core import Recorder


BASES = " or ".join((", ".join(f"ab.{kind.capitalize()}" for kind in KINDS[:-1]), f"ab.{KINDS[-1].capitalize()}"))
"""What a message about a class that is none of these says."""


class Description:
    """Name, texts, needs and parameters of a class; the binding reads the attributes and calls `make`.

    Raises
    ------
    AlgorithmError
        If the class cannot be run: place, value and remedy.
    """

    def __init__(self, cls: type[Algorithm], name: str = "") -> None:
        check(cls)
        self.cls = cls
        self.kind = cls.kind
        self.compiled = cls.compiled
        self.name = name or reference_of(cls)
        self.label = cls.label or cls.__name__
        documented = next((vars(c).get("__doc__") for c in cls.__mro__ if not _own(c)), None)
        first = (documented or "").strip().splitlines()[:1]
        self.summary = first[0] if first else f"{cls.kind} {cls.__name__}, written in Python"
        self.source = cls.source
        self.needs = list(cls.needs)
        self.fairness = cls.fairness
        self.parameters = [parameter.row for parameter in parameters_of(cls)]

    def make(
        self, values: dict[str, float], mss: int, initial_window: int, seed: str, recorder: "Recorder"
    ) -> Algorithm:
        """Make an object for a subflow or a connection."""
        attributes: dict[str, Any] = {"_seed": seed, "_recorder": recorder, "mss": float(mss)}
        if self.kind == "controller":
            initial = float(mss) * initial_window
            attributes |= {"cwnd": initial, "ssthresh": float("inf"), "initial": initial}
        return self.cls.create(values, attributes)


def reference_of(cls: type) -> str:
    """Where a class is, as scenarios name it: ``module:Class``."""
    return f"{cls.__module__}:{cls.__qualname__}"


def _own(cls: type) -> bool:
    return cls is object or of_package(cls)


def place_of(cls: type | FunctionType) -> str:
    """Where messages say that a class or a function is: its file, if a scenario named the file, else its module."""
    name = getattr(cls, "__qualname__", str(cls))
    of_file = re.fullmatch(r"anabranch_file_(.+)_[0-9a-f]+", cls.__module__)
    return f"{of_file[1]}.py:{name}" if of_file else f"{cls.__module__}.{name}"


def check(cls: type) -> None:
    """Refuse what is no class of algorithms, and a class that lacks a method or defines one with wrong arguments."""
    place = place_of(cls)
    if not (isinstance(cls, type) and issubclass(cls, Algorithm) and cls.kind):
        raise AlgorithmError(f"{place} is no algorithm; derive the class from {BASES}")
    if missing := sorted(getattr(cls, "__abstractmethods__", ())):
        name = missing[0]
        raise AlgorithmError(f"{place} has no method {name}{_signature(_base(cls), name)}; a {cls.kind} needs it")
    if isinstance(cls.needs, str):
        raise AlgorithmError(f'{place}: needs is "{cls.needs}"; write needs = ("{cls.needs}",)')
    if not (isinstance(cls.needs, tuple | list) and all(isinstance(word, str) for word in cls.needs)):
        raise AlgorithmError(f"{place}: needs is {cls.needs!r}; write a tuple of words")
    for name in ("label", "source"):
        if not isinstance(getattr(cls, name), str):
            raise AlgorithmError(f"{place}: {name} is {getattr(cls, name)!r}; write a text")
    if getattr(cls, "asks", "always") not in ("always", "choices"):
        raise AlgorithmError(f'{place}: asks is {cls.asks!r}; choices: "always", "choices"')  # type: ignore[attr-defined]
    for name, own in _methods(cls):
        wanted = list(inspect.signature(getattr(_base(cls), name)).parameters)
        try:
            inspect.signature(own).bind(*wanted)
        except TypeError:
            raise AlgorithmError(
                f"{place}.{name}{inspect.signature(own)} takes other arguments than the engine gives; "
                f"define {name}{_signature(_base(cls), name)}"
            ) from None
    cls._prepare()


def _base(cls: type[Algorithm]) -> type[Algorithm]:
    """The class of the package that `cls` derives from."""
    return next(c for c in cls.__mro__ if of_package(c))


def _signature(cls: type, name: str) -> str:
    return f"({', '.join(inspect.signature(getattr(cls, name)).parameters)})"


def _methods(cls: type[Algorithm]) -> list[tuple[str, Any]]:
    """Methods of the engine that a class defines itself."""
    base = _base(cls)
    names = [name for name, value in vars(base).items() if inspect.isfunction(value) and not name.startswith("_")]
    return [(name, inspect.getattr_static(cls, name)) for name in names if cls.overrides(name)]
