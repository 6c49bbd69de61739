"""The package in layers, as docs/architecture.md has them: imports go down, and never in a circle.

Imports inside functions, which keep `import anabranch` fast, count like any other, and so do those that only a type
checker follows.
"""

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import anabranch

ROOT = Path(anabranch.__file__).parent
LAYERS = (
    "sentences",
    "measures",
    "execution plots tables traces algorithms",
    "results",
    "runs captures packetdrill",
    "scenario",
    "sweeps install kernel",
    "conformance",
    "comparison diagnosis recommendation studies anabranch",
    "cli __main__",
)
"""Packages and modules beside each other, from the lowest."""
LATE = {("anabranch.runs.run", "anabranch.diagnosis.explanation")}
"""The only import that goes up: `Run.explain` makes a diagnosis, and a diagnosis is made of a run."""
TOP = {"__init__.py", "__main__.py", "scenario.py"}
"""The only modules outside of packages."""
LINES, SENTENCES, BODY = 500, 600, 60


def modules() -> dict[str, Path]:
    """Files by the name of the module."""
    found = {}
    for file in sorted(ROOT.rglob("*.py")):
        parts = file.relative_to(ROOT.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return found


MODULES = modules()


def imported(tree: ast.AST) -> Iterator[str]:
    """Modules of the package that are named in an import, wherever it stands."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in MODULES)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, "imports name the whole module"
            names = (f"{node.module}.{alias.name}" for alias in node.names if node.module in MODULES)
            yield from (name if name in MODULES else str(node.module) for name in names if name != "anabranch._core")


def graph() -> dict[str, set[str]]:
    return {name: set(imported(ast.parse(file.read_text("utf-8")))) - {name} for name, file in MODULES.items()}


def package(name: str) -> str:
    """The package that a module belongs to, or the module if it is outside of packages."""
    return name.split(".")[min(1, name.count("."))]


def layer(name: str) -> int:
    """The number of the one layer that a module belongs to."""
    (number,) = [i for i, names in enumerate(LAYERS) if package(name) in names.split()]
    return number


def circle(imports: dict[str, set[str]]) -> list[str]:
    """A circle, if there is one."""
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_no_module_imports_itself_through_others() -> None:
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"a"}})
    assert circle(graph()) == []


def test_no_package_imports_itself_through_others() -> None:
    packages: dict[str, set[str]] = {}
    for name, others in graph().items():
        used = {package(other) for other in others if (name, other) not in LATE}
        packages.setdefault(package(name), set()).update(used - {package(name)})
    assert packages["sweeps"] >= {"scenario", "results"}
    assert circle(packages) == []


def test_every_module_is_in_a_layer_and_imports_from_no_higher_one() -> None:
    found = graph()
    assert found["anabranch.sweeps.execute"] >= {"anabranch.sweeps.cluster", "anabranch.sweeps.store"}
    upward = {(name, other) for name, others in found.items() for other in others if layer(other) > layer(name)}
    assert upward == LATE


def test_all_modules_but_three_are_in_packages() -> None:
    assert {file.name for file in ROOT.glob("*.py")} == TOP


def test_no_file_and_no_function_is_long() -> None:
    """Documentation in a function does not count, as it does not above one.

    All sentences of a command stand in one file, so that they can be read together: such a file may be longer.
    """
    for file in MODULES.values():
        text = file.read_text("utf-8")
        assert len(text.splitlines()) <= (SENTENCES if file.parent.name == "sentences" else LINES), file
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                first = node.body[0]
                said = first.end_lineno - first.lineno + 1 if ast.get_docstring(node) else 0  # type: ignore[operator]
                assert node.end_lineno - node.lineno + 1 - said <= BODY, f"{file}: {node.name}"  # type: ignore[operator]


def test_the_layers_in_the_documentation_are_these() -> None:
    text = (ROOT.parents[1] / "docs" / "architecture.md").read_text("utf-8")
    rows = [line.split("|")[2] for line in text.partition("## The Python package")[2].splitlines() if "| `" in line]
    names = [sorted(part.strip(" `") for part in row.split(",")) for row in rows]
    assert names == [sorted(names.split()) for names in reversed(LAYERS)]
