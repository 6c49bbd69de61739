"""Mistyped words get the nearest one; places that cannot be used are named; readers may leave; sweeps are checked."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from helpers import TWO_PATHS, Command

posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows deletes no working directory and has no /dev")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("anlyze", "x"), "no such command 'anlyze'; did you mean `analyze`?"),
        (("trace", "improt"), "no such command 'improt'; did you mean `import`?"),
        (("run", "two.toml", "--jsn"), "no such option '--jsn'; did you mean `--json`?"),
        (("--verson",), "no such option '--verson'; did you mean `--version`?"),
        (("list", "linkz"), "; did you mean `link`?"),
        (("list", "Sheduler"), "; did you mean `scheduler`?"),
        (("study", "alhied-2014-aina"), "did you mean `alheid-2014-aina`?"),
        (("study", "alheid-2014-aina", "--only", "fig10"), "did you mean `fig-10`?"),
        (("list", "keys", "pth"), "did you mean `path`?"),
        (("plot", "result", "--figure", "cwdn"), "did you mean `cwnd`?"),
        (("plot", "result", "--format", "pgn"), "did you mean `png`?"),
        (("run", "two.toml", "--format", "markdwn"), "did you mean `markdown`?"),
        (("analyze", "x", "--protocol", "mtcp"), "did you mean `mptcp`?"),
        (("sweep", "sweep.toml", "--compare", "controller=couple"), "did you mean `controller=coupled`?"),
        (("compare", "sweep", "sweep", "--measure", "godput_mbps"), "did you mean `goodput_mbps`?"),
        (("plot", "sweep", "--over", "controler"), "did you mean `controller`?"),
        (("plot", "sweep", "--where", "controller=couple"), "did you mean `coupled`?"),
        (("trace", "import", "x", "--kind", "goodputs"), "did you mean 'goodput'?"),
    ],
)
def test_a_mistyped_word_gets_the_nearest(
    command: Command, result: Path, scenario_file: Path, arguments: tuple[str, ...], said: str
) -> None:
    axes = '[axes]\ncontroller = ["coupled", "uncoupled"]\n'
    Path("sweep.toml").write_text('seeds = 1\nscenario = "two.toml"\nset = { "transfer.bytes" = "9 kB" }\n' + axes)
    if arguments[1:2] == ("sweep",):
        assert command("sweep", "sweep.toml", "--out", "sweep", "--quiet").status == 0
    done = command(*arguments)
    assert (done.status, done.out) == (2, "")
    assert said in done.err
    assert "?;" not in done.err
    assert len(done.err.splitlines()) <= 2


def test_a_word_that_is_like_none_gets_no_guess(command: Command) -> None:
    assert "did you mean" not in command("frobnicate").err


def test_the_help_cuts_no_line_about_a_command(command: Command) -> None:
    for arguments in (("--help",), ("trace", "--help")):
        said = command(*arguments).out
        assert "Commands:" in said
        assert "..." not in said.partition("Commands:")[2]


@pytest.mark.parametrize("where", ["--seeds", "file", "precision"])
def test_more_seeds_than_can_be_are_refused(command: Command, scenario_file: Path, where: str) -> None:
    many = "5000000000"
    words = {"file": many, "precision": f'"until 1 %, at most {many}"'}.get(where, "2")
    axes = '[axes]\ncontroller = ["coupled", "uncoupled"]\n'
    Path("sweep.toml").write_text(f'seeds = {words}\nscenario = "two.toml"\n{axes}', encoding="utf-8")
    for verb in ("sweep",) if where == "--seeds" else ("sweep", "check"):
        done = command(verb, "sweep.toml", *(["--seeds", many] if where == "--seeds" else []))
        assert (done.status, done.out, len(done.err.splitlines())) == (2, "", 1)
        assert done.err.startswith("--seeds 5000000000: " if where == "--seeds" else "sweep.toml: seeds: ")
        assert done.err.endswith("a sweep has at most 1000000 seeds\n")
    assert command("sweep", "sweep.toml", "--seeds", "9" * 5000).status == 2


def test_more_runs_than_can_be_are_refused(command: Command, scenario_file: Path) -> None:
    axes = "".join(f'"path.{p}.{key}" = [{values}]\n' for p in (0, 1) for key, values in (("weight", WEIGHTS),))
    Path("sweep.toml").write_text(f'seeds = 1000000\nscenario = "two.toml"\n[axes]\n{axes}', encoding="utf-8")
    done = command("sweep", "sweep.toml")
    assert (done.status, len(done.err.splitlines())) == (2, 1)
    assert "1000000 seeds of 400 cells are 400000000 runs; a sweep has at most 100000000; take fewer seeds" in done.err


WEIGHTS = ", ".join(str(i) for i in range(1, 21))


def test_captures_into_a_file_are_refused_before_the_run(command: Command, scenario_file: Path) -> None:
    for target in ("two.toml", "two.toml/caps"):
        done = command("run", "two.toml", "--pcap", target)
        assert (done.status, done.out, len(done.err.splitlines())) == (2, "", 1)
        assert done.err.startswith(f"--pcap {target}: ")
        assert done.err.endswith("captures need a folder: name another one\n")
    assert Path("two.toml").read_text(encoding="utf-8") == TWO_PATHS


def in_a_deleted_directory(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command where its working directory is deleted just before it begins."""
    gone = folder / "gone"
    gone.mkdir(exist_ok=True)
    code = f"""
import os, sys
os.chdir({str(gone)!r}); os.rmdir({str(gone)!r})
sys.argv[1:] = {list(arguments)!r}
from anabranch.__main__ import main
main()
"""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


