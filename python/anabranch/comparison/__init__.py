"""Two results beside each other: runs, analyses of captures, a run and an analysis, or sweeps."""

from anabranch import capture_store, store
from anabranch.comparison.errors import MeasureError
from anabranch.directory import ResultError
from anabranch.kinds import MEANING, RUN, STUDY, SWEEP, kind
from anabranch.tables import Document

__all__ = ["MeasureError", "compare"]


def compare(first: str, second: str, measure: str | None = None) -> Document:
    """What ``anabranch compare`` answers.

    Parameters
    ----------
    first, second : str
        Directories.
    measure : str, optional
        What of two sweeps is compared; their goodput if not given.

    Raises
    ------
    ResultError
        If a directory is no result, or the two are of kinds that have nothing to compare.
    MeasureError
        If the runs of sweeps have no such number, or the two are no sweeps.
    """
    kinds = kind(first), kind(second)
    if measure is not None and kinds != (SWEEP, SWEEP):
        raise MeasureError("only two sweeps are compared by one measure; of all else every number is shown")
    names = (first, second)
    match kinds:
        case ("run", "run"):
            from anabranch.comparison import runs

            return runs.document(store.read(first), store.read(second), names)
        case ("analysis", "analysis"):
            from anabranch.comparison import captures

            return captures.document(capture_store.read(first), capture_store.read(second), names)
        case ("run", "analysis") | ("analysis", "run"):
            from anabranch.comparison import mixed

            loaded = [store.read(x) if k == RUN else capture_store.read(x) for x, k in zip(names, kinds, strict=True)]
            return mixed.document(loaded[0], loaded[1], names)
        case ("sweep", "sweep"):
            from anabranch.comparison import sweeps

            return sweeps.document(first, second, measure)
    if STUDY in kinds:
        study = first if kinds[0] == STUDY else second
        raise ResultError(f"{study}: {MEANING[STUDY]}; compare one of these")
    raise ResultError(
        f"{first} is {MEANING[kinds[0]]}, {second} is {MEANING[kinds[1]]}\n"
        "compared are two runs, two sweeps, two analyses, or a run and an analysis"
    )
