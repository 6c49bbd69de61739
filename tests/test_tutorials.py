"""Runs the commands of README, the tutorials and the how-to pages, and compares what they print with the quotations.

A page marks its code blocks with comments that Markdown does not show, on the line before the block:

``<!-- quick: OPTIONS -->``
    In the quick form the last command of the block gets OPTIONS, such as fewer seeds. Its output is then not compared.
``<!-- not run: REASON -->``
    The block is not run.
``<!-- printed by: COMMAND -->``
    The block quotes what this command prints, although the page tells the reader to type another one.
``<!-- file: NAME -->``
    The block is the text of this file.

Blocks of ``sh`` hold commands of ``anabranch``, whose output may go to a file. Blocks of ``python`` are run, too. A
block of ``text`` quotes what the last block printed: each of its lines, in this order. ``...`` stands for anything.

With ``ANABRANCH_QUOTES=write`` each quoted line that is not printed gives way to the printed line that is most like it,
in the page itself. Read the difference: sentences around the quotation may have to follow.
"""

import os
import re
import shlex
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from textwrap import dedent

import pytest

from helpers import Command, without_figures

ROOT = Path(__file__).resolve().parents[1]
TUTORIALS = sorted((ROOT / "docs/tutorials").glob("*.md"))
OTHERS = [ROOT / name for name in ("README.md", "examples/README.md", "docs/python-algorithms.md")]
OTHERS += sorted((ROOT / "docs/how-to").glob("*.md"))


@dataclass(frozen=True)
class Block:
    """A code block of a page."""

    line: int
    language: str
    text: str
    quick: str | None
    run: bool
    command: str | None
    file: str | None

    def commands(self, quick: bool) -> list[str]:
        """Return the commands, in the quick form with the options of the mark."""
        lines = [line for line in self.text.replace("\\\n", " ").splitlines() if line.strip()]
        return [*lines[:-1], f"{lines[-1]} {self.quick}"] if quick and self.quick else lines


def blocks(page: Path) -> Iterator[Block]:
    """Yield the code blocks that have a language."""
    found = re.finditer(
        r"^ *(?:<!-- (quick|not run|printed by|file): ?(.*?) ?-->\n *)?```(\w+)\n(.*?)^ *```$",
        page.read_text(encoding="utf-8"),
        re.MULTILINE | re.DOTALL,
    )
    for match in found:
        mark, options, language, text = match.groups()
        yield Block(
            line=match.string.count("\n", 0, match.start()) + 1,
            language=language,
            text=dedent(text),
            quick=options if mark == "quick" else None,
            run=mark != "not run",
            command=options if mark == "printed by" else None,
            file=options if mark == "file" else None,
        )


def quoted(text: str, printed: str) -> str | None:
    """Return the first line of the quoted text that was not printed, or None."""
    lines = [" ".join(line.split()) for line in printed.splitlines()]
    at = 0
    for wanted in filter(None, (" ".join(line.split()) for line in text.splitlines())):
        pattern = re.compile(".*".join(re.escape(part) for part in wanted.split("...")))
        if wanted == "...":
            continue
        while at < len(lines) and not pattern.fullmatch(lines[at]):
            at += 1
        if at == len(lines):
            return wanted
        at += 1
    return None


def requoted(text: str, printed: str) -> str:
    """Return the quotation with the most similar printed line in place of each line that is not printed."""
    lines = [line.rstrip() for line in printed.splitlines()]

    def fresh(line: str) -> str:
        if "..." in line or quoted(line, printed) is None:
            return line
        return max(lines, key=lambda other: SequenceMatcher(None, line, other).ratio())

    return "".join(fresh(line) + "\n" for line in text.splitlines())


def expanded(word: str) -> list[str]:
    """Return the files that a shell puts in place of the word."""
    return sorted(map(str, Path().glob(word))) if "*" in word else [word]


def follow(page: Path, command: Command, capfd: pytest.CaptureFixture[str], *, quick: bool) -> None:
    """Do what a page says in the working directory, which gets the examples."""
    Path("examples").symlink_to(ROOT / "examples")
    printed, comparable, names = "", False, dict[str, object]()
    for block in blocks(page):
        place = f"{page.name}:{block.line}"
        match block.language:
            case _ if block.file:
                Path(block.file).write_text(block.text, encoding="utf-8")
            case "sh" if block.run:
                printed, comparable = "", not (quick and block.quick is not None)
                for text in block.commands(quick):
                    words, target = shlex.split(text, comments=True), None
                    if ">" in words:
                        at = words.index(">")
                        target = words[at + 1]
                        del words[at : at + 2]
                    assert words[0] == "anabranch", f"{place}: {text}"
                    words = [file for word in words for file in expanded(word)]
                    done = command(*words[1:])
                    assert done.status == 0, f"{place}: {text}\n{done.out}{done.err}"
                    if target is not None:
                        Path(target).write_text(done.out, encoding="utf-8")
                    printed += done.err if target is not None else done.out + done.err
            case "python" if block.run:
                capfd.readouterr()
                exec(compile(block.text, place, "exec"), names)
                printed, comparable = capfd.readouterr().out, not (quick and block.quick is not None)
            case "sh" | "python":
                comparable = False
            case "text" if comparable or block.command:
                if block.command:
                    printed = command(*shlex.split(block.command)[1:]).out
                if os.environ.get("ANABRANCH_QUOTES") == "write":
                    fresh = page.read_text(encoding="utf-8").replace(block.text, requoted(block.text, printed))
                    page.write_text(fresh, encoding="utf-8")
                    continue
                missing = quoted(block.text, printed)
                assert missing is None, f"{place}: not printed: {missing}\n{printed[-4000:]}"


def test_a_quotation_is_compared_line_by_line() -> None:
    assert quoted("a  b\n...\nc ... e", "a b\nx\nc d e\n") is None
    assert quoted("c\na", "a\nc\n") == "a"


def test_a_quotation_is_renewed_line_by_line() -> None:
    assert requoted("together 6.4\n...\nsrtt 3\n", "x\ntotal 6.4\nsrtt  3\n") == "total 6.4\n...\nsrtt 3\n"


@pytest.mark.parametrize("page", [*TUTORIALS, *OTHERS], ids=lambda page: page.relative_to(ROOT).as_posix())
@pytest.mark.usefixtures("here")
def test_the_commands_run(page: Path, command: Command, capfd: pytest.CaptureFixture[str]) -> None:
    """Draws the figures of pages about figures only: no quotation shows one."""
    with nullcontext() if "figure" in page.name else without_figures():
        follow(page, command, capfd, quick=True)


@pytest.mark.long
@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
@pytest.mark.usefixtures("here")
def test_the_whole_tutorial_prints_what_it_quotes(
    page: Path, command: Command, capfd: pytest.CaptureFixture[str]
) -> None:
    follow(page, command, capfd, quick=False)


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_a_tutorial_has_at_most_1200_words(page: Path) -> None:
    assert len(page.read_text(encoding="utf-8").split()) <= 1200
