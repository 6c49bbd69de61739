"""Results that someone else made: their texts are shown as texts, and are never a part of a page."""

import copy
import hashlib
import itertools
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import anabranch as ab
from anabranch import plots
from anabranch.captures import report
from anabranch.cli import redraw
from anabranch.results.directory import PROVENANCE, REPORT, SUMMARY
from anabranch.sweeps import piece

MARK = "\"'><img src=x>"
RAW = "<img src=x>"
TWO = ab.Scenario.two_path("5 Mbit/s, 20 ms", "2 Mbit/s, 10 ms", transfer="100 kB")
SEVERAL = """
[[path]]
rate = "5 Mbit/s"
delay = "10 ms"
[[connection]]
name = "first"
transfer = { bytes = "50 kB" }
[[connection]]
name = "second"
protocol = "udp"
transfer = { rate = "100 kbit/s", duration = "1 s" }
"""


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where in a JSON value its texts and numbers stand."""
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value[:1]):
            yield from places(inner, (*at, key))
    else:
        yield at


def poisoned(value: Any, at: tuple[Any, ...]) -> Any:
    """`value` with markup behind what stands at `at`."""
    whole = copy.deepcopy(value)
    holder = whole
    for key in at[:-1]:
        holder = holder[key]
    holder[at[-1]] = f"{holder[at[-1]]}{MARK}"
    return whole


def page(folder: Path) -> str:
    return redraw.files(str(folder), (), "svg", whole=True)[REPORT].decode()


def show(folder: Path, load: Callable[[Path], Any]) -> list[str]:
    """What is shown of a directory; nothing if a text in place of a number makes that impossible."""
    shown = []
    for made in (lambda: page(folder), lambda: load(folder)._repr_html_()):
        try:
            shown.append(made())
        except (ValueError, TypeError, KeyError, AttributeError):
            continue
    return shown


@pytest.fixture(autouse=True)
def no_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures take most of the time, and stand in pages as images, encoded."""
    from anabranch.sweeps import figures

    monkeypatch.setattr(plots, "render", lambda _: {})
    monkeypatch.setattr(plots, "image", lambda *_, **__: b"")
    monkeypatch.setattr(report, "image", lambda *_, **__: b"<svg/>")
    monkeypatch.setattr(figures, "image", lambda *_, **__: b"")


def run_of(folder: Path, scenario: ab.Scenario) -> None:
    scenario.run().save(folder)


def capture_of(folder: Path, scenario: ab.Scenario) -> None:
    captures = folder.with_name("captures")
    scenario.run(pcap=captures)
    ab.analyze([str(file) for file in sorted(captures.glob("server-*"))]).save(folder)


def sweep_of(folder: Path, scenario: ab.Scenario) -> None:
    ab.sweep(scenario, {"recovery": ["none", "dsack"], "named": {"a": {"mss": 700}, "b": {}}}, seeds=1, out=folder)


def seal(folder: Path, name: str, value: dict[str, Any]) -> None:
    """Write `value` to `name` as one does who knows where its hash stands."""
    if "cells" in value or (folder / "sweep.json").exists():
        value.pop("sha256")
        (folder / name).write_text(piece.sealed(value), encoding="utf-8")
        return
    text = json.dumps(value)
    (folder / name).write_text(text, encoding="utf-8")
    if name == SUMMARY:
        marker = json.loads((folder / PROVENANCE).read_text(encoding="utf-8"))
        digest = hashlib.sha256(text.encode()).hexdigest()
        if "sha256" in marker:
            marker["sha256"][SUMMARY] = digest
        else:
            marker["summary_sha256"] = digest
        (folder / PROVENANCE).write_text(json.dumps(marker), encoding="utf-8")


@pytest.mark.parametrize(
    ("make", "load", "scenario", "names", "step"),
    [
        (run_of, ab.load, TWO, (SUMMARY, PROVENANCE), 4),
        (run_of, ab.load, ab.Scenario.from_toml(SEVERAL), (SUMMARY, PROVENANCE), 3),
        pytest.param(run_of, ab.load, TWO, (SUMMARY, PROVENANCE), 1, marks=pytest.mark.long),
        pytest.param(run_of, ab.load, ab.Scenario.from_toml(SEVERAL), (SUMMARY, PROVENANCE), 1, marks=pytest.mark.long),
        pytest.param(capture_of, ab.Capture.load, TWO, (SUMMARY, PROVENANCE), 1, marks=pytest.mark.long),
        pytest.param(sweep_of, ab.Sweep.load, TWO, ("sweep.json", PROVENANCE), 1, marks=pytest.mark.long),
    ],
    ids=["run", "several", "whole-run", "whole-several", "capture", "sweep"],
)
def test_no_text_of_a_stored_result_becomes_markup(
    tmp_path: Path,
    make: Callable[[Path, ab.Scenario], None],
    load: Callable[[Path], Any],
    scenario: ab.Scenario,
    names: tuple[str, ...],
    step: int,
) -> None:
    """Each text and each number in turn: all hashes are right, as of someone who made the whole directory.

    `step`: one in so many places; each takes a tenth of a second.
    """
    kept, shared = tmp_path / "kept", tmp_path / "shared"
    make(kept, scenario)
    shown = escaped = 0
    for name in names:
        value = json.loads((kept / name).read_text(encoding="utf-8"))
        for at in itertools.islice(places(value), 0, None, step):
            shutil.rmtree(shared, ignore_errors=True)
            shutil.copytree(kept, shared)
            seal(shared, name, poisoned(value, at))
            for text in show(shared, load):
                assert RAW not in text, (name, at)
                shown += 1
                escaped += "&lt;img src=x&gt;" in text
    assert shown > 10
    assert escaped > 3  # places that a page shows at all
