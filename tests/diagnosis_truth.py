"""Diagnoses of simulated captures against what the simulator knows.

``tools/diagnosis-truth --first 3000000 --count 1000`` draws scenarios (`diagnosis_draw`), runs them, diagnoses what
the sender saw, what the receiver saw, and both, and tells how far the answers are from the truth. Seeds below 3,000,000
are for development.
"""

import argparse
import concurrent.futures
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from anabranch import _core
from anabranch.diagnosis.measure import diagnose_captures
from anabranch.measures.causes import CAUSES
from degraded import KINDS as DAMAGES
from degraded import degrade
from diagnosis_draw import KINDS, NEVER_UP, STRATA, Draft, draw, kind_of, true_shares

VIEWS = ("sender", "receiver", "both")
CLEAR = 0.6
"""A cause is the main one beyond doubt from this share of the time on."""


@dataclass
class Outcome:
    """One scenario, one view: the truth and the answer."""

    seed: int
    kind: str
    stratum: str
    view: str
    truth: dict[str, float]
    answer: dict[str, float]
    flows: list[dict[str, Any]]
    together: list[str]
    """Causes of which the diagnosis says that it cannot tell them apart (docs/diagnose.md has the list)."""
    claimed: str
    """The main cause that the diagnosis names; if it is one of `together`, the answer is all of these."""

    @property
    def main(self) -> tuple[str, float]:
        return max(self.truth.items(), key=lambda pair: pair[1])

    @property
    def verdict(self) -> str:
        """``right``, ``indistinct`` (the true cause is among those that the answer leaves open), or ``wrong``."""
        main = self.main[0]
        if self.claimed in self.together:
            return "indistinct" if main in self.together else "wrong"
        return "right" if self.claimed == main else "wrong"

    @property
    def clear(self) -> bool:
        """One cause has more than 60 % of the time."""
        return self.main[1] > CLEAR

    @property
    def worst(self) -> float:
        return far(self.truth, self.answer, self.together)

    @property
    def strict(self) -> float:
        """The same with every share by itself."""
        return far(self.truth, self.answer, [])


def far(truth: dict[str, float], answer: dict[str, float], together: list[str]) -> float:
    """How far the worst share is off; those `together` count as one."""
    single = [abs(truth[c] - answer.get(c, 0.0)) for c in CAUSES if c not in together]
    return max([*single, abs(sum(truth[c] - answer.get(c, 0.0) for c in together))])


def examine(seed: int, damage: str = "", views: tuple[str, ...] = VIEWS, kind: str | None = None) -> list[Outcome]:
    """Runs the scenario of `seed` and diagnoses what each place saw, with captures damaged as `damage` says."""
    with tempfile.TemporaryDirectory() as folder:
        return Simulated.of(seed, Path(folder), kind).outcomes(damage, views)


@dataclass(frozen=True)
class Simulated:
    """A scenario that was run, with its captures in `folder`."""

    seed: int
    kind: str
    stratum: str
    draft: Draft
    summary: dict[str, Any]
    folder: Path

    @classmethod
    def of(cls, seed: int, folder: Path, kind: str | None = None) -> "Simulated":
        """Runs the scenario of `seed`, of `kind` if that is named."""
        kind, stratum, draft = draw(seed, kind)
        done = _core.run(draft.toml(), f"seed {seed}", [], None, None, None, str(folder), None, None, False, True)
        return cls(seed, kind, stratum, draft, json.loads(done.summary), folder)

    def outcomes(self, damage: str = "", views: tuple[str, ...] = VIEWS) -> list[Outcome]:
        """Diagnoses what each place saw, with the captures damaged as `damage` says."""
        if not true_shares(self.summary):
            return []
        with tempfile.TemporaryDirectory() as damaged:
            for file in self.folder.glob("*.pcapng") if damage else ():
                degrade(file, Path(damaged, file.name), damage, self.seed)
            places = captures(self.draft, Path(damaged) if damage else self.folder)
            outcomes = []
            for view in views:
                try:
                    found = diagnose_captures(places[view])
                except ValueError:
                    continue
                if found["connections"]:
                    origin = (self.seed, self.kind, self.stratum, view)
                    outcomes.append(_compare(origin, self.draft, self.summary, found["connections"][0]))
        return outcomes


def captures(draft: Draft, folder: Path) -> dict[str, list[str]]:
    """Files of each view."""
    down = draft.transfer.get("direction", "down" if "page" in draft.transfer else "up") == "down"
    sender, receiver = ("server", "client") if down else ("client", "server")
    at_receiver = sorted(str(f) for f in folder.glob(f"{receiver}-*.pcapng"))
    at_sender = sorted(str(f) for f in folder.glob("shaper*.pcapng" if draft.local_shaper else f"{sender}-*.pcapng"))
    return {"sender": at_sender, "receiver": at_receiver, "both": [*at_sender, *at_receiver]}


