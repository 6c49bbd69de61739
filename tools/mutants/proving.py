"""Mutation testing of the rows of docs/rfc (`tools/mutants --rfc`).

For each row, the tool mutates the code under the comments that the row cites, and runs only the
tests that the row names. The row is proved if one of these tests kills a mutant of that code.

- A row with `breaks` gives its own mutant, and only that mutant is tried. This is for code whose
  generated mutants would fail any test: the row's mutant violates just the requirement.
- A row with `unbroken` is not tried.

The results are written to docs/rfc/proved.toml, one line for each row. tools/rfc-map counts them.
"""

import argparse
import datetime
import json
import math
import re
import time
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import alone
import breaking
import build
import rows
import running

RECORD = Path("docs/rfc/proved.toml")
HEAD = """# Made by `tools/mutants --rfc` (see CONTRIBUTING.md). One line for each row of docs/rfc that was tried:
# `mutant` is a change of the code that the row cites, and `test` is the test of the row that killed
# it. If `mutant` is empty, the tests of the row killed no mutant: fix the row or its test, and try
# the row again.

rows = [
"""
PROGRAMS = ("stack", "stack-it")
# Genres of mutants in the order in which they are tried, the most telling first; those of
# cargo-mutants follow. The first mutant that is killed goes into proved.toml.
GENRES = ["Rewrite", "Drop", "Negate", "Default", "Neighbour"]
# A wide span (a whole file, or all methods of a type) is thinned to every n-th mutant if it has
# twice this number of mutants or more. At most 119 remain.
WIDE = 60
# WITHOUT: a value of ANABRANCH_MUTANT that belongs to no mutant, so that the unchanged code runs.
# UNBROKEN: limit in seconds of processor time for the tests of a row on the unchanged code.
WITHOUT, UNBROKEN = 1 << 30, 120


