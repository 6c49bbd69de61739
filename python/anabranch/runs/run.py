"""A finished run with all that is made of it at hand: text, figures, report, files."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Unpack

from anabranch.measures import units
from anabranch.runs.data import RunData, Stored

if TYPE_CHECKING:
    import os

    from matplotlib.axes import Axes

    from anabranch.diagnosis.explanation import Explanation
    from anabranch.plots import Look


class Run(RunData):
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
        ``ooo_buffer_bytes`` (octets), and what algorithms written in Python recorded.
    items : pandas.DataFrame
        One row per message, object of a page or segment of a film, for transfers that have them: ``connection``,
        ``kind``, ``number``, ``bytes``, ``asked``, ``done``, ``latency`` (s; NaN for what did not arrive).
    links : pandas.DataFrame
        For links whose rate or delay varies, in the direction of the data: ``t`` (s), ``link``, ``offered`` and
        ``carried`` (bit/s), ``delay`` (s; NaN where nothing got through).
    plot : Plots
        ``run.plot.cwnd()``, ``.throughput()``, ``.ooo_buffer()``, ``.srtt()``, ``.latency()``,
        ``.offered()``, ``.link_delay()``, ``.recorded("alpha")``.

    Examples
    --------
    >>> import anabranch as ab
    >>> run = ab.Scenario.two_path("5 Mbit/s, 100 ms", "2 Mbit/s, 10 ms", transfer="1 MB").run()
    >>> run.summary["bytes_delivered"]
    1000000
    >>> sorted(run.subflows["subflow"].unique().tolist())
    [0, 1]
    """

    @property
    def plot(self) -> "Plots":
        """Figures of this run."""
        return Plots(self)

    def explain(self) -> "Explanation":
        """The first sentences of its diagnosis: what the paths could do, what the subflows waited for, what would help.

        The scenario is run again for it, with captures, as ``ab.diagnose`` does.

        Examples
        --------
        >>> import anabranch as ab
        >>> scenario = ab.Scenario.two_path("5 Mbit/s, 100 ms", "2 Mbit/s, 10 ms", transfer="1 MB")
        >>> print(scenario.set("connection.receive_buffer", "60 kB").run().explain())
        The capacity of the 2 paths is 5 Mbit/s + 2 Mbit/s. The goodput is ...
        Shares of the time by cause (mean of 2 subflows): receive window ...
        Main cause: receive window ... Possible remedy (not tried): enlarge the receive buffer, or ...
        """
        from anabranch.diagnosis.explanation import explain

        return explain(self)

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
        from anabranch.runs.store import RunDraft

        with RunDraft(directory) as draft:
            draft.commit(self)

    def __reduce__(self) -> tuple[Any, ...]:
        series, parts = Stored(dict(self.series())), Stored(dict(self.parts()))
        return Run, (self.summary, self.toml, self.provenance, series, parts, self.classes)

    def __str__(self) -> str:
        """The text table ``anabranch run`` prints."""
        from anabranch.runs.text import document

        return str(document(self))

    def __repr__(self) -> str:
        summary = self.summary
        return (
            f"<anabranch.Run {summary['status']}, {summary['goodput_mbps']:.4g} Mbit/s, "
            f"{units.count(len(summary['subflows']), 'subflow')}, seed {summary['seed']}>"
        )

    def _repr_html_(self) -> str:
        from anabranch.runs.report import notebook_html

        return notebook_html(self)


@dataclass(frozen=True)
class Plots:
    """Figures of a run; each method draws into `ax`, or into a new figure, and returns the axes.

    ``title=False``, ``width="88 mm"``, ``height="60 mm"`` fit a paper; `anabranch.plots.save` writes them.
    """

    run: RunData

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

    def latency(self, ax: "Axes | None" = None, **look: "Unpack[Look]") -> "Axes":
        """Share of messages, objects or segments that arrived within a time; ValueError if the transfer has none."""
        return self._draw("latency", ax, look)

    def offered(self, ax: "Axes | None" = None, **look: "Unpack[Look]") -> "Axes":
        """Rate that each link offered, behind what was carried, over time; ValueError if no link varies."""
        return self._draw("offered", ax, look)

    def link_delay(self, ax: "Axes | None" = None, **look: "Unpack[Look]") -> "Axes":
        """Delay of each link over time, without queues; ValueError if no link varies."""
        return self._draw("link_delay", ax, look)

    def recorded(self, name: str, ax: "Axes | None" = None, **look: "Unpack[Look]") -> "Axes":
        """Values that algorithms recorded as `name` over time; ValueError if there are none."""
        from anabranch.plots import recorded, told

        return recorded(self.run.subflows, name, ax, **told(self.run, look))

    def _draw(self, name: str, ax: "Axes | None", look: "Look") -> "Axes":
        from anabranch.plots import figures_of, told

        figure = figures_of(self.run).get(name)
        if figure is None:
            why = "no transfer has messages, objects or segments" if name == "latency" else "none of its links varies"
            raise ValueError(f"this run has no figure {name!r}: {why}")
        return figure.draw(figure.data(self.run), ax, **told(self.run, look))


def load(directory: "str | os.PathLike[str]") -> Run:
    """Read a result that `Run.save` or ``anabranch run --out`` wrote.

    Raises
    ------
    ResultError
        If `directory` is not a whole result.

    Examples
    --------
    >>> import tempfile, anabranch as ab
    >>> run = ab.Scenario.two_path("5 Mbit/s, 100 ms", "2 Mbit/s, 10 ms", transfer="1 MB").run()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run.save(folder + "/first")
    ...     again = ab.load(folder + "/first")
    >>> again.summary == run.summary
    True
    """
    from anabranch.runs.store import read

    found = read(directory)
    return Run(found.summary, found.toml, found.provenance, found.series, found.parts)
