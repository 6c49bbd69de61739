"""Whether what was tried against each other made any difference: runs with the same trace are the same run.

A sweep over schedulers of a bulk transfer often shows equal columns, and means that are equal to the last digit say
nothing of why. Two values of an axis are alike if every run with the one has the same trace as the run with the other,
with the same seed and the same values of all other axes.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from anabranch.measures import units
from anabranch.sentences import common as say

if TYPE_CHECKING:
    from anabranch.sweeps.data import SweepData

Label = TypeVar("Label", bound=Hashable)

CHOICE = "choice_ratio"
TRACE = "trace_sha256"


def groups(traces: Mapping[Label, Mapping[Any, str] | bytes]) -> list[list[Label]]:
    """Which labels have equal traces throughout: groups of two or more, in the order of `traces`.

    Parameters
    ----------
    traces : mapping
        By label and by whatever else tells runs apart (a seed, the values of other axes), their trace's hash; or
        anything else by label that is equal if these are.

    >>> groups({"a": {1: "x", 2: "y"}, "b": {1: "x", 2: "z"}, "c": {1: "x", 2: "y"}})
    [['a', 'c']]
    """
    found: list[list[Label]] = []
    for label, runs in traces.items():
        if not runs:
            continue
        group = next((group for group in found if traces[group[0]] == runs), None)
        if group is None:
            found.append([label])
        else:
            group.append(label)
    return [group for group in found if len(group) > 1]


def of_sweep(sweep: "SweepData") -> list[str]:
    """A note for each axis of which two values or more are alike."""
    import numpy as np
    import pandas as pd

    found = sweep.columns(TRACE, CHOICE)
    known = np.array([isinstance(trace, str) and bool(trace) for trace in found[TRACE].tolist()], bool)
    place = found["cell"][known], found["seed"][known]
    shape = [*(len(points) for points in sweep.plan.axes.values()), len(sweep.plan.seeds)]
    # A number for each different trace, -1 where there is none; a dimension for each axis, and the
    # seeds.
    traces = np.full((len(sweep.plan.cells), shape[-1]), -1)
    traces[place] = pd.factorize(found[TRACE][known])[0]
    choices = np.full(traces.shape, np.nan)
    choices[place] = found[CHOICE][known].astype(float)
    notes = []
    for number, (axis, points) in enumerate(sweep.plan.axes.items()):
        slices = list(np.moveaxis(traces.reshape(shape), number, 0))
        same = groups({i: made.tobytes() if (made >= 0).any() else b"" for i, made in enumerate(slices)})
        for group in same:
            labels = [str(points[i].label) for i in group]
            share = np.moveaxis(choices.reshape(shape), number, 0)[group[0]].ravel().tolist()
            runs = int((slices[group[0]] >= 0).sum())
            notes.append(said(axis, labels, runs, share, whole=len(group) == len(points)))
    return notes


def said(what: str, group: Sequence[object], runs: int, choices: Iterable[Any], *, whole: bool) -> str:
    """That the runs of a group are the same, and what is known of the reason.

    Parameters
    ----------
    what : str
        What the members are values of, such as ``scheduler``.
    group : sequence
        The members.
    runs : int
        Of each.
    choices : iterable of float
        ``choice_ratio`` of these runs.
    whole : bool
        There are no other values.
    """
    members = say.ALL_VALUES() if whole and len(group) > 2 else _listed([str(one) for one in group])
    return " ".join(filter(None, [say.SAME_TRACE(what=what, members=members, runs=runs), why(what, choices)]))


def why(what: str, choices: Iterable[Any]) -> str:
    """The reason why it made none, as far as it is known."""
    known = [choice for choice in choices if isinstance(choice, float) and choice == choice]  # noqa: PLR0124
    parts = []
    if known and what in {"scheduler", "candidate", "runs"}:
        parts.append(say.CHOICE_RATIO(share=units.percent(sum(known) / len(known))))
    if what in say.WHY:
        parts.append(say.WHY[what]())
    return " ".join(parts)


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else say.AND(names=", ".join(names[:-1]), name=names[-1])
