"""What `anabranch list --long` says of an algorithm."""

import textwrap
from collections.abc import Mapping
from typing import Any

from anabranch.sentences import tools as say


def described(kind: str, entry: Mapping[str, Any], width: int) -> str:
    """Summary, source, needs, validation and parameters of an entry of the registry, in lines of `width` characters.

    >>> t1 = {"name": "t1", "meaning": "how long", "default": 1.0, "least": 0.0, "most": 9.0, "unit": "s"}
    >>> door = {"name": "door", "summary": "holds", "source": "a paper", "needs": "", "parameters": [t1]}
    >>> print(described("judge", door, 80))
    judge door
      summary    holds
      source     a paper
      needs      none
      t1         how long (0 to 9 s, default 1)
    """
    said = {key: entry.get(key) or say.NOTHING() for key in ("summary", "source", "needs", "validated") if key in entry}
    if also := entry.get("also"):
        said[say.ALIASES()] = ", ".join(also)
    said |= {
        figure["what"]: say.FIGURE(value=figure["value"], source=figure["source"])
        for figure in entry.get("figures", ())
    }
    said |= {parameter["name"]: _parameter(parameter) for parameter in entry.get("parameters", ())}
    lines = [f"{kind} {entry['name']}"]
    for key, text in said.items():
        lines += textwrap.wrap(text, width, initial_indent=f"  {key:10} ", subsequent_indent=" " * 13)
    return "\n".join(lines)


def _parameter(parameter: Mapping[str, Any]) -> str:
    least, most, default = (f"{parameter[key]:g}" for key in ("least", "most", "default"))
    unit = parameter["unit"]
    template = say.RANGES.get(unit)
    span = template(least=least, most=most) if template else say.RANGE(least=least, most=most, unit=unit)
    return say.PARAMETER(meaning=parameter["meaning"], range=span, default=default)
