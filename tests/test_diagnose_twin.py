"""The twin of a capture, and what would help: of simulated captures, of captures of Linux, of runs."""

import json
import re
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import anabranch as ab
from anabranch.diagnosis.remedies import Remedies, Tried, remedies
from anabranch.diagnosis.twin import Likeness, likeness
from anabranch.diagnosis.twin.draft import Draft, _changes
from anabranch.diagnosis.twin.fit import _CONTROLLERS, _Fit
from anabranch.diagnosis.twin.likeness import BOUNDS
from anabranch.diagnosis.twin.series import outages, up_again
from anabranch.sentences import diagnose as say
from anabranch.sweeps.paired import interval
from helpers import Command
from twin_truth import several

ROOT = Path(__file__).parent.parent
DATA = ROOT / "crates" / "acceptance" / "tests" / "data"
LINUX = DATA / "linux-mptcp-two-paths-snap128.pcap"
FIRST = 2_000_000
AWAY = """
[[connection]]
name = "early"
[connection.transfer]
bytes = "10 kB"

[[connection]]
name = "long"
[connection.transfer]
bytes = "12 MB"
start = "2 s"

[[path]]
rate = "10 Mbit/s"
delay = "20 ms"
queue = "60 packets"
changes = [{ at = "5 s", state = "down" }, { at = "8 s", state = "up" }]

[[path]]
rate = "6 Mbit/s"
delay = "30 ms"
queue = "60 packets"
"""


@cache
def twin_of(file: Path) -> str:
    """The twin of a capture."""
    twin = ab.diagnose(file, twin=True).twin
    assert twin is not None
    return twin


@pytest.mark.parametrize("name", ["linux-mptcp-two-paths-snap128.pcap", "linux-mptcp-first-400.pcap"])
def test_the_twin_of_a_capture_of_linux_is_like_it(name: str) -> None:
    twin = twin_of(DATA / name)
    run = ab.Scenario.from_toml(twin).run()
    capture = ab.analyze(DATA / name).summary
    assert run.summary["goodput_mbps"] == pytest.approx(capture["goodput_mbps"], rel=0.10)
    assert run.summary["ooo_ratio"] == pytest.approx(capture["ooo_ratio"], abs=0.10)
    rates = [[flow["goodput_mbps"] for flow in one["subflows"]] for one in (run.summary, capture)]
    ours, theirs = ([rate / sum(flows) for rate in flows] for flows in rates)
    assert ours == pytest.approx(theirs, abs=0.10)
    # The emulated paths of crates/acceptance/tests/data/README.md.
    links = ab.Scenario.from_toml(twin).check()["links"]
    assert [link["up"]["delay_s"] for link in links] == pytest.approx([0.1, 0.01], rel=0.05)
    if "two-paths" in name:
        assert [link["up"]["rate_bps"] for link in links] == pytest.approx([5e6, 2e6], rel=0.05)


@pytest.mark.long
def test_sixty_twins_are_like_what_they_are_of() -> None:
    outcomes = several(list(range(FIRST, FIRST + 60)), jobs=2)
    assert sum(one.likeness.is_like for one in outcomes) >= 0.75 * len(outcomes)
    # All but those without SACK and in recovery.
    others = [one for one in outcomes if one.stratum != "recovery"]
    assert sum(one.likeness.is_like for one in others) >= 0.85 * len(others)


@pytest.mark.usefixtures("no_figures")
def test_each_line_has_its_ground(command: Command, tmp_path: Path) -> None:
    done = command("diagnose", LINUX, "--twin", tmp_path / "twin.toml", "--seeds", "0")
    assert done.status == 0
    assert "The twin is like the capture" in done.out
    assert "no clear effect" not in done.out
    text = (tmp_path / "twin.toml").read_text("utf-8")
    body = text[text.index("[connection]") :]
    lines = [line for line in body.splitlines() if line and not line.startswith("[")]
    assert len(lines) >= 15
    for line in lines:
        assert re.search(r"  # (fact|inference|unknown): \S", line), line
    assert command("check", tmp_path / "twin.toml").status == 0


@pytest.mark.usefixtures("no_figures")
def test_what_would_help_against_a_blocked_buffer_is_tried_and_said(command: Command, tmp_path: Path) -> None:
    """A slow path fills a small receive buffer: by its scenario 20 Mbit/s are there, of which the run gets a fifth."""
    ab.Scenario.load(ROOT / "examples" / "blocked-buffer.toml").run().save(tmp_path / "run")
    done = command("diagnose", tmp_path / "run", "--seeds", "3", "--json")
    assert done.status == 0
    found = json.loads(done.out)["remedies"]
    assert found["seeds"] == 3
    by_name = {one["what"]: one for one in found["tried"]}
    assert by_name["fast only"]["helps"]
    assert by_name["fast only"]["goodput_mbps"] > 4 * found["goodput_mbps"]
    assert not by_name["slow only"]["helps"]
    assert any(one["helps"] and one["kind"] == "scheduler" for one in found["tried"])
    assert re.match(
        r"helps: .*: goodput 1\d(\.\d+)? Mbit/s instead of 3\.8\d* Mbit/s \(3 seeds, ", found["sentences"][0]
    )
    assert any(line.startswith("lowers the goodput: ") for line in found["sentences"])
    text = (ROOT / "docs" / "columns.md").read_text("utf-8")
    defined = set(re.findall(r"`(\w+)`", text[text.index("## A diagnosis") : text.index("## Tables")]))
    assert {*found, *found["tried"][0], *json.loads(done.out)["twin"]} <= defined


