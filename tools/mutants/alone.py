"""One mutant in a tree of its own, built for it: for those that cannot be compiled in with the others."""

import threading
from pathlib import Path

import build
import running

SECONDS = 240


def mutated(text: str, mutant: dict) -> str:
    """The text of a file with a mutant."""
    lines = text.splitlines(keepends=True)
    at = lambda place: sum(map(len, lines[: place["line"] - 1])) + place["column"] - 1  # noqa: E731
    start, end = at(mutant["span"]["start"]), at(mutant["span"]["end"])
    new = mutant["replacement"]
    if mutant["genre"] == "FnValue":
        new = f"{new} // mutant\n"
    return text[:start] + new + text[end:]


class Alone:
    """The tree, in which one mutant at a time is made."""

    def __init__(self, tree: Path):
        self.tree = tree
        self.lock = threading.Lock()

    def attempt(self, mutant: dict, wanted: dict[str, list[str]]) -> str | None:
        """As `running.attempt`, with all tests; none if it does not compile."""
        with self.lock:
            build.copy(self.tree)
            place = self.tree / mutant["file"]
            place.write_text(mutated(place.read_text(), mutant))
            if build.errors(self.tree):
                return None
            for key, words in wanted.items():
                path = build.program(self.tree, key)
                if path is None:
                    return None
                program = running.Program(path, self.tree / key.removesuffix("-it"))
                told, _ = running.run(program, running.chosen(program, words), SECONDS, {})
                if told != "passed":
                    return told
            return "passed"

    def attempt_tests(self, mutant: dict, tests: dict[str, list[str]]) -> str | None:
        """The same with the tests of each program that are named."""
        with self.lock:
            build.copy(self.tree)
            place = self.tree / mutant["file"]
            place.write_text(mutated(place.read_text(), mutant))
            for key, names in tests.items():
                path = build.program(self.tree, key)
                if path is None:
                    return None
                told, _ = running.run(running.Program(path, self.tree / "stack"), names, SECONDS, {})
                if told != "passed":
                    return told
            return "passed"
