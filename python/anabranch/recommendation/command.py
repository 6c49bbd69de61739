"""What is asked, as a scenario and candidates, and the command that asks it."""

import contextlib
import math
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from anabranch import _core
from anabranch.measures import units
from anabranch.recommendation.candidates import UNLIMITED
from anabranch.recommendation.paths import chosen
from anabranch.scenario import Scenario, ScenarioError, Value, literal
from anabranch.sentences import recommend as say

VARIATION = "1 %"
"""Of a wired path's delay, so that seeds differ and no result hangs on two paths in lock-step."""
BUDGET = 30.0
"""Seconds of a search for which neither a budget nor a number of runs was given."""
SEEDS = 8
"""Seeds of given candidates."""
DIRECTION = "down"
_SEARCHED = {f"connection.{key}" for key in ("controller", "judge", "recovery", "scheduler", "receive_buffer", "paths")}
"""Keys that each candidate sets."""
_FIRST_SEEDS = 2**62
"""Seeds of comparisons lie above the first one, and a seed has 63 bits."""


def scenario(
    paths: Sequence[str],
    transfer: str | None = None,
    receiver: str = "independent",
    direction: str | None = None,
    changes: Mapping[str, Value] | None = None,
) -> Scenario:
    """Return the scenario of `paths`: the delay of wired paths varies a little, and the transfer is long enough.

    >>> scenario(["5 Mbit/s, 100 ms", "lte, loss 1 %"]).overrides
    (('path.0.delay_variation', '1 %'), ('transfer.direction', 'down'))
    """
    changes = changes or {}
    for change in changes:
        if change.strip() in _SEARCHED:
            raise ScenarioError(_searched(change))
    way = (
        {} if direction is None and "transfer.direction" in changes else {"transfer.direction": direction or DIRECTION}
    )

    def made(amount: str) -> Scenario:
        # The receive buffer is among what is tried; a smaller send buffer would make all larger ones equal.
        rest = {"acknowledgement": receiver, "send_buffer": UNLIMITED}
        base = Scenario.of_paths(paths, transfer=amount, name="--path", **rest)
        return base.set(_varied(base.set(changes), paths) | way | dict(changes))

    base = made(transfer or "10 MB")
    return made(chosen(base)) if transfer is None and not _says_transfer(changes) else base


def _searched(key: str) -> str:
    """Why a key cannot be set, and what to do instead."""
    example = {"receive_buffer": "350 kB", "paths": UNLIMITED}.get(key.strip().removeprefix("connection."))
    if example is None:
        return say.SEARCHED_KEY(key=key)
    path = "alone=path0" if key.strip() == "connection.paths" else "min-rtt"
    return say.SEARCHED_VALUE(key=key, example=repr(f"coupled, none, {path}, {example}"))


def _varied(base: Scenario, paths: Sequence[str]) -> dict[str, Value]:
    """Return a delay that varies a little for each path that is a wire, unless what it does was written."""
    said = [{part.split()[0] for part in path.split(",") if part.split()} for path in paths]
    found: dict[str, Value] = {}
    for i, link in enumerate(base.check()["links"][: len(paths)]):
        ways = (link["up"], link["down"])
        wired = not link["wifi"] and all(way["weather"] is None and way["trace"] is None for way in ways)
        constant = all(way["delay_variation"] == 0 for way in ways)
        if wired and constant and not said[i] & _VARYING:
            found[f"path.{i}.delay_variation"] = VARIATION
    return found


_VARYING = {f"delay_variation{way}" for way in ("", "_up", "_down")}


def sent(base: Scenario) -> str:
    """Return what is sent, or for how long."""
    transfer = base.check()["connections"][0]["transfer"]
    octets, seconds = transfer.get("extent_bytes"), transfer.get("extent_s")
    if octets is not None:
        return units.octets(octets)
    return str(transfer["application"]) if seconds is None else units.time(seconds)


