"""Scenarios and types that tests share."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path

import pytest

from anabranch.sweeps.piece import sealed

TWO_PATHS = """
title = "two paths"
[transfer]
bytes = "2 MB"
[[path]]
rate = "5 Mbit/s"
delay = "100 ms"
[[path]]
rate = "2 Mbit/s"
delay = "10 ms"
"""

SEVERAL = """
[[path]]
rate = "5 Mbit/s"
[[path]]
rate = "2 Mbit/s"
[[connection]]
name = "both"
transfer = { bytes = "1 MB" }
[[connection]]
name = "rival"
protocol = "tcp"
paths = ["path1"]
transfer = { bytes = "500 kB" }
"""


@dataclass(frozen=True)
class Outcome:
    """What a command did."""

    status: int
    out: str
    err: str


Command = Callable[..., Outcome]

_VOID = {"meta", "img", "br"}


class Page(HTMLParser):
    """Collects what a page would load, and checks that tags close."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.tags: list[str] = []
        self.open: list[str] = []
        self.text: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.loads += [value or "" for name, value in attrs if name in {"src", "href", "srcset", "data", "action"}]
        if tag not in _VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.text.append(data)


def rewrite(file: Path, **changes: object) -> None:
    """Change a JSON file of a sweep as a program would that writes it, with its hash."""
    content = json.loads(file.read_text(encoding="utf-8"))
    del content["sha256"]
    file.write_text(sealed(content | changes), encoding="utf-8")


EMPTY = b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"/>'
"""A figure that shows nothing."""


@contextmanager
def without_figures() -> Iterator[None]:
    """Replaces every figure of a run, an analysis, a diagnosis and a sweep by `EMPTY`."""
    from anabranch.plots import files
    from anabranch.sweeps import figures

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "drawn", lambda *_: None)
        patch.setattr(files, "octets", lambda *_: EMPTY)
        patch.setattr(figures, "image", lambda *_, **__: EMPTY)
        yield
