"""Twenty scenarios of different kinds, in which an algorithm must bring all data over."""

from collections.abc import Mapping

from anabranch.scenario import Scenario, Value

_FAST, _SLOW = "20 Mbit/s, 10 ms", "5 Mbit/s, 60 ms"


def _over(*paths: str, transfer: str = "1 MB", **connection: Value) -> Scenario:
    return Scenario.of_paths(paths, transfer=transfer).set({f"connection.{key}": v for key, v in connection.items()})


def scenarios() -> Mapping[str, Scenario]:
    """Scenarios by name.

    >>> len(scenarios())
    20
    """
    return {
        "two paths": _over(_FAST, _SLOW),
        "one path": _over(_FAST),
        "four paths": _over(_FAST, _SLOW, "2 Mbit/s, 5 ms", "2 Mbit/s, 150 ms"),
        "ten octets": _over(_FAST, _SLOW, transfer="10 B"),
        "losses on one path": _over(f"{_FAST}, loss 1 %", _SLOW),
        "losses on both paths": _over(f"{_FAST}, loss 2 %", f"{_SLOW}, loss 2 %"),
        "many losses": _over(f"{_FAST}, loss 15 %", f"{_SLOW}, loss 5 %", transfer="100 kB"),
        "short queues": _over("8 Mbit/s, 30 ms, queue 10 kB", "5 Mbit/s, 50 ms, queue 10 kB"),
        "long queue": _over("2 Mbit/s, 10 ms, queue 1 MB", _SLOW),
        "small receive buffer": _over(_FAST, _SLOW, receive_buffer="20 kB"),
        "very different round-trip times": _over("10 Mbit/s, 1 ms", "10 Mbit/s, 400 ms", receive_buffer="64 kB"),
        "overtaking packets": _over(_FAST, f"{_SLOW}, delay_variation 50 %, overtaking true"),
        "undone loss episodes": _over(
            "10 Mbit/s, 20 ms, loss 0.5 %",
            "10 Mbit/s, 40 ms, delay_variation 50 %, overtaking true",
            transfer="2 MB",
            profile="classic",
            judge="eifel",
        ),
        "without SACK": _over(f"{_FAST}, loss 1 %", _SLOW, profile="classic", sack=False),
        "acknowledgement coupled": _over(_FAST, f"{_SLOW}, loss 0.5 %", acknowledgement="coupled"),
        "profile of Linux": _over(f"{_FAST}, loss 0.5 %", _SLOW, profile="linux-6.1"),
        "small segments": _over(f"{_FAST}, loss 0.5 %", _SLOW, mss=300),
        "LTE and Wi-Fi": _over("lte", "wifi 11g 54, 30 m"),
        "for two seconds": _over(f"{_FAST}, loss 0.1 %", _SLOW, transfer="2 s"),
        "a slow path": _over("100 kbit/s, 100 ms", _FAST, transfer="200 kB"),
    }