def test_a_gain_that_may_be_chance_is_no_help() -> None:
    """Worked: three pairs that differ by +2, -1 and +2 Mbit/s have an interval that holds zero."""
    chance = Tried("a", "scheduler", interval([12, 9, 12]), interval([2.0, -1.0, 2.0]))
    sure = Tried("b", "scheduler", interval([12, 12, 12]), interval([2.0, 2.0, 2.1]))
    small = Tried("c", "scheduler", interval([10.1, 10.1, 10.1]), interval([0.1, 0.1, 0.1]))
    assert [one.helps(10) for one in (chance, sure, small)] == [False, True, False]
    lines = Remedies(interval([10, 10, 10]), [sure, chance, small]).sentences()
    assert lines[0].startswith("helps: b: goodput 12 Mbit/s instead of 10 Mbit/s (3 seeds, ")
    assert lines[-1] == "no clear effect on the goodput: a, c"


def test_ctrl_c_keeps_what_was_compared() -> None:
    """After 40 runs: by then two seeds of everything are there, and the third is not."""

    def stop(state: object) -> None:
        if getattr(state, "total", 0) > 60:
            raise KeyboardInterrupt

    scenario = ab.Scenario.two_path("5 Mbit/s, 30 ms", "2 Mbit/s, 10 ms", transfer="300 kB")
    found = remedies(scenario, seeds=20, progress=stop)
    assert found.interrupted
    assert 2 <= found.base.n < 20
    assert len(found.tried) >= 10


def test_likeness_is_of_goodput_shares_and_order() -> None:
    def summary(rates: list[float], order: float) -> dict[str, object]:
        flows = [{"path": i, "goodput_mbps": rate} for i, rate in enumerate(rates)]
        return {"goodput_mbps": sum(rates), "ooo_ratio": order, "subflows": flows}

    found = likeness(summary([6, 4], 0.5), summary([8, 3], 0.45))
    assert found == pytest.approx(Likeness(0.1, 8 / 11 - 0.6, -0.05))
    assert not found.is_like


def test_likeness_is_of_losses_round_trips_and_the_end_of_outages_too() -> None:
    """Worked: 10 and 50 of 1,000 segments again; 40 and 60 ms; an outage from 3 to 6 s, or to 8 s, of 20 s."""

    def summary(again: int, srtt: float) -> dict[str, Any]:
        flow = {"path": 0, "goodput_mbps": 5.0, "segments": 1000, "srtt_ms": srtt}
        flow |= {"retransmissions_fast": again - 4, "retransmissions_timeout": 4}
        return {"goodput_mbps": 5.0, "ooo_ratio": 0.1, "last_byte_s": 20.0, "subflows": [flow]}

    one = summary(10, 40.0)
    assert likeness(one, summary(10, 40.0), {0: [(3, 6)]}, {0: [(3.2, 6.5)]}).is_like
    for other, gone, name, value in (
        (summary(50, 40.0), {0: [(3.0, 6.0)]}, "losses", 0.04),
        (summary(10, 60.0), {0: [(3.0, 6.0)]}, "srtt", 0.5),
        (summary(10, 40.0), {0: [(3.0, 9.0)]}, "outages", 0.15),
        (summary(10, 40.0), {}, "outages", 0.15),
        (summary(10, 40.0), {0: [(3.0, 6.0), (10.0, 15.0)]}, "outages", 0.25),
    ):
        found = likeness(one, other, {0: [(3, 6)]}, gone)
        assert getattr(found, name) == pytest.approx(value), (name, found)
        assert not found.is_like
        assert max(map(abs, found[:3])) == 0
    # Without delivered data, the time of the connection counts as one second.
    nothing = one | {"last_byte_s": None}
    assert likeness(nothing, one, {0: [(3, 6)]}, {0: [(3, 6.05)]}).outages == pytest.approx(0.05)


def test_a_twin_exactly_at_the_bounds_is_like_its_capture() -> None:
    assert Likeness(*BOUNDS).is_like
    for name in Likeness._fields:
        assert not BOUNDS._replace(**{name: 1.001 * getattr(BOUNDS, name)}).is_like


def _series(at: dict[float, float], flight: float = 1000.0) -> SimpleNamespace:
    """A subflow that has delivered so much at these times, and keeps data in flight."""
    columns = {"t": list(at), "delivered": list(at.values()), "in_flight": [flight] * len(at)}
    return SimpleNamespace(subflows=lambda: {**columns, "connection": [0] * len(at), "subflow": [0] * len(at)})


