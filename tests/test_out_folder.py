"""The folder of `--out`: what it replaces, who may write it, what a signal or a crash leaves."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import anabranch as ab
from anabranch.captures.report import CaptureDraft
from anabranch.diagnosis.report import DiagnosisDraft
from anabranch.results.directory import ResultError
from anabranch.runs.store import RunDraft
from helpers import TWO_PATHS, Command
from test_interrupt import ENDLESS

pytestmark = pytest.mark.usefixtures("no_figures")
posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such locks and signals")
QUICK = ("--set", "transfer.bytes=20 kB", "--quiet")


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def trace_of(folder: str) -> str:
    return str(json.loads((Path(folder) / "summary.json").read_text(encoding="utf-8"))["trace_sha256"])


def test_a_result_of_another_scenario_is_replaced_only_by_force(command: Command, scenario_file: Path) -> None:
    assert command("run", scenario_file, "--out", "out", *QUICK).status == 0
    first = trace_of("out")
    slow = ("--set", "path.1.delay=50 ms")
    done = command("run", scenario_file, "--out", "out", *QUICK, *slow)
    assert (done.status, done.out) == (2, "")
    assert (
        done.err == "out: holds the result of another scenario; choose another directory, or replace it with --force\n"
    )
    assert trace_of("out") == first
    assert command("run", scenario_file, "--out", "out", *QUICK, *slow, "--force").status == 0
    assert trace_of("out") != first


def test_the_same_scenario_is_known_whatever_its_seed_title_and_form(command: Command, scenario_file: Path) -> None:
    assert command("run", scenario_file, "--out", "out", *QUICK).status == 0
    other = TWO_PATHS.replace('"5 Mbit/s"', '"5000 kbit/s"  # a comment') + 'queue = "100 packets"\n'
    Path("other.toml").write_text(other, encoding="utf-8")
    assert command("run", "other.toml", "--seed", "7", "--set", "title=x", "--out", "out", *QUICK).status == 0
    # A link to the folder is the folder.
    Path("link").symlink_to("out")
    done = command("run", scenario_file, "--out", "link", *QUICK, "--set", "path.1.delay=50 ms")
    assert (done.status, done.err[:5]) == (2, "link:")


def test_a_stored_scenario_that_cannot_be_read_is_another(command: Command, scenario_file: Path) -> None:
    assert command("run", scenario_file, "--out", "out", *QUICK).status == 0
    for text in (b"\xff", b"[nonsense", b'[future]\nkey = "word"\n'):
        Path("out/scenario.toml").write_bytes(text)
        assert command("run", scenario_file, "--out", "out", *QUICK).status == 2
    Path("out/scenario.toml").unlink()
    assert command("run", scenario_file, "--out", "out", *QUICK).status == 2
    assert command("run", scenario_file, "--out", "out", *QUICK, "--force").status == 0


def test_a_result_of_another_format_is_an_older_result_too(command: Command, scenario_file: Path) -> None:
    assert command("run", scenario_file, "--out", "out", *QUICK).status == 0
    mark = json.loads(Path("out/provenance.json").read_text(encoding="utf-8"))
    Path("out/provenance.json").write_text(json.dumps(mark | {"format_version": 2}), encoding="utf-8")
    done = command("run", scenario_file, "--out", "out", *QUICK, "--set", "path.1.delay=50 ms")
    assert (done.status, done.err) == (
        2,
        "out: holds the result of another scenario; choose another directory, or replace it with --force\n",
    )
    assert command("run", scenario_file, "--out", "out", *QUICK).status == 0
    assert json.loads(Path("out/provenance.json").read_text(encoding="utf-8"))["format_version"] == 1


def test_an_analysis_or_a_diagnosis_of_something_else_is_replaced_only_by_force(
    command: Command, scenario_file: Path
) -> None:
    assert command("run", scenario_file, "--pcap", "caps", *QUICK).status == 0
    for verb, word in (("analyze", "analysis"), ("diagnose", "diagnosis")):
        first, second = (str(Path("caps") / f"{side}-0.pcapng") for side in ("client", "server"))
        for _ in range(2):
            assert command(verb, first, "--out", verb, "--quiet").status == 0
        done = command(verb, second, "--out", verb, "--quiet")
        assert done.status == 2
        assert done.err.startswith(f"{verb}: holds the {word} of {first}; choose another directory, or replace it")
        assert command(verb, second, "--out", verb, "--quiet", "--force").status == 0


@posix
@pytest.mark.parametrize("verb", ["run", "analyze", "diagnose"])
def test_two_commands_do_not_write_one_folder_at_once(command: Command, scenario_file: Path, verb: str) -> None:
    assert command("run", scenario_file, "--pcap", "caps", *QUICK).status == 0
    what = [str(scenario_file), *QUICK] if verb == "run" else ["caps/client-0.pcapng", "--quiet"]
    drafts = {"run": RunDraft, "analyze": CaptureDraft, "diagnose": DiagnosisDraft}
    with drafts[verb]("new/out"):
        done = command(verb, *what, "--out", "new/out")
        assert (done.status, done.out) == (2, "")
        assert done.err.startswith("new/out: another process is writing a result there; wait for it, or choose another")
        assert command(verb, *what, "--out", "new/other").status == 0
    assert command(verb, *what, "--out", "new/out").status == 0
    assert names(Path("new")) == ["other", "out"]


@posix
def test_a_killed_command_leaves_no_lock(command: Command, scenario_file: Path) -> None:
    code = """
