"""Diagnoses of simulated captures against what the simulator knows.

``tools/diagnosis-truth --first 3000000 --count 1000`` draws scenarios, runs them, diagnoses what the sender saw, what
the receiver saw, and both, and tells how far the answers are from the truth. Seeds below 3,000,000 are for development.
"""

import argparse
import concurrent.futures
import json
import math
import random
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from anabranch import _core
from anabranch.causes import CAUSES
from anabranch.why.measure import diagnose_captures
from degraded import KINDS, degrade

STRATA = tuple(CAUSES)
VIEWS = ("sender", "receiver", "both")
CONTROLLERS = ["coupled", "uncoupled", "cubic", "olia", "balia", "linked-increases", "aimd"]
SCHEDULERS = [
    "min-rtt", "round-robin", "linux", "blest", "ecf", "remp", "smallest-delay", "load-balancing", "priority",
    "cheapest-path-first", "otias", "daps", "delay-estimating", "after-sttf", "after-stms",
]  # fmt: skip
PACKETS = 40_000
"""About so many packets are simulated for each scenario."""


def _log(rng: random.Random, low: float, high: float) -> float:
    return math.exp(rng.uniform(math.log(low), math.log(high)))


@dataclass
class Draft:
    """A scenario in the making."""

    paths: list[dict[str, Any]]
    connection: dict[str, Any]
    transfer: dict[str, Any] = field(default_factory=dict)
    seed: int = 1

    def toml(self) -> str:
        def lines(table: dict[str, Any]) -> str:
            return "".join(f"{key} = {_toml(value)}\n" for key, value in table.items())

        text = f'seed = {self.seed}\nduration = "200 s"\n[connection]\n{lines(self.connection)}[transfer]\n'
        text += lines(self.transfer)
        return text + "".join(f"[[path]]\n{lines(path)}" for path in self.paths)


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{k} = {_toml(v)}" for k, v in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(_toml(v) for v in value) + "]"
    return json.dumps(value)


def _path(rng: random.Random, rate: float, delay: float, queue: float = 1.0, loss: float = 0.0) -> dict[str, Any]:
    packets = max(10, round(queue * rate * 1e6 * 2 * delay / 8 / 1500))
    path: dict[str, Any] = {
        "rate": f"{rate:.3f} Mbit/s",
        "delay": f"{delay * 1e3:.3f} ms",
        "queue": f"{packets} packets",
    }
    if loss:
        if rng.random() < 0.3:
            path["loss"] = {"good_to_bad": round(loss / 3, 6), "bad_to_good": 0.3, "loss_bad": 0.9}
        else:
            path["loss"] = round(loss, 6)
    return path


TRIES = 24
NEVER_UP = {cause: float(cause == "not_up") for cause in CAUSES}


def draw(seed: int) -> tuple[str, Draft]:
    """The scenario of `seed`, and the cause it was drawn for.

    The first of up to 24 tries with that cause as the main one: so each is the main one in a tenth of the seeds.
    """
    stratum = STRATA[seed % len(STRATA)]
    first = None
    for attempt in range(TRIES):
        draft = _try(stratum, seed, attempt)
        first = first or draft
        done = _core.run(draft.toml(), f"seed {seed}", [], None, None, None, None, None, None, False, True)
        known = [flow["causes"] for flow in json.loads(done.summary)["subflows"] if flow.get("causes")]
        shares = _mean(known)
        if known and max(shares, key=lambda cause: shares[cause]) == stratum:
            return stratum, draft
    assert first is not None
    return stratum, first


def _try(stratum: str, seed: int, attempt: int) -> Draft:
    rng = random.Random(seed + 1_000_000_007 * attempt)
    count = rng.choice([1, 1, 2, 2, 2, 3, 4])
    rates = [_log(rng, 1, 200) for _ in range(count)]
    delays = [_log(rng, 0.001, 0.150) for _ in range(count)]
    # 1 to 200 Mbit/s a path, 2 to 300 ms there and back.
    paths = [_path(rng, r, d, rng.uniform(0.4, 2), 0) for r, d in zip(rates, delays, strict=True)]
    connection: dict[str, Any] = {
        "scheduler": rng.choice(SCHEDULERS) if rng.random() < 0.5 else "min-rtt",
        "controller": rng.choice(CONTROLLERS),
        "receive_buffer": "16 MB",
        "send_buffer": "16 MB",
    }
    if stratum == "send_buffer" or rng.random() < 0.2:
        connection["nagle"] = rng.random() < 0.5
    draft = Draft(paths, connection, seed=seed)
    seconds = min(20.0, max(4.0, PACKETS * 1400 * 8 / (sum(rates) * 1e6)))
    draft.transfer = {"duration": f"{seconds:.3f} s"}
    if rng.random() < 0.3:
        draft.transfer["direction"] = "down"
    _SHAPES[stratum](rng, draft, rates, delays, seconds)
    return draft


