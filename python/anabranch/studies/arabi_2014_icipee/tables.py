"""The cells of both scenarios, the statements of the text, the future work."""

from collections.abc import Callable, Sequence
from typing import Any

from anabranch.measures.table import MEASURES
from anabranch.studies.arabi_2014_icipee.figures import lone
from anabranch.studies.arabi_2014_icipee.names import (
    CHOICES,
    CONTROLLERS,
    LINKS,
    LONE,
    RATES,
    RECOVERIES,
    RIVALS,
    printed,
)
from anabranch.studies.arabi_2014_icipee.text import STATEMENTS
from anabranch.studies.base import Data, Entry, Table, TableSpec
from anabranch.studies.beside import APART, Quantity, Row, beside, choices, frame_of, gains, in_words, judgement
from anabranch.studies.models import MODELS
from anabranch.studies.models import RECOVERIES as ALL
from anabranch.studies.words import NONE, number

_GOODPUT = Quantity.of("goodput_mbps", "goodput_mbps", "Throughput")
_HEAD = ("Subflows", "Controller", "Recovery")


def _rows(recoveries: Sequence[str] = tuple(RECOVERIES)) -> list[Row]:
    return [
        Row((links, CONTROLLERS[c], RECOVERIES[r]), {"links": links, "controller": c, "recovery": r})
        for links in LINKS
        for c in CONTROLLERS
        for r in recoveries
    ]


def _results(data: Data) -> Table:
    return beside(
        data,
        "Throughput of both scenarios",
        "Mean goodput of a transfer of 10 MB, its slow start included. The paper has one number, the largest value "
        "over time in its Fig. 9. " + APART,
        _HEAD,
        _rows(),
        (_GOODPUT,),
        printed,
    )


def _order(data: Data) -> Table:
    rows: list[list[str | Entry]] = []
    records: list[dict[str, Any]] = []
    measures = [MEASURES[name] for name in ("ooo_ratio", "ooo_buffer_max_packets", "hol_delay_p95_ms")]
    for row in _rows():
        line: list[str | Entry] = list(row.words)
        record: dict[str, Any] = dict(row.labels)
        for measure in measures:
            for model in MODELS:
                mean = data.mean("tables", measure.key, measure.scale, **row.labels, model=model)
                line.append(number(mean.mean, measure.digits))
                record |= {f"{measure.key} {model}": mean.mean, f"{measure.key} {model} low": mean.low}
                record |= {f"{measure.key} {model} high": mean.high}
        rows.append(line)
        records.append(record)
    return Table(
        "Order of arrival",
        "The paper does not measure the order of arrival; the other papers on the same model do.",
        [("", len(_HEAD)), *((measure.title, len(MODELS)) for measure in measures)],
        [*_HEAD, *["Legacy", "Coupled", "Independent"] * len(measures)],
        rows,
        len(_HEAD),
        frame_of(records),
    )


def _baselines(data: Data) -> Table:
    labels = {
        "SF-0": "TCP over SF-0 (5 Mbit/s, 100 ms)",
        "SF-1-100ms": "TCP over SF-1 of the first scenario (2 Mbit/s, 100 ms)",
        "SF-1": "TCP over SF-1 of the second scenario (2 Mbit/s, 10 ms)",
        "SF-2": "TCP over SF-2 (7 Mbit/s, 50 ms)",
    }
    means = {label: data.mean("single-path", "goodput_mbps", over=link) for link, label in labels.items()}
    shown: list[list[str | Entry]] = [[label, Entry.of(mean, 2, remark="")] for label, mean in means.items()]
    found: dict[str, float] = {label: mean.mean for label, mean in means.items()}
    for links, label in LINKS.items():
        found[f"Sum of these, {label}"] = sum(found[labels[link]] for link in LONE[links])
        found[f"Rates of the links, {label}"] = RATES[links]
    return Table(
        "Baselines",
        "Plain TCP (RFC 5681), the same file of 10 MB over one link.",
        [],
        ["", "Mbit/s"],
        [*shown, *([label, number(rate, 2)] for label, rate in found.items() if label not in means)],
        1,
        frame_of([{"baseline": label, "mbps": rate} for label, rate in found.items()]),
    )


def _sensitivity(data: Data) -> Table:
    groups = {
        "fig-8": ("Fig. 8: two subflows, Linked Increases", {"figure": "fig-8"}),
        "fig-9": ("Fig. 9: three subflows, Uncoupled", {"figure": "fig-9"}),
    }
    return choices(data, "", CHOICES, RECOVERIES, groups)


