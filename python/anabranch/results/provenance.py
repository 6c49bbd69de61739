"""Where a result comes from: version, commit, scenario, machine, command, time."""

import hashlib
import os
import platform
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from anabranch import _core
from anabranch.results.result_kinds import MARKS, RUN
from anabranch.sentences.escape import visible

FORMAT_VERSION = 1


@dataclass(frozen=True)
class Provenance:
    """What is needed to judge a result and to make it again. No host or user names.

    Attributes
    ----------
    version, commit : str
        Of Anabranch; `commit` is empty if it was not built from a repository.
    scenario_sha256 : str
        Of the resolved scenario's text (``scenario.toml`` in a result).
    trace_sha256 : str
        Of the run's protocol events.
    seed : int
        The run's seed.
    machine : str
        Operating system, architecture and processor.
    python : str
        Version of Python.
    command : str
        The command line, or ``python`` if the run was made from Python.
    started : str
        UTC, ISO 8601.
    algorithms : tuple of dict
        Of each algorithm written in Python: ``kind`` and ``name``, as the scenario has it; ``file``, None for a class
        of a notebook, and the ``file_sha256`` of its content; ``sha256`` of its code and of all code that it uses; its
        ``label``, ``needs``, ``fairness`` and ``parameters``.
    """

    version: str
    commit: str
    scenario_sha256: str
    trace_sha256: str
    seed: int
    machine: str
    python: str
    command: str
    started: str
    algorithms: tuple[Mapping[str, Any], ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """All fields, after the two that mark a result's format."""
        own = asdict(self)
        if not self.algorithms:
            del own["algorithms"]
        return {"format": MARKS[RUN], "format_version": FORMAT_VERSION, **own}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Provenance":
        """Inverse of `to_dict`; raises KeyError for a missing field."""
        own = {one.name: data[one.name] for one in fields(cls) if one.name != "algorithms"}
        return cls(**own, algorithms=tuple(data.get("algorithms", ())))

    def with_command(self, arguments: list[str]) -> "Provenance":
        """The same, made by the command `arguments`."""
        return replace(self, command=visible(shlex.join(["anabranch", *arguments])))


def of_run(
    toml: str, summary: Mapping[str, Any], *, started: str, algorithms: Sequence[Mapping[str, Any]] = ()
) -> Provenance:
    """Provenance of a run made by this process."""
    return Provenance(
        version=_core.version(),
        commit=_core.commit(),
        scenario_sha256=sha256(toml),
        trace_sha256=summary["trace_sha256"],
        seed=summary["seed"],
        machine=machine(),
        python=platform.python_version(),
        command="python",
        started=started,
        algorithms=tuple(algorithms),
    )


def sha256(text: str) -> str:
    """SHA-256 of `text` in UTF-8, hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


def now() -> str:
    """UTC, ISO 8601, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def machine() -> str:
    """Operating system, architecture, processor and its number of cores."""
    cores = os.cpu_count() or 1
    processor = _processor()
    return ", ".join(
        part
        for part in (
            f"{platform.system()} {platform.release()}",
            platform.machine(),
            processor,
            f"{cores} core{'s' if cores > 1 else ''}",
        )
        if part
    )


def _processor() -> str:
    if sys.platform == "linux":
        try:
            lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            return ""
        return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
    return platform.processor() if sys.platform == "win32" else ""
