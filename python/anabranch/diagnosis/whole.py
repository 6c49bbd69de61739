"""Tells whether a capture has all packets of a connection; without them, no main cause is named."""

from collections.abc import Mapping
from typing import Any

from anabranch.measures import units
from anabranch.sentences import diagnose as say

PATH_SHARE = 0.02
"""Least share of the acknowledged data without a subflow in the capture, from which a path counts as missing.

Captures of all interfaces of a run's sender lack up to 0.2 %.
"""
PACKETS_SHARE = 0.05
"""Least share of the acknowledged data, from which lost records of a capture leave the main cause open.

A random loss of 1 % of the records moves no share by more than ten points (docs/validation/diagnoses.md).
"""
CUT_SHARE = 0.01
"""Share of the packets, from which options that the snap length cut leave the main cause open."""
LEAST = 15_000
"""Fewer missing octets, ten segments, do not count: a capture may end between a segment and its acknowledgement."""
NOTED_SHARE = 0.005
"""Least share of the acknowledged data that is worth an event."""


def incomplete(found: Mapping[str, Any], *, unread: bool = False) -> list[str]:
    """Sentences on why the capture of the connection `found` is not whole; empty if it is.

    `unread`: the capture has packets, such as those of ESP, that could not be read. A note counts them.
    """
    told = []
    cut, packets = _cut(found)
    if cut and cut >= CUT_SHARE * packets:
        told.append(say.CUT_OPTIONS(count=cut))
    missing, own = _missing(found)
    total = found["bytes_delivered"]
    if missing - own >= max(LEAST, PATH_SHARE * total) or missing >= max(LEAST, PACKETS_SHARE * total):
        template = say.PACKETS_MISSING if own >= missing / 2 else say.PATH_MISSING
        told.append(template(missing=units.octets(missing), share=units.percent(missing / total)))
        told += [say.SEE_NOT_READ()] if unread else []
    return told


def few_missing(found: Mapping[str, Any]) -> list[str]:
    """Events about lost records and cut options that are too few to change the main cause."""
    if incomplete(found):
        return []
    cut, _ = _cut(found)
    told = [say.FEW_CUT_OPTIONS(count=cut)] if cut else []
    missing, _ = _missing(found)
    total = found["bytes_delivered"]
    if missing >= max(LEAST, NOTED_SHARE * total):
        told.append(say.FEW_MISSING(missing=units.octets(missing), share=units.percent(missing / total)))
    return told


def _cut(found: Mapping[str, Any]) -> tuple[int, int]:
    """Packets whose options the snap length cut, and all packets."""
    flows = found["subflows"]
    return sum(flow["cut_options"] for flow in flows), sum(flow["packets"] for flow in flows)


def _missing(found: Mapping[str, Any]) -> tuple[int, int]:
    """Return the number of acknowledged octets that the captures lack.

    First of all subflows, then only of the subflows that the captures contain.
    """
    missing = found["missing_bytes"] if found["bytes_delivered"] else 0
    return missing, min(missing, sum(flow["missing_bytes"] for flow in found["subflows"]))
