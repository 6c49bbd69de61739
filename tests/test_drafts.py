"""`--trace`, `--pcap`, `--qlog`: files appear whole or not at all, whatever ends the process."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import anabranch as ab
from anabranch.results import drafts
from helpers import Command

pytestmark = [
    pytest.mark.usefixtures("no_figures"),
    pytest.mark.skipif(sys.platform == "win32", reason="signals and links as POSIX has them"),
]

ENDLESS = """
duration = "1000 h"
[transfer]
duration = "999 h"
[[path]]
rate = "1 Gbit/s"
"""
SHORT = """
[transfer]
bytes = "20 kB"
[[path]]
rate = "5 Mbit/s"
"""
HEAD = "         time_s event   conn host"
RUN = [sys.executable, "-m", "anabranch", "run"]


@pytest.fixture
def place(here: Path) -> Path:
    (here / "endless.toml").write_text(ENDLESS, encoding="utf-8")
    (here / "short.toml").write_text(SHORT, encoding="utf-8")
    return here


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir() if entry.suffix != ".toml")


def began(process: "subprocess.Popen[str]", folder: Path, pattern: str) -> Path:
    """The draft that a process writes, once it has grown."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        assert process.poll() is None, process.communicate()
        for draft in folder.glob(pattern):
            if draft.stat().st_size > 1000:
                return draft
        time.sleep(0.01)
    raise AssertionError(f"no draft {pattern}")


def started(folder: Path, *arguments: str) -> "subprocess.Popen[str]":
    return subprocess.Popen([*RUN, *arguments], cwd=folder, stderr=subprocess.PIPE, text=True)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("option", ["--trace", "--pcap"])
def test_a_signal_leaves_the_older_file_and_no_part_of_a_new_one(place: Path, number: int, option: str) -> None:
    ab.Scenario.load("short.toml").run(trace="kept", pcap="kept.d")
    before = {file: file.read_bytes() for file in (Path("kept"), *Path("kept.d").iterdir())}
    target, pattern = ("kept", ".kept.*.partial") if option == "--trace" else ("kept.d", "kept.d/.files.*.partial/*")
    process = started(place, "endless.toml", option, target)
    began(process, place, pattern)
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (128 + number, "interrupted: nothing was written\n")
    assert {file: file.read_bytes() for file in (Path("kept"), *Path("kept.d").iterdir())} == before
    assert names(place) == ["kept", "kept.d"]


@pytest.mark.parametrize("option", ["--trace", "--pcap"])
def test_the_draft_of_a_killed_process_is_removed_by_the_next_run_and_no_other(
    place: Path, command: Command, option: str
) -> None:
    target, folder = ("events", place) if option == "--trace" else ("caps", place / "caps")
    name = "events" if option == "--trace" else "files"
    process = started(place, "endless.toml", option, target)
    began(process, folder, f".{name}.*.partial{'' if option == '--trace' else '/*'}")
    process.kill()
    process.communicate()
    (dead,) = folder.glob(".*.partial")
    foreign = [
        f".{name}.{os.getpid()}.{drafts._machine()}01234567.partial",  # of a process that runs
        f".{name}.{process.pid}.0123456701234567.partial",  # of another machine
        f".{name}.{process.pid}.backup.partial",  # of another program
        f".other.{process.pid}.{drafts._machine()}01234567.partial",
    ]
    for each in foreign:
        (folder / each).touch()
        os.utime(folder / each, (0, 0))
    assert command("run", "short.toml", option, target).status == 0
    assert not dead.exists()
    assert {entry.name for entry in folder.glob(".*")} == set(foreign)


@pytest.mark.parametrize(("option", "what"), [("--trace", "a trace"), ("--pcap", "a capture"), ("--qlog", "a qlog")])
def test_only_a_file_that_begins_as_ours_is_replaced_without_force(
    place: Path, command: Command, option: str, what: str
) -> None:
    ab.Scenario.load("short.toml").run(pcap="source")
    first = ["analyze", "source/client-0.pcapng"] if option == "--qlog" else ["run", "short.toml"]
    target = "caps" if option == "--pcap" else "file"
    written = place / ("caps/client-0.pcapng" if option == "--pcap" else "file")
    written.parent.mkdir(exist_ok=True)
    written.write_text("my thesis\n", encoding="utf-8")
    done = command(*first, option, target)
    assert (done.status, done.out) == (2, "")
    other = "folder" if option == "--pcap" else "file"  # the names of the files in the folder are fixed
    assert f"exists and is not {what} of Anabranch; name another {other}, or replace it with --force" in done.err
    assert written.read_text("utf-8") == "my thesis\n"
    assert command(*first, option, target, "--force").status == 0
    size = written.stat().st_size
    assert size > 100
    assert command(*first, option, target).status == 0  # ours
    written.write_bytes(b"")
    assert command(*first, option, target).status == 0  # empty
    assert written.stat().st_size == size


