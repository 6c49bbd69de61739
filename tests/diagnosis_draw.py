"""Random scenarios whose main cause of waiting is known, for the test of diagnoses.

A seed gives the cause to aim at (``seed % 10``) and the kind of scenario (``seed % 19``): the sender, the queue
discipline, the radio or the application. Nineteen and ten have no common factor, so 190 seeds in a row combine every
kind with every cause.
"""

import json
import math
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from anabranch import _core
from anabranch.measures.causes import CAUSES

STRATA = tuple(cause for cause in CAUSES if cause != "link")
"""Causes that a subflow may have."""
CONTROLLERS = ["coupled", "uncoupled", "cubic", "olia", "balia", "linked-increases", "aimd"]
LINUX_CONTROLLERS = ["cubic", "uncoupled"]
SCHEDULERS = [
    "min-rtt", "round-robin", "linux", "blest", "ecf", "remp", "smallest-delay", "load-balancing", "priority",
    "cheapest-path-first", "otias", "daps", "delay-estimating", "after-sttf", "after-stms",
]  # fmt: skip
PACKETS = 40_000
"""About so many packets are simulated for each scenario."""
TRIES = 24
NEVER_UP = {cause: float(cause == "not_up") for cause in CAUSES}


def log_uniform(rng: random.Random, low: float, high: float) -> float:
    """A number between `low` and `high` whose logarithm is uniform."""
    return math.exp(rng.uniform(math.log(low), math.log(high)))


@dataclass
class Draft:
    """A scenario in the making."""

    paths: list[dict[str, Any]]
    connection: dict[str, Any]
    transfer: dict[str, Any] = field(default_factory=dict)
    seed: int = 1
    local_shaper: bool = False
    """The slowest link of each path is a shaper on the sender's own host, captured behind its queue."""

    def toml(self) -> str:
        """The scenario as a document."""
        text = f'seed = {self.seed}\nduration = "200 s"\n'
        if self.local_shaper:
            return text + self._shaped()
        text += f"[connection]\n{_lines(self.connection)}[transfer]\n{_lines(self.transfer)}"
        return text + "".join(f"[[path]]\n{_lines(path)}" for path in self.paths)

    def _shaped(self) -> str:
        text = '[[host]]\nname = "client"\n[[host]]\nname = "server"\n'
        connection = {**self.connection, "client": "client", "server": "server", "paths": []}
        for i, path in enumerate(self.paths):
            shaper = {k: v for k, v in path.items() if k in ("rate", "queue", "discipline")}
            shaper |= {"delay": "0 s", "rate_down": "10 Gbit/s", "capture": True}
            shaper["rate_up"] = shaper.pop("rate")
            far = {k: v for k, v in path.items() if k not in ("rate", "queue", "discipline")}
            far |= {"rate": "10 Gbit/s", "queue": "10000 packets"}
            text += f'[[router]]\nname = "r{i}"\n'
            text += f'[[link]]\nname = "shaper{i}"\nfrom = "client"\nto = "r{i}"\n{_lines(shaper)}'
            text += f'[[link]]\nname = "far{i}"\nfrom = "r{i}"\nto = "server"\n{_lines(far)}'
            connection["paths"].append([f"shaper{i}", f"far{i}"])
        return text + f"[connection]\n{_lines(connection)}[transfer]\n{_lines(self.transfer)}"


def _lines(table: dict[str, Any]) -> str:
    return "".join(f"{key} = {_toml(value)}\n" for key, value in table.items())


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


def draw(seed: int, kind: str | None = None) -> tuple[str, str, Draft]:
    """The scenario of `seed`: the kind (that of the seed, if none is named), the cause that it aims at, and the draft.

    Of up to 24 tries the first one is taken that has this cause as its main one.
    """
    kind, stratum = kind or kind_of(seed), STRATA[seed % len(STRATA)]
    tries = TRIES if kind in CHEAP else TRIES // 4
    first = None
    for attempt in range(tries):
        draft = _try(kind, stratum, seed, attempt)
        first = first or draft
        done = _core.run(draft.toml(), f"seed {seed}", [], None, None, None, None, None, None, False, True)
        shares = true_shares(json.loads(done.summary))
        if shares and max(shares, key=lambda cause: shares[cause]) == stratum:
            return kind, stratum, draft
    assert first is not None
    return kind, stratum, first