def _bdp(rates: list[float], delays: list[float]) -> float:
    return max(r * 1e6 / 8 * 2 * d for r, d in zip(rates, delays, strict=True))


def _cwnd(rng: random.Random, d: Draft, rates: list[float], delays: list[float], seconds: float) -> None:
    if rng.random() < 0.4:
        for path in d.paths:
            path["loss"] = round(_log(rng, 1e-5, 1e-3), 6)


def _recovery(rng: random.Random, d: Draft, rates: list[float], delays: list[float], seconds: float) -> None:
    for i in range(len(d.paths)):
        rates[i], delays[i] = _log(rng, 30, 200), _log(rng, 0.03, 0.15)
        loss = rng.choice([0.0, 0.0, 0.0, rng.uniform(0.0, 0.05)])
        d.paths[i] = _path(rng, rates[i], delays[i], rng.uniform(1, 3), loss)
    # One hole a round trip (RFC 6582): after the many losses of a slow start recovery takes most of the time.
    d.connection["sack"] = False
    del d.paths[rng.choice([1, 1, 2]) :]
    d.transfer["duration"] = f"{rng.uniform(8, 14):.3f} s"


def _receive_window(rng: random.Random, d: Draft, rates: list[float], delays: list[float], seconds: float) -> None:
    del d.paths[rng.choice([1, 1, 1, 2]) :]
    if rng.random() < 0.4:
        d.transfer["read_rate"] = f"{rng.uniform(0.2, 0.7) * sum(rates[: len(d.paths)]):.3f} Mbit/s"
        d.connection["receive_buffer"] = f"{_log(rng, 32e3, 1e6):.0f} B"
    else:
        room = max(32e3, _bdp(rates[: len(d.paths)], delays[: len(d.paths)]) * rng.uniform(0.1, 0.7))
        d.connection["receive_buffer"] = f"{min(room, 16e6):.0f} B"


def _head_of_line(rng: random.Random, d: Draft, rates: list[float], delays: list[float], seconds: float) -> None:
    while len(d.paths) < 2:
        d.paths.append({})
        rates.append(0)
        delays.append(0)
    for i in range(len(d.paths)):
        rates[i] = _log(rng, 3, 60)
        delays[i] = _log(rng, 0.001, 0.02) if i % 2 == 0 else _log(rng, 0.04, 0.15)
        d.paths[i] = _path(rng, rates[i], delays[i], rng.uniform(0.8, 3), 0)
    d.connection["scheduler"] = rng.choice(["min-rtt", "round-robin", "load-balancing", "linux", "remp"])
    d.connection["receive_buffer"] = f"{max(32e3, _bdp(rates, delays) * rng.uniform(0.1, 0.6)):.0f} B"
    if rng.random() < 0.3:
        d.paths[-1]["loss"] = round(_log(rng, 1e-3, 2e-2), 5)


def _reinjection(rng: random.Random, d: Draft, rates: list[float], delays: list[float], seconds: float) -> None:
    count = rng.choice([3, 4, 4])
    # One path is ahead of the others: what these have in flight are copies.
    rate, delay = _log(rng, 1, 20), _log(rng, 0.002, 0.12)
    rates[:] = [rate * (rng.uniform(4, 10) if i == 0 else rng.uniform(0.8, 1.2)) for i in range(count)]
    delays[:] = [delay * rng.uniform(0.8, 1.2) for _ in range(count)]
    d.paths[:] = [_path(rng, r, t, rng.uniform(0.8, 2)) for r, t in zip(rates, delays, strict=True)]
    d.connection["scheduler"] = rng.choice(["remp", "remp", "redundant", "duplicate"])


def _scheduler(rng: random.Random, d: Draft, rates: list[float], delays: list[float], seconds: float) -> None:
    while len(d.paths) < 3:
        rates.append(_log(rng, 1, 200))
        delays.append(_log(rng, 0.001, 0.15))
        d.paths.append(_path(rng, rates[-1], delays[-1]))
    if rng.random() < 0.6:
        for path in d.paths[1:]:
            path["backup"] = True
    else:
        d.connection["scheduler"] = rng.choice(["active-standby", "round-robin", "load-balancing"])


