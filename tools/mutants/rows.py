"""Rows of docs/rfc, the code under the comments that they cite, and the tests that they name."""

import hashlib
import importlib.machinery
import importlib.util
import re
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[2]
NAME = r"(?:pub(?:\([a-z]+\))? )?"
ITEM = re.compile(rf"\s*{NAME}(?:const |unsafe |async )*(fn|struct|enum|trait|const|static|impl|mod)\b\s*(\w*)")
FIELD = re.compile(rf"\s*({NAME})(\w+): .*,$")
VARIANT = re.compile(r"\s*([A-Z]\w*)(?:,|\(.*|\s\{.*)$")
# A name that is used on more lines has other meanings, too.
MANY = 12
# A sample of rows, and the rows whose requirements are all tried, which a sample leaves out.
SAMPLE = re.compile(r"sample:(\d+)$")
ALL = {(8684, "MUST"), (9293, "MUST")}


def rfc_map(root: Path = ROOT) -> ModuleType:
    """The program tools/rfc-map, which reads the lists, as a module."""
    if "rfc_map" not in sys.modules:
        loader = importlib.machinery.SourceFileLoader("rfc_map", str(root / "tools" / "rfc-map"))
        spec = importlib.util.spec_from_loader("rfc_map", loader)
        assert spec
        sys.modules["rfc_map"] = importlib.util.module_from_spec(spec)
        loader.exec_module(sys.modules["rfc_map"])
    return sys.modules["rfc_map"]


@dataclass(frozen=True)
class Span:
    """Lines of a file, from 1, the last one included. `wide`: more code than one statement or function."""

    file: str
    first: int
    last: int
    wide: bool = False

    def has(self, file: str, first: int, last: int) -> bool:
        """Those lines of that file are among these."""
        return file == self.file and self.first <= first and last <= self.last


# ---- which rows ---------------------------------------------------------------------------------------------------


def key(number: int, row) -> tuple[int, str, str]:
    """What tells a row from the others, also after it has moved."""
    return number, row.section, row.says


def chosen(rfcs: list, which: list[str], level: str | None, seed: int) -> list[tuple]:
    """RFC and row of each row with a line and a test that is named by `8684`, `9293:3.8.6` or `sample:100`."""
    rows = [(rfc.number, row) for rfc in rfcs for row in rfc.rows if row.code and row.test]
    found: dict[tuple, tuple] = {}
    for word in which:
        if m := SAMPLE.match(word):
            fit = sample(rows, int(m[1]), seed)
        else:
            number, _, section = word.partition(":")
            inside = lambda r, s=section: not s or f"{r.section}.".startswith(f"{s}.")  # noqa: E731
            fit = [(n, r) for n, r in rows if str(n) == number and inside(r) and level in (None, r.level)]
            if not fit:
                raise SystemExit(
                    f"--rfc {word}: docs/rfc has no such row with `code` and `test`: give RFC[:SECTION] or sample:N"
                )
        found |= {key(n, r): (n, r) for n, r in fit}
    return list(found.values())


def sample(rows: list[tuple], count: int, seed: int) -> list[tuple]:
    """So many of the obeyed rows, without those that are all tried.

    The place of a row follows from the seed and what the row says, so that it stays when others come or go.
    """
    rest = [(n, r) for n, r in rows if r.status == "obeyed" and (n, r.level) not in ALL]
    return sorted(rest, key=lambda of: hashlib.sha256(f"{seed} {key(*of)}".encode()).digest())[:count]


# ---- the code under a comment -------------------------------------------------------------------------------------


def indent(line: str) -> int:
    """The columns before the text of a line."""
    return len(line) - len(line.lstrip())


def extent(lines: list[str], at: int) -> int:
    """The last line (from 0) of the item, field or statement that begins at line `at`, as rustfmt sets it."""
    column, last = indent(lines[at]), at
    for i in range(at + 1, len(lines)):
        text = lines[i].strip()
        # A head over several lines: its body begins with a brace of its own, or with `where`.
        goes_on = indent(lines[i]) == column and text.startswith((*"})].?{", "where"))
        if text and indent(lines[i]) <= column and not goes_on:
            break
        if text:
            last = i
    return last


def tests_begin(lines: list[str]) -> int:
    """The line (from 0) where the tests of a file begin."""
    return next((i for i, line in enumerate(lines) if line.startswith("#[cfg(test)]")), len(lines))


