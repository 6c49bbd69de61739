"""Plans and sweeps as users have them: with all that is made of them at hand."""

from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Self

from anabranch.execution.bar import bar
from anabranch.execution.progress import State
from anabranch.measures import units
from anabranch.scenario import Scenario
from anabranch.sweeps import document, store
from anabranch.sweeps.data import Folder, SweepData
from anabranch.sweeps.execute import execute
from anabranch.sweeps.plan import Axes, Options, PlanData, plan

if TYPE_CHECKING:
    import os

    import pandas as pd

    from anabranch.sweeps.plots import SweepPlots


class Plan(PlanData):
    """A sweep before it is run.

    Attributes
    ----------
    scenario : Scenario
        What all cells have in common.
    axes : mapping
        Points by axis.
    seeds : tuple of int
        The same for every cell.
    cells : tuple of Cell
        All combinations, the last axis changing fastest.
    options : Options
        What a run may take, and what is kept of it.
    precision : Precision, optional
        More seeds are added until this is reached.

    Examples
    --------
    >>> import anabranch as ab
    >>> base = ab.Scenario.two_path("5 Mbit/s, 100 ms", "2 Mbit/s, 10 ms", transfer="200 kB")
    >>> ab.Plan.of(base, {"mss": [700, 1400]}, seeds=2).run()
    <anabranch.Sweep 2 mss, 2 seeds: 4 runs>
    """

    @classmethod
    def of(
        cls,
        scenario: Scenario,
        axes: Axes,
        *,
        seeds: "int | str | Sequence[int]" = 10,
        timeout: float | None = None,
        memory: int | None = None,
        series: int = 0,
    ) -> Self:
        """Lay out a sweep and validate every cell; the parameters are those of `anabranch.sweep`."""
        return cls.around(plan(scenario, axes, seeds, Options(timeout, memory, series)))

    @classmethod
    def read(cls, path: "str | os.PathLike[str]") -> Self:
        """Read a sweep file and validate every cell."""
        return cls.around(document.read(path))

    @classmethod
    def around(cls, made: PlanData) -> Self:
        """The same with what is done with it at hand."""
        return cls(**{field.name: getattr(made, field.name) for field in fields(made)})

    def run(
        self,
        *,
        out: "str | os.PathLike[str] | None" = None,
        workers: int | None = None,
        client: Any = None,
        progress: Callable[[State], None] | None = None,
        keep_failed: bool = False,
        allow_mixed: bool = False,
    ) -> "Sweep":
        """Make the runs; the parameters are those of `anabranch.sweep`."""
        with bar(progress, "sweep") as shown:
            found = execute(
                self,
                out=out,
                workers=workers,
                client=client,
                progress=shown,
                keep_failed=keep_failed,
                allow_mixed=allow_mixed,
            )
        return Sweep.around(found)


class Sweep(SweepData):
    """The runs of a plan.

    Attributes
    ----------
    plan : Plan
        Axes, cells and seeds.
    source : Rows or Folder
        Where the runs are.
    provenance : Provenance
        Version, commit, machine, command, time.

    Examples
    --------
    >>> import anabranch as ab
    >>> base = ab.Scenario.two_path("5 Mbit/s, 100 ms, loss 1 %", "2 Mbit/s, 10 ms", transfer="700 kB")
    >>> done = ab.sweep(base, {"mss": [700, 1400]}, seeds=3)
    >>> done.compare("mss", baseline=700, measure="bytes_delivered")[["mss", "n", "baseline", "difference"]]
        mss  n  baseline  difference
    0  1400  3  700000.0         0.0
    """

    plan: Plan

    @classmethod
    def load(cls, directory: "str | os.PathLike[str]") -> Self:
        """Open a sweep that ``anabranch sweep --out`` or `sweep(out=...)` wrote, finished or not.

        Raises
        ------
        ResultError
            If `directory` is not a sweep.
        """
        return cls.around(store.read(directory))

    @classmethod
    def around(cls, found: SweepData) -> Self:
        """The same with all that is made of it at hand."""
        return cls(Plan.around(found.plan), found.source, found.provenance)

    @property
    def plot(self) -> "SweepPlots":
        """Figures: ``sweep.plot.over()``, ``.cdf()``, ``.over_time()``.

        Examples
        --------
        >>> import anabranch as ab
        >>> base = ab.Scenario.two_path("5 Mbit/s, 40 ms, loss 1 %", "2 Mbit/s, 10 ms", transfer="300 kB")
        >>> axes = {"controller": ["coupled", "cubic"], "path.1.delay": ["10 ms", "50 ms"]}
        >>> ax = ab.sweep(base, axes, seeds=3).plot.over("path.1.delay")
        >>> ax.get_xlabel(), ax.get_ylabel()
        ('path.1.delay (ms)', 'goodput (Mbit/s)')
        """
        from anabranch.sweeps.plots import SweepPlots

        return SweepPlots(self)

    def query(self, statement: str) -> "pd.DataFrame":
        """The answer to a question in SQL, for a sweep in a directory; see `anabranch.sweeps.query`.

        Its tables are ``runs``, ``subflows``, ``cells`` and ``texts``. Needs DuckDB (``anabranch[query]``).
        """
        from anabranch.sweeps.query import query

        if not isinstance(self.source, Folder):
            raise ValueError("SQL needs a sweep on disk; run it with `out`, or use `runs`")
        return query(self.source.folder, statement)

    def __str__(self) -> str:
        """One line per cell."""
        from anabranch.sweeps.table import document

        return str(document(self))

    def _repr_html_(self) -> str:
        from anabranch.sweeps.report import sweep_html

        return sweep_html(self)

    def __repr__(self) -> str:
        axes = " x ".join(f"{len(points)} {name}" for name, points in self.plan.axes.items())
        seeds, runs = units.count(len(self.plan.seeds), "seed"), units.count(len(self), "run")
        return f"<anabranch.Sweep {axes or '1 cell'}, {seeds}: {runs}>"


