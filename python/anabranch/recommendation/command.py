"""What the command line asks for, as a scenario and candidates."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from anabranch.recommendation.candidates import UNLIMITED, choices, read
from anabranch.recommendation.paths import chosen
from anabranch.recommendation.search import Found, search
from anabranch.scenario import Scenario, ScenarioError

if TYPE_CHECKING:
    from anabranch.sweeps.execute import State

VARIATION = "1 %"
"""Of a wired path's delay, so that seeds differ and no result hangs on two paths in lock-step."""
_SEEDS = 8
_SEARCHED = {f"connection.{key}" for key in ("controller", "judge", "recovery", "scheduler", "receive_buffer")}
"""Keys that each candidate sets."""


def scenario(paths: Sequence[str], transfer: str | None, receiver: str, changes: Mapping[str, str]) -> Scenario:
    """The paths, each with a delay that varies a little, and a transfer that is long enough if none is given."""

    def varies(path: str) -> bool:
        # One without a delay is refused as it stands.
        return path.lstrip().startswith("wifi") or "delay_variation" in path or "," not in path

    varied = [path if varies(path) else f"{path}, delay_variation {VARIATION}" for path in paths]

    def made(sent: str) -> Scenario:
        # The receive buffer is among what is tried; a smaller one at the sender would make all larger ones equal.
        rest = {"acknowledgement": receiver, "send_buffer": UNLIMITED}
        return Scenario.of_paths(varied, transfer=sent, name="--path", **rest).set(changes)

    for change in changes:
        if change.strip() in _SEARCHED:
            raise ScenarioError(
                f"--set {change}: this is what is tried\n  --only NAME tries nothing else, --candidate says all"
            )
    base = made(transfer or "10 MB")
    return made(chosen(base)) if transfer is None and not _says_transfer(changes) else base


def find(  # the arguments of the command
    base: Scenario,
    goal: str,
    candidates: Sequence[str],
    seeds: int | None,
    budget: float,
    only: Sequence[str],
    without: Sequence[str],
    progress: "Callable[[int, int, State], None] | None",
) -> Found:
    """Search all candidates, or compare those given.

    Raises
    ------
    ScenarioError
        If the scenario is wrong, or says itself what is to be found out.
    """
    if base.check()["connections"][0]["protocol"] == "udp":
        raise ScenarioError("--set connection.protocol: datagrams have no controller to recommend; allowed: mptcp, tcp")
    if candidates:
        return search(base, list(map(read, candidates)), goal, seeds=seeds or _SEEDS, progress=progress)
    return search(base, choices(base, only, without), goal, budget=budget, progress=progress)


def words(
    base: Scenario, paths: Sequence[str], goal: str, receiver: str, transfer: str | None, changes: Sequence[str]
) -> list[str]:
    """The command with all that a result depends on."""
    out = ["anabranch", "recommend"]
    for path in paths:
        out += ["--path", path]
    if goal != "throughput":
        out += ["--goal", goal]
    if receiver != "independent":
        out += ["--receiver", receiver]
    sent = transfer if transfer is not None or _says_transfer(changes) else chosen(base)
    if sent is not None:
        out += ["--transfer", sent]
    for change in changes:
        out += ["--set", change]
    return out


def _says_transfer(changes: Iterable[str]) -> bool:
    keys = {change.partition("=")[0].strip() for change in changes}
    return bool(keys & {"transfer.bytes", "transfer.duration"})
