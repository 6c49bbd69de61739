"""What the command line asks for, as a scenario and candidates."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from anabranch.recommend.candidates import grid, read
from anabranch.recommend.search import Found, search
from anabranch.scenario import Scenario

if TYPE_CHECKING:
    from anabranch.sweeps.execute import State

VARIATION = "1 %"
"""Of a wired path's delay, so that seeds differ and no result hangs on two paths in lock-step."""
_SEEDS = 8


def scenario(paths: Sequence[str], transfer: str, receiver: str) -> Scenario:
    """The paths, each with a delay that varies a little."""

    def varies(path: str) -> bool:
        # One without a delay is refused as it stands.
        return path.lstrip().startswith("wifi") or "delay_variation" in path or "," not in path

    varied = [path if varies(path) else f"{path}, delay_variation {VARIATION}" for path in paths]
    return Scenario.of_paths(varied, transfer=transfer, name="--path", acknowledgement=receiver)


def find(  # the arguments of the command
    base: Scenario,
    goal: str,
    candidates: Sequence[str],
    seeds: int | None,
    budget: float,
    progress: "Callable[[int, int, State], None] | None",
) -> Found:
    """Search all candidates, or compare those given."""
    base.check()
    if candidates:
        return search(base, list(map(read, candidates)), goal, seeds=seeds or _SEEDS, progress=progress)
    return search(base, grid(base), goal, budget=budget, progress=progress)


def words(paths: Sequence[str], goal: str, receiver: str, transfer: str, changes: Sequence[str]) -> list[str]:
    """The command with all that a result depends on."""
    out = ["anabranch", "recommend"]
    for path in paths:
        out += ["--path", path]
    if goal != "throughput":
        out += ["--goal", goal]
    if receiver != "independent":
        out += ["--receiver", receiver]
    if transfer != "10 MB":
        out += ["--transfer", transfer]
    for change in changes:
        out += ["--set", change]
    return out
