"""Captures as they often are: packets missing, cut short, merged by offloads. Made from the whole captures of a run.

A run writes pcapng, big-endian, raw IPv4, one file for each interface (``crates/pcap/src/write.rs``); nothing else is
read here.
"""

import random
import struct
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

PACKET = 6
"""Type of an enhanced packet block."""
SNAP = 96
"""``tcpdump -s 96``: headers, with 14 octets of Ethernet, which raw IP does not have."""
ETHERNET = 14
MOST = 65_000
"""Octets of payload that an offload merges at most: IP packets end at 65,535."""
SOON = 1_000_000
"""Nanoseconds after which an offload hands on what it has."""
DSS = 2


@dataclass(frozen=True)
class Packet:
    """One packet of a capture."""

    at: int
    octets: bytes
    options: bytes
    """Options of its block."""
    whole: int
    """Octets that it had on the wire."""

    @property
    def header(self) -> int:
        """Octets of IP and TCP headers."""
        ip = 4 * (self.octets[0] & 15)
        return ip + 4 * (self.octets[ip + 12] >> 4)

    @property
    def is_tcp(self) -> bool:
        return self.octets[0] >> 4 == 4 and self.octets[9] == 6


def missing(packets: list[Packet], rng: random.Random) -> list[Packet]:
    """1 % of the packets were not captured, by chance."""
    return [p for p in packets if rng.random() >= 0.01]


def cut(packets: list[Packet], rng: random.Random) -> list[Packet]:
    """``tcpdump -s 96``."""
    return [replace(p, octets=p.octets[: SNAP - ETHERNET]) for p in packets]


def merged(packets: list[Packet], rng: random.Random) -> list[Packet]:
    """Segments that follow each other at once, on one subflow, without an answer between them, are one of up to 64 kB.

    As TSO hands them to the card of the sender, and GRO to the receiver. In order on the subflow and in the stream,
    with the same acknowledgements, since both demand that.
    """
    made: list[Packet] = []
    open_: dict[bytes, int] = {}
    for p in packets:
        ip = 4 * (p.octets[0] & 15)
        way = p.octets[12:20] + p.octets[ip : ip + 4]
        back = p.octets[16:20] + p.octets[12:16] + p.octets[ip + 2 : ip + 4] + p.octets[ip : ip + 2]
        open_.pop(back, None)
        i = open_.pop(way, None)
        one = _together(made[i], p) if i is not None and p.whole > p.header else None
        if i is not None and one is not None:
            made[i] = one
            open_[way] = i
            continue
        made.append(p)
        if p.is_tcp and p.whole > p.header:
            open_[way] = len(made) - 1
    return made


def _together(a: Packet, b: Packet) -> Packet | None:
    """`a` and `b` as one packet at the time of `a`, if they may be merged."""
    h, ip = a.header, 20
    length = len(a.octets) - h
    plain = b.header == h and a.octets[0] == b.octets[0] == 0x45 and length + len(b.octets) - h <= MOST
    if not plain or b.at - a.at > SOON or (a.octets[ip + 13] | b.octets[ip + 13]) & 0b111 or a.options != b.options:
        return None
    (seq_a, ack_a), (seq_b, ack_b) = struct.unpack_from(">II", a.octets, 24), struct.unpack_from(">II", b.octets, 24)
    if seq_b != (seq_a + length) % (1 << 32) or ack_a != ack_b:
        return None
    head = bytearray(a.octets[:h])
    dss_a, dss_b = _mapping(a.octets[:h]), _mapping(b.octets[:h])
    if dss_a is None or dss_b is None:
        if dss_a is not dss_b or not _alike(a.octets[:h], b.octets[:h], []):
            return None
    else:
        (at, size, ssn, place), (other, size_b, ssn_b, place_b) = dss_a, dss_b
        count_a, count_b = (struct.unpack_from(">H", o, at + size + 4)[0] for o in (a.octets, b.octets))
        follows = at == other and size == size_b and ssn_b == ssn + count_a and place_b == place + count_a
        moving = [(at, at + size + 6)]
        whole = count_a == length and count_b == len(b.octets) - h
        if not follows or not whole or not _alike(bytes(head), b.octets[:h], moving):
            return None
        struct.pack_into(">H", head, at + size + 4, count_a + count_b)
    octets = bytes(head) + a.octets[h:] + b.octets[h:]
    return replace(a, octets=_summed(octets, ip), whole=len(octets))


