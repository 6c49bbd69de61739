"""Why was it not faster?"""

from pathlib import Path

import anabranch as ab
from anabranch.explain import limits
from anabranch.why.explanation import LEGACY, explain

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
    from anabranch.report import report_html

    assert line[1:] in report_html(finished, {}, "out")


def test_each_connection_is_explained(several: ab.Run) -> None:
    text = several.explain()
    assert "both: The 2 paths could carry" in text
    assert "rival: The path could carry" in text
    assert "limited by, mean of 2 connections: " in str(several)


def test_a_run_without_the_measure_says_so() -> None:
    assert limits({"name": "old"}) == ""


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
    assert "1.41 kB came with the SYN" in plain.set("connection.fast_open", True).run().explain()
    short = plain.set("path[0].mtu", "1300 B").run()
    dropped = sum(subflow["mtu_drops"] for subflow in short.summary["subflows"])
    assert dropped > 0
    assert f"{dropped} packets were too long for a link (`mtu`)" in str(short).splitlines()