@pytest.mark.parametrize("option", ["--trace", "--pcap", "--qlog"])
def test_a_link_to_a_file_is_not_followed(place: Path, command: Command, option: str) -> None:
    ab.Scenario.load("short.toml").run(pcap="source")
    first = ["analyze", "source/client-0.pcapng"] if option == "--qlog" else ["run", "short.toml"]
    target = "caps" if option == "--pcap" else "file"
    link = place / ("caps/client-0.pcapng" if option == "--pcap" else "file")
    link.parent.mkdir(exist_ok=True)
    for there in (True, False):
        victim = place / f"victim-{there}"
        if there:
            victim.write_text("my thesis\n", encoding="utf-8")
        link.unlink(missing_ok=True)
        link.symlink_to(victim)
        done = command(*first, option, target)
        assert done.status == 2
        other = "name another folder" if option == "--pcap" else "name the file itself"
        assert f"a symbolic link; {other}, or replace the link with --force" in done.err
        assert command(*first, option, target, "--force").status == 0
        assert not link.is_symlink()
        assert victim.exists() is there
    assert (place / "victim-True").read_text("utf-8") == "my thesis\n"


@pytest.mark.usefixtures("no_figures")
def test_an_old_figure_that_is_a_link_does_not_lead_elsewhere(place: Path, command: Command) -> None:
    ab.Scenario.load("short.toml").run().save("result")
    (place / "victim").write_text("my thesis\n", encoding="utf-8")
    (place / "result/cwnd.svg").unlink()
    (place / "result/cwnd.svg").symlink_to(place / "victim")
    assert command("plot", "result").status == 0
    assert (place / "victim").read_text("utf-8") == "my thesis\n"


def test_standard_output_is_written_directly(place: Path) -> None:
    words = [*RUN, "short.toml", "--trace", "/dev/stdout", "--csv"]
    piped = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    with Path("out.txt").open("w") as out:
        print("before", file=out, flush=True)
        subprocess.run(words, stdout=out, text=True, check=True)
    assert piped.startswith(HEAD)
    assert "queue_drops\n" in piped
    assert Path("out.txt").read_text("utf-8") == f"before\n{piped}"
    assert names(place) == ["out.txt"]


@pytest.mark.parametrize("option", ["--trace", "--pcap"])
def test_a_pipe_is_written_directly(place: Path, option: str) -> None:
    (place / "caps").mkdir()
    pipe = place / ("caps/client-0.pcapng" if option == "--pcap" else "pipe")
    os.mkfifo(pipe)
    process = started(place, "endless.toml", option, "caps" if option == "--pcap" else "pipe")
    with pipe.open("rb") as reader:
        head = reader.read(5000)  # while the run goes on
        process.terminate()
        reader.read()
    process.communicate(timeout=60)
    assert process.returncode == 143
    assert head.startswith(HEAD.encode() if option == "--trace" else b"\x0a\x0d\x0d\x0a")
    assert pipe.is_fifo()
    assert names(place / "caps") == (["client-0.pcapng"] if option == "--pcap" else [])


LIMITED = """
import resource, signal, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
sys.argv[1:] = {words!r}
from anabranch.__main__ import main
main()
"""


def limited(*words: str) -> "subprocess.CompletedProcess[str]":
    """A command on a disk that takes 4 kB of each file."""
    code = LIMITED.format(words=list(words))
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("option", ["--trace", "--pcap", "--qlog"])
def test_a_full_disk_leaves_the_older_file_and_no_part_of_a_new_one(place: Path, option: str) -> None:
    scenario = ab.Scenario.load("short.toml").set("transfer.bytes", "500 kB")
    scenario.run(pcap="source")
    (place / "long.toml").write_text(str(scenario).replace("20 kB", "500 kB"), encoding="utf-8")
    first = ["analyze", "source/client-0.pcapng"] if option == "--qlog" else ["run", "long.toml"]
    target = "caps" if option == "--pcap" else "file"
    done = limited(*first, option, target)
    assert done.returncode == 2, done.stderr
    assert "no space left" in done.stderr or "file too large" in done.stderr.lower()
    assert ".partial" not in done.stderr
    assert names(place) == ["source"]
    kept = {"--trace": f"{HEAD}\n", "--qlog": "", "--pcap": None}[option]
    if kept is not None:
        (place / "file").write_text(kept, encoding="utf-8")
        assert limited(*first, option, target).returncode == 2
        assert (place / "file").read_text("utf-8") == kept
        assert names(place) == ["file", "source"]


def test_names_of_drafts_tell_whose_they_are() -> None:
    draft = drafts.draft_of(Path("folder/a.b.txt"))
    assert draft.parent == Path("folder")
    assert re.fullmatch(rf"\.a\.b\.txt\.{os.getpid()}\.[0-9a-f]{{16}}\.partial", draft.name)


@pytest.fixture
def gone() -> int:
    """The number of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_a_folder_of_captures_that_was_made_for_a_run_that_failed_is_removed(place: Path, gone: int) -> None:
    with pytest.raises(OSError, match="2011 model"):
        ab.Scenario.load("short.toml").set("stack", "legacy-2011").run(pcap="deep/caps")
    assert names(place) == []
    (place / f".events.{gone}.partial").touch()
    ab.Scenario.load("short.toml").run(trace="events")
    assert names(place) == ["events"]
