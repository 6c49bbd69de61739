"""What ``anabranch plot`` makes of a directory."""

from collections.abc import Iterable, Sequence
from typing import Unpack

from anabranch.capture import Capture
from anabranch.capture_report import CAPTURE_FIGURES, capture_html
from anabranch.capture_report import image as capture_image
from anabranch.capture_store import marker
from anabranch.kinds import ANALYSIS, kind
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
        A run, or an analysis of captures.
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
    _known(names, [*FIGURES, *CAPTURE_FIGURES])
    usual = look.get("title", True) and not look.get("width") and not look.get("height")
    report = bool(whole and usual and not names)
    if kind(directory) == ANALYSIS:
        return _of_captures(directory, names, form, look, report=report)
    result = load(directory)
    _known(names, FIGURES)
    made = {f"{name}.{form}": image(result, name, form, **look) for name in names or FIGURES}
    if report:
        made[REPORT] = report_html(result, render(result), directory).encode()
    return made


def _known(names: Sequence[str], choices: Iterable[str]) -> None:
    for name in names:
        if name not in choices:
            raise LookError(f"figure: {name!r} is not a figure; choices: {', '.join(dict.fromkeys(choices))}")


def _of_captures(
    directory: str, names: Sequence[str], form: str, look: style.Look, *, report: bool
) -> dict[str, bytes]:
    capture = Capture.load(directory)
    _known(names, CAPTURE_FIGURES)
    made = {f"{name}.{form}": capture_image(capture, name, form, **look) for name in names or CAPTURE_FIGURES}
    if report:
        figures = {name: capture_image(capture, name, "svg").decode() for name in CAPTURE_FIGURES}
        made[REPORT] = capture_html(capture, figures, marker(directory)).encode()
    return made
