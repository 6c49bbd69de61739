"""What `anabranch list --long` says of an algorithm."""

import textwrap
from collections.abc import Mapping
from typing import Any


def described(kind: str, entry: Mapping[str, Any], width: int) -> str:
    """Summary, source, needs, validation and parameters of an entry of the registry, in lines of `width` characters.

    >>> t1 = {"name": "t1", "meaning": "how long", "default": 1.0, "least": 0.0, "most": 9.0, "unit": "s"}
    >>> door = {"name": "door", "summary": "holds", "source": "a paper", "needs": "", "parameters": [t1]}
    >>> print(described("judge", door, 80))
    judge door
      summary    holds
      source     a paper
      needs      nothing
      t1         how long: 0 to 9 s, default 1
    """
    said = {key: entry.get(key) or "nothing" for key in ("summary", "source", "needs", "validated") if key in entry}
    if also := entry.get("also"):
        said["also"] = ", ".join(also)
    said |= {figure["what"]: f"{figure['value']}: {figure['source']}" for figure in entry.get("figures", ())}
    said |= {parameter["name"]: _parameter(parameter) for parameter in entry.get("parameters", ())}
    lines = [f"{kind} {entry['name']}"]
    for key, text in said.items():
        lines += textwrap.wrap(text, width, initial_indent=f"  {key:10} ", subsequent_indent=" " * 13)
    return "\n".join(lines)


def _parameter(parameter: Mapping[str, Any]) -> str:
    least, most, default = (f"{parameter[key]:g}" for key in ("least", "most", "default"))
    return f"{parameter['meaning']}: {least} to {most} {parameter['unit']}, default {default}"