def _send_buffer(rng: random.Random, d: Draft, rates: list[float], delays: list[float], seconds: float) -> None:
    del d.paths[rng.choice([1, 1, 2]) :]
    n = len(d.paths)
    d.connection["scheduler"] = "min-rtt"
    d.connection["send_buffer"] = f"{max(32e3, _bdp(rates[:n], delays[:n]) * rng.uniform(0.1, 0.7)):.0f} B"


def _application(rng: random.Random, d: Draft, rates: list[float], delays: list[float], seconds: float) -> None:
    total = sum(rates)
    kind = rng.choice(["steady", "on-off", "messages", "dialogue"])
    if kind == "steady":
        d.transfer |= {"on": "1 s", "off": "0 s", "rate": f"{total * rng.uniform(0.05, 0.5):.3f} Mbit/s"}
    elif kind == "on-off":
        on = rng.uniform(0.1, 0.5)
        d.transfer |= {"on": f"{on:.3f} s", "off": f"{on * rng.uniform(2, 5):.3f} s", "rate": f"{total:.3f} Mbit/s"}
    elif kind == "messages":
        size = _log(rng, 500, 50_000)
        interval = max(0.01, size * 8 / (total * 1e6 * rng.uniform(0.05, 0.3)))
        d.transfer |= {"message": f"{size:.0f} B", "interval": f"{interval * 1e3:.3f} ms"}
    else:
        del d.transfer["duration"]
        size = _log(rng, 2_000, 200_000)
        d.transfer |= {"request": "200 B", "response": f"{size:.0f} B", "count": rng.randint(5, 40)}
        d.transfer["think"] = f"{(2 * max(delays) + size * 8 / (total * 1e6)) * rng.uniform(2, 6) * 1e3:.3f} ms"


def _not_up(rng: random.Random, d: Draft, rates: list[float], delays: list[float], seconds: float) -> None:
    while len(d.paths) < 2:
        rates.append(_log(rng, 1, 200))
        delays.append(_log(rng, 0.001, 0.15))
        d.paths.append(_path(rng, rates[-1], delays[-1]))
    if rng.random() < 0.4:
        d.transfer = {"bytes": f"{_log(rng, 2_000, 14_000):.0f} B"} | (
            {"direction": d.transfer["direction"]} if "direction" in d.transfer else {}
        )
    else:
        for path in range(1, len(d.paths)):
            at = rng.uniform(0.5, 0.25 * seconds)
            d.connection.setdefault("path_changes", []).append({"at": f"{at:.3f} s", "path": path, "action": "remove"})


def _failed(rng: random.Random, d: Draft, rates: list[float], delays: list[float], seconds: float) -> None:
    while len(d.paths) < 4:
        rates.append(_log(rng, 1, 200))
        delays.append(_log(rng, 0.001, 0.15))
        d.paths.append(_path(rng, rates[-1], delays[-1]))
    d.connection["scheduler"] = "min-rtt"
    d.transfer["duration"] = f"{max(seconds, 10.0):.3f} s"
    for path in d.paths[1:]:
        path["changes"] = [{"at": f"{rng.uniform(0.5, 0.8):.3f} s", "state": "down"}]


_SHAPES = {
    "cwnd": _cwnd, "recovery": _recovery, "receive_window": _receive_window, "head_of_line": _head_of_line,
    "reinjection": _reinjection, "scheduler": _scheduler, "send_buffer": _send_buffer, "application": _application,
    "not_up": _not_up, "failed": _failed,
}  # fmt: skip


@dataclass
class Outcome:
    """One scenario, one view: the truth and the answer."""

    seed: int
    stratum: str
    view: str
    truth: dict[str, float]
    answer: dict[str, float]
    flows: list[dict[str, Any]]
    together: list[str]
    """Causes whose sum only is known from there (docs/diagnose.md has the list)."""
    claimed: str
    """The main cause that the diagnosis names."""

    @property
    def main(self) -> tuple[str, float]:
        return max(self.truth.items(), key=lambda pair: pair[1])

    @property
    def right(self) -> bool:
        """The main cause is the one named, or both are among those that cannot be told apart."""
        main = self.main[0]
        return self.claimed == main or (self.claimed in self.together and main in self.together)

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


