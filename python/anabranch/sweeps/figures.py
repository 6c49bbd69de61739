"""The figures of a sweep as files: which there are, what each shows, one panel for each value of what is left over."""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Unpack

from anabranch.measures import units
from anabranch.plots import axis, legends, places, style
from anabranch.plots.files import octets
from anabranch.plots.wording import called
from anabranch.sweeps import repeats
from anabranch.sweeps.plots import SweepPlots, default_axis, groups, heading, part
from anabranch.sweeps.timed import COMPLETION, only_timed, timed_cells

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from anabranch.sweeps.data import SweepData

CDF = "cdf"
OVER_TIME = "over_time"
_MEASURES = ("goodput_mbps", "completion_s", "ooo_ratio", "ooo_buffer_max_bytes", "hol_delay_p95_ms")
_PANELS = 9
_BESIDE = 7
"""Values of an axis that lines or bars of one panel show."""
_FEW = 5
"""Runs in a cell below which a distribution says nothing."""
_ROW = 2.6
"""Height of a row of panels in inches."""
_PANEL = 2.7
"""Width of a panel in inches."""
_ASPECT = 1.3
"""Width of a panel by its height, if there is a choice."""


@dataclass(frozen=True)
class View:
    """How a sweep is cut up for a figure.

    Attributes
    ----------
    x : str, optional
        The axis below; None if there is none.
    by : tuple of str
        Axes whose combinations are lines or bars.
    panels : tuple of mappings
        Values of the other axes, one panel each.
    left_out : int
        Panels there was no room for.
    """

    x: str | None
    by: tuple[str, ...]
    panels: tuple[Mapping[str, Any], ...]
    left_out: int


def view(
    sweep: "SweepData",
    x: str | None = None,
    by: str | Sequence[str] | None = None,
    where: Mapping[str, Any] | None = None,
    *,
    below: bool = True,
) -> View:
    """Cut `sweep` up: what is not given is chosen.

    Parameters
    ----------
    sweep : SweepData
        What is drawn.
    x, by, where
        As for `SweepPlots.over`.
    below : bool
        Whether the figure has an axis of the sweep below.
    """
    x = (default_axis(sweep) if x is None and sweep.axes else x) if below else None
    rest = [name for name in sweep.axes if name != x and name not in (where or {})]
    if by is None:
        # What is compared stands in one panel, and as much of it as fits.
        fit = [name for name in rest if len(sweep.plan.axes[name]) <= _BESIDE]
        by = [max(fit, key=lambda name: len(sweep.plan.axes[name]))] if fit else []
    names = groups(sweep, x, by, where)
    rest = [name for name in rest if name not in names]
    values = [[(name, point.label) for point in sweep.plan.axes[name]] for name in rest]
    panels = [dict(where or {}) | dict(found) for found in itertools.product(*values)]
    return View(x, tuple(names), tuple(panels[:_PANELS]), max(0, len(panels) - _PANELS))


def usual(sweep: "SweepData") -> list[str]:
    """Names of the figures of a report: what the runs have that is not all zero, and that differs."""
    import numpy as np

    found = []
    cubes = sweep.cubes(*_MEASURES)
    for name, cube in zip(_MEASURES, cubes, strict=True):
        if np.isfinite(cube).any() and (np.nanmax(cube) > 0 or name == _MEASURES[0]):
            found.append(name)
    if len(sweep.plan.seeds) >= _FEW and sweep.axes and not (sweep.counted(cubes[0]).n < _FEW).all():
        found.append(CDF)
    if sweep.plan.options.series:
        found.append(OVER_TIME)
    if COMPLETION in found and only_timed(sweep.plan):
        found.remove(COMPLETION)
    return [name for name in found if sweep.axes or name == OVER_TIME]


def caption(sweep: "SweepData", name: str, cut: View) -> str:
    """What a figure shows, in a sentence or two."""
    found = list(sweep.intervals())
    same = [mean for mean in found if mean.identical]
    if same and len(same) == sum(mean.n > 0 for mean in found):
        runs, interval, but = repeats.said(1, max(mean.identical for mean in same)), "", ""
    else:
        seeds = len(sweep.plan.seeds)
        runs, interval = units.count(seeds, "run"), " with its 95 % interval" if seeds > 1 else ""
        but = " Cells of identical runs have no interval." if same and name != CDF else ""
    what = {
        CDF: f"Share of {runs} of each cell whose goodput is at most the value on the axis.",
        OVER_TIME: f"Throughput of all subflows: mean of {runs}{interval}, to the end of the shortest run.",
    }.get(name, f"Mean of {runs}{interval}.")
    if name == COMPLETION and any(timed_cells(sweep.plan)):
        but += " Timed transfers are left out: each ends when its given time is over."
    what += but
    more = f" {cut.left_out} more panels are left out; --where chooses other panels." if cut.left_out else ""
    return what + more


