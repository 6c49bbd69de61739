"""Runs that are the same run under several seeds count as one: no interval, no p, no further seeds."""

import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

import anabranch as ab
from anabranch.studies import find
from anabranch.studies.base import Data
from anabranch.studies.page import _identical
from anabranch.studies.schedulers.measures import ratio
from anabranch.sweeps import dataset, repeats
from anabranch.sweeps.chance import nothing_random
from anabranch.sweeps.data import Rows
from anabranch.sweeps.paired import by_bootstrap, by_student, differences, interval
from anabranch.sweeps.task import Record
from anabranch.sweeps.time import means
from anabranch.sweeps.until import Precision
from helpers import Command

WIRED = ab.Scenario.two_path("10 Mbit/s, 20 ms", "5 Mbit/s, 40 ms", transfer="300 kB")
LONGER = ab.Scenario.two_path("10 Mbit/s, 20 ms", "5 Mbit/s, 40 ms", transfer="2 MB")
AXES: Any = {"controller": ["coupled", "olia"], "path.0.loss": ["0 %", "3 %"]}
ONE = "1 run (10 identical)"
PAIR = "1 pair (10 identical)"
LEGACY = """
stack = "legacy-2011"
transfer = { bytes = "300 kB" }
path = [{ rate = "1 Mbit/s", delay = "100 ms" }, { rate = "1 Mbit/s", delay = "10 ms" }]
"""
RADIO = """
transfer = { bytes = "2 MB" }
path = [{ wifi = { standard = "802.11n", distance = "30 m" } }, { rate = "5 Mbit/s", delay = "40 ms" }]
"""


@pytest.fixture(scope="module")
def mixed() -> ab.Sweep:
    """Of each controller one cell of ten identical runs, and one of ten different ones."""
    return ab.sweep(WIRED, AXES, seeds=10)


def written(folder: Path, axes: str = '"path.1.delay" = ["40 ms", "99 ms"]', changes: str = "") -> str:
    (folder / "base.toml").write_text(LONGER.toml, encoding="utf-8")
    text = f'scenario = "base.toml"\nseeds = 10\nset = {{ {changes} }}\n[axes]\n{axes}\n'
    (folder / "sweep.toml").write_text(text, encoding="utf-8")
    return "sweep.toml"


def records(scenario: ab.Scenario, seeds: int) -> tuple[Record, ...]:
    source = ab.sweep(scenario, {}, seeds=seeds).source
    assert isinstance(source, Rows)
    return source.records


def test_keys_and_sequence_numbers_do_not_make_runs_differ() -> None:
    first, second, lossy = (*records(WIRED, 2), *records(WIRED.set("path.0.loss", "3 %"), 1))
    assert json.loads(first.summary)["trace_sha256"] != json.loads(second.summary)["trace_sha256"]
    prints = [repeats.fingerprint(run) for run in (first, second, lossy)]
    assert repeats.identical(prints[:2])
    assert not repeats.identical(prints)
    assert not repeats.identical(prints[:1])


def test_two_identical_runs_are_counted_as_such() -> None:
    found = interval([2.0, 2.0], identical=True)
    assert (found.n, found.mean, found.identical) == (1, 2.0, 2)
    assert interval([2.0], identical=True).identical == 0


def test_a_cell_of_identical_runs_is_one_run_without_an_interval(mixed: ab.Sweep) -> None:
    frame = mixed.means()
    wired, lossy = frame[frame["path.0.loss"] == "0 %"], frame[frame["path.0.loss"] == "3 %"]
    assert wired[["n", "identical"]].to_numpy().tolist() == [[1, 10], [1, 10]]
    assert wired[["low", "high"]].isna().all(axis=None)
    assert lossy[["n", "identical"]].to_numpy().tolist() == [[10, 0], [10, 0]]
    assert (lossy["low"] < lossy["high"]).all()
    runs = mixed.runs
    assert len(runs) == 40  # the rows of the runs stay
    means = runs.groupby(["controller", "path.0.loss"], sort=False)["goodput_mbps"].mean()
    assert frame["mean"].tolist() == pytest.approx(means.tolist(), rel=1e-12)


