"""Sweeps on a cluster: real worker processes on this machine."""

import os
import pickle
import queue
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import anabranch as ab
from anabranch.execution.optional_deps import ClusterError
from anabranch.sweeps import cluster, plan
from anabranch.sweeps.plan import Options
from anabranch.sweeps.task import Record, Task
from helpers import Command

distributed = pytest.importorskip("distributed")

BASE = ab.Scenario.two_path("5 Mbit/s, 20 ms, loss 1 %", "2 Mbit/s, 10 ms", transfer="300 kB")
AXES: Any = {"recovery": ["none", "dsack", "eiffel"], "path.1.delay": ["10 ms", "80 ms"]}
ASIDE = ["wall_s", "machine"]


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """A scheduler, and two workers of one thread, each a process that is started again when it dies."""
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with distributed.LocalCluster(**options) as local, distributed.Client(local, set_as_default=False) as client:
        yield client


def same(found: ab.Sweep, wanted: ab.Sweep) -> None:
    pd.testing.assert_frame_equal(found.runs.drop(columns=ASIDE), wanted.runs.drop(columns=ASIDE))
    pd.testing.assert_frame_equal(found.subflows, wanted.subflows)


def test_a_cluster_gives_the_same_rows_as_this_process(client: Any, tmp_path: Path) -> None:
    wanted = ab.sweep(BASE, AXES, seeds=10)
    same(ab.Plan.of(BASE, AXES, seeds=10).run(client=client, out=tmp_path / "kept"), wanted)
    same(ab.Sweep.load(tmp_path / "kept"), wanted)


# 200 runs; after 20 one of the two workers is killed in the middle of a batch.
def test_a_worker_that_is_killed_costs_no_row(client: Any, tmp_path: Path) -> None:
    pids = set(client.run(os.getpid).values())
    victim = min(pids)
    killed = threading.Event()

    def kill(state: Any) -> None:
        if state.done >= 20 and not killed.is_set():
            killed.set()
            os.kill(victim, signal.SIGKILL)

    swept = ab.sweep(BASE, AXES, seeds=50, client=client, out=tmp_path / "kept", progress=kill)
    assert killed.is_set()
    same(swept, ab.sweep(BASE, AXES, seeds=50))
    client.wait_for_workers(2)
    assert victim not in client.run(os.getpid).values()


def test_the_command_uses_a_cluster(client: Any, command: Command, here: Path) -> None:
    (here / "base.toml").write_text(BASE.toml, encoding="utf-8")
    (here / "sweep.toml").write_text('scenario = "base.toml"\nseeds = 3\naxes = { mss = [700, 1400] }\n', "utf-8")
    address = client.scheduler.address
    there = command("sweep", "sweep.toml", "--dask", address, "--csv")
    local = command("sweep", "sweep.toml", "--csv")
    assert (there.status, there.err) == (0, "")
    found, wanted = ([line.split(",")[:6] for line in done.out.splitlines()] for done in (there, local))
    assert found == wanted


TRACED = """
transfer = { bytes = "100 kB" }
path = [{ trace = "lte.trace" }, { rate = "2 Mbit/s", delay = "10 ms", loss = "1 %" }]
"""
STAMPS = "".join(f"{3 * i}\n" for i in range(400))


# The workers were started in another directory, and the files are gone before the first run.
@pytest.mark.parametrize(
    "axes",
    [{"mss": [700, 1400]}, {"path.0.trace": ["lte.trace", "slow.trace"]}, {"path.0": ['{ trace = "slow.trace" }']}],
)
def test_what_a_scenario_names_travels_with_it(client: Any, here: Path, axes: Any) -> None:
    for name in ("lte", "slow"):
        (here / f"{name}.trace").write_text(STAMPS + ("" if name == "lte" else "9000\n"), encoding="utf-8")
    (here / "base.toml").write_text(TRACED, encoding="utf-8")
    plan = ab.Plan.of(ab.Scenario.load("base.toml"), axes, seeds=2)
    wanted = plan.run()
    (here / "lte.trace").unlink()
    (here / "slow.trace").unlink()
    done = plan.run(client=client, out="kept")
    assert done.runs["status"].eq("completed").all()
    same(done, wanted)
    assert done.runs[next(iter(axes))].tolist() == [label for label in axes[next(iter(axes))] for _ in range(2)]
    # Whoever has the folder has all of it.
    again = ab.Sweep.load("kept").plan
    assert [cell.scenario.check() for cell in again.cells] == [cell.scenario.check() for cell in plan.cells]
    same(again.run(), wanted)


def test_the_code_of_an_algorithm_travels_with_its_runs(client: Any, here: Path) -> None:
    (here / "rank_of_a_test.py").write_text("def rank(path):\n    return -path.srtt_ns\n", encoding="utf-8")
    (here / "mine.py").write_text(
        "import anabranch as ab\nfrom rank_of_a_test import rank\n\n\nclass Mine(ab.Scheduler):\n"
        "    def pick(self, offer):\n"
        "        able = [i for i, p in enumerate(offer.paths) if p.can_send]\n"
        "        return min(able, key=lambda i: rank(offer.paths[i]))\n",
        encoding="utf-8",
    )
    base = BASE.set("connection.receive_buffer", "60 kB")
    plan = ab.Plan.of(base, {"scheduler": ["mine.py:Mine", "min-rtt"]}, seeds=2)
    (here / "mine.py").unlink()
    (here / "rank_of_a_test.py").unlink()
    done = plan.run(client=client)
    assert done.runs["status"].eq("completed").all(), done.runs["error"].tolist()
    same(done, plan.run())
    assert done.runs["trace_sha256"].nunique() == 4


