"""Where in a frame the runs of a plan stand, and what its cells are called."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from anabranch.sweeps.plan import PlanData

if TYPE_CHECKING:
    import pandas as pd


def labels_frame(plan: PlanData) -> "pd.DataFrame":
    """One row per cell: what each axis is called there. Names of an axis that are not all of one kind become text."""
    import numpy as np
    import pandas as pd

    shape = [len(points) for points in plan.axes.values()]
    place = np.unravel_index(np.arange(len(plan.cells)), shape) if shape else ()
    columns = {}
    for (name, points), index in zip(plan.axes.items(), place, strict=True):
        labels = [point.label for point in points]
        if len(set(map(type, labels))) > 1:
            labels = [str(label) for label in labels]
        columns[name] = pd.Series(labels).take(index).to_numpy()
    return pd.DataFrame(columns, index=range(len(plan.cells)))


class Places:
    """Which rows of `frame` belong to `plan`, in its order: cell by cell, seed by seed.

    Attributes
    ----------
    row, cell, seed : arrays of int
        Position in the frame, number of the cell, number of the seed.
    """

    def __init__(self, plan: PlanData, frame: "pd.DataFrame", parts: Sequence[str] = ()) -> None:
        import numpy as np
        import pandas as pd

        number = {cell.sha256: i for i, cell in enumerate(plan.distinct)}
        seeds = len(plan.seeds)
        scenario = frame["scenario_sha256"].astype("category").cat
        cell = np.array([number.get(sha256, -1) for sha256 in scenario.categories], int)[scenario.codes.to_numpy()]
        seed = pd.Index(plan.seeds).get_indexer(pd.Index(frame["seed"]))
        row = np.flatnonzero((cell >= 0) & (seed >= 0))
        slot = (cell * seeds + seed)[row]
        # Of a run that was made again, the later row counts.
        again = pd.DataFrame({"slot": slot} | {name: frame[name].to_numpy()[row] for name in parts}).duplicated(
            keep="last"
        )
        row, slot = row[~again], slot[~again]
        order = np.argsort(slot, kind="stable")
        row, slot = row[order], slot[order]
        # A cell that is the same scenario as another one has the same rows.
        wanted = (
            np.array([number[cell.sha256] for cell in plan.cells], int)[:, None] * seeds + np.arange(seeds)
        ).ravel()
        first, end = (np.searchsorted(slot, wanted, side) for side in ("left", "right"))
        count = end - first
        within = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
        self.row = row[np.repeat(first, count) + within]
        self.cell, self.seed = np.divmod(np.repeat(np.arange(len(wanted)), count), seeds)


def named(plan: PlanData, places: Places, rows: "pd.DataFrame") -> "pd.DataFrame":
    """`rows`, which are those of `places`, after the columns of the axes and ``seed``."""
    import numpy as np

    return labelled(plan, places.cell, np.array(plan.seeds)[places.seed], rows)


def labelled(plan: PlanData, cells: Any, seeds: Any, rows: "pd.DataFrame") -> "pd.DataFrame":
    """`rows` after the columns of the axes and ``seed``."""
    import pandas as pd

    for name in rows.columns:
        if not pd.api.types.is_numeric_dtype(rows[name]):
            rows = rows.assign(**{name: rows[name].astype(str)})
    head = labels_frame(plan).take(cells).assign(seed=seeds).reset_index(drop=True)
    rows = rows[[name for name in rows.columns if name not in head.columns]]
    return pd.concat([head, rows.reset_index(drop=True)], axis=1)
