"""Values that algorithms written in Python record: columns of the frame of the subflows, and figures of them."""

# mypy: disable-error-code="no-untyped-def,no-untyped-call"

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

import anabranch as ab
from test_python_algorithms import LOSSY, First, Reno
from test_python_kinds import Plain, Silent

BUSY = LOSSY.set({"connection.receive_buffer": "4 MB", "connection.judge": "none"})
"""No window changes but by an acknowledgement or a loss: no subflow is idle, no episode is undone."""


class Recording(Reno):
    """Records its window after each call, and a value of its own for each instance."""

    made = 0

    def __init__(self):
        type(self).made += 1
        self.number = type(self).made

    def on_ack(self, ack, paths, me):
        super().on_ack(ack, paths, me)
        self.record("window", self.cwnd)
        self.record("instance", self.number)
        self.record("me", me)
        self.record("now", ack.now)

    def on_congestion(self, congestion, paths, me):
        super().on_congestion(congestion, paths, me)
        self.record("window", self.cwnd)


def test_a_row_has_the_last_value_that_the_algorithm_of_its_subflow_recorded() -> None:
    frame = BUSY.set("connection.controller", Recording).run().subflows
    seen = frame.dropna(subset=["me"])
    assert set(seen["me"] - seen["subflow"]) == {0.0}
    assert seen.groupby("subflow")["instance"].nunique().tolist() == [1, 1]
    assert seen["instance"].nunique() == 2
    assert (seen["now"] < seen["t"]).all()
    assert (seen["window"] == seen["cwnd"]).all()


def test_a_value_is_recorded_at_the_virtual_time_of_the_call() -> None:
    calls: dict[int, list[float]] = {0: [], 1: []}

    class Timed(Reno):
        def on_ack(self, ack, paths, me):
            super().on_ack(ack, paths, me)
            calls[me].append(ack.now)
            self.record("now", ack.now)

    frame = LOSSY.set("connection.controller", Timed).run().subflows
    for subflow, times in calls.items():
        rows = frame[frame["subflow"] == subflow]
        last = np.searchsorted(times, rows["t"].to_numpy(), side="left") - 1
        expected = [times[i] if i >= 0 else math.nan for i in last]
        assert np.array_equal(rows["now"].to_numpy(), expected, equal_nan=True)
        assert rows["now"].isna().any()


def test_a_long_run_keeps_for_each_row_the_value_before_it() -> None:
    calls: list[float] = []

    class Timed(Reno):
        def on_ack(self, ack, paths, me):
            super().on_ack(ack, paths, me)
            calls.append(ack.now)
            self.record("now", ack.now)

    scenario = ab.Scenario.of_paths(["30 Mbit/s, 5 ms"], transfer="20 s").set("connection.controller", Timed)
    rows = scenario.run().subflows
    assert len({int(1000 * now) for now in calls}) > 2 * 8192, "more values than the binding keeps"
    last = np.searchsorted(calls, rows["t"].to_numpy(), side="left") - 1
    assert np.array_equal(rows["now"].to_numpy()[last >= 0], np.array(calls)[last[last >= 0]])


def test_a_scheduler_records_for_all_subflows_of_its_connection_and_no_other() -> None:
    class Counting(First):
        count = 0

        def pick(self, offer):
            self.count += 1
            self.record("picks", self.count)
            return super().pick(offer)

    text = """
    [[path]]
    rate = "5 Mbit/s"
    [[path]]
    rate = "2 Mbit/s"
    [[connection]]
    name = "ours"
    transfer = { bytes = "300 kB" }
    [[connection]]
    name = "theirs"
    transfer = { bytes = "600 kB" }
    """
    scenario = ab.Scenario.from_toml(text).set("connection[0].scheduler", Counting)
    frame = scenario.run().subflows
    ours, theirs = (frame[frame["connection"] == i] for i in (0, 1))
    assert ours["picks"].notna().any()
    assert theirs["picks"].isna().all()
    both = ours.pivot_table(index="t", columns="subflow", values="picks").dropna()
    assert (both[0] == both[1]).all()
    assert both[0].is_monotonic_increasing


def test_values_are_those_of_the_host_that_sends_the_data() -> None:
    """With data both ways both hosts have a controller for each subflow; a row shows the sender's window."""
    for direction in ("up", "down", "both"):
        scenario = BUSY.set({"transfer.direction": direction, "connection.controller": Recording})
        seen = scenario.run().subflows.dropna(subset=["me"])
        assert seen.groupby("subflow")["instance"].nunique().tolist() == [1, 1]
        assert (seen["window"] == seen["cwnd"]).all()


