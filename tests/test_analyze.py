"""``anabranch analyze``: captures of Linux and of our own runs."""

import json
import struct
from pathlib import Path

import pytest

import anabranch as ab
from helpers import TWO_PATHS, Command, Page

DATA = Path(__file__).parent.parent / "lab" / "tests" / "data"
LINUX = DATA / "linux-mptcp-two-paths-snap128.pcap"
ONLY_CAPTURES = {
    "capture",
    "estimated",
    "start_s",
    "data_from",
    "bytes_back",
    "fallback_reason",
    "complete_beginning",
} | {
    "handshake",
    "dss_checksums",
    "reinjections",
    "reinjections_useful",
    "reinjections_redundant",
    "signals",
    "missing_bytes",
    "unmapped_bytes",
    "unlisted_subflows",
}


@pytest.fixture(scope="module")
def linux() -> ab.Capture:
    return ab.analyze(LINUX)


def test_the_text_names_the_connection_and_what_was_verified(command: Command) -> None:
    done = command("analyze", LINUX)
    assert (done.status, done.err) == (0, "")
    assert "10.1.1.1:40796 - 10.1.1.2:5001: mptcp, data from the client, captured at the client" in done.out
    assert "tokens 1 of 1 match; HMACs of joins 2 of 2 verify; of ADD_ADDR 1 of 1" in done.out
    assert "estimated from the acknowledgements" in done.out
    rows = [line for line in done.out.splitlines() if line.startswith("10.1.2.1:57261 - ")]
    assert len(rows) == 1
    assert done.out.isascii()


def test_json_has_the_fields_of_a_run_and_null_where_a_capture_cannot_know(command: Command) -> None:
    done = command("analyze", LINUX, "--json")
    summary = json.loads(done.out)
    run = ab.Scenario.from_toml(TWO_PATHS).run().summary
    assert set(summary) - set(run) == ONLY_CAPTURES
    assert set(run) <= set(summary)
    assert set(run["subflows"][0]) <= set(summary["subflows"][0])
    for unknowable in ("limits", "episodes", "content_ok", "trace_sha256", "seed", "windows_restored"):
        assert summary[unknowable] is None
    for unknowable in ("undone", "cwnd_mean_segments", "queue_drops", "utilisation"):
        assert summary["subflows"][0][unknowable] is None


def test_csv_has_one_row_per_subflow(command: Command) -> None:
    done = command("analyze", LINUX, "--csv")
    rows = done.out.splitlines()
    assert rows[0].startswith("connection,path,goodput_mbps")
    assert len(rows) == 3


def test_frames_have_the_columns_of_a_run(linux: ab.Capture) -> None:
    run = ab.Scenario.from_toml(TWO_PATHS).run()
    assert list(linux.subflows.columns) == list(run.subflows.columns)
    assert linux.subflows["cwnd"].isna().all()
    last = linux.subflows.groupby("subflow")["delivered"].max()
    assert last.tolist() == [flow["bytes_first"] for flow in linux.summary["subflows"]]
    assert set(linux.sequence["kind"]) == {"new", "retransmission"}
    assert linux.sequence["high"].max() == 3_000_000
    assert (linux.window["edge"] >= linux.window["data_ack"]).all()


def test_out_holds_everything_and_is_replaced_but_nothing_else_is(command: Command, here: Path) -> None:
    for _ in range(2):
        done = command("analyze", LINUX, "--out", "seen", "--quiet")
        assert (done.status, done.out, done.err) == (0, "", "")
    names = {file.name for file in (here / "seen").iterdir()}
    assert {"summary.json", "subflows.parquet", "sequence.parquet", "window.parquet", "sequence.svg"} <= names
    page = Page((here / "seen" / "report.html").read_text(encoding="utf-8"))
    assert page.loads == [] or all(load.startswith("data:") for load in page.loads)
    (here / "seen" / "mine.txt").write_text("keep", encoding="utf-8")
    refused = command("analyze", LINUX, "--out", "seen")
    assert refused.status == 2
    assert "mine.txt" in refused.err
    assert (here / "seen" / "mine.txt").exists()


def test_a_capture_of_a_run_gives_the_goodput_of_the_run(here: Path) -> None:
    run = ab.Scenario.from_toml(TWO_PATHS).run(pcap="captures")
    seen = ab.analyze(sorted((here / "captures").glob("*.pcapng")))
    for field in ("goodput_mbps", "ooo_ratio", "ooo_buffer_max_packets", "ooo_buffer_max_bytes", "segments"):
        assert seen.summary[field] == run.summary[field]
    spurious = [flow["spurious"] for flow in seen.summary["subflows"]]
    assert spurious == [flow["spurious"] for flow in run.summary["subflows"]]
    assert seen.summary["subflows"][0]["spurious_by"] == "both captures"
    # One way: 100 ms and one transmission of a 1476-octet packet at 5 Mbit/s, 2.36 ms; queues only add.
    assert seen.summary["subflows"][0]["one_way_delay_ms"]["min"] >= 100
    assert "captured at both ends" in str(seen)


def _pcap(link: int, frames: list[bytes]) -> bytes:
    head = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, link)
    return head + b"".join(struct.pack("<IIII", 1, 0, len(frame), len(frame)) + frame for frame in frames)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "empty"),
        (b"this is some text that is no capture at all", "not a capture"),
        (b"\x1f\x8b\x08\x00rest", "gzip"),
        (_pcap(147, [bytes(60)]), "unknown link type 147"),
        (_pcap(1, [bytes(60)]), "no MPTCP version 1 inside: 1 packets, 0 of them TCP"),
        (_pcap(1, []), "no MPTCP version 1 inside: 0 packets"),
        (_pcap(101, [b"\x45" + bytes(59)])[:30], "nothing could be read"),
    ],
)
def test_bad_input_is_one_sentence_and_status_2(command: Command, here: Path, content: bytes, told: str) -> None:
    file = here / "bad.pcap"
    file.write_bytes(content)
    done = command("analyze", file.name)
    assert (done.status, done.out) == (2, "")
    assert told in done.err
    assert done.err.startswith("bad.pcap: ")
    assert done.err.count("\n") == 1
    assert "Traceback" not in done.err


def test_a_missing_file_and_no_file_are_told(command: Command, here: Path) -> None:
    missing = command("analyze", here / "none.pcap")
    assert missing.status == 2
    assert "cannot be read" in missing.err
    nothing = command("analyze")
    assert nothing.status == 2
    assert "anabranch analyze: missing argument" in nothing.err
    with pytest.raises(ab.CaptureError, match="cannot be read"):
        ab.analyze("none.pcap")
