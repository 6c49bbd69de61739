"""Sweep files: a scenario, axes and seeds as TOML."""

import difflib
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anabranch.results.directory import why
from anabranch.scenario import Scenario, ScenarioError, Value, literal
from anabranch.sweeps import store
from anabranch.sweeps.plan import ALGORITHMS, Options, PlanData, again, plan
from anabranch.sweeps.refusals import by_axis, refused_values

if TYPE_CHECKING:
    import os

_KEYS = ("scenario", "set", "axes", "seeds", "timeout", "memory", "series")
_SEEDS = 10
_TABLES = ("connection", "transfer", "path", "host", "router", "link", "topology", "traffic")


def read(path: "str | os.PathLike[str]", *, seeds: int | str | None = None) -> PlanData:
    """Read a sweep file and validate every cell.

    Parameters
    ----------
    path : path
        The file, or the folder of a stored sweep, whose plan is validated again. ``scenario`` names a scenario file
        beside it, or is a table that holds the scenario itself; ``set`` is a table of changes to it; ``axes`` is a
        table of axes; ``seeds`` a count, a list, or a precision such as
        ``"until 1 %"`` (10 if not given); ``timeout`` (``"30 s"``) and ``memory`` (``"500 MB"``) limit each run;
        ``series`` is how many sample times are kept of each run's series over time (none if not given).
    seeds : int or str, optional
        Instead of the file's.

    Raises
    ------
    OSError
        If a file cannot be read.
    ScenarioError
        If the sweep is not valid; the message says where. A value of an axis that every cell with it refuses is not
        valid; a combination that some cells refuse is.
    """
    file = Path(path)
    if stored := _stored(file):
        return again(store.read_marker(stored), seeds)
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


def _check_keys(document: Mapping[str, Any], file: Path) -> None:
    """Refuse unknown keys, and a scenario in place of a sweep."""
    if not document.keys() & {"scenario", "axes"} and document.keys() & set(_TABLES):
        raise ScenarioError(f"a scenario, not a sweep; run it with `anabranch run {file}`")
    for key in document:
        if key not in _KEYS:
            near = difflib.get_close_matches(key, _KEYS, 1)
            hint = f'did you mean "{near[0]}"? ' if near else ""
            raise ScenarioError(f'unknown key "{key}"\n  {hint}keys of a sweep: {", ".join(_KEYS)}')


def _stored(file: Path) -> Path | None:
    """The folder of the stored sweep that `file` is, or is the mark of."""
    if (file / store.MARKER).is_file():
        return file
    return file.parent if file.name == store.MARKER and file.is_file() else None


def _plan(document: Mapping[str, Any], file: Path, seeds: int | str | None) -> PlanData:
    _check_keys(document, file)
    changes, axes = (_table(document, key) for key in ("set", "axes"))
    for name, values in axes.items():
        for label, named in values.items() if isinstance(values, Mapping) else ():
            if not isinstance(named, Mapping):
                if name in ALGORITHMS and isinstance(named, list):
                    quoted = f'"{name}.{label}" = [...]'
                    raise ScenarioError(f"axes.{name}: write a key path that names an axis in quotes\n  {quoted}")
                raise ScenarioError(
                    f"axes.{name}.{label}: {named!r} is not a table of changes; write {label} = {{ KEY = VALUE }}"
                )
            if name in _TABLES:
                raise ScenarioError(
                    f"axes.{name}: a table of the scenario is not an axis\n"
                    f'  write a key path that names an axis in quotes: "{name}.{label}..." = [...]'
                )
    base = _scenario(document.get("scenario"), file)
    if changes:
        base = base.set({key: _value(value) for key, value in changes.items()})
    wanted = document.get("seeds", _SEEDS) if seeds is None else seeds
    if not (_number(wanted) or isinstance(wanted, str) or (isinstance(wanted, list) and all(map(_number, wanted)))):
        raise ScenarioError(
            f"seeds: {wanted!r} is neither a count nor a list of whole numbers nor a precision\n"
            '  write 10, [1, 2, 3] or "until 1 %"'
        )
    series = document.get("series", 0)
    if not _number(series) or series < 0:
        raise ScenarioError(f"series: {series!r} is not a number of sample times; write a whole number, such as 200")
    options = Options(
        _quantity(document, "timeout", _TIMES, '"30 s"'), _quantity(document, "memory", _SIZES, '"500 MB"'), series
    )
    made = plan(base, {name: _axis(values) for name, values in axes.items()}, wanted, options, keep_refused=True)
    if wrong := next(refused_values(made.axes, made.cells), None):
        raise ScenarioError(wrong)
    if all(cell.error for cell in made.cells):
        raise ScenarioError(by_axis(made.cells[0], made.axes, changes))
    return made


_TIMES = {"ms": 1e-3, "s": 1, "min": 60, "h": 3600}
_SIZES = {"kB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}


def _quantity(document: Mapping[str, Any], key: str, units: Mapping[str, float], example: str) -> Any:
    """A limit on runs: a number and a unit."""
    if key not in document:
        return None
    found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]+)\s*", str(document[key]))
    if found is None or found[2] not in units or float(found[1]) == 0:
        raise ScenarioError(
            f"{key}: {document[key]!r} is not a quantity above 0\n  write {example}; units: {', '.join(units)}"
        )
    value = float(found[1]) * units[found[2]]
    return int(value) if units is _SIZES else value


def _scenario(given: Any, file: Path) -> Scenario:
    if isinstance(given, str):
        try:
            return Scenario.load(file.parent / given)
        except OSError as error:
            raise ScenarioError(f"scenario: {file.parent / given}: {why(error)}") from None
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
