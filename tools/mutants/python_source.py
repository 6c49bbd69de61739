"""Finds the mutants of a Python source file in its syntax tree.

A mutant swaps an operator, negates a condition, changes a number or a truth value, removes a
statement, or returns None.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

SWAPS = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult, ast.Pow: ast.Mult, ast.BitOr: ast.BitAnd, ast.BitAnd: ast.BitOr,
}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """A change: the octets `start` to `end` of a file become `text`. `function`: line of the `def` around it, or 0."""

    file: str
    start: int
    end: int
    text: str
    name: str
    function: int


def changed(node: ast.expr) -> Iterator[ast.expr]:
    """Yields the mutants of an expression, without those of its parts."""
    match node:
        case ast.Compare():
            for at, op in enumerate(node.ops):
                yield ast.Compare(node.left, [*node.ops[:at], SWAPS[type(op)](), *node.ops[at + 1 :]], node.comparators)
        case ast.BoolOp():
            yield ast.BoolOp(SWAPS[type(node.op)](), node.values)
        case ast.BinOp() if type(node.op) in SWAPS:
            yield ast.BinOp(node.left, SWAPS[type(node.op)](), node.right)
        case ast.UnaryOp(op=ast.Not() | ast.USub()):
            yield node.operand
        case ast.Constant(value=bool()):
            yield ast.Constant(not node.value)
        case ast.Constant(value=int() | float()):
            yield ast.Constant(node.value + 1)


def replaced(node: ast.AST) -> Iterator[tuple[ast.expr | ast.stmt, str]]:
    """Yields the nodes that mutants of `node` replace, each with the new text."""
    if isinstance(node, ast.expr):
        yield from ((node, f"({ast.unparse(new)})") for new in changed(node))
    if isinstance(node, ast.If | ast.While | ast.IfExp):
        yield node.test, f"(not ({ast.unparse(node.test)}))"
    if isinstance(node, ast.comprehension):
        yield from ((test, f"(not ({ast.unparse(test)}))") for test in node.ifs)
    is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    if isinstance(node, ast.Expr | ast.AugAssign | ast.Raise | ast.Continue | ast.Break | ast.Delete) and not is_text:
        yield node, "pass"
    if isinstance(node, ast.Return) and node.value and ast.unparse(node.value) != "None":
        yield node, "return None"


def mutants(file: str, source: str) -> list[Mutant]:
    """Returns the mutants of a source file. Leaves out annotations, patterns and what f-strings contain."""
    lines = source.encode().splitlines(keepends=True)
    found: list[Mutant] = []

    def visit(node: ast.AST, function: int) -> None:
        if isinstance(node, ast.JoinedStr | ast.pattern | ast.arg):
            return
        if isinstance(node, ast.FunctionDef):
            function = min([node.lineno, *(d.lineno for d in node.decorator_list)])
        for old, text in replaced(node):
            at = lambda line, column: sum(map(len, lines[: line - 1])) + column  # noqa: E731
            start, end = at(old.lineno, old.col_offset), at(old.end_lineno, old.end_col_offset)
            was = " ".join(source.encode()[start:end].decode().split())
            name = f"{file}:{old.lineno}:{old.col_offset + 1}: replace {was} with {text}"
            found.append(Mutant(file, start, end, text, name, function))
        for part in ast.iter_child_nodes(node):
            if part not in (getattr(node, "annotation", None), getattr(node, "returns", None)):
                visit(part, function)

    visit(ast.parse(source), 0)
    return found


def recording(file: str, source: str) -> str:
    """Returns the source with a call of `note` of `plugin/reached.py` at the beginning of each function."""
    lines = source.splitlines(keepends=True)
    functions = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)]
    first = lambda node: min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])  # noqa: E731
    for function in sorted(functions, key=lambda node: node.lineno, reverse=True):
        call = f"__import__('reached').note({file!r}, {first(function)})"
        has_text = ast.get_docstring(function, clean=False) is not None
        if has_text and len(function.body) == 1:
            continue
        begin = function.body[1 if has_text else 0]
        line = lines[first(begin) - 1].encode()
        if begin.lineno == function.lineno:
            lines[begin.lineno - 1] = f"{line[: begin.col_offset].decode()}{call}; {line[begin.col_offset :].decode()}"
        else:
            lines.insert(first(begin) - 1, " " * begin.col_offset + f"{call}\n")
    return "".join(lines)
