"""Whole answers of a sweep: its tables, frames, report, figures, questions in SQL (`golden_answers`)."""

import itertools
from pathlib import Path
from typing import Any, Unpack

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes

import anabranch as ab
from anabranch.plots.style import Look
from anabranch.sweeps import figures
from anabranch.sweeps.figures import View, drawn, usual, view
from anabranch.sweeps.report import document as sweep_file
from anabranch.sweeps.report import page as report
from anabranch.sweeps.report import sweep_html
from anabranch.sweeps.table import compared, csv, document
from anabranch.sweeps.time import means as over_time
from golden_answers import agrees, page
from helpers import Command

BASE = ab.Scenario.two_path("5 Mbit/s, 20 ms, loss 1 %", "2 Mbit/s, 10 ms", transfer="300 kB")
AXES: Any = {
    "scheduler": ["min-rtt", "round-robin"],
    "path.1.delay": ["10 ms", "80 ms", "300 ms"],
    "buffer": {"small": {"receive_buffer": "20 kB"}, "large": {"receive_buffer": "1 MB", "path.0.loss": "0 %"}},
}
ASIDE = ("wall_s", "key", "machine", "engine", "scenario_sha256", "trace_sha256", "events_hash")
"""Columns that differ from machine to machine, or with each version."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve cells with and without chance, six seeds, with series."""
    place = tmp_path_factory.mktemp("golden") / "sweep"
    ab.sweep(BASE, AXES, seeds=6, out=place, series=12)
    return place


@pytest.fixture(scope="module")
def stored(folder: Path) -> ab.Sweep:
    """The same, read again."""
    return ab.Sweep.load(folder)


@pytest.fixture(scope="module")
def odd() -> ab.Sweep:
    """Cells that are refused, that are identical, that time ends, and in which nothing arrives."""
    base = ab.Scenario.two_path("5 Mbit/s, 20 ms", "2 Mbit/s, 10 ms", transfer="100 kB").set("duration", "20 s")
    ends = {
        "done": {},
        "refused": {"controller": "dctcp"},
        "timed": {"transfer.duration": "2 s"},
        "nothing": {"path.0.loss": "100 %", "path.1.loss": "100 %"},
    }
    return ab.sweep(base, {"ends": ends, "mss": [700, 1400]}, seeds=3)


def frame(table: pd.DataFrame, *, rows: int | None = None) -> str:
    """A frame as text, with six digits and without what differs from machine to machine."""
    return table.drop(columns=[n for n in ASIDE if n in table])[:rows].to_csv(index=False, float_format="%.6g")


def seen(ax: Axes) -> str:
    """What a panel shows: its words, its lines and bars, and what is shaded."""
    legend = ax.get_legend()
    words = [ax.get_title(loc="left"), ax.get_title(), ax.get_xlabel(), ax.get_ylabel()]
    lines = [" | ".join(filter(None, words)), f"x {np.round(ax.get_xlim(), 3)}, y {np.round(ax.get_ylim(), 3)}"]
    lines.append(f"ticks {[t.get_text() for t in ax.get_xticklabels()]}")
    lines += [f"legend {[text.get_text() for text in legend.get_texts()]}"] if legend else []
    for line in ax.lines:
        data = np.column_stack([np.asarray(line.get_xdata(), float), np.asarray(line.get_ydata(), float)])
        lines.append(f"line {str(line.get_label())[:20]}: {[[float(f'{x:.5g}') for x in pair] for pair in data]}")
    for patch in ax.patches:
        box = patch.get_extents().transformed(ax.transData.inverted())
        lines.append(f"bar {[float(f'{x:.4g}') for x in box.extents]}")
    for part in ax.collections:
        points = [np.asarray(path.vertices, float) for path in part.get_paths()]
        low = [float(f"{x:.4g}") for p in points for x in (p[:, 1].min(), p[:, 1].max())]
        lines.append(f"shaded {low}")
    return "\n".join(lines)


