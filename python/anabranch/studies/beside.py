"""The table of every study: cells of a sweep as rows, and beside the paper's number that of each model."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from anabranch.measures.table import MEASURES
from anabranch.studies.base import Data, Entry, Table
from anabranch.studies.models import MODELS
from anabranch.studies.words import NONE, number, signed
from anabranch.sweeps.paired import Interval, note

APART = (
    "The small number beside each mean is its difference from the paper's figure, in the same unit. The CSV has the 95 "
    "% intervals."
)
"""For captions."""


class Quantity(NamedTuple):
    """A column of the paper and the measure it is compared with."""

    title: str
    paper: str
    measure: str
    scale: float
    decimals: int

    @classmethod
    def of(cls, measure: str, paper: str, title: str = "") -> "Quantity":
        """Return the column `paper` of the paper beside `measure`, under its label or the paper's own `title`."""
        told = MEASURES[measure]
        return cls(f"{title} ({told.unit})" if title else told.title, paper, measure, told.scale, told.digits)


class Row(NamedTuple):
    """A row: what it is called in words and in the CSV, and which cells it is about."""

    words: Sequence[str]
    labels: Mapping[str, Any]


class Statement(NamedTuple):
    """A sentence of the paper with a figure in it, and how to compute the figure in a model.

    ``needs`` names a sweep that is not part of the quick form, if the figure needs one.
    """

    says: str
    where: str
    paper: str
    measure: Callable[[Data, str], str]
    needs: str = ""


def beside(
    data: Data,
    title: str,
    caption: str,
    head: Sequence[str],
    rows: Sequence[Row],
    quantities: Sequence[Quantity],
    printed: Callable[[Mapping[str, Any], str], float],
    sweep: str = "tables",
    found: Callable[[Quantity, Mapping[str, Any]], Interval] | None = None,
) -> Table:
    """The quantities of the rows: paper, then each model, with the difference to the paper's number if it has one.

    `printed` gives the paper's number of a row's cell and a quantity's column; NaN if there is none. `found` gives a
    model's number, if that is not the mean of the quantity's measure in `sweep`.
    """

    def measured(quantity: Quantity, cell: Mapping[str, Any]) -> Interval:
        return data.mean(sweep, quantity.measure, quantity.scale, **cell)

    found = found or measured
    out: list[list[str | Entry]] = []
    records: list[dict[str, Any]] = []
    for row in rows:
        line: list[str | Entry] = list(row.words)
        record: dict[str, Any] = dict(row.labels)
        for quantity in quantities:
            said = printed(row.labels, quantity.paper)
            line.append(number(said, quantity.decimals))
            record[f"{quantity.paper} paper"] = said
            for model in MODELS:
                cell = {**row.labels, "model": model}
                mean = found(quantity, cell)
                apart = mean.mean - said
                line.append(Entry.of(mean, quantity.decimals, remark=signed(apart, quantity.decimals)))
                record |= {
                    f"{quantity.paper} {model}": mean.mean,
                    f"{quantity.paper} {model} low": mean.low,
                    f"{quantity.paper} {model} high": mean.high,
                    f"{quantity.paper} {model} - paper": apart,
                }
        out.append(line)
        records.append(record)
    columns = [*head, *["Paper", "Legacy", "Coupled", "Independent"] * len(quantities)]
    groups = [("", len(head)), *((quantity.title, 1 + len(MODELS)) for quantity in quantities)]
    return Table(title, caption, groups, columns, out, len(head), frame_of(records))


def in_words(data: Data, statements: Sequence[Statement]) -> Table:
    """The paper's sentences, and the same computed from the runs."""
    rows: list[list[str | Entry]] = []
    records: list[dict[str, Any]] = []
    for statement in statements:
        if statement.needs and statement.needs not in data.sweeps:
            continue
        found = {model: statement.measure(data, model) for model in MODELS}
        rows.append([statement.says, statement.where, statement.paper, *found.values()])
        records.append({"statement": statement.says, "where": statement.where, "paper": statement.paper, **found})
    return Table(
        "What the paper states in words",
        "Statements of the paper's text that have a number, and the same numbers computed from the runs.",
        [],
        ["Statement", "Where", "Paper", "Legacy", "Coupled", "Independent"],
        rows,
        2,
        frame_of(records),
    )


