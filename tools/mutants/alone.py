"""Tries one mutant at a time in a separate source tree that is rebuilt for each mutant.

This is for mutants that cannot be compiled behind a switch together with the others.
"""

import threading
from pathlib import Path

import build
import running
from crates import Crate

# Limit in seconds of processor time for the tests that a row of docs/rfc names.
SECONDS = 240


def mutated(text: str, mutant: dict) -> str:
    """Returns the source text of a file with the mutant applied."""
    lines = text.splitlines(keepends=True)
    at = lambda place: sum(map(len, lines[: place["line"] - 1])) + place["column"] - 1  # noqa: E731
    start, end = at(mutant["span"]["start"]), at(mutant["span"]["end"])
    new = mutant["replacement"]
    if mutant["genre"] == "FnValue":
        new = f"{new} // mutant\n"
    return text[:start] + new + text[end:]


class Alone:
    """A copy of the repository that holds one mutant at a time; a lock serialises the attempts."""

    def __init__(self, tree: Path):
        self.tree = tree
        self.lock = threading.Lock()

    def apply(self, mutant: dict) -> None:
        """Makes the tree a copy of the repository with this mutant only."""
        build.copy(self.tree)
        place = self.tree / mutant["file"]
        place.write_text(mutated(place.read_text(), mutant))

    def attempt(self, mutant: dict, crate: Crate, tests: list[running.Test]) -> str | None:
        """Builds the test programs of `crate` with `mutant` and runs `tests`, in this order.

        Returns the first test that fails, or how the tests ended. Returns `passed` if all pass, and
        None if the mutant does not compile.
        """
        with self.lock:
            self.apply(mutant)
            if build.errors(self.tree, crate.name):
                return None
            paths = {key: build.program(self.tree, key) for key in crate.tests}
            if None in paths.values():
                return None
            return running.attempt(running.programs(self.tree, paths), None, tests)

    def attempt_tests(self, mutant: dict, tests: dict[str, list[str]]) -> str | None:
        """Builds the tree with `mutant` and runs only the tests with the full names in `tests`.

        `tests`: full test names by program; programs of the crate `stack` only. Returns the same
        values as `attempt`.
        """
        with self.lock:
            self.apply(mutant)
            for key, names in tests.items():
                path = build.program(self.tree, key)
                if path is None:
                    return None
                told, _ = running.run(running.Program(path, self.tree / "crates" / "stack"), names, SECONDS, {})
                if told != "passed":
                    return told
            return "passed"
