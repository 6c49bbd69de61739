"""Figures of a sweep: which axis lies below, which make lines, what is drawn."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Unpack

from anabranch.measures import table as measures
from anabranch.plots import axis
from anabranch.plots.style import Look
from anabranch.plots.wording import called, renamed
from anabranch.sentences.nearest import hint
from anabranch.sweeps.timed import COMPLETION, WHY, only_timed, timed_cells

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from anabranch.sweeps.data import SweepData

LINES = 14
"""Of a figure at most."""


@dataclass(frozen=True)
class SweepPlots:
    """Figures of a sweep; each method draws into `ax`, or into a new figure, and returns the axes.

    ``title=False``, ``width="88 mm"``, ``height="60 mm"`` fit a paper; `anabranch.plots.save` writes them.
    """

    sweep: "SweepData"

    def over(
        self,
        x: str | None = None,
        ax: "Axes | None" = None,
        *,
        measure: str = "goodput_mbps",
        by: str | Sequence[str] | None = None,
        where: Mapping[str, Any] | None = None,
        kind: str = "",
        **look: Unpack[Look],
    ) -> "Axes":
        """Means of a measure with their 95 % intervals over an axis: lines over quantities, bars over names.

        Parameters
        ----------
        x : str, optional
            The axis; if not given that of quantities with the most values, or else the last one.
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given.
        measure : str
            A column of ``sweep.runs``.
        by : str or sequence of str, optional
            Axes whose combinations are lines or bars; all others if not given.
        where : mapping, optional
            Only these values of other axes: ``{"path.1.delay": "10 ms"}``.
        kind : str
            ``"lines"`` or ``"bars"``, whatever the values are.
        **look
            ``title``, ``width``, ``height``; ``rename`` and ``label``, such as ``rename={"cubic": "CUBIC"}`` and
            ``label={"path.1.delay": "delay of the second path (ms)"}``.
        """
        from anabranch.plots.sweep import over

        x = default_axis(self.sweep) if x is None else x
        means = without(self.sweep, self.sweep.means(measure), measure)
        frame = chosen(self.sweep, means, where)
        by = groups(self.sweep, x, by, where)
        left = [name for name in self.sweep.axes if name != x and name not in by and name not in (where or {})]
        if left:
            raise ValueError(
                f"axes neither in `by` nor in `where`: {', '.join(left)}; name each in one of them, so that its values "
                "are not averaged"
            )
        return over(frame, x, ax, by=by, measure=measure, kind=kind, heading=heading(measure, where, look), **look)

    def cdf(
        self,
        measure: str = "goodput_mbps",
        ax: "Axes | None" = None,
        *,
        by: str | Sequence[str] | None = None,
        where: Mapping[str, Any] | None = None,
        **look: Unpack[Look],
    ) -> "Axes":
        """Distribution of a measure over the runs: which share of them has at most so much.

        Parameters
        ----------
        measure : str
            A column of ``sweep.runs``; or ``"rbd"``, ``"reorder_density"``: then of packets, not of runs.
        ax, where, **look
            As for `over`.
        by : str or sequence of str, optional
            Axes whose combinations are lines; all if not given. Values of other axes are taken together.
        """
        from anabranch.plots.sweep import cdf

        dense = measure in {"rbd", "reorder_density"}
        if not dense:
            self.sweep.means(measure)  # says which measures there are
        frame = self.sweep.distribution(measure) if dense else without(self.sweep, self.sweep.runs, measure)
        by = groups(self.sweep, None, by, where)
        return cdf(
            chosen(self.sweep, frame, where), ax, by=by, measure=measure, heading=heading(measure, where, look), **look
        )

    def over_time(
        self,
        measure: str = "throughput",
        ax: "Axes | None" = None,
        *,
        by: str | Sequence[str] | None = None,
        where: Mapping[str, Any] | None = None,
        **look: Unpack[Look],
    ) -> "Axes":
        """Mean over the runs in time with its 95 % interval as a band, to the end of the shortest run.

        Needs a sweep that keeps series: ``ab.sweep(..., series=200)``, or ``series = 200`` in its file.

        Parameters
        ----------
        measure : str
            ``"throughput"``, ``"cwnd"``, ``"ooo_buffer"`` ... of all subflows together; ``"srtt"`` with
            ``"subflow"`` in `by`.
        ax, where, **look
            As for `over`.
        by : str or sequence of str, optional
            Axes whose combinations are lines; all if not given. ``"subflow"`` may be among them.
        """
        from anabranch.plots.sweep import bands
        from anabranch.sweeps.time import means

        series = self.sweep.series
        if not len(series):
            raise ValueError(
                "this sweep kept no series over time; make it with series=200, or `series = 200` in its file"
            )
        by = groups(self.sweep, None, by, where, more=("subflow", "connection"))
        frame = means(chosen(self.sweep, series, where), by, measure)
        return bands(frame, ax, by=by, measure=measure, heading=heading(measure, where, look), **look)


def default_axis(sweep: "SweepData") -> str:
    """The axis to lie below: of quantities the one with the most values, or else the last."""
    if not sweep.axes:
        raise ValueError("a sweep without axes has no horizontal axis; `cdf` and `over_time` draw its runs")
    scales = {name: axis.scale([point.label for point in points]) for name, points in sweep.plan.axes.items()}
    numeric = [name for name, scale in scales.items() if scale.numeric and len(scale.places) > 1]
    return max(numeric, key=lambda name: len(scales[name].places)) if numeric else sweep.axes[-1]


def chosen(sweep: "SweepData", frame: "pd.DataFrame", where: Mapping[str, Any] | None) -> "pd.DataFrame":
    """Rows of `frame` with the values of `where`."""
    for name, value in (where or {}).items():
        known = [str(point.label) for point in sweep.plan.axes.get(name, ())]
        if not known:
            raise ValueError(f"no axis {name!r}; axes: {', '.join(sweep.axes) or 'none'}{hint(name, sweep.axes)}")
        if str(value) not in known:
            raise ValueError(f"{name} has no value {value!r}; values: {', '.join(known)}{hint(str(value), known)}")
        frame = frame[frame[name].astype(str) == str(value)]
    return frame


def groups(
    sweep: "SweepData",
    x: str | None,
    by: str | Sequence[str] | None,
    where: Mapping[str, Any] | None,
    more: Sequence[str] = (),
) -> list[str]:
    """The axes that tell lines apart."""
    names = [by] if isinstance(by, str) else by
    if names is None:
        names = [name for name in sweep.axes if name != x and name not in (where or {})]
    for name in [*names, *([] if x is None else [x])]:
        if name not in sweep.axes and name not in more:
            raise ValueError(f"no axis {name!r}; axes: {', '.join(sweep.axes) or 'none'}{hint(name, sweep.axes)}")
    count = 1
    for name in names:
        count *= 1 if name in (where or {}) else len(sweep.plan.axes.get(name, ()))
    if count > LINES:
        raise ValueError(
            f"{count} lines are too many for a figure, which has at most {LINES}; name fewer axes in `by`, or single "
            "values in `where`"
        )
    return [*names]


def heading(measure: str, where: Mapping[str, Any] | None, look: Look | None = None) -> str:
    """Title of a figure: the measure, and of what part of the sweep.

    >>> heading("goodput_mbps", {"recovery": "none", "path.1.delay": "10 ms"})
    'Goodput, recovery none, path.1.delay 10 ms'
    """
    label = (look or {}).get("label")
    words = measures.headline(called(measure, measures.label(measure), label))
    return ", ".join([words, *part(where or {}, look or {})])


def part(where: Mapping[str, Any], look: Look) -> list[str]:
    """Of what part of a sweep a figure or a panel is: an axis and its value each."""
    return [
        f"{called(name, name, look.get('label'))} {renamed(str(value), look.get('rename'))}"
        for name, value in where.items()
    ]


def without(sweep: "SweepData", frame: "pd.DataFrame", measure: str) -> "pd.DataFrame":
    """`frame` without the rows of timed cells, if `measure` says nothing of these.

    Raises
    ------
    ValueError
        If every cell is timed.
    """
    if measure != COMPLETION:
        return frame
    if only_timed(sweep.plan):
        raise ValueError(WHY)
    timed = timed_cells(sweep.plan)
    if not any(timed):
        return frame
    names = sweep.axes
    out = {_labels(cell.labels, names) for cell, one in zip(sweep.plan.cells, timed, strict=True) if one}
    rows: list[dict[Any, Any]] = frame[names].to_dict("records")
    return frame[[_labels(row, names) not in out for row in rows]]


def _labels(labels: Any, names: list[str]) -> tuple[str, ...]:
    return (*(str(labels[name]) for name in names),)