def sweep(
    scenario: Scenario,
    axes: Axes,
    *,
    seeds: int | str | Sequence[int] = 10,
    out: "str | os.PathLike[str] | None" = None,
    workers: int | None = None,
    client: Any = None,
    progress: Callable[[State], None] | None = None,
    timeout: float | None = None,
    memory: int | None = None,
    series: int = 0,
    keep_failed: bool = False,
    allow_mixed: bool = False,
) -> Sweep:
    """Run `scenario` with every combination of the values of `axes`, each with the same seeds.

    Parameters
    ----------
    scenario : Scenario
        What all cells have in common.
    axes : mapping
        Values by key: ``{"judge": ["none", "dsack"], "path.1.delay": ["10 ms", "200 ms"]}``. A key without a dot is
        one of the connection. An axis may also be a mapping of names to changes:
        ``{"receiver": {"papers": {"acknowledgement": "coupled"}, "standard": {"acknowledgement": "independent"}}}``.
    seeds : int, sequence of int or str
        Seeds 1 to `seeds`, or these, or as many as a precision takes: ``"until 1 %"``. Since every cell gets the same
        ones, cells can be compared in pairs.
    out : path, optional
        A directory to keep the runs in. A sweep that finds finished runs there makes only the missing ones, and those
        that failed.
    workers : int, optional
        Threads; one per core if not given.
    client : dask.distributed.Client, optional
        A cluster to make the runs on, instead of this process.
    progress : callable, optional
        Called with a `State` about ten times a second. Without it, a notebook shows a bar if tqdm is installed.
    timeout : float, optional
        Seconds of wall-clock time that a run may take.
    memory : int, optional
        Octets that the engine may hold for a run.
    series : int
        Keep the series over time of each run, at most at so many times.
    keep_failed : bool
        Do not try runs again that failed before.
    allow_mixed : bool
        Go on with a directory of another version's runs, which are taken for done.

    Returns
    -------
    Sweep
        With one row for each run, failed ones too.

    Raises
    ------
    ScenarioError
        If not one cell is valid. A cell that is not valid while others are is a row with its error.
    ResultError
        If `out` holds something else, or runs of another version.
    OSError
        If `out` cannot be written; what was finished is kept.
    KeyboardInterrupt
        After Ctrl-C; what was finished is in `out`.

    Examples
    --------
    >>> import anabranch as ab
    >>> base = ab.Scenario.two_path("5 Mbit/s, 100 ms", "2 Mbit/s, 10 ms", transfer="200 kB")
    >>> done = ab.sweep(base, {"controller": ["uncoupled", "coupled"]}, seeds=2)
    >>> done.runs[["controller", "seed", "status"]]
      controller  seed     status
    0  uncoupled     1  completed
    1  uncoupled     2  completed
    2    coupled     1  completed
    3    coupled     2  completed
    """
    made = Plan.of(scenario, axes, seeds=seeds, timeout=timeout, memory=memory, series=series)
    return made.run(
        out=out,
        workers=workers,
        client=client,
        progress=progress,
        keep_failed=keep_failed,
        allow_mixed=allow_mixed,
    )


def read(path: "str | os.PathLike[str]", *, seeds: int | str | None = None) -> Plan:
    """Read a sweep file and validate every cell; `seeds` stand for those of the file."""
    return Plan.around(document.read(path, seeds=seeds))
