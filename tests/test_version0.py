"""Captures of MPTCP version 0 (RFC 6824): the figures are those of the same transfer in version 1."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import anabranch as ab
from helpers import Command
from version0 import version_0

PATHS = ("5 Mbit/s, 30 ms", "2 Mbit/s, 10.013 ms")
OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "checksums": {"connection.checksum": True},
    "down": {"transfer.direction": "down"},
    "losses": {"path.1.loss": "2 %"},
}
ONLY_OF_VERSION_1 = ("add_addr_hmacs_verified", "add_addr_hmacs_failed", "client_token", "server_token")


def captured(folder: Path, settings: dict[str, Any], side: str) -> list[Path]:
    scenario = ab.Scenario.two_path(*PATHS, transfer="1 MB")
    for key, value in settings.items():
        scenario = scenario.set(key, value)
    scenario.run(pcap=folder)
    return sorted(folder.glob(f"{side}-*.pcapng"))


def both(tmp_path: Path, settings: dict[str, Any], side: str = "client") -> tuple[list[Path], list[Path]]:
    """Captures of version 1, and the same as version 0."""
    (tmp_path / "0").mkdir()
    ones = captured(tmp_path / "1", settings, side)
    return ones, version_0(ones, tmp_path / "0")


@pytest.mark.parametrize("side", ["client", "server", "*"])
@pytest.mark.parametrize("name", OPTIONS)
def test_version_0_gives_the_figures_of_version_1(tmp_path: Path, name: str, side: str) -> None:
    ones, zeros = both(tmp_path, OPTIONS[name], side)
    one, zero = (ab.analyze(files).summary for files in (ones, zeros))
    assert (one.pop("mptcp_version"), zero.pop("mptcp_version")) == (1, 0)
    assert (one["capture"].pop("version_0"), zero["capture"].pop("version_0")) == (0, 1)
    assert zero["status"] == "completed"
    hands = [summary.pop("handshake") for summary in (one, zero)]
    assert hands[1]["keys_seen"] == 2
    assert (hands[1]["hmacs_verified"], hands[1]["tokens_matched"]) == (2, 1)
    # What version 0 does not have is not verified.
    assert [hands[1][key] for key in ONLY_OF_VERSION_1[:2]] == [None, None]
    assert hands[0]["add_addr_hmacs_verified"] > 0
    for hand in hands:
        for key in ONLY_OF_VERSION_1:
            del hand[key]
    assert hands[0] == hands[1]
    signals = [summary.pop("signals") for summary in (one, zero)]
    assert (signals[1]["add_addr"], signals[1]["add_addr_echo"], signals[1]["mp_tcprst"]) == (
        signals[0]["add_addr"],
        None,
        None,
    )
    for summary in (one, zero):
        for key in ("title", "capture", "wall_s"):
            del summary[key]
    assert zero == one


def test_the_text_says_the_version_and_what_was_not_verified(tmp_path: Path, command: Command) -> None:
    ones, zeros = both(tmp_path, {})
    said = command("analyze", *zeros, "--wide").out
    assert ": mptcp version 0, data from the client" in said
    assert "HMACs of joins: 2 of 2 valid; ADD_ADDR not verified: it has no HMAC in version 0" in said
    assert "left out" not in said
    assert "version 0" not in command("analyze", *ones).out


def test_a_diagnosis_of_version_0_is_that_of_version_1(tmp_path: Path, command: Command) -> None:
    ones, zeros = both(tmp_path, {"path.1.loss": "1 %"})
    one, zero = (json.loads(command("diagnose", *files, "--json").out) for files in (ones, zeros))
    for told in (one, zero):
        assert not any("version" in note for note in told["notes"])
    shares = [told["connections"][0]["causes"] for told in (one, zero)]
    assert shares[1] == pytest.approx(shares[0], rel=1e-3, abs=1e-3)


def test_tshark_reads_the_captures_of_version_0_alike(tmp_path: Path) -> None:
    """tshark finds version 0, the token computed from the key, and the same data sequence, relative to its start."""
    program = shutil.which("tshark")
    if program is None:
        pytest.skip("tshark is not installed (apt-get install tshark)")
    ones, zeros = both(tmp_path, {"connection.checksum": True})

    def rows(files: list[Path], *fields: str) -> list[list[str]]:
        merged = files[0].with_name("all.pcapng")
        subprocess.run(["mergecap", "-w", merged, *files], check=True)
        shown = [part for name in fields for part in ("-e", name)]
        done = subprocess.run(
            [program, "-r", merged, "-o", "mptcp.relative_sequence_numbers:TRUE", "-T", "fields", *shown],
            check=True,
            capture_output=True,
            text=True,
        )
        return [line.split("\t") for line in done.stdout.splitlines()]

    fields = ("mptcp.stream", "mptcp.dss.dsn", "mptcp.ack", "tcp.options.mptcp.datalvllen")
    versions = {v for row in rows(zeros, "tcp.options.mptcp.version") for v in row[0].split(",") if v}
    assert versions == {"0"}
    assert not [row for row in rows(zeros, "_ws.malformed", "tcp.option.len.invalid") if "".join(row)]
    one, zero = rows(ones, *fields), rows(zeros, *fields)
    # Both subflows belong to one connection: the token of the join is that of the key. What was an echo of ADD_ADDR in
    # version 1 is an acknowledgement without MPTCP in version 0.
    streams = [row[0] for row in zero]
    assert set(streams) == {"0", ""}
    assert streams.count("") == 1
    with_mapping = [row for row in zero if row[1]]
    assert len(with_mapping) > 700
    # The first data carry MP_CAPABLE in version 1 and a DSS in version 0.
    assert [row for row in zero if row[1:3] not in (["1", ""],)][3:] != []
    assert {tuple(row[1:]) for row in one if row[1]} <= {tuple(row[1:]) for row in zero if row[1]}
