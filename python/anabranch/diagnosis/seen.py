"""What the packets of a connection show beside the fields of a diagnosis, which choose among its sentences."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_WITH_SYN = 0.75
"""Of the shortest round trip: a first octet that arrives before came with the SYN."""


@dataclass(frozen=True)
class Seen:
    """Facts about a connection that only its sentences need.

    Attributes
    ----------
    is_multipath : bool
        It has Multipath TCP and did not fall back to TCP, so that a scheduler and reinjections are possible.
    with_timestamps, without_timestamps : bool
        TCP timestamps give sending times of some subflow; some subflow has none. For captures away from the sender.
    repeated_syns : int
        SYNs that repeat the SYN of a connection with one subflow.
    after_fin : float
        Share of the time of its only subflow after the sender's FIN, in which data that were sent before it arrived;
        0 if there are several subflows or if the subflow was reset.
    """

    is_multipath: bool = True
    with_timestamps: bool = True
    without_timestamps: bool = False
    repeated_syns: int = 0
    after_fin: float = 0.0


def seen(found: Mapping[str, Any]) -> Seen:
    """Facts about the connection `found` of an analysis."""
    told = [flow.get("diagnosis") or {} for flow in found["subflows"]]
    stamped = [bool(one.get("timestamps", True)) for one in told]
    alone = len(told) == 1
    return Seen(
        is_multipath=found["protocol"] == "mptcp" and not found["fallback"],
        with_timestamps=any(stamped),
        without_timestamps=not all(stamped),
        repeated_syns=max(0, (told[0].get("syns") or 0) - 1) if alone else 0,
        after_fin=_after_fin(found, told[0]) if alone and not found["subflows"][0]["reset_by"] else 0.0,
    )


def _after_fin(found: Mapping[str, Any], told: Mapping[str, Any]) -> float:
    """Share of the time in which the only subflow was not up, without its handshake: what is left is after the FIN.

    The first octet arrives half a round trip after the handshake or later, unless it came with the SYN (RFC 7413): the
    handshake then takes one round trip.
    """
    share = (told.get("causes") or {}).get("not_up", 0.0)
    first, trip = found["first_byte_s"] or 0.0, (told.get("base_rtt_ms") or 0.0) / 1e3
    handshake = first - trip / 2 if first > _WITH_SYN * trip else trip
    return float(max(0.0, share - max(0.0, handshake) / (told.get("measured_s") or float("inf"))))
