"""Captures of MPTCP version 0 (RFC 6824), made from those that runs write of version 1: options are written anew."""

import hashlib
import hmac
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from degraded import Packet, _summed, read, write

MPTCP = 30
WRAP = 1 << 64


def sha1(key: bytes) -> bytes:
    return hashlib.sha1(key).digest()


def options(octets: bytes) -> Iterator[bytes]:
    """The TCP options of an IPv4 packet, each with kind and length; without padding."""
    at, end = 40, 20 + 4 * (octets[32] >> 4)
    while at < end and octets[at] != 0:
        if octets[at] == 1:
            at += 1
            continue
        yield octets[at : at + octets[at + 1]]
        at += octets[at + 1]


def packed(octets: bytes, made: list[bytes]) -> bytes:
    """The packet with these options in place of its own."""
    space = b"".join(one + b"\1" * (-len(one) % 4) for one in made)
    assert len(space) <= 40, made
    header = bytearray(octets[:40])
    header[32] = (5 + len(space) // 4) << 4 | header[32] & 15
    return _summed(bytes(header) + space + octets[20 + 4 * (octets[32] >> 4) :], 20)


@dataclass
class Version0:
    """One connection: its keys by the address and port that opened it, and the random numbers of its joins."""

    keys: dict[bool, bytes] = field(default_factory=dict)
    """Of the client (true), of the server."""
    server: bytes = b""
    """Port."""
    numbers: dict[tuple[bytes, bool], bytes] = field(default_factory=dict)
    """By the client's address and port, of the client and of the server."""

    def learn(self, packets: list[Packet]) -> None:
        """Keys and random numbers from a capture of version 1."""
        for p in packets:
            syn, ack = p.octets[33] & 2, p.octets[33] & 16
            if syn and not ack:
                self.server = p.octets[22:24]
            forward, flow = self.way(p.octets)
            for one in options(p.octets):
                if one[0] == MPTCP and one[2] >> 4 == 0 and len(one) >= 20:
                    self.keys = {forward: one[4:12], not forward: one[12:20]}
                if one[0] == MPTCP and one[2] >> 4 == 1 and len(one) in (12, 16):
                    self.numbers[flow, forward] = one[-4:]

    def way(self, octets: bytes) -> tuple[bool, bytes]:
        """The client sent the packet; the client's address and port."""
        forward = octets[22:24] == self.server
        return forward, octets[12:16] + octets[20:22] if forward else octets[16:20] + octets[22:24]

    def moved(self, number: bytes, forward: bool) -> bytes:
        """A data sequence number (8 octets, or 4) of the stream that the client sends, if `forward`."""
        key = self.keys[forward]
        old, new = (int.from_bytes(h[-8:], "big") for h in (hashlib.sha256(key).digest(), sha1(key)))
        size = len(number)
        return ((int.from_bytes(number, "big") - old + new) % (1 << 8 * size)).to_bytes(size, "big")

    def mapping(self, dsn: bytes, rest: bytes, forward: bool) -> bytes:
        """The same mapping; its checksum (RFC 6824 3.3.1) covers the data sequence number, of 64 bits."""
        new = self.moved(dsn, forward)
        if len(rest) == 8:
            key = self.keys[forward]
            start = int.from_bytes(hashlib.sha256(key).digest()[-8:], "big")
            size = len(dsn)
            ahead = (int.from_bytes(dsn, "big") - start) % (1 << 8 * size)
            old64 = ((start + ahead) % WRAP).to_bytes(8, "big")
            total = 0xFFFF - int.from_bytes(rest[6:], "big")
            total += sum(struct.unpack(">4H", self.moved(old64, forward))) + sum(
                0xFFFF - w for w in struct.unpack(">4H", old64)
            )
            while total >> 16:
                total = (total & 0xFFFF) + (total >> 16)
            rest = rest[:6] + (0xFFFF - total).to_bytes(2, "big")
        return new + rest

    def hmac(self, flow: bytes, forward: bool) -> bytes:
        """RFC 6824 3.2."""
        key = self.keys[forward] + self.keys[not forward]
        return hmac.new(key, self.numbers[flow, forward] + self.numbers[flow, not forward], "sha1").digest()

    def option(self, octets: bytes, one: bytes) -> bytes | None:
        """An option of MPTCP as version 0 has it; None if it has none such."""
        forward, flow = self.way(octets)
        subtype, flags, size = one[2] >> 4, one[3] if len(one) > 3 else 0, len(one)
        if subtype == 0 and size == 4:
            return bytes([MPTCP, 12, 0, flags]) + self.keys[forward]
        if subtype == 0 and size in (12, 20):
            return bytes([MPTCP, size, 0, flags]) + one[4:]
        if subtype == 0:  # with the first data, which in version 0 have a DSS
            start = hashlib.sha256(self.keys[forward]).digest()[-8:]
            first = ((int.from_bytes(start, "big") + 1) % WRAP).to_bytes(8, "big")
            made = self.mapping(first, b"\0\0\0\1" + one[20:], forward)
            return bytes([MPTCP, 4 + len(made), 0x20, 0x0C]) + made
        if subtype == 1 and size == 12:
            return one[:4] + sha1(self.keys[not forward])[:4] + one[8:]
        if subtype == 1:
            full = self.hmac(flow, forward)
            return one[:4] + (full[:8] + one[12:] if size == 16 else full)
        if subtype == 2:
            at, made = 4, one[2:4]
            if flags & 1:
                length = 8 if flags & 2 else 4
                made += self.moved(one[at : at + length], not forward)
                at += length
            if flags & 4:
                length = 8 if flags & 8 else 4
                made += self.mapping(one[at : at + length], one[at + length :], forward)
            return one[:2] + made
        if subtype == 3:
            if one[2] & 1:  # an echo
                return None
            v4 = size < 20
            made = bytes([0x34 if v4 else 0x36]) + one[3:-8]
            return bytes([MPTCP, 2 + len(made)]) + made
        if subtype == 6:
            return one[:4] + self.moved(one[4:], not forward)
        return None if subtype == 8 else one

    def packet(self, p: Packet) -> Packet:
        """The packet as version 0 has it."""
        made = [self.option(p.octets, one) if one[0] == MPTCP else one for one in options(p.octets)]
        octets = packed(p.octets, [one for one in made if one is not None])
        return replace(p, octets=octets, whole=len(octets))


def version_0(files: list[Path], folder: Path) -> list[Path]:
    """The captures of one connection as captures of version 0, in `folder`."""
    connection, contents = Version0(), [read(file) for file in files]
    for _, packets in contents:
        connection.learn(packets)
    return [
        write(folder / file.name, head, [connection.packet(p) for p in packets])
        for file, (head, packets) in zip(files, contents, strict=True)
    ]
