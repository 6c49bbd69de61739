"""Tables I to III beside the other columns, baselines, and what hangs on the choices."""

from collections.abc import Mapping
from typing import Any

from anabranch.studies.alheid_2014_sims.names import CHOICES, CONTROLLERS, RATE, TCP, printed
from anabranch.studies.alheid_2014_sims.text import STATEMENTS
from anabranch.studies.base import Data, Entry, Table, TableSpec
from anabranch.studies.beside import APART, Quantity, Row, beside, choices, frame_of, gains, in_words, judgement
from anabranch.studies.models import RECOVERIES
from anabranch.studies.wireless import ALONE, SWEEP, averaged, distances, single
from anabranch.studies.words import number
from anabranch.sweeps.paired import Interval

_AVERAGE = Quantity.of("goodput_mbps", "average_aggregate_mbps", "Average throughput")
_ORDER = (
    Quantity.of("ooo_ratio", "reorder_ratio_pct"),
    Quantity.of("ooo_buffer_max_packets", "ooo_buffer_packets"),
)
_USE = (
    Quantity("Wi-Fi (%)", "util_wifi_pct", "goodput0", 100.0 / RATE, 0),
    Quantity("Wired (%)", "util_wired_pct", "goodput1", 100.0 / RATE, 0),
    Quantity.of("goodput_mbps", "aggregate_mbps", "Throughput"),
)
_HEAD = ("Controller", "Recovery")


def _rows(recoveries: Mapping[str, str] = RECOVERIES) -> list[Row]:
    return [
        Row((CONTROLLERS[c], label), {"controller": c, "recovery": r})
        for c in CONTROLLERS
        for r, label in recoveries.items()
    ]


def _average(data: Data) -> Table:
    def found(_quantity: Quantity, cell: Mapping[str, Any]) -> Interval:
        return averaged(data, **cell)

    at = distances(data)
    caption = f"Mean over {len(at)} distances, {at[0]} to {at[-1]} m. {APART}"
    return beside(
        data, "Table I: average over distance", caption, _HEAD, _rows(), (_AVERAGE,), printed, SWEEP, found=found
    )


def _order(data: Data) -> Table:
    title = "Table II: order of arrival at 10 m"
    caption = f"The paper's KB, in packets of 1400 octets. {APART}"
    return beside(data, title, caption, _HEAD, _rows(), _ORDER, printed)


def _use(data: Data) -> Table:
    title = "Table III: use of the links and throughput at 10 m"
    caption = f"Use: rate of data that arrived over a link, as a share of 6 Mbit/s. {APART}"
    return beside(data, title, caption, _HEAD, _rows(), _USE, printed)


def _baselines(data: Data) -> Table:
    rows: list[list[str | Entry]] = []
    records: list[dict[str, Any]] = []
    for metres in distances(data, ALONE):
        means = [single(data, metres, **path) for path in TCP.values()]
        found = [mean.mean for mean in means]
        rows.append([f"{metres} m", *(Entry.of(mean, 2, remark="") for mean in means), number(sum(found), 2)])
        records.append({"distance_m": metres, "wifi": found[0], "wired": found[1]})
    return Table(
        "Baselines",
        "Plain TCP (RFC 5681) over one link, Mbit/s.",
        [],
        ["Distance", "Wi-Fi", "Wired", "Sum"],
        rows,
        1,
        frame_of(records),
    )


def _sensitivity(data: Data) -> Table:
    groups = {"near": ("10 m", {"place": "near"}), "far": ("100 m", {"place": "far"})}
    return choices(data, "Uncoupled, 50 MB.", CHOICES, RECOVERIES, groups)


TABLES = {
    "table-1": TableSpec((SWEEP,), _average),
    "table-2": TableSpec(("tables",), _order),
    "table-3": TableSpec(("tables",), _use),
    "statements": TableSpec(("tables", SWEEP), lambda data: in_words(data, STATEMENTS)),
    "baselines": TableSpec((ALONE,), _baselines),
    "gains": TableSpec(
        ("tables",),
        lambda data: gains(
            data, _rows({r: label for r, label in RECOVERIES.items() if r != "none"}), _HEAD, "At 10 m."
        ),
    ),
    "judgement": TableSpec(
        ("tables",),
        lambda data: judgement(data, _rows(), _HEAD, "At 10 m; genuine episodes are overflows of a queue."),
        folded=True,
    ),
    "sensitivity": TableSpec(("sensitivity",), _sensitivity, full=True, folded=True),
}