@pytest.mark.parametrize("method", ["student", "bootstrap"])
def test_two_such_cells_are_one_pair_and_one_of_them_beside_a_random_one_is_ten(mixed: ab.Sweep, method: str) -> None:
    found = mixed.compare("controller", baseline="coupled", method=method)
    assert found["path.0.loss"].tolist() == ["0 %", "3 %"]
    assert found["n"].tolist() == [1, 10]
    assert found["identical"].tolist() == [10, 0]
    assert found.loc[0, ["low", "high", "p", "p_holm"]].isna().all()
    assert found.loc[1, ["low", "high", "p", "p_holm"]].notna().all()
    # The pair without a p is not among the comparisons that Holm's correction counts.
    assert found["p"].tolist()[1] == found["p_holm"].tolist()[1]
    across = mixed.compare("path.0.loss", baseline="0 %", method=method)
    assert across["n"].tolist() == [10, 10]
    assert (across["high"] < 0).all()
    assert (across["p"] < 0.05).all()


def test_the_table_says_so_and_shows_no_interval(mixed: ab.Sweep) -> None:
    wired = [line for line in str(mixed).splitlines() if ONE in line]
    assert len(wired) == 2
    assert all(" - " in line for line in wired)


@pytest.mark.usefixtures("no_figures")
def test_all_cells_of_one_run_have_no_column_of_intervals(here: Path, command: Command) -> None:
    done = command("sweep", written(here), "--out", "kept", "--compare", "path.1.delay=40 ms", "--wide")
    assert done.status == 0
    head, *rows = done.out.split("\n\n")[0].splitlines()[1:]
    assert "+-" not in head
    assert [ONE in row for row in rows] == [True, True]
    head, row = done.out.splitlines()[-2:]
    assert re.split(r" {2,}", head) == ["path.1.delay", "pairs", "40 ms", "mean", "difference"]
    assert PAIR in row
    assert "< 0.001" not in done.out
    assert "comparisons" not in done.out
    csv = pd.read_csv(here / "kept" / "table.csv")
    assert csv[["runs", "identical"]].to_numpy().tolist() == [[1, 10], [1, 10]]
    assert csv[[name for name in csv.columns if name.endswith(("_low", "_high"))]].isna().all(axis=None)
    page = (here / "kept" / "report.html").read_text("utf-8")
    assert page.count(f"<td>{ONE}</td>") == 2
    assert f"Mean of {ONE}." in page
    assert "&plusmn;" not in page
    assert "95 % interval" not in page


def test_two_sweeps_of_identical_runs_are_compared_as_one_pair(here: Path, command: Command) -> None:
    ab.sweep(WIRED, {"path.0.loss": ["0 %", "3 %"]}, seeds=10, out="before")
    ab.sweep(WIRED.set("path.1.delay", "60 ms"), {"path.0.loss": ["0 %", "3 %"]}, seeds=10, out="after")
    done = command("compare", "before", "after", "--wide")
    fixed, random = (line for line in done.out.splitlines() if line.startswith(("0 %", "3 %")))
    assert PAIR in fixed
    assert fixed.split()[-3:] == ["-", "-", "-"]
    assert random.split()[2] == "10"
    assert "-" not in random.split()[-2:]


