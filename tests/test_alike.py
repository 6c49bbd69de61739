"""What made no difference is called that, with the reason."""

from pathlib import Path

import anabranch as ab
from anabranch.sweeps.comparable import groups, said
from anabranch.sweeps.plan import same_scenario
from helpers import Command

BULK = ab.Scenario.two_path("5 Mbit/s, 100 ms", "2 Mbit/s, 10 ms", transfer="500 kB").set("connection.nagle", False)
PAUSES = ab.Scenario.from_toml("""
    transfer = { rate = "1 Mbit/s", on = "200 ms", off = "300 ms", duration = "4 s" }
    [[path]]
    rate = "5 Mbit/s"
    delay = "30 ms"
    [[path]]
    rate = "5 Mbit/s"
    delay = "10 ms"
""")
SCHEDULERS = {"scheduler": ["min-rtt", "round-robin"]}


def test_labels_are_alike_only_if_all_their_traces_are() -> None:
    assert groups({"a": {1: "x"}, "b": {1: "x", 2: "y"}, "c": {}, "d": {}}) == []
    assert groups({"a": {1: "x"}, "b": {1: "y"}, "c": {1: "x"}, "d": {1: "y"}}) == [["a", "c"], ["b", "d"]]


def test_the_older_name_of_the_judge_makes_no_other_scenario() -> None:
    older, newer = (BULK.set(f"connection.{key}", "dsack") for key in ("recovery", "judge"))
    assert same_scenario(older, newer)
    assert not same_scenario(older, BULK.set("connection.judge", "eifel"))
    cells = [cell for one in (older, newer) for cell in ab.Plan.of(one, {"mss": [700]}).cells]
    assert cells[0].sha256 == cells[1].sha256


def test_a_reason_is_given_only_if_it_is_known() -> None:
    assert (
        said("mss", [1, 2], 3, [0.5], whole=True)
        == "mss: 1 and 2 gave the same trace in each run, so the choice made no difference."
    )
    assert "More than one subflow could send for 5 % of the segments." in said(
        "scheduler", [1, 2], 3, [0.05], whole=True
    )


def test_a_sweep_says_which_values_of_an_axis_made_no_difference() -> None:
    # A queue of one packet overflows; the two others never do.
    sweep = ab.sweep(PAUSES, {"path.0.queue": ["1 packets", "900 packets", "1000 packets"]}, seeds=2)
    traces = sweep.runs.groupby("path.0.queue", observed=True)["trace_sha256"].agg(list)
    assert traces["900 packets"] == traces["1000 packets"] != traces["1 packets"]
    assert "path.0.queue: 900 packets and 1000 packets gave the same trace in each run" in str(sweep)


def test_schedulers_that_have_no_choice_are_told_with_the_share_of_choices() -> None:
    one = ab.sweep(PAUSES.set("path.1.backup", True), SCHEDULERS, seeds=2)
    assert one.runs["trace_sha256"].nunique() == one.runs["seed"].nunique()
    assert one.runs["choice_ratio"].max() < 0.01
    assert "scheduler: min-rtt and round-robin gave the same trace in each run" in str(one)
    assert "More than one subflow could send for " in str(one)
    both = ab.sweep(PAUSES, SCHEDULERS, seeds=2)
    assert both.runs["choice_ratio"].min() > 0.5
    assert "gave the same trace" not in str(both)


def test_compared_runs_with_the_same_trace_say_that_the_change_made_no_difference(
    command: Command, tmp_path: Path
) -> None:
    one = PAUSES.set("path.1.backup", True)
    for name in SCHEDULERS["scheduler"]:
        one.set("connection.scheduler", name).run().save(tmp_path / name)
    told = command("compare", tmp_path / "min-rtt", tmp_path / "round-robin", "--wide")
    assert told.status == 0
    assert "the differences between the scenarios had no effect" in " ".join(told.out.split())
    assert "More than one subflow could send" in " ".join(told.out.split())
    assert "segments with a choice" in " ".join(told.out.split())


def test_a_recommendation_among_equals_says_so(command: Command) -> None:
    paths = ["--path", "5 Mbit/s, 100 ms", "--path", "2 Mbit/s, 10 ms"]
    candidates = [word for s in ("2 MB", "1 MB") for word in ("--candidate", f"coupled, none, min-rtt, {s}")]
    told = command("recommend", *paths, "--transfer", "200 kB", *candidates)
    assert told.status == 0
    assert "buffer: " in told.out
    assert "gave the same trace" in " ".join(told.out.split())