def test_an_outage_is_a_second_of_data_in_flight_without_progress() -> None:
    series = _series({0.0: 0, 0.5: 10, 3.0: 10, 4.0: 20, 4.5: 30})
    assert outages(series, 0, [0], 4.5) == [(0.5, 4.0)]
    assert outages(series, 0, [0], 9.0) == [(0.5, 4.0), (4.5, None)]
    assert outages(_series({0.0: 0, 0.5: 10, 4.0: 20}, flight=0.0), 0, [0], 4.0) == []
    assert outages(_series({}), 0, [0], 4.0) == []


def test_a_path_without_delivered_data_has_no_outage() -> None:
    """The sender waits for the path all the time, and no octet reaches the receiver."""
    series: Any = _series({0.0: 0, 0.5: 0})
    flow = {"diagnosis": {"causes": {"failed": 1.0}}}
    assert _changes(0, [(0, flow)], {"start_s": 0.0, "last_byte_s": None}, series) is None
    silent = _changes(0, [(0, flow)], {"start_s": 0.0, "last_byte_s": 2.0}, series)
    assert silent is not None
    assert silent.value == '[{ at = "0.000 s", state = "down" }]'


def test_a_fit_tries_no_scheduler_where_mptcp_has_one_path(monkeypatch: pytest.MonkeyPatch) -> None:
    def cost(self: _Fit, draft: Draft, best: float = 1.0) -> float:
        return 1.0

    monkeypatch.setattr(_Fit, "judge", cost)
    flow = {"reinjections": 0, "segments": 100}

    def tried(paths: int) -> list[tuple[bool, bool]]:
        draft = Draft({}, {}, tuple({} for _ in range(paths)))
        fit = _Fit({"protocol": "mptcp", "subflows": [flow] * paths}, {}, draft, 0.0, None)
        return [("scheduler" in one.connection, "controller" in one.connection) for one in fit.algorithms()]

    assert tried(1) == [(False, True)] * (2 * len(_CONTROLLERS))
    assert (True, False) in tried(2)


def test_a_path_is_up_between_the_last_probe_that_failed_and_the_next() -> None:
    """Probes 0.2, 0.6, 1.4 and 3.0 s after the last progress; the last comes through."""

    def frames(sent: list[float]) -> Any:
        none = [0] * len(sent)
        return SimpleNamespace(sequence=lambda: {"t": sent, "connection": none, "subflow": none})

    at = up_again(frames([9.9, 10.0, 10.2, 10.6, 11.4, 13.0, 13.1, 13.2]), 0, [0], 10.0, 13.1)
    assert 11.4 < at < 13.0
    # Equal intervals, as long as they may be: the last of them.
    assert 4.0 < up_again(frames([1.0, 2.0, 3.0, 4.0, 5.0, 5.1]), 0, [0], 1.0, 5.1) < 5.0


def test_the_twin_of_an_outage_has_it_at_its_time(tmp_path: Path) -> None:
    """Two seconds before the capture's first connection has data, another begins it; the path is away from 3 to 6 s."""
    ab.Scenario.from_toml(AWAY).run(pcap=tmp_path)
    twin = ab.diagnose(sorted(tmp_path.glob("client-*")), twin=True)
    found = twin.summary["twin"]
    assert found["like"]
    assert abs(found["outages"]) <= 0.1
    assert twin.twin is not None
    (change,) = [link["changes"] for link in ab.Scenario.from_toml(twin.twin).check()["links"] if link["changes"]]
    down, up = (one["at_s"] for one in change)
    assert down == pytest.approx(3.0, abs=0.2)
    # The probe that comes through goes out after 6 s, the one before it earlier.
    assert 4.5 < up < 8.0


def test_what_no_packet_says_is_unknown() -> None:
    twin = twin_of(LINUX)
    keys = ("profile", "controller", "scheduler")
    lines = [line for line in twin.splitlines() if line.split(" ")[0] in keys]
    assert len(lines) >= 2  # a profile only if the run is likest with one
    assert all("# unknown: " in line for line in lines), lines


def test_standard_input_has_no_twin(command: Command) -> None:
    done = command("diagnose", "-", "--twin", "twin.toml")
    assert done.status == 2
    assert "read twice" in done.err


def test_of_a_capture_without_one_path_the_twin_is_unlike_and_nothing_is_tried(
    command: Command, tmp_path: Path
) -> None:
    file = ROOT / "examples" / "captures" / "vpn-dsl0.pcap.gz"
    done = command("diagnose", file, "--twin", tmp_path / "twin.toml", "--seeds", "2")
    text = " ".join(done.out.split())
    assert done.status == 0
    assert re.search(r"The twin is NOT like the capture \(goodput [+-]\S+ %.*\): no remedy was tried\. A path", text)
    assert say.MAIN_CAUSE_INCOMPLETE() in text
    assert "The run is NOT like" in " ".join((tmp_path / "twin.toml").read_text("utf-8").replace("#", " ").split())
