"""What figures say: renamed values and axes, intervals within their bounds, and no completion of timed transfers."""

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

import anabranch as ab
from anabranch.measures import table as measures
from anabranch.plots import sweep as sweep_plots
from anabranch.plots.wording import renamed
from anabranch.studies.panels import bars, within
from anabranch.sweeps import figures, report
from anabranch.sweeps.paired import Interval
from anabranch.sweeps.timed import timed_cells
from figure_texts import drawn_texts
from helpers import Command

LINUX = Path(__file__).parent.parent / "crates" / "acceptance" / "tests" / "data" / "linux-mptcp-two-paths-snap128.pcap"
BASE = ab.Scenario.two_path("5 Mbit/s, 40 ms, loss 1 %", "2 Mbit/s, 10 ms", transfer="60 kB")
AXES = {"controller": ["rtt-compensator", "cubic"], "path.1.delay": ["10 ms", "100 ms"]}
TIMED = BASE.set("transfer.duration", "1 s")


@pytest.fixture(autouse=True)
def _closed() -> None:
    plt.close("all")


@pytest.fixture(scope="module")
def swept() -> ab.Sweep:
    return ab.sweep(BASE, AXES, seeds=2)


@pytest.fixture
def kept(here: Path) -> Path:
    ab.sweep(BASE, AXES, seeds=2, out="kept")
    return here / "kept"


def said(svg: str) -> set[str]:
    """The texts of an SVG file: matplotlib writes each in a comment before its outlines."""
    return {part.partition(" -->")[0] for part in svg.split("<!-- ")[1:]}


def test_values_and_axes_of_a_sweep_are_called_as_is_wished(swept: ab.Sweep) -> None:
    rename = {"rtt-compensator": "Coupled", "100 ms": "far", "not there": "ignored"}
    label = {"path.1.delay": "delay of the second path", "goodput_mbps": "Rate (Mbit/s)"}
    ax = swept.plot.over("path.1.delay", Figure().subplots(), rename=rename, label=label)
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_title(loc="left")) == (*label.values(), "Rate")
    assert [text.get_text() for text in ax.get_xticklabels()] == ["10", "far"]
    legend = ax.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["Coupled", "cubic"]
    assert swept.plot.over("path.1.delay", Figure().subplots(), kind="bars").get_xlabel() == "path.1.delay (ms)"
    plain = swept.plot.over("path.1.delay", Figure().subplots())
    assert [line[0].get_color() for line in ax.containers] == [line[0].get_color() for line in plain.containers]
    named = swept.plot.over("controller", Figure().subplots(), where={"path.1.delay": "100 ms"}, rename=rename)
    assert [text.get_text() for text in named.get_xticklabels()] == ["Coupled", "cubic"]
    assert named.get_title(loc="left") == "Goodput, path.1.delay far"


def test_panels_and_the_legend_of_a_figure_use_the_same_words(swept: ab.Sweep) -> None:
    cut = figures.view(swept, "controller", by=[])
    label, rename = {"path.1.delay": "Delay"}, {"10 ms": "short", "cubic": "CUBIC"}
    figure = figures.drawn(swept, "goodput_mbps", cut, {"label": label, "rename": rename})
    assert {"Delay short", "Delay 100 ms", "CUBIC"} <= {text.get_text() for text, _ in drawn_texts(figure)}


def test_values_and_axes_of_a_run_are_called_as_is_wished(finished: ab.Run) -> None:
    rename, label = {"path 0": "DSL", "total": "sum"}, {"throughput": "Rate (Mbit/s)", "time": "Zeit (s)"}
    ax = finished.plot.throughput(Figure().subplots(), rename=rename, label=label)
    _, names = ax.get_legend_handles_labels()
    assert names == ["DSL: 5 Mbit/s, 100 ms", "path 1: 2 Mbit/s, 10 ms", "sum"]
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_title(loc="left")) == ("Zeit (s)", "Rate (Mbit/s)", "Rate")


@pytest.mark.parametrize(
    ("text", "rename", "result"),
    [
        ("both, path 1: 2 Mbit/s, 10 ms", {"both": "MPTCP", "path 1": "LTE"}, "MPTCP, LTE: 2 Mbit/s, 10 ms"),
        ("path 10", {"path 1": "LTE"}, "path 10"),
        ("a, b", {"a, b": "both", "a": "x"}, "both"),
        ("a.b+c", {"a.b+c": "x"}, "x"),
        ("axb", {"a.b": "x"}, "axb"),
        ("a", {"": "x"}, "a"),
    ],
)
def test_a_value_is_renamed_where_it_stands_alone(text: str, rename: Mapping[str, str], result: str) -> None:
    assert renamed(text, rename) == result


