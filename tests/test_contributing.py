"""CONTRIBUTING.md names a scenario for each kind of algorithm on which they behave differently."""

import json
import re
from pathlib import Path

import pytest

import anabranch as ab
from anabranch import _core

ROOT = Path(__file__).resolve().parents[1]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
KINDS = ("controller", "scheduler", "detector", "reduction", "judge")
REGISTRY = json.loads(_core.registry())
# A variant may differ from the algorithm that it varies only elsewhere.
NAMES = {kind: [entry["name"] for entry in REGISTRY[kind] if not entry["variant_of"]] for kind in KINDS}


def changed(cell: str) -> ab.Scenario:
    """Return the scenario that a cell of the table names, with its change."""
    (file,) = re.findall(r"`(examples/[\w-]+\.toml)`", cell)
    changes = dict(re.findall(r"`([\w.]+)=\"?([^\"`]+)\"?`", cell))
    scenario = ab.Scenario.load(ROOT / file)
    return scenario.set(changes) if changes else scenario


def traces(kind: str, scenario: ab.Scenario, names: list[str]) -> dict[str, str]:
    return {name: scenario.set(f"connection.{kind}", name).run().summary["trace_sha256"] for name in names}


@pytest.mark.parametrize("kind", KINDS)
def test_the_scenario_of_a_kind_tells_its_algorithms_apart(kind: str) -> None:
    ((scenario, why),) = re.findall(rf"^\| {kind} \| (.*?) \| (.*?) ?\|$", TEXT, re.MULTILINE)
    alike = dict(re.findall(r"`([\w-]+)` as `([\w-]+)`", why))
    found = traces(kind, changed(scenario), NAMES[kind])
    assert {name: found[name] for name in alike} == {name: found[other] for name, other in alike.items()}
    different = [found[name] for name in found if name not in alike]
    assert len(set(different)) == len(different)


def test_six_schedulers_give_one_trace_where_there_is_nothing_to_choose() -> None:
    unlike = ab.Scenario.load(ROOT / "examples/unlike-paths.toml")
    found = traces("scheduler", unlike, NAMES["scheduler"])
    assert "six schedulers give one trace" in TEXT
    assert list(found.values()).count(found["min-rtt"]) == 6


@pytest.mark.long
def test_where_timers_expire_in_vain_frto_is_not_none() -> None:
    road = changed("`examples/road.toml` with `connection.detector=rfc6675`")
    found = traces("judge", road, ["none", "frto"])
    assert found["none"] != found["frto"]


@pytest.mark.parametrize("kind", KINDS)
def test_the_features_count_every_algorithm(kind: str) -> None:
    features = (ROOT / "docs/features.md").read_text(encoding="utf-8")
    (counted,) = re.findall(rf"(\d+) (?:congestion )?\[?{kind}s", features)
    assert int(counted) == len(REGISTRY[kind])
