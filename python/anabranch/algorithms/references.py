"""Where scenarios name classes of Python: ``"module:Class"``, ``"file.py:Class"``, and how they are found."""

import hashlib
import importlib
import importlib.util
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from anabranch._core import AlgorithmError
from anabranch.algorithms.base import KINDS, Algorithm
from anabranch.algorithms.description import BASES, Description, reference_of
from anabranch.algorithms.parameter import parameters_of

_PERHAPS = re.compile(r":\s*[^\W\d][\w.<>]*\s*[\"']|\.py\s*[\"']")
"""What a document that names a class holds; few others do."""
_REFERENCE = re.compile(r"(?P<module>[^\"':]+(?::[\\/][^\"':]+)?):(?P<class>[^\W\d][\w.<>]*)")


def descriptions(
    toml: str, name: str, overrides: Sequence[tuple[str, str]], known: Sequence[type[Algorithm]] = ()
) -> list[Description]:
    """Descriptions of the classes that a scenario names; empty, at the cost of a search, if it names none.

    Parameters
    ----------
    toml, name, overrides
        The scenario, as `anabranch.scenario.Scenario` has it. Files are looked for beside the file `name`, then in the
        present directory.
    known : sequence of classes
        Classes that are at hand: those of a notebook cannot be imported.

    Raises
    ------
    AlgorithmError
        If a class cannot be found, or cannot be run.
    """
    if not known and not _PERHAPS.search(toml) and not any(":" in v or ".py" in v for _, v in overrides):
        return []
    at_hand = {reference_of(cls): cls for cls in known}
    found: dict[tuple[str, str], Description] = {}
    for kind, reference in _references(toml, overrides):
        if (kind, reference) in found:
            continue
        cls = at_hand.get(reference) or load(reference, Path(name).parent)
        description = Description(cls, reference)
        if description.kind != kind:
            raise AlgorithmError(f'{name}: {kind} = "{reference}": the class is a {description.kind}; name a {kind}')
        found[kind, reference] = description
    return list(found.values())