def test_a_scenario_on_its_own_travels_too(client: Any, here: Path) -> None:
    (here / "lte.trace").write_text(STAMPS, encoding="utf-8")
    (here / "base.toml").write_text(TRACED, encoding="utf-8")
    scenario = ab.Scenario.load("base.toml")
    wanted = scenario.run(3).summary["trace_sha256"]
    runs = client.gather(client.map(scenario.run, [3, 3], pure=False))
    assert [run.summary["trace_sha256"] for run in runs] == [wanted] * 2
    assert pickle.loads(pickle.dumps(BASE)) == BASE


def test_a_worker_with_another_engine_is_refused(client: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    other = plan.Engine("9.9.9", "abc1234", "")
    monkeypatch.setattr(cluster, "engine", lambda: other)
    with pytest.raises(ClusterError, match=r"worker tcp://\S+ has anabranch version .*, this is version 9\.9\.9"):
        ab.sweep(BASE, {}, seeds=3, client=client)
    # One that joins later is found out by its first batch.
    monkeypatch.setattr(cluster, "_examine", lambda *_: None)
    with pytest.raises(ClusterError, match=r"has anabranch version .*, this is version 9\.9\.9"):
        ab.sweep(BASE, {}, seeds=3, client=client, out=tmp_path / "kept")
    monkeypatch.undo()
    assert len(ab.sweep(BASE, {}, seeds=3, client=client, out=tmp_path / "kept")) == 3


def test_where_no_scheduler_is_the_command_says_so(
    command: Command, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "_PATIENCE", 0.2)
    (here / "base.toml").write_text(BASE.toml, encoding="utf-8")
    (here / "sweep.toml").write_text('scenario = "base.toml"\n', encoding="utf-8")
    done = command("sweep", "sweep.toml", "--dask", "tcp://127.0.0.1:9")
    assert (done.status, done.out) == (2, "")
    assert "tcp://127.0.0.1:9: no Dask scheduler answers there" in done.err
    for text in ("scheduler", "", "tcp://scheduler", "127.0.0.1:port"):
        done = command("sweep", "sweep.toml", "--dask", text)
        assert (done.status, done.out) == (2, "")
        assert done.err == f"{text!r} is not the address of a Dask scheduler; write tcp://HOST:8786\n"


class Future:
    """A batch of a cluster that makes it when it is asked."""

    def __init__(self, give: Callable[[], Any], *, ends: bool) -> None:
        self.give = give
        self.ends = ends

    def add_done_callback(self, call: Callable[[Any], None]) -> None:
        if self.ends:
            call(self)

    def result(self) -> Any:
        return self.give()


class Imitation:
    """A cluster of one thread that takes 10 ms of its own time for a run, and dies of runs with seed 13."""

    def __init__(self, *, ends: bool = True) -> None:
        self.ends = ends
        self.batches: list[list[int]] = []
        self.cancelled = 0

    def nthreads(self) -> dict[str, int]:
        return {"worker": 1}

    def run(self, function: Callable[[], str]) -> dict[str, str]:
        return {"worker": function()}

    def cancel(self, futures: list[Future]) -> None:
        self.cancelled += len(futures)

    def submit(self, _: Any, batch: list[Task], options: Options, wanted: str, *, pure: bool) -> Future:
        assert not pure
        seeds = [task.seed for task in batch]
        self.batches.append(seeds)

        def give() -> Any:
            if 13 in seeds:
                raise distributed.KilledWorker
            made = [Record("", task.scenario_sha256, task.seed, "completed", "", wanted, "", "") for task in batch]
            return cluster._Done(made, 0.01 * len(batch), wanted, "worker")

        return Future(give, ends=self.ends)


def ignore(_: object) -> None:
    """Keep nothing."""


def tasks(n: int) -> Iterator[Task]:
    return (Task("", "", seed, BASE, "") for seed in range(n))


def test_batches_grow_to_a_second_of_work() -> None:
    imitation = Imitation()
    found = [
        r
        for part in cluster.records((t for t in tasks(1000) if t.seed != 13), Options(), imitation, ignore)
        for r in part
    ]
    assert sorted(record.seed for record in found) == [seed for seed in range(1000) if seed != 13]
    sizes = [len(batch) for batch in imitation.batches]
    assert sizes[:2] == [1, 1]
    assert max(sizes) == 100
    assert len(sizes) < 30


def test_whoever_waits_hears_something_within_half_a_second() -> None:
    class Finished:
        """A queue in which nothing arrives."""

        waited = 0.0

        def get(self, timeout: float) -> Any:
            self.waited += timeout
            raise queue.Empty

    finished: Any = Finished()
    assert list(cluster._taken(finished)) == []
    assert 0 < finished.waited <= 0.5


def test_a_run_that_workers_die_of_is_a_failed_row_and_its_neighbours_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    class KilledWorker(Exception):  # noqa: N818 - as it is called there
        last_worker = type("Worker", (), {"address": "tcp://there:1"})

    monkeypatch.setattr(distributed, "KilledWorker", KilledWorker)
    imitation = Imitation()
    found = {r.seed: r for part in cluster.records(tasks(100), Options(), imitation, ignore) for r in part}
    assert sorted(found) == list(range(100))
    assert [seed for seed, record in found.items() if record.status != "completed"] == [13]
    assert found[13].error.startswith("worker: every worker that was given this run died (tcp://there:1)")


def test_an_early_end_takes_back_what_was_handed_out() -> None:
    imitation = Imitation(ends=False)
    made = cluster.records(tasks(100), Options(), imitation, ignore)
    assert next(made) == []
    made.close()
    assert (len(imitation.batches), imitation.cancelled) == (2, 2)