def picture(sweep: ab.Sweep, name: str, cut: View, **look: Unpack[Look]) -> str:
    """What a figure shows, panel by panel."""
    figure = drawn(sweep, name, cut, look)
    size = [round(float(x), 2) for x in figure.get_size_inches()]
    words = [f"{name}, {size}: {figures.caption(sweep, name, cut)}", figure.get_suptitle()]
    words += [f"legend {[text.get_text() for text in legend.get_texts()]}" for legend in figure.legends]
    return "\n".join([*words, *(seen(ax) for ax in figure.axes if ax.get_visible())])


def test_the_tables_of_a_sweep(stored: ab.Sweep, odd: ab.Sweep) -> None:
    for name, sweep in (("sweep", stored), ("sweep-odd", odd)):
        table = document(sweep)
        narrow = table.text(60).split("\n\n")[0]
        papers = [table.written(form) for form in ("markdown", "latex")]
        agrees(f"{name}-table", table.text(), csv(sweep), narrow, *papers, repr(sweep))
    lines = document(stored).text().splitlines()
    # The mean of six runs of a cell, by hand.
    cell = stored.runs.query("scheduler == 'round-robin' and `path.1.delay` == '80 ms' and buffer == 'small'")
    (line,) = [line for line in lines if line.startswith("round-robin") and "80 ms" in line and "small" in line]
    assert line.split()[5] == f"{cell['goodput_mbps'].mean():.2f}"
    assert "1 run (6 identical)" in str(stored)
    assert "6 runs" in str(odd)


def test_the_frames_of_a_sweep(stored: ab.Sweep, odd: ab.Sweep) -> None:
    runs, flows = stored.runs, stored.subflows
    assert (len(stored), len(runs), len(flows)) == (72, 72, 144)
    assert flows.groupby([*stored.axes, "seed"])["spurious"].sum().tolist() == runs["spurious"].tolist()
    agrees("sweep-runs", frame(runs[::5]), frame(flows[::11]), frame(stored.series[::37]))
    agrees("sweep-odd-runs", frame(odd.runs), frame(odd.subflows[::3]))
    agrees("sweep-distribution", frame(stored.distribution()[::7]), frame(stored.distribution("reorder_density")[::7]))


@pytest.mark.parametrize("method", ["student", "bootstrap"])
def test_means_and_paired_differences(stored: ab.Sweep, odd: ab.Sweep, method: str) -> None:
    parts = [stored.means("goodput_mbps", 0.9, method), odd.means("goodput_mbps", method=method)]
    for axis, baseline, measure in (
        ("scheduler", "min-rtt", "goodput_mbps"),
        ("path.1.delay", "80 ms", "ooo_ratio"),
        ("buffer", "large", "completion_s"),
    ):
        parts.append(stored.compare(axis, baseline=baseline, measure=measure, method=method))
    parts.append(odd.compare("mss", baseline=1400, method=method))
    agrees(f"sweep-{method}", *map(frame, parts))
    # By hand: the differences of six pairs in one cell.
    cube = stored.runs.pivot_table(
        index=["path.1.delay", "buffer"], columns=["scheduler", "seed"], values="goodput_mbps"
    )
    apart = (cube["round-robin"] - cube["min-rtt"]).loc[("80 ms", "small")]
    (row,) = parts[2].query("`path.1.delay` == '80 ms' and buffer == 'small'").to_dict("records")
    assert row["difference"] == pytest.approx(apart.mean())
    if method == "student":
        assert row["high"] - row["difference"] == pytest.approx(2.5706 * apart.std() / 6**0.5, rel=1e-4)