@pytest.mark.usefixtures("no_figures")
def test_more_seeds_are_not_added_where_nothing_is_random(here: Path, command: Command) -> None:
    done = command("sweep", written(here), "--seeds", "until 1 %", "--out", "kept")
    assert len(ab.Sweep.load("kept").plan.seeds) == 10
    assert done.out.splitlines()[-1] == (
        "10 seeds: the runs of each cell are identical. Nothing in the scenarios is random."
    )
    # Of ten million packets one is lost: chance may be there and change nothing.
    again = command("sweep", written(here, changes='"path.0.loss" = "0.00001 %"'), "--seeds", "until 1 %")
    assert again.out.splitlines()[-1].endswith(
        "identical. Nothing in the scenarios is random, or chance changed nothing in these runs."
    )
    axes = '"path.0.loss" = ["0 %", "3 %"]'
    some = command("sweep", written(here, axes=axes), "--seeds", "until 40 %").out.splitlines()[-1]
    assert some.endswith("in every cell with an interval. In 1 of 2 cells the runs are identical.")


def test_a_failed_run_among_identical_ones_is_not_one_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    from anabranch import _core

    engine = _core.run

    def run(*arguments: Any) -> object:
        if arguments[3] in {2, 3}:
            raise _core.RunError("memory: the engine held 1 MB")
        return engine(*arguments)

    monkeypatch.setattr(_core, "run", run)
    done = ab.sweep(WIRED, {}, seeds=10)
    assert done.means()[["n", "identical"]].to_numpy().tolist() == [[1, 8]]
    assert "1 run (8 identical) of 10" in str(done)
    alone = ab.sweep(WIRED, {}, seeds=3)
    assert alone.means()[["n", "identical"]].to_numpy().tolist() == [[1, 0]]
    assert "identical" not in str(alone)


def test_some_equal_runs_among_different_ones_are_runs_of_their_own() -> None:
    """Runs in which no packet happened to be lost are equal; they are draws like the others."""
    done = ab.sweep(WIRED.set("path.0.loss", "0.3 %"), {}, seeds=20)
    prints = done.codes[0].tolist()
    assert 1 < len(set(prints)) < 20
    assert done.means()[["n", "identical"]].to_numpy().tolist() == [[20, 0]]


def test_wall_clock_time_of_identical_runs_varies_and_has_an_interval() -> None:
    (row,) = ab.sweep(WIRED, {}, seeds=10).means("wall_s").to_dict("records")
    assert (row["n"], row["identical"]) == (10, 0)
    assert row["low"] < row["high"]


@pytest.mark.parametrize(("toml", "same"), [(LEGACY, 4), (RADIO, 0)])
def test_other_stacks_and_links(toml: str, same: int) -> None:
    (row,) = ab.sweep(ab.Scenario.from_toml(toml), {}, seeds=4).means().to_dict("records")
    assert (row["n"], row["identical"]) == ((1, 4) if same else (4, 0))


@pytest.mark.parametrize(
    ("changes", "fixed"),
    [
        ({}, True),
        ({"path.1.discipline": "codel"}, True),
        ({"path.1.discipline": "red"}, False),
        ({"path.1.discipline": "fq-codel"}, False),
        ({"path.0.delay_variation": "1 %"}, False),
        ({"path.0.duplication": "1 %"}, False),
        ({"path.0.corruption": "1 %"}, False),
        ({"transfer.start_spread": "1 s"}, False),
        ({"path.1.middleboxes": "['rewrite-sequence']"}, False),
        ({"path.1.changes": "[{ at = '1 s', loss = '1 %' }]"}, False),
        ({"path.1.changes": "[{ at = '100 ms', rate = '2 Mbit/s' }]"}, True),
    ],
)
def test_nothing_is_called_random_that_is_not_and_no_chance_is_overlooked(changes: dict[str, str], fixed: bool) -> None:
    scenario = WIRED.set(changes)
    assert nothing_random([scenario]) == fixed
    if fixed:
        assert repeats.identical(map(repeats.fingerprint, records(scenario, 5)))


