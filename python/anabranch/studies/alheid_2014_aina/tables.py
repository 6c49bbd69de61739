"""Tables I and II beside the other columns, and the tables the figures are drawn from."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from anabranch.studies.alheid_2014_aina.names import (
    CASES,
    CEILING,
    CONTROLLERS,
    DELAYS,
    MODELS,
    OPTIMUM,
    PACKET,
    PAYLOAD,
    RATE,
    RECOVERIES,
    TABLE_DELAY,
    printed,
)
from anabranch.studies.alheid_2014_aina.text import STATEMENTS
from anabranch.studies.base import Data, Entry, Table, TableSpec
from anabranch.studies.beside import APART, Quantity, Row, beside, frame_of, gains, in_words, judgement
from anabranch.studies.words import NONE, number, signed

RATIO = Quantity.of("ooo_ratio", "ooo_ratio_pct")
BUFFER = Quantity.of("ooo_buffer_max_packets", "ooo_buffer_packets")
GOODPUT = Quantity.of("goodput_mbps", "aggregate_mbps", "Aggregate throughput")
USED0 = Quantity("SF-0 utilisation (%)", "util_sf0_pct", "util0", 100.0, 0)
USED1 = Quantity("SF-1 utilisation (%)", "util_sf1_pct", "util1", 100.0, 0)
QUANTITIES = (RATIO, BUFFER, GOODPUT, USED0, USED1)

_HEAD = ("Controller", "Recovery")


def _rows() -> list[Row]:
    return [Row((CONTROLLERS[c], RECOVERIES[r]), {"controller": c, "recovery": r}) for c, r in _combinations()]


def _printed(labels: Mapping[str, Any], column: str) -> float:
    return printed(str(labels["controller"]), str(labels["recovery"]), column)


def _combinations() -> Iterator[tuple[str, str]]:
    return ((controller, recovery) for controller in CONTROLLERS for recovery in RECOVERIES)


def _table_1(data: Data) -> Table:
    return beside(
        data,
        "Table I: out-of-order ratio and reordering buffer",
        f"SF-1 has {TABLE_DELAY}. The paper's buffer figures, printed as KB, are converted to packets (see the notes). "
        + APART,
        _HEAD,
        _rows(),
        (RATIO, BUFFER),
        _printed,
    )


def _table_2(data: Data) -> Table:
    return beside(
        data,
        "Table II: link utilisation and aggregate throughput",
        f"SF-1 has {TABLE_DELAY}. Throughput is the rate of data that the application received; utilisation counts "
        "all octets on the link, headers and retransmissions included. " + APART,
        _HEAD,
        _rows(),
        (USED0, USED1, GOODPUT),
        _printed,
    )


def _nopr(data: Data) -> Table:
    rows: list[list[str | Entry]] = []
    records = []
    for case, (label, _, stated) in CASES.items():
        for controller in CONTROLLERS:
            row: list[str | Entry] = [label, CONTROLLERS[controller], number(stated, 1)]
            record: dict[str, Any] = {"case": case, "controller": controller, "paper (text)": stated}
            for model in MODELS:
                mean, first, second = (
                    data.mean("nopr", measure, controller=controller, case=case, model=model)
                    for measure in ("goodput_mbps", "goodput0", "goodput1")
                )
                row += [
                    Entry.of(mean, 2, remark=signed(mean.mean - stated, 2)),
                    f"{number(first.mean, 2)} + {number(second.mean, 2)}",
                ]
                record |= {
                    model: mean.mean,
                    f"{model} low": mean.low,
                    f"{model} high": mean.high,
                    f"{model} - paper": mean.mean - stated,
                    f"{model} SF-0": first.mean,
                    f"{model} SF-1": second.mean,
                }
            rows.append(row)
            records.append(record)
    return Table(
        "Four cases without recovery (Fig. 4)",
        "Throughput in Mbit/s, and how the two subflows share it (SF-0 + SF-1). The paper's column follows its text: "
        "the sum of both links if the delays are equal and constant, else the rate of one link.",
        [("", 2), ("Paper", 1), *((label, 2) for label in MODELS.values())],
        ["Delays", "Controller", "text", *["total", "SF-0 + SF-1"] * 3],
        rows,
        2,
        frame_of(records),
    )


def _ceiling(data: Data) -> Table:
    rows: list[list[str | Entry]] = []
    records = []
    delays = [str(point.label) for point in data.sweeps["ceiling"].plan.axes["path.1.delay"]]
    for controller in CONTROLLERS:
        for delay in delays:
            row: list[str | Entry] = [CONTROLLERS[controller], delay]
            record: dict[str, Any] = {"controller": controller, "sf1_delay": delay, "ceiling_mbps": CEILING}
            for links in ("constant", "fluctuating"):
                cell = {"controller": controller, "delay": delay, "links": links}
                values = data.values("ceiling", "goodput_mbps", **cell)
                mean = data.over(values, "ceiling", cell)
                row += [Entry.of(mean, 3, remark=""), number(mean.mean / CEILING, 3), number(min(values) / CEILING, 3)]
                record |= {
                    f"{links} mbps": mean.mean,
                    f"{links} share": mean.mean / CEILING,
                    f"{links} share of the slowest seed": min(values) / CEILING,
                }
            rows.append(row)
            records.append(record)
    return Table(
        "How much of both links the independent receiver fills, without recovery",
        "Share: goodput / ceiling, which is the rate of both links times payload / packet size: 1 Mbit/s x "
        f"{PAYLOAD}/{PACKET} = {CEILING:.4f} Mbit/s. “Fluctuating”: both delays vary by 5 %, as in the paper.",
        [("", 2), ("Constant delays", 3), ("Fluctuating delays", 3)],
        ["Controller", "SF-1", *["Mbit/s", "share", "slowest seed"] * 2],
        rows,
        2,
        frame_of(records),
    )


def _paired(data: Data) -> Table:
    rows = [row for row in _rows() if row.labels["recovery"] != "none"]
    return gains(data, rows, _HEAD, f"SF-1 has {TABLE_DELAY}.")


def _judgement(data: Data) -> Table:
    caption = f"Over links without random loss, genuine episodes are overflows of a queue. SF-1 has {TABLE_DELAY}."
    return judgement(data, _rows(), _HEAD, caption)


def _door(data: Data) -> Table:
    sweep = data.sweeps["door"]
    first, second = ([point.label for point in sweep.plan.axes[name]] for name in ("door_t1", "door_t2"))
    rows: list[list[str | Entry]] = []
    for t1 in first:
        row: list[str | Entry] = [f"{t1:g}"]
        for t2 in second:
            mean = data.mean("door", "goodput_mbps", door_t1=t1, door_t2=t2)
            row.append(Entry.of(mean, 3))
        rows.append(row)
    return Table(
        "TCP-DOOR: duration of its responses",
        "Goodput in Mbit/s with the 95 % interval, by T1 (how long the congestion response is off) and T2 (up to which "
        "age a reduction is undone), in smoothed round-trip times; both are one by default. Coupled receiver, "
        f"controller rtt-compensator, SF-1 {TABLE_DELAY}.",
        [("", 1), ("T2", len(second))],
        ["T1", *(f"{t2:g} RTT" for t2 in second)],
        rows,
        1,
        sweep.means(),
    )


def _delays(data: Data) -> Table:
    rows: list[list[str | Entry]] = []
    records = []
    for controller, recovery in _combinations():
        for model, label in MODELS.items():
            cells: list[dict[str, Any]] = [
                {"controller": controller, "recovery": recovery, "model": model, "delay": delay} for delay in DELAYS
            ]
            means = [data.mean("delays", "goodput_mbps", **cell) for cell in cells]
            shown = (Entry.of(mean, 2, remark="") for mean in means)
            rows.append([CONTROLLERS[controller], RECOVERIES[recovery], label, *shown])
            records += [
                {"controller": controller, "recovery": recovery, "model": model, "sf1_delay": delay, **mean._asdict()}
                for delay, mean in zip(DELAYS, means, strict=True)
            ]
    for delays, label in ((DELAYS[:1] * len(DELAYS), "TCP over SF-0"), (DELAYS, "TCP over SF-1")):
        means = [data.mean("single-path", "goodput_mbps", delay=delay) for delay in delays]
        rows.append([NONE, NONE, label, *(Entry.of(mean, 2, remark="") for mean in means)])
    rows.append([NONE, NONE, "Optimum", *[number(OPTIMUM, 2)] * len(DELAYS)])
    return Table(
        "Throughput over the difference of the delays (Figs. 12 to 14)",
        "Goodput in Mbit/s. SF-0 has a delay of 10 ms; the column gives the difference of SF-1. The paper shows this "
        "only in figures.",
        [("", 3), ("Difference of the one-way delays", len(DELAYS))],
        ["Controller", "Recovery", "Model", *(f"{int(delay.split()[0]) - 10} ms" for delay in DELAYS)],
        rows,
        3,
        frame_of(records),
    )


def _baselines(data: Data) -> Table:
    tcp = {
        "TCP over SF-0 (10 ms)": data.mean("single-path", "goodput_mbps", delay="10 ms"),
        f"TCP over SF-1 ({TABLE_DELAY})": data.mean("single-path", "goodput_mbps", delay=TABLE_DELAY),
    }
    rows: list[list[str | Entry]] = [[label, Entry.of(mean, 3, remark="")] for label, mean in tcp.items()]
    rows += [
        ["Optimum of the paper: both links' rates", number(OPTIMUM, 3)],
        [f"Ceiling of the goodput: {PAYLOAD}/{PACKET} of the optimum", number(CEILING, 3)],
    ]
    return Table(
        "Baselines",
        f"Plain TCP (RFC 5681) over one link of {RATE} Mbit/s; the rate of both links; the part of it that can be "
        "payload.",
        [],
        ["", "Mbit/s"],
        rows,
        1,
        frame_of([{"baseline": str(row[0]), "mbps": row[1]} for row in rows]),
    )


def _statements(data: Data) -> Table:
    return in_words(data, STATEMENTS)


def _spec(*needs: str, full: bool = False, folded: bool = False) -> "Callable[[Callable[[Data], Table]], TableSpec]":
    return lambda make: TableSpec(needs, make, full, folded)


TABLES = {
    "table-1": _spec("tables")(_table_1),
    "table-2": _spec("tables")(_table_2),
    "statements": _spec("tables", "nopr")(_statements),
    "cases": _spec("nopr")(_nopr),
    "ceiling": _spec("ceiling")(_ceiling),
    "baselines": _spec("single-path")(_baselines),
    "gains": _spec("tables")(_paired),
    "judgement": _spec("tables")(_judgement),
    "door": _spec("door", full=True)(_door),
    "delays": _spec("delays", "single-path", full=True, folded=True)(_delays),
}
