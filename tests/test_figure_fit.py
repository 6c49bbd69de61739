"""Figures of every kind and size: no text leaves the figure, none lies over another, and axes stay readable."""

from collections.abc import Iterator
from pathlib import Path

import matplotlib.pyplot as plt
import pytest
from matplotlib.figure import Figure

import anabranch as ab
from anabranch import plots
from anabranch.captures.plots import CapturePlots
from anabranch.captures.report import CAPTURE_FIGURES
from anabranch.plots import files, style
from anabranch.plots.axis import round_numbers
from anabranch.plots.beside import beside
from anabranch.plots.letters import width, wrapped
from anabranch.plots.waiting import height, waiting
from anabranch.sweeps import figures
from figure_texts import SIZES, assert_fits, assert_logarithmic_axes_can_be_read

LINUX = Path(__file__).parent.parent / "crates" / "acceptance" / "tests" / "data" / "linux-mptcp-two-paths-snap128.pcap"
SMALLEST, DEFAULT = SIZES[0], SIZES[-1]
#  Marks in a row, links that vary, messages.
BUSY = """
duration = "4 s"
[transfer]
message = "2 kB"
interval = "10 ms"
duration = "4 s"
[[path]]
name = "the-first-line-of-the-house"
rate = "4 Mbit/s"
delay = "20 ms"
changes = [{ at = "1 s", state = "down" }, { at = "1.5 s", state = "up" }, { at = "2 s", rate = "1 Mbit/s" }]
[[path]]
rate = "4 Mbit/s"
delay = "40 ms"
changes = [{ at = "1.2 s", loss = "2 %" }, { at = "3.9 s", delay = "100 ms" }]
"""
LONG = {
    "the first value, which somebody described at great length for those who come later": {"mss": 700},
    "the second one, no less verbose than the first and a good deal longer than it": {"mss": 1400},
}
BASE = ab.Scenario.two_path("5 Mbit/s, 40 ms, loss 1 %", "2 Mbit/s, 10 ms", transfer="60 kB")
DELAYS = ["1 ms", "2 ms", "5 ms", "10 ms", "20 ms", "50 ms", "100 ms", "200 ms", "500 ms", "900 ms"]


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def busy() -> ab.Run:
    return ab.Scenario.from_toml(BUSY).run()


@pytest.fixture(scope="module")
def capture() -> ab.Capture:
    return ab.analyze(LINUX)


@pytest.fixture(scope="module")
def swept() -> dict[str, ab.Sweep]:
    """Lines over a logarithmic axis, many bars, panels, and names that are too long."""
    schedulers = ["min-rtt", "round-robin", "linux", "blest", "ecf", "redundant", "after-sttf"]
    return {
        "lines": ab.sweep(BASE, {"path.1.delay": DELAYS, "judge": ["none", "dsack", "eifel"]}, seeds=2),
        "bars": ab.sweep(BASE, {"sack": [True, False], "scheduler": schedulers}, seeds=5, series=10),
        "panels": ab.sweep(
            BASE, {"controller": ["coupled", "olia"], "sack": [True, False], "path.0.loss": ["0 %", "3 %"]}, seeds=2
        ),
        "long": ab.sweep(BASE, {"what somebody called this axis after long deliberation": LONG}, seeds=5, series=10),
    }


def sized(size: tuple[str | None, str | None]) -> plots.Look:
    return {"width": size[0], "height": size[1]}


@pytest.mark.parametrize("size", SIZES)
def test_no_text_leaves_a_figure_of_a_run(finished: ab.Run, size: tuple[str | None, str | None]) -> None:
    for name in plots.FIGURES:
        assert_fits(getattr(finished.plot, name)(**sized(size)).figure)


@pytest.mark.parametrize("size", [SMALLEST, DEFAULT])
def test_no_text_leaves_a_figure_with_marks_varying_links_or_messages(
    busy: ab.Run, size: tuple[str | None, str | None]
) -> None:
    assert len(plots.figures_of(busy)) == 7
    for name in plots.figures_of(busy):
        assert_fits(getattr(busy.plot, name)(**sized(size)).figure)


def test_no_text_leaves_a_figure_of_several_connections(several: ab.Run) -> None:
    for name in ("throughput", "srtt"):
        assert_fits(getattr(several.plot, name)(**sized(SMALLEST)).figure)


def test_no_text_leaves_a_figure_of_a_capture(capture: ab.Capture) -> None:
    for figure in CAPTURE_FIGURES.values():
        assert_fits(files.drawn(lambda ax, figure=figure: figure.draw(CapturePlots(capture), ax), sized(SMALLEST)))  # type: ignore[misc]


def test_no_text_leaves_what_two_senders_delivered(finished: ab.Run) -> None:
    frame = finished.subflows
    assert_fits(files.drawn(lambda ax: beside(frame, frame, ax=ax), sized(SMALLEST)))


