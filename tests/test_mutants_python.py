"""`tools/mutants --crate python`: the mutants that it finds, without running any."""

import importlib
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

TOOL = Path(__file__).parents[1] / "tools" / "mutants"
CODE = '''"""A module."""

LIMIT: "int | None" = 3


@staticmethod
def weighed(a: int = 1, *, b) -> "a > b":
    """Returns the weight."""
    if a < b:
        raise ValueError(f"{a + b}")
    b += LIMIT
    print([c for c in b if not c])
    return a - b
'''


@pytest.fixture
def source(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The module tools/mutants/python_source.py."""
    monkeypatch.syspath_prepend(str(TOOL))
    return importlib.import_module("python_source")


def test_the_mutants_of_a_file_with_the_function_around_each(source: ModuleType) -> None:
    found = [(m.name.partition(": ")[2], m.function) for m in source.mutants("a.py", CODE)]
    assert sorted(found) == sorted(
        [
            ("replace 3 with (4)", 0),
            ("replace 1 with (2)", 6),
            ("replace a < b with (a <= b)", 6),
            ("replace a < b with (not (a < b))", 6),
            ('replace raise ValueError(f"{a + b}") with pass', 6),
            ("replace b += LIMIT with pass", 6),
            ("replace print([c for c in b if not c]) with pass", 6),
            ("replace not c with (not (not c))", 6),
            ("replace not c with (c)", 6),
            ("replace a - b with (a + b)", 6),
            ("replace return a - b with return None", 6),
        ]
    )


def test_each_mutant_is_a_file_of_its_own_that_compiles(source: ModuleType) -> None:
    code = CODE.replace("the weight", "the wëight")
    texts = set()
    for mutant in source.mutants("a.py", code):
        octets = code.encode()
        text = (octets[: mutant.start] + mutant.text.encode() + octets[mutant.end :]).decode()
        compile(text, "a.py", "exec")
        texts.add(text)
    # `not c` without its `not` and negated once more are the same.
    assert len(texts) >= len(source.mutants("a.py", code)) - 1
    assert code not in texts


def test_each_function_notes_that_it_was_called(source: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    code = '''
def one(a): return a + 1

class Two:
    @staticmethod
    def three():
        """Four."""
        for x in [1]:
            def five(): ...
        return one(x), five()

    def six(self):
        """Nothing but a text."""
'''
    called: list[tuple[str, int]] = []
    monkeypatch.setitem(sys.modules, "reached", SimpleNamespace(note=lambda *place: called.append(place)))
    names: dict[str, Any] = {}
    exec(source.recording("a.py", code), names)
    assert names["Two"].three() == (2, None)
    assert called == [("a.py", 5), ("a.py", 2), ("a.py", 9)]
    assert names["Two"]().six() is None


def test_each_word_names_files_of_python_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(TOOL))
    files = importlib.import_module("pytests").files
    for word in importlib.import_module("crates").CRATES["sim"].python:
        assert files(TOOL.parents[1], (word,)), word