def image(
    sweep: "SweepData",
    name: str,
    form: str,
    *,
    x: str | None = None,
    by: str | Sequence[str] | None = None,
    where: Mapping[str, Any] | None = None,
    **look: Unpack[style.Look],
) -> bytes:
    """A figure as a file of `form`: ``svg``, ``png`` or ``pdf``, the same octets each time.

    Parameters
    ----------
    sweep : SweepData
        What is drawn.
    name : str
        A measure, ``"cdf"`` or ``"over_time"``.
    form : str
        ``svg``, ``png`` or ``pdf``.
    x, by, where
        As for `SweepPlots.over`; axes that are left over become panels.
    **look
        ``title``, ``width``, ``height``.
    """
    from matplotlib import style as looks

    with looks.context(["default", style.RC]):
        return octets(
            drawn(sweep, name, view(sweep, x, by, where, below=name not in {CDF, OVER_TIME}), look), form, 160
        )


def drawn(sweep: "SweepData", name: str, cut: View, look: style.Look) -> "Figure":
    """The figure `name` of `sweep`, cut up so."""
    from matplotlib.figure import Figure as Canvas

    from anabranch.plots import fit

    figure = Canvas(figsize=_size(cut, look), layout=fit.Fitted())
    if len(cut.panels) == 1:
        words: style.Look = {**_words(look), "title": look.get("title", True)}
        _draw(SweepPlots(sweep), figure.subplots(), name, cut, cut.panels[0], words)
    else:
        _grid(sweep, figure, name, cut, look)
    return figure


def _size(cut: View, look: style.Look) -> tuple[float, float]:
    wide, high = style.size(look)
    rows = math.ceil(len(cut.panels) / _columns(cut, wide, high, tall=bool(look.get("height"))))
    return wide, high if rows == 1 or look.get("height") else _ROW * rows + 0.7


def _columns(cut: View, wide: float, high: float, *, tall: bool) -> int:
    """Columns of panels: as many as fit beside each other; in a figure of a given height, so that panels are large."""
    count = len(cut.panels)
    if not tall:
        return min(count, max(1, round(wide / _PANEL)))
    return max(
        range(1, count + 1), key=lambda columns: min(wide / columns / _ASPECT, high / math.ceil(count / columns))
    )


def _words(look: style.Look) -> style.Look:
    """What of a look every panel is told."""
    return {"rename": look.get("rename"), "label": look.get("label")}


def _draw(plots: SweepPlots, ax: "Axes", name: str, cut: View, where: Mapping[str, Any], look: style.Look) -> None:
    match name:
        case "cdf":
            plots.cdf(ax=ax, by=cut.by, where=where, **look)
        case "over_time":
            plots.over_time(ax=ax, by=cut.by, where=where, **look)
        case _:
            plots.over(cut.x, ax, measure=name, by=cut.by, where=where, **look)


def _grid(sweep: "SweepData", figure: "Figure", name: str, cut: View, look: style.Look) -> None:
    """Panels with the same vertical axis, one title, one legend."""
    words = _words(look)
    columns = _columns(cut, *figure.get_size_inches(), tall=bool(look.get("height")))
    rows = math.ceil(len(cut.panels) / columns)
    axes = list(figure.subplots(rows, columns, sharex=name in {CDF, OVER_TIME}, sharey=True, squeeze=False).flat)
    fixed = [key for key in cut.panels[0] if all(panel[key] == cut.panels[0][key] for panel in cut.panels)]
    used = axes[: len(cut.panels)]
    top = 0.0
    for i, (ax, where) in enumerate(zip(used, cut.panels, strict=True)):
        _draw(SweepPlots(sweep), ax, name, cut, where, {**words, "title": False})
        own = part({key: value for key, value in where.items() if key not in fixed}, look)
        ax.set_title(", ".join(own), loc="left", fontsize=places.letters(ax))
        if i % columns:
            ax.set_ylabel("")
        if i + columns < len(used):
            ax.set_xlabel("")
        else:
            ax.tick_params(labelbottom=True)
        top = max(top, ax.get_ylim()[1])
    # Panels that share an axis also share the last limits that were set.
    used[0].set_ylim(top=top)
    if name == OVER_TIME:
        used[0].set_xlim(right=max(ax.dataLim.x1 for ax in used))
    for ax in axes[len(used) :]:
        ax.set_visible(False)
    for ax in used:
        legends.remove(ax)
    about = cut.by[0] if len(cut.by) == 1 and axis.scale([p.label for p in sweep.plan.axes[cut.by[0]]]).numeric else ""
    legends.shared(figure, places.letters(used[0]) - 1, called(about, about, look.get("label")) if about else "")
    if look.get("title", True):
        measure = {CDF: "goodput_mbps", OVER_TIME: "throughput"}.get(name, name)
        text = heading(measure, {key: cut.panels[0][key] for key in fixed}, look)
        figure.suptitle(text, x=0.01, ha="left", fontsize=places.letters(used[0]) + 2, fontweight="bold")
