"""Figures of sweeps: a measure over an axis, distributions, and means over time, each with its intervals."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

from anabranch.measures import table as measures
from anabranch.plots import axis, places, style, ticks
from anabranch.plots.algorithms import Appearance, appearances
from anabranch.plots.legends import legend
from anabranch.plots.wording import called, renamed

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from matplotlib.axes import Axes
    from numpy.typing import NDArray


def over(
    frame: "pd.DataFrame",
    x: str,
    ax: "Axes | None" = None,
    *,
    by: Sequence[str] = (),
    measure: str = "goodput_mbps",
    kind: str = "",
    heading: str = "",
    **look: Unpack[style.Look],
) -> "Axes":
    """Means with their intervals over the values of one axis: a line where these are quantities, else bars.

    Parameters
    ----------
    frame : pandas.DataFrame
        ``sweep.means(measure)``, or of the same columns: axes, ``mean``, ``low``, ``high``.
    x : str
        The axis.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if not given.
    by : sequence of str
        Axes whose combinations are lines, or bars beside one another.
    measure : str
        Names the vertical axis.
    kind : str
        ``"lines"`` or ``"bars"``, whatever the values are.
    heading : str
        Title of the figure.
    **look
        ``title``, ``width``, ``height``: see `Look`.
    """
    ax = style.begin(ax, look)
    frame = _clipped(frame, measure)
    values = list(dict.fromkeys(frame[x]))
    scale = axis.scale(values)
    groups = _groups(frame, by, look)
    lines = kind == "lines" or (kind != "bars" and scale.numeric and len(values) > 1)
    for i, group in enumerate(groups):
        found = group.rows.drop_duplicates(x).set_index(x).reindex(values)
        aside = i - (len(groups) - 1) / 2
        if lines:
            _line(ax, scale, found, group, aside)
        else:
            _bars(ax, found, group, aside, 0.8 / len(groups))
    if lines:
        _limits(ax, scale, frame)
    else:
        ax.set_xlim(-0.6, len(scale.names) - 0.4)
    ax.set_ylim(bottom=min(0.0, ax.get_ylim()[0]))
    _place(ax, scale, values, look, lines=lines)
    # The names of bars may have their units themselves.
    bare = lines or scale.names != tuple(map(str, values))
    usual = f"{x} ({scale.unit})" if scale.unit and bare else x
    return _finish(
        ax, heading, called(x, usual, look.get("label")), _called(measure, look), look, _about(frame, by, look)
    )


def _clipped(frame: "pd.DataFrame", measure: str) -> "pd.DataFrame":
    """Means and intervals in the unit of the axis; the intervals end where no value can be."""
    scaled = {name: measures.factor(measure) * frame[name] for name in ("mean", "low", "high")}
    low, high = measures.bounds(measure)
    return frame.assign(**scaled | {name: scaled[name].clip(low, high) for name in ("low", "high")})


def _line(ax: "Axes", scale: axis.Scale, found: "pd.DataFrame", group: "_Group", aside: float) -> None:
    """A line whose intervals stand a little beside those of the others."""
    from matplotlib.transforms import ScaledTranslation

    beside = ScaledTranslation(_ASIDE * aside / 72, 0, ax.figure.figure.dpi_scale_trans)
    ax.errorbar(
        scale.places,
        found["mean"],
        yerr=_errors(found),
        label=group.name,
        color=group.look.colour,
        marker=group.look.marker,
        markersize=0.4 * places.letters(ax),
        linestyle=group.look.dashes,
        linewidth=places.thin(ax),
        elinewidth=0.8,
        capsize=2,
        transform=ax.transData + beside,
    )


def _limits(ax: "Axes", scale: axis.Scale, frame: "pd.DataFrame") -> None:
    """Limits that hold all lines: matplotlib does not find them where lines stand aside."""
    import numpy as np

    values = frame[["mean", "low", "high"]].to_numpy(float)
    if np.isfinite(values).any():
        low, high = min(0.0, float(np.nanmin(values))), max(0.0, float(np.nanmax(values)))
        ax.set_ylim(1.05 * low, 1.05 * high if high > low else 1.0)
    first, last = min(scale.places), max(scale.places)
    if scale.logarithmic:
        room = (last / first) ** 0.05
        ax.set_xscale("log")
        ax.set_xlim(first / room, last * room)
    else:
        room = 0.05 * (last - first) or 0.5
        ax.set_xlim(first - room, last + room)


_ASIDE = 2.5
"""Points from the interval of one line to that of the next at the same place."""


def _bars(ax: "Axes", found: "pd.DataFrame", group: "_Group", aside: float, wide: float) -> None:
    from matplotlib.patheffects import withStroke

    bars = ax.bar(
        [place + aside * wide for place in range(len(found))],
        found["mean"],
        wide * 0.92,
        yerr=_errors(found),
        error_kw={"elinewidth": 1.0, "ecolor": "#333333", "capsize": 2},
        label=group.name,
        **group.look.bar(),
    )
    if bars.errorbar is not None:
        # A light rim keeps the interval visible inside a dark bar.
        for lines in bars.errorbar.lines[2]:
            lines.set_path_effects([withStroke(linewidth=3.0, foreground="white")])


def cdf(
    frame: "pd.DataFrame",
    ax: "Axes | None" = None,
    *,
    by: Sequence[str] = (),
    measure: str = "goodput_mbps",
    heading: str = "",
    **look: Unpack[style.Look],
) -> "Axes":
    """Share of the runs in which a measure is at most so large, a line for each combination of the axes `by`.

    Parameters
    ----------
    frame : pandas.DataFrame
        ``sweep.runs``; or ``sweep.distribution(...)``, of which each value counts by its ``share``.
    ax, by, measure, heading, **look
        As for `over`.
    """
    import numpy as np

    ax = style.begin(ax, look)
    weighted = measure not in frame.columns
    column = "value" if weighted else measure
    for group in _groups(frame, by, look):
        kept = group.rows[np.isfinite(group.rows[column].to_numpy(float))]
        values = measures.factor(measure) * kept[column].to_numpy(float)
        weights = kept["share"].to_numpy(float) if weighted else np.ones(len(values))
        if len(values):
            ax.ecdf(values, weights, label=group.name, **_stroke(ax, group))
    ax.set_ylim(0, 1.02)
    if weighted:
        ax.margins(x=0)
        ax.autoscale_view()
    share = called("share", f"share of {'packets' if weighted else 'runs'}", look.get("label"))
    return _finish(ax, heading, _called(measure, look), share, look, _about(frame, by, look))


def bands(
    frame: "pd.DataFrame",
    ax: "Axes | None" = None,
    *,
    by: Sequence[str] = (),
    measure: str = "throughput",
    heading: str = "",
    **look: Unpack[style.Look],
) -> "Axes":
    """Means over the runs in time, each with its interval as a band.

    Parameters
    ----------
    frame : pandas.DataFrame
        Of `anabranch.sweeps.time.means`: the axes `by`, ``t``, ``mean``, ``low``, ``high``.
    ax, by, measure, heading, **look
        As for `over`.
    """
    ax = style.begin(ax, look)
    least, most = measures.bounds(measure)
    for group in _groups(frame, by, look):
        t, mean, low, high = (group.rows[column].to_numpy(float) for column in ("t", "mean", "low", "high"))
        ax.fill_between(
            t, low.clip(least, most), high.clip(least, most), color=group.look.colour, alpha=0.2, linewidth=0
        )
        ax.plot(t, mean, label=group.name, **_stroke(ax, group))
    ax.margins(x=0)
    ax.set_xlim(left=0)
    ax.set_ylim(bottom=0)
    below = called("time", measures.label("t"), look.get("label"))
    return _finish(ax, heading, below, _called(measure, look), look, _about(frame, by, look))


class _Group(NamedTuple):
    """What one line, or one bar of each group, shows."""

    name: str
    look: Appearance
    rows: "pd.DataFrame"


def _stroke(ax: "Axes", group: _Group) -> "dict[str, Any]":
    """Arguments of a line without points."""
    return {"color": group.look.colour, "linestyle": group.look.dashes, "linewidth": places.thin(ax)}


def _groups(frame: "pd.DataFrame", by: Sequence[str], look: style.Look) -> list[_Group]:
    """Rows by combination of `by`, in the order in which they come, with what these are called, and how drawn."""
    if not by:
        return [_Group("", appearances([""])[0], frame)]
    alone = bool(_about(frame, by, look))
    parts = list(frame.groupby(list(by), sort=False))
    # Of several axes it is their combinations that are told apart.
    texts = [", ".join(map(str, key)) for key, _ in parts]
    looks = appearances(texts, by[0] if len(by) == 1 else "")
    names = [
        ", ".join(label(name, value, alone, look) for name, value in zip(by, key, strict=True)) for key, _ in parts
    ]
    return [_Group(name, one, rows) for name, one, (_, rows) in zip(names, looks, parts, strict=True)]


def _about(frame: "pd.DataFrame", by: Sequence[str], look: style.Look) -> str:
    """What a legend is headed with: the only axis, if its values do not say what they are."""
    if len(by) != 1 or not any(_mute(value) for value in frame[by[0]].unique()):
        return ""
    return called(by[0], by[0], look.get("label"))


def label(axis_name: str, value: object, alone: bool = False, look: style.Look | None = None) -> str:
    """What a legend calls a value: a name says what it is; a number, if it is not `alone`, does not.

    >>> label("controller", "cubic"), label("path.1.delay", "10 ms")
    ('cubic', 'path.1.delay 10 ms')
    """
    look = look or {}
    shown = renamed(str(value), look.get("rename"))
    said = _mute(value) and not alone and shown == str(value)
    return f"{called(axis_name, axis_name, look.get('label'))} {shown}" if said else shown


def _called(measure: str, look: style.Look) -> str:
    return called(measure, measures.label(measure), look.get("label"))


def _mute(value: object) -> bool:
    return axis.scale([value]).numeric or str(value) in {"True", "False", "true", "false"}


def _errors(found: "pd.DataFrame") -> "list[NDArray[np.float64]] | None":
    import numpy as np

    mean, low, high = (found[column].to_numpy(float) for column in ("mean", "low", "high"))
    # NaN: nothing is drawn, not even the caps of an interval without width.
    # A mean of equal values may pass its bound by a rounding.
    errors = [np.maximum(mean - low, 0), np.maximum(high - mean, 0)]
    return None if all(np.isnan(error).all() for error in errors) else errors


def _place(ax: "Axes", scale: axis.Scale, values: Sequence[object], look: style.Look, *, lines: bool) -> None:
    """Ticks at the values; of many quantities, at round numbers."""
    if not (lines and scale.numeric and len(scale.names) > _TICKS):
        rename = look.get("rename") or {}
        # A value is known by what the sweep calls it, and by what stands at its tick: 10 ms and 10.
        shown = zip(map(str, values), scale.names, strict=True)
        names = [renamed(value if value in rename else name, rename) for value, name in shown]
        ticks.named(ax, scale.places if lines else range(len(names)), names)
        ax.xaxis.minorticks_off()
    elif scale.logarithmic:
        ticks.logarithmic(ax.xaxis)


_TICKS = 9
"""Values of a numeric axis that are each named."""


def _finish(ax: "Axes", heading: str, xlabel: str, ylabel: str, look: style.Look, about: str) -> "Axes":
    title = heading if look.get("title", True) else ""
    style.name(ax, title, xlabel, ylabel)
    legend(ax, title, about)
    return ax