@posix
@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "{}/two.toml", "--out", "out"),
        ("run", "two.toml"),
        ("run", "{}/two.toml", "--trace", "events.txt"),
        ("run", "{}/two.toml", "--pcap", "caps"),
        ("sweep", "{}/sweep.toml", "--out", "out"),
        ("analyze", "x.pcap", "--out", "out"),
        ("plot", "out"),
    ],
)
def test_a_deleted_working_directory_is_told(scenario_file: Path, arguments: tuple[str, ...]) -> None:
    folder = scenario_file.parent
    (folder / "sweep.toml").write_text('seeds = 1\nscenario = "two.toml"\n[axes]\ncontroller = ["coupled"]\n')
    done = in_a_deleted_directory(folder, *(argument.format(folder) for argument in arguments))
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1)
    assert done.stderr.endswith("the working directory was deleted: change to one that exists\n")


@posix
def test_what_needs_no_working_directory_does_its_work(scenario_file: Path) -> None:
    done = in_a_deleted_directory(scenario_file.parent, "check", str(scenario_file))
    assert (done.returncode, done.stderr) == (0, "")


@posix
@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "two.toml", "--trace", "/dev/stdout"),
        ("run", "two.toml", "--trace", "/dev/fd/1", "--quiet"),
        ("run", "two.toml", "--csv"),
        ("list", "--long"),
    ],
)
def test_a_reader_that_leaves_ends_the_command_silently(scenario_file: Path, arguments: tuple[str, ...]) -> None:
    reader, writer = os.pipe()
    process = subprocess.Popen([sys.executable, "-m", "anabranch", *arguments], stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    os.read(reader, 1)
    os.close(reader)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, b"")


def test_a_sweep_is_checked(command: Command, scenario_file: Path) -> None:
    axes = '[axes]\ncontroller = ["coupled", "uncoupled", "cubic"]\n"path.1.delay" = ["10 ms", "20 ms"]\n'
    Path("sweep.toml").write_text(f'seeds = 3\nscenario = "two.toml"\n{axes}', encoding="utf-8")
    done = command("check", "sweep.toml")
    assert (done.status, done.err) == (0, "")
    first, *rest = done.out.splitlines()
    assert first.startswith("sweep.toml: valid: 6 cells, 3 seeds, 18 runs, ")
    assert rest[:2] == ["controller: coupled, uncoupled, cubic", "path.1.delay: 10 ms, 20 ms"]
    told = json.loads(command("check", "sweep.toml", "--json").out)
    assert (told["cells"], told["seeds"], told["runs"], told["refused"]) == (6, [1, 2, 3], 18, [])
    assert told["estimate"]["seconds"] > 0
    assert command("check", "sweep.toml", "--set", "seed=1").status == 2
    assert command("check", "sweep.toml", "--expand").status == 2
    Path("sweep.toml").write_text(f'sedes = 3\nscenario = "two.toml"\n{axes}', encoding="utf-8")
    done = command("check", "sweep.toml")
    assert (done.status, done.out) == (2, "")
    assert 'did you mean "seeds"?' in done.err


def test_the_printed_sweep_runs(command: Command, here: Path) -> None:
    Path("my.toml").write_text(command("new", "--sweep").out, encoding="utf-8")
    assert "8 cells, 5 seeds, 40 runs" in command("check", "my.toml").out
    done = command("sweep", "my.toml", "--seeds", "1")
    assert (done.status, "failed" in done.out or "refused" in done.out) == (0, False)
    assert "round-robin" in done.out