def examine(seed: int, kind: str = "", views: tuple[str, ...] = VIEWS) -> list[Outcome]:
    """Runs the scenario of `seed`; diagnoses what each place saw, in captures degraded to `kind` if one is named."""
    stratum, draft = draw(seed)
    with tempfile.TemporaryDirectory() as folder:
        done = _core.run(draft.toml(), f"seed {seed}", [], None, None, None, folder, None, None, False, True)
        summary = json.loads(done.summary)
        for file in Path(folder).glob("*.pcapng") if kind else ():
            degrade(file, file, kind, seed)
        sender = "server" if draft.transfer.get("direction") == "down" else "client"
        receiver = "client" if sender == "server" else "server"
        places = {"sender": [sender], "receiver": [receiver], "both": [sender, receiver]}
        outcomes = []
        if not any(flow.get("causes") for flow in summary["subflows"]):
            return []
        for view in views:
            files = [str(f) for place in places[view] for f in sorted(Path(folder).glob(f"{place}-*.pcapng"))]
            try:
                found = diagnose_captures(files)
            except ValueError:
                continue
            outcomes.append(_compare(seed, stratum, view, draft, summary, found["connections"][0]))
    return outcomes


def _mean(shares: list[dict[str, float]]) -> dict[str, float]:
    return {c: sum(s.get(c, 0.0) for s in shares) / max(1, len(shares)) for c in CAUSES}


def _compare(seed: int, stratum: str, view: str, draft: Draft, summary: dict[str, Any], found: Any) -> Outcome:
    flows = []
    for flow in found["subflows"]:
        number = int(flow["client"].rsplit(":", 1)[1]) - 49152
        true = summary["subflows"][number]
        path = draft.paths[true["path"]]
        rate, delay = float(path["rate"].split()[0]), float(path["delay"].split()[0])
        flows.append(
            {
                "number": number,
                # The sender has no account of what the other host tried to open in vain: that was never up.
                "truth": true.get("causes") or NEVER_UP,
                "answer": flow["causes"],
                "rate": rate,
                "busy_s": true.get("busy_s", 0),
                "utilisation": true["utilisation"],
                "capacity": flow["capacity_mbps"],
                "at_least": flow["capacity_at_least_mbps"],
                "base": 2 * delay,
                "base_said": flow["base_rtt_ms"],
                "changes": bool(path.get("changes")),
            }
        )
    together = found["indistinct"]
    # Subflows of which no packet passed there are on the list of what one side cannot know (docs/diagnose.md), too.
    truth = _mean([flow["truth"] for flow in flows if flow["answer"]])
    answer = found["causes"] or dict.fromkeys(CAUSES, 0.0)
    return Outcome(seed, stratum, view, truth, answer, flows, together, found["main_cause"] or "")


def measure(seeds: list[int], jobs: int = 1, kind: str = "") -> list[Outcome]:
    """All outcomes of `seeds`, of captures degraded to `kind`, if one is named."""
    if jobs == 1:
        return [outcome for seed in seeds for outcome in examine(seed, kind)]
    with concurrent.futures.ProcessPoolExecutor(jobs) as pool:
        found = pool.map(examine, seeds, [kind] * len(seeds), chunksize=4)
        return [outcome for outcomes in found for outcome in outcomes]


def score(outcomes: list[Outcome], view: str, points: float = 0.05) -> dict[str, Any]:
    """How good the answers from one place are."""
    mine = [o for o in outcomes if o.view == view]
    within = [o.worst <= points for o in mine]
    mains = [o for o in mine if o.main[1] > 0.6]
    right = {c: [o.right for o in mains if o.main[0] == c] for c in CAUSES}
    subflows = [(f, o) for o in mine for f in o.flows if f["truth"] and f["answer"]]
    apart = [far(f["truth"], f["answer"], o.together) <= points for f, o in subflows]
    pairs = [(f, o) for o in mine for f in o.flows]
    saturated = [f for f, _ in pairs if f["busy_s"] >= 1 and not f["changes"]]
    answered = [f for f in saturated if f["capacity"] is not None]
    # Whatever is said to be the capacity counts, also of a path that was never busy for a second.
    said = [f for f, _ in pairs if f["capacity"] is not None and not f["changes"]]
    close = [abs(f["capacity"] / f["rate"] - 1) <= 0.10 for f in said]
    bounds = [f["at_least"] <= 1.02 * f["rate"] for f, _ in pairs if f["at_least"] and not f["changes"]]
    # The receiver may never see an answer smaller than a full packet (docs/diagnose.md): its time on the link is in it.
    packet = {id(f): 1500 * 8 / (f["rate"] * 1e3) if view == "receiver" else 0.0 for f, _ in pairs}
    bases = [
        -max(2.0, 0.05 * f["base"]) <= f["base_said"] - f["base"] <= max(2.0, 0.05 * f["base"]) + packet[id(f)]
        for f, _ in pairs
        if f["base_said"]
    ]
    return {
        "scenarios": len(mine),
        "within": _share(within),
        "strict": _share([o.strict <= points for o in mine]),
        "subflows_within": _share(apart),
        "capacity_answered": (len(answered), len(saturated)),
        "capacity_within_10": _share(close),
        "bound_holds": _share(bounds),
        "base_delay": _share(bases),
        "right": {c: (sum(hits), len(hits)) for c, hits in right.items()},
        "main": Counter(o.main[0] for o in mine),
        "confusion": Counter((o.main[0], o.claimed) for o in mine),
    }