def test_comparisons_of_values_as_tables(
    stored: ab.Sweep, odd: ab.Sweep, command: Command, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    tables = [compared(stored, "scheduler", "min-rtt"), compared(stored, "path.1.delay", "10 ms", "completion_s")]
    texts = ["\n".join(table.text()) for table in [*tables, compared(odd, "mss", "700")]]
    done = command("compare", folder, folder, "--measure", "ooo_ratio")
    assert done.status == 0
    agrees("sweep-compared", *texts, done.out.replace(str(folder), "sweep"))


def test_the_report_of_a_sweep(stored: ab.Sweep, odd: ab.Sweep) -> None:
    assert usual(stored)[:2] == ["goodput_mbps", "completion_s"]
    for name, sweep in (("sweep", stored), ("sweep-odd", odd)):
        text = report(sweep, dict.fromkeys(usual(sweep), "<svg/>"), "a folder")
        agrees(f"{name}-report", page(text), page(sweep_html(sweep)))
    again = sweep_file(stored.plan)
    agrees(
        "sweep-file",
        again,
        sweep_file(odd.plan),
        sweep_file(ab.Plan.of(BASE, {}, seeds=[3, 5], timeout=2.5, memory=1_500_000)),
    )


def test_the_figures_of_a_sweep(stored: ab.Sweep, odd: ab.Sweep) -> None:
    plt.close("all")
    names = ("goodput_mbps", "cdf", "over_time")
    usually = {name: view(stored, below=name == "goodput_mbps") for name in names}
    shown = [f"{usual(stored)}, {usual(odd)}", *(picture(stored, name, cut) for name, cut in usually.items())]
    shown += [figures.caption(odd, name, view(odd)) for name in usual(odd)]
    agrees("sweep-figures", *shown)
    cuts = [
        picture(stored, "goodput_mbps", view(stored, "path.1.delay", "scheduler"), height="200 mm"),
        picture(
            stored,
            "ooo_ratio",
            view(stored, "buffer", (), {"scheduler": "min-rtt", "path.1.delay": "80 ms"}),
            title=False,
        ),
        picture(odd, "completion_s", view(odd), rename={"done": "D"}, label={"mss": "MSS"}),
        picture(odd, "goodput_mbps", view(odd, "mss", "ends"), width="88 mm"),
        seen(stored.plot.over_time("ooo_buffer", by=["scheduler", "buffer"], where={"path.1.delay": "80 ms"})),
        seen(stored.plot.over_time("srtt", by="subflow", where={"path.1.delay": "80 ms", "buffer": "large"})),
        seen(stored.plot.cdf("rbd", by="scheduler", where={"path.1.delay": "80 ms", "buffer": "small"})),
        seen(
            stored.plot.over(
                "buffer", measure="segments", by="scheduler", where={"path.1.delay": "10 ms"}, kind="lines"
            )
        ),
    ]
    agrees("sweep-cuts", *cuts)
    plt.close("all")


def test_questions_in_sql(stored: ab.Sweep) -> None:
    pytest.importorskip("duckdb")
    statements = [
        'select scheduler, "path.1.delay", buffer, count(*) n, avg(goodput_mbps) g from runs group by all order by all',
        "select buffer, subflow, sum(subflows.segments) s, max(status) from subflows join runs "
        "using (scheduler, seed, buffer) where runs.seed = 2 group by all order by all",
        "select cell, scheduler, buffer, error from cells order by cell",
        "select count(*) n, sum(length(series) > 100) with_series, count(distinct scenario_sha256) c from texts",
    ]
    answers = [stored.query(statement) for statement in statements]
    assert answers[3].iloc[0].tolist() == [72, 72, 12]
    assert answers[0]["g"].tolist() == pytest.approx(stored.means().sort_values(stored.axes)["mean"].tolist())
    agrees("sweep-sql", *map(frame, answers))


def test_as_many_seeds_as_a_precision_takes() -> None:
    """The spread of 10 runs tells how many more: (half width / 2 % of the mean)^2 * 10, at most twice as many."""
    rounds: list[int] = []

    def told(state: Any) -> None:
        if not rounds or state.total != rounds[-1]:
            rounds.append(state.total)

    axes: Any = {"path.0.loss": ["0 %", "3 %"]}
    texts = []
    for wanted in ("until 6 %", "until 2 % of segments, at most 25", "until 40 %"):
        rounds.clear()
        sweep = ab.sweep(BASE, axes, seeds=wanted, progress=told)
        texts.append(f"{wanted}: {rounds}\n{document(sweep).text()}")
    still = BASE.set("path.0.loss", "0 %")
    rare = BASE.set("path.0.loss", "0.0001 %")
    for scenario, values in ((still, [700, 1400]), (still, [1400]), (rare, [700, 1400]), (rare, [1400])):
        texts.append(document(ab.sweep(scenario, {"mss": values}, seeds="until 1 %")).text())
    agrees("sweep-precision", *texts)
    first = ab.sweep(BASE, axes, seeds=10).means("goodput_mbps").iloc[1]
    more = np.ceil(min(((first["high"] - first["mean"]) / (0.06 * first["mean"])) ** 2, 4) * 10)
    assert f"[20, {2 * int(min(20, max(11, more)))}" in texts[0]


def test_two_identical_runs_over_time_are_one() -> None:
    still = ab.sweep(BASE.set("path.0.loss", "0 %"), {"mss": [1400]}, seeds=2, series=5)
    for measure in ("throughput", "cwnd"):
        found = over_time(still.series, ["mss"], measure)
        assert set(found["n"]) == {1}
        assert found["low"].isna().all()
        assert found["mean"].max() > 1


def test_a_sweep_of_many_cells() -> None:
    """Tables show the best and the worst; a figure has nine panels and says how many are left out."""
    axes: Any = {
        "mss": [500 + 50 * i for i in range(12)],
        "scheduler": ["min-rtt", "round-robin"],
        "path.1.delay": ["10 ms", "40 ms", "90 ms"],
    }
    sweep = ab.sweep(BASE.set({"transfer.bytes": "60 kB", "path.0.loss": "0 %"}), axes, seeds=1)
    cuts = [
        view(sweep),
        view(sweep, below=False),
        view(sweep, "scheduler"),
        view(sweep, "scheduler", ()),
        view(sweep, "path.1.delay", "scheduler", {"mss": 700}),
        view(sweep, "path.1.delay", ["scheduler"]),
    ]
    sizes = [figures._size(cut, {}) for cut in cuts] + [figures._size(cuts[3], {"height": "300 mm"})]
    words = [f"{cut}\n{figures.caption(sweep, 'goodput_mbps', cut)}" for cut in cuts]
    agrees("sweep-many", document(sweep).text(), page(sweep_html(sweep)), *words, str(sizes), str(usual(sweep)))
    # Thirty-six panels without anything beside each other: nine are drawn.
    assert (len(cuts[3].panels), cuts[3].left_out) == (9, 27)


def test_how_far_a_sweep_is(tmp_path: Path) -> None:
    """Six runs, of which two are refused; then six more for two more seeds."""
    axes: Any = {"controller": ["coupled", "dctcp", "cubic"]}
    parts = []
    for seeds in (2, 4):
        states: list[Any] = []
        ab.sweep(BASE, axes, seeds=seeds, out=tmp_path / "kept", workers=1, progress=states.append)
        parts.append(str(tuple(states[-1]._replace(seconds=0.0))))
        assert {(s.total, s.stored) for s in states} == {(3 * seeds, 3 * (seeds - 2))}
        assert all(a.done <= b.done and a.seconds <= b.seconds for a, b in itertools.pairwise(states))
    agrees("sweep-progress", *parts)


def test_a_stored_sweep_is_the_sweep_in_memory(stored: ab.Sweep) -> None:
    here = ab.sweep(BASE, AXES, seeds=6, series=12)
    for name in ("runs", "subflows", "series"):
        one, other = (getattr(each, name).drop(columns=["wall_s"], errors="ignore") for each in (stored, here))
        pd.testing.assert_frame_equal(one, other, check_dtype=False, check_categorical=False)
    assert str(here) == str(stored)
