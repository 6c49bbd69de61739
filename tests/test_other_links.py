"""The links `geo`, `geo pep` and `dsl` of `anabranch list links`, beside times and rates by hand."""

from typing import Any

import pytest

import anabranch as ab

# A data segment of 1400 octets with IPv4, TCP and timestamps; an ACK.
MSS, DATA, ACK = 1400, 1452, 52
SEGMENTS = -(-5_000_000 // MSS)
ROUND_TRIP = 0.6


def geo(preset: str, direction: str, protocol: str = "tcp", more: str = "") -> dict[str, Any]:
    text = f'transfer = {{ bytes = "5 MB", direction = "{direction}" }}\nconnection = {{ protocol = "{protocol}" }}\n'
    summary = ab.Scenario.from_toml(f'{text}[[path]]\npreset = "{preset}"\n{more}').run().summary
    assert (summary["status"], summary["content_ok"]) == ("completed", True)
    return summary


def flight(n: int) -> int:
    """Segments of the first `n` flights of slow start: ten (RFC 6928), and twice as many in each next one."""
    return 10 * ((1 << n) - 1)


def test_a_download_over_geo_takes_slow_starts_round_trips() -> None:
    # SYN, SYN/ACK and ACK, and the first segment; eight flights, and of the ninth what is left. 50 Mbit/s down.
    assert flight(8) < SEGMENTS < flight(9)
    last = 2 * ROUND_TRIP + 8 * ROUND_TRIP + (SEGMENTS - flight(8)) * DATA * 8 / 50e6
    assert geo("geo", "down")["last_byte_s"] == pytest.approx(last, abs=0.02)


def test_an_upload_over_geo_is_at_the_rate_of_the_link_once_a_flight_lasts_a_round_trip() -> None:
    # The data leave with the ACK, a round trip after the SYN, and take half of one.
    # 258 segments are a round trip at 5 Mbit/s; the sixth flight has 320.
    each = DATA * 8 / 5e6
    assert 160 < ROUND_TRIP / each < 320
    last = 1.5 * ROUND_TRIP + 5 * ROUND_TRIP + (SEGMENTS - flight(5)) * each
    assert geo("geo", "up")["last_byte_s"] == pytest.approx(last, abs=0.03)


def test_with_proxies_a_download_over_geo_waits_once_at_most() -> None:
    # The proxy at the far end begins with 2500 segments, 0.58 s of the link, and goes on with the ACK of the first two.
    each = DATA * 8 / 50e6
    first = 2 * ROUND_TRIP
    last = first + ROUND_TRIP + each + (SEGMENTS - 2500) * each
    summary = geo("geo pep", "down")
    assert summary["first_byte_s"] == pytest.approx(first, abs=0.002)
    assert summary["last_byte_s"] == pytest.approx(last, abs=0.002)


def test_with_proxies_an_upload_over_geo_waits_for_the_scaled_window() -> None:
    # RFC 7323 2.2: 65,535 octets until the first ACK. The rest at the rate of the link, where no packet is dropped.
    each = DATA * 8 / 5e6
    least = 2.5 * ROUND_TRIP + (SEGMENTS - 65_535 // MSS) * each
    assert geo("geo pep", "up", more='queue_up = "4 MB"')["last_byte_s"] == pytest.approx(least, abs=0.02)
    # The preset's queue holds less than slow start sends behind 250 segments; the repair costs less than a round trip.
    dropping = geo("geo pep", "up")
    assert dropping["subflows"][0]["queue_drops"] > 0
    assert least < dropping["last_byte_s"] < least + ROUND_TRIP


@pytest.mark.parametrize("direction", ["down", "up"])
def test_multipath_falls_back_through_the_proxies_of_geo(direction: str) -> None:
    fallen = geo("geo pep", direction, "mptcp")
    assert fallen["fallback"] is True
    assert fallen["last_byte_s"] == geo("geo pep", direction)["last_byte_s"]
    assert geo("geo", direction, "mptcp")["fallback"] is False


def dsl(more: str, other: str = "", window: str = "64 kB") -> list[float]:
    """Goodput of a download of a minute, and of what else there is, in Mbit/s."""
    text = f"""[[path]]
preset = "dsl"
{more}
[[connection]]
name = "download"
protocol = "tcp"
receive_buffer = "{window}"
transfer = {{ duration = "60 s", direction = "down" }}
{other}"""
    summary = ab.Scenario.from_toml(text).run().summary
    return [of["goodput_mbps"] for of in summary.get("connections", [summary])]


# 24 octets of framing.
DOWN, UP = 8 * (DATA + 24), 8 * (ACK + 24)
LINE = 16 * 8 * MSS / DOWN


def test_a_download_over_dsl_has_the_line_as_long_as_the_acknowledgements_fit() -> None:
    # RFC 3449 2.1: an ACK for every second segment; below 412 kbit/s up it takes longer than the data it acknowledges.
    fitting = 16e6 / DOWN / 2 * UP
    assert 400e3 < fitting < 420e3
    for rate_up in (1e6, 1.1 * fitting):
        assert dsl(f'rate_up = "{rate_up / 1e3:.0f} kbit/s"') == [pytest.approx(LINE, rel=0.005)]


@pytest.mark.parametrize("rate_up", [300, 200, 100, 50])
def test_below_that_a_download_has_two_segments_for_each_acknowledgement(rate_up: float) -> None:
    clocked = rate_up / 1e3 / UP * 2 * 8 * MSS
    assert dsl(f'rate_up = "{rate_up} kbit/s"') == [pytest.approx(clocked, rel=0.005)]


def test_behind_a_full_uplink_a_download_has_at_most_a_window_in_the_time_of_its_queue() -> None:
    datagrams = """[[connection]]
name = "upload"
protocol = "udp"
transfer = { rate = "2 Mbit/s", duration = "60 s", direction = "up" }"""
    download, _ = dsl("", datagrams)
    most = 0.064 * 8 / (0.020 + 0.128 * 8)
    # No more than that; and less, since half of the ACKs are dropped, and now and then the last one of a flight.
    assert 0.8 * most < download < most


def test_an_upload_and_the_acknowledgements_of_a_download_fill_the_uplink() -> None:
    other = '[[connection]]\nname = "upload"\nprotocol = "tcp"\ntransfer = { duration = "60 s", direction = "up" }'
    download, upload = dsl("", other, "4 MB")
    assert download < 0.6 * LINE
    # Stretched ACKs (one for more than two segments, where some were dropped) make it less.
    used = upload * DOWN / 8 / MSS + download / 2 / 8 / MSS * UP
    assert 0.93 < used < 1.0
