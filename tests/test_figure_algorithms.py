"""The colours, hatches and markers of algorithms: one table, and one look for a name wherever it is drawn."""

import itertools
import json

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from matplotlib.container import BarContainer
from matplotlib.figure import Figure
from matplotlib.markers import MarkerStyle

import anabranch as ab
from anabranch import _core
from anabranch.plots.algorithms import ALGORITHMS, HATCHES, Appearance, appearances, kind_of, luminance

REGISTRY = {kind: [entry["name"] for entry in entries] for kind, entries in json.loads(_core.registry()).items()}
PLACE = "python/anabranch/plots/algorithms.py"
NO_ALGORITHMS = {"middlebox", "link"}
TOGETHER = 6
"""The first ones of a kind, which a figure shows together most often."""
GREY = 0.06
DISTANCE = 10.0
"""Between colours in CIE L*a*b*: what people with a colour deficiency tell apart in bars."""
DEFICIENCIES = {
    "none": np.eye(3),
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
"""What they make of linear RGB: Machado, Oliveira and Fernandes, IEEE TVCG 15(6), 2009, severity 1."""


def lab(colour: str, deficiency: str) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    values = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)
    seen = np.clip(np.asarray(DEFICIENCIES[deficiency]) @ linear, 0, 1)
    to_xyz = [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
    xyz = np.asarray(to_xyz) @ seen / [0.95047, 1.0, 1.08883]
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def free(kind: str) -> Appearance:
    """An appearance that no algorithm of a kind has, and that differs from all of them for everyone."""
    entries = list(ALGORITHMS.get(kind, {}).values())
    colours = dict.fromkeys(entry.colour for table in ALGORITHMS.values() for entry in table.values())
    markers = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p", "h", "*", "d", "8", "H", "x", "+", "1", "2", "3", "4")
    marker = next(marker for marker in markers if all(marker != entry.marker for entry in entries))
    return next(
        Appearance(colour, hatch, marker)
        for hatch in HATCHES
        for colour in colours
        if all(entry.hatch != hatch or apart(entry.colour, colour) for entry in entries)
    )


def apart(one: str, other: str) -> bool:
    """Whether everyone tells two colours apart, also in grey print."""
    return distance(one, other) >= DISTANCE and abs(luminance(one) - luminance(other)) >= GREY


def distance(one: str, other: str) -> float:
    """Between two colours, for those who tell them apart worst."""
    return min(float(np.linalg.norm(lab(one, who) - lab(other, who))) for who in DEFICIENCIES)


def test_what_is_proposed_for_a_new_algorithm_is_free() -> None:
    for kind, entries in ALGORITHMS.items():
        found = free(kind)
        assert found.marker not in {entry.marker for entry in entries.values()}
        assert all(entry.hatch != found.hatch or apart(entry.colour, found.colour) for entry in entries.values())


def test_every_algorithm_of_the_registry_has_a_colour_a_hatch_and_a_marker() -> None:
    for kind in REGISTRY.keys() - NO_ALGORITHMS:
        assert kind in ALGORITHMS, (
            f"a new kind: give {kind!r} a table of its own in python/anabranch/plots/algorithms.py"
        )
        missing = [name for name in REGISTRY[kind] if name not in ALGORITHMS[kind]]
        assert not missing, (
            f"{kind} {', '.join(missing)}: add a line to ALGORITHMS in {PLACE}, with a pair of colour and hatch and a "
            f"marker that no other algorithm of the kind has, such as {free(kind)}"
        )
        gone = [name for name in ALGORITHMS[kind] if name not in REGISTRY[kind]]
        assert not gone, f"{kind} {', '.join(gone)}: no longer in the registry, take out of ALGORITHMS"


@pytest.mark.parametrize("kind", list(ALGORITHMS))
def test_no_two_of_a_kind_look_the_same(kind: str) -> None:
    entries = ALGORITHMS[kind].values()
    assert len({(entry.colour, entry.hatch) for entry in entries}) == len(entries)
    assert len({entry.marker for entry in entries}) == len(entries)
    assert all(entry.hatch in HATCHES and MarkerStyle(entry.marker) for entry in entries)
    assert len({(entry.colour, entry.dashes) for entry in entries}) == len(entries)


@pytest.mark.parametrize("kind", list(ALGORITHMS))
def test_the_first_of_a_kind_are_told_apart_in_grey(kind: str) -> None:
    first = {name: ALGORITHMS[kind][name] for name in REGISTRY[kind][:TOGETHER]}
    for (one, a), (other, b) in itertools.combinations(first.items(), 2):
        apart = abs(luminance(a.colour) - luminance(b.colour))
        assert apart >= GREY or a.hatch != b.hatch, f"{one} and {other} are {apart:.3f} apart, with the same hatch"


@pytest.mark.parametrize("kind", list(ALGORITHMS))
@pytest.mark.parametrize("deficiency", list(DEFICIENCIES))
def test_those_with_the_same_hatch_are_told_apart_with_a_colour_deficiency(kind: str, deficiency: str) -> None:
    for (one, a), (other, b) in itertools.combinations(ALGORITHMS[kind].items(), 2):
        if a.hatch == b.hatch:
            apart = float(np.linalg.norm(lab(a.colour, deficiency) - lab(b.colour, deficiency)))
            assert apart >= DISTANCE, f"{one} and {other} are {apart:.1f} apart"


def test_an_algorithm_looks_the_same_whatever_stands_beside_it() -> None:
    for kind, names in REGISTRY.items():
        if kind in NO_ALGORITHMS:
            continue
        for count in range(1, len(names) + 1):
            assert appearances(names[:count], kind) == [ALGORITHMS[kind][name] for name in names[:count]]
    own = appearances(["cubic", "mine", "bbr", "another"], "connection.controller")
    assert [own[0], own[2]] == [ALGORITHMS["controller"][name] for name in ("cubic", "bbr")]
    assert len({(one.colour, one.hatch) for one in own}) == 4


def test_values_that_are_no_algorithms_are_told_apart_too() -> None:
    many = appearances([str(i) for i in range(35)])
    assert len({(one.colour, one.hatch) for one in many}) == 35
    assert len(appearances([str(i) for i in range(100)])) == 100


@pytest.mark.parametrize(
    ("axis", "names", "kind"),
    [
        ("controller", ["my own"], "controller"),
        ("connection.0.scheduler", ["linux"], "scheduler"),
        ("recovery", ["none"], "judge"),
        ("judge", ["linux", "none"], "judge"),
        ("profile", ["linux"], "profile"),
        ("sender", ["ecf", "TCP over Wi-Fi", "blest"], "scheduler"),
        ("path.1.delay", ["10 ms", "20 ms"], ""),
    ],
)
def test_the_kind_of_an_axis_is_that_of_its_key_or_else_of_its_values(axis: str, names: list[str], kind: str) -> None:
    assert kind_of(names, axis) == kind


def test_bars_and_lines_of_a_sweep_have_the_looks_of_their_algorithms() -> None:
    base = ab.Scenario.two_path("5 Mbit/s, 40 ms, loss 1 %", "2 Mbit/s, 10 ms", transfer="30 kB")
    names = ["min-rtt", "redundant", "ecf"]
    swept = ab.sweep(base, {"scheduler": names, "path.1.delay": ["10 ms", "20 ms"]}, seeds=2)
    wanted = [ALGORITHMS["scheduler"][name] for name in names]
    bars = swept.plot.over("path.1.delay", Figure().subplots(), kind="bars")
    groups = [container for container in bars.containers if container.get_label() in names]
    found = [(to_hex(group[0].get_facecolor()).upper(), group[0].get_hatch() or "") for group in groups]
    assert found == [(one.colour, one.hatch) for one in wanted]
    lines = swept.plot.over("path.1.delay", Figure().subplots(), kind="lines")
    drawn = [container[0] for container in lines.containers]
    assert [(line.get_color(), line.get_marker()) for line in drawn] == [(one.colour, one.marker) for one in wanted]
    alone = swept.plot.cdf(ax=Figure().subplots(), by="scheduler", where={"path.1.delay": "10 ms"})
    assert [line.get_color() for line in alone.lines] == [one.colour for one in wanted]
    assert len({line.get_linestyle() for line in alone.lines}) == 2


def test_the_hatch_of_a_bar_is_seen_on_its_colour() -> None:
    for entries in ALGORITHMS.values():
        for entry in entries.values():
            assert abs(luminance(entry.ink) - luminance(entry.colour)) > 0.1 or not entry.hatch, entry
    assert Appearance("#000000", "////").ink == "#FFFFFF"


def test_intervals_inside_dark_bars_have_a_light_rim_and_cubic_and_bbr_differ_by_hatch() -> None:
    from anabranch.plots.sweep import over

    names = ("cubic", "bbr")
    frame = pd.DataFrame(
        [{"scheduler": "ecf", "controller": name, "mean": 9.0, "low": 8.0, "high": 10.0} for name in names]
    )
    ax = over(frame, "scheduler", Figure().subplots(), by=("controller",), kind="bars")
    for bars in ax.containers:
        if isinstance(bars, BarContainer):
            assert bars.errorbar is not None
            assert all(lines.get_path_effects() for lines in bars.errorbar.lines[2])
    hatches = {ALGORITHMS["controller"][name].hatch for name in names}
    assert len(hatches) == 2
