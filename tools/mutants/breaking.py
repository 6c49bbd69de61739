"""Generates the mutants of `tools/mutants --rfc` that cargo-mutants does not make.

Each mutant is a dictionary with the keys of `cargo-mutants --list --json`. The genres are:

- Drop: removes a statement.
- Negate: negates the condition of an `if` or a `while`.
- Default: replaces the value of a field or variable with `Default::default()`.
- Neighbour: makes an integer literal one larger or one smaller.
- Rewrite: replaces the text `from` of a row's `breaks` in docs/rfc with the text `to`.
"""

import re
from pathlib import Path

import tree_sitter
from rows import Span, tests_begin
from schema import RUST

CONSTANT = {"const_item", "static_item"}
# Syntax nodes whose integer literals are not changed: tuple indices, array lengths, patterns etc.
NO_VALUE = {
    "field_expression",
    "array_type",
    "attribute_item",
    "match_pattern",
    "type_arguments",
    "token_tree",
    "range_pattern",
}


def mutant(file: str, node: tuple, genre: str, replacement: str, what: str, function: bool = True) -> dict:
    """Returns a mutant as a dictionary with the keys of `cargo-mutants --list --json`.

    `node`: start and end of the text to replace, each as (line, column), both counted from 1 and
    the column in characters. `what`: the change, for the mutant's name. `function`: false for a
    constant, which cannot have a switch because the compiler evaluates it.
    """
    (line, column), end = node
    span = {"start": {"line": line, "column": column}, "end": {"line": end[0], "column": end[1]}}
    name = f"{file}:{line}:{column}: {what}"
    where = {"function_name": ""} if function else None
    return {"file": file, "span": span, "genre": genre, "replacement": replacement, "name": name, "function": where}


def short(text: str) -> str:
    """Returns `text` on one line, cut to 60 characters."""
    text = re.sub(r"\s+", " ", text)
    return text if len(text) <= 60 else f"{text[:57]}..."


class Source:
    """A Rust source file with its syntax tree.

    `root`: the repository. `file`: path below `root`.
    """

    def __init__(self, root: Path, file: str):
        self.file, self.text = file, (root / file).read_text()
        self.lines = self.text.splitlines()
        self.tree = tree_sitter.Parser(RUST).parse(self.text.encode())
        self.tests = tests_begin(self.lines)

    def at(self, point: tree_sitter.Point) -> tuple[int, int]:
        """Converts a tree-sitter point to (line, column), from 1, the column in characters."""
        return point.row + 1, len(self.lines[point.row].encode()[: point.column].decode()) + 1

    def place(self, node: tree_sitter.Node) -> tuple:
        """Returns start and end of a node, each as (line, column) from 1."""
        return self.at(node.start_point), self.at(node.end_point)

    def nodes(self, span: Span) -> list[tree_sitter.Node]:
        """Returns the named nodes that begin and end within the lines of the span."""
        found, waiting = [], [self.tree.root_node]
        while waiting:
            node = waiting.pop()
            if node.end_point.row + 1 < span.first or node.start_point.row + 1 > span.last:
                continue
            if node.start_point.row + 1 >= span.first and node.end_point.row + 1 <= span.last and node.is_named:
                found.append(node)
            waiting += node.children
        return found

    def mutants(self, span: Span) -> list[dict]:
        """Returns the mutants within the span, of all genres but Rewrite and outside of tests."""
        found = []
        for node in self.nodes(span):
            if node.start_point.row < self.tests:
                found += self.of(node)
        return found

    def of(self, node: tree_sitter.Node) -> list[dict]:
        """Returns the mutants of one syntax node; [] for most kinds of node."""
        text, place, parent = node.text.decode(), self.place(node), node.parent
        above = []
        while parent:
            # A `const fn` cannot read at compile time which mutant is switched on.
            if parent.type == "function_item" and re.match(r"(pub(\([a-z]+\))? )?const ", parent.text.decode()):
                return []
            above.append(parent.type)
            parent = parent.parent
        constant = bool(CONSTANT & set(above))
        if "function_item" not in above and not constant:
            return []
        make = lambda genre, new, what: mutant(self.file, place, genre, new, what, not constant)  # noqa: E731
        kind = node.parent.type if node.parent else ""
        if (
            node.type == "integer_literal"
            and not NO_VALUE & set(above[:3])
            and not any("pattern" in a for a in above[:2])
        ):
            return [make("Neighbour", new, f"{text} -> {new}") for new in neighbours(text)]
        if constant:
            return []
        if node.type == "expression_statement" and kind == "block":
            return [make("Drop", "", f"without `{short(text)}`")]
        condition = (
            node.parent.child_by_field_name("condition") if kind in ("if_expression", "while_expression") else None
        )
        if condition == node and node.type not in ("let_condition", "let_chain"):
            return [make("Negate", f"!({text})", f"not `{short(text)}`")]
        if kind in ("field_initializer", "let_declaration") and node.parent.child_by_field_name("value") == node:
            return [make("Default", "Default::default()", f"default for `{short(text)}`")]
        return []

    def rewrite(self, old: str, new: str) -> dict:
        """Returns the mutant that replaces the text `old` with `new` (a row's `breaks`).

        Raises ValueError unless the file has `old` exactly once.
        """
        if self.text.count(old) != 1:
            raise ValueError(
                f"{self.file} has {short(old)!r} {self.text.count(old)} times: `from` of `breaks` must occur once"
            )
        start = self.text.index(old)
        point = lambda at: (self.text.count("\n", 0, at) + 1, at - self.text.rfind("\n", 0, at))  # noqa: E731
        node = point(start), point(start + len(old))
        return mutant(self.file, node, "Rewrite", new, f"`{short(old)}` -> `{short(new)}`")


def neighbours(text: str) -> list[str]:
    """Returns an integer literal plus 1 and minus 1 as literals with the same type suffix.

    Leaves out negative numbers. Returns [] if `text` is not a decimal or hexadecimal literal.
    """
    m = re.fullmatch(r"(0x[0-9a-fA-F_]+?|[0-9][0-9_]*)([iu](?:8|16|32|64|128|size))?", text)
    if not m:
        return []
    value, suffix = int(m[1].replace("_", ""), 0), m[2] or ""
    return [f"{n}{suffix}" for n in (value + 1, value - 1) if n >= 0]
