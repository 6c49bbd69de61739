"""``anabranch diagnose``: of runs, of captures of one side and of both, of what is no capture at all."""

import json
import re
from pathlib import Path

import pytest

import anabranch as ab
from anabranch import _core
from anabranch.diagnosis.verdict import _paths
from anabranch.measures.causes import CAUSES
from anabranch.runs.limits import limits
from anabranch.sentences import diagnose as say
from helpers import Command, Page

ROOT = Path(__file__).parent.parent
DATA = ROOT / "crates" / "acceptance" / "tests" / "data"
LINUX = DATA / "linux-mptcp-two-paths-snap128.pcap"
BLOCKED = ROOT / "examples" / "blocked-buffer.toml"


@pytest.fixture(scope="module")
def blocked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("blocked")
    ab.Scenario.load(BLOCKED).run(pcap=folder / "captures").save(folder / "run")
    return folder


def test_a_run_is_diagnosed_in_three_sentences_and_a_table(command: Command, blocked: Path) -> None:
    done = command("diagnose", blocked / "run")
    assert (done.status, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[0].startswith("The capacity of the 2 paths is ")
    assert "head-of-line blocking 88" in lines[1]
    assert "10.0.1.1:49153" in lines[1]
    assert "receive buffer" in lines[2]
    assert done.out.isascii()


@pytest.mark.parametrize("place", ["client-*", "server-*", "[cs]*"])
def test_sender_receiver_and_both_see_the_blocked_buffer(blocked: Path, place: str) -> None:
    found = ab.diagnose(sorted((blocked / "captures").glob(place)))
    (connection,) = found.connections
    assert connection["main_cause"] == "head_of_line"
    # The run itself says 0.89 of its limits.
    assert connection["causes"]["head_of_line"] == pytest.approx(0.886, abs=0.02)
    for flow in connection["subflows"]:
        assert sum(flow["causes"].values()) == pytest.approx(1)


def test_the_path_that_holds_the_others_up_is_the_slow_one(blocked: Path) -> None:
    fast, slow = ab.diagnose(blocked / "run").connections[0]["subflows"]
    assert slow["blocked_others_s"] > 10 * fast["blocked_others_s"]
    assert slow["base_rtt_ms"] == pytest.approx(200, abs=2)
    assert fast["base_rtt_ms"] == pytest.approx(20, abs=2)


def test_a_saturated_link_has_the_capacity_of_its_scenario(tmp_path: Path) -> None:
    ab.Scenario.two_path("5 Mbit/s, 30 ms", "2 Mbit/s, 10 ms", transfer="10 s").run(pcap=tmp_path)
    flows = ab.diagnose(sorted(tmp_path.glob("client-*"))).connections[0]["subflows"]
    assert [flow["capacity_mbps"] for flow in flows] == pytest.approx([5, 2], rel=0.03)
    assert [flow["capacity_at_least_mbps"] for flow in flows] <= [5.1, 2.04]


@pytest.mark.parametrize(
    "what",
    [
        "transfer = { message = '1 kB', interval = '60 ms', duration = '10 s' }",
        "transfer = { request = '200 B', response = '1 kB', count = 300 }",
        "transfer.bytes = '1 MB'\nconnection.send_buffer = '3 kB'",
    ],
)
def test_of_a_link_that_is_hardly_used_nobody_says_what_it_could_carry(what: str, tmp_path: Path) -> None:
    """Packets that wait for nobody come back later than the handshake did: they are larger."""
    path = "connection.protocol = 'tcp'\n[[path]]\nrate = '10 Mbit/s'\ndelay = '10 ms'\n"
    ab.Scenario.from_toml(f"{what}\n{path}").run(pcap=tmp_path)
    for place in ("client-*", "server-*", "*"):
        (flow,) = ab.diagnose(sorted(tmp_path.glob(place))).connections[0]["subflows"]
        assert flow["capacity_mbps"] is None
        assert 0.05 < flow["capacity_at_least_mbps"] < 10


FIRST_SENTENCES = [
    (
        [(80.0, 80.0), (10.0, 10.0)],
        42.1,
        "mptcp",
        "80 Mbit/s + 10 Mbit/s. The goodput is 42.1 Mbit/s, 46.8 % of the sum of the capacities.",
    ),
    ([(80.0, 80.0), None], 42.1, "mptcp", "80 Mbit/s + at least 5 Mbit/s. The goodput is 42.1 Mbit/s."),
    ([None, None], 42.1, "mptcp", "at least 5 Mbit/s + at least 5 Mbit/s. The goodput is 42.1 Mbit/s."),
    (
        [(5.0, 5.0)],
        7.0,
        "mptcp",
        "more than the capacity of all paths that the capture shows: a path may be missing, or a "
        "capacity may have changed.",
    ),
    # The rate varies: for a time it was enough.
    ([(5.0, 9.0)], 7.0, "mptcp", "is 5 Mbit/s. The goodput is 7 Mbit/s."),
    # Plain TCP has one path.
    ([(5.0, 5.0)], 7.0, "tcp", "is 5 Mbit/s. The goodput is 7 Mbit/s."),
]


@pytest.mark.parametrize(("rates", "got", "protocol", "end"), FIRST_SENTENCES)
def test_a_part_of_the_sum_is_told_only_if_every_capacity_is_known(
    rates: list[tuple[float, float] | None], got: float, protocol: str, end: str
) -> None:
    capacities = [pair or (None, None) for pair in rates]
    keys = ("capacity_mbps", "capacity_high_mbps", "capacity_at_least_mbps", "capacity_given")
    flows = [dict(zip(keys, (*pair, 5.0, False), strict=True)) for pair in capacities]
    lower = any(pair is None for pair in rates)
    total = sum(pair[0] if pair else 5.0 for pair in rates)
    found = {"subflows": flows, "goodput_mbps": got, "protocol": protocol}
    found |= {"paths_mbps": total, "paths_are_lower_bounds": lower, "incomplete": []}
    assert _paths(found).endswith(end)


@pytest.mark.parametrize("place", ["client", "server"])
def test_a_full_path_is_the_answer_from_either_side_though_delays_vary(place: str, tmp_path: Path) -> None:
    """At the receiver what the sender waited for is told as a sum only; that its path was full is seen there, too."""
    path = "rate = '20 Mbit/s'\ndelay = '30 ms'\ndelay_variation = '30 %'\nqueue = '200 packets'\n"
    scenario = ab.Scenario.from_toml(f"seed = 3\ntransfer.duration = '8 s'\n[[path]]\n{path}")
    scenario.run(pcap=tmp_path)
    found = ab.diagnose([tmp_path / f"{place}-0.pcapng"])
    assert found.connections[0]["goodput_mbps"] > 17
    assert found.sentences[2].startswith("The path was saturated")


def test_what_was_overtaken_is_no_retransmission_at_the_receiver(tmp_path: Path) -> None:
    """It comes up to 36 ms behind what was sent after it: its timestamp says that it was sent before (RFC 7323 3.2)."""
    path = "rate = '20 Mbit/s'\ndelay = '30 ms'\ndelay_variation = '30 %'\novertaking = true\nqueue = '200 packets'\n"
    scenario = ab.Scenario.from_toml(f"seed = 3\ntransfer.duration = '5 s'\n[[path]]\n{path}")
    run = scenario.run(pcap=tmp_path)
    sent = run.summary["subflows"][0]
    (seen,) = ab.analyze([tmp_path / "server-0.pcapng"]).summary["subflows"]
    assert seen["retransmissions"] <= sent["retransmissions_fast"] + sent["retransmissions_timeout"] < 100


def test_the_diagnosis_of_a_run_is_what_the_run_knows(command: Command, blocked: Path) -> None:
    """Its shares are the run's, nothing is inferred, nothing would take another capture or `ss -tin`."""
    done = command("diagnose", blocked / "run")
    assert "(?)" not in done.out
    assert say.UNKNOWN not in done.out
    assert "ss -tin" not in done.out
    run = ab.load(blocked / "run")
    true = json.loads(_core.run(run.toml, "scenario.toml", [], causes=True).summary)
    found = ab.diagnose(blocked / "run").summary
    (connection,) = found["connections"]
    assert [flow["causes"] for flow in connection["subflows"]] == [flow["causes"] for flow in true["subflows"]]
    assert connection["limits"] == run.summary["limits"]
    assert say.LIMITS(limits=limits(run.summary)) in done.out.splitlines()[1]
    assert connection["is_known"]
    assert connection["unknown"] == connection["indistinct"] == []
    assert {ground["kind"] for ground in found["grounds"].values()} == {"fact"}
    assert [flow["capacity_mbps"] for flow in connection["subflows"]] == [20, 1]
    # Of its captures nothing of that is known.
    (other,) = ab.diagnose(sorted((blocked / "captures").glob("client-*"))).connections
    assert not other["is_known"]
    assert other["limits"] is None
    assert other["unknown"]


TWO = """
[[connection]]
name = "first"
protocol = "tcp"
paths = ["wire"]
transfer = { bytes = "1 MB", start = "1 s" }

[[connection]]
name = "second"
transfer = { bytes = "1 MB", direction = "down" }

[[path]]
name = "wire"
rate = "5 Mbit/s"
delay = "10 ms"

[[path]]
name = "air"
rate = "3 Mbit/s"
rate_down = "2 Mbit/s"
delay = "20 ms"
"""


@pytest.mark.usefixtures("no_figures")
def test_of_several_connections_of_a_run_each_has_its_own_shares(tmp_path: Path) -> None:
    """The first connection of the scenario begins later, so it is the second of the captures."""
    run = ab.Scenario.from_toml(TWO).run()
    run.save(tmp_path / "run")
    true = {c["name"]: c for c in json.loads(_core.run(TWO, "two", [], causes=True).summary)["connections"]}
    found = {len(c["subflows"]): c for c in ab.diagnose(tmp_path / "run").connections}
    for name, flows in (("first", 1), ("second", 2)):
        assert [f["causes"] for f in found[flows]["subflows"]] == [f["causes"] for f in true[name]["subflows"]]
        assert found[flows]["limits"] == true[name]["limits"]
    # A link of two connections carries what the other leaves; one of its own its rate, in the direction of the data.
    assert found[2]["subflows"][1]["capacity_mbps"] == 2
    assert found[2]["subflows"][0]["capacity_mbps"] != 5
    assert run.explain().startswith("second: ")


@pytest.mark.usefixtures("no_figures")
def test_behind_a_translator_of_ports_the_captures_are_asked(tmp_path: Path) -> None:
    path = "[[path]]\nrate = '5 Mbit/s'\ndelay = '10 ms'\nmiddleboxes = ['nat']\n"
    ab.Scenario.from_toml(f"transfer.bytes = '1 MB'\n{path}").run().save(tmp_path / "run")
    for connection in ab.diagnose(tmp_path / "run").connections:
        assert sum(connection["causes"].values()) == pytest.approx(1)


def test_every_field_of_the_json_is_defined(command: Command, blocked: Path) -> None:
    found = json.loads(command("diagnose", blocked / "run", "--json").out)
    text = (ROOT / "docs" / "columns.md").read_text("utf-8")
    section = text[text.index("## A diagnosis") : text.index("## Tables")]
    defined = set(re.findall(r"`(\w+)`", section))
    connection = found["connections"][0]
    for keys in (found, connection, connection["subflows"][0], connection["causes"], *connection["unknown"]):
        assert set(keys) <= defined, set(keys) - defined


def test_every_cause_is_explained() -> None:
    text = (ROOT / "docs" / "diagnose.md").read_text("utf-8")
    rows = re.findall(r"^\| `(\w+)` \| (fact|inference)", text, re.MULTILINE)
    assert rows == [(name, "fact" if cause.fact else "inference") for name, cause in CAUSES.items()]


def test_out_writes_numbers_and_a_report_that_loads_nothing(command: Command, blocked: Path, tmp_path: Path) -> None:
    done = command("diagnose", blocked / "run", "--out", tmp_path / "d", "--quiet")
    assert (done.status, done.out, done.err) == (0, "", "")
    assert sorted(file.name for file in (tmp_path / "d").iterdir()) == [
        "diagnosis.json",
        "provenance.json",
        "report.html",
    ]
    page = Page((tmp_path / "d" / "report.html").read_text("utf-8"))
    assert all(address.startswith("data:") for address in page.loads)
    assert "Data sequence" in (tmp_path / "d" / "report.html").read_text("utf-8")
    again = command("diagnose", blocked / "run", "--out", tmp_path / "d")
    assert again.status == 0
    assert "report.html" in again.out


@pytest.mark.usefixtures("no_figures")
def test_a_run_that_gives_another_trace_is_refused(command: Command, blocked: Path, tmp_path: Path) -> None:
    run = ab.load(blocked / "run")
    run.summary["trace_sha256"] = "0" * 64
    run.save(tmp_path / "other")
    done = command("diagnose", tmp_path / "other")
    assert done.status == 2
    assert "does not give the trace of the run" in done.err


def test_a_capture_of_linux_is_diagnosed(command: Command) -> None:
    done = command("diagnose", LINUX)
    assert (done.status, done.err) == (0, "")
    assert say.UNKNOWN in done.out


def test_what_is_no_capture_gets_one_sentence(command: Command) -> None:
    done = command("diagnose", BLOCKED)
    assert done.status == 2
    assert done.out == ""
    assert len(done.err.splitlines()) == 1
