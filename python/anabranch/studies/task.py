"""What of a study is to be made."""

from dataclasses import dataclass

from anabranch.studies.base import FigureSpec, Study, TableSpec
from anabranch.sweeps.document import read
from anabranch.sweeps.plan import PlanData


@dataclass(frozen=True)
class Task:
    """What of a study is to be made.

    Attributes
    ----------
    study : Study
        Which.
    quick : bool
        One seed, and only what belongs to the quick form.
    only : tuple of str
        Names of tables and figures; all, and the report, if empty.
    """

    study: Study
    quick: bool
    only: tuple[str, ...] = ()

    @property
    def tables(self) -> list[str]:
        """Names of the tables to make."""
        return [name for name, spec in self.study.tables.items() if self._wanted(name, full=spec.full)]

    @property
    def figures(self) -> list[str]:
        """Names of the figures to draw."""
        return [name for name, spec in self.study.figures.items() if self._wanted(name, full=spec.full)]

    @property
    def sweeps(self) -> list[str]:
        """Names of the sweeps that are needed."""
        if not self.only:
            return [name for name, quick in self.study.sweeps.items() if quick or not self.quick]
        needed = {name for table in self.tables for name in self.needs(self.study.tables[table])}
        needed |= {name for figure in self.figures for name in self.needs(self.study.figures[figure])}
        return [name for name in self.study.sweeps if name in needed]

    def needs(self, spec: TableSpec | FigureSpec) -> list[str]:
        """The sweeps that a table or figure shows: in the quick form those that belong to it."""
        return [name for name in spec.needs if spec.full or not self.quick or self.study.sweeps[name]]

    def _wanted(self, name: str, *, full: bool) -> bool:
        return name in self.only if self.only else not (full and self.quick)

    def plans(self) -> dict[str, PlanData]:
        """The plans of the sweeps, validated."""
        return {
            name: read(self.study.file(name, quick=self.quick), seeds=1 if self.quick else None) for name in self.sweeps
        }
