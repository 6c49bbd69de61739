"""Tables that people read: figures, headings, length, what comes first."""

import re
from pathlib import Path
from typing import Any

import pytest

import anabranch as ab
from anabranch.measures import units
from anabranch.runs.text import subflow_rows
from anabranch.tables import MOST
from helpers import TWO_PATHS, Command, Page

MANY = """
connection = {{ protocol = "tcp" }}
transfer = {{ bytes = "100 kB" }}
[topology]
kind = "dumbbell"
hosts = {n}
delay = "5 ms"
rate = "10 Mbit/s"
[traffic]
pattern = "permutation"
"""


def cells(line: str) -> list[str]:
    return re.split(r" {2,}", line.strip())


def flow(goodput: float, **more: Any) -> dict[str, Any]:
    counts = dict.fromkeys(("retransmissions_fast", "retransmissions_timeout", "spurious", "undone", "queue_drops"), 0)
    means = {"utilisation": 0.5, "srtt_ms": 20.0, "cwnd_mean_segments": 10.0}
    return {"path": 0, "goodput_mbps": goodput, "segments": 10} | counts | means | more


# 50 subflows of about 2 Mbit/s are 108 Mbit/s together, and one of them still has its three digits.
def test_numbers_keep_three_digits_whatever_stands_beside_them() -> None:
    flows = [flow(2.137), flow(1.0249), flow(0.41263), *(flow(2.2) for _ in range(12))]
    lines = subflow_rows([{"subflows": flows}], {})
    shown = [cells(line)[1] for line in lines[2:]]
    assert shown[:3] == ["2.14", "1.02", "0.413"]
    assert shown[-1] == "30.0"
    assert units.column([108.2, 2.137, 1.0249, 0.41263, 0.0, None]) == [
        "108    ",
        "2.14 ",
        "1.02 ",
        "0.413",
        "0    ",
        "-",
    ]


def test_decimal_points_stand_below_each_other() -> None:
    flows = [flow(108.2), flow(2.137), flow(0.41263), flow(20.0)]
    lines = subflow_rows([{"subflows": flows}], {})
    points = {line.index(".") for line in lines[3:6]}
    assert len(points) == 1
    assert [cells(line)[1] for line in lines[2:6]] == ["108", "2.14", "0.413", "20.0"]


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        ([4.6149, 0.18], ["4.61 ", "0.180"]),
        ([1000.0, 10.0], ["1000  ", "10.0"]),
        ([9.999, 0.9999], ["10.00 ", "1.000"]),
        ([1e-7, 5.0], ["0.00000", "5.00   "]),
        ([float("nan"), float("inf"), 1.0], ["-", "inf   ", "1.00"]),
        ([0.0], ["0"]),
        ([-2.5, 40.0], ["-2.50", "40.0 "]),
    ],
)
def test_a_column_is_written_with_the_digits_of_each(values: list[float | None], shown: list[str]) -> None:
    assert units.column(values) == shown


def test_long_tables_become_extremes_and_a_summary(command: Command, here: Path) -> None:
    Path("many.toml").write_text(MANY.format(n=40), encoding="utf-8")
    done = command("run", "many.toml")
    run = ab.Scenario.load("many.toml").run()
    connections = run.summary["connections"]
    assert len(connections) == 40
    head, tail = done.out.split("\n\nshown are", 1)
    rows = [line for line in head.splitlines() if re.match(r"connection\d+ ", line)]
    assert len(rows) == 16
    rates = sorted((c["goodput_mbps"] for c in connections), reverse=True)
    assert [float(cells(row)[3]) for row in rows] == pytest.approx([*rates[:8], *rates[-8:]], rel=5e-3)
    assert tail.startswith(" the 8 highest and the 8 lowest of 40, by goodput: mean ")
    assert len(done.out.splitlines()) < 60
    everything = [line for line in done.out.splitlines() if line.startswith("all 40 ")]
    assert cells(everything[0])[1] == str(sum(f["segments"] for c in connections for f in c["subflows"]))
    assert len(command("run", "many.toml", "--csv").out.splitlines()) == 41


def test_as_many_rows_as_people_read_are_all_there(command: Command, here: Path) -> None:
    Path("many.toml").write_text(MANY.format(n=MOST), encoding="utf-8")
    done = command("run", "many.toml")
    assert len([line for line in done.out.splitlines() if re.match(r"connection\d+ ", line)]) == MOST
    assert "shown are" not in done.out