def _mean(shares: list[dict[str, float]]) -> dict[str, float]:
    return {c: sum(s.get(c, 0.0) for s in shares) / max(1, len(shares)) for c in CAUSES}


def _compare(origin: tuple[int, str, str, str], draft: Draft, summary: dict[str, Any], found: Any) -> Outcome:
    flows = []
    for flow in found["subflows"]:
        number = int(flow["client"].rsplit(":", 1)[1]) - 49152
        true = summary["subflows"][number]
        path = draft.paths[true["path"]]
        rate = float(path["rate"].split()[0]) if "rate" in path else None
        steady = rate is not None and "delay_variation" not in path
        flows.append(
            {
                "number": number,
                # The sender has no account of what the other host tried to open in vain: that was never up.
                "truth": true.get("causes") or NEVER_UP,
                "answer": flow["causes"],
                "rate": rate,
                "busy_s": true.get("busy_s", 0),
                "utilisation": true["utilisation"],
                "goodput": flow["goodput_mbps"],
                "capacity": flow["capacity_mbps"],
                "at_least": flow["capacity_at_least_mbps"],
                "base": 2 * float(path["delay"].split()[0]) if steady else None,
                "base_said": flow["base_rtt_ms"],
                "changes": rate is None or bool(path.get("changes")),
            }
        )
    together = found["indistinct"]
    # Subflows of which no packet passed there are on the list of what one side cannot know (docs/diagnose.md), too.
    truth = _mean([flow["truth"] for flow in flows if flow["answer"]])
    answer = found["causes"] or dict.fromkeys(CAUSES, 0.0)
    return Outcome(*origin, truth, answer, flows, together, found["main_cause"] or "")


def measure(seeds: Iterable[int], jobs: int = 1, damage: str = "", kind: str | None = None) -> list[Outcome]:
    """All outcomes of `seeds`, of captures damaged as `damage` says; all of one `kind`, if it is named."""
    seeds = list(seeds)
    if jobs == 1:
        return [outcome for seed in seeds for outcome in examine(seed, damage, kind=kind)]
    with concurrent.futures.ProcessPoolExecutor(jobs) as pool:
        found = pool.map(partial(examine, damage=damage, kind=kind), seeds, chunksize=4)
        return [outcome for outcomes in found for outcome in outcomes]


def score(outcomes: list[Outcome], view: str, points: float = 0.05) -> dict[str, Any]:
    """How good the answers from one place are."""
    mine = [o for o in outcomes if o.view == view]
    clear = [o for o in mine if o.clear]
    subflows = [(f, o) for o in mine for f in o.flows if f["truth"] and f["answer"]]
    apart = [far(f["truth"], f["answer"], o.together) <= points for f, o in subflows]
    facts = [o for o in clear if o.claimed not in o.together]
    return {
        "scenarios": len(mine),
        "within": _share([o.worst <= points for o in mine]),
        "strict": _share([o.strict <= points for o in mine]),
        "subflows_within": _share(apart),
        **_paths(mine, view),
        "verdicts": {c: Counter(o.verdict for o in clear if o.main[0] == c) for c in CAUSES},
        "by_kind": {k: Counter(o.verdict for o in clear if o.kind == k) for k in KINDS},
        "facts_wrong": (sum(o.verdict == "wrong" for o in facts), len(facts)),
        "main": Counter(o.main[0] for o in mine),
        "confusion": Counter((o.main[0], o.claimed) for o in mine),
    }


def _paths(mine: list[Outcome], view: str) -> dict[str, Any]:
    """What was said of the paths: capacities, their lower bounds, base delays."""
    pairs = [(f, o) for o in mine for f in o.flows]
    saturated = [f for f, _ in pairs if f["busy_s"] >= 1 and not f["changes"]]
    answered = [f for f in saturated if f["capacity"] is not None]
    # Whatever is said to be the capacity counts, also of a path that was never busy for a second.
    said = [f for f, _ in pairs if f["capacity"] is not None and not f["changes"]]
    close = [abs(f["capacity"] / f["rate"] - 1) <= 0.10 for f in said]
    bounds = [f["at_least"] <= 1.02 * f["rate"] for f, _ in pairs if f["at_least"] and not f["changes"]]
    # The receiver may never see an answer smaller than a full packet (docs/diagnose.md): its time on the link is in it.
    packet = {id(f): 1500 * 8 / (f["rate"] * 1e3) if view == "receiver" and f["rate"] else 0.0 for f, _ in pairs}
    bases = [
        -max(2.0, 0.05 * f["base"]) <= f["base_said"] - f["base"] <= max(2.0, 0.05 * f["base"]) + packet[id(f)]
        for f, _ in pairs
        if f["base_said"] and f["base"] is not None
    ]
    return {
        "capacity_answered": (len(answered), len(saturated)),
        "capacity_within_10": _share(close),
        "bound_holds": _share(bounds),
        "bound_covers_goodput": _share([f["at_least"] >= 0.999 * f["goodput"] for f, _ in pairs if f["at_least"]]),
        "base_delay": _share(bases),
    }


