"""Types of the compiled extension (its source is ``py/src/lib.rs``)."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

class ScenarioError(ValueError):
    """A scenario that cannot run; the message names the place, the value and the remedy in one to three lines."""

class CaptureError(ValueError):
    """A capture that cannot be analysed; the message says which and why."""

class Capture:
    """A capture, analysed."""

    @property
    def summary(self) -> str: ...
    @property
    def interrupted(self) -> bool: ...
    def subflows(self) -> dict[str, NDArray[np.float64] | NDArray[np.int32]]: ...
    def sequence(self) -> dict[str, NDArray[np.float64] | NDArray[np.int32] | list[str]]: ...
    def window(self) -> dict[str, NDArray[np.float64] | NDArray[np.int32]]: ...

class RunError(RuntimeError):
    """A run was broken off: it passed its time or memory, or the engine has a fault; the message begins with which."""

class Run:
    """A finished run."""

    @property
    def summary(self) -> str: ...
    @property
    def events_hash(self) -> str: ...
    @property
    def scenario(self) -> str: ...
    @property
    def toml(self) -> str: ...
    def subflows(self) -> dict[str, NDArray[np.float64] | NDArray[np.int32]]: ...
    def items(self) -> dict[str, NDArray[np.float64] | NDArray[np.int32] | list[str]]: ...

def version() -> str: ...
def commit() -> str: ...
def template() -> str: ...
def synthetic_trace(rates: Sequence[str], dwell: str, duration: str, seed: int) -> list[int]: ...
def duration(text: str) -> float: ...
def offered(text: str, name: str, link: int, up: bool, step: float, steps: int) -> list[float]: ...
def probed(text: str, name: str, link: int, up: bool, interval: float, probes: int) -> list[float | None]: ...
def registry() -> str: ...
def measures() -> str: ...
def check(
    text: str,
    name: str,
    overrides: Sequence[tuple[str, str]],
    timeout: float | None = None,
    memory: int | None = None,
) -> str: ...
def expanded(text: str, name: str, overrides: Sequence[tuple[str, str]]) -> str: ...
def inlined(text: str, name: str, overrides: Sequence[tuple[str, str]]) -> str | None: ...
def run(
    text: str,
    name: str,
    overrides: Sequence[tuple[str, str]],
    seed: int | None = None,
    trace: str | None = None,
    poll: Callable[[dict[str, Any]], None] | None = None,
    pcap: str | None = None,
    timeout: float | None = None,
    memory: int | None = None,
    series: bool = True,
    causes: bool = False,
) -> Run: ...
def analyze(
    files: Sequence[str],
    poll: Callable[[int, int], None] | None = None,
    protocol: str | None = None,
    causes: bool = False,
    every: float | None = None,
    told: Callable[[str], None] | None = None,
) -> Capture: ...
def qlog(files: Sequence[str], out: str) -> int: ...
def profiles() -> list[str]: ...
def script(
    text: str,
    profile: str,
    over_mptcp: bool,
    tolerance: str | None,
    defines: dict[str, str],
    directory: str | None,
    evaluate: Callable[[str, dict[str, int]], tuple[str, str, str] | None],
) -> str: ...
def torture(
    first: int,
    runs: int,
    jobs: int,
    seconds: float | None = None,
    first_failure: bool = False,
    shrink: float = 20.0,
    poll: Callable[[int, int], None] | None = None,
) -> str: ...
def examine(text: str, name: str) -> tuple[str, str] | None: ...