def test_several_connections_say_what_limits_them_and_how_fair_they_are(several: ab.Run) -> None:
    text = str(several)
    shares = [c["limits"]["cwnd"] for c in several.summary["connections"]]
    assert f"limited by, mean of 2 connections: congestion window {units.percent(sum(shares) / 2)}" in text
    assert f"Jain's index of the goodputs: {units.significant(several.summary['jain'])} (1: all equal)" in text
    rows = [line for line in text.splitlines() if line.startswith(("both ", "rival "))]
    assert all(re.search(r"(congestion window|application) [\d.]+ %$", row) for row in rows[:2])
    page = Page(_report(several))
    assert "Jain's index of the goodputs" in " ".join(page.text)
    assert "Limited by, mean of 2 connections" in " ".join(page.text)


def _report(run: ab.Run) -> str:
    from anabranch.runs.report import report_html

    return report_html(run, {}, "out")


# What happened, why it was not faster, then the share out of order.
def test_the_verdict_comes_first(finished: ab.Run) -> None:
    for text in (str(finished), _report(finished), finished._repr_html_()):
        lower = text.lower()
        assert lower.index("completed in") < lower.index("limited by") < lower.index("out-of-order ratio ")


@pytest.mark.parametrize("word", ["of these", "answers", "used", "max. buffer"])
def test_headings_explain_themselves(
    finished: ab.Run, several: ab.Run, word: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    swept = ab.sweep(ab.Scenario.from_toml(TWO_PATHS), {"mss": [700]}, seeds=1)
    for text in (str(finished), str(several), str(swept), " ".join(Page(_report(several)).text)):
        assert not re.search(rf"(^|\s\s){re.escape(word)}(\s|$)", text)
    head = str(finished).split("\n\n")[-1].splitlines()[:2]
    assert len(re.findall(r"retrans\.|undone", head[1])) == 4


def test_a_directory_that_is_run_points_to_its_scenario(command: Command, result: Path) -> None:
    for verb in ("run", "check"):
        done = command(verb, result)
        assert (done.status, done.out) == (2, "")
        assert done.err == f"{result}: a directory; its scenario is {result / 'scenario.toml'}\n"
    assert command("check", result / "scenario.toml").status == 0


@pytest.mark.parametrize(
    ("count", "what", "said"), [(1, "connection", "1 connection"), (0, "run", "0 runs"), (2, "seed", "2 seeds")]
)
def test_one_is_not_many(count: int, what: str, said: str) -> None:
    assert units.count(count, what) == said


def test_one_of_a_kind_is_told_as_one(command: Command, here: Path) -> None:
    single = ab.Scenario.of_paths(["5 Mbit/s, 10 ms"], transfer="10 kB")
    assert "1 subflow, seed" in repr(single.run())
    assert repr(ab.sweep(single, {}, seeds=1)) == "<anabranch.Sweep 1 cell, 1 seed: 1 run>"
    from anabranch.captures.text import about

    told = {"files": [], "packets": 1, "mptcp": 1, "duration_s": 1.0, "unknown_link": 1}
    told |= {"version_0": 1, "split_connections": 1, "unlisted_connections": 1, "unlisted_bytes": 5}
    told |= {"connections_without_data": 1}
    told |= {"clock": {"steps_back": 0}}
    text = "\n".join(about({"title": "x", "capture": told}))
    assert not re.search(r"\b1 \w+s\b", text), text


@pytest.mark.usefixtures("no_figures")
def test_a_report_of_very_many_captured_connections_is_a_table_and_the_largest(here: Path) -> None:
    text = MANY.format(n=30).replace('protocol = "tcp"', 'protocol = "mptcp"').replace('"100 kB"', '"30 kB"')
    ab.Scenario.from_toml(text).run(pcap="captures")
    ab.analyze(sorted(Path("captures").glob("left*.pcapng"))).save("seen")
    page = Page(Path("seen/report.html").read_text(encoding="utf-8"))
    words = " ".join(page.text)
    assert "shown are the 8 highest and the 8 lowest of 30, by goodput" in words
    # The table, twelve, "Over time" and "How this report was made".
    assert page.tags.count("h2") == 15
