"""Selects rows of docs/rfc and finds, for each row, the code to mutate and the tests to run.

Rows are objects of tools/rfc-map (class `Row`). The code of a row is the code under the comments
that the row cites.
"""

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
# If a field, constant or variant is used on more lines than this, the name probably has other
# meanings too: the spans of its uses are marked wide, and their mutants are thinned out.
MANY = 12
# SAMPLE: the argument `sample:N`. ALL: (RFC, level) pairs of which every row is tried; samples
# leave these rows out.
SAMPLE = re.compile(r"sample:(\d+)$")
ALL = {(8684, "MUST"), (9293, "MUST")}


def rfc_map(root: Path = ROOT) -> ModuleType:
    """Imports tools/rfc-map, which reads docs/rfc/*.toml, as a module, and returns the module."""
    if "rfc_map" not in sys.modules:
        loader = importlib.machinery.SourceFileLoader("rfc_map", str(root / "tools" / "rfc-map"))
        spec = importlib.util.spec_from_loader("rfc_map", loader)
        assert spec
        sys.modules["rfc_map"] = importlib.util.module_from_spec(spec)
        loader.exec_module(sys.modules["rfc_map"])
    return sys.modules["rfc_map"]


@dataclass(frozen=True)
class Span:
    """A range of lines of a file, counted from 1, both ends included.

    `wide`: true if the range is a whole file or type, or a use of a name that is used often.
    """

    file: str
    first: int
    last: int
    wide: bool = False

    def has(self, file: str, first: int, last: int) -> bool:
        """True if lines `first` to `last` of `file` lie within this span."""
        return file == self.file and self.first <= first and last <= self.last


# ---- which rows ----------------------------------------------------------------------------------


def key(number: int, row) -> tuple[int, str, str]:
    """Returns a key that is unique to a row and does not depend on its place in the list."""
    return number, row.section, row.says


def chosen(rfcs: list, which: list[str], level: str | None, seed: int) -> list[tuple]:
    """Returns the chosen rows that have `code` and `test`, as pairs of RFC number and row.

    `which`: arguments such as `8684` (an RFC), `9293:3.8.6` (a section with its subsections) or
    `sample:100`. `level`: keeps only rows of this level, except in samples; None keeps all.
    Ends the program if an RFC or section has no such row.
    """
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
    """Returns a random sample of `count` obeyed rows, without the rows of `ALL`.

    Rows are ordered by a hash of the seed and the row's key. If rows are added or removed, the
    order of the other rows stays the same.
    """
    rest = [(n, r) for n, r in rows if r.status == "obeyed" and (n, r.level) not in ALL]
    return sorted(rest, key=lambda of: hashlib.sha256(f"{seed} {key(*of)}".encode()).digest())[:count]


# ---- the code under a comment --------------------------------------------------------------------


def indent(line: str) -> int:
    """Returns the number of blanks before the text of a line."""
    return len(line) - len(line.lstrip())


def extent(lines: list[str], at: int) -> int:
    """Returns the last line (from 0) of the item, field or statement that begins at line `at`.

    Relies on the indentation of rustfmt.
    """
    column, last = indent(lines[at]), at
    for i in range(at + 1, len(lines)):
        text = lines[i].strip()
        # A head or expression over several lines goes on at the same indentation with `{`, `where`,
        # a closing bracket, `.` or `?`.
        goes_on = indent(lines[i]) == column and text.startswith((*"})].?{", "where"))
        if text and indent(lines[i]) <= column and not goes_on:
            break
        if text:
            last = i
    return last


def tests_begin(lines: list[str]) -> int:
    """Returns the line (from 0) of the first `#[cfg(test)]`; without tests, the number of lines."""
    return next((i for i, line in enumerate(lines) if line.startswith("#[cfg(test)]")), len(lines))


def under(file: str, lines: list[str], comment: int) -> tuple[list[Span], str, bool]:
    """Returns the spans of code that the comment at line `comment` (from 1) describes.

    Also returns the name of the field, constant, variant or type under the comment ("" if there is
    none), and whether other files may use this name (assumed for types and variants).
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
        # The comment is the last thing in its block, so it describes the block.
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
    """Returns the lines (from 0) of struct and enum definitions: these have no code to mutate."""
    heads = [i for i, line in enumerate(lines) if (m := ITEM.match(line)) and m[1] in ("struct", "enum")]
    return {i for head in heads for i in range(head, extent(lines, head) + 1)}


def uses(name: str, files: dict[str, list[str]]) -> list[Span]:
    """Returns a one-line span for each line that sets or reads a field, constant or variant.

    `files`: lines of each file to search, by path. Leaves out tests, type definitions and `use`.
    """
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
    """Returns the spans of code to mutate for a row, without duplicates.

    For a comment on a field, constant or variant, these include the lines that use the name: in all
    sources of `stack` if the name is public, else in the same file.
    """
    found: list[Span] = []
    for place in row.lines:
        file = place.path.as_posix()
        lines = (root / file).read_text().splitlines()
        spans, name, public = under(file, lines, place.line)
        if name and (public or not spans or not spans[0].wide):
            files = {file: lines}
            if public:
                every = sorted((root / "crates" / "stack" / "src").rglob("*.rs"))
                sources = [p for p in every if p.name != "tests.rs" and "testing" not in p.parts]
                files = {p.relative_to(root).as_posix(): p.read_text().splitlines() for p in sources}
            spans = spans or []
            if not any(s.wide for s in spans):
                used = uses(name, files)
                spans += [replace(s, wide=len(used) > MANY) for s in used]
        found += spans
    return list(dict.fromkeys(found))


# ---- the tests that a row names ------------------------------------------------------------------


def program_of(test: str) -> tuple[str, str]:
    """Returns the program (key of `crates.PROGRAMS`) that has a test, and the test's qualified name.

    `test`: a test as rows name it. The returned name may lack modules of tests; see `full_name`.
    For a script (.pkt), returns `acceptance-it` and the script.
    """
    if test.endswith(".pkt"):
        return "acceptance-it", test
    where, _, name = test.rpartition("::")
    if "/" not in where:
        return "stack-it", f"{where}::{name}"
    module = where.removeprefix("crates/stack/src/").removesuffix(".rs").removesuffix("/mod").replace("/", "::")
    return "stack", f"{module.removesuffix('::tests')}::{name}"


def full_name(wanted: str, names: list[str]) -> str | None:
    """Finds the full name of test `wanted` among `names`, the tests of a program.

    Modules such as `tests` may stand between the module and the function in the full name. Returns
    the shortest name that fits, or None if none fits.
    """
    module, _, own = wanted.rpartition("::")
    fit = [n for n in names if n == wanted or (n.startswith(f"{module}::") and n.endswith(f"::{own}"))]
    return min(fit, key=len) if fit else None
