"""The Python binding (`py`), built with the mutants of a crate, and the Python tests that reach them.

One build has all mutants: the switch reads an environment variable, which Python and the processes
that it starts inherit.
"""

import json
import subprocess
from pathlib import Path

import build
import pytests
import running

# Name of the library that cargo builds, by which the program of a Python test is known, too.
NAME = "_core"


def built(tree: Path) -> Path | None:
    """Builds the binding in `tree` and puts it beside the package. Returns None if that fails."""
    command = ["cargo", "build", "--offline", "--package", "anabranch-python", "--message-format", "json"]
    done = subprocess.run(command, cwd=tree, env=build.ENVIRONMENT, capture_output=True, text=True, check=False)
    told = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    found = [t["filenames"][0] for t in told if t.get("target", {}).get("name") == NAME and t.get("filenames")]
    if done.returncode != 0 or not found:
        print(done.stderr[-2000:], flush=True)
        return None
    place = tree / pytests.PACKAGE / f"{NAME}.abi3.so"
    build.write(place, Path(found[-1]).read_bytes())
    return place


def reach(tree: Path, words: tuple[str, ...], longest: float, jobs: int, record: Path) -> list[running.Test]:
    """Returns the Python tests of the files named by `words`, each with the mutants that it reaches.

    Runs these files once without a mutant (`plugin/switched.py`) and keeps the result in the folder
    `record` until the binding or a Python file changes.
    """
    sources = [p for folder in ("tests", "python") for p in (tree / folder).rglob("*.py")]
    newest = max(p.stat().st_mtime for p in [*sources, tree / pytests.PACKAGE / f"{NAME}.abi3.so"])
    done = record / "done"
    if not done.exists() or done.stat().st_mtime < newest:
        record.mkdir(exist_ok=True)
        for old in record.iterdir():
            old.unlink()
        options = ["-p", "switched", "-n", str(jobs) if jobs > 1 else "0", "--dist", "loadfile"]
        variables = {"ANABRANCH_MUTANTS_RECORD": str(record)}
        _, out = pytests.run(tree, [*options, *pytests.files(tree, words)], variables, 7200)
        (record / "output.txt").write_text(out)
        for line in out.splitlines():
            if line.startswith(("FAILED", "ERROR")):
                print(f"left out: {line}", flush=True)
        done.touch()
    rows = [json.loads(line) for file in sorted(record.glob("*.jsonl")) for line in file.read_text().splitlines()]
    tests = [running.Test(NAME, name, seconds, reached) for name, seconds, reached in rows]
    return sorted((t for t in tests if t.seconds <= longest), key=lambda t: t.seconds)


def attempt(tree: Path, number: int | None, tests: list[running.Test]) -> str:
    """Runs Python tests with a mutant on (None: the binding has just one).

    Returns `passed`, the first test that failed, or how pytest ended.
    """
    variables = {} if number is None else {"ANABRANCH_MUTANT": str(number)}
    return pytests.attempt(tree, [t.name for t in tests], sum(t.seconds for t in tests), variables)
