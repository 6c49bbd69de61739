"""One plain TCP uses its link: rates, delays and queues of half a bandwidth-delay product to two."""

import itertools

import pytest

import anabranch as ab

RATES, DELAYS, QUEUES = (5, 20, 50, 100), (10, 25, 50), (0.5, 1.0, 2.0)
ALL = [*itertools.product(RATES, DELAYS, QUEUES)]
QUICK = [*itertools.product((5, 20), (10, 50), QUEUES), (100, 50, 0.5)]
"""Slow links, and the largest bandwidth-delay product with the shortest queue."""


@pytest.mark.parametrize(
    ("profile", "links"),
    [
        ("modern", QUICK),
        pytest.param("modern", ALL, marks=pytest.mark.long),
        pytest.param("linux-6.1", ALL, marks=pytest.mark.long),
    ],
    ids=["modern", "modern-all", "linux-6.1"],
)
@pytest.mark.parametrize("controller", ["cubic", "uncoupled"])
def test_one_tcp_uses_nine_tenths_of_its_link(
    profile: str, links: list[tuple[int, int, float]], controller: str
) -> None:
    """In 60 s, with buffers that do not limit; NewReno with half a product in the queue 85 %."""
    for rate, delay, queue in links:
        product = rate * 1e6 * 2 * delay * 1e-3 / 8 / 1500
        scenario = ab.Scenario.from_toml(f"""
            [connection]
            protocol = "tcp"
            profile = "{profile}"
            controller = "{controller}"
            mss = 1448
            receive_buffer = "64 MB"
            send_buffer = "unlimited"
            [transfer]
            duration = "60 s"
            [[path]]
            rate = "{rate} Mbit/s"
            delay = "{delay} ms"
            queue = "{max(1, round(queue * product))} packets"
        """)
        least = 0.85 if controller == "uncoupled" and queue == 0.5 else 0.9
        used = scenario.run().summary["subflows"][0]["utilisation"]
        assert used >= least, (rate, delay, queue, used)