@pytest.mark.parametrize("address", ["10.0.0.1:40000", "[2001:db8:1234:5678:9abc:def0:1234:5678]:40000"])
@pytest.mark.parametrize("wide", ["88 mm", None])
def test_no_text_leaves_who_waited_for_whom(address: str, wide: str | None) -> None:
    flow = {"client": address, "server": address, "blocked_others_s": 1.0, "measured_s": 9.0}
    causes = dict.fromkeys(
        ("not_up", "failed", "recovery", "receive_window", "head_of_line", "reinjection", "cwnd", "scheduler",
         "send_buffer", "application"), 0.1,
    )  # fmt: skip
    connection = {"subflows": [flow | {"causes": causes}] * 2}
    look: plots.Look = {"width": wide, "height": "66 mm" if wide else height(connection)}
    assert_fits(files.drawn(lambda ax: waiting(connection, ax), look))


@pytest.mark.parametrize("which", ["lines", "bars", "panels", "long"])
@pytest.mark.parametrize("size", [SMALLEST, DEFAULT])
def test_no_text_leaves_a_figure_of_a_sweep(
    swept: dict[str, ab.Sweep], which: str, size: tuple[str | None, str | None]
) -> None:
    names = {"lines": ["hol_delay_p95_ms"], "panels": ["ooo_ratio"]}.get(which, ["goodput_mbps", "cdf", "over_time"])
    for name in names:
        cut = figures.view(swept[which], below=name not in {figures.CDF, figures.OVER_TIME})
        figure = figures.drawn(swept[which], name, cut, sized(size))
        texts = assert_fits(figure, apart=which != "panels" or size is DEFAULT)
        assert_logarithmic_axes_can_be_read(figure, texts)


def test_no_text_leaves_the_smallest_figure_there_is(finished: ab.Run, swept: dict[str, ab.Sweep]) -> None:
    least: plots.Look = {"width": "39 mm", "height": "39 mm"}
    assert_fits(finished.plot.throughput(**least).figure.figure, apart=False)
    assert_fits(figures.drawn(swept["long"], "goodput_mbps", figures.view(swept["long"]), least), apart=False)


def test_a_figure_that_is_resized_is_laid_out_anew(finished: ab.Run) -> None:
    """What was made small for a narrow figure is large again in a wide one."""
    figure = Figure(layout="constrained")
    ax = finished.plot.throughput(figure.subplots())
    points: list[tuple[float, str, int]] = []
    for size in ((6.4, 4.8), (1.6, 1.6), (6.4, 4.8)):
        figure.set_size_inches(*size)
        texts = assert_fits(figure, apart=False)
        points.append((float(ax.yaxis.label.get_fontsize()), ax.get_ylabel(), len(texts)))
    assert points[0] == points[2]
    assert points[1][0] < points[0][0]


def test_a_figure_keeps_what_its_user_wrote_into_it(finished: ab.Run) -> None:
    ax = finished.plot.cwnd(width="88 mm", height="50 mm")
    ax.figure.figure.draw_without_rendering()
    ax.set_ylabel("a name that is much longer than the figure is high, and was given later", fontsize=12)
    ax.set_title("another title")
    assert_fits(ax.figure.figure)
    assert ax.get_ylabel().replace("\n", " ").startswith("a name that is much")
    assert ax.get_title() == "another title"


def test_axes_of_others_in_the_same_figure_stay_as_they_are(finished: ab.Run) -> None:
    figure, axes = plt.subplots(1, 2, figsize=(9, 3), layout="constrained")
    axes[1].set_title("mine", fontsize=13)
    axes[1].plot([1, 2], label="my line")
    legend = axes[1].legend()
    finished.plot.cwnd(axes[0])
    assert_fits(figure)
    assert (axes[1].get_title(), axes[1].title.get_fontsize(), axes[1].get_legend()) == ("mine", 13, legend)


@pytest.mark.parametrize(
    ("low", "high"), [(0.01, 1), (20, 900), (12, 14), (3, 4), (1e-4, 1), (99, 101), (1, 1e9), (0.011, 0.0125), (7, 70)]
)
def test_a_logarithmic_axis_has_two_round_numbers_or_more_and_not_too_many(low: float, high: float) -> None:
    found = round_numbers(low, high)
    assert 2 <= len(found) <= 10
    assert all(low * 0.999 <= x <= high * 1.001 for x in found)
    assert found == sorted(set(found))


def test_a_wrapped_text_fits_and_keeps_its_words_or_else_its_unit() -> None:
    text = "head-of-line delay, 95th percentile (ms)"
    for room in (60, 90, 120, 250):
        lines = wrapped(text, 8, room).split("\n")
        assert len(lines) <= 3
        assert all(width(line, 8) <= room for line in lines)
        assert " ".join(lines) == text or (room == 60 and lines[-1].endswith("(ms)"))
    address = "[2001:db8:1234:5678:9abc:def0]:40000"
    assert wrapped(address, 8, 80).replace("\n", "") == address
    assert wrapped("rate in $10^6$ bit/s", 8, 20) == "rate in $10^6$ bit/s"


def test_the_letters_of_a_figure_are_no_smaller_than_they_have_to_be(finished: ab.Run) -> None:
    for wide, points in (("88 mm", 8.0), ("180 mm", 10.0)):
        ax = finished.plot.cwnd(width=wide)
        ax.figure.figure.draw_without_rendering()
        assert ax.yaxis.label.get_fontsize() == points
        assert ax.get_ylabel() == "congestion window (kB)"
        assert style.size({"width": wide})[0] == pytest.approx(ax.figure.figure.get_size_inches()[0])
