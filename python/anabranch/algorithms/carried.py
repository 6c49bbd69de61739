"""Serializes the code of algorithm classes for sweep workers that cannot import it."""

import contextlib
import io
import pickle
import sys
import types
from collections import ChainMap
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from anabranch._core import AlgorithmError
from anabranch.algorithms.base import Algorithm, of_package
from anabranch.algorithms.description import Description, place_of
from anabranch.algorithms.identity import identity, of_user


def packed(found: Sequence[Description]) -> bytes:
    """The code of classes, with all code of the user that they name; empty if there are none.

    Raises
    ------
    AlgorithmError
        If a class names what exists in this process only, such as an open file.
    """
    if not found:
        return b""
    return _packed(tuple((one.name, one.cls) for one in found), tuple(identity(one.cls) for one in found))


@lru_cache(maxsize=64)
def _packed(classes: tuple[tuple[str, type[Algorithm]], ...], identities: tuple[str, ...]) -> bytes:
    """As `packed`. A class whose globals have changed has another identity."""
    with _users_code_by_value():
        try:
            return _written(classes)
        except Exception as error:
            raise _refusal([cls for _, cls in classes], error) from error


def _written(value: object) -> bytes:
    """The value with its code, whose tracebacks name the files that it was read from."""
    import cloudpickle

    def reduced(code: types.CodeType) -> tuple[Any, ...]:
        make, parts, *rest = cloudpickle.Pickler.dispatch_table[types.CodeType](code)
        return (make, tuple(code.co_filename if part == "<dynamic-code>" else part for part in parts), *rest)

    table = ChainMap({types.CodeType: reduced}, cloudpickle.Pickler.dispatch_table)
    octets = io.BytesIO()
    # The pickler reads the table once, from its class.
    type("Pickler", (cloudpickle.Pickler,), {"dispatch_table": table})(octets).dump(value)
    return octets.getvalue()


@lru_cache(maxsize=16)
def unpacked(code: bytes) -> list[Description]:
    """Descriptions of the classes that `packed` wrote."""
    return [Description(cls, name) for name, cls in pickle.loads(code)]


@contextlib.contextmanager
def _users_code_by_value() -> Iterator[None]:
    """Within the block the code of modules that are not installed is written itself, not the names of the modules."""
    import cloudpickle

    before = cloudpickle.list_registry_pickle_by_value()
    modules = [
        module
        for name, module in list(sys.modules.items())
        if isinstance(module, types.ModuleType) and module.__name__ == name and name not in before
    ]
    modules = [module for module in modules if module.__name__ != "__main__" and of_user(module)]
    for module in modules:
        cloudpickle.register_pickle_by_value(module)
    try:
        yield
    finally:
        for module in modules:
            cloudpickle.unregister_pickle_by_value(module)


def _refusal(classes: Sequence[type], error: Exception) -> AlgorithmError:
    """Why the code cannot be written: the first name whose value is the reason."""
    import cloudpickle

    for cls in classes:
        for name, value in _named(cls):
            try:
                cloudpickle.dumps(value)
            except Exception as reason:
                return AlgorithmError(
                    f"{place_of(cls)} cannot be sent to a worker process: {name} is {_kind(value)} ({reason}); "
                    "make it in __init__, or run the scenario without a sweep"
                )
    places = ", ".join(map(place_of, classes))
    return AlgorithmError(
        f"{places} cannot be sent to a worker process: {type(error).__name__}: {error}; "
        "use only what can be pickled outside of __init__, or run the scenario without a sweep"
    )


def _named(cls: type) -> Iterator[tuple[str, Any]]:
    """Attributes of a class and of its bases, and globals and enclosed variables that its methods name."""
    for base in cls.__mro__:
        if base is object or of_package(base):
            continue
        for name, value in vars(base).items():
            if isinstance(value, types.FunctionType):
                code = value.__code__
                yield from ((name, value.__globals__[name]) for name in code.co_names if name in value.__globals__)
                with contextlib.suppress(ValueError):  # an enclosed variable that is not set yet
                    yield from zip(code.co_freevars, (c.cell_contents for c in value.__closure__ or ()), strict=True)
            elif not name.startswith("__") and name != "_abc_impl":
                yield name, value


def _kind(value: Any) -> str:
    name = type(value).__name__
    return f"a{'n' if name[:1].lower() in 'aeiou' else ''} {name}"
