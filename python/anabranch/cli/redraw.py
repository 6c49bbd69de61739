"""What ``anabranch plot`` makes of a stored result."""

from collections.abc import Iterable, Sequence
from typing import Unpack

from anabranch.plots import style
from anabranch.plots.letters import formula_fault
from anabranch.plots.size import LookError
from anabranch.plots.wording import Wanted
from anabranch.results.result_kinds import Drawing, kind


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

    The parameters are the attributes of `Drawing`. If `whole` is true, the report is made, too, unless anything but
    all figures in their usual look is wanted.

    Raises
    ------
    LookError
        The name of an option, and what is wrong with it.
    ResultError
        If `directory` is no result that has figures.
    """
    style.size(look)
    usual = look.get("title", True) and not any(look.get(key) for key in ("width", "height", "rename", "label"))
    report = bool(whole and usual and not (names or over or by or where))
    made = kind(directory).draw(directory, Drawing(names, form, report, over, by, where, look))
    for option in ("rename", "label"):
        texts = look.get(option)
        if isinstance(texts, Wanted) and (unused := texts.unused()):
            drawn = "no figure has" if not (names or where) else "none of the figures drawn has"
            if not texts.there:
                raise LookError(
                    f"{option}: the figures have no text that --{option} could replace; leave --{option} out"
                )
            there = ", ".join(map(repr, texts.there))
            raise LookError(f"{option}: {drawn} {unused[0]!r}; they have: {there}")
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
