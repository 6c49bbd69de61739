"""Assertions of scripts: Python expressions over the names that a script is given, and nothing else.

The code is read by Python's own parser and evaluated here, node by node, so there are no builtins, no attributes, no
calls and no way to either. A number that grows beyond 128 bits is refused.
"""

import ast
import operator
from collections.abc import Callable, Mapping, MutableMapping
from typing import Any

Refusal = tuple[str, str, str]
"""Why an assertion does not hold: "false", its words and values; "unknown", a name; or "wrong", the reason."""

_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.RShift: operator.rshift,
}
_UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Not: operator.not_,
    ast.Invert: operator.invert,
}
_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_LARGEST = 1 << 128


class _UnknownError(Exception):
    """A name that there is not."""


class _WrongError(Exception):
    """Something that is not an expression over names and numbers."""


def evaluate(code: str, given: Mapping[str, int], own: MutableMapping[str, int] | None = None) -> Refusal | None:
    """Evaluate the assertions in `code`; None if all of them hold.

    A name is one of those `given`, or one of the script's `own`, to which an assignment adds.
    """
    own = {} if own is None else own
    try:
        for statement in ast.parse(_undented(code)).body:
            names = {**own, **given}
            match statement:
                case ast.Pass() | ast.Expr(value=ast.Call(func=ast.Name(id="print"))):
                    pass  # print is for who watches; nothing is called
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    if name in given:
                        raise _WrongError(f"{name} cannot be assigned: it is a value of the connection")
                    own[name] = _value(value, names)
                case ast.AugAssign(target=ast.Name(id=name), op=op, value=value) if name in own and type(op) in _BINARY:
                    own[name] = _BINARY[type(op)](own[name], _value(value, names))
                case ast.Assert(test=test):
                    if not _value(test, names):
                        return "false", ast.unparse(test), _values(test, names)
                case _:
                    raise _WrongError(
                        "only `assert`, `print` and assignments of numbers are allowed here, such as: "
                        f"assert tcpi_snd_cwnd == 10 (line {statement.lineno})"
                    )
    except _UnknownError as name:
        return "unknown", str(name), ""
    except _WrongError as why:
        return "wrong", str(why), ""
    except SyntaxError as error:
        return "wrong", f"not Python: {error.msg} (line {error.lineno} of the code)", ""
    except (ValueError, ZeroDivisionError, TypeError, RecursionError, MemoryError, OverflowError) as error:
        return "wrong", f"{type(error).__name__}: {error}", ""
    return None


def _undented(code: str) -> str:
    """The code as a module of its own: the first line may stand behind other things."""
    return "\n".join(line.strip() for line in code.strip().rstrip("\\").splitlines())


def _value(node: ast.expr, names: Mapping[str, int]) -> Any:
    match node:
        case ast.Constant(value=bool() | int() | float() as value):
            pass
        case ast.Name(id=name):
            if name not in names:
                raise _UnknownError(name)
            value = names[name]
        case ast.BoolOp(op=ast.And(), values=values):
            return all(_value(v, names) for v in values)
        case ast.BoolOp(values=values):
            return any(_value(v, names) for v in values)
        case ast.UnaryOp(op=op, operand=operand):
            value = _UNARY[type(op)](_value(operand, names))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            value = _BINARY[type(op)](_value(left, names), _value(right, names))
        case ast.Compare(left=left, ops=ops, comparators=comparators) if all(type(o) in _COMPARE for o in ops):
            terms = [_value(term, names) for term in (left, *comparators)]
            return all(_COMPARE[type(op)](a, b) for op, a, b in zip(ops, terms, terms[1:], strict=False))
        case ast.IfExp(test=test, body=body, orelse=orelse):
            return _value(body if _value(test, names) else orelse, names)
        case _:
            raise _WrongError(
                f"{ast.unparse(node)!r} is not allowed; allowed: names, numbers, and, or, not, if-else, "
                "== != < <= > >=, + - * / // %, & | ^ ~ >>"
            )
    if not isinstance(value, bool) and abs(value) > _LARGEST:
        raise _WrongError(f"{ast.unparse(node)!r} is too large")
    return value


def _values(node: ast.expr, names: Mapping[str, int]) -> str:
    """The names in `node` with their values."""
    found = {n.id: names[n.id] for n in ast.walk(node) if isinstance(n, ast.Name) and n.id in names}
    return ", ".join(f"{name} = {value}" for name, value in found.items()) or "it is false"