def _share(hits: list[bool]) -> float:
    return sum(hits) / len(hits) if hits else float("nan")


def table(result: dict[str, Any]) -> str:
    """A score as text."""
    lines = [
        f"scenarios {result['scenarios']}, all shares within bounds {result['within']:.3f}, "
        f"each share by itself {result['strict']:.3f}, of the subflows {result['subflows_within']:.3f}",
        f"capacity answered {result['capacity_answered']}, within 10 % {result['capacity_within_10']:.3f}, "
        f"bound holds {result['bound_holds']:.3f}, base delay {result['base_delay']:.3f}",
        "main cause right where > 60 %: " + ", ".join(f"{c} {a}/{b}" for c, (a, b) in result["right"].items()),
        "truth \\ said   " + " ".join(f"{c[:6]:>6}" for c in CAUSES),
    ]
    for truth in CAUSES:
        row = " ".join(f"{result['confusion'].get((truth, said), 0):6d}" for said in CAUSES)
        lines.append(f"{truth:14} {row}  of {result['main'].get(truth, 0)}")
    return "\n".join(lines)


def markdown(results: dict[str, dict[str, Any]]) -> str:
    """Scores by view as the tables of docs/validation.md."""
    lines = [
        "| captures of | all shares of the connection right | each share by itself | all shares of a subflow right "
        "| main cause right where it has more than 60 % | capacity answered where a link was busy for a second "
        "| within 10 % | lower bound holds | base delay within 2 ms or 5 % |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for view, r in results.items():
        right, of = (sum(pair[k] for pair in r["right"].values()) for k in (0, 1))
        worst = min(((a / b, c) for c, (a, b) in r["right"].items() if b), default=(1.0, "-"))
        answered, saturated = r["capacity_answered"]
        shares = [r[name] for name in ("within", "strict", "subflows_within")]
        paths = [r[name] for name in ("capacity_within_10", "bound_holds", "base_delay")]
        cells = [f"{100 * share:.1f} %" for share in shares]
        cells.append(f"{right} of {of}; worst {100 * worst[0]:.0f} % (`{worst[1]}`)")
        cells.append(f"{answered} of {saturated}")
        cells += [f"{100 * share:.1f} %" for share in paths]
        lines.append(f"| {view} | " + " | ".join(cells) + " |")
    for view, r in results.items():
        lines += ["", f"Said, from captures of: {view}.", ""]
        lines.append("| truth, largest share | " + " | ".join(f"`{c}`" for c in CAUSES) + " |")
        lines.append("|---" * (len(CAUSES) + 1) + "|")
        for truth in CAUSES:
            row = " | ".join(str(r["confusion"].get((truth, said), 0)) for said in CAUSES)
            lines.append(f"| `{truth}` | {row} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--worst", type=int, default=0, help="List so many of the worst answers of each view.")
    parser.add_argument("--stratum", choices=STRATA)
    parser.add_argument("--kind", choices=KINDS, default="", help="Degrade the captures.")
    parser.add_argument("--markdown", action="store_true", help="Print the tables of docs/validation.md.")
    options = parser.parse_args()
    seeds = list(range(options.first, options.first + options.count))
    if options.stratum:
        k, n = STRATA.index(options.stratum), len(STRATA)
        seeds = [options.first - options.first % n + n * i + k for i in range(options.count)]
    outcomes = measure(seeds, options.jobs, options.kind)
    points = 0.10 if options.kind else 0.05
    if options.markdown:
        sys.stdout.write(markdown({view: score(outcomes, view, points) for view in VIEWS}))
        return
    for view in VIEWS:
        sys.stdout.write(f"== {view}\n{table(score(outcomes, view, points))}\n")
        for o in sorted((o for o in outcomes if o.view == view), key=lambda o: -o.worst)[: options.worst]:
            parts = [(c, round(o.truth[c], 2), round(o.answer.get(c, 0), 2)) for c in CAUSES]
            shown = [p for p in parts if max(p[1:]) >= 0.02]
            sys.stdout.write(f"{o.seed} {o.stratum} {o.worst:.2f} {shown}\n")


if __name__ == "__main__":
    main()
