"""Schedulers by traffic and queue, who leads where, and the two papers' figures."""

from typing import Any

from anabranch.studies.base import Data, Entry, Table
from anabranch.studies.beside import frame_of
from anabranch.studies.schedulers.measures import (
    FIRST,
    NETWORKS,
    SHORT,
    TRAFFIC,
    Traffic,
    labels,
    ratio,
    turns,
    value,
)
from anabranch.studies.schedulers.papers import ECF_FILES, PUBLISHED, Published
from anabranch.studies.words import NONE, listed, number, signed

_MOST = 3
"""Leaders named in a cell."""


def against(data: Data, network: str, controller: str) -> Table:
    """Every scheduler with one controller: each kind of traffic at each length of the queues."""
    schedulers, queues = labels(data, network, "scheduler"), labels(data, network, "queue")
    rows: list[list[str | Entry]] = []
    records: list[dict[str, Any]] = []
    for scheduler in schedulers:
        row: list[str | Entry] = [scheduler]
        for name, traffic in TRAFFIC.items():
            for queue in queues:
                cell = {"scheduler": scheduler, "controller": controller, "queue": queue, "application": name}
                found = value(data, network, traffic, **cell)
                apart = ratio(data, network, traffic.measure, **cell)
                remark = "" if scheduler == FIRST else f"{signed(100 * apart.mean, 0)} %"
                row.append(Entry.of(found, traffic.decimals, remark=remark))
                records.append({**cell, "measure": traffic.measure, "mean": found.mean, "low": found.low})
                records[-1] |= {"high": found.high, "to_min_rtt": apart.mean}
                records[-1] |= {
                    column: data.mean(network, column, **cell).mean
                    for column in ("ooo_buffer_max_bytes", "rebuffering_s", "choice_ratio")
                }
        rows.append(row)
    groups = [("", 1), *((f"{one.title}: {one.quantity}, {one.unit}", len(queues)) for one in TRAFFIC.values())]
    return Table(
        f"{SHORT[network]}, {controller}",
        f"{NETWORKS[network]}. Queues in bandwidth-delay products. Small numbers: difference from {FIRST} (pairs of "
        "runs with the same seed). The CSV has the intervals, the reordering buffer, the time for which a video "
        "stopped, and the share of segments with a choice.",
        groups,
        ["Scheduler", *(str(queue) for _ in TRAFFIC for queue in queues)],
        rows,
        1,
        frame_of(records),
    )


def memory(data: Data) -> Table:
    """What the receiver holds of bulk transfers."""
    rows: list[list[str | Entry]] = []
    records: list[dict[str, Any]] = []
    columns = [(network, name) for network in NETWORKS for name in ("bulk", "bulk-512k")]
    controller = "olia"
    for scheduler in labels(data, "wlan", "scheduler"):
        row: list[str | Entry] = [scheduler]
        for network, name in columns:
            for queue in labels(data, network, "queue"):
                cell = {"scheduler": scheduler, "controller": controller, "queue": queue, "application": name}
                found = data.mean(network, "ooo_buffer_max_bytes", 1e-3, **cell)
                row.append(number(found.mean, 0))
                records.append({"network": network, **cell, "kB": found.mean, "low": found.low, "high": found.high})
        rows.append(row)
    groups = [("", 1)]
    groups += [(f"{SHORT[n]}: {TRAFFIC[name].title}", len(labels(data, n, "queue"))) for n, name in columns]
    heads = [str(queue) for network, _ in columns for queue in labels(data, network, "queue")]
    return Table(
        "Memory",
        f"Largest amount of data that the receiver held while earlier data was missing, in kB, with {controller}, by "
        "queue.",
        groups,
        ["Scheduler", *heads],
        rows,
        1,
        frame_of(records),
    )