import os, signal
from anabranch.runs.store import RunDraft
with RunDraft("out") as draft:
    open(draft._folder.joinpath("summary.json"), "w").write("{")
    os.kill(os.getpid(), signal.SIGKILL)
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == -signal.SIGKILL
    assert [entry.name for entry in Path().iterdir() if entry.name.startswith(".")] == [".out.partial"]
    assert command("run", scenario_file, "--out", "out", *QUICK).status == 0
    assert names(Path()) == ["out", "two.toml"]
    # What somebody else has there is left alone.
    Path(".mine.partial").mkdir()
    Path(".mine.partial/thesis.tex").write_text("years", encoding="utf-8")
    done = command("run", scenario_file, "--out", "mine", *QUICK)
    assert done.status == 2
    assert "holds thesis.tex; move that elsewhere" in done.err
    assert Path(".mine.partial/thesis.tex").exists()


@posix
def test_the_folder_is_free_again_after_a_refusal_and_after_an_error(scenario_file: Path) -> None:
    run = ab.Scenario.load(scenario_file).set("transfer.bytes", "20 kB").run()
    with RunDraft("out"), pytest.raises(ResultError):
        run.save("out")
    run.save("out")
    run.save("out")
    assert names(Path()) == ["out", "two.toml"]


@posix
@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_a_signal_ends_a_run_as_ctrl_c_does(tmp_path: Path, name: str) -> None:
    """The signal comes while the engine runs: the trace has begun to grow."""
    (tmp_path / "endless.toml").write_text(ENDLESS, encoding="utf-8")
    arguments = ["run", "endless.toml", "--out", "deep/out", "--trace", "events.txt"]
    number = getattr(signal, name)
    # Under nohup the tests themselves ignore SIGHUP, and a child would inherit that.
    before = signal.signal(number, signal.SIG_DFL)
    try:
        process = subprocess.Popen(
            [sys.executable, "-m", "anabranch", *arguments], cwd=tmp_path, stderr=subprocess.PIPE, text=True
        )
    finally:
        signal.signal(number, before)
    try:
        while process.poll() is None and not any(
            f.stat().st_size > 1000 for f in tmp_path.glob(".events.txt.*.partial")
        ):
            time.sleep(0.01)
        process.send_signal(number)
        _, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert (process.returncode, err) == (128 + number, "interrupted: nothing was written\n")
    assert names(tmp_path) == ["endless.toml"]


@posix
def test_nohup_keeps_a_run_alive(tmp_path: Path) -> None:
    code = "import signal, os; signal.signal(signal.SIGHUP, signal.SIG_IGN); "
    code += "from anabranch.execution import interrupt; interrupt.install(); "
    code += "os.kill(os.getpid(), signal.SIGHUP); print('alive')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "alive\n")
