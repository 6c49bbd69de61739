"""A diagnosis while the capture goes on: what the last interval of each connection was like."""

from collections.abc import Iterator, Mapping
from typing import Any

from anabranch.measures import units
from anabranch.measures.causes import CAUSES
from anabranch.sentences import diagnose as say

_SHOWN = 0.05


class Rolling:
    """Compares each diagnosis with the one before."""

    def __init__(self) -> None:
        self._before: dict[str, tuple[float, int, dict[str, float]]] = {}

    def lines(self, found: Mapping[str, Any]) -> Iterator[str]:
        """A line for each connection that moved since the last call; `found` is the diagnosis so far."""
        until = found["capture"]["duration_s"]
        for connection in found["connections"]:
            name = connection["name"]
            spent = dict.fromkeys(CAUSES, 0.0)
            for flow in connection["subflows"]:
                for cause, share in (flow["causes"] or {}).items():
                    spent[cause] += share * (flow["measured_s"] or 0.0)
            octets = connection["bytes_delivered"]
            since, octets_before, before = self._before.get(name, (0.0, 0, dict.fromkeys(CAUSES, 0.0)))
            self._before[name] = (until, octets, spent)
            more = {cause: max(0.0, spent[cause] - before[cause]) for cause in CAUSES}
            total = sum(more.values())
            if octets == octets_before or total <= 0 or until <= since:
                continue
            rate = units.rate(8 * (octets - octets_before) / (until - since))
            order = sorted(more.items(), key=lambda pair: -pair[1])
            parts = [
                say.CAUSE_SHARE(cause=CAUSES[c].name, share=units.percent(s / total))
                for c, s in order
                if s >= _SHOWN * total
            ]
            yield say.FOLLOW(time=until, connection=name, goodput=rate, shares=", ".join(parts))
