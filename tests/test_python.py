"""Anabranch from Python."""

import math
import pickle
import threading
import time
from typing import Any

import numpy as np
import pandas as pd
import pytest

import anabranch as ab

COLUMNS = [
    "t", "connection", "subflow", "cwnd", "ssthresh", "srtt", "rtt_samples", "rto", "in_flight", "delivered",
    "ooo_buffer", "ooo_buffer_bytes",
]  # fmt: skip


def test_two_paths_take_three_lines() -> None:
    scenario = ab.Scenario.two_path("5 Mbit/s, 100 ms", "2 Mbit/s, 10 ms", transfer="20 MB")
    run = scenario.run(seed=1)
    assert run.summary["goodput_mbps"] > 6.2


def test_the_frame_is_tidy_and_its_values_are_possible(finished: ab.Run) -> None:
    frame = finished.subflows
    assert list(frame.columns) == COLUMNS
    assert not frame.duplicated(["t", "connection", "subflow"]).any()
    assert frame["t"].is_monotonic_increasing
    assert set(frame["subflow"]) == {0, 1}
    assert (frame["cwnd"] >= 1400).all()
    assert ((frame["srtt"] > 0) | frame["srtt"].isna()).all()
    assert (frame[["in_flight", "ooo_buffer", "ooo_buffer_bytes"]] >= 0).all(axis=None)
    for _, rows in frame.groupby("subflow"):
        assert rows["delivered"].is_monotonic_increasing


def test_what_the_subflows_delivered_is_what_was_read(finished: ab.Run) -> None:
    last = finished.subflows.groupby("subflow")["delivered"].last()
    assert last.sum() == pytest.approx(finished.summary["bytes_delivered"], rel=0.01)


def test_the_round_trip_time_is_at_least_that_of_the_path(finished: ab.Run) -> None:
    lowest = finished.subflows.groupby("subflow")["srtt"].min()
    assert lowest[0] >= 0.2
    assert 0.02 <= lowest[1] < 0.2