def test_the_command_renames_and_labels(command: Command, kept: Path, tmp_path: Path) -> None:
    words = ("--rename", "cubic=CUBIC = new", "--label", "goodput_mbps=Rate (Mbit/s)", "--label", "path.1.delay=Delay")
    before = (kept / "report.html").read_bytes() if (kept / "report.html").exists() else b""
    done = command("plot", kept, "--figure", "goodput_mbps", *words, "--out", tmp_path / "drawn")
    assert (done.status, done.err) == (0, "")
    texts = said((tmp_path / "drawn" / "goodput_mbps.svg").read_text("utf-8"))
    assert {"CUBIC = new", "Rate (Mbit/s)", "Delay", "rtt-compensator"} <= texts
    result = tmp_path / "result"
    ab.Scenario.of_paths(["5 Mbit/s, 100 ms", "2 Mbit/s, 10 ms"], transfer="300 kB").run(seed=1).save(result)
    wanted = ("--rename", "path 1=LTE", "--label", "time=t (s)", "--figure", "cwnd", "--out", str(tmp_path / "run"))
    plot = [sys.executable, "-m", "anabranch", "plot", str(result), *wanted]
    fresh = subprocess.run(plot, capture_output=True, text=True, check=False)
    assert (fresh.returncode, fresh.stderr) == (0, "")
    assert {"LTE: 2 Mbit/s, 10 ms", "t (s)"} <= said((tmp_path / "run" / "cwnd.svg").read_text("utf-8"))
    assert command("plot", kept, *words).status == 0
    assert before == ((kept / "report.html").read_bytes() if (kept / "report.html").exists() else b"")


def test_the_command_renames_in_figures_of_captures(command: Command, here: Path) -> None:
    assert command("analyze", LINUX, "--out", "seen", "--quiet").status == 0
    done = command("plot", "seen", "--figure", "in_flight", "--label", "in_flight=Unacknowledged (kB)")
    assert (done.status, done.err) == (0, "")
    assert "Unacknowledged (kB)" in said(Path("seen/in_flight.svg").read_text("utf-8"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--rename", "cubic"), "--rename: 'cubic' is not OLD=NEW, such as rtt-compensator=Coupled"),
        (("--rename", "=x"), "--rename: '=x' is not OLD=NEW"),
        (("--rename", "cubic="), "--rename: 'cubic=' is not OLD=NEW"),
        (("--rename", "cubik=C"), "--rename: none of the figures drawn has 'cubik'; they have: "),
        (("--rename", "cubic=a", "--rename", "cubic=b"), "--rename: 'cubic' is given twice"),
        (("--label", "speed=v"), "--label: none of the figures drawn has 'speed'; they have: "),
        (("--label", "goodput_mbps"), "--label: 'goodput_mbps' is not NAME=TEXT"),
        (("--label", "goodput_mbps=$\\none{$"), "has a formula that cannot be set; write \\$ for a dollar sign"),
    ],
)
def test_words_that_no_figure_has_are_refused(
    command: Command, kept: Path, arguments: tuple[str, ...], message: str
) -> None:
    files = {file: file.stat().st_mtime_ns for file in kept.rglob("*")}
    done = command("plot", kept, "--figure", "goodput_mbps", *arguments)
    assert (done.status, done.out) == (2, "")
    assert message in done.err
    assert files == {file: file.stat().st_mtime_ns for file in kept.rglob("*")}


def test_a_figure_without_a_text_to_replace_says_so(command: Command, here: Path) -> None:
    udp = ab.Scenario.from_toml(
        """
        [connection]
        protocol = "udp"
        [transfer]
        rate = "1 Mbit/s"
        duration = "1 s"
        [[path]]
        rate = "5 Mbit/s"
        delay = "10 ms"
        """
    )
    udp.run().save("udp")
    done = command("plot", "udp", "--rename", "q=bar")
    assert (done.status, done.out) == (2, "")
    assert "--rename: the figures have no text that --rename could replace; leave --rename out" in done.err


def test_dollar_signs_in_values_are_no_formula_and_in_labels_they_are() -> None:
    values = {"$5 and $\\none": {"mss": 700}, "5 $": {"mss": 1400}}
    swept = ab.sweep(BASE, {"tariff": values}, seeds=1)
    cut = figures.view(swept)
    figure = figures.drawn(swept, "goodput_mbps", cut, {"label": {"goodput_mbps": "rate in $10^6$ bit/s"}})
    texts = {text.get_text() for text, _ in drawn_texts(figure)}
    assert {"\\$5 and \\$\\none", "5 $", "rate in $10^6$ bit/s"} <= texts


def ends(ax: Any) -> "np.ndarray[tuple[int, int], np.dtype[np.float64]]":
    """Lower and upper ends of the intervals that are drawn."""
    segments = [segment for lines in ax.collections for segment in lines.get_segments()]
    return np.array([segment[:, 1] for segment in segments if len(segment)])


