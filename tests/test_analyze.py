"""``anabranch analyze``: captures of Linux and of our own runs."""

import gzip
import json
import struct
from contextlib import nullcontext
from pathlib import Path

import pytest

import anabranch as ab
from helpers import TWO_PATHS, Command, Page, without_figures

DATA = Path(__file__).parent.parent / "crates" / "acceptance" / "tests" / "data"
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
    "mptcp_version",
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
    assert "tokens of joins: 1 of 1 valid; HMACs of joins: 2 of 2 valid; HMACs of ADD_ADDR: 1 of 1 valid" in done.out
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


@pytest.mark.usefixtures("no_figures")
def test_out_holds_everything_and_is_replaced_but_nothing_else_is(command: Command, here: Path) -> None:
    for context in (without_figures(), nullcontext()):
        with context:
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


def _tcp(port: int, at: float, segments: int) -> list[tuple[float, bytes]]:
    """A TCP connection at its server: SYN, SYN/ACK, ACK; segments of 1000 octets, 10 ms apart, acknowledged at once."""

    def packet(up: bool, seq: int, ack: int, flags: int, octets: bytes = b"") -> bytes:
        ports = (port, 443) if up else (443, port)
        tcp = struct.pack(">HHIIBBHHH", *ports, seq, ack, 5 << 4, flags, 60000, 0, 0) + octets
        ends = (b"\x0a\0\0\x01", b"\x0a\0\0\x02") if up else (b"\x0a\0\0\x02", b"\x0a\0\0\x01")
        return struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(tcp), 0, 0, 64, 6, 0) + b"".join(ends) + tcp

    sent = [(at, packet(True, 0, 0, 2)), (at, packet(False, 0, 1, 18)), (at + 0.01, packet(True, 1, 1, 16))]
    for n in range(segments):
        now = at + 0.02 + n * 0.01
        sent.append((now, packet(True, 1 + 1000 * n, 1, 16, bytes(1000))))
        sent.append((now, packet(False, 1, 1001 + 1000 * n, 16)))
    return sent


def _timed(packets: list[tuple[float, bytes]]) -> bytes:
    head = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101)
    times = [(int(at), round(at % 1 * 1e6)) for at, _ in packets]
    lengths = [len(octets) for _, octets in packets]
    records = zip(times, lengths, packets, strict=True)
    return head + b"".join(struct.pack("<IIII", *t, n, n) + octets for t, n, (_, octets) in records)


# 10,000 connections of TCP, the n-th of n mod 7 segments but for one of 50; a second after each other begin none.
def test_a_capture_full_of_plain_tcp_stays_readable(command: Command, here: Path) -> None:
    packets = [p for n in range(10_000) for p in _tcp(2000 + n, n * 0.001, 50 if n == 77 else n % 7)]
    (here / "many.pcap").write_bytes(_timed(sorted(packets, key=lambda p: p[0])))
    done = command("analyze", "many.pcap")
    lines = done.out.splitlines()
    assert done.status == 0
    assert len(lines) < 40
    assert "9980 smaller connections" in done.out
    assert "not shown: 1428 connections without data" in done.out
    assert any(line.startswith("10.0.0.1:2077 - 10.0.0.2:443") and line.rstrip().endswith(" 50 kB") for line in lines)


@pytest.mark.usefixtures("no_figures")
def test_plain_tcp_stands_behind_mptcp_or_is_left_out(command: Command, here: Path) -> None:
    (here / "plain.pcap").write_bytes(_timed(_tcp(4000, 0, 20) + _tcp(4001, 1, 30)))
    both = command("analyze", LINUX, "plain.pcap", "--out", "both")
    assert "10.1.1.1:40796 - 10.1.1.2:5001: mptcp, data from the client" in both.out
    assert both.out.index("TCP connections:") > both.out.index("tokens of joins: 1 of 1 valid")
    page = (here / "both" / "report.html").read_text(encoding="utf-8")
    assert "<h2>TCP connections</h2>" in page
    mptcp = command("analyze", LINUX, "plain.pcap", "--protocol", "mptcp")
    assert "TCP connections:" not in mptcp.out
    plain = json.loads(command("analyze", LINUX, "plain.pcap", "--protocol", "tcp", "--json").out)
    assert [c["protocol"] for c in plain["connections"]] == ["tcp", "tcp"]
    assert [c["bytes_delivered"] for c in plain["connections"]] == [20_000, 30_000]
    alone = command("analyze", "plain.pcap", "--protocol", "mptcp")
    assert alone.status == 2
    assert "without --protocol, plain TCP is measured, too" in alone.err
    with pytest.raises(ValueError, match="choices: mptcp, tcp"):
        ab.analyze(here / "plain.pcap", protocol="udp")  # type: ignore[arg-type]


def test_one_connection_of_tcp_is_described(command: Command, here: Path) -> None:
    (here / "plain.pcap").write_bytes(_timed(_tcp(4000, 0, 20)))
    done = command("analyze", "plain.pcap")
    assert "10.0.0.1:4000 - 10.0.0.2:443: tcp, data from the client, captured at the server" in done.out
    assert "keys" not in done.out


def test_a_packed_capture_is_read(command: Command, here: Path) -> None:
    (here / "linux.pcap.gz").write_bytes(gzip.compress(LINUX.read_bytes()))
    packed, whole = (json.loads(command("analyze", f, "--json").out) for f in ("linux.pcap.gz", LINUX))
    for field in ("bytes_delivered", "segments", "ooo_ratio", "subflows"):
        assert packed[field] == whole[field]


def test_a_clock_that_was_set_back_is_told(command: Command, here: Path) -> None:
    packets = _tcp(4000, 100, 20)
    (here / "back.pcap").write_bytes(_timed(packets[:20] + [(at - 60, octets) for at, octets in packets[20:]]))
    done = command("analyze", "back.pcap")
    assert (
        "the clock of the capture was set back 1 time, by at most 60 s; after each step, times continue from the "
        "last time before the step" in done.out
    )
    assert "20 kB delivered in 2" in done.out


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "empty"),
        (b"this is some text that is no capture at all", "not a pcap or pcapng file"),
        (b"\x1f\x8b\x08\x00rest", "gzip"),
        (_pcap(147, [bytes(60)]), "unknown link type 147"),
        (_pcap(1, [bytes(60)]), "no connection of TCP or MPTCP inside: 1 packet, 0 of them TCP"),
        (_pcap(1, []), "no connection of TCP or MPTCP inside: 0 packets"),
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
