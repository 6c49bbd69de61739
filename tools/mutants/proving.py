"""Rows of docs/rfc held to mutants: the code under a row's comment is broken, only the tests that it names are run.

A row is proved if its tests kill a mutant of that code. A row with `breaks` is proved by that mutant alone: where the
mutants listed would be killed by any test, it says what violates the requirement. A row with `unbroken` is not tried.
The outcome is docs/rfc/proved.toml, a line for each row; tools/rfc-map counts them.
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
HEAD = """# Made by `tools/mutants --rfc` (CONTRIBUTING.md says how). A line for each row that was tried: which mutant
# of the code that it cites which of its tests killed. No mutant: none was killed. Mend the row or its test, and try
# it again.

rows = [
"""
PROGRAMS = ("stack", "stack-it")
# The order in which mutants are tried and noted: what says most of a requirement comes first.
GENRES = ["Rewrite", "Drop", "Negate", "Default", "Neighbour"]
# Of a whole file, or of all methods of a type, so many at most.
WIDE = 60
# The number of no mutant, and the seconds that the tests of a row may take without one.
WITHOUT, UNBROKEN = 1 << 30, 120


def code_of(root: Path, row, listed: list[dict]) -> list[dict]:
    """The mutants that are tried for a row."""
    if row.breaks:
        file = row.breaks.get("in") or row.code[0].partition(": ")[0]
        file = f"stack/src/{file}" if (root / "stack" / "src" / file).exists() else file
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
    """A mutant of the value of a function whose body lies in those lines."""
    start, end = (mutant["span"][at]["line"] for at in ("start", "end"))
    return (
        mutant["genre"] == "FnValue" and span.has(mutant["file"], start, min(end, span.last)) and end <= span.last + 1
    )


def identity(mutant: dict) -> tuple:
    """What tells a mutant from the others."""
    return mutant["file"], json.dumps(mutant["span"]), mutant["genre"], mutant["replacement"]


class Proving:
    """The rows, their mutants, and the programs with all of them."""

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
        """The mutants of a row; none if the code that it breaks is not there any more."""
        try:
            return code_of(build.ROOT, self.rows[which][1], listed)
        except ValueError as fault:
            self.faults[which] = str(fault)
            return []

    def compile(self) -> None:
        """Builds the programs with all mutants; the tests that are named must pass without one."""
        build.quickly_built()
        left_out = build.schema(self.tree, self.mutants, range(len(self.mutants)), PROGRAMS)
        print(f"{len(self.rows)} rows, {len(self.mutants)} mutants, {len(left_out)} not behind a switch", flush=True)
        self.left_out = left_out
        self.programs = {
            key: running.Program(str(build.program(self.tree, key)), self.tree / "stack") for key in PROGRAMS
        }
        self.names = {key: program.tests() for key, program in self.programs.items()}

    def tests(self, row) -> dict[str, list[str]]:
        """The named tests by program, with their full names. Not scripts: a test in Rust is named beside each."""
        found: dict[str, list[str]] = {}
        for program, wanted in map(rows.program_of, row.test):
            if program in self.names:
                name = rows.full_name(wanted, self.names[program])
                if not name:
                    raise SystemExit(f"no program has the test {wanted}")
                found.setdefault(program, []).append(name)
        return found

    def killed(self, number: int, tests: dict[str, list[str]], seconds: float) -> str:
        """Which of the tests fails with a mutant on, or takes more than so many seconds; else `passed`."""
        for program, names in tests.items():
            told, _ = running.run(self.programs[program], names, seconds, {"ANABRANCH_MUTANT": str(number)})
            if told != "passed":
                return told if told in names else f"{names[0]} ({told})"
        return "passed"

    def attempt(self, which: int) -> dict:
        """What becomes of the mutants of a row."""
        number, row = self.rows[which]
        tests = self.tests(row)
        if not tests:
            return {"row": (number, row), "killed": [], "survived": [], "why": "(it names scripts only)"}
        begin = time.monotonic()
        if (by := self.killed(WITHOUT, tests, UNBROKEN)) != "passed":
            return {"row": (number, row), "killed": [], "survived": [], "why": f"({by} fails as it is)"}
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
        """What becomes of each row."""
        with ThreadPoolExecutor(self.a.jobs) as pool:
            yield from pool.map(self.attempt, range(len(self.rows)))


def told(outcome: dict, most: float = 6) -> str:
    """What is said of a row."""
    number, row = outcome["row"]
    killed, survived = outcome["killed"], outcome["survived"]
    text = f"RFC {number} {row.section} {row.level}: {row.says}\n"
    if killed:
        (name, by), tried = killed[0], len(killed) + len(survived)
        text += f"    killed {len(killed)} of {tried} tried: {name}\n        by {by}\n"
    elif survived:
        text += f"    NOT KILLED, {len(survived)} mutants\n"
    else:
        text += f"    NO MUTANT there {outcome['why']}\n"
    shown = survived[: int(min(most, len(survived)))]
    return text + "".join(f"    survives: {name}{'' if by == 'passed' else f' ({by})'}\n" for name, by in shown)


def basic(text: str) -> str:
    """A string of TOML."""
    return json.dumps(text, ensure_ascii=False)


def record(root: Path, outcomes: list[dict], known: set[tuple], today: str) -> str:
    """The text of the record: what is known from before of rows that are still there, and what is new."""
    path = root / RECORD
    old = tomllib.loads(path.read_text())["rows"] if path.exists() else []
    lines = {(o["rfc"], o["section"], o["says"]): o for o in old}
    for outcome in outcomes:
        number, row = outcome["row"]
        name, by = outcome["killed"][0] if outcome["killed"] else ("", "")
        # Lines move: the file and what was changed there are said, and no line.
        mutant = re.sub(r"^(?:stack/src/)?([^:]*):\d+:\d+:", r"\1:", name)
        now = {"rfc": number, "section": row.section, "says": row.says}
        lines[rows.key(number, row)] = now | {"test": by.split(" ")[0].split("::")[-1], "mutant": mutant, "date": today}
    order = rows.rfc_map().order
    kept = sorted((o for k, o in lines.items() if k in known), key=lambda o: (o["rfc"], order(o["section"]), o["says"]))
    text = lambda o: ", ".join(f"{k} = {v if isinstance(v, int) else basic(v)}" for k, v in o.items())  # noqa: E731
    return HEAD + "".join(f"    {{ {text(o)} }},\n" for o in kept) + "]\n"


def prove(a: argparse.Namespace, listed: list[dict]) -> int:
    """Tries the rows, says what became of each, and notes it."""
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
    print(f"{proved} of {len(outcomes)} rows proved; {RECORD} has them: `make rfc-map` counts them")
    return 0 if proved == len(outcomes) else 1