@pytest.mark.parametrize(
    ("text", "fixed"),
    [
        (LEGACY, True),
        (LEGACY + "connection = { recovery = 'frto' }", False),
        (RADIO, False),
        ("transfer = { message = '1 kB', interval = '10 ms', count = 20 }\n[[path]]", True),
        (
            "transfer = { message = '1 kB', interval = { name = 'exponential', mean = '9 ms' }, count = 20 }\n[[path]]",
            False,
        ),
        ("transfer = { page = { objects = 5, bytes = '50 kB' } }\n[[path]]", False),
        (
            "transfer.bytes = '10 kB'\ntopology = { kind = 'fat-tree', k = 4 }\ntraffic = { pattern = 'permutation' }",
            False,
        ),
    ],
)
def test_stacks_applications_and_networks_that_draw(text: str, fixed: bool) -> None:
    scenario = ab.Scenario.from_toml(text)
    assert nothing_random([scenario]) == fixed
    same = repeats.identical(map(repeats.fingerprint, records(scenario, 4)))
    assert same or not fixed


def test_stored_sweeps_count_alike(tmp_path: Path, mixed: ab.Sweep) -> None:
    ab.sweep(WIRED, AXES, seeds=10, out=tmp_path / "kept")
    assert ab.Sweep.load(tmp_path / "kept").means().equals(mixed.means())


# One loss in a stream that has room to spare: no measure shows where it struck.
def test_equal_measures_of_different_runs_do_not_make_them_identical() -> None:
    spare = ab.Scenario.from_toml("""
        transfer = { rate = "1 Mbit/s", on = "1 s", off = "0 s", duration = "5 s" }
        path = [{ loss = "0.3 %" }]
    """)
    found = records(spare, 40)
    measures = [repeats.fingerprint(record._replace(events_hash="")) for record in found]
    twice = next(i for i, one in enumerate(measures) if one in measures[:i])
    seeds = [measures.index(measures[twice]) + 1, twice + 1]
    (row,) = ab.sweep(spare, {}, seeds=seeds).means().to_dict("records")
    assert (row["n"], row["identical"]) == (2, 0)
    assert row["low"] == row["high"] == row["mean"]


def test_sweeps_of_older_versions_go_by_what_was_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def older(frame: Any) -> Any:
        return frame.drop(columns="events_hash")

    made = dataset.runs_frame
    monkeypatch.setattr(dataset, "runs_frame", lambda records: older(made(records)))
    ab.sweep(WIRED, AXES, seeds=10, out=tmp_path / "kept")
    old = ab.Sweep.load(tmp_path / "kept")
    assert "events_hash" not in old.runs
    assert old.means()["identical"].tolist() == [10, 0, 10, 0]
    monkeypatch.undo()
    more = ab.sweep(WIRED, AXES, seeds=11, out=tmp_path / "kept")
    assert more.runs.groupby("seed")["events_hash"].first().tolist()[:10] == [""] * 10
    assert len(more) == 44
    again = ab.Sweep.load(tmp_path / "kept")
    assert again.means()["n"].tolist() == more.means()["n"].tolist()


def test_a_constant_measure_of_different_runs_has_a_width_of_none_and_the_p_of_signs() -> None:
    lossy = WIRED.set("path.0.loss", "3 %")
    done = ab.sweep(lossy, {"transfer.bytes": ["200 kB", "300 kB"]}, seeds=5)
    first = done.means("bytes_delivered").iloc[0]
    assert (first["n"], first["low"], first["high"]) == (5, 200_000, 200_000)
    (row,) = done.compare("transfer.bytes", baseline="200 kB", measure="bytes_delivered").to_dict("records")
    assert (row["low"], row["high"], row["p"]) == (100_000, 100_000, 2**-4)


# 0.1 + 0.2 is not 0.3 in binary: such a difference is rounding, not spread.
def test_rounding_is_no_spread() -> None:
    values = [0.1 + 0.2, 0.3, 0.3]
    for found in (interval(values), *by_student(np.array([values])).each(), *by_bootstrap(np.array([values])).each()):
        assert found.low == found.high == found.mean
    assert interval([9.822063498] * 10)[1:4] == (9.822063498,) * 3
    before = np.array([[1e6 + 0.1, 2e6 + 0.1, 3e6 + 0.1]])
    apart = differences(before, before + 0.2 - 0.1, np.array([False]))
    assert apart.low[0] == apart.high[0]
    wide = differences(before, before + np.array([[0.1, 0.1001, 0.1]]), np.array([False]))
    assert wide.low[0] < wide.high[0]


