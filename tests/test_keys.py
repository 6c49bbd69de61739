"""The tables of keys in docs/scenario.md are those of the program (`ANABRANCH_QUOTES=write` renews them)."""

import json
import os
import re
import tomllib
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

import anabranch as ab
from anabranch import _core
from anabranch.cli.main import run_command
from anabranch.diagnosis.remedies import _is_constant
from anabranch.measures import scenario_keys
from anabranch.sweeps.chance import nothing_random

DOCS = Path(__file__).resolve().parents[1] / "docs"
MARK = re.compile(r"(<!-- keys of ([^\n]*?) -->\n\n)((?:\|[^\n]*\n)*)")
KEYS: list[dict[str, Any]] = json.loads(_core.keys())


def cells(*texts: str) -> str:
    return f"| {' | '.join(text.replace('|', chr(92) + '|') for text in texts)} |\n".replace("|  |", "| |")


def of_keys(table: str, part: str) -> str:
    """The table of a part of a table of keys; of a table that has no parts, of all its keys."""
    chosen = [key for key in KEYS if key["table"] == table and part in ("", key["part"])]
    # A link has the keys of a path, and those of a generated network are listed with it.
    chosen = [key for key in chosen if table != "topology" or not key["directed"]]
    assert chosen, (table, part)
    lines = [cells("key", "default", "allowed", "meaning"), "|---|---|---|---|\n"]
    lines += [cells(f"`{key['key']}`", key["default"], key["allowed"], key["meaning"]) for key in chosen]
    return "".join(lines)


def of_profiles() -> str:
    """The defaults in which profiles differ; keys with equal values share a row."""
    names = ["modern", "classic", "linux-6.1"]
    differing = [
        key
        for key in KEYS
        if key["table"] == "connection" and key["profiles"] and len(set(key["profiles"].values())) > 1
    ]
    rows = [(tuple(str(key["profiles"][name]).strip('"') for name in names), key["key"]) for key in differing]
    lines = [cells("key", *(f"`{name}`" for name in names)), "|---|---|---|---|\n"]
    for values, group in groupby(sorted(rows, key=lambda row: row[0]), key=lambda row: row[0]):
        lines.append(cells(", ".join(f"`{key}`" for _, key in group), *(f"`{value}`" for value in values)))
    return "".join(lines)


def renewed(text: str) -> str:
    def table(found: re.Match[str]) -> str:
        name, _, part = found[2].partition(": ")
        return found[1] + (of_profiles() if name == "profiles" else of_keys(name, part))

    return MARK.sub(table, text)


def test_the_tables_of_keys_are_those_of_the_program() -> None:
    page = DOCS / "scenario.md"
    text = page.read_text(encoding="utf-8")
    if os.environ.get("ANABRANCH_QUOTES") == "write":
        page.write_text(renewed(text), encoding="utf-8")
        text = page.read_text(encoding="utf-8")
    assert text == renewed(text), "renew it: ANABRANCH_QUOTES=write pytest tests/test_keys.py"


def test_the_types_of_keys_are_those_of_the_program() -> None:
    file = Path(ab.__file__).with_name("_keys.pyi")
    if os.environ.get("ANABRANCH_QUOTES") == "write":
        file.write_text(scenario_keys.stub(), encoding="utf-8", newline="\n")
    assert file.read_text(encoding="utf-8") == scenario_keys.stub(), (
        "renew it: ANABRANCH_QUOTES=write pytest tests/test_keys.py"
    )


def test_the_typed_keys_are_keys_of_a_scenario() -> None:
    base = ab.Scenario.two_path("5 Mbit/s, 10 ms", "2 Mbit/s, 10 ms", transfer="1 MB")
    assert {"connection.scheduler", "path.1.delay", "path.0.wifi.distance", "duration"} <= scenario_keys.paths().keys()
    for name in scenario_keys.paths():
        with pytest.raises(ab.ScenarioError) as refused:
            base.set(name, "\x00").check()
        assert "unknown key" not in str(refused.value), name


def test_every_key_is_in_the_documentation() -> None:
    scenario, links = ((DOCS / name).read_text(encoding="utf-8") for name in ("scenario.md", "links.md"))
    for key in KEYS:
        page = links if key["table"] in ("leo", "cellular") and key["key"] != "preset" else scenario
        assert f"`{key['key']}`" in page, (key["table"], key["key"])
    marked = {found[2].partition(": ")[0] for found in MARK.finditer(scenario)}
    assert marked >= {"root", "connection", "path", "transfer", "wifi", "topology", "traffic", "middleboxes"}


def test_a_template_is_a_scenario_with_every_value_at_its_default() -> None:
    written = json.loads(_core.check(_core.template(), "t", []))
    assert len(_core.template().splitlines()) > 120
    assert written["connections"][0]["mss_bytes"] == 1400


def test_list_shows_the_keys_of_one_table_and_all_of_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["list", "keys", "mtu"]) == 0
    assert capsys.readouterr().out.startswith("mtu = { ... }\n  size = required")
    assert run_command(["list", "keys"]) == 0
    out = capsys.readouterr().out
    assert all(written in out for written in scenario_keys.tables().values())
    assert run_command(["list", "keys", "pth"]) == 2
    assert "did you mean `path`?" in capsys.readouterr().err


def test_the_schema_takes_every_example_and_refuses_a_misspelt_key() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    validator = jsonschema.Draft202012Validator(scenario_keys.schema())
    examples = [*sorted((DOCS.parent / "examples").glob("*.toml")), None]
    for example in examples:
        document = tomllib.loads(example.read_text(encoding="utf-8") if example else _core.template())
        assert not list(validator.iter_errors(document)), example
    for wrong in ("pth = []", "[connection]\nmms = 1400", "[[path]]\ndelay_upp = '1 ms'", "[connection]\nsack = 'yes'"):
        assert list(validator.iter_errors(tomllib.loads(wrong))), wrong


@pytest.mark.parametrize(("cost", "named"), [("40 us", True), ("1 us", False)])
def test_a_diagnosis_names_the_processor_of_a_host_that_is_busy(cost: str, named: bool, tmp_path: Path) -> None:
    paths = ("700 Mbit/s, 5 ms", "700 Mbit/s, 5 ms")
    scenario = ab.Scenario.two_path(*paths, transfer="2 s").set("host.cost", cost)
    scenario.run().save(tmp_path / "run")
    text = " ".join(ab.diagnose(tmp_path / "run").connections[0]["sentences"])
    assert ("Main cause: the processor of " in text) == named, text
    assert not named or f"each segment costs {cost}" in text, text


def test_the_capacity_of_a_policed_path_is_not_the_rate_of_its_link(tmp_path: Path) -> None:
    scenario = ab.Scenario.two_path("20 Mbit/s, 10 ms", "5 Mbit/s, 20 ms", transfer="2 s")
    scenario.set({"path.0.policer.rate": "4 Mbit/s", "path.0.policer.burst": "16 kB"}).run().save(tmp_path / "run")
    policed, free = ab.diagnose(tmp_path / "run").connections[0]["subflows"]
    assert free["capacity_mbps"] == 5
    assert policed["capacity_mbps"] != 20


def test_remedies_vary_no_delay_that_varies_already() -> None:
    scenario = ab.Scenario.two_path("5 Mbit/s, 100 ms", "2 Mbit/s, 10 ms", transfer="1 MB")
    varied = scenario.set("path.0.delay_variation", "2 ms").check()["links"]
    assert [_is_constant(link) for link in varied] == [False, True]
    assert not nothing_random([scenario.set("path.0.delay_variation", "2 ms")])
