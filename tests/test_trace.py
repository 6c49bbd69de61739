"""Links paced by a trace, and the generator of synthetic traces."""

import os
from pathlib import Path

import pytest

import anabranch as ab
from helpers import Command

SCENARIO = '[transfer]\nbytes = "1 MB"\n[[path]]\ntrace = "a.trace"\n'


def test_a_synthetic_trace_paces_a_link(here: Path, command: Command) -> None:
    make = ("trace", "--rate", "2 Mbit/s", "--rate", "6 Mbit/s", "--duration", "5 s", "--seed", "3")
    made = command(*make).out
    stamps = [int(line) for line in made.splitlines()]
    assert stamps == sorted(stamps)
    assert stamps[-1] == 5000
    assert 2e6 < len(stamps) * 12_000 / 5 < 6e6
    assert made == command(*make).out
    Path("a.trace").write_text(made, encoding="utf-8")
    Path("s.toml").write_text(SCENARIO, encoding="utf-8")
    run = ab.Scenario.load("s.toml").run()
    assert run.summary["status"] == "completed"
    assert 1 < run.summary["goodput_mbps"] < 6
    assert "trace of " in str(run)


def test_a_result_is_replayed_without_the_trace_file(here: Path, command: Command) -> None:
    Path("a.trace").write_text("1\n2\n", encoding="utf-8")
    Path("s.toml").write_text(SCENARIO, encoding="utf-8")
    assert command("run", "s.toml", "--out", "out").status == 0
    Path("a.trace").unlink()
    Path("s.toml").unlink()
    assert command("replay", "out").status == 0


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("1\n2\nx\n", "a.trace, line 3: not a whole number of milliseconds"),
        ("5\n4\n", "a.trace, line 2: 4 comes after 5"),
        ("5000000000\n", "a.trace, line 1: 5000000000 ms is more than a day"),
        ("", "a.trace is empty"),
        ("0\n0\n", "a.trace has no time above 0"),
    ],
)
def test_a_malformed_trace_is_refused_with_its_line(here: Path, command: Command, content: str, said: str) -> None:
    Path("a.trace").write_text(content, encoding="utf-8")
    Path("s.toml").write_text(SCENARIO, encoding="utf-8")
    done = command("run", "s.toml")
    assert done.status == 2
    assert "path[0].trace" in done.err
    assert said in done.err


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this platform has no named pipes (os.mkfifo) and no /dev/zero")
@pytest.mark.parametrize("kind", ["device", "pipe", "too large"])
def test_a_trace_that_may_never_end_is_refused_at_once(here: Path, command: Command, kind: str) -> None:
    file = Path("/dev/zero" if kind == "device" else "a.trace")
    if kind == "pipe":
        os.mkfifo(file)
    if kind == "too large":
        with file.open("wb") as large:
            large.truncate(64_000_001)
    Path("s.toml").write_text(SCENARIO.replace("a.trace", str(file)), encoding="utf-8")
    done = command("check", "s.toml")
    assert done.status == 2
    assert "path[0].trace" in done.err
    assert ("larger than 64 MB" if kind == "too large" else "not a regular file") in done.err


def test_a_missing_trace_is_refused_with_its_name(here: Path, command: Command) -> None:
    Path("s.toml").write_text(SCENARIO, encoding="utf-8")
    done = command("run", "s.toml")
    assert done.status == 2
    assert '"a.trace"' in done.err