def kind_of(seed: int) -> str:
    """The kind of scenario that `seed` gives."""
    return list(KINDS)[seed % len(KINDS)]


def true_shares(summary: dict[str, Any]) -> dict[str, float] | None:
    """Means over the subflows of a run, by cause."""
    known = [flow["causes"] for flow in summary["subflows"] if flow.get("causes")]
    return {c: sum(s.get(c, 0.0) for s in known) / len(known) for c in CAUSES} if known else None


def _try(kind: str, stratum: str, seed: int, attempt: int) -> Draft:
    rng = random.Random(seed + 1_000_000_007 * attempt)
    count = rng.choice([1, 1, 2, 2, 2, 3, 4])
    rates = [log_uniform(rng, 1, 200) for _ in range(count)]
    delays = [log_uniform(rng, 0.001, 0.150) for _ in range(count)]
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
    KINDS[kind](rng, draft)
    return draft


def _bdp(rates: list[float], delays: list[float]) -> float:
    return max(r * 1e6 / 8 * 2 * d for r, d in zip(rates, delays, strict=True))


def _cwnd(rng: random.Random, d: Draft, rates: list[float], delays: list[float], seconds: float) -> None:
    if rng.random() < 0.4:
        for path in d.paths:
            path["loss"] = round(log_uniform(rng, 1e-5, 1e-3), 6)


def _recovery(rng: random.Random, d: Draft, rates: list[float], delays: list[float], seconds: float) -> None:
    for i in range(len(d.paths)):
        rates[i], delays[i] = log_uniform(rng, 30, 200), log_uniform(rng, 0.03, 0.15)
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
        d.connection["receive_buffer"] = f"{log_uniform(rng, 32e3, 1e6):.0f} B"
    else:
        room = max(32e3, _bdp(rates[: len(d.paths)], delays[: len(d.paths)]) * rng.uniform(0.1, 0.7))
        d.connection["receive_buffer"] = f"{min(room, 16e6):.0f} B"


def _head_of_line(rng: random.Random, d: Draft, rates: list[float], delays: list[float], seconds: float) -> None:
    while len(d.paths) < 2:
        d.paths.append({})
        rates.append(0)
        delays.append(0)
    for i in range(len(d.paths)):
        rates[i] = log_uniform(rng, 3, 60)
        delays[i] = log_uniform(rng, 0.001, 0.02) if i % 2 == 0 else log_uniform(rng, 0.04, 0.15)
        d.paths[i] = _path(rng, rates[i], delays[i], rng.uniform(0.8, 3), 0)
    d.connection["scheduler"] = rng.choice(["min-rtt", "round-robin", "load-balancing", "linux", "remp"])
    d.connection["receive_buffer"] = f"{max(32e3, _bdp(rates, delays) * rng.uniform(0.1, 0.6)):.0f} B"
    if rng.random() < 0.3:
        d.paths[-1]["loss"] = round(log_uniform(rng, 1e-3, 2e-2), 5)


def _reinjection(rng: random.Random, d: Draft, rates: list[float], delays: list[float], seconds: float) -> None:
    count = rng.choice([3, 4, 4])
    # One path is ahead of the others: what these have in flight are copies.
    rate, delay = log_uniform(rng, 1, 20), log_uniform(rng, 0.002, 0.12)
    rates[:] = [rate * (rng.uniform(4, 10) if i == 0 else rng.uniform(0.8, 1.2)) for i in range(count)]
    delays[:] = [delay * rng.uniform(0.8, 1.2) for _ in range(count)]
    d.paths[:] = [_path(rng, r, t, rng.uniform(0.8, 2)) for r, t in zip(rates, delays, strict=True)]
    d.connection["scheduler"] = rng.choice(["remp", "remp", "redundant", "duplicate"])


