"""What a sweep leaves on disk when something ends it: a kill, a full disk, a loss of power, another process."""

import contextlib
import errno
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import anabranch as ab
from anabranch import _core
from anabranch.sweeps import dataset, piece
from anabranch.sweeps.data import SweepData
from anabranch.sweeps.store import Store
from anabranch.sweeps.task import Record
from helpers import Command, rewrite

BASE = ab.Scenario.two_path("5 Mbit/s, 20 ms, loss 1 %", "2 Mbit/s, 10 ms", transfer="300 kB")
SWEEP = """
seeds = 100
[scenario]
transfer = { bytes = "300 kB" }
path = [{ rate = "5 Mbit/s", delay = "20 ms", loss = "1 %" }, { rate = "2 Mbit/s", delay = "10 ms" }]
[axes]
recovery = ["none", "dsack", "eifel"]
"""
# Forks a process for each line: the command, with pieces of 60 runs, and a note of every run the moment it is finished.
NURSERY = """
import os, sys, time
import fastparquet, pandas
from anabranch.cli import run_command
from anabranch.sweeps import dataset, threads

dataset.ROWS = 60
perform, notes = threads.perform, os.open("notes", os.O_WRONLY | os.O_CREAT | os.O_APPEND)

def noted(*arguments):
    record = perform(*arguments)
    os.write(notes, f"{record.key} {time.time()}\\n".encode())
    return record

threads.perform = noted
print("ready", flush=True)
for line in sys.stdin:
    child = os.fork()
    if child == 0:
        os._exit(run_command(line.split()))
    print(child, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
ASIDE = ["wall_s", "machine"]
ENGINE = _core.run
pytestmark = pytest.mark.usefixtures("no_figures")
posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no fork and no file-size limits")


class Nursery:
    """Processes that run the command in `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __enter__(self) -> "Nursery":
        self.process: Any = subprocess.Popen(
            [sys.executable, "-c", NURSERY], cwd=self.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self.answer() == "ready"
        return self

    def __exit__(self, *_: object) -> None:
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()

    def answer(self) -> str:
        return str(self.process.stdout.readline()).strip()

    def start(self, command: str) -> int:
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        return int(self.answer())

    def run(self, command: str) -> int:
        self.start(command)
        return int(self.answer())

    def run_and_kill(self, command: str, *, began: bool, after: float) -> tuple[int, float]:
        """Kill it after a time, which counts from the first run that it finishes if that is what `began` says.

        Returns the status, and when it was killed: a busy machine may tell of the death much later.
        """
        notes = self.folder / "notes"
        before = notes.stat().st_size
        child = self.start(command)
        patience = time.monotonic() + 5
        while began and notes.stat().st_size == before and time.monotonic() < patience:
            time.sleep(0.002)
        time.sleep(after)
        killed = time.time()
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        return int(self.answer()), killed


def same(found: SweepData, wanted: SweepData) -> None:
    pd.testing.assert_frame_equal(found.runs.drop(columns=ASIDE), wanted.runs.drop(columns=ASIDE))
    pd.testing.assert_frame_equal(found.subflows, wanted.subflows)


def one_row_a_run(folder: Path) -> None:
    rows = dataset.read_runs(folder, dataset.IDENTITY).astype(str)
    assert not rows.duplicated().any()


# Opening ---- runs ... piece ... runs ... KILL: all that was finished before KILL - 1 s is there; then the same again.
@posix
@pytest.mark.parametrize(("kills", "seeds"), [(3, 120), pytest.param(50, 3000, marks=pytest.mark.long)])
def test_a_kill_loses_at_most_a_second_and_the_end_is_the_same(here: Path, kills: int, seeds: int) -> None:
    (here / "sweep.toml").write_text(SWEEP.replace("seeds = 100", f"seeds = {seeds}"), encoding="utf-8")
    undisturbed = ab.Plan.read("sweep.toml").run(workers=2, out="undisturbed")
    chance = random.Random(kills)
    killed, lengths = 0, set()
    kept_before: set[str] = set()
    with Nursery(here) as nursery:
        for i in range(kills):
            start = time.time()
            status, now = nursery.run_and_kill(
                "sweep sweep.toml --out kept --workers 2 --quiet", began=i % 3 > 0, after=chance.uniform(0, 0.15)
            )
            killed += status == -signal.SIGKILL
            if (here / "kept" / "provenance.json").exists():
                there = set(ab.Sweep.load("kept").runs["key"])
                notes = [line.split() for line in (here / "notes").read_text(encoding="utf-8").splitlines()]
                # What an earlier kill cost may not have been made again yet.
                assert {key for key, at in notes if start < float(at) < now - 1} | kept_before <= there
                kept_before = there
                lengths.add(len(there))
        assert killed > kills / 2
        assert len(lengths) > kills / 3
        assert nursery.run("sweep sweep.toml --out kept --workers 2 --quiet") == 0
    kept = ab.Sweep.load("kept")
    assert len(kept) == 3 * seeds
    same(kept, undisturbed)
    one_row_a_run(here / "kept")
    assert list((here / "kept" / "runs").glob("*.jsonl")) == []


class Dead(BaseException):
    """The process ends here."""


def at_once(journal: dataset.Journal, number: int, rows: list[Record]) -> None:
    """Write a piece without another thread."""
    dataset._write_piece(journal.folder, f"{number:06}.parquet", rows)
    journal._path(number).unlink()


# Every file that is renamed into place, of opening, two pieces and the end, is once the last thing the process does,
# just before and just after.
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_no_moment_between_two_files_matters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: bool) -> None:
    whole = piece.write_whole
    wanted = ab.sweep(BASE, {"mss": [700, 1400]}, seeds=2)
    monkeypatch.setattr(dataset, "ROWS", 2)
    monkeypatch.setattr(dataset.Journal, "_hand_over", at_once)
    finished, at, count = False, 0, 0

    def dying(path: Path, content: bytes) -> None:
        nonlocal count
        count += 1
        if count == at and not after:
            raise Dead
        whole(path, content)
        if count == at:
            raise Dead

    while not finished:
        at, count = at + 1, 0
        folder = tmp_path / f"{at}"
        for module in ("piece", "store"):
            monkeypatch.setattr(f"anabranch.sweeps.{module}.write_whole", dying)
        try:
            ab.sweep(BASE, {"mss": [700, 1400]}, seeds=2, out=folder, workers=1)
            finished = True
        except Dead:
            pass
        for module in ("piece", "store"):
            monkeypatch.setattr(f"anabranch.sweeps.{module}.write_whole", whole)
        done = ab.sweep(BASE, {"mss": [700, 1400]}, seeds=2, out=folder, workers=1)
        same(done, wanted)
        one_row_a_run(folder)
    assert at > 8


def test_a_line_that_was_being_written_is_not_a_run(tmp_path: Path) -> None:
    store = opened(tmp_path / "kept")
    store.append([record(seed) for seed in (1, 2)])
    store.close()
    (journal,) = (tmp_path / "kept" / "runs").glob("*.jsonl")
    whole = journal.read_bytes()
    for torn in (whole[:-1], whole[: len(whole) // 2 + 20], whole + b"\0" * 4096, whole + b'["key", "sha'):
        journal.write_bytes(torn)
        again = opened(tmp_path / "kept")
        n = 1 if len(torn) < len(whole) else 2
        assert len(again.statuses) == n
        again.append([record(seed) for seed in range(n + 1, 4)])
        assert len(again.sweep()) == 3
        again.close()
        assert len(opened_and_closed(tmp_path / "kept").statuses) == 3
        journal.write_bytes(whole)


def opened(folder: Path) -> Store:
    return Store.open(folder, ab.Plan.of(BASE, {}, seeds=3))


def opened_and_closed(folder: Path) -> Store:
    store = opened(folder)
    store.close()
    return store


def record(seed: int) -> Record:
    cell = ab.Plan.of(BASE, {}, seeds=3).cells[0]
    summary = json.dumps(BASE.run(seed).summary)
    return Record(cell.key(seed), cell.sha256, seed, "completed", "", "e", "m", summary)


def test_a_full_disk_loses_nothing_that_was_finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.write
    room = 20_000

    def write(file: int, octets: bytes) -> int:
        nonlocal room
        if room <= 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        part = octets[:room]
        room -= len(part)
        return real(file, part)

    monkeypatch.setattr("anabranch.sweeps.dataset.os.write", write)
    with pytest.raises(OSError, match="no space left") as said:
        ab.sweep(BASE, {"mss": [700, 1400]}, seeds=30, out=tmp_path / "kept")
    assert said.value.filename == str(tmp_path / "kept")
    monkeypatch.setattr("anabranch.sweeps.dataset.os.write", real)
    before = ab.Sweep.load(tmp_path / "kept").runs
    assert 0 < len(before) < 60
    done = ab.sweep(BASE, {"mss": [700, 1400]}, seeds=30, out=tmp_path / "kept")
    assert set(before["key"]) <= set(done.runs["key"])
    same(done, ab.sweep(BASE, {"mss": [700, 1400]}, seeds=30))


@posix
def test_the_command_says_that_the_disk_is_full_and_goes_on_when_it_is_not(command: Command, here: Path) -> None:
    import resource

    def small() -> None:  # no file may grow beyond that: writing more gives EFBIG
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    (here / "sweep.toml").write_text(SWEEP, encoding="utf-8")
    arguments = ["sweep", "sweep.toml", "--out", "kept", "--seeds", "30"]
    stopped = subprocess.run(
        [sys.executable, "-m", "anabranch", *arguments], capture_output=True, text=True, check=False, preexec_fn=small
    )
    kept = len(ab.Sweep.load("kept"))
    assert (stopped.returncode, stopped.stdout) == (2, "")
    assert 0 < kept < 90
    assert (
        stopped.stderr
        == f"kept: no space left; {kept} of 90 runs are kept in kept; the same command continues from there\n"
    )
    assert command(*arguments, "--quiet").err == ""
    assert len(ab.Sweep.load("kept")) == 90


def test_a_directory_that_cannot_be_written_is_named(
    command: Command, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "sweep.toml").write_text(SWEEP, encoding="utf-8")
    (here / "file").write_text("")
    assert command("sweep", "sweep.toml", "--out", "file/kept").err == "file/kept: not a directory\n"

    def denied(*_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", "kept/.sweep.json.12ab.partial")

    monkeypatch.setattr(Path, "mkdir", denied)
    done = command("sweep", "sweep.toml", "--out", "kept")
    assert (done.status, done.out, done.err) == (2, "", "kept: permission denied\n")


@posix
def test_two_processes_do_not_write_to_one_directory(tmp_path: Path) -> None:
    store = opened(tmp_path / "kept")
    with pytest.raises(ab.ResultError, match="another process is making runs there"):
        opened(tmp_path / "kept")
    store.close()
    opened(tmp_path / "kept").close()


def test_a_sweep_can_be_read_while_it_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dataset, "ROWS", 2)
    store = opened(tmp_path / "kept")
    for seed in (1, 2, 3):
        store.append([record(seed)])
        assert ab.Sweep.load(tmp_path / "kept").runs["seed"].tolist() == list(range(1, seed + 1))
    store.close()


def failing(monkeypatch: pytest.MonkeyPatch, seeds: Sequence[int], reason: str) -> list[int]:
    """Let runs with `seeds` fail; gives the list of the seeds that are run."""
    made = list[int]()

    def run(*arguments: Any) -> object:
        made.append(arguments[3])
        if arguments[3] in seeds:
            raise _core.RunError(reason)
        return ENGINE(*arguments)

    monkeypatch.setattr(_core, "run", run)
    return made


def test_failed_runs_are_tried_again_unless_they_are_to_be_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command
) -> None:
    (tmp_path / "sweep.toml").write_text(SWEEP.replace('"dsack", ', ""), "utf-8")
    arguments = ("sweep", tmp_path / "sweep.toml", "--seeds", "3", "--out", tmp_path / "kept", "--quiet")
    failing(monkeypatch, [2], "timeout: not done after 1s")
    assert command(*arguments).status == 1
    first = ab.Sweep.load(tmp_path / "kept").runs
    assert first["status"].tolist() == ["completed", "failed", "completed"] * 2
    assert first["error"][1] == "timeout: not done after 1s"
    made = failing(monkeypatch, [], "")
    assert command(*arguments, "--resume", "--keep-failed").status == 1
    assert made == []
    assert command(*arguments, "--resume").status == 0
    assert made == [2, 2]
    again = ab.Sweep.load(tmp_path / "kept").runs
    assert again["status"].tolist() == ["completed"] * 6
    one_row_a_run(tmp_path / "kept")


def test_runs_of_another_version_are_kept_if_that_is_allowed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "kept"
    store = opened(folder)
    store.append([record(1)._replace(engine="version 0.0.1 (abc)", key="old")])
    store.close()
    rewrite(folder / "provenance.json", version="0.0.1", commit="abc", build="")
    with pytest.raises(ab.ResultError, match=r"by version 0\.0\.1 \(abc\), this is version(.|\n)*--allow-mixed"):
        ab.sweep(BASE, {}, seeds=3, out=folder)
    seeds = failing(monkeypatch, [], "")
    mixed = ab.sweep(BASE, {}, seeds=3, out=folder, allow_mixed=True)
    assert sorted(seeds) == [2, 3]
    assert mixed.runs["engine"].tolist() == ["version 0.0.1 (abc)", *[str(mixed.provenance.engine)] * 2]
    assert mixed.provenance.earlier == ("version 0.0.1 (abc)",)
    assert ab.sweep(BASE, {}, seeds=3, out=folder).provenance.earlier == ("version 0.0.1 (abc)",)


def test_two_names_of_one_scenario_are_run_once_and_shown_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = failing(monkeypatch, [], "")
    axes: Any = {"a": {"plain": {}, "said": {"mss": 1400}, "other": {"mss": 700}}}
    done = ab.sweep(BASE, axes, seeds=2, out=tmp_path / "kept")
    assert len(made) == 4
    assert done.runs["a"].tolist() == ["plain", "plain", "said", "said", "other", "other"]
    assert done.runs["trace_sha256"].nunique() == 4
    assert len(done.subflows) == 12


def test_series_are_kept_if_wanted_and_thinned_out(tmp_path: Path) -> None:
    plain = ab.sweep(BASE, {"mss": [700, 1400]}, seeds=2, out=tmp_path / "kept")
    assert len(plain.series) == 0
    done = ab.sweep(BASE, {"mss": [700, 1400]}, seeds=2, out=tmp_path / "kept", series=50)
    alone = BASE.set("connection.mss", 700).run(seed=2).subflows
    one = done.series[(done.series["mss"] == 700) & (done.series["seed"] == 2)]
    times = one["t"].unique()
    assert 25 <= len(times) <= 50
    wanted = alone[alone["t"].isin(times)].reset_index(drop=True)
    pd.testing.assert_frame_equal(one[wanted.columns].reset_index(drop=True), wanted)
    one_row_a_run(tmp_path / "kept")
    same(done, plain)


# Two journals are left if a process dies while a piece is being made of the first: both are read, and sealed.
def test_runs_go_on_while_a_piece_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dataset, "ROWS", 1)
    made, go = dataset._write_piece, threading.Event()

    def slow(*arguments: Any) -> None:
        assert go.wait(10)
        made(*arguments)

    monkeypatch.setattr(dataset, "_write_piece", slow)
    store = opened(tmp_path / "kept")
    for seed in (1, 2, 3):
        store.append([record(seed)])
    names = sorted(file.name for file in (tmp_path / "kept" / "runs").iterdir())
    assert names == [f"{n:06}.jsonl" for n in range(4)]
    assert ab.Sweep.load(tmp_path / "kept").runs["seed"].tolist() == [1, 2, 3]
    copy = tmp_path / "copy"  # as the process leaves it when it dies here
    shutil.copytree(tmp_path / "kept", copy)
    go.set()
    store.finish()
    store.close()
    left = opened(copy)
    assert len(left.statuses) == 3
    same(left.finish(), ab.Sweep.load(tmp_path / "kept"))
    left.close()
    one_row_a_run(copy)


def test_a_piece_that_cannot_be_written_is_told_and_its_runs_stay_in_the_journal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    store = opened(tmp_path / "kept")
    store.append([record(seed) for seed in (1, 2, 3)])
    monkeypatch.setattr(dataset, "_write_piece", full)
    with pytest.raises(OSError, match="no space left"):
        store.finish()
    store.close()
    monkeypatch.undo()
    assert len(ab.Sweep.load(tmp_path / "kept")) == 3
    again = opened(tmp_path / "kept")
    assert len(again.finish()) == 3
    again.close()
