"""Sweep files: a scenario, axes and seeds as TOML."""

import difflib
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anabranch.scenario import Scenario, ScenarioError, Value, literal
from anabranch.sweeps.plan import Plan, plan

if TYPE_CHECKING:
    import os

_KEYS = ("scenario", "set", "axes", "seeds")
_SEEDS = 10
_TABLES = ("connection", "transfer", "path", "host", "router", "link")


def read(path: "str | os.PathLike[str]", *, seeds: int | None = None) -> Plan:
    """Read a sweep file and validate every cell.

    Parameters
    ----------
    path : path
        The file. ``scenario`` names a scenario file beside it, or is a table that holds the scenario itself; ``set``
        is a table of changes to it; ``axes`` is a table of axes; ``seeds`` a count or a list (10 if not given).
    seeds : int, optional
        Instead of the file's.

    Raises
    ------
    OSError
        If a file cannot be read.
    ScenarioError
        If the sweep is not valid; the message says where.
    """
    file = Path(path)
    try:
        document = tomllib.loads(file.read_text(encoding="utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ScenarioError(f"{file}: not a TOML document: {error}") from None
    try:
        return _plan(document, file, seeds)
    except ScenarioError as error:
        message = str(error)
        base = document.get("scenario")
        named = str(file.parent / base) if isinstance(base, str) else str(file)
        raise ScenarioError(message if message.startswith((str(file), named)) else f"{file}: {message}") from None


def _plan(document: Mapping[str, Any], file: Path, seeds: int | None) -> Plan:
    for key in document:
        if key not in _KEYS:
            near = difflib.get_close_matches(key, _KEYS, 1)
            hint = f'did you mean "{near[0]}"? ' if near else ""
            raise ScenarioError(f'unknown key "{key}"\n  {hint}keys of a sweep: {", ".join(_KEYS)}')
    changes, axes = (_table(document, key) for key in ("set", "axes"))
    for name, values in axes.items():
        for label, named in values.items() if isinstance(values, Mapping) else ():
            if not isinstance(named, Mapping):
                raise ScenarioError(f"axes.{name}.{label}: {named!r} is not a table of changes")
            if name in _TABLES:
                raise ScenarioError(
                    f"axes.{name}: a table of the scenario is no axis\n"
                    f'  a key path as the name of an axis stands in quotes: "{name}.{label}..." = [...]'
                )
    base = _scenario(document.get("scenario"), file)
    if changes:
        base = base.set({key: _value(value) for key, value in changes.items()})
    wanted = document.get("seeds", _SEEDS) if seeds is None else seeds
    if not (_number(wanted) or (isinstance(wanted, list) and all(map(_number, wanted)))):
        raise ScenarioError(f"seeds: {wanted!r} is neither a count nor a list of whole numbers")
    return plan(base, {name: _axis(values) for name, values in axes.items()}, wanted)


def _scenario(given: Any, file: Path) -> Scenario:
    if isinstance(given, str):
        return Scenario.load(file.parent / given)
    if isinstance(given, Mapping):
        text = "".join(f"{_toml_key(key)} = {_toml(value)}\n" for key, value in given.items())
        return Scenario.from_toml(text, name=str(file))
    raise ScenarioError('scenario: missing\n  name a scenario file, scenario = "base.toml", or write one: [scenario]')


def _table(document: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    table = document.get(key, {})
    if not isinstance(table, Mapping):
        raise ScenarioError(f"{key}: {table!r} is not a table; write [{key}]")
    return table


def _axis(values: Any) -> Any:
    if isinstance(values, Mapping):
        return {label: {key: _value(value) for key, value in named.items()} for label, named in values.items()}
    return [_value(value) for value in values] if isinstance(values, list) else values


def _value(value: Any) -> Value:
    """`value` as a scenario takes it: lists and tables as their TOML text."""
    return value if isinstance(value, str | int | float) else _toml(value)


def _number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _toml(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_toml_key(key)} = {_toml(entry)}" for key, entry in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return literal(value) if isinstance(value, str | int | float) else str(value)


def _toml_key(key: str) -> str:
    return key if key.isascii() and key.replace("_", "").replace("-", "").isalnum() else literal(key)