def test_the_series_is_decimated_not_cut() -> None:
    run = ab.Scenario.two_path("5 Mbit/s, 10 ms", "2 Mbit/s, 10 ms", transfer="100 MB").run()
    for _, rows in run.subflows.groupby("subflow"):
        assert 500 < len(rows) <= 4200
        assert rows["t"].max() > 0.99 * run.summary["completion_s"]
        steps = np.diff(rows["t"].to_numpy())
        assert np.median(steps) == pytest.approx(steps[len(steps) // 3])


def test_a_scenario_is_a_value() -> None:
    base = ab.Scenario.two_path("5 Mbit/s, 100 ms", "2 Mbit/s, 10 ms", transfer="1 MB")
    other = base.set("path.1.delay", "200 ms")
    assert base.overrides == ()
    assert base == ab.Scenario.two_path("5 Mbit/s, 100 ms", "2 Mbit/s, 10 ms", transfer="1 MB")
    assert len({base, other, base.set({"path.1.delay": "200 ms"})}) == 2
    with pytest.raises(AttributeError):
        base.toml = ""  # type: ignore[misc]


@pytest.mark.parametrize(
    ("transfer", "key", "value"), [("20 MB", "extent_bytes", 20_000_000), ("20 s", "extent_s", 20.0)]
)
def test_a_transfer_is_an_amount_or_a_time(transfer: str, key: str, value: float) -> None:
    scenario = ab.Scenario.two_path("5 Mbit/s, 100 ms", "2 Mbit/s, 10 ms", transfer=transfer)
    assert scenario.check()["connections"][0]["transfer"][key] == value


def test_two_path_takes_further_keys_of_paths_and_connection() -> None:
    resolved = ab.Scenario.two_path(
        "5 Mbit/s, 100 ms, loss 1 %, queue 64 kB, overtaking true",
        "2 Mbit/s, 10 ms",
        transfer="1 MB",
        controller="uncoupled",
        sack=False,
        mss=1000,
    ).check()
    first = resolved["links"][0]["up"]
    assert (first["loss"], first["queue_bytes"], first["overtaking"]) == (0.01, 64_000, True)
    connection = resolved["connections"][0]
    assert (connection["controller"], connection["sack"], connection["mss_bytes"]) == ("uncoupled", False, 1000)


@pytest.mark.parametrize("path", ["5 Mbit/s", "", "5 Mbit/s, 10 ms, lossy"])
def test_a_path_that_is_not_rate_and_delay_is_refused(path: str) -> None:
    with pytest.raises(ab.ScenarioError):
        ab.Scenario.two_path(path, "2 Mbit/s, 10 ms", transfer="1 MB")


def test_an_error_names_the_place_and_the_nearest_word() -> None:
    with pytest.raises(ab.ScenarioError, match=r"two_path: connection\.controller.*\n.*coupled"):
        ab.Scenario.two_path("5 Mbit/s, 1 ms", "2 Mbit/s, 1 ms", transfer="1 MB", controller="copled").check()


def test_the_same_seed_gives_the_same_trace_and_another_another() -> None:
    lossy = ab.Scenario.two_path("5 Mbit/s, 100 ms, loss 1 %", "2 Mbit/s, 10 ms", transfer="1 MB")
    traces = [lossy.run(seed=seed).summary["trace_sha256"] for seed in (1, 1, 2)]
    assert traces[0] == traces[1] != traces[2]


def test_the_resolved_scenario_gives_the_same_run() -> None:
    lossy = ab.Scenario.two_path("5 Mbit/s, 100 ms, loss 1 %", "2 Mbit/s, 10 ms", transfer="1 MB")
    first = lossy.set("path.1.delay", "30 ms").run(seed=2**63 - 1)
    again = ab.Scenario.from_toml(first.toml).run()
    assert again.summary["trace_sha256"] == first.summary["trace_sha256"]
    assert again.toml == first.toml


def test_other_threads_run_while_the_engine_runs() -> None:
    # Long enough for many ticks, however fast the engine; a run that held the lock allows one at most.
    long = ab.Scenario.two_path("100 Mbit/s, 10 ms", "50 Mbit/s, 10 ms", transfer="3 GB")
    ticks: list[float] = []
    done = threading.Event()

    def tick() -> None:
        while not done.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.005)

    thread = threading.Thread(target=tick)
    thread.start()
    start = time.monotonic()
    long.run()
    elapsed = time.monotonic() - start
    done.set()
    thread.join()
    during = [t for t in ticks if start < t < start + elapsed]
    assert len(during) > max(3, elapsed / 0.005 / 10)


def test_poll_sees_the_run_advance_and_can_end_it() -> None:
    class EnoughError(Exception):
        pass

    seen: list[dict[str, Any]] = []

    def poll(state: dict[str, Any]) -> None:
        seen.append(state)
        if len(seen) == 3:
            raise EnoughError

    endless = ab.Scenario.two_path("1 Gbit/s, 1 ms", "1 Gbit/s, 1 ms", transfer="999 h")
    with pytest.raises(EnoughError):
        endless.set("duration", "1000 h").run(poll=poll)
    assert len(seen) == 3
    assert 0 < seen[0]["t"] < seen[1]["t"] < seen[2]["t"] < math.inf
    assert 0 < seen[0]["delivered"] < seen[2]["delivered"]
    assert seen[0]["duration"] == 3_600_000
    assert seen[0]["total"] is None


def test_scenarios_and_runs_can_be_sent_to_another_process(finished: ab.Run) -> None:
    again = pickle.loads(pickle.dumps(finished))
    assert again.summary == finished.summary
    pd.testing.assert_frame_equal(again.subflows, finished.subflows)
    scenario = ab.Scenario.two_path("5 Mbit/s, 1 ms", "2 Mbit/s, 1 ms", transfer="1 MB").set("seed", 3)
    assert pickle.loads(pickle.dumps(scenario)) == scenario
    error = pickle.loads(pickle.dumps(ab.ScenarioError("path: none")))
    assert (type(error), str(error)) == (ab.ScenarioError, "path: none")


def test_a_notebook_shows_the_table(finished: ab.Run) -> None:
    html = finished._repr_html_()
    assert "content verified" in html
    assert html.count("<tr>") == 4
    assert "path 1: 2 Mbit/s, 10 ms" in html


def test_printing_a_run_shows_the_table_and_its_representation_is_short(finished: ab.Run) -> None:
    assert "content verified" in str(finished)
    assert repr(finished).startswith("<anabranch.Run completed, ")
    assert len(repr(finished)) < 100
