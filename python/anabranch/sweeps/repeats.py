"""Identical runs: several seeds of a scenario in which nothing is random, or in which chance changed nothing.

Two seeds give different keys and initial sequence numbers, and so different values of ``trace_sha256``, even if every
event happens at the same time. Runs are therefore identical if everything that they measured is equal: all numbers of
their summaries except the seed, that hash and the wall-clock time.

Ten identical runs are one run. They say nothing about the spread of a mean, so the mean has no interval, and the
difference of two such cells has no ``p``.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from anabranch.sweeps import dataset

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

QUICK = ("events", "last_byte_s", "goodput_mbps")
"""Measures that tell most runs apart: only if all of them are equal, the others are compared, too."""
_ASIDE = frozenset({*dataset.IDENTITY, "trace_sha256", "wall_s", "error", "samples", "key", "engine", "machine"})
"""Columns that may differ between identical runs."""


def fingerprint(summary: Mapping[str, Any]) -> str:
    """Return a hash of what a run measured; identical runs have the same one.

    >>> one = {"goodput_mbps": 9.8, "seed": 1, "trace_sha256": "aa", "wall_s": 0.1}
    >>> fingerprint(one) == fingerprint(one | {"seed": 2, "trace_sha256": "bb", "wall_s": 0.2})
    True
    >>> fingerprint(one) == fingerprint(one | {"goodput_mbps": 9.7})
    False
    """
    measured = {name: value for name, value in dataset.numbers(summary).items() if name not in _ASIDE}
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
    return f"{n} run{'' if n == 1 else 's'}" + (f" ({same} identical)" if same else "")


def hashes(frame: "pd.DataFrame") -> "NDArray[np.uint64]":
    """Return a number above 0 for each row of `frame`, equal for rows in which everything measured is equal.

    `frame` has columns of ``sweep.runs``.
    """
    import numpy as np
    from pandas.util import hash_pandas_object

    names = sorted(name for name in frame.columns if name not in _ASIDE and name not in dataset.TEXTS)
    return np.asarray(hash_pandas_object(frame[names], index=False), np.uint64) | np.uint64(1)


def rows(codes: "NDArray[np.uint64]", kept: "NDArray[np.bool_]") -> "NDArray[np.bool_]":
    """Return for each row of `codes` whether there are two or more runs among the `kept` ones, all identical."""
    import numpy as np

    first = np.take_along_axis(codes, kept.argmax(1)[:, None], 1) if codes.shape[1] else codes
    same: NDArray[np.bool_] = (kept.sum(1) > 1) & ((codes == first) | ~kept).all(1)
    return same