def _scheduler(rng: random.Random, d: Draft, rates: list[float], delays: list[float], seconds: float) -> None:
    while len(d.paths) < 3:
        rates.append(log_uniform(rng, 1, 200))
        delays.append(log_uniform(rng, 0.001, 0.15))
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
        size = log_uniform(rng, 500, 50_000)
        interval = max(0.01, size * 8 / (total * 1e6 * rng.uniform(0.05, 0.3)))
        d.transfer |= {"message": f"{size:.0f} B", "interval": f"{interval * 1e3:.3f} ms"}
    else:
        del d.transfer["duration"]
        size = log_uniform(rng, 2_000, 200_000)
        d.transfer |= {"request": "200 B", "response": f"{size:.0f} B", "count": rng.randint(5, 40)}
        d.transfer["think"] = f"{(2 * max(delays) + size * 8 / (total * 1e6)) * rng.uniform(2, 6) * 1e3:.3f} ms"


def _not_up(rng: random.Random, d: Draft, rates: list[float], delays: list[float], seconds: float) -> None:
    while len(d.paths) < 2:
        rates.append(log_uniform(rng, 1, 200))
        delays.append(log_uniform(rng, 0.001, 0.15))
        d.paths.append(_path(rng, rates[-1], delays[-1]))
    if rng.random() < 0.4:
        d.transfer = {"bytes": f"{log_uniform(rng, 2_000, 14_000):.0f} B"} | (
            {"direction": d.transfer["direction"]} if "direction" in d.transfer else {}
        )
    else:
        for path in range(1, len(d.paths)):
            at = rng.uniform(0.5, 0.25 * seconds)
            d.connection.setdefault("path_changes", []).append({"at": f"{at:.3f} s", "path": path, "action": "remove"})


def _failed(rng: random.Random, d: Draft, rates: list[float], delays: list[float], seconds: float) -> None:
    while len(d.paths) < 4:
        rates.append(log_uniform(rng, 1, 200))
        delays.append(log_uniform(rng, 0.001, 0.15))
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


def _plain(rng: random.Random, d: Draft) -> None:
    """Links with a constant rate and a drop-tail queue, a sender of today's RFCs."""


def _linux(rng: random.Random, d: Draft) -> None:
    """Linux 6.1 at both ends."""
    d.connection |= {"profile": "linux-6.1", "scheduler": "linux", "controller": rng.choice(LINUX_CONTROLLERS)}
    for key in ("nagle", "sack"):
        d.connection.pop(key, None)
    if "receive_buffer" in d.connection and d.connection["receive_buffer"] == "16 MB" and rng.random() < 0.7:
        # As most hosts have them: buffers that tune themselves.
        del d.connection["receive_buffer"]
        if d.connection["send_buffer"] == "16 MB":
            del d.connection["send_buffer"]


def _bbr(rng: random.Random, d: Draft) -> None:
    """BBR, which paces every segment."""
    d.connection["controller"] = "bbr"


def _linux_bbr(rng: random.Random, d: Draft) -> None:
    _linux(rng, d)
    d.connection["controller"] = "bbr"


def _dctcp(rng: random.Random, d: Draft) -> None:
    """DCTCP over links that mark above a threshold (RFC 8257)."""
    d.connection |= {"controller": "dctcp", "ecn": True}
    for path in d.paths:
        path["ecn_threshold"] = f"{rng.choice([5, 20, 65])} packets"


def _discipline(name: str) -> Callable[[random.Random, Draft], None]:
    def change(rng: random.Random, d: Draft) -> None:
        if rng.random() < 0.3:
            d.connection["ecn"] = True
        for path in d.paths:
            path["discipline"] = name
            path["queue"] = "1000 packets"

    return change


def _jitter(rng: random.Random, d: Draft) -> None:
    """Delays that vary from packet to packet or from time to time, up to half of the delay."""
    for path in d.paths:
        path["delay_variation"] = f"{log_uniform(rng, 2, 50):.1f} %"
        if rng.random() < 0.3:
            path["delay_redraw"] = f"{log_uniform(rng, 1, 500):.1f} ms"
        path["overtaking"] = rng.random() < 0.3


