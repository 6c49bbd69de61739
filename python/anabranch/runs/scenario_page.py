"""What a notebook shows of a scenario: HTML without style sheet, script or picture."""

import json
from collections.abc import Mapping
from html import escape
from typing import Any, Protocol

from anabranch.algorithms.references import short_name
from anabranch.measures import units
from anabranch.measures.labels import judge_key, rate_of

_SHOWN = 20
"""Rows of a table; a fat-tree has thousands of links."""
_PLAIN = "text-align:left"


class Checkable(Protocol):
    """A scenario, as far as it is shown."""

    @property
    def name(self) -> str:
        """What messages call it."""

    def check(self) -> dict[str, Any]:
        """Every value of it, or an error."""


def scenario_html(scenario: Checkable) -> str:
    """What a scenario is, in tables: its connections, its paths; or why it is not valid."""
    from anabranch._core import ScenarioError

    try:
        resolved = scenario.check()
    except (ScenarioError, OSError) as error:
        return (
            f"<p><strong>{escape(scenario.name)}</strong>: not valid<br>"
            f"{'<br>'.join(map(escape, str(error).splitlines()))}</p>{_text(scenario)}"
        )
    head = [f"<strong>{escape(resolved['title'] or scenario.name)}</strong>"]
    head += [f"warning: {escape(line)}" for line in resolved["warnings"]]
    head += [f"at most {units.time(resolved['duration_s'])}, seed {resolved['seed']}"]
    connections, links = resolved["connections"], resolved["links"]
    rows = [_connection(connection) for connection in connections[:_SHOWN]]
    table = _table(("connection", "protocol", "algorithms", "sends", "paths"), rows, len(connections))
    rows = [_link(link) for link in links[:_SHOWN]]
    roads = _table(("link", "rate", "delay, one way", "queue", "loss", "more"), rows, len(links))
    return f"<p>{'<br>'.join(head)}</p>{table}{roads}{_text(scenario)}"


def _text(scenario: Checkable) -> str:
    return f"<details><summary>TOML</summary><pre>{escape(str(scenario))}</pre></details>"


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]], count: int) -> str:
    more = f"<p>and {count - len(rows)} more</p>" if count > len(rows) else ""
    titles = "".join(f'<th style="{_PLAIN}">{cell}</th>' for cell in head)
    lines = ("".join(f'<td style="{_PLAIN}">{escape(cell)}</td>' for cell in row) for row in rows)
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f"<table><thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table>{more}"


def _connection(connection: Mapping[str, Any]) -> tuple[str, ...]:
    names = ["controller", judge_key(connection), *(["scheduler"] if connection["protocol"] == "mptcp" else [])]
    chosen = [f"{name} {short_name(connection[name])}" for name in names if connection.get(name)]
    transfer = connection["transfer"]
    joint = " and " if transfer["direction"] == "both" else " to "
    way = joint.join((connection["client"], connection["server"])[:: -1 if transfer["direction"] == "down" else 1])
    paths = " | ".join(" - ".join(path) for path in connection["paths"])
    return connection["name"], connection["protocol"], ", ".join(chosen), f"{_extent(transfer)}, {way}", paths


def _extent(transfer: Mapping[str, Any]) -> str:
    what = transfer["application"]
    if transfer.get("extent_bytes") is not None:
        return f"{what} {units.octets(transfer['extent_bytes'])}"
    if transfer.get("extent_s") is not None:
        return f"{what} for {units.time(transfer['extent_s'])}"
    return str(what)


def _link(link: Mapping[str, Any]) -> tuple[str, ...]:
    radio = link.get("wifi")
    more = [f"Wi-Fi {radio['standard']}"] if radio else []
    more += [json.dumps(box["name"])[1:-1] if isinstance(box, dict) else str(box) for box in link["middleboxes"]]
    more += [f"{len(link['changes'])} change{'s' * (len(link['changes']) != 1)} in time"] if link["changes"] else []
    if radio and not radio["wired_hop"]:
        rate = units.rate(radio["rate_bps"]) if radio["rate_bps"] else f"by {radio['rate_control']}"
        return link["name"], rate, "-", f"{radio['queue_packets']} packets", "-", ", ".join(more)
    sides = (link["up"], link["down"])
    texts = [_both([kind(side) for side in sides]) for kind in (rate_of, _delay, _queue, _loss)]
    return link["name"], *texts, ", ".join(more)


def _both(texts: list[str]) -> str:
    """Up and down, if they differ."""
    return texts[0] if texts[0] == texts[1] else f"up {texts[0]}, down {texts[1]}"


def _delay(side: Mapping[str, Any]) -> str:
    return units.time(side["delay_s"])


def _queue(side: Mapping[str, Any]) -> str:
    size = [f"{side['queue_packets']} packets"] if side["queue_packets"] is not None else []
    size += [units.octets(side["queue_bytes"])] if side["queue_bytes"] is not None else []
    name = side["discipline"]["name"]
    return " or ".join(size) + ("" if name == "drop-tail" else f", {name}")


def _loss(side: Mapping[str, Any]) -> str:
    loss = side["loss"]
    return units.percent(loss) if isinstance(loss, int | float) else "bursts"
