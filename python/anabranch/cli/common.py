"""What several commands share: options, scenarios named on the command line, answers."""

import json
import os
import shlex
import shutil
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from anabranch.cli.group import Choice
from anabranch.execution import interrupt
from anabranch.results.directory import ResultError, naming
from anabranch.results.drafts import is_direct
from anabranch.scenario import Scenario, ScenarioError
from anabranch.sentences.escape import visible

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    from anabranch.captures.data import CaptureData
    from anabranch.runs.data import RunData

    Command = TypeVar("Command", bound=Callable[..., Any])


set_option = click.option(
    "--set",
    "changes",
    metavar="KEY=VALUE",
    multiple=True,
    help='Change one value of the scenario, such as --set path.1.delay="200 ms". May be repeated.',
)


FORMATS = ("text", "markdown", "latex")
"""Forms of a table; ``--format`` takes them."""
wide_option = click.option(
    "--wide", is_flag=True, help="Show all table columns, even if they are wider than the terminal."
)


def format_option(*more: str) -> "Callable[[Command], Command]":
    """The option ``--format``; `more` are forms beside text, Markdown and LaTeX."""
    return click.option(
        "--format",
        "form",
        type=Choice([*FORMATS, *more]),
        help="Format of the tables. Means have their interval as `mean +- half-width` in latex and markdown.  "
        "[default: text]",
    )


def table_width(*, wide: bool) -> int | None:
    """Characters that tables must fit; None if they may be as wide as they are."""
    from anabranch.tables import terminal_width

    return None if wide else terminal_width()


force_option = click.option(
    "--force",
    is_flag=True,
    help="Replace an older result of a different input, and files that Anabranch did not write.",
)

_BEGINNINGS: "dict[str, tuple[str, bytes, bytes]]" = {
    "--trace": ("a trace", b"         time_s event ", b""),
    "--qlog": ("a qlog", b'\x1e{"file_schema":"urn:ietf:params:qlog:file:sequential"', b'"urn:anabranch:'),
    "--pcap": ("a capture", b"\x0a\x0d\x0d\x0a", b"anabranch "),
}
"""By option: what it writes, how that begins, and what stands somewhere in its first octets."""
_BEGINNING = 1 << 16


class Interrupted(click.ClickException):
    """Ctrl-C or another signal, with a line that says what was kept."""


def spare(target: str, sources: Sequence[str], option: str = "", *, force: bool = False) -> None:
    """Refuse a `target` that cannot be written, or that is one of the captures to be read, before the work begins.

    A file that does not begin as what `option` writes is refused, too, but with `force`.
    """
    if option:
        target.encode()  # the engine takes names in UTF-8 only
    file = Path(target)
    if file.is_dir():
        raise ResultError(f"{target}: it is a directory; name a file")
    if not file.absolute().parent.is_dir():
        raise ResultError(f"{target}: there is no directory {file.parent}; create it, or name another file")
    if file.exists() and any(Path(source).exists() and file.samefile(source) for source in sources):
        raise ResultError(f"{target}: it is one of the captures; name another file to write")
    if not os.access(file if is_direct(target) else file.absolute().parent, os.W_OK):
        raise ResultError(f"{target}: no permission to write it; name another file")
    if option and not force:
        _spare_foreign(file, option)


def _spare_foreign(file: Path, option: str) -> None:
    """Refuse a `file` that does not begin as what `option` writes; an empty one and a pipe or a device are free."""
    if is_direct(file):
        return
    folder = option == "--pcap"  # takes a folder, and the names of the files in it are fixed
    if file.is_symlink():
        remedy = "name another folder" if folder else "name the file itself"
        raise ResultError(f"{option} {file}: a symbolic link; {remedy}, or replace the link with --force")
    what, beginning, within = _BEGINNINGS[option]
    if not file.exists():
        return
    with naming(str(file)), file.open("rb") as content:
        octets = content.read(_BEGINNING)
    if octets and not (octets.startswith(beginning) and within in octets):
        remedy = "name another folder" if folder else "name another file"
        raise ResultError(
            f"{option} {file}: exists and is not {what} of Anabranch; {remedy}, or replace it with --force"
        )


def spare_folder(option: str, target: str) -> None:
    """Refuse a `target` of `option` that cannot be a folder to write into, before the work begins."""
    target.encode()  # the engine takes names in UTF-8 only
    folder = Path(target).absolute()
    there = next(place for place in (folder, *folder.parents) if place.exists())
    if not there.is_dir():
        what = "a file of this name exists" if there == folder else f"{there} is a file"
        raise ResultError(f"{option} {target}: {what}; captures need a folder: name another one")
    if not os.access(there, os.W_OK):
        raise ResultError(f"{option} {target}: no permission to write in {there}; name another folder")


