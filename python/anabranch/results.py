"""A finished run: its summary, its series over time, its figures."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Unpack

from anabranch import _core, units
from anabranch.explain import Explanation
from anabranch.labels import Labels, labels_of
from anabranch.marks import Mark, marks_of
from anabranch.provenance import Provenance

if TYPE_CHECKING:
    import os

    import pandas as pd
    from matplotlib.axes import Axes

    from anabranch.plots import Look


@dataclass(frozen=True)
class Stored:
    """Series that are at hand already."""

    columns: Mapping[str, Any]

    def __call__(self) -> Mapping[str, Any]:
        """The columns, as the engine would give them."""
        return self.columns


@dataclass(frozen=True, eq=False, repr=False)
class Run:
    """The result of one run of one scenario.

    Attributes
    ----------
    summary : dict
        The object ``anabranch run --json`` prints; every field is defined in ``docs/columns.md``.
    toml : str
        The resolved scenario; running it again gives the same run.
    provenance : Provenance
        Version, commit, hashes, machine, command and time.
    subflows : pandas.DataFrame
        One row per sample and subflow: ``t`` (s), ``connection``, ``subflow``, ``cwnd`` and ``ssthresh`` (octets),
        ``srtt`` (s), ``rtt_samples``, ``rto`` (s), ``in_flight`` and ``delivered`` (octets), ``ooo_buffer`` (packets),
        ``ooo_buffer_bytes`` (octets).
    plot : Plots
        ``run.plot.cwnd()``, ``.throughput()``, ``.ooo_buffer()``, ``.srtt()``.

    Examples
    --------
    >>> import anabranch as ab
    >>> run = ab.Scenario.two_path("5 Mbit/s, 100 ms", "2 Mbit/s, 10 ms", transfer="1 MB").run()
    >>> run.summary["bytes_delivered"]
    1000000
    >>> sorted(run.subflows["subflow"].unique().tolist())
    [0, 1]
    """

    summary: dict[str, Any]
    toml: str
    provenance: Provenance
    series: Callable[[], Mapping[str, Any]]

    @cached_property
    def subflows(self) -> "pd.DataFrame":
        """Tidy frame over time."""
        import pandas as pd

        return pd.DataFrame(dict(self.series()))

    @cached_property
    def scenario(self) -> dict[str, Any]:
        """Every value of the scenario, in SI units."""
        resolved: dict[str, Any] = json.loads(_core.check(self.toml, "scenario.toml", []))
        return resolved

    @cached_property
    def labels(self) -> Labels:
        """What figures and tables call each ``(connection, subflow)``."""
        try:
            return labels_of(self.scenario, self.summary)
        except _core.ScenarioError:  # stored by a version whose scenarios this one does not read
            return labels_of({}, self.summary)

    @cached_property
    def marks(self) -> tuple[Mark, ...]:
        """What the scenario does to links and paths in time, such as an outage: what figures over time mark."""
        try:
            return marks_of(self.scenario)
        except _core.ScenarioError:
            return ()

    @property
    def plot(self) -> "Plots":
        """Figures of this run."""
        return Plots(self)

    def explain(self) -> Explanation:
        """What the sender of the data waited for, by share of the time: the answer to "why was it not faster?".

        Examples
        --------
        >>> import anabranch as ab
        >>> scenario = ab.Scenario.two_path("5 Mbit/s, 100 ms", "2 Mbit/s, 10 ms", transfer="1 MB")
        >>> print(scenario.set("connection.receive_buffer", "60 kB").run().explain())
        the sender waited for
          receive window ...
        """
        from anabranch.explain import explain

        return explain(self.summary)

    def save(self, directory: "str | os.PathLike[str]") -> None:
        """Write everything to `directory`: summary, series, scenario, provenance, figures and report.

        The directory appears whole or not at all. An older result there is replaced; a directory that holds anything
        else is refused.

        Raises
        ------
        ResultError
            If `directory` holds something else.
        OSError
            If it cannot be written.
        """
        from anabranch.store import Draft

        with Draft(directory) as draft:
            draft.commit(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return Run, (self.summary, self.toml, self.provenance, Stored(dict(self.series())))

    def __str__(self) -> str:
        """The text table ``anabranch run`` prints."""
        from anabranch.tables import run_table

        return run_table(self)

    def __repr__(self) -> str:
        summary = self.summary
        return (
            f"<anabranch.Run {summary['status']}, {summary['goodput_mbps']:.4g} Mbit/s, "
            f"{units.count(len(summary['subflows']), 'subflow')}, seed {summary['seed']}>"
        )

    def _repr_html_(self) -> str:
        from anabranch.notebook import run_html

        return run_html(self)


@dataclass(frozen=True)
class Plots:
    """Figures of a run; each method draws into `ax`, or into a new figure, and returns the axes.

    ``title=False``, ``width="88 mm"``, ``height="60 mm"`` fit a paper; `anabranch.plots.save` writes them.
    """

    run: Run

    def cwnd(self, ax: "Axes | None" = None, **look: "Unpack[Look]") -> "Axes":
        """Congestion window of each subflow over time."""
        return self._draw("cwnd", ax, look)

    def throughput(self, ax: "Axes | None" = None, **look: "Unpack[Look]") -> "Axes":
        """Rate of first arrivals of each subflow, and their sum, over time."""
        return self._draw("throughput", ax, look)

    def ooo_buffer(self, ax: "Axes | None" = None, **look: "Unpack[Look]") -> "Axes":
        """Packets waiting in the reordering buffer, by the subflow they came on, over time."""
        return self._draw("ooo_buffer", ax, look)

    def srtt(self, ax: "Axes | None" = None, **look: "Unpack[Look]") -> "Axes":
        """Smoothed round-trip time of each subflow over time."""
        return self._draw("srtt", ax, look)

    def _draw(self, name: str, ax: "Axes | None", look: "Look") -> "Axes":
        from anabranch.plots import FIGURES

        told: Look = {"labels": self.run.labels, "marks": self.run.marks, **look}
        return FIGURES[name].draw(self.run.subflows, ax, **told)