@pytest.mark.parametrize(("measure", "bounds"), [("ooo_ratio", (0.0, 1.0)), ("goodput_mbps", (0.0, np.inf))])
@pytest.mark.parametrize("kind", ["lines", "bars"])
def test_an_interval_ends_at_the_bounds_of_its_measure(measure: str, bounds: tuple[float, float], kind: str) -> None:
    rows = [
        ("10 ms", 0.9, 0.2, 1.6),
        ("20 ms", 0.1, -0.4, 0.6),
        ("30 ms", 0.5, 0.4, 0.6),
        ("40 ms", 0.5, np.nan, np.nan),
    ]
    frame = pd.DataFrame(rows, columns=["delay", "mean", "low", "high"])
    drawn = ends(sweep_plots.over(frame, "delay", Figure().subplots(), measure=measure, kind=kind))
    drawn = drawn[np.isfinite(drawn).all(axis=1)]
    expected = np.clip([row[2:] for row in rows[:3]], *bounds)
    np.testing.assert_allclose(drawn, expected)


def test_a_band_over_time_ends_at_the_bounds_of_its_measure() -> None:
    frame = pd.DataFrame({"t": [0.0, 1.0], "mean": [1.0, 2.0], "low": [-3.0, 1.0], "high": [5.0, 3.0]})
    ax = sweep_plots.bands(frame, Figure().subplots(), measure="throughput")
    (area,) = ax.collections
    assert np.asarray(area.get_paths()[0].vertices)[:, 1].min() == 0.0
    assert ax.get_ylim()[0] == 0.0


def test_an_interval_of_a_study_ends_at_the_bounds_of_its_quantity() -> None:
    wide = Interval(3, 0.5, -1.0, 2.0)
    assert within(wide)[2:4] == (0.0, 2.0)
    assert within(wide, 0.0, 1.0)[2:4] == (0.0, 1.0)
    ax = Figure().subplots()
    bars(ax, ["one"], {"none": "NoPR"}, lambda _group, _name: wide)
    np.testing.assert_allclose(ends(ax), [[0.0, 2.0]])


def test_every_measure_of_a_sweep_has_bounds_that_its_values_keep(swept: ab.Sweep) -> None:
    numeric = [name for name in swept.runs.columns if pd.api.types.is_numeric_dtype(swept.runs[name])]
    for name in numeric:
        if name in {*swept.axes, "seed"}:
            continue
        assert name in measures.MEASURES, f"{name}: declare it in crates/measures/src/measures"
        low, high = measures.bounds(name)
        values = measures.factor(name) * swept.runs[name].to_numpy(float)
        assert np.nanmin(values, initial=np.inf) >= low
        assert np.nanmax(values, initial=-np.inf) <= high


def test_a_timed_transfer_has_no_figure_of_its_completion(command: Command, here: Path) -> None:
    timed = ab.sweep(TIMED, AXES, seeds=2, out="timed")
    assert figures.usual(timed) == [name for name in figures.usual(timed) if name != "completion_s"]
    report.write(timed, "timed")
    assert not Path("timed/completion_s.svg").exists()
    assert 'id="completion_s"' not in Path("timed/report.html").read_text("utf-8")
    why = r"completion_s says nothing of a timed transfer \(transfer.duration\)"
    for draw in (timed.plot.over, timed.plot.cdf):
        with pytest.raises(ValueError, match=why):
            draw(measure="completion_s")
    done = command("plot", "timed", "--figure", "completion_s")
    assert (done.status, done.out) == (2, "")
    assert "--figure completion_s: completion_s says nothing of a timed transfer (transfer.duration)" in done.err
    done = command("plot", "timed", "--figure", "speed")
    assert "measures: first_byte_s, " in done.err
    assert command("plot", "timed").status == 0
    assert not Path("timed/completion_s.svg").exists()


def test_of_timed_transfers_and_others_only_the_others_have_a_completion() -> None:
    kinds = {"a file": {"transfer.bytes": "30 kB"}, "one second": {"transfer.duration": "1 s"}}
    mixed = ab.sweep(BASE, {"what": kinds, "mss": [700, 1400]}, seeds=2)
    assert timed_cells(mixed.plan) == [False, False, True, True]
    ax = mixed.plot.over("mss", Figure().subplots(), measure="completion_s")
    assert [container.get_label() for container in ax.containers] == ["a file"]
    assert "completion_s" in figures.usual(mixed)
    assert "Timed transfers are left out" in figures.caption(mixed, "completion_s", figures.view(mixed))
    assert "Timed" not in figures.caption(mixed, "goodput_mbps", figures.view(mixed))


def test_a_cell_that_is_refused_is_not_taken_for_a_timed_one() -> None:
    some = ab.sweep(TIMED, {"path.0.loss": ["0 %", "200 %"]}, seeds=1)
    assert [bool(cell.error) for cell in some.plan.cells] == [False, True]
    with pytest.raises(ValueError, match="timed transfer"):
        some.plot.over("path.0.loss", measure="completion_s")
