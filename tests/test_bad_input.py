"""Bad input ends with status 2 and one to three lines that name the place, the value and the remedy."""

import os
import sys
from pathlib import Path

import pytest

from helpers import TWO_PATHS, Command, Outcome


def refused(done: Outcome, *words: str) -> None:
    assert (done.status, done.out) == (2, "")
    assert 1 <= len(done.err.splitlines()) <= 3
    assert "Traceback" not in done.err
    for word in words:
        assert word in done.err


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param(TWO_PATHS.replace('"2 Mbit/s"', '"-2 Mbit/s"'), ("path[1].rate", "-2 Mbit/s"), id="negative rate"),
        pytest.param(TWO_PATHS.replace('"2 Mbit/s"', '"2 Mbit"'), ("path[1].rate", "2 Mbit"), id="unit"),
        pytest.param(
            TWO_PATHS + '[connection]\ncontroller = "couple"\n',
            ("connection.controller", "couple", "coupled", "uncoupled"),
            id="unknown controller",
        ),
        pytest.param('[transfer]\nbytes = "1 MB"\n', ("path",), id="zero paths"),
        pytest.param('[[path]]\nrate = "1 Mbit/s"\n', ("transfer",), id="no transfer"),
        pytest.param(TWO_PATHS + 'dealy = "1 ms"\n', ("path[1]", "dealy", "delay"), id="unknown key"),
        pytest.param(
            TWO_PATHS + 'wifi = { standard = "802.11y" }\n', ("path[1].wifi.standard", "802.11y"), id="unknown standard"
        ),
        pytest.param(
            TWO_PATHS + 'wifi = { rate = "7 Mbit/s" }\n',
            ("path[1].wifi.rate", "802.11g", "9, 11, 12"),
            id="no such rate",
        ),
        pytest.param(
            TWO_PATHS + 'wifi = { distance = "-3 m" }\n', ("path[1].wifi.distance", "negative"), id="negative distance"
        ),
        pytest.param(
            '[transfer]\nmessage = "1 kB"\ninterval = "10 ms"\n[[path]]\n',
            ("transfer.count", "count = 1000"),
            id="endless",
        ),
        pytest.param('[transfer]\npage = "amazn"\n[[path]]\n', ("transfer.page", "amazn", "amazon"), id="unknown page"),
        pytest.param(
            '[transfer]\nladder = ["2 Mbit/s", "1 Mbit/s"]\ncount = 1\n[[path]]\n',
            ("transfer.ladder[1]", "not above 2 Mbit/s", "must rise"),
            id="falling ladder",
        ),
        pytest.param(
            '[transfer]\npage = "amazon"\ndirection = "both"\n[[path]]\n',
            ("transfer.direction", "both", "two connections"),
            id="a page both ways",
        ),
        pytest.param(TWO_PATHS[:-12], ("bad.toml",), id="truncated"),
        pytest.param("", ("bad.toml",), id="empty"),
    ],
)
@pytest.mark.parametrize("verb", ["check", "run"])
def test_a_bad_scenario_is_refused(command: Command, here: Path, verb: str, text: str, words: tuple[str, ...]) -> None:
    file = here / "bad.toml"
    file.write_text(text, encoding="utf-8")
    refused(command(verb, file), "bad.toml", *words)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("path[7].delay=1 ms", ("path[7]",)),
        ("path.7.delay=1 ms", ("path[7]",)),
        ("path.1.dealy=1 ms", ("dealy", "delay")),
        ("conection.sack=false", ("conection", "connection")),
        ("path.1.delay=soon", ("path[1].delay", "soon")),
        ("path.1.delay", ("--set", "KEY=VALUE")),
        ("=1 ms", ("--set", "KEY=VALUE")),
    ],
)
def test_a_bad_change_is_refused(command: Command, scenario_file: Path, change: str, words: tuple[str, ...]) -> None:
    refused(command("run", scenario_file, "--set", change), *words)


@pytest.mark.parametrize("verb", ["check", "run"])
def test_a_missing_file_is_refused(command: Command, here: Path, verb: str) -> None:
    refused(command(verb, "none.toml"), "none.toml", "no such file")


def test_a_directory_is_not_a_scenario(command: Command, here: Path) -> None:
    refused(command("run", here), str(here))


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="this platform has no /dev/zero")
def test_a_scenario_that_never_ends_is_refused(command: Command, here: Path) -> None:
    refused(command("check", "/dev/zero"), "/dev/zero", "more than 100 million characters")


def test_a_file_that_is_not_text_is_refused(command: Command, here: Path) -> None:
    (here / "picture.toml").write_bytes(b"\x89PNG\xff\xfe")
    refused(command("run", "picture.toml"), "picture.toml", "UTF-8")


