"""What a search found, as one JSON object. Text, report and notebook are made of nothing else."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from anabranch import _core
from anabranch.recommendation.candidates import MEASURES, Candidate
from anabranch.recommendation.command import again, sent
from anabranch.recommendation.findings import sentences, suggestion
from anabranch.recommendation.ledger import INTERRUPT, Job
from anabranch.recommendation.pairs import Comparison
from anabranch.recommendation.paths import direction, paths
from anabranch.recommendation.search import LOOKS, Found
from anabranch.sweeps.chance import nothing_random


def summary(found: Found, asked: Sequence[str] | Mapping[str, Any], seeds: int | None = None) -> dict[str, Any]:
    """Return the object of ``anabranch recommend --json``; docs/columns.md defines its fields.

    Parameters
    ----------
    found : Found
        What a search found.
    asked : sequence of str, or mapping
        The command without its limits; of a scenario, the arguments of the call in Python.
    seeds : int, optional
        Seeds of given candidates.
    """
    best, final, ledger = found.best, found.final, found.ledger
    return {
        "version": _core.version(),
        "direction": direction(found.scenario),
        "transfer": sent(found.scenario),
        "goal": found.goal,
        "paths": [{"name": path.name, "described": str(path)} for path in paths(found.scenario)],
        "nothing_random": nothing_random([found.scenario]),
        "runs": ledger.count,
        "seed": found.seed,
        "ended": ledger.ended or "done",
        "interrupted": ledger.ended == INTERRUPT,
        "recommended": None if best is None else _candidate(best) | {"changes": best.changes(ledger.names)},
        "suggestion": suggestion(found),
        "sentences": sentences(found),
        "comparison": None if final is None or not final.comparison.seeds else _comparison(final.comparison, best),
        "queues": [
            {"factor": one.factor, "queues": list(one.queues)} | _comparison(one.comparison, best)
            for one in found.varied
        ],
        "first_look": _first_look(found),
        "refused": found.refused,
        "failed": {str(one): error.splitlines()[0] for (one, queues), error in ledger.failed.items() if queues == 1},
        "command": again(asked, ledger.count if found.looking or ledger.ended else None, found.seed, seeds),
    }


def _candidate(one: Candidate) -> dict[str, Any]:
    return {
        "candidate": str(one),
        "label": one.label,
        "controller": one.controller,
        "judge": one.judge,
        "scheduler": one.scheduler or None,
        "detector": one.detector or None,
        "receive_buffer": one.buffer,
        "alone": one.alone or None,
        "backup": one.backup or None,
    }


def _comparison(comparison: Comparison, best: Candidate | None) -> dict[str, Any]:
    """Candidates with the same seeds, each against the recommended one; without one, against the best baseline."""
    against = best or comparison.baseline() or comparison.choose()
    rows = []
    for one in [against, *(other for other in _order(comparison) if other != against)]:
        row: dict[str, Any] = _candidate(one)
        for measure in MEASURES:
            found = comparison.interval(one, measure)
            row[measure.name] = {"mean": found.mean, "low": _finite(found.low), "high": _finite(found.high)}
            if one != against:
                apart = comparison.difference(one, against, measure)
                row[measure.name]["difference"] = {
                    "mean": apart.mean,
                    "low": _finite(apart.low),
                    "high": _finite(apart.high),
                    "p_holm": _finite(apart.p),
                    "surely": {1: "better", -1: "worse", 0: None}[apart.verdict],
                }
        rows.append(row)
    same = len(comparison.seeds) if comparison.exact else 0
    return {
        "against": str(against),
        "goal": comparison.goal.name,
        "pairs": 1 if same else len(comparison.seeds),
        "identical": same,
        "seeds": list(comparison.seeds),
        "candidates": rows,
    }


def _order(comparison: Comparison) -> list[Candidate]:
    able = comparison.able()
    return [*able, *(one for one in comparison.runs if one not in able)]


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _first_look(found: Found) -> list[dict[str, Any]]:
    """Results of the first looks, seed by seed."""
    rows = []
    for one in found.looked:
        seeds = [seed for seed in range(found.seed, found.seed + LOOKS) if Job(one, seed) in found.ledger.runs]
        runs = found.ledger.of(one, seeds)
        if runs:
            values = {m.name: [run.measures[m.field] for run in runs] for m in MEASURES}
            rows.append({"candidate": str(one), "seeds": seeds} | values)
    return rows