def code_of(root: Path, row, listed: list[dict]) -> list[dict]:
    """Returns the mutants to try for a row, in the order of `GENRES`.

    `listed`: all mutants that cargo-mutants lists. Raises ValueError if the text in the row's
    `breaks` does not occur exactly once.
    """
    if row.breaks:
        file = row.breaks.get("in") or row.code[0].partition(": ")[0]
        file = f"crates/stack/src/{file}" if (root / "crates" / "stack" / "src" / file).exists() else file
        return [breaking.Source(root, file).rewrite(row.breaks["from"], row.breaks["to"])]
    found: list[dict] = []
    for span in rows.scope(root, row):
        within = lambda m, s=span: s.has(m["file"], m["span"]["start"]["line"], m["span"]["end"]["line"])  # noqa: E731
        told = [m for m in listed if within(m) or is_value_of(m, span)]
        if not span.wide:
            told = breaking.Source(root, span.file).mutants(span) + told
        found += told[:: max(1, len(told) // WIDE)] if span.wide else told
    order = lambda m: GENRES.index(m["genre"]) if m["genre"] in GENRES else len(GENRES)  # noqa: E731
    return sorted(found, key=order)


def is_value_of(mutant: dict, span: rows.Span) -> bool:
    """True if the mutant replaces the return value of a function whose body lies in the span."""
    start, end = (mutant["span"][at]["line"] for at in ("start", "end"))
    return (
        mutant["genre"] == "FnValue" and span.has(mutant["file"], start, min(end, span.last)) and end <= span.last + 1
    )


def identity(mutant: dict) -> tuple:
    """Returns a key that is unique to a mutant: file, span, genre and replacement text."""
    return mutant["file"], json.dumps(mutant["span"]), mutant["genre"], mutant["replacement"]


class Proving:
    """One run of `--rfc`: the chosen rows, their mutants, and test programs with all mutants."""

    def __init__(self, a: argparse.Namespace, listed: list[dict]):
        self.a, self.map = a, rows.rfc_map()
        faults: list[str] = []
        rfcs = [rfc for path in self.map.lists(build.ROOT) if (rfc := self.map.read(build.ROOT, path, faults))]
        if faults:
            raise SystemExit("\n".join(faults))
        self.rows = [(n, row) for n, row in rows.chosen(rfcs, a.rfc, a.level, a.seed) if not row.unbroken]
        self.faults: dict[int, str] = {}
        of = [self.code_of(which, listed) for which in range(len(self.rows))]
        at = lambda m: (m["span"]["start"]["line"], m["span"]["start"]["column"])  # noqa: E731
        place = lambda m: (m["file"], at(m), m["genre"], m["name"])  # noqa: E731
        self.mutants = sorted({identity(m): m for some in of for m in some}.values(), key=place)
        number = {identity(m): n for n, m in enumerate(self.mutants)}
        self.numbers = [list(dict.fromkeys(number[identity(m)] for m in some)) for some in of]
        self.tree, self.alone = a.out / "tree", alone.Alone(a.out / "alone")

    def code_of(self, which: int, listed: list[dict]) -> list[dict]:
        """Returns the mutants of row number `which`.

        If the text in the row's `breaks` does not occur exactly once, returns [] and stores the
        complaint in `self.faults`.
        """
        try:
            return code_of(build.ROOT, self.rows[which][1], listed)
        except ValueError as fault:
            self.faults[which] = str(fault)
            return []

    def compile(self) -> None:
        """Builds the test programs with all mutants and lists the tests that they contain.

        Stores in `self.left_out` the numbers of the mutants that could not be put behind a switch.
        """
        build.quickly_built()
        left_out = build.schema(self.tree, self.mutants, range(len(self.mutants)), PROGRAMS)
        print(f"{len(self.rows)} rows, {len(self.mutants)} mutants, {len(left_out)} not behind a switch", flush=True)
        self.left_out = left_out
        self.programs = {
            key: running.Program(str(build.program(self.tree, key)), self.tree / "crates" / "stack") for key in PROGRAMS
        }
        self.names = {key: program.tests() for key, program in self.programs.items()}

    def tests(self, row) -> dict[str, list[str]]:
        """Returns the full names of the Rust tests that a row names, by program.

        Leaves out scripts (.pkt): a row that names nothing else is not tried.
        """
        found: dict[str, list[str]] = {}
        for program, wanted in map(rows.program_of, row.test):
            if program in self.names:
                name = rows.full_name(wanted, self.names[program])
                if not name:
                    raise SystemExit(f"no program has the test {wanted}")
                found.setdefault(program, []).append(name)
        return found

    def killed(self, number: int, tests: dict[str, list[str]], seconds: float) -> str:
        """Runs `tests` (names by program) with mutant `number` switched on.

        Returns the name of the first test that fails. If a program ends otherwise (a crash, or more
        than `seconds` of processor time), returns its first test and the exit code. If all tests
        pass, returns `passed`.
        """
        for program, names in tests.items():
            told, _ = running.run(self.programs[program], names, seconds, {"ANABRANCH_MUTANT": str(number)})
            if told != "passed":
                return told if told in names else f"{names[0]} ({told})"
        return "passed"

    def attempt(self, which: int) -> dict:
        """Runs the tests of row number `which` against its mutants, up to the first that is killed.

        With `--verbose`, tries all mutants. Of the mutants that could not be put behind a switch,
        only that of the row's `breaks` is tried, in a build of its own.

        Returns a dictionary: `row` (RFC number and row), `killed` and `survived` (pairs of a
        mutant's name and its result), and `why` (the reason if no mutant was tried, else "").
        """
        number, row = self.rows[which]
        tests = self.tests(row)
        if not tests:
            return {"row": (number, row), "killed": [], "survived": [], "why": "(the row names only scripts)"}
        begin = time.monotonic()
        if (by := self.killed(WITHOUT, tests, UNBROKEN)) != "passed":
            return {"row": (number, row), "killed": [], "survived": [], "why": f"({by} fails on the unchanged code)"}
        seconds = running.SECONDS + running.TIMES * (time.monotonic() - begin)
        killed, survived, rest = [], [], []
        for mutant in self.numbers[which]:
            if mutant in self.left_out:
                rest.append(mutant)
                continue
            by = self.killed(mutant, tests, seconds)
            (survived if by == "passed" else killed).append((self.mutants[mutant]["name"], by))
            if killed and not self.a.verbose:
                break
        for mutant in rest if not killed else []:
            if self.mutants[mutant]["genre"] != "Rewrite":
                continue
            by = self.alone.attempt_tests(self.mutants[mutant], tests)
            if by and by != "passed":
                killed.append((self.mutants[mutant]["name"], by))
                break
            survived.append((self.mutants[mutant]["name"], by or "does not compile"))
        return {"row": (number, row), "killed": killed, "survived": survived, "why": self.faults.get(which, "")}

    def outcomes(self) -> Iterator[dict]:
        """Yields the result of `attempt` for each row, in the order of the rows."""
        with ThreadPoolExecutor(self.a.jobs) as pool:
            yield from pool.map(self.attempt, range(len(self.rows)))


def told(outcome: dict, most: float = 6) -> str:
    """Returns the lines that report the outcome of a row; they name at most `most` survivors."""
    number, row = outcome["row"]
    killed, survived = outcome["killed"], outcome["survived"]
    text = f"RFC {number} {row.section} {row.level}: {row.says}\n"
    if killed:
        (name, by), tried = killed[0], len(killed) + len(survived)
        text += f"    killed {len(killed)} of {tried} tried: {name}\n        by {by}\n"
    elif survived:
        text += f"    NOT KILLED: {len(survived)} mutants survive\n"
    else:
        text += f"    NO MUTANT TRIED {outcome['why']}\n"
    shown = survived[: int(min(most, len(survived)))]
    return text + "".join(f"    survives: {name}{'' if by == 'passed' else f' ({by})'}\n" for name, by in shown)


def basic(text: str) -> str:
    """Returns `text` as a basic string of TOML, quoted and escaped."""
    return json.dumps(text, ensure_ascii=False)


def record(root: Path, outcomes: list[dict], known: set[tuple], today: str) -> str:
    """Returns the new text of docs/rfc/proved.toml.

    Outcomes of this run replace earlier lines of the same rows. Lines of rows that are not in
    `known` (the keys of all rows of docs/rfc) are dropped. `today`: date of this run, ISO 8601.
    """
    path = root / RECORD
    old = tomllib.loads(path.read_text())["rows"] if path.exists() else []
    lines = {(o["rfc"], o["section"], o["says"]): o for o in old}
    for outcome in outcomes:
        number, row = outcome["row"]
        name, by = outcome["killed"][0] if outcome["killed"] else ("", "")
        # Without line and column, which change whenever the file is edited.
        mutant = re.sub(r"^(?:crates/stack/src/)?([^:]*):\d+:\d+:", r"\1:", name)
        now = {"rfc": number, "section": row.section, "says": row.says}
        lines[rows.key(number, row)] = now | {"test": by.split(" ")[0].split("::")[-1], "mutant": mutant, "date": today}
    order = rows.rfc_map().order
    kept = sorted((o for k, o in lines.items() if k in known), key=lambda o: (o["rfc"], order(o["section"]), o["says"]))
    text = lambda o: ", ".join(f"{k} = {v if isinstance(v, int) else basic(v)}" for k, v in o.items())  # noqa: E731
    return HEAD + "".join(f"    {{ {text(o)} }},\n" for o in kept) + "]\n"


def prove(a: argparse.Namespace, listed: list[dict]) -> int:
    """Tries the chosen rows, prints the outcome of each, and updates docs/rfc/proved.toml.

    Returns the exit status: 0 if every row is proved, else 1.
    """
    proving = Proving(a, listed)
    proving.compile()
    outcomes = []
    for outcome in proving.outcomes():
        outcomes.append(outcome)
        print(told(outcome, math.inf if a.verbose else 6), end="", flush=True)
    faults: list[str] = []
    rfcs = [rfc for path in proving.map.lists(build.ROOT) if (rfc := proving.map.read(build.ROOT, path, faults))]
    known = {rows.key(rfc.number, row) for rfc in rfcs for row in rfc.rows}
    today = datetime.datetime.now(tz=datetime.UTC).date().isoformat()
    (build.ROOT / RECORD).write_text(record(build.ROOT, outcomes, known, today))
    proved = sum(bool(o["killed"]) for o in outcomes)
    print(f"{proved} of {len(outcomes)} rows proved, written to {RECORD}; run `make rfc-map` to update docs/rfc-map.md")
    return 0 if proved == len(outcomes) else 1
