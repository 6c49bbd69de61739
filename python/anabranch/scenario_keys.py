"""The table of keys of a scenario: as a list for people, and as a JSON schema for editors."""

import json
import textwrap
from functools import cache
from typing import Any

from anabranch import _core

INSIDE: dict[str, dict[str, str]] = {
    "path": {name: name for name in ("wifi", "loss", "mtu", "leo", "cellular")},
    "connections": {"transfer": "transfer"},
    "topology": {"access": "access"},
    "transfer": {"page": "page"},
}
"""Tables that may stand at a key: by table and key."""

LISTS: dict[str, dict[str, str]] = {
    "path": {"middleboxes": "middleboxes", "changes": "changes"},
    "connection": {"path_changes": "path_changes"},
    "wifi": {"waypoints": "waypoints"},
    "transfer": {"page": "object"},
}
"""Tables that may stand in a list at a key: by table and key."""

CHOICES: dict[str, dict[str, tuple[str, ...]]] = {
    "path": {"discipline": ("red", "codel", "fq-codel")},
    "transfer": {
        "message": ("uniform", "exponential", "lognormal", "pareto"),
        "interval": ("uniform", "exponential", "lognormal", "pareto"),
    },
}
"""Tables that may stand at a key, told apart by their `name`: by table and key."""

_DOCUMENT = {
    "connection": ("connection", "connections"),
    "transfer": ("transfer", None),
    "path": (None, "path"),
    "link": (None, "link"),
    "host": ("host", "nodes"),
    "router": (None, "router"),
    "topology": ("topology", None),
    "traffic": ("traffic", None),
}
"""The tables of a document: the one of a single table, and the one of each element of a list."""


@cache
def every() -> tuple[dict[str, Any], ...]:
    """Return every key of every table, in the order of docs/scenario.md.

    Returns
    -------
    tuple of dict
        ``table``, ``written`` (how the table is written), ``part``, ``key``, ``directed`` (the key may end in ``_up``
        or ``_down``), ``default``, ``allowed`` and ``meaning`` (Markdown), ``example`` (TOML), ``schema`` (JSON
        schema of the value), ``json`` (name in the resolved scenario), ``inner`` (the table that stands at the key,
        or None), ``linux`` (the only resolved value that ``compare-kernel`` accepts, and why; or None), ``profiles``
        (the default of each profile, or None).
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
             whether the sender of a longer packet is told
    """
    own = [key for key in every() if key["table"] == table]
    longest = max(len(key["key"]) for key in own)
    lines = [own[0]["written"]]
    part = ""
    for key in own:
        if key["part"] != part:
            part = key["part"]
            lines.append(f"  -- {part} --")
        head = f"  {key['key']:{longest}} = {_plain(key['default']) or '(none)'}: {_plain(key['allowed'])}"
        both = "; also with _up or _down" if key["directed"] else ""
        for text in (head, " " * (longest + 5) + _plain(key["meaning"]) + both):
            indent = " " * (longest + 5)
            lines += textwrap.wrap(text, width, subsequent_indent=indent, break_on_hyphens=False)
    return "\n".join(lines)


def _plain(markdown: str) -> str:
    text = markdown.replace("`", "")
    while "](" in text:
        before, _, rest = text.partition("[")
        label, _, rest = rest.partition("](")
        text = before + label + rest.partition(")")[2]
    return text


def schema() -> dict[str, Any]:
    """Return a JSON schema of scenarios (draft 2020-12), for editors such as those that use Taplo.

    The schema knows names of keys, words, types and ranges of numbers. Units, ranges of quantities and rules about
    several keys are checked by `anabranch check`.
    """
    root = _table("root")
    for name, (single, several) in _DOCUMENT.items():
        kinds = [_table(single)] if single else []
        if several:
            kinds.append({"type": "array", "items": _table(several)})
        about = root["properties"][name]["description"]
        root["properties"][name] = {"description": about, **(kinds[0] if len(kinds) == 1 else {"anyOf": kinds})}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Anabranch scenario", **root}


def _table(table: str) -> dict[str, Any]:
    base = {"link": "path", "connections": "connection", "access": "path"}.get(table, table)
    properties: dict[str, Any] = {}
    for key in (key for key in every() if key["table"] == table):
        name = key["key"]
        kinds: list[dict[str, Any]] = []
        if inner := key["inner"] or INSIDE.get(table, {}).get(name) or INSIDE.get(base, {}).get(name):
            kinds.append(_table(inner))
        if inner := LISTS.get(table, {}).get(name) or LISTS.get(base, {}).get(name):
            kinds.append({"type": "array", "items": _element(inner)})
        kinds += [_table(inner) for inner in CHOICES.get(base, {}).get(name, ())]
        if kinds:
            kinds.append({"not": {"type": "object"}} if not any("items" in kind for kind in kinds) else _scalar())
        value = {"anyOf": kinds} if kinds else key["schema"]
        about = {"description": _plain(key["meaning"])}
        properties |= {name + end: about | value for end in (("", "_up", "_down") if key["directed"] else ("",))}
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _element(inner: str) -> dict[str, Any]:
    return {"anyOf": [_table(inner), {"type": "string"}]} if inner == "middleboxes" else _table(inner)


def _scalar() -> dict[str, Any]:
    return {"type": ["string", "number", "boolean"]}
