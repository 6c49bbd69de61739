"""Finds calls that make runs differ: clock, unseeded random numbers, the platform's libm."""

import ast
import inspect
import math
import random
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from anabranch.algorithms.identity import is_of_user

_EXACT = {"sqrt", "floor", "ceil", "trunc", "fabs", "copysign", "fmod", "frexp", "ldexp", "modf", "isfinite", "isinf"}
_EXACT |= {
    "isnan",
    "degrees",
    "radians",
    "remainder",
    "gcd",
    "lcm",
    "comb",
    "perm",
    "factorial",
    "isqrt",
    "nextafter",
    "ulp",
    "fsum",
    "prod",
    "isclose",
}
"""Functions of `math` whose result is the same on every machine."""
_POWER = "x ** y of real numbers is the platform's own; use ab.math.pow, or x * x"
_PACKAGE = str(Path(__file__).parents[1])
_OURS = {"cbrt": "cbrt", "exp": "exp", "log": "log", "pow": "pow"}
_CLOCK = {"time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns", "process_time"}
_CLOCK |= {"process_time_ns", "thread_time", "thread_time_ns", "clock_gettime", "localtime", "gmtime"}


def said(function: Any) -> str | None:
    """What is wrong with calling a C function; None if nothing is.

    >>> import time, random, math
    >>> said(time.monotonic), said(math.sqrt), said(random.Random(1).random)
    ('time.monotonic reads the clock; use the time that the engine gives, such as offer.now or ack.now', None, None)
    >>> said(math.exp)
    "math.exp is the platform's own, whose last bit differs between machines; use ab.math.exp"
    """
    name, module, owner = function.__name__, function.__module__, getattr(function, "__self__", None)
    remedy = "use the time that the engine gives, such as offer.now or ack.now"
    if module == "time" and name in _CLOCK:
        return f"time.{name} reads the clock; {remedy}"
    if name in {"now", "utcnow", "today"} and getattr(owner, "__module__", "") == "datetime":
        return f"datetime.{name} reads the clock; {remedy}"
    if owner is getattr(random, "_inst", None) and owner is not None:
        return "random has a seed that the run does not know; use self.random"
    if isinstance(owner, random.SystemRandom) or (module in {"posix", "nt"} and name in {"urandom", "getrandom"}):
        return f"{name} has no seed; use self.random"
    if module == "math" and name not in _EXACT:
        return _libm(name)
    return None


def _libm(name: str) -> str:
    ours = f"use ab.math.{_OURS[name]}" if name in _OURS else "express it by ab.math.exp, log, pow or cbrt"
    return f"math.{name} is the platform's own, whose last bit differs between machines; {ours}"


class Calls:
    """Within the block, notes what the code of the user calls in this thread: places by what is wrong.

    A place is a file and a line.
    """

    def __init__(self) -> None:
        self.found: dict[str, str] = {}
        self._before: Callable[..., Any] | None = None

    def __enter__(self) -> "Calls":
        self._before = sys.getprofile()
        sys.setprofile(self._note)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(self._before)

    def _note(self, frame: types.FrameType, event: str, function: Any) -> None:
        if event != "c_call":
            return
        what = said(function)
        if what is None or what in self.found:
            return
        caller: types.FrameType | None = frame
        while caller is not None and not is_of_user(caller.f_code.co_filename):  # `random` calls C itself
            if caller.f_code.co_filename.startswith(_PACKAGE):
                return  # what the package calls for itself
            caller = caller.f_back
        if caller is not None and not caller.f_code.co_filename.startswith("<frozen"):
            self.found[what] = f"{Path(caller.f_code.co_filename).name}:{caller.f_lineno}"


def inexact(cls: type) -> Iterator[tuple[str, str]]:
    """Place of what differs between machines and shows in the code of a class, and what is wrong with it.

    Powers of real numbers come from the platform's libm, also with a whole exponent. A power of a whole number that is
    written in the code is left out. Calls of machine code are not seen while it runs, so in a compiled scheduler calls
    of `math` and numpy are looked for here.
    """
    module = sys.modules.get(cls.__module__)
    own = inspect.getmembers(module, lambda one: inspect.isfunction(one) and one.__module__ == cls.__module__)
    for _, function in (*inspect.getmembers(cls, inspect.isfunction), *own):
        if is_of_user(function.__code__.co_filename):
            for node, place in _nodes(function.__code__):
                if _is_power(node):
                    yield place, _POWER
    for function in _machine_code(cls):
        for node, place in _nodes(function.__code__):
            name = node.attr if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) else ""
            module = function.__globals__.get(node.value.id) if name else None  # type: ignore[attr-defined]
            if module is math and name not in _EXACT and callable(getattr(math, name, None)):
                yield place, _libm(name)


def _machine_code(cls: type) -> Iterator[types.FunctionType]:
    """Functions of the user that the machine code of a compiled scheduler consists of."""
    function = getattr(cls, "function", None)
    left, seen = [function] if getattr(cls, "compiled", False) else [], set[int]()
    while left:
        one = left.pop()
        one = getattr(one, "py_func", one)
        if isinstance(one, types.FunctionType) and id(one) not in seen and is_of_user(one.__code__.co_filename):
            seen.add(id(one))
            yield one
            left += [one.__globals__[name] for name in one.__code__.co_names if name in one.__globals__]


def _nodes(code: types.CodeType) -> Iterator[tuple[ast.AST, str]]:
    """Nodes of the source of a function, and the place of each."""
    source = Path(code.co_filename)
    tree = ast.parse(source.read_text("utf-8"))
    first, last = code.co_firstlineno, max((line for *_, line in code.co_lines() if line), default=code.co_firstlineno)
    for node in ast.walk(tree):
        line = getattr(node, "lineno", 0)
        if first <= line <= last:
            yield node, f"{source.name}:{line}"


def _is_power(node: ast.AST) -> bool:
    if not isinstance(node, ast.BinOp | ast.AugAssign) or not isinstance(node.op, ast.Pow):
        return False
    base = node.left if isinstance(node, ast.BinOp) else node.target
    return not (isinstance(base, ast.Constant) and isinstance(base.value, int))