def under(file: str, lines: list[str], comment: int) -> tuple[list[Span], str, bool]:
    """The code under the comment at a line, from 1.

    With it the name of the field, constant, variant or type that the comment is about, and whether it is public.
    """
    at = comment - 1
    if not lines[at].strip().startswith("//"):
        return [Span(file, comment, extent(lines, at) + 1)], "", False
    if lines[at].startswith("//!"):
        return [Span(file, 1, tests_begin(lines), wide=True)], "", False
    while at < len(lines) and lines[at].strip().startswith(("//", "#[")):
        at += 1
    column = indent(lines[comment - 1])
    if at == len(lines) or indent(lines[at]) < column:
        # Nothing follows in its block: the block is meant.
        first = next(i for i in range(comment - 2, -1, -1) if lines[i].strip() and indent(lines[i]) < column)
        return [Span(file, first + 1, extent(lines, first) + 1)], "", False
    span = Span(file, at + 1, extent(lines, at) + 1)
    item, doc = ITEM.match(lines[at]), lines[comment - 1].strip().startswith("///")
    if item and item[1] in ("struct", "enum", "trait"):
        head = re.compile(rf"impl\b.*\b{item[2]}\b.*\{{$")
        blocks = [i for i, line in enumerate(lines[: tests_begin(lines)]) if head.match(line)]
        return [Span(file, i + 1, extent(lines, i) + 1, wide=True) for i in blocks], item[2], True
    if item and item[1] in ("const", "static"):
        return [span], item[2], "pub" in lines[at]
    if doc and (m := FIELD.match(lines[at])):
        return [], m[2], bool(m[1])
    if doc and not item and (m := VARIANT.match(lines[at])):
        return [], m[1], True
    return [span], "", False


def declared(lines: list[str]) -> set[int]:
    """The lines (from 0) that only say which fields and variants a type has."""
    heads = [i for i, line in enumerate(lines) if (m := ITEM.match(line)) and m[1] in ("struct", "enum")]
    return {i for head in heads for i in range(head, extent(lines, head) + 1)}


def uses(name: str, files: dict[str, list[str]]) -> list[Span]:
    """The lines on which a field, constant or variant is set or read."""
    field = rf"\.{name}\b(?!\()|(?<![.\w]){name}: "
    word = re.compile(field if name.islower() else rf"\b{name}\b")
    found = []
    for file, lines in files.items():
        types = declared(lines)
        for i, line in enumerate(lines[: tests_begin(lines)]):
            code = line.split("//")[0]
            if word.search(code) and i not in types and not code.strip().startswith("use "):
                found.append(Span(file, i + 1, i + 1))
    return found


def scope(root: Path, row) -> list[Span]:
    """The code that is broken for a row."""
    found: list[Span] = []
    for place in row.lines:
        file = place.path.as_posix()
        lines = (root / file).read_text().splitlines()
        spans, name, public = under(file, lines, place.line)
        if name and (public or not spans or not spans[0].wide):
            files = {file: lines}
            if public:
                every = sorted((root / "stack" / "src").rglob("*.rs"))
                sources = [p for p in every if p.name != "tests.rs" and "testing" not in p.parts]
                files = {p.relative_to(root).as_posix(): p.read_text().splitlines() for p in sources}
            spans = spans or []
            if not any(s.wide for s in spans):
                used = uses(name, files)
                spans += [replace(s, wide=len(used) > MANY) for s in used]
        found += spans
    return list(dict.fromkeys(found))


# ---- the tests that a row names -----------------------------------------------------------------------------------


def program_of(test: str) -> tuple[str, str]:
    """The program that has the test, and the words of which the test's full name consists: its module, and its own."""
    if test.endswith(".pkt"):
        return "lab-it", test
    where, _, name = test.rpartition("::")
    if "/" not in where:
        return "stack-it", f"{where}::{name}"
    module = where.removeprefix("stack/src/").removesuffix(".rs").removesuffix("/mod").replace("/", "::")
    return "stack", f"{module.removesuffix('::tests')}::{name}"


def full_name(wanted: str, names: list[str]) -> str | None:
    """The full name of a test: modules of tests may stand between its module and its own name."""
    module, _, own = wanted.rpartition("::")
    fit = [n for n in names if n == wanted or (n.startswith(f"{module}::") and n.endswith(f"::{own}"))]
    return min(fit, key=len) if fit else None