def _wifi(*standards: str) -> Callable[[random.Random, Draft], None]:
    def change(rng: random.Random, d: Draft) -> None:
        standard = rng.choice(standards)
        wifi: dict[str, Any] = {"standard": standard, "distance": f"{log_uniform(rng, 2, 25):.1f} m"}
        if standard in ("802.11n", "802.11ac", "802.11ax"):
            if rng.random() < 0.5:
                wifi["rate"] = "minstrel"
        elif rng.random() < 0.3:
            wifi["rate"] = rng.choice(["arf", "aarf", "minstrel"])
        radio = {"wifi": wifi, "delay": d.paths[0].get("delay", "10 ms")}
        radio |= {k: d.paths[0][k] for k in ("backup", "changes") if k in d.paths[0]}
        d.paths[0] = radio
        if "duration" in d.transfer:
            d.transfer["duration"] = f"{rng.uniform(3, 6):.3f} s"

    return change


def _preset(*presets: str) -> Callable[[random.Random, Draft], None]:
    def change(rng: random.Random, d: Draft) -> None:
        path = {"preset": rng.choice(presets)}
        d.paths[0] = path | {k: d.paths[0][k] for k in ("backup", "changes") if k in d.paths[0]}
        if "duration" in d.transfer:
            d.transfer["duration"] = f"{rng.uniform(8, 20):.3f} s"

    return change


def _shaper(rng: random.Random, d: Draft) -> None:
    """A shaper on the sender's own host, captured behind its queue: the capture has no queue in it."""
    d.local_shaper = True
    d.transfer.pop("direction", None)
    if rng.random() < 0.5:
        d.connection |= {"profile": "linux-6.1", "scheduler": "linux", "controller": rng.choice(LINUX_CONTROLLERS)}


def _page(rng: random.Random, d: Draft) -> None:
    """One web page over one connection."""
    page = rng.choice(["wikipedia", "amazon", "huffington-post"])
    d.transfer = {"page": page, "think": f"{rng.uniform(0, 200):.1f} ms"}


def _requests(rng: random.Random, d: Draft) -> None:
    """A client that asks again and again for files of all sizes."""
    total = sum(float(path["rate"].split()[0]) for path in d.paths if "rate" in path) or 10.0
    size = log_uniform(rng, 2_000, 4e6)
    d.transfer = {
        "direction": "down", "request": "300 B", "response": f"{size:.0f} B",
        "count": max(2, min(60, round(total * 1e6 / 8 * 6 / size))),
        "think": f"{log_uniform(rng, 1, 1000):.1f} ms",
    }  # fmt: skip


KINDS: dict[str, Callable[[random.Random, Draft], None]] = {
    "plain": _plain,
    "linux": _linux,
    "bbr": _bbr,
    "linux-bbr": _linux_bbr,
    "dctcp": _dctcp,
    "red": _discipline("red"),
    "codel": _discipline("codel"),
    "fq-codel": _discipline("fq-codel"),
    "jitter": _jitter,
    "wifi-abgp": _wifi("802.11a", "802.11b", "802.11g", "802.11p"),
    "wifi-n": _wifi("802.11n"),
    "wifi-ac": _wifi("802.11ac"),
    "wifi-ax": _wifi("802.11ax"),
    "starlink": _preset("starlink", "starlink 2022", "starlink mobile", "starlink roam"),
    "lte": _preset("lte", "lte driving"),
    "5g": _preset("5g", "5g driving"),
    "shaper": _shaper,
    "page": _page,
    "requests": _requests,
}
"""What is changed in a scenario that was drawn for a cause, by kind."""

CHEAP = ("plain", "linux", "bbr", "linux-bbr", "dctcp", "red", "codel", "fq-codel", "jitter", "shaper")
"""Kinds of which a run takes milliseconds: for these the cause aimed at is tried for more often."""