def _alike(a: bytes, b: bytes, but: list[tuple[int, int]]) -> bool:
    """The TCP options are the same, `but` for some octets, and for timestamps."""
    i = 40
    skipped = list(but)
    while i < len(a):
        kind = a[i]
        if kind <= 1:
            i += 1
            continue
        if kind == 8:
            skipped.append((i + 2, i + 10))
        i += max(2, a[i + 1])
    return all(a[k] == b[k] or any(s <= k < e for s, e in skipped) for k in range(40, len(a)))


def _mapping(header: bytes) -> tuple[int, int, int, int] | None:
    """Of a DSS with a mapping: where its data sequence number begins, its length, the subflow's number, the data's."""
    i = 40
    while i < len(header):
        kind = header[i]
        if kind <= 1:
            i += 1
            continue
        if kind == 30 and header[i + 2] >> 4 == DSS:
            flags = header[i + 3]
            if not flags & 4:
                return None
            at = i + 4 + ((8 if flags & 2 else 4) if flags & 1 else 0)
            size = 8 if flags & 8 else 4
            place = int.from_bytes(header[at : at + size], "big")
            return at, size, int.from_bytes(header[at + size : at + size + 4], "big"), place
        i += max(2, header[i + 1])
    return None


def _summed(octets: bytes, ip: int) -> bytes:
    """With lengths and checksums of IP and TCP as they should be."""
    made = bytearray(octets)
    struct.pack_into(">H", made, 2, len(made))
    made[10:12] = made[ip + 16 : ip + 18] = b"\0\0"
    struct.pack_into(">H", made, 10, _checksum(bytes(made[:ip])))
    pseudo = bytes(made[12:20]) + struct.pack(">HH", 6, len(made) - ip)
    struct.pack_into(">H", made, ip + 16, _checksum(pseudo + bytes(made[ip:])))
    return bytes(made)


def _checksum(octets: bytes) -> int:
    total = int(np.frombuffer(octets + b"\0" * (len(octets) % 2), ">u2").sum(dtype=np.uint64))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return 0xFFFF - total


KINDS: dict[str, Callable[[list[Packet], random.Random], list[Packet]]] = {
    "missing": missing,
    "snaplen": cut,
    "offload": merged,
}
"""By name: 1 % of the packets missing, snaplen 96, segments of 64 kB."""


def read(source: Path) -> tuple[bytes, list[Packet]]:
    """What stands before the packets, and those."""
    data = source.read_bytes()
    head, packets, at = b"", [], 0
    while at < len(data):
        what, size = struct.unpack_from(">II", data, at)
        if what == PACKET:
            high, low, here, whole = struct.unpack_from(">IIII", data, at + 12)
            end = at + 28 + here
            options = data[end + -here % 4 : at + size - 4]
            packets.append(Packet(high << 32 | low, data[at + 28 : end], options, whole))
        else:
            head += data[at : at + size]
        at += size
    return head, packets


def write(target: Path, head: bytes, packets: list[Packet]) -> Path:
    """A capture of them."""
    with target.open("wb") as out:
        out.write(head)
        for p in packets:
            size = 32 + len(p.octets) + -len(p.octets) % 4 + len(p.options)
            out.write(struct.pack(">III", PACKET, size, 0) + struct.pack(">QII", p.at, len(p.octets), p.whole))
            out.write(p.octets + b"\0" * (-len(p.octets) % 4) + p.options + struct.pack(">I", size))
    return target


def degrade(source: Path, target: Path, kind: str, seed: int) -> None:
    """Writes the capture `source` to `target`, degraded."""
    head, packets = read(source)
    write(target, head, KINDS[kind](packets, random.Random(f"{seed} {source.name}")))
