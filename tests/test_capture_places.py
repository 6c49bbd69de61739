"""What a capture at another place than the sender, a cut or a filtered one does not show is left out and named."""

import json
import struct
from collections.abc import Callable
from html import unescape
from pathlib import Path

import pytest

import anabranch as ab
from anabranch.captures import report
from anabranch.sentences import analyze as say
from helpers import Command, Page

DATA = Path(__file__).parent.parent / "crates" / "acceptance" / "tests" / "data"
LINUX = DATA / "linux-mptcp-two-paths-snap128.pcap"
PATHS = """
transfer = { bytes = "1 MB" }
path = [{ rate = "20 Mbit/s", delay = "10 ms" }, { rate = "10 Mbit/s", delay = "30 ms" }]
"""


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Path]]:
    """Captures of one run, by side: the client sends."""
    folder = tmp_path_factory.mktemp("sides")
    ab.Scenario.from_toml(PATHS).run(pcap=folder)
    return {side: sorted(folder.glob(f"{side}-*.pcapng")) for side in ("client", "server")}


def shorter(source: Path, target: Path, change: Callable[[bytes], bytes | None]) -> Path:
    """A little-endian pcap with each record as `change` leaves it, or without it."""
    content, at = source.read_bytes(), 24
    out = [content[:at]]
    while at < len(content):
        seconds, fraction, here, sent = struct.unpack_from("<4I", content, at)
        kept = change(content[at + 16 : at + 16 + here])
        if kept is not None:
            out.append(struct.pack("<4I", seconds, fraction, len(kept), sent) + kept)
        at += 16 + here
    target.write_bytes(b"".join(out))
    return target


def without_pure_acks(record: bytes) -> bytes | None:
    """Return the raw IPv4 packet `record`, or None if it is a pure ACK."""
    total, header = struct.unpack_from("!H", record, 2)[0], 20 + (record[32] >> 4) * 4
    return record if total > header or record[33] & 7 else None


def cut_first_path(record: bytes) -> bytes | None:
    """The headers of `record`, if it is between 10.1.1.1 and 10.1.1.2."""
    return record[:40] if {record[14], record[18]} == {1} else None


def test_the_receivers_report_leaves_out_what_only_the_sender_sees(
    command: Command, here: Path, sides: dict[str, list[Path]]
) -> None:
    assert command("analyze", *sides["server"], "--out", "receiver", "--quiet").status == 0
    names = {file.name for file in (here / "receiver").iterdir()}
    assert {"sequence.svg", "throughput.svg", "ooo_buffer.svg"} <= names
    assert not names & {"in_flight.svg", "srtt.svg"}
    html = (here / "receiver" / "report.html").read_text(encoding="utf-8")
    told = unescape(html)
    assert told.count("Figures left out: in flight and round-trip time.") == 1
    assert "These figures need a capture at the sender of the data." in told
    assert "In flight over time" not in html
    assert "Round-trip time over time" not in html
    assert Page(html).loads == [] or all(load.startswith("data:") for load in Page(html).loads)

    text = command("analyze", *sides["server"]).out
    assert text.count("shown only by a capture at the sender: spurious retransmissions, ") == 1
    assert "srtt" not in text.split("shown only by a capture at the sender")[1].split("\n", 1)[1]

    capture = ab.Capture.load(here / "receiver")
    assert capture.subflows["srtt"].isna().all()
    assert capture.subflows["in_flight"].isna().all()
    refused = command("plot", "receiver", "--figure", "in_flight")
    assert refused.status == 2
    assert "a capture at the sender" in refused.err
    assert command("plot", "receiver", "--format", "pdf").status == 0
    assert not (here / "receiver" / "srtt.pdf").exists()


def test_the_senders_report_has_every_figure(command: Command, here: Path, sides: dict[str, list[Path]]) -> None:
    for side in (sides["client"], [*sides["client"], *sides["server"]]):
        assert command("analyze", *side, "--out", "sender", "--quiet", "--force").status == 0
        assert {"in_flight.svg", "srtt.svg"} <= {file.name for file in (here / "sender").iterdir()}
        assert "Figures left out" not in (here / "sender" / "report.html").read_text(encoding="utf-8")
        assert "shown only by a capture at the sender" not in command("analyze", *side).out


def test_a_capture_without_pure_acks_says_so(command: Command, here: Path) -> None:
    name = shorter(LINUX, here / "filtered.pcap", without_pure_acks)
    text = command("analyze", name).out
    assert text.count("no pure ACKs (segments without data) from the server") == 1
    assert "captured on the way" not in text
    diagnosis = json.loads(command("diagnose", name, "--json").out)
    (connection,) = diagnosis["connections"]
    assert connection["causes"] is None
    for flow in connection["subflows"]:
        assert (flow["queue_max_ms"], flow["lost_random"], flow["lost_congestion"]) == (None, None, None)
    said = command("diagnose", name).out
    assert said.count("no pure ACKs") == 1
    assert "only the direction of the data" not in said


def test_a_capture_of_handshakes_lacks_data(command: Command, here: Path) -> None:
    name = shorter(LINUX, here / "handshakes.pcap", lambda record: record if record[33] & 2 else None)
    assert command("analyze", name, "--out", "handshakes", "--quiet").status == 0
    told = unescape((here / "handshakes" / "report.html").read_text(encoding="utf-8"))
    assert "These figures need data that arrived, and the capture shows none." in told
    assert "a capture at the sender of the data" not in told


def test_figures_left_out_for_two_reasons_name_both(here: Path, sides: dict[str, list[Path]]) -> None:
    name = shorter(LINUX, here / "filtered.pcap", without_pure_acks)
    for sources, reason in (
        ([name], say.OMITTED_ACKS),
        (sides["server"], say.OMITTED_PLACE),
        ([name, *sides["server"]], say.OMITTED_ACKS_AND_PLACE),
    ):
        assert report.omitted(ab.analyze(sources)).endswith(reason)


def test_a_snap_length_that_cuts_options_is_told(command: Command, here: Path) -> None:
    whole = ab.analyze(LINUX).summary
    name = shorter(LINUX, here / "cut.pcap", lambda record: record[:40])
    done = command("analyze", name, "--json")
    cut = json.loads(done.out)
    assert [c["bytes_delivered"] for c in cut["connections"]] == [f["bytes_first"] for f in whole["subflows"]]
    assert {c["protocol"] for c in cut["connections"]} == {"tcp"}
    # One connection is described.
    one = shorter(LINUX, here / "one.pcap", cut_first_path)
    assert command("analyze", one).out.count("the snap length cut the TCP options of ") == 1