def spare_captures(folder: str, scenario: Scenario, *, force: bool) -> None:
    """Refuse a `folder` in which a capture of `scenario` would replace a file that is none, but with `force`."""
    if force or not Path(folder).is_dir():
        return
    resolved = scenario.check()
    count = dict.fromkeys((*resolved["hosts"], *resolved["routers"]), 0)
    for link in resolved["links"]:
        names = [f"{link['name']}.link"] if link["capture"] else []
        for end in (link["from"], link["to"]):
            names.append(f"{end}-{count[end]}")
            count[end] += 1
        for name in names:
            _spare_foreign(Path(folder) / f"{name}.pcapng", "--pcap")


def write_events(files: Sequence[str], qlog: str) -> None:
    """Write `files` as qlog; Ctrl-C leaves no part of it."""
    from anabranch.captures.data import write_qlog

    with interrupt.raising():
        try:
            write_qlog(files, qlog)
        except KeyboardInterrupt:
            raise Interrupted(f"interrupted: {qlog} was not written") from None


def read_scenario(file: str, changes: Sequence[str]) -> Scenario:
    """The scenario in `file` (``-``: on standard input) with the changes of ``--set``."""
    if file == "-":
        try:
            scenario = Scenario.from_toml(sys.stdin.buffer.read().decode("utf-8-sig"), name="<stdin>")
        except UnicodeDecodeError as error:
            raise click.UsageError(
                f"standard input is not UTF-8 text (octet {error.start}); a scenario is a TOML file"
            ) from None
    else:
        inside = Path(file) / "scenario.toml"
        if inside.is_file():
            raise ResultError(f"{file}: a directory; its scenario is {inside}")
        if is_sweep(file):
            raise ScenarioError(f"{file}: a sweep; run it with `anabranch sweep {file}`")
        refuse_capture(file)
        scenario = Scenario.load(file)
    for change in changes:
        scenario = scenario.set(*key_and_value(change))
    return scenario


_CAPTURES = ("d4c3b2a1", "a1b2c3d4", "4d3cb2a1", "a1b23c4d", "0a0d0d0a", "1f8b")
"""First octets of pcap and pcapng files, and of gzip."""


def refuse_capture(file: str) -> None:
    """Name the command for a capture where a scenario or a sweep is expected."""
    path = Path(file)
    if not path.is_file():
        return
    with naming(file), path.open("rb") as content:
        start = content.read(4).hex()
    if start.startswith(_CAPTURES):
        raise ScenarioError(f"{file}: not a TOML file; if it is a capture: `anabranch diagnose {file}`")


def is_sweep(file: str) -> bool:
    """Returns True if `file` is a sweep file: no scenario has its keys."""
    try:
        document = tomllib.loads(Path(file).read_text(encoding="utf-8-sig")) if Path(file).is_file() else {}
    except (OSError, ValueError):  # whoever reads it says what is wrong
        return False
    return "scenario" in document or "axes" in document


def key_and_value(change: str, option: str = "--set", example: str = 'path.1.delay="200 ms"') -> tuple[str, str]:
    """Key and value of ``--set`` or another `option` of that form."""
    key, equals, value = change.partition("=")
    if not equals or not key.strip():
        raise click.UsageError(f"{option}: {change!r} is not KEY=VALUE, such as {example}")
    return key.strip(), value.strip()


def answer(result: "RunData | CaptureData", form: str, width: int | None = None) -> None:
    """Print `result` as ``json``, ``csv``, one of `FORMATS`, or not at all (``none``); text fits `width`."""
    from anabranch.results import result_kinds

    if form == "json":
        click.echo(json.dumps(result.summary, indent=2, allow_nan=False))  # ASCII, whatever the terminal's encoding
    elif form == "csv":
        from anabranch.runs.text import subflow_csv

        click.echo(subflow_csv(result.summary), nl=False)
    elif form in FORMATS:
        click.echo(result_kinds.readable(result.kind).document(result).written(form, width))
    sys.stdout.flush()


def command_line() -> str:
    """The command as the user gave it, for provenance."""
    return visible(shlex.join(["anabranch", *click.get_current_context().obj]))


def width() -> int:
    """Columns of a text for people."""
    return min(100, shutil.get_terminal_size().columns)
