"""Why was it not faster?"""

import anabranch as ab
from anabranch.explain import explain, limits

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
    assert "both: the sender waited for" in text
    assert "rival: the sender waited for" in text
    assert "limited by, mean of 2 connections: " in str(several)


def test_a_run_without_the_measure_says_so() -> None:
    assert limits({"name": "old"}) == ""
    assert explain({"name": "old", "subflows": []}) == "what the sender waited for was not measured"
