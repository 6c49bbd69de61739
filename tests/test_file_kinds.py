"""A file or folder of another kind than the command takes: the message names the command that takes it."""

import tarfile
from pathlib import Path

import pytest

import anabranch as ab
from anabranch.sentences import sweep as say
from helpers import Command

pytestmark = pytest.mark.usefixtures("no_figures")
ROOT = Path(__file__).parent.parent
CAPTURE = ROOT / "crates" / "acceptance" / "tests" / "data" / "linux-mptcp-first-400.pcap"
SCENARIO = """
transfer.bytes = "100 kB"
[[path]]
rate = "5 Mbit/s"
delay = "20 ms"
[[path]]
rate = "2 Mbit/s"
delay = "10 ms"
"""
SWEEP = """
scenario = "base.toml"
seeds = 2
[axes]
mss = [700, 1400]
"""


@pytest.fixture
def files(here: Path) -> Path:
    (here / "base.toml").write_text(SCENARIO, encoding="utf-8")
    (here / "sweep.toml").write_text(SWEEP, encoding="utf-8")
    (here / "lost.toml").write_text(SWEEP.replace("base", "gone"), encoding="utf-8")
    (here / "captures").mkdir()
    for name in ("one.pcap", "two.pcap"):
        (here / "captures" / name).write_bytes(CAPTURE.read_bytes())
    return here


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("run sweep.toml", "sweep.toml: a sweep; run it with `anabranch sweep sweep.toml`"),
        ("sweep base.toml", "base.toml: a scenario, not a sweep; run it with `anabranch run base.toml`"),
        ("run captures/one.pcap", "if it is a capture: `anabranch diagnose captures/one.pcap`"),
        ("check captures/one.pcap", "if it is a capture: `anabranch diagnose captures/one.pcap`"),
        ("sweep captures/one.pcap", "if it is a capture: `anabranch diagnose captures/one.pcap`"),
        ("diagnose captures", "captures: a folder with captures; give the files: captures/*.pcap"),
        ("sweep lost.toml", "lost.toml: scenario: gone.toml: no such file or directory"),
        ("check lost.toml", "lost.toml: scenario: gone.toml: no such file or directory"),
    ],
)
def test_the_message_names_the_command_or_the_place(words: str, said: str, files: Path, command: Command) -> None:
    done = command(*words.split())
    assert (done.status, done.out) == (2, "")
    assert said in done.err


def test_an_archive_is_to_be_unpacked(files: Path, command: Command) -> None:
    with tarfile.open(files / "result.tar", "w") as archive:
        archive.add(files / "base.toml", "base.toml")
    for words in ("replay result.tar", "compare result.tar result.tar", "diagnose result.tar"):
        done = command(*words.split())
        assert done.status == 2
        if not words.startswith("diagnose"):
            assert "result.tar: is a file, not a directory; unpack it first: tar xf result.tar" in done.err


@pytest.mark.parametrize("mark", ["kept", "kept/sweep.json"])
def test_a_stored_sweep_is_repeated_from_its_folder(mark: str, files: Path, command: Command) -> None:
    assert command("sweep", "sweep.toml", "--out", "kept", "--quiet").status == 0
    refused = command("replay", "kept")
    assert refused.status == 2
    assert "`anabranch sweep kept --out MINE`" in refused.err
    (files / "base.toml").unlink()  # the folder holds the scenario
    assert command("sweep", mark, "--out", "again", "--quiet").status == 0
    kept, again = ab.Sweep.load("kept").runs, ab.Sweep.load("again").runs
    assert kept["trace_sha256"].tolist() == again["trace_sha256"].tolist()
    assert kept["scenario_sha256"].tolist() == again["scenario_sha256"].tolist()
    fewer = command("sweep", mark, "--seeds", "1", "--csv")
    assert len(fewer.out.splitlines()) == 3


def test_a_sweep_without_chance_says_why_it_has_no_intervals(files: Path, command: Command) -> None:
    assert say.SEEDS_ALIKE() in command("sweep", "sweep.toml").out
    assert say.SEEDS_ALIKE() not in command("sweep", "sweep.toml", "--seeds", "1").out
    varying = SCENARIO.replace('"20 ms"', '"20 ms"\ndelay_variation = "1 %"')
    (files / "base.toml").write_text(varying, encoding="utf-8")
    assert say.SEEDS_ALIKE() not in command("sweep", "sweep.toml").out


def test_runs_of_another_scenario_in_the_same_folder_are_counted(files: Path, command: Command) -> None:
    assert "also keeps" not in command("sweep", "sweep.toml", "--out", "kept").err
    (files / "base.toml").write_text(SCENARIO.replace("20 ms", "30 ms"), encoding="utf-8")
    done = command("sweep", "sweep.toml", "--out", "kept")
    assert done.status == 0
    assert done.err.rstrip().endswith(
        "kept also keeps 4 runs of another scenario, other values or other seeds; they are not shown."
    )
    assert "also keeps" not in command("sweep", "sweep.toml", "--out", "kept", "--quiet").out
