"""Capacities that the user gives: they count as exact, are marked, and may not contradict the capture."""

import json
from pathlib import Path

import pytest

import anabranch as ab
from anabranch.diagnosis.given import CapacityError
from helpers import Command

pytestmark = pytest.mark.usefixtures("no_figures")


@pytest.fixture(scope="module")
def captures(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """One path that is full, of 5 Mbit/s, and a backup of 3 Mbit/s that carries nothing."""
    folder = tmp_path_factory.mktemp("given")
    scenario = ab.Scenario.two_path("5 Mbit/s, 10 ms", "3 Mbit/s, 30 ms", transfer="4 s")
    scenario.set("path.1.backup", True).run(pcap=folder)
    return sorted(folder.glob("client-*"))


def rates(found: ab.Diagnosis) -> list[tuple[float | None, bool]]:
    flows = found.connections[0]["subflows"]
    return [(flow["capacity_mbps"], flow["capacity_given"]) for flow in flows]


@pytest.mark.parametrize("key", [1, "1", "10.0.1.1", "10.0.1.1:49153"])
def test_a_capacity_that_is_given_is_exact_and_marked(captures: list[Path], key: int | str) -> None:
    before, after = ab.diagnose(captures), ab.diagnose(captures, capacity={key: "3 Mbit/s"})
    assert not any(given for _, given in rates(before))
    assert rates(before)[1][0] is None
    assert rates(after) == [rates(before)[0], (3.0, True)]
    flow = after.connections[0]["subflows"][1]
    assert (flow["capacity_low_mbps"], flow["capacity_high_mbps"]) == (3.0, 3.0)
    assert " of the sum" not in before.sentences[0]
    assert "3 Mbit/s (given)" in after.sentences[0]
    assert after.sentences[0].endswith(" of the sum of the capacities.")
    assert "3 (given)" in str(after)
    assert "3 (given)" in after._repr_html_()


def test_json_and_report_mark_it(captures: list[Path], command: Command, tmp_path: Path) -> None:
    done = command("diagnose", *captures, "--capacity", "1=3 Mbit/s", "--capacity", "0=6 Mbit/s", "--json")
    assert done.status == 0
    flows = json.loads(done.out)["connections"][0]["subflows"]
    assert [(flow["capacity_mbps"], flow["capacity_given"]) for flow in flows] == [(6.0, True), (3.0, True)]
    done = command("diagnose", *captures, "--capacity", "1=3 Mbit/s", "--out", tmp_path / "d", "--quiet")
    assert done.status == 0
    assert "3 (given)" in (tmp_path / "d" / "report.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("0=4 Mbit/s", ["capacity of path 0: 4 Mbit/s", "5 Mbit/s that the capture shows", "10.0.0.1:49152"]),
        ("7=4 Mbit/s", ["capacity of path 7: no such path", "0 (10.0.0.1), 1 (10.0.1.1)"]),
        ("10.9.9.9=4 Mbit/s", ["capacity of path 10.9.9.9: no such path"]),
        ("0=80", ['capacity of path 0: "80" has no unit', '"10 Mbit/s"']),
        ("0=nan", ["capacity of path 0", "number"]),
        ("0=inf Mbit/s", ["capacity of path 0", "number"]),
        ("0=0 bit/s", ["capacity of path 0", "out of range"]),
        ("0=-5 Mbit/s", ["capacity of path 0", "negative"]),
        ('0=5 Mbit/s"\nx=1', ["capacity of path 0"]),
        ("0", ["--capacity 0", "PATH=RATE"]),
        ("=5 Mbit/s", ["--capacity =5 Mbit/s", "PATH=RATE"]),
    ],
)
def test_what_contradicts_the_capture_or_is_no_rate_is_refused(
    captures: list[Path], command: Command, option: str, words: list[str]
) -> None:
    done = command("diagnose", *captures, "--capacity", option)
    assert (done.status, done.out) == (2, "")
    assert all(word in done.err for word in words), done.err
    assert "Traceback" not in done.err


def test_a_path_has_one_capacity(captures: list[Path], command: Command) -> None:
    done = command("diagnose", *captures, "--capacity", "0=6 Mbit/s", "--capacity", "0=7 Mbit/s")
    assert done.status == 2
    assert "path 0 already has 6 Mbit/s" in done.err
    with pytest.raises(CapacityError, match="given twice"):
        ab.diagnose(captures, capacity={0: "6 Mbit/s", "0": "7 Mbit/s"})
    with pytest.raises(CapacityError, match="has no unit"):
        ab.diagnose(captures, capacity={0: 6e6})  # type: ignore[dict-item]


def test_a_run_knows_its_links(captures: list[Path], command: Command, tmp_path: Path) -> None:
    ab.Scenario.two_path("5 Mbit/s, 10 ms", "3 Mbit/s, 30 ms", transfer="100 kB").run().save(tmp_path / "run")
    done = command("diagnose", tmp_path / "run", "--capacity", "0=6 Mbit/s")
    assert done.status == 2
    assert "a run knows the capacity of its links" in done.err
    # The captures of an analysis are captures.
    ab.analyze(captures).save(tmp_path / "analysis")
    assert command("diagnose", tmp_path / "analysis", "--capacity", "1=3 Mbit/s").status == 0
    assert command("diagnose", tmp_path / "analysis", "--capacity", "0=3 Mbit/s").status == 2


def test_the_twin_has_the_capacity_that_is_given(captures: list[Path], command: Command, tmp_path: Path) -> None:
    twin = tmp_path / "twin.toml"
    done = command("diagnose", *captures, "--capacity", "1=3 Mbit/s", "--twin", twin, "--seeds", "0")
    assert done.status == 0
    text = twin.read_text("utf-8")
    (line,) = [line for line in text.splitlines() if 'rate = "3 Mbit/s"' in line]
    assert "# given: " in line
    assert ab.Scenario.load(twin).check()["links"][1]["up"]["rate_bps"] == 3e6
