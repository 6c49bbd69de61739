"""Identical runs: several seeds of a scenario in which nothing is random, or in which chance changed nothing.

Two seeds give different keys and initial sequence numbers, and so different values of ``trace_sha256``, even if every
event happens at the same time. The engine's ``events_hash`` leaves these numbers out: runs are identical if they have
the same one. A sweep of an older version has no such column. There runs count as identical if everything that they
measured is equal: all numbers of their summaries except the seed, the hash of the trace and the wall-clock time.

Ten identical runs are one run. They say nothing about the spread of a mean, so the mean has no interval, and the
difference of two such cells has no ``p``.
"""

import hashlib
import json
from collections.abc import Iterable
from typing import TYPE_CHECKING

from anabranch.sentences import common as say
from anabranch.sweeps import dataset
from anabranch.sweeps.task import FAILED, REFUSED

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from anabranch.sweeps.task import Record

QUICK = ("events", "last_byte_s", "goodput_mbps")
"""Measures that tell most runs apart: only if all of them are equal, the others are compared, too."""
EVENTS = "events_hash"
_ASIDE = frozenset(
    {*dataset.IDENTITY, "trace_sha256", EVENTS, "wall_s", "error", "samples", "key", "engine", "machine"}
)
"""Columns that may differ between identical runs."""


def fingerprint(record: "Record") -> str:
    """Return what tells a run from runs of other seeds that went otherwise; identical runs have the same one."""
    if record.events_hash:
        return record.events_hash
    measured = {
        name: value for name, value in dataset.numbers(json.loads(record.summary)).items() if name not in _ASIDE
    }
    return hashlib.sha256(json.dumps(measured, sort_keys=True).encode()).hexdigest()


def identical(fingerprints: Iterable[str]) -> bool:
    """Return whether there are two or more runs, all of them identical.

    >>> identical(["a", "a"]), identical(["a", "b"]), identical(["a"])
    (True, False, False)
    """
    found = list(fingerprints)
    return len(found) > 1 and len(set(found)) == 1


def said(n: int, same: int) -> str:
    """Say how many runs there are; `same` is how many identical ones `n` counts as one.

    >>> said(10, 0), said(1, 0), said(1, 10)
    ('10 runs', '1 run', '1 run (10 identical)')
    """
    return say.RUNS_IDENTICAL(runs=n, identical=same) if same else say.RUNS(runs=n)


def lack_events(frame: "pd.DataFrame") -> bool:
    """Return whether there are runs with a result but without a hash of their events."""
    if EVENTS not in frame.columns:
        return True
    done = ~frame["status"].isin([REFUSED, FAILED])
    return bool((frame.loc[done, EVENTS].astype(str) == "").any())


def hashes(frame: "pd.DataFrame") -> "NDArray[np.uint64]":
    """Return a number above 0 for each row of `frame`, equal for identical runs; its columns are of ``sweep.runs``."""
    import numpy as np
    from pandas.util import hash_array, hash_pandas_object

    names = sorted(name for name in frame.columns if name not in _ASIDE and name not in dataset.TEXTS)
    codes = np.asarray(hash_pandas_object(frame[names], index=False), np.uint64)
    if EVENTS in frame.columns:
        events = frame[EVENTS].astype(str).to_numpy()
        codes = np.where(events == "", codes, np.asarray(hash_array(events.astype(object)), np.uint64))
    return codes | np.uint64(1)


def rows(codes: "NDArray[np.uint64]", kept: "NDArray[np.bool_]") -> "NDArray[np.bool_]":
    """Return for each row of `codes` whether there are two or more runs among the `kept` ones, all identical."""
    import numpy as np

    first = np.take_along_axis(codes, kept.argmax(1)[:, None], 1) if codes.shape[1] else codes
    same: NDArray[np.bool_] = (kept.sum(1) > 1) & ((codes == first) | ~kept).all(1)
    return same
