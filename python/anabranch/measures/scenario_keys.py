"""The table of keys of a scenario: as a list for people, and as a JSON schema for editors."""

import json
import textwrap
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from anabranch import _core


@cache
def every() -> tuple[dict[str, Any], ...]:
    """Return every key of every table, in the order of docs/scenario.md.

    Returns
    -------
    tuple of dict
        ``table``, ``written`` (how the table is written), ``part``, ``key``, ``directed`` (the key may end in ``_up``
        or ``_down``), ``default``, ``allowed`` and ``meaning`` (Markdown), ``plain`` (the meaning without marks),
        ``example`` (TOML), ``schema`` (JSON schema of the value), ``json`` (name in the resolved scenario),
        ``tables`` and ``lists`` (names of the tables that may stand at the key, or in a list at it), ``linux`` (the
        only resolved value that ``compare-kernel`` accepts, and why; or None), ``profiles`` (the default of each
        profile, or None).
    """
    return tuple(json.loads(_core.keys()))


def tables() -> dict[str, str]:
    """Return the names of the tables and how each is written in a scenario."""
    return {key["table"]: key["written"] for key in every()}


def listed(table: str, width: int) -> str:
    """List the keys of a table with default, allowed values and meaning, in lines of at most `width` characters.

    >>> print(listed("mtu", 80))
    mtu = { ... }
      size = required: 128 to 65535 B
             IPv4 length of the longest packet that passes
      icmp = true: true, false
             whether the sender of a longer packet gets an ICMP message that says
             the MTU
    """
    own = [key for key in every() if key["table"] == table]
    longest = max(len(key["key"]) for key in own)
    lines = [own[0]["written"]]
    part = ""
    for key in own:
        if key["part"] != part:
            part = key["part"]
            lines.append(f"  -- {part} --")
        default, allowed = (key[part].replace("`", "") for part in ("default", "allowed"))
        head = f"  {key['key']:{longest}} = {default or '(none)'}: {allowed}"
        both = "; also with _up or _down" if key["directed"] else ""
        for text in (head, " " * (longest + 5) + key["plain"] + both):
            indent = " " * (longest + 5)
            lines += textwrap.wrap(text, width, subsequent_indent=indent, break_on_hyphens=False)
    return "\n".join(lines)


def schema() -> dict[str, Any]:
    """Return a JSON schema of scenarios (draft 2020-12), for editors such as those that use Taplo.

    The schema knows names of keys, words, types and ranges of numbers. Units, ranges of quantities and rules about
    several keys are checked by `anabranch check`.
    """
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Anabranch scenario"}
    return {**head, **_table("root")}


def _table(table: str) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    for key in (key for key in every() if key["table"] == table):
        value = {"description": key["plain"], **_value(key)}
        properties |= {key["key"] + end: value for end in (("", "_up", "_down") if key["directed"] else ("",))}
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _value(key: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of the value of a key: a scalar, and the tables and lists of tables that may stand there."""
    kinds = [_table(inner) for inner in key["tables"]]
    # Middleboxes without parameters are names in the list.
    kinds += [{"type": "array", "items": {"anyOf": [_table(inner), {"type": "string"}]}} for inner in key["lists"]]
    if not kinds:
        return dict(key["schema"])
    if key["schema"] != {"type": "object"}:
        kinds.append(_SCALAR if key["lists"] else {"not": {"type": "object"}})
    return {"anyOf": kinds}


_SCALAR = {"type": ["string", "number", "boolean"]}


_PATHS = ("path.0", "path.1")
"""Elements of lists whose keys an editor completes: the two paths of most scenarios."""


def paths() -> dict[str, Mapping[str, Any]]:
    """Return the key paths that an editor completes, with the entries of the table of keys.

    These are the keys of the tables that stand at the top level, and of the first two paths. `Scenario.set` takes many
    more: of other elements of lists, and of names of links.

    >>> [name for name in paths() if name.startswith("path.1.rate")][:3]
    ['path.1.rate', 'path.1.rate_up', 'path.1.rate_down']
    """
    found = dict(_within("root", ""))
    for prefix in _PATHS:
        found |= _within("path", f"{prefix}.")
    return found


def _within(table: str, prefix: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for key in (key for key in every() if key["table"] == table):
        if table != "root" or not (key["tables"] or key["lists"]):
            yield from (
                (f"{prefix}{key['key']}{end}", key) for end in ("", "_up", "_down")[: 3 if key["directed"] else 1]
            )
        for inner in key["tables"] if table in {"root", "path"} else ():
            yield from _within(inner, f"{prefix}{key['key']}.")


def stub() -> str:
    """Return the text of ``_keys.pyi``: types of the key paths, for editors and type checkers."""
    lines = [
        '"""Key paths that `Scenario.set` takes: written by `ANABRANCH_QUOTES=write pytest tests/test_keys.py`."""',
        "# fmt: off",
        "",
        "from typing import Literal, TypedDict",
        "",
        "Value = str | int | float | bool",
        "",
        "Key = Literal[",
        *(f"    {json.dumps(name)}," for name in paths()),
        "]",
        "",
        'Changes = TypedDict("Changes", {',
        *(f"    {json.dumps(name)}: {_type(key['schema'])}," for name, key in paths().items()),
        "}, total=False)",
    ]
    return "\n".join(lines) + "\n"


def _type(schema: Mapping[str, Any]) -> str:
    """The type of a value: its words, if the list of words is closed."""
    words = schema.get("enum", ())
    if words and all(isinstance(word, str) for word in words):
        return f"Literal[{', '.join(map(json.dumps, words))}]"
    return "bool" if schema == {"type": "boolean"} else "Value"
