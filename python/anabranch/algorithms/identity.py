"""What makes a class of algorithms another one: its code, and the code that its code names."""

import hashlib
import pickle
import sys
import sysconfig
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, TypeGuard

from anabranch.algorithms.parameter import Parameter

_INSTALLED = tuple(
    str(Path(path).resolve())
    for name, path in sysconfig.get_paths().items()
    if name in ("stdlib", "purelib", "platlib")
)
_FOLDERS = {"site-packages", "dist-packages"}
"""Folders of installed packages, wherever they are."""


def identity(cls: type) -> str:
    """Hash of a class: methods, bases, globals and closures that they name, whole files of users' modules.

    The hash of a class that is defined in a notebook cell does not depend on the cell.
    """
    seen: dict[int, None] = {}
    digest = hashlib.sha256()
    for line in _parts(cls, seen):
        digest.update(line.encode() + b"\n")
    return digest.hexdigest()


def _parts(value: Any, seen: dict[int, None]) -> list[str]:
    """Texts that change when `value` changes."""
    value = getattr(value, "py_func", value)  # of a function that numba compiles
    if isinstance(value, str | int | float | bool | bytes | Parameter | type(None)):
        return [repr(value)]
    if id(value) in seen:
        return ["seen"]
    seen[id(value)] = None
    match value:
        case staticmethod() | classmethod():
            return _parts(value.__func__, seen)
        case property():
            return [part for f in (value.fget, value.fset) for part in _parts(f, seen)]
        case CodeType():
            return _of_code(value, seen)
        case FunctionType():
            return _of_function(value, seen)
        case ModuleType():
            return _of_file(getattr(value, "__file__", None), value.__name__)
        case type():
            return _of_class(value, seen)
        case tuple() | list():
            return [part for element in value for part in _parts(element, seen)]
        case dict():
            return [part for pair in value.items() for part in _parts(pair, seen)]
        case set() | frozenset():
            return sorted(part for element in value for part in _parts(element, {}))
    try:
        return [hashlib.sha256(pickle.dumps(value)).hexdigest()]
    except Exception:  # what cannot be pickled counts by its type
        return [f"{type(value).__module__}.{type(value).__qualname__}"]


def _of_code(code: CodeType, seen: dict[int, None]) -> list[str]:
    own = [code.co_code.hex(), repr(code.co_names), repr(code.co_varnames), repr(code.co_freevars)]
    return own + [part for constant in code.co_consts for part in _parts(constant, seen)]


def _of_function(function: FunctionType, seen: dict[int, None]) -> list[str]:
    if function.__module__.partition(".")[0] == "anabranch":
        return [function.__qualname__]
    found = _of_file(getattr(sys.modules.get(function.__module__), "__file__", None), "")
    for part in (function.__code__, function.__defaults__, function.__kwdefaults__):
        found += _parts(part, seen)
    for name in sorted(_names(function.__code__)):
        if name in function.__globals__:
            found += [name, *_parts(function.__globals__[name], seen)]
    for cell in function.__closure__ or ():
        try:
            found += _parts(cell.cell_contents, seen)
        except ValueError:  # not set yet
            found.append("empty")
    return found


def _names(code: CodeType) -> set[str]:
    """Names that code, and code within it, uses."""
    inner = [_names(constant) for constant in code.co_consts if isinstance(constant, CodeType)]
    return set(code.co_names).union(*inner)


def _of_class(cls: type, seen: dict[int, None]) -> list[str]:
    module = sys.modules.get(cls.__module__)
    file = getattr(module, "__file__", None)
    found = [cls.__qualname__, *_of_file(file, "")]
    if found[1:] == [""] and cls.__module__ != "__main__":
        return [f"{cls.__module__}.{cls.__qualname__}"]  # of an installed package
    for name, value in sorted(vars(cls).items()):
        if name not in ("__dict__", "__weakref__", "__module__", "__doc__", "__firstlineno__"):
            found += [name, *_parts(value, seen)]
    return found + [part for base in cls.__bases__ for part in _parts(base, seen)]


def of_user(module: ModuleType) -> bool:
    """Whether a module is a file of the user: neither installed nor of this package."""
    return is_of_user(getattr(module, "__file__", None))


def is_of_user(file: str | None) -> TypeGuard[str]:
    """Whether a file of Python is the user's: neither installed nor of this package."""
    if not isinstance(file, str) or not file.endswith(".py"):
        return False
    path = Path(file).resolve()
    installed = str(path).startswith(_INSTALLED) or not _FOLDERS.isdisjoint(path.parts)
    return not installed and Path(__file__).parents[1] not in path.parents


def _of_file(file: str | None, name: str) -> list[str]:
    """The hash of a whole file of a user; the name of what is installed."""
    if not is_of_user(file):
        return [name]
    try:
        return [hashlib.sha256(Path(file).read_bytes()).hexdigest()]
    except OSError:
        return [name]
