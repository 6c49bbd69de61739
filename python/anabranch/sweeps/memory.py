"""The runs of a sweep that is kept nowhere."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from anabranch.sweeps.data import Rows, SweepData
from anabranch.sweeps.plan import PlanData
from anabranch.sweeps.provenance import Provenance
from anabranch.sweeps.task import Record


@dataclass
class Memory:
    """The runs of a sweep that is being run and kept nowhere else.

    Attributes
    ----------
    plan : PlanData
        What is to be made.
    statuses : dict
        Status of every run that is there, by hash of the scenario and seed.
    """

    plan: PlanData
    statuses: dict[tuple[str, int], str] = field(default_factory=dict)
    _records: dict[tuple[str, int], Record] = field(default_factory=dict)

    def append(self, records: Iterable[Record]) -> None:
        """Keep finished runs. Any thread may do so: each of the two steps is one for Python, too."""
        for record in records:
            self._records[record.scenario_sha256, record.seed] = record
            self.statuses[record.scenario_sha256, record.seed] = record.status

    def sync(self) -> None:
        """Nothing is written."""

    def replan(self, plan: PlanData) -> None:
        """From now on `plan` is what is to be made."""
        self.plan = plan

    def sweep(self) -> SweepData:
        """The runs as frames."""
        return SweepData(self.plan, Rows(tuple(self._records.values())), Provenance.here(plan=self.plan))

    finish = sweep

    def close(self) -> None:
        """Nothing is open."""