def budget_seconds(text: str) -> float:
    """Read a time limit: a time with its unit, or a number of seconds.

    Raises
    ------
    ScenarioError
        If `text` is neither, not above 0, or infinite.

    Examples
    --------
    >>> budget_seconds("2 min"), budget_seconds("500ms"), budget_seconds("7.5")
    (120.0, 0.5, 7.5)
    """
    seconds = math.nan
    try:
        seconds = float(text)
    except ValueError:
        with contextlib.suppress(ScenarioError):
            seconds = _core.duration(text)
    if not 0 < seconds < math.inf:
        raise ScenarioError(say.WRONG_BUDGET(value=text))
    return seconds


def checked(budget: float | None, runs: int | None, seed: int) -> float | None:
    """Return the budget that holds; 30 s if neither `budget` nor `runs` says when to end.

    Raises
    ------
    ScenarioError
        If a limit is none.
    """
    if budget is not None and not (0 < budget < math.inf):
        raise ScenarioError(say.WRONG_BUDGET(value=f"{budget:g}"))
    if runs is not None and runs < 1:
        raise ScenarioError(say.WRONG_RUNS(value=runs))
    if not 0 <= seed < _FIRST_SEEDS:
        raise ScenarioError(say.WRONG_SEED(value=seed, most=_FIRST_SEEDS - 1))
    return BUDGET if budget is None and runs is None else budget


def words(
    paths: Sequence[str],
    transfer: str | None,
    receiver: str,
    direction: str | None,
    changes: Mapping[str, Value],
    goal: str,
    base: Scenario,
) -> list[str]:
    """Return the command with all of the scenario that a result depends on."""
    out = ["anabranch", "recommend"]
    for path in paths:
        out += ["--path", path]
    out += ["--goal", goal] if goal != "throughput" else []
    out += ["--receiver", receiver] if receiver != "independent" else []
    out += ["--direction", direction] if direction not in (None, DIRECTION) else []
    amount = transfer if transfer is not None or _says_transfer(changes) else chosen(base)
    out += ["--transfer", amount] if amount is not None else []
    for key, value in changes.items():
        out += ["--set", f"{key}={value if isinstance(value, str) else literal(value)}"]
    return out


def again(asked: Sequence[str] | Mapping[str, Any], runs: int | None, seed: int, seeds: int | None) -> str:
    """Return the command that gives the same answer: with the number of runs, if they are not all; with the seeds.

    Of a scenario, which the command does not take, it is the call in Python.

    >>> again({"goal": "memory", "only": []}, 60, 2, None)
    "anabranch.recommend(scenario, goal='memory', runs=60, seed=2)"
    """
    if isinstance(asked, Mapping):
        given = {**asked, "runs": runs, "seed": None if seed == 1 else seed, "seeds": seeds}
        words = [f"{name}={value!r}" for name, value in given.items() if value not in (None, [])]
        return f"anabranch.recommend({', '.join(['scenario', *words])})"
    out = [*asked, *(["--seed", str(seed)] if seed != 1 else [])]
    out += ["--runs", str(runs)] if runs is not None else []
    return shlex.join([*out, *(["--seeds", str(seeds)] if seeds is not None else [])])


def has_candidates(text: str) -> bool:
    """True if the command `text` compares given candidates.

    `again` makes the command; with given candidates, it ends with their number of seeds.

    >>> has_candidates(again(["anabranch", "recommend"], 60, 1, 8)), has_candidates(again({}, None, 1, 8))
    (True, True)
    >>> has_candidates(again(["anabranch", "recommend"], 60, 8, None)), has_candidates(again({}, 60, 8, None))
    (False, False)
    """
    return re.search(r" (--seeds |seeds=)[0-9]+\)?$", text) is not None


def _says_transfer(changes: Iterable[str]) -> bool:
    return bool({change.strip() for change in changes} & {"transfer.bytes", "transfer.duration"})
