"""Inputs of the laboratory, damaged by chance: an answer or a clear error, never a panic, a traceback or no end."""

import random
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

import anabranch as ab
from anabranch import _core
from anabranch.packetdrill.script import run_text

ROOT = Path(__file__).parents[1]


def damaged(text: str, dice: random.Random) -> str:
    """A text with lines, words or characters exchanged, repeated, taken away or put in."""
    lines = text.splitlines()
    for _ in range(dice.randint(1, 4)):
        i, j = dice.randrange(len(lines)), dice.randrange(len(lines))
        match dice.randrange(6):
            case 0:
                lines[i], lines[j] = lines[j], lines[i]
            case 1:
                lines.insert(i, lines[j])
            case 2 if len(lines) > 1:
                del lines[i]
            case 3 if lines[i]:
                at = dice.randrange(len(lines[i]))
                lines[i] = (
                    lines[i][:at]
                    + dice.choice("09-+.,:;\"'[]{}()<>=~*% \0é\u202e\N{GRINNING FACE}")
                    + lines[i][at + dice.randrange(2) :]
                )
            case 4:
                words = lines[i].split(" ")
                words[dice.randrange(len(words))] = dice.choice(
                    ["-1", "1e99", str(2**64), "", '"', "...", "0x", lines[j].strip()]
                )
                lines[i] = " ".join(words)
            case _:
                lines[i] = lines[i] * dice.choice([2, 50])
    return "\n".join(lines)


def test_damaged_scenarios_are_read_or_refused() -> None:
    texts = [file.read_text("utf-8") for file in sorted((ROOT / "examples").glob("*.toml"))]
    dice, refused = random.Random(1), []
    for _ in range(3000):
        try:
            _core.check(damaged(dice.choice(texts), dice), "x.toml", [], 5.0, 1 << 30)
        except _core.ScenarioError as error:
            refused.append(str(error))
    assert len(refused) > 1000
    assert all(1 <= len(said.splitlines()) <= 3 for said in refused)


def test_damaged_scripts_end_with_an_answer() -> None:
    files = sorted((ROOT / "crates/stack/scripts").rglob("*.pkt"))
    assert len(files) > 30
    dice, statuses = random.Random(2), set()
    for _ in range(1500):
        file = dice.choice(files)
        outcome = run_text(damaged(file.read_text("utf-8"), dice), name=file.name, directory=file.parent)
        statuses.add(outcome.status)
    assert statuses >= {"passed", "failed", "invalid"}


def blocks(octets: bytes) -> list[bytes]:
    """The blocks of a pcapng file."""
    found, at = [], 0
    while at < len(octets):
        (length,) = struct.unpack_from(">I", octets, at + 4)
        found.append(octets[at : at + length])
        at += length
    return found


def mutated(octets: bytes, dice: random.Random) -> Iterator[bytes]:
    """The capture with clocks that step, records in another order, records that are missing, and flipped bits."""
    kept = blocks(octets)
    packets = [i for i, block in enumerate(kept) if block[:4] == b"\0\0\0\x06"]
    step = dice.choice([-(10**12), -(10**6), 10**9, 2**62])
    for i in packets[dice.randrange(len(packets)) :]:
        high, low = struct.unpack_from(">II", kept[i], 12)
        ticks = ((high << 32 | low) + step) % 2**64
        kept[i] = kept[i][:12] + struct.pack(">II", ticks >> 32, ticks & 0xFFFFFFFF) + kept[i][20:]
    yield b"".join(kept)
    for _ in range(dice.choice([1, 30, 1000])):
        i, j = dice.choice(packets), dice.choice(packets)
        kept[i], kept[j] = kept[j], kept[i]
    yield b"".join(kept)
    rate = dice.choice([0.01, 0.5])
    fewer = [block for i, block in enumerate(kept) if i not in set(packets) or dice.random() > rate]
    yield b"".join(fewer)
    whole = bytearray(b"".join(fewer))
    for _ in range(dice.choice([1, 20, 500])):
        whole[dice.randrange(len(whole))] ^= 1 << dice.randrange(8)
    yield bytes(whole)
    yield bytes(whole[: dice.randrange(len(whole))])


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Both ends of some thousand packets over two paths."""
    folder = tmp_path_factory.mktemp("pcap")
    ab.Scenario.two_path("5 Mbit/s, 20 ms", "2 Mbit/s, 10 ms", transfer="2 MB").run(pcap=str(folder))
    return (folder / "client-0.pcapng").read_bytes()


@pytest.mark.parametrize("rounds", [10, pytest.param(40, marks=pytest.mark.long)])
def test_mutated_captures_are_analysed_or_refused(capture: bytes, tmp_path: Path, rounds: int) -> None:
    assert len(blocks(capture)) > 1000
    dice, analysed = random.Random(3), 0
    for n in range(rounds):
        for k, octets in enumerate(mutated(capture, dice)):
            file = tmp_path / f"{n}-{k}.pcapng"
            file.write_bytes(octets)
            try:
                summary = _core.analyze([str(file)]).summary
            except _core.CaptureError:
                continue
            finally:
                file.unlink()
            assert "NaN" not in summary
            analysed += 1
    assert analysed > 2.5 * rounds
