"""Why was it not faster?"""

import re
from pathlib import Path

import pytest

import anabranch as ab
from anabranch.diagnosis.explanation import LEGACY, Explanation, explain
from anabranch.measures import units
from anabranch.measures.causes import CAUSES
from anabranch.runs.limits import limits
from anabranch.sentences import diagnose as say

ROOT = Path(__file__).parent.parent
PATHS = ("5 Mbit/s, 100 ms", "2 Mbit/s, 10 ms")


def largest(run: ab.Run) -> str:
    shares: dict[str, float] = run.summary["limits"]
    return max(shares, key=lambda name: shares[name])


def test_each_bottleneck_is_named() -> None:
    bulk = ab.Scenario.two_path(*PATHS, transfer="5 MB")
    small = bulk.set("connection.receive_buffer", "150 kB")
    assert largest(bulk.run()) == "cwnd"
    assert largest(small.run()) == "head_of_line"
    assert largest(small.set("transfer.read_rate", "200 kbit/s").run()) in {"receive_window", "head_of_line"}
    slow = bulk.set({"transfer.on": "1 s", "transfer.off": "0 s", "transfer.rate": "500 kbit/s"})
    assert largest(slow.run()) == "application"


def test_the_text_answer_and_the_report_say_it_in_one_line(finished: ab.Run) -> None:
    line = limits(finished.summary)
    assert line.startswith("limited by: ")
    assert line in str(finished).splitlines()
    from anabranch.runs.report import report_html

    assert line[1:] in report_html(finished, {}, "out")


def test_each_connection_is_explained(several: ab.Run) -> None:
    text = several.explain()
    assert "both: The capacity of the 2 paths is" in text
    assert "rival: The capacity of the path is" in text
    assert "limited by, mean of 2 connections: " in str(several)


def test_a_mean_of_limits_counts_the_connections_that_have_some() -> None:
    tcp, udp = {"limits": {"cwnd": 0.75, "application": 0.25}}, {"limits": None}
    mean = "limited by, mean of 1 connection: congestion window 75 %, application 25 %"
    assert limits({"connections": [tcp, udp]}) == mean


@pytest.mark.parametrize("count", [12, 13])
def test_the_first_twelve_connections_are_explained(count: int) -> None:
    one = '[[connection]]\nname = "c{}"\n[connection.transfer]\nbytes = "1 kB"\n'
    path = '[[path]]\nrate = "5 Mbit/s"\ndelay = "5 ms"\n'
    text = ab.Scenario.from_toml("".join(map(one.format, range(count))) + path).run().explain()
    assert len(text.connections) == 12
    more = say.MORE_CONNECTIONS(count=count - 12)
    assert (more in text) == (count > 12)


def test_a_run_without_the_measure_says_so() -> None:
    assert limits({"name": "old"}) == ""


def test_without_shares_a_notebook_shows_no_empty_table() -> None:
    said = Explanation("one")
    connection = {"name": "connection0", "sentences": ["one", "two"], "causes": None}
    said.connections = (connection,)
    assert said._repr_html_() == "<p>one</p><p>two</p>"
    said.connections = ({**connection, "causes": {"cwnd": 1.0}},)
    assert said._repr_html_().count("<table>") == 1


def test_the_explanation_is_the_beginning_of_the_diagnosis(tmp_path: Path) -> None:
    run = ab.Scenario.two_path(*PATHS, transfer="2 MB", receive_buffer="60 kB").run()
    run.save(tmp_path / "run")
    assert str(run.explain()).splitlines() == ab.diagnose(tmp_path / "run").sentences


def test_the_2011_model_has_no_captures_and_keeps_its_own_shares() -> None:
    run = ab.Scenario.two_path(*PATHS, transfer="1 MB").set("stack", LEGACY).run()
    assert explain(run) == limits(run.summary)


def test_what_fast_open_and_an_mtu_did_is_said_where_they_are_asked_for() -> None:
    plain = ab.Scenario.two_path(*PATHS, transfer="20 kB")
    assert "SYN" not in plain.run().explain()
    assert "too long" not in str(plain.run())
    assert "1.41 kB arrived with the SYN" in plain.set("connection.fast_open", True).run().explain()
    short = plain.set("path[0].mtu", "1300 B").run()
    dropped = sum(subflow["mtu_drops"] for subflow in short.summary["subflows"])
    assert dropped > 0
    assert f"{dropped} packets were too long for a link (`mtu`)" in str(short).splitlines()


SMALL = """
[connection]
profile = "linux"
send_buffer = "1 MB"
receive_buffer = "16 MB"
[transfer]
bytes = "20 MB"
[[path]]
name = "lte"
rate = "60 Mbit/s"
delay = "40 ms"
queue = "200 packets"
[[path]]
name = "wifi"
rate = "3 Mbit/s"
delay = "5 ms"
queue = "500 packets"
"""


def test_a_buffer_that_keeps_the_window_small_is_named_though_the_window_is_waited_for() -> None:
    """The window is full at nearly every instant, and stays small because the send buffer is full between."""
    scenario = ab.Scenario.from_toml(SMALL)
    run, larger = scenario.run(), scenario.set("connection.send_buffer", "unlimited").run()
    assert larger.summary["goodput_mbps"] > 1.2 * run.summary["goodput_mbps"]
    text = run.explain()
    (connection,) = text.connections
    assert connection["main_cause"] == "cwnd"
    assert 0.03 < connection["causes"]["send_buffer"] < 0.2
    share = units.percent(connection["causes"]["send_buffer"])
    cause = CAUSES["send_buffer"]
    assert say.BUFFER_TOO(buffer=cause.name, share=share, remedy=cause.remedy) in text
    assert "may help more" not in larger.explain()


def test_paths_that_were_full_while_they_were_there_are_full() -> None:
    """Half of the time the second path is away: no controller would change that."""
    away = 'changes = [{ at = "4 s", state = "down" }, { at = "9 s", state = "up" }]'
    paths = f"[[path]]\nrate = '5 Mbit/s'\ndelay = '20 ms'\n[[path]]\nrate = '4 Mbit/s'\ndelay = '30 ms'\n{away}\n"
    run = ab.Scenario.from_toml(f"transfer.duration = '12 s'\n{paths}").run()
    start = "All paths were saturated for most of the time in which they were up. The subflow 10.0.1.1:49153"
    assert run.explain().splitlines()[2].startswith(start)


def test_a_short_transfer_on_one_path_is_all_handshake() -> None:
    one = ab.Scenario.of_paths(["5 Mbit/s, 50 ms"], transfer="1 kB").set("transfer.direction", "down").run()
    said = one.explain().splitlines()[2]
    assert re.fullmatch(
        say.MAIN_CAUSE_HANDSHAKE.replace("(", r"\(").replace(")", r"\)").replace("{share}", r"[\d.]+ %"), said
    )