def test_a_byte_order_mark_does_no_harm(command: Command, here: Path) -> None:
    (here / "notepad.toml").write_text(TWO_PATHS, encoding="utf-8-sig")
    assert command("check", "notepad.toml").status == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ("rnu",),
        ("run",),
        ("run", "two.toml", "three.toml"),
        ("run", "two.toml", "--sed", "1"),
        ("run", "two.toml", "--seed", "-1"),
        ("run", "two.toml", "--seed", "one"),
        ("run", "two.toml", "--seed", str(2**63)),
        ("run", "two.toml", "--json", "--csv"),
        ("compare", "one"),
        ("plot", "one", "--format", "gif"),
        ("--verson",),
    ],
)
def test_a_bad_command_line_is_refused(command: Command, scenario_file: Path, arguments: tuple[str, ...]) -> None:
    refused(command(*arguments), "--help")


def test_a_figure_that_is_none_is_refused(command: Command, result: Path) -> None:
    refused(command("plot", result, "--figure", "cwmd"), "--figure", "'cwmd'", "cwnd, throughput", "--help")


def test_out_below_a_file_is_refused_before_the_run(command: Command, scenario_file: Path) -> None:
    refused(command("run", scenario_file, "--out", "two.toml/out"), "two.toml")
    refused(command("run", scenario_file, "--out", "two.toml"), "two.toml")


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has /proc, where nobody can write")
def test_out_where_nothing_can_be_written_is_refused_by_its_own_name(command: Command, scenario_file: Path) -> None:
    done = command("run", scenario_file, "--out", "/proc/result")
    refused(done, "/proc/result: no such file or directory")


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="neither root nor Windows is bound by modes")
def test_out_in_a_read_only_directory_is_refused(command: Command, scenario_file: Path) -> None:
    locked = scenario_file.parent / "locked"
    locked.mkdir(mode=0o500)
    refused(command("run", scenario_file, "--out", "locked/out"), "locked", "permission denied")


def test_out_does_not_replace_what_is_not_a_result(command: Command, scenario_file: Path) -> None:
    thesis = scenario_file.parent / "thesis"
    thesis.mkdir()
    (thesis / "chapter.tex").write_text("years of work", encoding="utf-8")
    refused(command("run", scenario_file, "--out", thesis), "thesis", "nothing is written")
    refused(command("run", scenario_file, "--out", "."), "directory of its own")
    assert (thesis / "chapter.tex").read_text(encoding="utf-8") == "years of work"


def test_a_trace_that_cannot_be_written_is_refused(command: Command, scenario_file: Path) -> None:
    refused(command("run", scenario_file, "--trace", "none/events.txt"), "events.txt")
    refused(command("run", scenario_file, "--trace", scenario_file.parent), str(scenario_file.parent))


def test_captures_that_cannot_be_written_are_refused(command: Command, scenario_file: Path) -> None:
    refused(command("run", scenario_file, "--pcap", scenario_file), "two.toml", "captures")


def test_the_model_of_2011_cannot_be_captured(command: Command, scenario_file: Path) -> None:
    done = command("run", scenario_file, "--set", "stack=legacy-2011", "--set", "transfer.bytes=1 MB", "--pcap", "caps")
    refused(done, "2011", "no bytes")


def test_a_trace_does_not_overwrite_the_scenario(command: Command, scenario_file: Path) -> None:
    refused(command("run", scenario_file, "--trace", "./two.toml"), "two.toml", "overwrite")
    assert scenario_file.read_text(encoding="utf-8") == TWO_PATHS


@pytest.mark.parametrize("verb", ["plot", "replay", "compare"])
def test_a_directory_that_is_no_result_is_refused(command: Command, scenario_file: Path, verb: str) -> None:
    for directory in (scenario_file.parent, scenario_file, scenario_file.parent / "none"):
        arguments = (directory, directory) if verb == "compare" else (directory,)
        refused(command(verb, *arguments), str(directory))


def test_a_damaged_result_is_refused(command: Command, result: Path) -> None:
    whole = (result / "subflows.parquet").read_bytes()
    for damage in (whole[: len(whole) // 2], b"", b"PAR1" + bytes(1000)):
        (result / "subflows.parquet").write_bytes(damage)
        refused(command("plot", result), "subflows.parquet")
    (result / "subflows.parquet").write_bytes(whole)
    (result / "summary.json").write_text("{", encoding="utf-8")
    refused(command("replay", result), str(result))


def test_a_traceback_appears_only_with_debug(command: Command, here: Path) -> None:
    for arguments in (("--debug", "run", "none.toml"), ("run", "none.toml", "--debug")):
        done = command(*arguments)
        assert done.status == 2
        assert "Traceback (most recent call last)" in done.err
        assert done.err.splitlines()[-1] == "none.toml: no such file or directory"


def test_a_fault_of_the_program_is_called_one(
    command: Command, scenario_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("anabranch.cli.run.answer", lambda *_: 1 // 0)
    done = command("run", scenario_file)
    assert done.status == 1
    assert len(done.err.splitlines()) == 2
    assert done.err.startswith("internal error: ZeroDivisionError")
