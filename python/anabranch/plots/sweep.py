"""Figures of sweeps: a measure over an axis, distributions, and means over time, each with its intervals."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Unpack

from anabranch.plots import axis, style

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
    columns = ["mean", "low", "high"]
    frame = frame.assign(**{name: axis.factor(measure) * frame[name] for name in columns})
    values = list(dict.fromkeys(frame[x]))
    scale = axis.scale(values)
    groups = _groups(frame, by)
    lines = kind == "lines" or (kind != "bars" and scale.numeric and len(values) > 1)
    looks = style.shades([name for name, _ in groups])
    for i, ((name, rows), look_of) in enumerate(zip(groups, looks, strict=True)):
        found = rows.drop_duplicates(x).set_index(x).reindex(values)
        aside = i - (len(groups) - 1) / 2
        if lines:
            _line(ax, scale, found, name, look_of, aside)
        else:
            _bars(ax, found, name, look_of[0], aside, 0.8 / len(groups))
    _place(ax, scale, lines=lines)
    if lines:
        _limits(ax, scale, frame)
    ax.set_ylim(bottom=min(0.0, ax.get_ylim()[0]))
    xlabel = f"{x} ({scale.unit})" if lines and scale.unit else x
    return _finish(ax, heading, xlabel, axis.measure(measure), look, _about(frame, by))


def _line(
    ax: "Axes", scale: axis.Scale, found: "pd.DataFrame", name: str, look: tuple[str, str, str], aside: float
) -> None:
    """A line whose intervals stand a little beside those of the others."""
    from matplotlib.transforms import ScaledTranslation

    shade, marker, dashes = look
    beside = ScaledTranslation(_ASIDE * aside / 72, 0, ax.figure.figure.dpi_scale_trans)
    ax.errorbar(
        scale.places,
        found["mean"],
        yerr=_errors(found),
        label=name,
        color=shade,
        marker=marker,
        markersize=0.4 * style.letters(ax),
        linestyle=dashes,
        linewidth=style.thin(ax),
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
        ax.set_xlim(first / room, last * room)
    else:
        room = 0.05 * (last - first) or 0.5
        ax.set_xlim(first - room, last + room)


_ASIDE = 2.5
"""Points from the interval of one line to that of the next at the same place."""


def _bars(ax: "Axes", found: "pd.DataFrame", name: str, shade: str, aside: float, wide: float) -> None:
    ax.bar(
        [place + aside * wide for place in range(len(found))],
        found["mean"],
        wide * 0.92,
        yerr=_errors(found),
        error_kw={"elinewidth": 1.0, "ecolor": "#777777", "capsize": 2},
        color=shade,
        label=name,
    )


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
    groups = _groups(frame, by)
    for (name, rows), (shade, _, dashes) in zip(groups, style.shades([name for name, _ in groups]), strict=True):
        kept = rows[np.isfinite(rows["value" if weighted else measure].to_numpy(float))]
        values = axis.factor(measure) * kept["value" if weighted else measure].to_numpy(float)
        weights = kept["share"].to_numpy(float) if weighted else np.ones(len(values))
        if len(values):
            ax.ecdf(values, weights, color=shade, linestyle=dashes, linewidth=style.thin(ax), label=name)
    ax.set_ylim(0, 1.02)
    if weighted:
        ax.margins(x=0)
        ax.autoscale_view()
    return _finish(
        ax, heading, axis.measure(measure), f"share of {'packets' if weighted else 'runs'}", look, _about(frame, by)
    )


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
    groups = _groups(frame, by)
    for (name, rows), (shade, _, dashes) in zip(groups, style.shades([name for name, _ in groups]), strict=True):
        t, mean, low, high = (rows[column].to_numpy(float) for column in ("t", "mean", "low", "high"))
        ax.fill_between(t, low, high, color=shade, alpha=0.2, linewidth=0)
        ax.plot(t, mean, color=shade, linestyle=dashes, linewidth=style.thin(ax), label=name)
    ax.margins(x=0)
    ax.set_xlim(left=0)
    ax.set_ylim(bottom=0)
    return _finish(ax, heading, "time (s)", axis.measure(measure), look, _about(frame, by))


def _groups(frame: "pd.DataFrame", by: Sequence[str]) -> "list[tuple[str, pd.DataFrame]]":
    """Rows by combination of `by`, in the order in which they come, with what these are called."""
    if not by:
        return [("", frame)]
    alone = bool(_about(frame, by))
    return [
        (", ".join(label(name, value, alone) for name, value in zip(by, key, strict=True)), rows)
        for key, rows in frame.groupby(list(by), sort=False)
    ]


def _about(frame: "pd.DataFrame", by: Sequence[str]) -> str:
    """What a legend is headed with: the only axis, if its values do not say what they are."""
    return by[0] if len(by) == 1 and any(_mute(value) for value in frame[by[0]].unique()) else ""


def label(axis_name: str, value: object, alone: bool = False) -> str:
    """What a legend calls a value: a name says what it is; a number, if it is not `alone`, does not.

    >>> label("controller", "cubic"), label("path.1.delay", "10 ms")
    ('cubic', 'path.1.delay 10 ms')
    """
    return f"{axis_name} {value}" if _mute(value) and not alone else str(value)


def _mute(value: object) -> bool:
    return axis.scale([value]).numeric or str(value) in {"True", "False", "true", "false"}


def _errors(found: "pd.DataFrame") -> "list[NDArray[np.float64]] | None":
    import numpy as np

    mean, low, high = (found[column].to_numpy(float) for column in ("mean", "low", "high"))
    # NaN: nothing is drawn, not even the caps of an interval without width.
    errors = [mean - low, high - mean]
    return None if all(np.isnan(error).all() for error in errors) else errors


def _place(ax: "Axes", scale: axis.Scale, *, lines: bool) -> None:
    """Ticks at the values, their names broken or turned where they would overlap."""
    if lines and scale.logarithmic:
        ax.set_xscale("log")
        ax.minorticks_off()
    places = scale.places if lines else range(len(scale.names))
    if lines and scale.numeric and len(scale.names) > _TICKS:
        return
    names = scale.names
    points = style.letters(ax)
    each = style.room(ax) / max(1, len(names)) - 6
    if max(style.width(name, points) for name in names) > each:
        names = tuple(name.replace(" ", "\n").replace("-", "-\n") for name in names)
        points -= 1
    turned = max(style.width(part, points) for name in names for part in name.split("\n")) > each
    if turned:
        names = scale.names
    ax.set_xticks(
        list(places), names, fontsize=points, rotation=30 if turned else 0, ha="right" if turned else "center"
    )
    if not lines:
        ax.set_xlim(-0.6, len(names) - 0.4)


_TICKS = 9
"""Values of a numeric axis that are each named."""


def _finish(ax: "Axes", heading: str, xlabel: str, ylabel: str, look: style.Look, about: str) -> "Axes":
    wanted = heading if look.get("title", True) else ""
    while (
        style.width(wanted.split("\n")[-1], style.letters(ax) + 2) > style.room(ax) and ", " in wanted.split("\n")[-1]
    ):
        head, _, last = wanted.rpartition(", ")
        wanted = f"{head},\n{last}"
    style.name(ax, wanted, xlabel, ylabel, {"title": bool(wanted)})
    style.legend_above(ax, wanted, about)
    return ax
