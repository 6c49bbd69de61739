"""Latency of a call, gains of two networks, goodput and waiting under a delay that steps."""

from typing import Any

from anabranch.studies.base import Data, Entry, Table
from anabranch.studies.beside import frame_of
from anabranch.studies.words import number
from anabranch.sweeps.paired import Interval, interval

BAR = 150.0
"""Largest acceptable message latency of a call, ms."""
ALONE = {"wifi": "TCP over Wi-Fi", "lte": "TCP over LTE"}
CARRIERS = {"lte": "LTE", "5g": "5G"}
OVER = ("satellite", "carrier", "both")
PUBLISHED = {"lte": (176.8, 106.8, 229.0), "5g": (176.8, 174.7, 289.4)}
"""Mbit/s: Starlink Mobility, the carrier (AT&T, Verizon), both; Hu et al., CoNEXT 2023, from their data."""


def axis(data: Data, sweep: str, name: str) -> list[str]:
    """The labels of an axis."""
    return [str(point.label) for point in data.sweeps[sweep].plan.axes[name]]


def p99(data: Data, sender: str, controller: str) -> list[float]:
    """99th percentile of the message latency of each seed, ms.

    Infinite for a seed in which at least 20 % of the messages missed their deadline.
    """
    where = {"sender": sender, "controller": controller}
    found = data.values("walk", "message_latency_p99_ms", **where)
    missed = data.values("walk", "deadline_missed", **where)
    return [value if share < 0.2 else float("inf") for value, share in zip(found, missed, strict=True)]


def kept(data: Data, sender: str, controller: str) -> bool:
    """True if the 99th percentile of the latency is at most `BAR` in every run."""
    found = p99(data, sender, controller)
    return bool(found) and max(found) <= BAR


def missed(data: Data, sender: str, controller: str) -> Interval:
    """Mean share of messages that arrived after more than 150 ms or never, %."""
    return data.mean("walk", "deadline_missed", 100, sender=sender, controller=controller)


def calls(data: Data) -> Table:
    """Table of the message latency of a video call, by sender and controller."""
    controllers = axis(data, "walk", "controller")
    rows: list[list[str | Entry]] = []
    records: list[dict[str, Any]] = []
    for sender in axis(data, "walk", "sender"):
        shown: list[str | Entry] = [ALONE.get(sender, sender)]
        for controller in controllers:
            found, late = p99(data, sender, controller), missed(data, sender, controller)
            worst = max(found)
            text = "stands still" if worst == float("inf") else number(worst, 0)
            shown.append(Entry(text, f"{late.mean:.2g} %"))
            records.append({"sender": sender, "controller": controller, "worst_p99_ms": worst, "missed_pct": late.mean})
        rows.append(shown)
    return Table(
        "A video call on the way out of Wi-Fi",
        "99th percentile of the latency of a run's messages in ms, the largest of all seeds. Small numbers: share of "
        "messages that arrived later than 150 ms or not at all.",
        [("", 1), ("Controller", len(controllers))],
        ["Path or scheduler", *controllers],
        rows,
        1,
        frame_of(records),
    )


def rate(data: Data, carrier: str, over: str, controller: str) -> float:
    """Mean goodput on the road in Mbit/s; `over`: the networks used (`OVER`)."""
    return _rate(data, carrier, over, controller).mean


def _rate(data: Data, carrier: str, over: str, controller: str) -> Interval:
    return data.mean("road", "goodput_mbps", carrier=carrier, over=over, controller=controller)


def gain(rates: tuple[float, ...]) -> tuple[float, float]:
    """Goodput over both networks relative to the better one alone, and to the sum of both alone.

    >>> gain((100.0, 50.0, 120.0))
    (1.2, 0.8)
    """
    return rates[2] / max(rates[:2]), rates[2] / sum(rates[:2])


def downloads(data: Data) -> Table:
    """Table of download goodputs: simulated ones by controller, and the published ones."""
    rows: list[list[str | Entry]] = []
    records: list[dict[str, Any]] = []
    for carrier, label in CARRIERS.items():
        ours = {c: [_rate(data, carrier, over, c) for over in OVER] for c in axis(data, "road", "controller")}
        published = [interval([one]) for one in PUBLISHED[carrier]]
        for sender, means in [*ours.items(), ("published", published)]:
            rates = tuple(one.mean for one in means)
            best, total = gain(rates)
            shown = [Entry.of(one, 0, remark="") for one in means]
            rows.append([label, sender, *shown, number(best, 2), number(total, 2)])
            records.append({"network": carrier, "sender": sender, **dict(zip(OVER, rates, strict=True))})
            records[-1] |= {"of_the_better": best, "of_the_sum": total}
    return Table(
        "Starlink and a carrier on the road",
        "Goodput in Mbit/s of one TCP connection over either network and of Multipath TCP over both; then Multipath "
        "TCP's goodput divided by that of the better network, and by the sum.",
        [("", 2), ("Mbit/s", 3), ("Both, as a multiple of", 2)],
        ["Carrier", "Controller", "Starlink", "carrier", "both", "the better", "the sum"],
        rows,
        2,
        frame_of(records),
    )


def stepped(data: Data, scheduler: str, measure: str, buffer: str, *, still: bool) -> float:
    """Mean of `measure` with a constant delay of the first path if `still`, else a stepping one."""
    return _stepped(data, scheduler, measure, buffer, still=still).mean


def _stepped(data: Data, scheduler: str, measure: str, buffer: str, *, still: bool) -> Interval:
    delay = "still" if still else "steps"
    return data.mean("steps", measure, scheduler=scheduler, delay_of_first=delay, buffer=buffer)


def steps(data: Data) -> Table:
    """Table of goodput and head-of-line delay under a stepping delay, by scheduler."""
    rows: list[list[str | Entry]] = []
    records: list[dict[str, Any]] = []
    buffers = axis(data, "steps", "buffer")
    for scheduler in axis(data, "steps", "scheduler"):
        shown: list[str | Entry] = [scheduler]
        for buffer in buffers:
            for measure in ("goodput_mbps", "hol_delay_p99_ms"):
                step, still = (_stepped(data, scheduler, measure, buffer, still=one) for one in (False, True))
                shown.append(Entry.of(step, 1, remark=number(still.mean, 1)))
                records.append(
                    {
                        "scheduler": scheduler,
                        "buffer": buffer,
                        "measure": measure,
                        "steps": step.mean,
                        "still": still.mean,
                    }
                )
        rows.append(shown)
    return Table(
        "A delay that steps every 15 s",
        "Goodput in Mbit/s, and the time for which data wait for earlier data (99th percentile, ms). Small numbers: "
        "with a constant delay.",
        [("", 1), *((f"receive buffer: {buffer}", 2) for buffer in buffers)],
        ["Scheduler", *["Mbit/s", "ms"] * len(buffers)],
        rows,
        1,
        frame_of(records),
    )