def _point_to_point(data: Data) -> Table:
    rows: list[list[str | Entry]] = []
    records: list[dict[str, Any]] = []
    for controller, label in CONTROLLERS.items():
        for recovery, name in ALL.items():
            cell: dict[str, Any] = {"controller": controller, "recovery": recovery}
            means = {model: data.mean("point-to-point", "goodput_mbps", **cell, model=model) for model in MODELS}
            buffers = {
                model: data.mean("point-to-point", "ooo_buffer_max_packets", **cell, model=model).mean
                for model in MODELS
            }
            rows.append(
                [
                    label,
                    name,
                    *(Entry.of(mean, 2, remark="") for mean in means.values()),
                    *(number(size, 0) for size in buffers.values()),
                ]
            )
            records.append(
                cell
                | {f"{model} {part}": value for model, mean in means.items() for part, value in mean._asdict().items()}
                | {f"{model} buffer_packets": size for model, size in buffers.items()}
            )
    return Table(
        "Future work, i): point to point, three subflows, with TCP-DOOR",
        "Three links as in the paper's Fig. 7.",
        [("", 2), ("Throughput (Mbit/s)", len(MODELS)), (MEASURES["ooo_buffer_max_packets"].title, len(MODELS))],
        ["Controller", "Recovery", *["Legacy", "Coupled", "Independent"] * 2],
        rows,
        2,
        frame_of(records),
    )


def _beside_others(topology: str, title: str, caption: str) -> "Callable[[Data], Table]":
    sweep, single, rivals = RIVALS[topology]

    def make(data: Data) -> Table:
        rows: list[list[str | Entry]] = []
        records: list[dict[str, Any]] = []
        for controller, label in CONTROLLERS.items():
            for recovery, name in ALL.items():
                line: list[str | Entry] = [label, name]
                record: dict[str, Any] = {"controller": controller, "recovery": recovery}
                for model in MODELS:
                    cell: dict[str, Any] = {"controller": controller, "recovery": recovery, "model": model}
                    own = data.mean(sweep, "connection0", **cell)
                    others = [data.mean(sweep, f"connection{i + 1}", **cell).mean for i in range(len(rivals))]
                    line += [Entry.of(own, 2, remark=""), " + ".join(number(rate, 2) for rate in others)]
                    record |= {f"{model} multipath": own.mean, f"{model} low": own.low, f"{model} high": own.high}
                    record |= {f"{model} {rival}": rate for rival, rate in zip(rivals, others, strict=True)}
                rows.append(line)
                records.append(record)
        for point in data.sweeps[single].plan.axes["access"]:
            line = [f"over {point.label} alone", NONE]
            for model in MODELS:
                stack = "legacy" if model == "legacy" else "tcp"
                own, *others_of = (
                    data.mean(single, f"connection{i}", access=point.label, stack=stack) for i in range(1 + len(rivals))
                )
                line += [Entry.of(own, 2, remark=""), " + ".join(number(rate.mean, 2) for rate in others_of)]
            rows.append(line)
        best = ", ".join(f"{label.lower()} {lone(data, single, model):.2f}" for model, label in MODELS.items())
        return Table(
            title,
            f"Goodput in Mbit/s of the multipath connection, and of {caption}. In the last rows a connection over "
            f"one path takes its place; the best path is {best}.",
            [("", 2), *((label, 2) for label in MODELS.values())],
            ["Controller", "Recovery", *["multipath", "others"] * len(MODELS)],
            rows,
            2,
            frame_of(records),
        )

    return make


TABLES = {
    "results": TableSpec(("tables",), _results),
    "statements": TableSpec(("tables", "single-path"), lambda data: in_words(data, STATEMENTS)),
    "baselines": TableSpec(("single-path",), _baselines),
    "gains": TableSpec(
        ("tables",),
        lambda data: gains(data, _rows(tuple(RECOVERIES)[1:]), _HEAD, "Transfers of 10 MB."),
    ),
    "judgement": TableSpec(
        ("tables",),
        lambda data: judgement(
            data, _rows(), _HEAD, "Over links without random loss, genuine episodes are overflows of a queue."
        ),
        folded=True,
    ),
    "order": TableSpec(("tables",), _order, folded=True),
    "sensitivity": TableSpec(("sensitivity",), _sensitivity, full=True),
    "point-to-point": TableSpec(("point-to-point",), _point_to_point, full=True),
    "shared": TableSpec(
        ("shared-bottleneck", "shared-single"),
        _beside_others(
            "shared",
            "Future work, ii): a shared bottleneck",
            "the other connection at the bottleneck of 14 Mbit/s",
        ),
        full=True,
    ),
    "disjoint": TableSpec(
        ("disjoint-bottlenecks", "disjoint-single"),
        _beside_others(
            "disjoint", "Future work, iii): disjoint bottlenecks", "the other connections on SF-0, SF-1 and SF-2"
        ),
        full=True,
    ),
}
