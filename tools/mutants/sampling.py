"""Tries a random sample of mutants, records each result, and counts the results.

A trial (`Trial` of `__main__.py` and of `python.py`) has the mutants and their `order`, their names
(`name`), prepares the tests for some of them (`compile`, which sets `compiled`), and tries one
(`attempt`).
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed

# Number of mutants compiled into one program. Fewer switches make quicker tests.
CHUNK = 1000


def shuffled(mutants: list[dict], seed: int) -> list[int]:
    """Returns the numbers of the mutants in the order in which they are tried.

    The order is by a hash of the seed and the mutant's name without line and column. If other
    mutants are added, removed or moved, a mutant keeps its hash.
    """
    seen: Counter[str] = Counter()
    keys = []
    for mutant in mutants:
        what = re.sub(r":\d+:\d+:", "", mutant["name"])
        seen[what] += 1
        keys.append(hashlib.sha256(f"{seed} {what} {seen[what]}".encode()).digest())
    return sorted(range(len(mutants)), key=keys.__getitem__)


def report(tried: list[dict]) -> str:
    """Returns the counts of tried, viable and killed mutants, and the names of those not killed."""
    count = lambda outcome: sum(t["outcome"] == outcome for t in tried)  # noqa: E731
    killed, missed = count("killed"), count("missed")
    rate = 100 * killed / max(1, killed + missed)
    text = f"{len(tried)} tried, {killed + missed} viable, {killed} killed: {rate:.1f} %\n"
    return text + "".join(f"  not noticed: {t['name']}\n" for t in tried if t["outcome"] == "missed")


def sample(trial) -> list[dict]:
    """Tries the mutants of the sample that have no result in `tried.jsonl` yet.

    Returns the results of the whole sample, in shuffled order, new and old.
    """
    a = trial.a
    record = a.out / "tried.jsonl"
    lines = record.read_text().splitlines() if record.exists() else []
    known = {t["name"]: t for t in map(json.loads, lines)}
    print(f"{len(known)} tried before, seed {a.seed}", flush=True)
    with record.open("a") as file:

        def attempts(numbers: list[int]) -> None:
            for done in each(trial, numbers):
                known[done["name"]] = done
                file.write(json.dumps(done) + "\n")
                file.flush()

        if a.again and (missed := [n for n in trial.order if known.get(trial.name(n), {}).get("outcome") == "missed"]):
            trial.compile(missed)
            attempts(missed)
        order, viable, tried = trial.order, 0, []
        wanted = len(order) if a.all else a.sample
        while order and viable < wanted:
            now, order = order[: min(CHUNK, wanted - viable)], order[min(CHUNK, wanted - viable) :]
            new = [n for n in now if trial.name(n) not in known]
            if not trial.compiled.issuperset(new):
                # Compile an eighth more than needed, because some mutants are not viable.
                trial.compile(new + [n for n in order if trial.name(n) not in known][: len(new) // 8])
            attempts(new)
            tried += [known[trial.name(n)] for n in now]
            viable = sum(t["outcome"] != "unviable" for t in tried)
    return tried


def each(trial, numbers: list[int]) -> Iterator[dict]:
    """Yields the result of each mutant as soon as it is known."""
    with ThreadPoolExecutor(trial.a.jobs) as pool:
        try:
            for done in as_completed([pool.submit(trial.attempt, n) for n in numbers]):
                yield done.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
