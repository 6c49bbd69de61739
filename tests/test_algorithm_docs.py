"""docs/algorithms.md says of each algorithm what the engine says, and its commands run."""

import json
import re
import shlex
from pathlib import Path

import pytest

import anabranch as ab
from anabranch import _core

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "docs/algorithms.md").read_text(encoding="utf-8")
KINDS = ("controller", "scheduler", "detector", "reduction", "judge")
REGISTRY = {kind: entries for kind, entries in json.loads(_core.registry()).items() if kind in KINDS}


@pytest.mark.parametrize("kind", KINDS)
def test_the_table_is_what_the_engine_says(kind: str) -> None:
    (table,) = re.findall(rf"^\| {kind} \| source .*\n\|[-|]+\n((?:\|.*\n)+)", TEXT, re.MULTILINE)
    found = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in table.splitlines()]
    expected = [[f"`{e['name']}`", e["source"]] for e in REGISTRY[kind]]
    assert [row[:2] for row in found] == expected
    # So many instructions a segment: at least a hundred times what a copy takes, and no typing error.
    assert all(1_000 <= int(row[2]) <= 100_000 for row in found)


@pytest.mark.parametrize("kind", KINDS)
def test_each_has_a_row_that_says_when_it_helps(kind: str) -> None:
    bold = set(re.findall(r"`([\w-]+)`", " ".join(re.findall(r"\*\*`[\w-]+`\*\*", TEXT))))
    assert {e["name"] for e in REGISTRY[kind]} <= bold


def test_its_figures_of_schedulers_are_what_the_commands_give() -> None:
    (table,) = re.findall(r"^\| scheduler \| source .*\n\|[-|]+\n((?:\|.*\n)+)", TEXT, re.MULTILINE)
    rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in table.splitlines()]
    found = [(row[0].strip("`"), row[3]) for row in rows]
    assert {name for name, _ in found} == {e["name"] for e in REGISTRY["scheduler"]}
    blocked = ab.Scenario.load(ROOT / "examples/blocked-buffer.toml")
    for name, rate in found:
        done = blocked.set("connection.scheduler", name).run().summary
        assert done["goodput_mbps"] == pytest.approx(float(rate), rel=0.03), name


def test_its_commands_are_valid() -> None:
    commands = [shlex.split(span) for span in re.findall(r"`(anabranch run [^`]*)`", TEXT)]
    assert len(commands) >= 8
    for _, _, file, *rest in commands:
        changes = dict(word.split("=", 1) for word in rest if word != "--set")
        known = {key: value for key, value in changes.items() if value != "NAME"}
        ab.Scenario.load(ROOT / file).set(known).check()
