"""Tables III and IV beside the other columns, throughput, baselines, and what hangs on the choices."""

from typing import TYPE_CHECKING, Any

from anabranch.studies.alheid_2016_ict.names import CASES, CHOICES, CONTROLLERS, NEAR, RADIOS, printed
from anabranch.studies.alheid_2016_ict.text import STATEMENTS
from anabranch.studies.base import Data, Entry, Table, TableSpec
from anabranch.studies.beside import APART, Quantity, Row, beside, choices, frame_of, gains, in_words, judgement
from anabranch.studies.models import MODELS, RECOVERIES
from anabranch.studies.wireless import ALONE, SWEEP, averaged, distances, goodput, single
from anabranch.studies.words import number, span
from anabranch.sweeps.paired import Interval

if TYPE_CHECKING:
    from collections.abc import Callable

_ORDER = (
    Quantity.of("ooo_ratio", "ooo_ratio_pct"),
    Quantity.of("ooo_buffer_max_packets", "ooo_buffer_packets"),
)
_HEAD = ("Scenario", "Controller", "Recovery")


def _rows(recoveries: tuple[str, ...] = tuple(RECOVERIES), **more: Any) -> list[Row]:
    return [
        Row(
            (f"{case}: {label}", CONTROLLERS[c], RECOVERIES[r]),
            {"case": case, "controller": c, "recovery": r, **more},
        )
        for case, label in CASES.items()
        for c in CONTROLLERS
        for r in recoveries
    ]


def _order(data: Data) -> Table:
    return beside(
        data,
        "Tables III and IV: order of arrival at 10 m",
        f"The paper's KB are 1024 octets; here packets of 1400. {APART}",
        _HEAD,
        _rows(distance=NEAR),
        _ORDER,
        printed,
        SWEEP,
    )


def _throughput(data: Data) -> Table:
    """The paper has it in figures without numbers only."""
    at = distances(data)
    rows: list[list[str | Entry]] = []
    records: list[dict[str, Any]] = []
    for row in _rows():
        line: list[str | Entry] = list(row.words)
        record: dict[str, Any] = dict(row.labels)
        for name, found in (("10 m", _near), ("average", averaged), ("range", None)):
            for model in MODELS:
                cell = {**row.labels, "model": model}
                if found is None:
                    each = [goodput(data, metres, **cell).mean for metres in at]
                    line.append(span(each, "{:.2f}"))
                    record |= {f"least {model}": min(each), f"most {model}": max(each)}
                else:
                    mean = found(data, **cell)
                    line.append(Entry.of(mean, 2, remark=""))
                    record |= {f"{name} {model}": mean.mean, f"{name} {model} low": mean.low}
                    record |= {f"{name} {model} high": mean.high}
        rows.append(line)
        records.append(record)
    span_of = f"{at[0]} to {at[-1]} m"
    return Table(
        "Figs. 3 to 6 as numbers",
        f"Goodput in Mbit/s: at 10 m, the mean over {len(at)} distances, and from minimum to maximum.",
        [("", len(_HEAD)), ("10 m", 3), (f"Mean, {span_of}", 3), (f"Range, {span_of}", 3)],
        [*_HEAD, *["Legacy", "Coupled", "Independent"] * 3],
        rows,
        len(_HEAD),
        frame_of(records),
    )


def _near(data: Data, **cell: Any) -> Interval:
    return goodput(data, int(NEAR), **cell)


def _baselines(data: Data) -> Table:
    radios = {"11g-54": "802.11g, 54 Mbit/s", "11g-6": "802.11g, 6 Mbit/s", "11b-2": "802.11b, 2 Mbit/s"}
    rows: list[list[str | Entry]] = []
    records: list[dict[str, Any]] = []
    for metres in distances(data, ALONE):
        means = [single(data, metres, over=radio) for radio in radios]
        found = {radio: mean.mean for radio, mean in zip(radios, means, strict=True)}
        sums = [sum(found[radio] for radio in pair) for pair in RADIOS.values()]
        rows.append(
            [f"{metres} m", *(Entry.of(mean, 2, remark="") for mean in means), *(number(rate, 2) for rate in sums)]
        )
        records.append({"distance_m": metres, **found})
    return Table(
        "Baselines",
        "Plain TCP (RFC 5681) over one path, Mbit/s, and what both paths of a scenario have together.",
        [("", 1), ("One path", len(radios)), ("Sum of both, scenario", len(CASES))],
        ["Distance", *radios.values(), *CASES],
        rows,
        1,
        frame_of(records),
    )


def _sensitivity(case: str) -> "Callable[[Data], Table]":
    def make(data: Data) -> Table:
        groups = {place: (f"{metres} m", {"case": case, "place": place}) for place, metres in _PLACES.items()}
        table = choices(data, f"Scenario {case}, {CASES[case]}, Coupled, 20 s.", CHOICES, RECOVERIES, groups)
        title = f"Effect of what the paper does not state, scenario {case}"
        return Table(title, table.caption, table.groups, table.head, table.rows, table.left, table.frame)

    return make


_PLACES = {"near": 10, "far": 50}

TABLES = {
    "tables-3-4": TableSpec((SWEEP,), _order),
    "statements": TableSpec((SWEEP, ALONE), lambda data: in_words(data, STATEMENTS)),
    "baselines": TableSpec((ALONE,), _baselines),
    "throughput": TableSpec((SWEEP,), _throughput, folded=True),
    "gains": TableSpec(
        (SWEEP,),
        lambda data: gains(data, _rows(tuple(RECOVERIES)[1:], distance=NEAR), _HEAD, "At 10 m.", SWEEP),
        folded=True,
    ),
    "judgement": TableSpec(
        (SWEEP,),
        lambda data: judgement(data, _rows(distance=NEAR), _HEAD, "At 10 m.", SWEEP),
        folded=True,
    ),
    **{
        f"sensitivity-{case}": TableSpec(("sensitivity",), _sensitivity(case), full=True, folded=True) for case in CASES
    },
}
