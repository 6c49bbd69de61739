"""What ``anabranch plot`` makes of a directory."""

from collections.abc import Sequence
from typing import Unpack

from anabranch.plots import FIGURES, image, render, style
from anabranch.plots.size import LookError
from anabranch.report import report_html
from anabranch.store import REPORT, load


def files(
    directory: str, names: Sequence[str], form: str, *, whole: bool, **look: Unpack[style.Look]
) -> dict[str, bytes]:
    """Figures of the result in `directory`, by name of their files.

    Parameters
    ----------
    directory : str
        A result.
    names : sequence of str
        Which; all if none is named.
    form : str
        ``svg``, ``png`` or ``pdf``.
    whole : bool
        The report, too, if figures of all names and of the usual look are wanted.
    **look
        Title, width and height.

    Raises
    ------
    LookError
        The name of an option, and what is wrong with it.
    ResultError
        If `directory` is no result.
    """
    style.size(look)
    for name in names:
        if name not in FIGURES:
            raise LookError(f"figure: {name!r} is not a figure; choices: {', '.join(FIGURES)}")
    result = load(directory)
    made = {f"{name}.{form}": image(result, name, form, **look) for name in names or FIGURES}
    usual = look.get("title", True) and not look.get("width") and not look.get("height")
    if whole and usual and not names:
        made[REPORT] = report_html(result, render(result), directory).encode()
    return made