def leading(data: Data) -> Table:
    """Who is first, by queue."""
    rows: list[list[str | Entry]] = []
    records: list[dict[str, Any]] = []
    found = turns(data)
    for turn in found:
        cells = [_named(one, all_of=turn.equal) for one in turn.leaders]
        verdict = "no difference" if turn.equal else "turns over" if turn.turns else "stays"
        rows.append([SHORT[turn.network], TRAFFIC[turn.traffic].title, turn.controller, *cells, verdict])
        for queue, one in zip(turn.queues, turn.leaders, strict=True):
            records.append({"network": turn.network, "application": turn.traffic, "controller": turn.controller})
            records[-1] |= {"queue": queue, "leaders": " ".join(one), "verdict": verdict}
    queues = found[0].queues
    return Table(
        "Who leads, by queue",
        "The schedulers within 1 % of the best mean, best first. The ranking changes if no scheduler that leads with "
        "the shortest queue also leads with the longest (in bandwidth-delay products).",
        [("", 3), ("Queue", len(queues)), ("", 1)],
        ["Links", "Traffic", "Controller", *map(str, queues), "Ranking"],
        rows,
        3,
        frame_of(records),
    )


def _named(leaders: list[str], *, all_of: bool) -> str:
    if all_of:
        return "all"
    more = len(leaders) - _MOST
    return ", ".join(leaders[:_MOST]) + (f" and {more} more" if more > 0 else "")


def published(data: Data) -> Table:
    """The figures of the BLEST paper and ours: difference to the default scheduler."""
    rows: list[list[str | Entry]] = []
    records: list[dict[str, Any]] = []
    for one in PUBLISHED:
        rows.append([one.says, one.scheduler, f"{signed(100 * one.theirs, 0)} %", *_ours(data, "blest", one, records)])
    return Table(
        "What the BLEST paper reports",
        "Ferlin et al., IFIP Networking 2016: difference from the default scheduler, and Anabranch's with the 95 % "
        "interval of pairs with the same seed. The paper's test had background traffic; this study has none.",
        [("", 2), ("Difference to the default", 3)],
        ["", "Scheduler", "paper", "here", f"{FIRST} here"],
        rows,
        2,
        frame_of(records),
    )


def _ours(data: Data, sweep: str, one: Published, records: list[dict[str, Any]]) -> list[str | Entry]:
    cell = {"scheduler": one.scheduler, "application": one.traffic}
    found = ratio(data, sweep, one.measure, **cell)
    base = data.mean(sweep, one.measure, one.scale, **{**cell, "scheduler": FIRST})
    records.append({"says": one.says, **cell, "paper": one.theirs, "here": found.mean, "low": found.low})
    records[-1] |= {"high": found.high, "min_rtt": base.mean, "unit": one.unit}
    percent = found._replace(mean=100 * found.mean, low=100 * found.low, high=100 * found.high)
    shown = Entry.of(percent, 0, f"{signed(percent.mean, 0)} %")
    return [shown, Entry.of(base, 2, f"{number(base.mean, 2)} {one.unit}", remark="")]


def downloads(data: Data) -> Table:
    """Files over LTE and Wi-Fi: the ECF paper."""
    files = labels(data, "ecf", "file")
    time = Traffic("", "completion_s", "s", 1.0, 3, False)
    rows: list[list[str | Entry]] = []
    records: list[dict[str, Any]] = []
    for scheduler in labels(data, "ecf", "scheduler"):
        row: list[str | Entry] = [scheduler]
        for file in files:
            cell = {"scheduler": scheduler, "file": file}
            found, apart = value(data, "ecf", time, **cell), ratio(data, "ecf", time.measure, **cell)
            remark = "" if scheduler == FIRST else f"{signed(100 * apart.mean, 0)} %"
            row.append(Entry.of(found, 3, remark=remark))
            records.append({**cell, "completion_s": found.mean, "low": found.low, "high": found.high})
            records[-1]["to_min_rtt"] = apart.mean
        rows.append(row)
    rows.append(["ecf in the paper", *(ECF_FILES.get(str(file), NONE) for file in files)])
    return Table(
        "Downloads of the ECF paper",
        f"Completion in seconds over LTE of 10 and Wi-Fi of 1 Mbit/s; small numbers: difference from {FIRST}. "
        f"{listed(list(ECF_FILES))} are the sizes that Lim et al. (CoNEXT 2017) name.",
        [("", 1), ("File", len(files))],
        ["Scheduler", *map(str, files)],
        rows,
        1,
        frame_of(records),
    )