def _share(hits: list[bool]) -> float:
    return sum(hits) / len(hits) if hits else float("nan")


def table(result: dict[str, Any]) -> str:
    """A score as text."""
    wrong, facts = result["facts_wrong"]
    lines = [
        f"scenarios {result['scenarios']}, all shares within bounds {result['within']:.3f}, "
        f"each share by itself {result['strict']:.3f}, of the subflows {result['subflows_within']:.3f}",
        f"capacity answered {result['capacity_answered']}, within 10 % {result['capacity_within_10']:.3f}, "
        f"bound holds {result['bound_holds']:.3f}, covers the goodput {result['bound_covers_goodput']:.3f}, "
        f"base delay {result['base_delay']:.3f}",
        f"where one cause has more than 60 %: {wrong} of {facts} answers that name one cause are wrong",
        "cause: right/indistinct/wrong: " + ", ".join(f"{c} {_three(v)}" for c, v in result["verdicts"].items()),
        "kind: right/indistinct/wrong: " + ", ".join(f"{k} {_three(v)}" for k, v in result["by_kind"].items() if v),
        "truth \\ said   " + " ".join(f"{c[:6]:>6}" for c in CAUSES),
    ]
    for truth in CAUSES:
        row = " ".join(f"{result['confusion'].get((truth, said), 0):6d}" for said in CAUSES)
        lines.append(f"{truth:14} {row}  of {result['main'].get(truth, 0)}")
    return "\n".join(lines)


def _three(counts: Counter[str]) -> str:
    return "/".join(str(counts[verdict]) for verdict in ("right", "indistinct", "wrong"))


def markdown(results: dict[str, dict[str, Any]]) -> str:
    """Scores by view as Markdown tables; tests/data/diagnosis_truth.csv has the figures."""
    lines = [
        "| captures of | all shares of the connection right | each share by itself | all shares of a subflow right "
        "| wrong among answers that name one cause | capacity answered where a link was busy for a second "
        "| within 10 % | lower bound holds | base delay within 2 ms or 5 % |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for view, r in results.items():
        wrong, facts = r["facts_wrong"]
        answered, saturated = r["capacity_answered"]
        shares = [r[name] for name in ("within", "strict", "subflows_within")]
        paths = [r[name] for name in ("capacity_within_10", "bound_holds", "base_delay")]
        cells = [f"{100 * share:.1f} %" for share in shares]
        cells += [f"{wrong} of {facts}", f"{answered} of {saturated}"]
        cells += [f"{100 * share:.1f} %" for share in paths]
        lines.append(f"| {view} | " + " | ".join(cells) + " |")
    for name, key in (("cause", "verdicts"), ("kind of scenario", "by_kind")):
        lines += ["", "Right, indistinct, wrong, where one cause has more than 60 % of the time:", ""]
        lines += [f"| {name} | " + " | ".join(results) + " |", "|---" * (len(results) + 1) + "|"]
        for row in next(iter(results.values()))[key]:
            cells = [_three(r[key][row]).replace("/", ", ") for r in results.values()]
            lines.append(f"| `{row}` | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--worst", type=int, default=0, help="List so many of the wrong or worst answers of each view.")
    parser.add_argument("--stratum", choices=STRATA)
    parser.add_argument("--kind", choices=list(KINDS))
    parser.add_argument("--damage", choices=DAMAGES, default="", help="Damage the captures.")
    parser.add_argument("--markdown", action="store_true", help="Print the scores as Markdown tables.")
    options = parser.parse_args()
    wanted: list[int] = []
    seed = options.first
    while len(wanted) < options.count:
        if options.kind in (None, kind_of(seed)) and options.stratum in (None, STRATA[seed % len(STRATA)]):
            wanted.append(seed)
        seed += 1
    outcomes = measure(wanted, options.jobs, options.damage)
    points = 0.10 if options.damage else 0.05
    if options.markdown:
        sys.stdout.write(markdown({view: score(outcomes, view, points) for view in VIEWS}))
        return
    for view in VIEWS:
        sys.stdout.write(f"== {view}\n{table(score(outcomes, view, points))}\n")
        mine = [o for o in outcomes if o.view == view]
        for o in sorted(mine, key=lambda o: (not (o.clear and o.verdict == "wrong"), -o.worst))[: options.worst]:
            parts = [(c, round(o.truth[c], 2), round(o.answer.get(c, 0), 2)) for c in CAUSES]
            shown = [p for p in parts if max(p[1:]) >= 0.02]
            sys.stdout.write(f"{o.seed} {o.kind} {o.stratum} {o.verdict} {o.claimed} {o.worst:.2f} {shown}\n")


if __name__ == "__main__":
    main()
