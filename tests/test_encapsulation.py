"""Packets in tunnels: what `analyze` and `diagnose` say was opened, and what was not."""

import json
import struct
from pathlib import Path

import pytest

import anabranch as ab
from helpers import Command, Page

ETHERNET = bytes.fromhex("020000000001 020000000002 0800")


def in_ip(protocol: int, payload: bytes) -> bytes:
    """An Ethernet frame with an IPv4 packet between addresses for documentation."""
    head = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(payload), 7, 0, 64, protocol, 0)
    return ETHERNET + head + bytes([203, 0, 113, 1, 203, 0, 113, 2]) + payload


def wireguard() -> bytes:
    return in_ip(17, struct.pack(">HHHH", 51820, 51820, 56, 0) + bytes([4, 0, 0, 0]) + bytes(44))


def written(name: str, packets: list[tuple[int, bytes]]) -> str:
    """A classic capture of Ethernet; times are nanoseconds."""
    out = struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 1)
    for at, frame in packets:
        out += struct.pack("<IIII", at // 10**9, at % 10**9, len(frame), len(frame)) + frame
    Path(name).write_bytes(out)
    return name


def captured(file: Path) -> list[tuple[int, bytes]]:
    """Time and IP packet of each record of a capture that a run wrote."""
    data, at, found = file.read_bytes(), 0, []
    while at < len(data):
        kind, length = struct.unpack_from(">II", data, at)
        if kind == 6:
            _, high, low, size, _ = struct.unpack_from(">IIIII", data, at + 8)
            found.append((high << 32 | low, data[at + 28 : at + 28 + size]))
        at += length
    return found


@pytest.fixture
def tunnel(here: Path) -> str:
    """A transfer of 100 kB whose packets are in GRE, with 812 packets of WireGuard beside it."""
    ab.Scenario.of_paths(["5 Mbit/s, 10 ms"], transfer="100 kB").run(pcap="captures")
    packets = [(at, in_ip(47, b"\0\0\x08\0" + packet)) for at, packet in captured(Path("captures/client-0.pcapng"))]
    packets += [(packets[-1][0] + n, wireguard()) for n in range(812)]
    return written("tunnel.pcap", packets)


def test_what_was_opened_and_what_was_not_is_in_text_json_and_report(tunnel: str, command: Command) -> None:
    plain = json.loads(command("analyze", "captures/client-0.pcapng", "--json").out)
    told = json.loads(command("analyze", tunnel, "--json").out)
    about = told["capture"]
    assert about["opened"] == {"GRE": plain["capture"]["tcp"]}
    assert about["not_opened"] == {"WireGuard": 812}
    for field in ("bytes_delivered", "goodput_mbps", "status", "subflows", "handshake"):
        assert told[field] == plain[field], field
    said = command("analyze", tunnel, "--out", "seen").out
    assert f"read from encapsulations: {plain['capture']['tcp']} segments in GRE" in said
    assert "not read: 812 packets of WireGuard" in said
    assert "not read: 812 packets of WireGuard" in " ".join(Page(Path("seen/report.html").read_text("utf-8")).text)
    assert "not read: 812 packets of WireGuard" in command("diagnose", tunnel).out


def test_a_capture_of_which_nothing_can_be_opened_is_refused_with_the_name(here: Path, command: Command) -> None:
    for name in ("analyze", "diagnose"):
        outcome = command(name, written("closed.pcap", [(n, wireguard()) for n in range(812)]))
        assert (outcome.status, outcome.out, outcome.err.count("\n")) == (2, "", 1)
        assert "812 packets, 0 of them TCP; 812 packets of WireGuard, which cannot be read" in outcome.err


def test_the_capacity_of_a_path_does_not_depend_on_the_tunnel(here: Path, command: Command) -> None:
    """Octets of the inner IP packet count: 5 Mbit/s, whatever is around it."""
    ab.Scenario.of_paths(["5 Mbit/s, 10 ms"], transfer="3 MB").run(pcap="captures")
    packets = captured(Path("captures/client-0.pcapng"))
    tunnel = written("tunnel.pcap", [(at, in_ip(47, b"\0\0\x08\0" + packet)) for at, packet in packets])
    told = [json.loads(command("diagnose", file, "--json").out) for file in ("captures/client-0.pcapng", tunnel)]
    (plain, inner) = [one["connections"][0]["subflows"][0]["capacity_mbps"] for one in told]
    assert inner == plain == pytest.approx(5, rel=0.02)


def test_an_analysis_that_an_older_version_stored_is_still_shown(tunnel: str, command: Command) -> None:
    from anabranch.captures.text import about

    summary = json.loads(command("analyze", tunnel, "--json").out)
    for key in (
        "opened",
        "not_opened",
        "cut_before_tcp",
        "repeated_packets",
        "incomplete_fragments",
        "reassembled_packets",
    ):
        del summary["capture"][key]
    assert not any("opened" in line for line in about(summary))
