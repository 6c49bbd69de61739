"""What a scenario does to its links and paths while it runs: what figures over time mark."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from anabranch.measures import units


@dataclass(frozen=True)
class Mark:
    """Something that happens, or lasts.

    Attributes
    ----------
    start, end : float
        Seconds of the run; an `end` equal to `start` is an instant, an infinite one is never.
    text : str
        In words: ``"path 0 down"``.
    """

    start: float
    end: float
    text: str

    @property
    def lasts(self) -> bool:
        """Whether it is more than an instant."""
        return self.end > self.start


def marks_of(scenario: Mapping[str, Any]) -> tuple[Mark, ...]:
    """What happens to the links and paths of `scenario` (resolved; empty if unknown), in order of time.

    >>> changes = [{"at_s": at, "state": state, "direction": "both"} for at, state in [(1.0, "down"), (2.0, "up")]]
    >>> marks_of({"links": [{"name": "path0", "changes": changes}]})
    (Mark(start=1.0, end=2.0, text='path 0 down'),)
    """
    found = [mark for link in scenario.get("links", ()) for mark in _of_link(link)]
    connections = scenario.get("connections", ())
    for connection in connections:
        name = f"{connection['name']}, " if len(connections) > 1 else ""
        found += _of_paths(connection.get("path_changes", ()), name)
    return tuple(sorted(found, key=lambda mark: (mark.start, mark.text)))


def _of_link(link: Mapping[str, Any]) -> Iterator[Mark]:
    name = spoken(link["name"])
    changes = link.get("changes", ())
    down: dict[str, float] = {}
    """Since when, by direction."""
    spans: dict[str, list[tuple[float, float]]] = {"up": [], "down": []}
    for change in changes:
        at = float(change["at_s"])
        ways = ("up", "down") if change["direction"] == "both" else (change["direction"],)
        for way in ways if "state" in change else ():
            if change["state"] == "down":
                down.setdefault(way, at)
            elif way in down:
                spans[way].append((down.pop(way), at))
        if "state" not in change:
            yield Mark(at, at, f"{name}{'' if len(ways) > 1 else _WAYS[ways[0]]}: {_new(change)}")
    for way, since in down.items():
        spans[way].append((since, float("inf")))
    both = [span for span in spans["up"] if span in spans["down"]]
    yield from (Mark(start, end, f"{name} down") for start, end in both)
    for way, found in spans.items():
        yield from (Mark(start, end, f"{name}{_WAYS[way]} down") for start, end in found if (start, end) not in both)


_WAYS = {"up": " upstream", "down": " downstream"}


def spoken(link: str) -> str:
    """The name of a link; ``path0`` as tables say it.

    >>> spoken("path0"), spoken("dsl")
    ('path 0', 'dsl')
    """
    number = link.removeprefix("path")
    return f"path {number}" if number.isdecimal() and number != link else link


def _new(change: Mapping[str, Any]) -> str:
    if "rate_bps" in change:
        return units.rate(change["rate_bps"])
    if "delay_s" in change:
        return units.time(change["delay_s"])
    loss = change.get("loss")
    return f"loss {units.percent(loss)}" if isinstance(loss, int | float) else "loss changes"


def _of_paths(changes: Any, name: str) -> Iterator[Mark]:
    gone: dict[int, float] = {}
    for change in changes:
        at, path, action = float(change["at_s"]), int(change["path"]), change["action"]
        if action == "remove":
            gone.setdefault(path, at)
        elif action == "add" and path in gone:
            yield Mark(gone.pop(path), at, f"{name}path {path} removed")
        else:
            words = {"add": "added", "regular": "regular again"}.get(action, action)
            yield Mark(at, at, f"{name}path {path} {words}")
    yield from (Mark(at, float("inf"), f"{name}path {path} removed") for path, at in gone.items())