def _references(toml: str, overrides: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Kind and reference of each algorithm that is named by a place."""
    try:
        document = tomllib.loads(toml)
    except tomllib.TOMLDecodeError:  # the engine's message says where
        return
    yield from _within(document)
    for key, value in overrides:
        parts = [part for part in re.split(r"[.\[\]]+", key) if part]
        kind = parts[-2] if len(parts) > 1 and parts[-1] == "name" else parts[-1]
        if kind in KINDS:
            yield from _within({kind: _parsed(value)})
        elif "{" in value:
            yield from _within({"table": _parsed(value)})


def _parsed(value: str) -> Any:
    """A value as it follows ``--set key=``."""
    try:
        return tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return value


def _within(part: Any) -> Iterator[tuple[str, str]]:
    if isinstance(part, list):
        for element in part:
            yield from _within(element)
    elif isinstance(part, Mapping):
        for key, value in part.items():
            named = value.get("name") if isinstance(value, Mapping) else value
            if key in KINDS and isinstance(named, str) and is_reference(named):
                yield key, named
            else:
                yield from _within(value)


def value_of(algorithm: "Algorithm | type[Algorithm]") -> str:
    """What stands in a scenario for a class, or for an object with values of its parameters.

    Raises
    ------
    AlgorithmError
        If the object has more state than its parameters, which a run would not have.
    """
    if isinstance(algorithm, type):
        return _quoted(reference_of(algorithm))
    cls = type(algorithm)
    names = [parameter.name for parameter in parameters_of(cls)]
    fresh = vars(cls())
    lost = [key for key, value in vars(algorithm).items() if key not in names and fresh.get(key, ...) != value]
    if lost:
        raise AlgorithmError(
            f"{cls.__qualname__}: a run creates its own objects and copies only the parameters of this one, and "
            f"{lost[0]!r} is not a parameter: write `{lost[0]} = ab.Parameter(DEFAULT, LEAST, MOST)` in the class"
        )
    given = {name: vars(algorithm)[name] for name in names if name in vars(algorithm)}
    values = "".join(f", {name} = {value!r}" for name, value in given.items())
    return f"{{ name = {_quoted(reference_of(cls))}{values} }}"


def is_reference(name: str) -> bool:
    """Whether a scenario names a class of Python by `name`."""
    return name.endswith(".py") or _REFERENCE.fullmatch(name) is not None


def short_name(name: str) -> str:
    """What tables call an algorithm that a scenario names: a class without its file or module.

    >>> short_name("min-rtt"), short_name("work/mine.py:Mine"), short_name("package.module:Outer.Inner")
    ('min-rtt', 'Mine', 'Inner')
    """
    found = _REFERENCE.fullmatch(name)
    return found["class"].rpartition(".")[2] if found else name


def named(algorithm: "Algorithm | type[Algorithm]") -> str:
    """What tables call a class, or an object with values of its parameters.

    >>> from anabranch import Parameter, Scheduler
    >>> class Patient(Scheduler):
    ...     wait = Parameter(0.01, 0, 1)
    ...
    ...     def pick(self, offer):
    ...         return offer.open()
    >>> named(Patient), named(Patient(wait=0.5))
    ('Patient', 'Patient wait=0.5')
    """
    cls = algorithm if isinstance(algorithm, type) else type(algorithm)
    given = {} if isinstance(algorithm, type) else vars(algorithm)
    values = [f"{p.name}={given[p.name]:g}" for p in parameters_of(cls) if p.name in given]
    return " ".join([getattr(cls, "label", "") or cls.__name__, *values])


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def load(reference: str, beside: Path = Path()) -> type[Algorithm]:
    """The class that ``"module:Class"`` or ``"file.py:Class"`` names.

    Raises
    ------
    AlgorithmError
        If there is no such file, module or class, if no class is named, or if the module cannot be imported.
    """
    if ":" not in reference and not reference.endswith(".py"):
        raise AlgorithmError(f'"{reference}" does not name a Python class; write file.py:Class or module:Class')
    place, _, name = (reference, "", "") if reference.endswith(".py") else reference.rpartition(":")
    module = _file(place, beside) if place.endswith(".py") else _imported(place, reference)
    if not name:
        raise _unnamed(module, place)
    found: Any = module
    for part in name.split("."):
        found = getattr(found, part, None)
    if isinstance(found, FunctionType):  # `Fast = ab.compiled(found)`
        found = next((cls for cls in _algorithms(module) if vars(cls).get("function") is found), found)
    name_of_class = short_name(reference)
    if not isinstance(found, type) and (place == "__main__" or "<locals>" in name):
        raise AlgorithmError(
            f"class {name_of_class} is not here: it was defined in a notebook, a script or a function; "
            f'define it again and give it to `set`, such as scenario.set("connection.scheduler", {name_of_class})'
        )
    if not isinstance(found, type):
        choices = ", ".join(cls.__name__ for cls in _algorithms(module)) or "none"
        raise AlgorithmError(f"{place} has no class {name}; algorithms in it: {choices}")
    return found


def _algorithms(module: ModuleType) -> list[type[Algorithm]]:
    """Classes of algorithms that a module defines itself."""
    own = [value for value in vars(module).values() if isinstance(value, type) and value.__module__ == module.__name__]
    return [cls for cls in own if issubclass(cls, Algorithm)]


def _unnamed(module: ModuleType, place: str) -> AlgorithmError:
    """The error for a file without the name of a class."""
    found = _algorithms(module)
    if not found:
        return AlgorithmError(f"{place} defines no algorithm; derive a class from {BASES}")
    names = ", ".join(cls.__name__ for cls in found)
    return AlgorithmError(f"{place} defines {names}; name the class: {place}:{found[0].__name__}")


def _imported(name: str, reference: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except Exception as error:
        absent = isinstance(error, ModuleNotFoundError) and error.name == name  # whose traceback says nothing
        raise AlgorithmError(
            f'cannot import {name!r}, which "{reference}" names: {type(error).__name__}: {error}; '
            "a class in a file is named file.py:Class"
        ) from (None if absent else error)


def _file(place: str, beside: Path) -> ModuleType:
    """The module of a file; it is executed again if the file has changed."""
    tried = [path for path in dict.fromkeys((beside / place, Path(place))) if path.is_file()]
    if not tried:
        folders = " nor in ".join(dict.fromkeys((str(beside.resolve()), str(Path.cwd()))))
        raise AlgorithmError(f"there is no file {place} in {folders}")
    path = tried[0].resolve()
    source = path.read_bytes()
    digest = hashlib.sha256(bytes(path) + b"\0" + source).hexdigest()[:16]
    name = f"anabranch_file_{path.stem}_{digest}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise AlgorithmError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    sys.path.insert(0, str(path.parent))
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise AlgorithmError(f"{path} cannot be executed: {type(error).__name__}: {error}") from error
    finally:
        sys.path.remove(str(path.parent))
    return module