@pytest.mark.parametrize("direction", ["up", "down", "both"])
def test_an_algorithm_that_is_not_told_its_subflow_records_for_it(direction: str) -> None:
    class Judging(Silent):
        def on_ack(self, sample):
            self.record("of_judge", sample.srtt)
            return "pending"

    class Detecting(Plain):
        def on_ack(self, ack, board, sender):
            super().on_ack(ack, board, sender)
            self.record("of_detector", sender.srtt)

    keys: dict[str, Any] = {
        "transfer.direction": direction,
        "connection.judge": Judging,
        "connection.detector": Detecting,
    }
    rows = BUSY.set(keys).run().subflows.dropna(subset=["of_judge", "of_detector"])
    assert rows.groupby("subflow")["srtt"].nunique().min() > 100
    assert np.allclose(rows["of_judge"], rows["srtt"], rtol=1e-12, atol=0)
    assert np.allclose(rows["of_detector"], rows["srtt"], rtol=1e-12, atol=0)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("cwnd", 1.0, 'record: "cwnd" is a measure of Anabranch; choose another name'),
        ("goodput_mbps", 1.0, '"goodput_mbps" is a measure'),
        ("subflow", 1.0, '"subflow" is a measure'),
        ("my alpha", 1.0, '"my alpha" cannot name a column; use letters of ASCII'),
        ("", 1.0, '"" cannot name a column'),
        ("alpha", "much", "raised TypeError: .*must be real number, not str"),
    ],
)
def test_a_name_that_is_taken_and_a_value_that_is_no_number_are_refused(name: str, value: Any, said: str) -> None:
    class Wrong(First):
        def pick(self, offer):
            self.record(name, value)
            return super().pick(offer)

    with pytest.raises(ab.AlgorithmError, match=said):
        LOSSY.set("connection.scheduler", Wrong).run()


def test_a_run_records_64_names_at_most() -> None:
    class Many(First):
        count = 0

        def pick(self, offer):
            self.count += 1
            self.record(f"value_{self.count}", 0)
            return super().pick(offer)

    with pytest.raises(ab.AlgorithmError, match='"value_65" is name number 65; a run records 64 names at most'):
        LOSSY.set("connection.scheduler", Many).run()


def test_nan_stands_for_no_value_and_infinity_is_kept() -> None:
    class Odd(First):
        def pick(self, offer):
            self.record("odd", math.inf if offer.now < 0.5 else math.nan)
            return super().pick(offer)

    rows = LOSSY.set("connection.scheduler", Odd).run().subflows
    assert set(rows[(rows["t"] > 0.2) & (rows["t"] < 0.5)]["odd"]) == {math.inf}
    assert rows[rows["t"] > 0.8]["odd"].isna().all()


def test_what_an_undone_episode_recorded_stays() -> None:
    """The copy of an algorithm that an undo restores records to the same columns."""
    from test_python_algorithms import SCENARIOS

    scenario = SCENARIOS["overtaking packets, undo"].set("connection.controller", Recording)
    run = scenario.run()
    assert any(s["undone"] for s in run.summary["subflows"])
    seen = run.subflows.dropna(subset=["me"])
    assert seen.groupby("subflow")["instance"].nunique().tolist() == [1, 1]


def test_outside_of_a_run_nothing_is_recorded() -> None:
    Recording().record("alpha", 1.0)


def test_a_recorded_value_is_drawn_stored_and_loaded(tmp_path: Path) -> None:
    class Signed(First):
        def pick(self, offer):
            self.record("slack_s", math.sin(offer.now))
            self.record("depth", -offer.now)
            return super().pick(offer)

    run = LOSSY.set("connection.scheduler", Signed).run()
    ax = run.plot.recorded("slack_s", Figure().subplots())
    assert ax.get_ylabel() == "slack s"
    assert len(ax.lines) == 2
    rows = run.subflows[run.subflows["subflow"] == 0]
    assert np.array_equal(ax.lines[0].get_ydata(), rows["slack_s"], equal_nan=True)
    assert run.plot.recorded("depth", Figure().subplots()).get_ylim()[0] < 0
    with pytest.raises(ValueError, match=r"no algorithm recorded 'alpha' in this run; recorded: slack_s, depth"):
        run.plot.recorded("alpha")
    run.save(tmp_path / "result")
    assert (tmp_path / "result" / "recorded_slack_s.svg").stat().st_size > 1000
    assert "recorded_slack_s" in (tmp_path / "result" / "report.html").read_text("utf-8")
    again = ab.load(tmp_path / "result")
    assert np.array_equal(again.subflows["slack_s"], run.subflows["slack_s"], equal_nan=True)
    run.save(tmp_path / "result")
