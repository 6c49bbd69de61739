"""Whole answers, compared with text files in tests/data/answers: any change of a word or a figure is noticed.

`ANABRANCH_GOLDEN=write pytest tests/test_golden_*.py` renews the files. Read their differences before you commit them.
Each test also checks some figures of its answer by hand, so that a wrong answer is not renewed without notice.
"""

import difflib
import hashlib
import json
import math
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ANSWERS = Path(__file__).parent / "data" / "answers"
VOLATILE = frozenset({"version", "wall_s", "machine", "engine", "commit", "python", "started"})
"""Fields that differ from machine to machine, or from run to run."""


def agrees(name: str, *parts: str) -> None:
    """Check that `parts` are what the file `name` holds; write them there if ANABRANCH_GOLDEN says so."""
    file = ANSWERS / f"{name}.txt"
    text = "\n\n".join(part.strip("\n") for part in parts) + "\n"
    if os.environ.get("ANABRANCH_GOLDEN") == "write":
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8", newline="\n")
    kept = file.read_text(encoding="utf-8")
    lines = difflib.unified_diff(kept.splitlines(), text.splitlines(), f"{name}, stored", f"{name}, now", "", "", 1, "")
    assert kept == text, "\n".join(line[:300] for line in lines)


def digest(text: str) -> str:
    """Return a hash, for what is too long to be kept."""
    return f"{text.count(chr(10)) + 1} lines, SHA-256 {hashlib.sha256(text.encode()).hexdigest()}"


def plain(value: Any) -> Any:
    """Return JSON data with numbers of six digits and without `VOLATILE` fields.

    The last digits of a mean may differ between processors and between versions of numpy.
    """
    if isinstance(value, Mapping):
        return {key: plain(entry) for key, entry in value.items() if key not in VOLATILE}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    if isinstance(value, float):
        return float(f"{value:.6g}") if math.isfinite(value) else str(value)
    return value


def listed(value: Any, depth: int = 2, indent: str = "") -> str:
    """Return JSON data as text: one line for each entry of the outer `depth` levels."""
    value = plain(value)
    if depth and isinstance(value, dict) and value:
        return "".join(f"\n{indent}{key}: {listed(entry, depth - 1, indent + '  ')}" for key, entry in value.items())
    if depth and isinstance(value, list) and any(isinstance(entry, dict | list) for entry in value):
        return "".join(f"\n{indent}- {listed(entry, depth - 1, indent + '  ')}" for entry in value)
    return json.dumps(value)


def page(html: str) -> str:
    """Return the body of a page, one line for each block, without pictures and without what is `VOLATILE`."""
    html = re.sub(r"<head>.*?</head>", "", html, flags=re.DOTALL)
    html = re.sub(r'src="data:[^"]*"', 'src=""', html)
    html = re.sub(r"\n\s*", "\n", html)
    html = re.sub(r"(?<!^)(<(?:p|h\d|tr|table|figure|figcaption|div|dl|ul|pre)\b)", r"\n\1", html, flags=re.MULTILINE)
    names = "|".join(VOLATILE | {"engine time", "scenario, SHA-256"})
    html = re.sub(
        rf"(<(td|dt)[^>]*>(?:<code>)?(?:{names})(?:</code>)?</\2><(td|dd)[^>]*>)[^\n]*?(</\3>)", r"\1...\4", html
    )
    return re.sub(r"\n+", "\n", html)
