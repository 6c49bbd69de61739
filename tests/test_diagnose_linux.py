"""Diagnoses of captures that a Linux kernel sent: what limited each is known from how it was made (data/linux)."""

import gzip
import shutil
from pathlib import Path

import pytest

import anabranch as ab

DATA = Path(__file__).parent / "data" / "linux"


def diagnosis(name: str, folder: Path) -> ab.Diagnosis:
    file = folder / name
    with gzip.open(DATA / f"{name}.gz", "rb") as packed, file.open("wb") as plain:
        shutil.copyfileobj(packed, plain)
    return ab.diagnose([str(file)])


@pytest.mark.parametrize(
    ("name", "cause", "least"),
    [("bbr.pcap", "cwnd", 0.8), ("reader.pcap", "receive_window", 0.9), ("writer.pcap", "application", 0.8)],
)
def test_the_main_cause_is_what_was_done(name: str, cause: str, least: float, tmp_path: Path) -> None:
    (connection,) = diagnosis(name, tmp_path).summary["connections"]
    assert connection["main_cause"] == cause
    assert connection["indistinct"] == []
    assert connection["causes"][cause] >= least


def test_a_path_that_bbr_fills_is_full(tmp_path: Path) -> None:
    (connection,) = diagnosis("bbr.pcap", tmp_path).summary["connections"]
    assert connection["subflows"][0]["capacity_mbps"] == pytest.approx(20, rel=0.02)
    assert connection["sentences"][2].startswith("The path was saturated")


def test_a_shaper_on_the_senders_host_is_the_slowest_link_of_its_path(tmp_path: Path) -> None:
    """The capture is taken behind the shaper: no round trip shows its queue, only departures do."""
    (connection,) = diagnosis("shaper.pcap", tmp_path).summary["connections"]
    assert connection["main_cause"] == "cwnd"
    # Whether the congestion window or the send buffer limits what waits in the shaper cannot be seen; the receiver's
    # window is far away.
    assert set(connection["indistinct"]) <= {"cwnd", "send_buffer"}
    rates = sorted(flow["capacity_mbps"] for flow in connection["subflows"])
    assert rates == pytest.approx([10, 30], rel=0.02)
    assert max(flow["base_rtt_ms"] for flow in connection["subflows"]) < 0.1
    assert connection["sentences"][2].startswith("All paths were saturated")
