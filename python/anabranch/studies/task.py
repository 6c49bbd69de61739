"""Which tables, figures and sweeps of a study a command makes."""

from dataclasses import dataclass

from anabranch.studies.base import FigureSpec, Study, TableSpec
from anabranch.sweeps.document import read
from anabranch.sweeps.plan import PlanData


@dataclass(frozen=True)
class Task:
    """A study, and which of its tables and figures are made.

    Attributes
    ----------
    study : Study
        The study.
    quick : bool
        True: one seed, and only the sweeps, tables and figures of the quick form.
    only : tuple of str
        Names of the tables and figures to make. If empty: all of them, and the report.
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
        """Names of the sweeps that the tables and figures to make show."""
        if not self.only:
            return [name for name, quick in self.study.sweeps.items() if quick or not self.quick]
        needed = {name for table in self.tables for name in self.needs(self.study.tables[table])}
        needed |= {name for figure in self.figures for name in self.needs(self.study.figures[figure])}
        return [name for name in self.study.sweeps if name in needed]

    def needs(self, spec: TableSpec | FigureSpec) -> list[str]:
        """Names of the sweeps that a table or figure shows; in the quick form, only its sweeps."""
        return [name for name in spec.needs if spec.full or not self.quick or self.study.sweeps[name]]

    def _wanted(self, name: str, *, full: bool) -> bool:
        return name in self.only if self.only else not (full and self.quick)

    def plans(self) -> dict[str, PlanData]:
        """Return the validated plan of each sweep, by the sweep's name."""
        return {
            name: read(self.study.file(name, quick=self.quick), seeds=1 if self.quick else None) for name in self.sweeps
        }
