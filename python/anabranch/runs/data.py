"""What a finished run is, before anything is made of it: summary, series over time, scenario, provenance.

Tables, figures, reports and files are made of this; `results.Run` is the same with all of these at hand.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from anabranch import _core
from anabranch.algorithms.base import Algorithm
from anabranch.algorithms.origin import StandIn
from anabranch.algorithms.references import descriptions
from anabranch.measures.labels import Labels, labels_of
from anabranch.measures.timeline import Mark, marks_of
from anabranch.results.provenance import Provenance
from anabranch.results.result_kinds import RUN
from anabranch.runs.link_series import links_frame

if TYPE_CHECKING:
    import pandas as pd


ITEMS = ("connection", "kind", "number", "bytes", "asked", "done", "latency")
"""Columns of the frame of what applications count in."""


@dataclass(frozen=True)
class Stored:
    """Series that are at hand already."""

    columns: Mapping[str, Any]

    def __call__(self) -> Mapping[str, Any]:
        """The columns, as the engine would give them."""
        return self.columns


@dataclass(frozen=True, eq=False, repr=False)
class RunData:
    """The numbers of a run; the attributes are those of `anabranch.runs.run.Run`."""

    kind: ClassVar[str] = RUN

    summary: dict[str, Any]
    toml: str
    provenance: Provenance
    series: Callable[[], Mapping[str, Any]]
    parts: Callable[[], Mapping[str, Any]] = field(default_factory=lambda: Stored({}))
    classes: tuple[type[Algorithm], ...] = ()

    @cached_property
    def subflows(self) -> "pd.DataFrame":
        """Tidy frame over time."""
        import pandas as pd

        return pd.DataFrame(dict(self.series()))

    @cached_property
    def items(self) -> "pd.DataFrame":
        """One row per message, object of a page or segment of a film; empty if the transfers have no such parts."""
        import pandas as pd

        return pd.DataFrame(dict(self.parts()) or {name: [] for name in ITEMS})

    @cached_property
    def links(self) -> "pd.DataFrame":
        """What links that vary offered over time, and what was carried; empty if none varies."""
        try:
            return links_frame(self.toml, self.scenario, self.summary, self.subflows)
        except _core.ScenarioError:  # stored by a version whose scenarios this one does not read
            return links_frame(self.toml, {}, self.summary, self.subflows)

    @cached_property
    def scenario(self) -> dict[str, Any]:
        """Every value of the scenario, in SI units."""
        try:
            algorithms: list[Any] = list(descriptions(self.toml, "scenario.toml", [], self.classes))
        except _core.AlgorithmError:  # a result that was stored elsewhere; its scenario can be read all the same
            algorithms = [StandIn(one) for one in self.provenance.algorithms]
            if not algorithms:
                raise
        resolved: dict[str, Any] = json.loads(_core.check(self.toml, "scenario.toml", [], algorithms=algorithms))
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
