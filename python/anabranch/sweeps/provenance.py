"""By whom the runs of a sweep are."""

import platform
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from anabranch.results import provenance
from anabranch.sweeps.plan import Engine, PlanData, base_sha256, engine


@dataclass(frozen=True)
class Provenance:
    """Where the runs of a sweep come from. No host or user names.

    Attributes
    ----------
    version, commit, build : str
        Of Anabranch; `build` is a hash of the program if version and commit do not say which one it is.
    scenario_sha256 : str
        Of what all cells have in common, resolved, but for seed and title.
    machine, python : str
        Operating system, architecture and processor; version of Python.
    command : str
        The command line, or ``python``.
    started : str
        UTC, ISO 8601: when the sweep was first begun.
    earlier : tuple of str
        Other engines that runs are by; there are none unless they were mixed on purpose.
    """

    version: str
    commit: str
    build: str
    scenario_sha256: str
    machine: str
    python: str
    command: str
    started: str
    earlier: tuple[str, ...] = ()

    @classmethod
    def here(cls, command: str = "python", plan: PlanData | None = None) -> "Provenance":
        """Of a sweep made by this process now."""
        by = engine()
        return cls(
            version=by.version,
            commit=by.commit,
            build=by.build,
            scenario_sha256="" if plan is None else base_sha256(plan),
            machine=provenance.machine(),
            python=platform.python_version(),
            command=command,
            started=provenance.now(),
        )

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Provenance":
        """Inverse of `dataclasses.asdict`; raises KeyError for a missing field."""
        return cls(**{name: data[name] for name in cls.__dataclass_fields__ if name != "earlier"}).with_earlier(
            *data.get("earlier", ())
        )

    def with_earlier(self, *engines: str) -> "Provenance":
        """The same, with runs by `engines` beside its own."""
        return replace(self, earlier=tuple(dict.fromkeys((*self.earlier, *engines))))

    @property
    def engine(self) -> Engine:
        """Who makes the runs."""
        return Engine(self.version, self.commit, self.build)