def test_intervals_of_identical_runs_are_unknown() -> None:
    found = interval([2.0] * 10, identical=True)
    assert found[:2] == (1, 2.0)
    assert (math.isnan(found.low), math.isnan(found.high), found.identical) == (True, True, 10)
    assert interval([2.0, 3.0], identical=True).n == 2  # a measure that differs all the same
    assert interval([2.0], identical=True).identical == 0
    assert repeats.said(found.n, found.identical) == ONE


def test_cells_without_a_result_do_not_stop_a_precision() -> None:
    nothing, wide = interval([]), interval([1.0, 2.0, 3.0])
    assert Precision(0.01).next(10, [nothing, interval([2.0] * 10, identical=True)]) == 10
    assert Precision(0.01).next(10, [nothing, wide]) == 20


def test_json_has_no_nan(mixed: ab.Sweep) -> None:
    json.dumps(mixed.means().astype(object).where(lambda x: x.notna(), None).to_dict("records"), allow_nan=False)


def cell(loss: str) -> Any:
    return {"path.0.loss": loss, "controller": "olia"}


def study(mixed: ab.Sweep) -> Data:
    return Data(find("schedulers"), {"mixed": mixed})


def test_studies_count_identical_runs_as_one(mixed: ab.Sweep) -> None:
    data = study(mixed)
    fixed, random = (data.mean("mixed", "goodput_mbps", **cell(loss)) for loss in ("0 %", "3 %"))
    assert (fixed.n, fixed.identical, math.isnan(fixed.low)) == (1, 10, True)
    assert (random.n, random.identical) == (10, 0)
    assert "In 2 cells the runs are identical" in _identical(data)


def test_a_missing_run_does_not_shift_the_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    from anabranch import _core

    engine = _core.run

    def run(*arguments: Any) -> object:
        if arguments[3] == 2 and ("connection.scheduler", "round-robin") in arguments[2]:
            raise _core.RunError("memory: the engine held 1 MB")
        return engine(*arguments)

    monkeypatch.setattr(_core, "run", run)
    lossy = WIRED.set("path.0.loss", "3 %")
    data = study(ab.sweep(lossy, {"scheduler": ["min-rtt", "round-robin"]}, seeds=4))
    runs = data.sweeps["mixed"].runs.pivot(index="seed", columns="scheduler", values="goodput_mbps").dropna()
    wanted = (runs["round-robin"] / runs["min-rtt"] - 1).mean()
    found = ratio(data, "mixed", "goodput_mbps", scheduler="round-robin")
    assert found.n == 3
    assert found.mean == pytest.approx(wanted)


def test_figures_draw_no_interval_for_identical_runs(mixed: ab.Sweep) -> None:
    for ax in (
        mixed.plot.over("controller", Figure().subplots(), kind="bars"),
        mixed.plot.over("controller", Figure().subplots(), kind="lines"),
    ):
        segments = [line for lines in ax.collections for line in lines.get_segments()]  # type: ignore[attr-defined]
        drawn = [line for line in segments if np.isfinite(line).all()]
        assert len(drawn) == 2  # of the lossy cells


def test_means_over_time_of_identical_runs_have_no_band() -> None:
    done = ab.sweep(WIRED, {"path.0.loss": ["0 %", "3 %"]}, seeds=4, series=50)
    frame = means(done.series, ["path.0.loss"])
    fixed, random = (frame[frame["path.0.loss"] == loss] for loss in ("0 %", "3 %"))
    assert fixed["n"].eq(1).all()
    assert fixed[["low", "high"]].isna().all(axis=None)
    assert random["n"].eq(4).all()
    assert random["low"].notna().all()
