"""Does this installation work? Each check does the thing itself, none asks whether a file exists."""

import json
import platform
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from anabranch.execution.optional_deps import missing
from anabranch.sentences import tools as say

_PACKAGES = ("numpy", "pandas", "fastparquet", "matplotlib", "click")


@dataclass(frozen=True)
class Finding:
    """The answer of one check."""

    what: str
    ok: bool
    detail: str


def examine() -> Iterator[Finding]:
    """Check one thing after another."""
    for what, check in _CHECKS:
        try:
            yield Finding(what, True, check())
        except ModuleNotFoundError as error:
            yield Finding(what, False, missing(error))
        except Exception as error:
            yield Finding(what, False, f"{type(error).__name__}: {error}")


def _python() -> str:
    return f"{platform.python_implementation()} {platform.python_version()}, {platform.platform()}"


def _engine() -> str:
    from anabranch import _core

    known = json.loads(_core.registry())
    counts = ", ".join(_count(len(entries), kind) for kind, entries in known.items())
    commit = _core.commit()
    return f"{_core.version()}{f' ({commit})' if commit else ''}: {counts}"


def _count(number: int, kind: str) -> str:
    """How many there are of a kind.

    >>> _count(21, "middlebox"), _count(1, "link")
    ('21 middleboxes', '1 link')
    """
    return f"{number} {kind}" + ("" if number == 1 else "es" if kind.endswith("x") else "s")


def _packages() -> str:
    return ", ".join(f"{name} {metadata.version(name)}" for name in _PACKAGES)


def _determinism() -> str:
    from anabranch.scenario import Scenario

    scenario = Scenario.two_path("5 Mbit/s, 100 ms", "2 Mbit/s, 10 ms", transfer="10 MB", judge="none")
    first, second = (scenario.set("path.0.loss", "0.5 %").run(seed=7).summary for _ in range(2))
    if first["status"] != "completed" or not first["content_ok"]:
        raise RuntimeError(say.TRANSFER_FAILED(status=first["status"], content_ok=first["content_ok"]))
    if first["trace_sha256"] != second["trace_sha256"]:
        raise RuntimeError(say.TWO_TRACES)
    said = say.DETERMINISM(hash=first["trace_sha256"][:12])
    if not first["wall_s"]:
        return said
    return say.DETERMINISM_SPEED(determinism=said, speed=f"{first['segments'] / first['wall_s'] / 1e6:.2f}")


def _result() -> str:
    from anabranch.runs.run import load
    from anabranch.scenario import Scenario

    run = Scenario.two_path("5 Mbit/s, 100 ms", "2 Mbit/s, 10 ms", transfer="1 MB").run()
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "result"
        run.save(target)
        size = sum(file.stat().st_size for file in target.iterdir())
        if len(load(target).subflows) != len(run.subflows):
            raise RuntimeError(say.RESULT_DIFFERS)
    return say.RESULT(size=f"{size / 1000:.0f}")


_CHECKS: tuple[tuple[str, Callable[[], str]], ...] = (
    ("python", _python),
    ("engine", _engine),
    ("packages", _packages),
    ("determinism", _determinism),
    ("results", _result),
)
