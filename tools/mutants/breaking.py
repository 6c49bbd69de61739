"""Mutants of our own kinds, of the code under a comment, in the form of those that cargo-mutants lists.

Drop: a statement is left out. Negate: a condition is turned round. Default: the value of a field or variable is the
default of its type. Neighbour: a number is one larger or smaller. Rewrite: a text that a row of docs/rfc gives.
"""

import re
from pathlib import Path

import tree_sitter
from rows import Span, tests_begin
from schema import RUST

CONSTANT = {"const_item", "static_item"}
# A number in one of these is no value.
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
    """One in the form that cargo-mutants has; `node`: its start and end, each line and column of characters from 1."""
    (line, column), end = node
    span = {"start": {"line": line, "column": column}, "end": {"line": end[0], "column": end[1]}}
    name = f"{file}:{line}:{column}: {what}"
    where = {"function_name": ""} if function else None
    return {"file": file, "span": span, "genre": genre, "replacement": replacement, "name": name, "function": where}


def short(text: str) -> str:
    """A text on one line, and not too long."""
    text = re.sub(r"\s+", " ", text)
    return text if len(text) <= 60 else f"{text[:57]}..."


class Source:
    """A file and its syntax tree."""

    def __init__(self, root: Path, file: str):
        self.file, self.text = file, (root / file).read_text()
        self.lines = self.text.splitlines()
        self.tree = tree_sitter.Parser(RUST).parse(self.text.encode())
        self.tests = tests_begin(self.lines)

    def at(self, point: tree_sitter.Point) -> tuple[int, int]:
        """Line and column of characters, from 1."""
        return point.row + 1, len(self.lines[point.row].encode()[: point.column].decode()) + 1

    def place(self, node: tree_sitter.Node) -> tuple:
        """Start and end of a node."""
        return self.at(node.start_point), self.at(node.end_point)

    def nodes(self, span: Span) -> list[tree_sitter.Node]:
        """The nodes that lie in those lines."""
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
        """The mutants in those lines."""
        found = []
        for node in self.nodes(span):
            if node.start_point.row < self.tests:
                found += self.of(node)
        return found

    def of(self, node: tree_sitter.Node) -> list[dict]:
        """The mutants of a node."""
        text, place, parent = node.text.decode(), self.place(node), node.parent
        above = []
        while parent:
            # A function that the compiler works out can ask no switch.
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
        """The mutant of a text that a row gives."""
        if self.text.count(old) != 1:
            raise ValueError(f"{self.file} has {short(old)!r} {self.text.count(old)} times: `breaks` needs it once")
        start = self.text.index(old)
        point = lambda at: (self.text.count("\n", 0, at) + 1, at - self.text.rfind("\n", 0, at))  # noqa: E731
        node = point(start), point(start + len(old))
        return mutant(self.file, node, "Rewrite", new, f"`{short(old)}` -> `{short(new)}`")


def neighbours(text: str) -> list[str]:
    """The numbers beside one."""
    m = re.fullmatch(r"(0x[0-9a-fA-F_]+?|[0-9][0-9_]*)([iu](?:8|16|32|64|128|size))?", text)
    if not m:
        return []
    value, suffix = int(m[1].replace("_", ""), 0), m[2] or ""
    return [f"{n}{suffix}" for n in (value + 1, value - 1) if n >= 0]
