"""Runs pytest in a copy of the repository, within limits."""

import os
import signal
import subprocess
import sys
from pathlib import Path

PACKAGE = "python/anabranch"
PLUGIN = Path(__file__).resolve().parent / "plugin"
# Limit of the virtual memory of each process, in octets.
MEMORY = 8 << 30
# Limit of the processor time of the tests of a mutant: START seconds and TIMES what they take
# without the mutant.
START, TIMES = 30, 4


def files(tree: Path, words: tuple[str, ...]) -> list[str]:
    """Returns the test files whose names contain one of the words, relative to `tree`."""
    found = {p for word in words for p in (tree / "tests").glob(f"test_*{word}*.py")}
    return [str(p.relative_to(tree)) for p in sorted(found)]


def run(tree: Path, arguments: list[str], variables: dict[str, str], seconds: float) -> tuple[int, str]:
    """Runs pytest in `tree`. Returns its exit status (negative: a signal ended it) and its output.

    Each process may take `seconds` of processor time; all may wait ten times as long.
    """
    path = os.pathsep.join([str(tree / "python"), str(PLUGIN)])
    variables = os.environ | {"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", "MPLBACKEND": "Agg"} | variables
    limit = f'ulimit -c 0; ulimit -v {MEMORY >> 10}; ulimit -t {int(seconds) + 1}; exec "$@"'
    command = ["sh", "-c", limit, "sh", sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True, "errors": "replace"}
    with subprocess.Popen(command, cwd=tree, env=variables, start_new_session=True, **pipes) as process:
        try:
            out, _ = process.communicate(timeout=60 + 10 * seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, _ = process.communicate()
    return process.returncode, out


def attempt(tree: Path, names: list[str], seconds: float, variables: dict[str, str]) -> str:
    """Runs tests up to the first that fails. Returns `passed`, that test, or how pytest ended.

    `names`: node IDs. `seconds`: the processor time that they take without a mutant.
    """
    if not names:
        return "passed"
    status, out = run(tree, ["-n", "0", "-x", *names], variables, START + TIMES * seconds)
    failed = next((line.split(" ")[1] for line in out.splitlines() if line.startswith(("FAILED", "ERROR"))), "")
    return "passed" if status == 0 else failed or f"ended by {status}"
