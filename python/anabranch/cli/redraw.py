"""What ``anabranch plot`` makes of a directory: a result, an analysis of captures, or a sweep."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Unpack

from anabranch.captures.report import CAPTURE_FIGURES, capture_html
from anabranch.captures.report import figures_of as capture_figures
from anabranch.captures.report import image as capture_image
from anabranch.captures.report import omitted as capture_omits
from anabranch.captures.store import marker
from anabranch.captures.store import read as read_capture
from anabranch.plots import ALL, figures_of, image, render, style
from anabranch.plots.letters import formula_fault
from anabranch.plots.size import LookError
from anabranch.plots.wording import Wanted
from anabranch.results.directory import REPORT
from anabranch.results.result_kinds import ANALYSIS, SWEEP, kind
from anabranch.runs.report import report_html
from anabranch.runs.store import read
from anabranch.sentences.nearest import hint


def files(
    directory: str,
    names: Sequence[str],
    form: str,
    *,
    whole: bool,
    over: str | None = None,
    by: Sequence[str] = (),
    where: Sequence[str] = (),
    **look: Unpack[style.Look],
) -> dict[str, bytes]:
    """Figures of what is in `directory`, by name of their files.

    Parameters
    ----------
    directory : str
        A run, an analysis of captures, or a sweep.
    names : sequence of str
        Which; all if none is named.
    form : str
        ``svg``, ``png`` or ``pdf``.
    whole : bool
        The report, too, if figures of all names and of the usual look are wanted.
    over, by, where
        Of a sweep: the axis below, those whose values are lines, ``AXIS=VALUE`` for others.
    **look
        Title, width and height, texts in place of others.

    Raises
    ------
    LookError
        The name of an option, and what is wrong with it.
    ResultError
        If `directory` is neither.
    """
    made = _files(directory, names, form, whole=whole, over=over, by=by, where=where, **look)
    for option in ("rename", "label"):
        texts = look.get(option)
        if isinstance(texts, Wanted) and (unused := texts.unused()):
            raise LookError(f"{option}: no figure has {unused[0]!r}; they have: {', '.join(texts.there)}")
    return made


def _files(
    directory: str,
    names: Sequence[str],
    form: str,
    *,
    whole: bool,
    over: str | None,
    by: Sequence[str],
    where: Sequence[str],
    **look: Unpack[style.Look],
) -> dict[str, bytes]:
    style.size(look)
    usual = look.get("title", True) and not any(look.get(key) for key in ("width", "height", "rename", "label"))
    what = kind(directory)
    if what == SWEEP:
        return _of_sweep(directory, names, form, over, by, where, look, whole=whole and bool(usual))
    for option, given in (("over", over), ("by", by), ("where", where)):
        if given:
            raise LookError(f"{option}: is for the figures of a sweep, and {directory} is not a sweep")
    _known(names, [*ALL, *CAPTURE_FIGURES])
    report = bool(whole and usual and not names)
    if what == ANALYSIS:
        return _of_captures(directory, names, form, look, report=report)
    result = read(directory)
    _known(names, figures_of(result))
    made = {f"{name}.{form}": image(result, name, form, **look) for name in names or figures_of(result)}
    if report:
        made[REPORT] = report_html(result, render(result), directory).encode()
    return made


def wanted(option: str, pairs: Iterable[str]) -> Wanted | None:
    """What an option asks for: texts by what they stand in place of; None if it was not given."""
    texts = Wanted()
    for pair in pairs:
        old, _, new = pair.partition("=")
        if not (old and new):
            raise LookError(f"{option}: {pair!r} is not {_FORMS[option]}")
        if old in texts:
            raise LookError(f"{option}: {old!r} is given twice")
        if formula_fault(new):
            raise LookError(f"{option}: {new!r} has a formula that cannot be set; write \\$ for a dollar sign")
        texts[old] = new
    return texts or None


_FORMS = {
    "rename": "OLD=NEW, such as rtt-compensator=Coupled",
    "label": "NAME=TEXT, such as 'goodput_mbps=Goodput in Mbit/s'",
}


def _known(names: Sequence[str], choices: Collection[str]) -> None:
    for name in names:
        if name not in choices:
            raise LookError(
                f"figure: {name!r} is not a figure{hint(name, choices)}; choices: {', '.join(dict.fromkeys(choices))}"
            )


def _of_captures(
    directory: str, names: Sequence[str], form: str, look: style.Look, *, report: bool
) -> dict[str, bytes]:
    capture = read_capture(directory)
    _known(names, CAPTURE_FIGURES)
    shown = capture_figures(capture)
    for name in names:
        if name not in shown:
            raise LookError(f"figure: {name!r} is empty for {directory}. {capture_omits(capture)}")
    made = {f"{name}.{form}": capture_image(capture, name, form, **look) for name in names or shown}
    if report:
        figures = {name: capture_image(capture, name, "svg").decode() for name in shown}
        made[REPORT] = capture_html(capture, figures, marker(directory)).encode()
    return made


def _of_sweep(
    directory: str,
    names: Sequence[str],
    form: str,
    over: str | None,
    by: Sequence[str],
    where: Sequence[str],
    look: style.Look,
    *,
    whole: bool,
) -> dict[str, bytes]:
    from anabranch.sweeps import figures
    from anabranch.sweeps.report import page
    from anabranch.sweeps.store import read as read_sweep

    sweep = read_sweep(directory)
    whole = whole and not (names or over or by or where)
    cut: dict[str, Any] = {"x": over, "by": list(by) or None, "where": _values(where)}
    made = {}
    for name in names or figures.usual(sweep):
        try:
            made[f"{name}.{form}"] = figures.image(sweep, name, form, **cut, **look)
        except ValueError as error:
            raise LookError(f"figure {name}: {error}") from None
    if whole:
        drawn = {name: figures.image(sweep, name, "svg").decode() for name in figures.usual(sweep)}
        made[REPORT] = page(sweep, drawn, directory).encode()
    return made


def _values(where: Sequence[str]) -> Mapping[str, str]:
    found = {}
    for text in where:
        name, equals, value = text.rpartition("=")
        if not equals or not name:
            raise LookError(f"where: {text!r} is not AXIS=VALUE, such as controller=coupled")
        found[name] = value
    return found
