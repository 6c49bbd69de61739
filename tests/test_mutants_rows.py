"""`tools/mutants --rfc`: the choice of rows, code and tests, without compiling any mutant."""

import importlib
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

TOOL = Path(__file__).parents[1] / "tools" / "mutants"
CODE = """//! RFC 1 2: the whole file.

/// RFC 1 3: a function.
#[inline]
fn three(
    a: u32,
) -> u32 {
    // RFC 1 4: a statement
    // of several lines.
    let b = a
        .max(1)
        .min(9);
    // RFC 1 5: a condition.
    if b > 3 {
        return b;
    } else {
        drop(b);
    }
    match a {
        1 => 2, // RFC 1 6: an arm.
        _ => b,
    }
}

/// RFC 1 7: a type.
struct Seven {
    /// RFC 1 8: a field.
    eight: u32,
}

impl Seven {
    fn new() -> Self {
        Self { eight: 8 }
    }
}

impl Drop for Seven {
    fn drop(&mut self) {
        self.eight = 0;
    }
}

/// RFC 1 9: a constant.
const NINE: u32 = 9;

fn ten() -> u32 {
    NINE + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn eleven() -> u32 {
        NINE + Seven::new().eight
    }
}
"""


@pytest.fixture
def rows(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The module tools/mutants/rows.py."""
    monkeypatch.syspath_prepend(str(TOOL))
    return importlib.import_module("rows")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A repository with the source file `CODE`."""
    file = tmp_path / "crates" / "stack" / "src" / "one.rs"
    file.parent.mkdir(parents=True)
    file.write_text(CODE)
    return tmp_path


def line(words: str, after: int = 0) -> int:
    """Number (from 1) of the first line of `CODE` beyond line `after` that contains `words`."""
    return next(n for n, text in enumerate(CODE.splitlines(), 1) if words in text and n > after)


def spans(rows: ModuleType, tree: Path, words: str) -> list[tuple[int, int]]:
    """First and last line of each span that `rows.scope` finds for the comment with `words`."""
    place = SimpleNamespace(path=Path("crates/stack/src/one.rs"), line=line(words))
    return [(s.first, s.last) for s in rows.scope(tree, SimpleNamespace(lines=[place]))]


def row(says: str, section: str = "1", level: str = "SHOULD", **given: object) -> SimpleNamespace:
    """A row of docs/rfc with the status `obeyed`; `given` overrides its fields."""
    plain = {"code": ["one.rs"], "test": ["one::two"], "status": "obeyed"}
    return SimpleNamespace(says=says, section=section, level=level, **(plain | given))


def test_a_comment_stands_above_the_item_or_statement_that_is_broken(rows: ModuleType, tree: Path) -> None:
    end = line("/// RFC 1 7") - 2
    assert spans(rows, tree, "RFC 1 3") == [(line("fn three"), end)]
    assert spans(rows, tree, "RFC 1 4") == [(line("let b"), line(".min(9)"))]
    assert spans(rows, tree, "RFC 1 5") == [(line("if b > 3"), line("match a") - 1)]
    assert spans(rows, tree, "RFC 1 6") == [(line("1 => 2"), line("1 => 2"))]


def test_a_type_is_broken_in_its_methods_and_a_field_or_constant_where_it_is_used(rows: ModuleType, tree: Path) -> None:
    first, second = line("impl Seven"), line("impl Drop")
    assert spans(rows, tree, "RFC 1 7") == [(first, second - 2), (second, line("/// RFC 1 9") - 2)]
    assert spans(rows, tree, "RFC 1 8") == [(line("Self { eight"),) * 2, (line("self.eight"),) * 2]
    constant = line("const NINE")
    assert spans(rows, tree, "RFC 1 9") == [(constant, constant), (line("NINE + 1"),) * 2]


def test_a_head_means_the_file_without_its_tests(rows: ModuleType, tree: Path) -> None:
    assert spans(rows, tree, "RFC 1 2") == [(1, line("#[cfg(test)]") - 1)]


def test_rows_are_named_by_rfc_section_and_level(rows: ModuleType) -> None:
    first = [row("a", "3.1", "MUST"), row("b", "3.1.2"), row("c", "3.10"), row("d", "3.1", code=[])]
    rfcs = [SimpleNamespace(number=1, rows=first), SimpleNamespace(number=2, rows=[row("e")])]

    def says(which: list[str], level: str | None = None) -> list[str]:
        return [r.says for _, r in rows.chosen(rfcs, which, level, 1)]

    assert says(["1"]) == ["a", "b", "c"]
    assert says(["1:3.1"]) == ["a", "b"]
    assert says(["1", "2", "1:3.1"]) == ["a", "b", "c", "e"]
    assert says(["1"], "MUST") == ["a"]
    with pytest.raises(SystemExit, match="has no such row"):
        says(["3"])


def test_a_sample_follows_from_its_seed_and_leaves_out_what_is_all_tried(rows: ModuleType) -> None:
    musts = [(8684, row("m", level="MUST")), (9293, row("n", level="MUST"))]
    some = [(1, row(f"r{n}")) for n in range(30)]
    away = [(1, row("away", status="by choice"))]

    def of(given: list[tuple[int, SimpleNamespace]], seed: int) -> list[str]:
        return [r.says for _, r in rows.sample(given, 10, seed)]

    first = of(musts + some + away, 1)
    assert len(set(first)) == 10
    assert not {"m", "n", "away"} & set(of(musts + some + away, 1) + of(musts + away, 1))
    assert first == of(list(reversed(some)), 1)
    assert first != of(some, 2)
    fewer = [s for s in some if s[1].says != first[0]]
    assert of(fewer, 1)[:9] == first[1:]


def test_the_tests_of_a_row_are_found_in_their_programs(rows: ModuleType) -> None:
    assert rows.program_of("rfc1::two") == ("stack-it", "rfc1::two")
    assert rows.program_of("crates/stack/src/tcp/one.rs::two") == ("stack", "tcp::one::two")
    assert rows.program_of("crates/stack/src/tcp/mod.rs::two") == ("stack", "tcp::two")
    assert rows.program_of("crates/stack/src/tcp/one/tests.rs::two") == ("stack", "tcp::one::two")
    names = ["tcp::one::tests::two", "tcp::one::tests::twenty_two", "tcp::ones::tests::two"]
    assert rows.full_name("tcp::one::two", names) == names[0]
    assert rows.full_name("tcp::one::three", names) is None


def test_own_mutants_lie_in_the_code_under_the_comment(
    rows: ModuleType, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("tree_sitter_rust")
    monkeypatch.syspath_prepend(str(TOOL))
    breaking = importlib.import_module("breaking")
    source = breaking.Source(tree, "crates/stack/src/one.rs")

    def name(mutant: dict[str, str]) -> str:
        return mutant["name"].split(": ")[1]

    field = rows.Span("crates/stack/src/one.rs", line("self.eight"), line("self.eight"))
    assert sorted(map(name, source.mutants(field))) == ["0 -> 1", "without `self.eight = 0;`"]
    whole = rows.Span("crates/stack/src/one.rs", line("if b > 3"), line("match a") - 1)
    found = sorted(map(name, source.mutants(whole)))
    assert found[:3] == ["3 -> 2", "3 -> 4", "not `b > 3`"]
    assert [n for n in found if n.startswith("without `if b > 3")]
    told = source.rewrite(".max(1)", ".max(2)")
    assert (told["span"]["start"], told["replacement"]) == ({"line": line(".max(1)"), "column": 9}, ".max(2)")
    with pytest.raises(ValueError, match="2 times"):
        source.rewrite("NINE + ", "")
    sys.modules.pop("breaking")
