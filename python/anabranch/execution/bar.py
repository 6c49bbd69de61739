"""A progress bar of tqdm, which notebooks show unless the caller shows progress itself."""

import contextlib
import sys
import warnings
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from anabranch.execution.progress import State


def in_notebook() -> bool:
    """Whether this process is the kernel of a notebook."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return type(shell).__name__ == "ZMQInteractiveShell"


@contextlib.contextmanager
def bar(given: "Callable[[State], None] | None", name: str) -> "Iterator[Callable[[State], None] | None]":
    """Within the block, what shows progress: `given`, or a bar in a notebook that has tqdm, or None.

    Parameters
    ----------
    given : callable, optional
        What the caller wants to be called.
    name : str
        What stands before the bar.
    """
    tqdm = None if given is not None or not in_notebook() else _tqdm()
    if tqdm is None:
        yield given
        return
    with tqdm(desc=name, unit=" runs", leave=False) as shown:
        yield lambda state: _show(shown, state)


def _show(shown: Any, state: "State") -> None:
    shown.total = state.total
    shown.n = state.stored + state.done
    if state.failed:
        shown.set_postfix_str(f"{state.failed} failed", refresh=False)
    shown.refresh()


def _tqdm() -> Any:
    """The class `tqdm.auto.tqdm`; None if it is not installed."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # without ipywidgets the bar is text
            from tqdm.auto import tqdm
    except ImportError:
        return None
    return tqdm