def gains(
    data: Data, rows: Sequence[Row], head: Sequence[str], caption: str, sweep: str = "tables", axis: str = "recovery"
) -> Table:
    """What each value of `axis` gains over ``"none"``, in pairs of runs with the same seed."""
    import numpy as np

    compared = data.sweeps[sweep].compare(axis, baseline="none")
    keyed = {(*(found[name] for name in (*rows[0].labels, "model")),): found for found in compared.to_dict("records")}
    out: list[list[str | Entry]] = []
    shown: list[float] = []
    for row in rows:
        line: list[str | Entry] = list(row.words)
        for model in MODELS:
            found = keyed[*row.labels.values(), model]
            shown.append(found["p"])
            known = not math.isnan(found["low"])
            line += [
                signed(found["difference"], 3) or NONE,
                f"{signed(found['low'], 3)} to {signed(found['high'], 3)}" if known else NONE,
            ]
        out.append(line)
    many = note(np.array(shown))
    return Table(
        "What a recovery gains over no recovery",
        "Difference of the goodput (Mbit/s) from NoPR (no recovery) in pairs of runs with the same seed, with the 95 % "
        f"interval of the mean difference. {caption}{f' {many}' if many else ''}",
        [("", len(head)), *((label, 2) for label in MODELS.values())],
        [*head, *["mean", "95 %"] * len(MODELS)],
        out,
        len(head),
        compared,
    )


def choices(
    data: Data,
    caption: str,
    lines: Mapping[str, str],
    recoveries: Mapping[str, str],
    groups: Mapping[str, tuple[str, Mapping[str, Any]]],
    sweep: str = "sensitivity",
) -> Table:
    """Goodput with one choice changed at a time: a row for each choice and recovery, in groups of models.

    `lines` are the points of the sweep's axis ``choice`` in words; `groups` has heading and cell of each group, by its
    name in the CSV.
    """
    rows: list[list[str | Entry]] = []
    records: list[dict[str, Any]] = []
    for choice, label in lines.items():
        for recovery, name in recoveries.items():
            line: list[str | Entry] = [label, name]
            record: dict[str, Any] = {"choice": choice, "recovery": recovery}
            for group, (_, cell) in groups.items():
                for model in MODELS:
                    whole = {**cell, "recovery": recovery, "model": model, "choice": choice}
                    mean = data.mean(sweep, "goodput_mbps", **whole)
                    line.append(Entry.of(mean, 2))
                    record |= {f"{group} {model}": mean.mean, f"{group} {model} low": mean.low}
                    record |= {f"{group} {model} high": mean.high}
            rows.append(line)
            records.append(record)
    return Table(
        "Effect of what the paper does not state",
        f"Goodput in Mbit/s with half the width of the 95 % interval, one choice changed at a time. {caption}".strip(),
        [("", 2), *((heading, len(MODELS)) for heading, _ in groups.values())],
        ["Choice", "Recovery", *["Legacy", "Coupled", "Independent"] * len(groups)],
        rows,
        2,
        frame_of(records),
    )


EPISODES = (
    ("spurious_judged_spurious", "spurious,<br>seen"),
    ("spurious_judged_genuine", "spurious,<br>missed"),
    ("genuine_judged_spurious", "genuine,<br>taken for spurious"),
    ("genuine_judged_genuine", "genuine,<br>seen"),
)


def judgement(data: Data, rows: Sequence[Row], head: Sequence[str], caption: str, sweep: str = "tables") -> Table:
    """Episodes of loss recovery by what they were and what the sender took them for; the legacy model has none."""
    out: list[list[str | Entry]] = []
    records: list[dict[str, Any]] = []
    models = [model for model in MODELS if model != "legacy"]
    for row in rows:
        line: list[str | Entry] = list(row.words)
        record: dict[str, Any] = dict(row.labels)
        for model in models:
            for name, _ in EPISODES:
                mean = data.mean(sweep, f"episodes_{name}", **row.labels, model=model).mean
                line.append(number(mean, 0))
                record[f"{model} {name}"] = mean
        out.append(line)
        records.append(record)
    return Table(
        "Was the loss real, and did the sender know?",
        "Loss episodes per transfer: genuine or spurious as the simulator knows, and the verdict of the algorithm. "
        f"{caption}",
        [("", len(head)), *((MODELS[model], len(EPISODES)) for model in models)],
        [*head, *[title for _, title in EPISODES] * len(models)],
        out,
        len(head),
        frame_of(records),
    )


def frame_of(records: Sequence[Mapping[str, Any]]) -> Any:
    """A frame with one row per record."""
    import pandas as pd

    return pd.DataFrame(list(records))
