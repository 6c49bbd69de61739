"""Questions in SQL, and frames of a million runs."""

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import anabranch as ab
from anabranch import _core
from anabranch.sweeps import dataset
from anabranch.sweeps.columns import COLUMNS
from anabranch.sweeps.piece import line, write_frame
from anabranch.sweeps.query import QueryError, connect, query
from anabranch.sweeps.store import _all
from helpers import Command

pytest.importorskip("duckdb")

BASE = ab.Scenario.two_path("5 Mbit/s, 20 ms, loss 1 %", "2 Mbit/s, 10 ms", transfer="100 kB")
AXES: Any = {"recovery": ["none", "dsack", "eiffel"], "path.1.delay": ["10 ms", "80 ms"]}
ENGINE = _core.run


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> ab.Sweep:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dataset, "ROWS", 7)
        return ab.sweep(BASE, AXES, seeds=4, out=tmp_path_factory.mktemp("query") / "kept")


def test_pieces_of_failed_runs_have_empty_texts_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A piece that holds nothing else has no column `aborted_by`."""
    monkeypatch.setattr(dataset, "ROWS", 2)
    test_the_tables_are_the_frames(ab.sweep(BASE, AXES, seeds=4, workers=1, out=tmp_path / "kept"))


def test_the_tables_are_the_frames(kept: ab.Sweep) -> None:
    for name, frame, order in (
        ("runs", kept.runs, ["recovery", "path.1.delay", "seed"]),
        ("subflows", kept.subflows, ["recovery", "path.1.delay", "seed", "subflow"]),
    ):
        found = kept.query(f"select * from {name}")
        assert sorted(found.columns) == sorted(frame.columns if name == "runs" else [*frame.columns, "scenario_sha256"])
        columns = list(frame.columns)
        found = found[columns].sort_values(order, ignore_index=True)
        pd.testing.assert_frame_equal(found, frame.sort_values(order, ignore_index=True), check_dtype=False)


def test_a_question_is_answered_as_the_frames_would(kept: ab.Sweep) -> None:
    asked = kept.query(
        'select recovery, "path.1.delay" as delay, avg(goodput_mbps) as mean from runs '
        "where status = 'completed' group by all order by all"
    )
    wanted = kept.means().dropna().sort_values(["recovery", "path.1.delay"])
    assert asked["mean"].tolist() == pytest.approx(wanted["mean"].tolist())
    (texts,) = kept.query("select count(*) as n from texts where summary != ''")["n"]
    assert texts == 16


def test_the_command_answers_with_a_table_or_csv(command: Command, kept: ab.Sweep) -> None:
    folder = kept.source.folder  # type: ignore[union-attr]
    question = "select status, count(*) as n from runs group by status order by n"
    assert command("query", folder, question).out.splitlines() == ["status      n", "refused     8", "completed  16"]
    assert command("query", folder, question, "--csv").out == "status,n\nrefused,8\ncompleted,16\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("KEPT", "select speed from runs"), '"speed" not found'),
        (("KEPT", ""), "the query is empty"),
        (("KEPT", "selct"), "tables: runs, subflows, cells, texts"),
        (("nowhere", "select 1"), "nowhere: no such directory"),
    ],
)
def test_a_question_that_has_no_answer_says_why(
    command: Command, kept: ab.Sweep, arguments: tuple[str, str], said: str
) -> None:
    folder = kept.source.folder  # type: ignore[union-attr]
    done = command("query", *(str(folder) if word == "KEPT" else word for word in arguments))
    assert (done.status, done.out) == (2, "")
    assert said in done.err
    assert "Traceback" not in done.err


def test_without_the_database_the_command_says_how_to_get_it(
    command: Command, kept: ab.Sweep, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)
    done = command("query", kept.source.folder, "select 1")  # type: ignore[union-attr]
    assert (done.status, done.out) == (2, "")
    # The command works in a clone, too: it names this Python, and the package itself.
    assert done.err.startswith(f"a question in SQL needs duckdb: {sys.executable} -m pip install 'duckdb>=")


# Seeds 1 to 4, of which 2 failed; then it is made again, and the process dies before the table is tidied up.
def test_of_a_run_that_was_made_again_the_last_row_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(*arguments: Any) -> object:
        if arguments[3] == 2:
            raise _core.RunError("timeout: not done after 1s")
        return ENGINE(*arguments)

    def dying(_: Path) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(dataset, "ROWS", 3)
    monkeypatch.setattr(_core, "run", run)
    ab.sweep(BASE, {}, seeds=4, out=tmp_path / "kept")
    monkeypatch.setattr(_core, "run", ENGINE)
    monkeypatch.setattr(dataset, "compact", dying)
    with pytest.raises(KeyboardInterrupt):
        ab.sweep(BASE, {}, seeds=5, out=tmp_path / "kept")
    assert len(dataset.read_runs(tmp_path / "kept")) == 6
    kept = ab.Sweep.load(tmp_path / "kept")
    assert kept.runs["status"].tolist() == ["completed"] * 5
    assert kept.query("select seed, status from runs order by seed").to_numpy().tolist() == [
        [seed, "completed"] for seed in range(1, 6)
    ]
    assert len(kept.subflows) == 10
    assert kept.query("select count(*) as n from subflows")["n"][0] == 10


def test_a_sweep_can_be_asked_of_which_all_runs_failed_at_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command
) -> None:
    def run(*_: Any) -> object:
        raise _core.RunError("timeout: not done\n  allow more")

    monkeypatch.setattr(_core, "run", run)
    ab.sweep(BASE, {}, seeds=3, out=tmp_path / "kept")
    again = ab.sweep(BASE, {}, seeds=3, out=tmp_path / "kept")
    assert again.query("select count(*) as n from subflows")["n"][0] == 0
    done = command("query", str(tmp_path / "kept"), "select seed, error from runs order by seed")
    assert done.out.splitlines()[1].split() == ["1", "timeout:", "not", "done", "allow", "more"]
    monkeypatch.setattr(_core, "run", ENGINE)
    kept = ab.sweep(BASE, {}, seeds=3, out=tmp_path / "kept")
    assert kept.query("select count(*) as n from subflows")["n"][0] == len(kept.subflows) == 6
    assert kept.query("select status from runs")["status"].tolist() == ["completed"] * 3


def test_an_unfinished_sweep_can_be_asked(tmp_path: Path) -> None:
    def stop(state: Any) -> None:
        if state.done >= 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ab.sweep(BASE, AXES, seeds=100, out=tmp_path / "kept", progress=stop, workers=1)
    assert list((tmp_path / "kept" / "runs").glob("*.parquet")) == []
    kept = ab.Sweep.load(tmp_path / "kept")
    assert kept.query("select count(*) as n from runs")["n"][0] == len(kept)


def poisoned(kept: ab.Sweep, folder: Path, name: str) -> Path:
    """A copy of a sweep of which each piece of runs has one more column, and is sealed again."""
    shutil.copytree(kept.source.folder, folder)  # type: ignore[union-attr]
    for file in dataset.pieces(folder):
        frame = dataset.opened(file).to_pandas()
        write_frame(file, frame.assign(**{name: ["text"] * len(frame)}))
    return folder


@pytest.mark.parametrize("kind", ["VARCHAR", "BOOLEAN"])
def test_a_column_that_no_sweep_has_is_refused_and_its_name_is_not_executed(
    kept: ab.Sweep, tmp_path: Path, kind: str, command: Command
) -> None:
    target = tmp_path / "written.csv"
    name = f"""a", '') as "a") from runs_parts; copy (select 1) to '{target}'; --"""
    if kind == "BOOLEAN":
        name = f"""a" is null) from runs_parts; copy (select 1) to '{target}'; --"""
    folder = poisoned(kept, tmp_path / "shared", name)
    done = command("query", str(folder), "select count(*) from runs")
    assert (done.status, done.out) == (2, "")
    assert "000000.parquet: has the column" in done.err
    assert "Traceback" not in done.err
    assert not target.exists()
    with pytest.raises(ab.ResultError, match="which no sweep has"):
        _ = ab.Sweep.load(folder).runs


def test_a_name_with_quotes_is_a_name_to_the_database(
    kept: ab.Sweep, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even if such a column were let through."""
    target = tmp_path / "written.csv"
    name = f"""a", '') as "a") from runs_parts; copy (select 1) to '{target}'; --"""
    folder = poisoned(kept, tmp_path / "shared", name)
    monkeypatch.setattr(dataset, "COLUMNS", COLUMNS | {name})
    with connect(folder) as connection:
        assert name in [column for column, *_ in connection.execute("describe runs").fetchall()]
        assert connection.execute("select count(*) from runs").fetchall() == [(len(kept),)]
    assert not target.exists()


def test_a_journal_with_a_column_that_no_sweep_has_is_refused(kept: ab.Sweep, tmp_path: Path) -> None:
    folder = tmp_path / "shared"
    shutil.copytree(kept.source.folder, folder)  # type: ignore[union-attr]
    record = next(iter(_all(folder)))[1]
    summary = json.loads(record.summary) | {'x"; --': "text"}
    forged = record._replace(seed=3, summary=json.dumps(summary))
    (folder / "runs" / "000999.jsonl").write_bytes(line(forged))
    with pytest.raises(ab.ResultError, match="runs: has the column"):
        query(folder, "select 1")
    with pytest.raises(ab.ResultError, match="runs: has the column"):
        _ = ab.Sweep.load(folder).runs


def test_a_statement_reaches_no_file_outside_of_the_sweep(
    kept: ab.Sweep, tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = kept.source.folder  # type: ignore[union-attr]
    secret, target = tmp_path / "secret.txt", tmp_path / "written.csv"
    secret.write_text("for no one\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for statement in (
        f"select * from read_text('{secret}')",
        f"select * from read_csv('{secret}')",
        f"select * from '{secret}'",
        f"select * from read_text('{folder}/../../secret.txt')",
        f"select * from glob('{tmp_path}/*')",
        f"copy (select 1) to '{target}'",
        f"copy (select 1) to '{folder}/../written.csv'",
        "copy (select 1) to '.tmp/written.csv'",
        f"attach '{target}'",
        f"export database '{tmp_path / 'all'}'",
        "set enable_external_access = true",
        "reset allowed_directories",
        f"set allowed_directories = ['{tmp_path}']; select * from read_text('{secret}')",
        "select * from folder",
    ):
        done = command("query", str(folder), statement)
        assert (done.status, done.out) == (2, ""), statement
        assert "Traceback" not in done.err
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["secret.txt"]


def test_a_statement_reaches_no_file_in_the_folder_to_which_the_database_spills(
    kept: ab.Sweep, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DuckDB spills to ".tmp" in the working directory unless it is told otherwise."""
    (tmp_path / ".tmp").mkdir()
    (tmp_path / ".tmp" / "secret.txt").write_text("for no one\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    folder = kept.source.folder  # type: ignore[union-attr]
    for statement in ("select * from read_text('.tmp/secret.txt')", "copy (select 1) to '.tmp/written.csv'"):
        with pytest.raises(QueryError, match="disabled by configuration"):
            query(folder, statement)
    assert [entry.name for entry in (tmp_path / ".tmp").iterdir()] == ["secret.txt"]


def test_a_folder_is_asked_whatever_its_name(kept: ab.Sweep, tmp_path: Path, command: Command) -> None:
    for name in ("it's [1]", "a*b", 'q"q'):
        folder = tmp_path / name
        shutil.copytree(kept.source.folder, folder)  # type: ignore[union-attr]
        assert command("query", str(folder), "select count(*) as n from runs").out.splitlines()[1].strip() == "24"


def test_a_piece_with_other_types_is_an_error_without_traceback(
    kept: ab.Sweep, tmp_path: Path, command: Command
) -> None:
    folder = tmp_path / "shared"
    shutil.copytree(kept.source.folder, folder)  # type: ignore[union-attr]
    for file in dataset.pieces(folder):
        frame = dataset.opened(file).to_pandas()
        write_frame(file, frame.drop(columns="scenario_sha256"))
    done = command("query", str(folder), "select count(*) from runs")
    assert done.status == 2
    assert "scenario_sha256" in done.err
    assert "Traceback" not in done.err


def million(folder: Path, runs: int, cells: int) -> ab.Sweep:
    """A sweep of `runs` runs that nobody made: the rows of a few, with other goodputs."""
    few = ab.sweep(BASE, {"mss": [700]}, seeds=50)
    plan = ab.Plan.of(BASE, {"mss": list(range(400, 400 + cells))}, seeds=runs // cells)
    from anabranch.sweeps.store import Store

    store = Store.open(folder, plan)
    rows, flows = few.source.runs(), few.source.flows()
    drawn = np.random.Generator(np.random.PCG64(1))
    each = 50_000
    shas = np.array([cell.sha256 for cell in plan.cells])
    for piece in range(runs // each):
        at = np.arange(piece * each, (piece + 1) * each)
        cell, seed = shas[at % cells], at // cells + 1
        made = rows.iloc[at % len(rows)].reset_index(drop=True)
        made = made.assign(
            scenario_sha256=cell, seed=seed, goodput_mbps=drawn.normal(5, 1, each), summary="", series=""
        )
        made["scenario_sha256"] = made["scenario_sha256"].astype("category")
        parts = flows.iloc[np.arange(2 * each) % len(flows)].reset_index(drop=True)
        parts = parts.assign(scenario_sha256=np.repeat(cell, 2), seed=np.repeat(seed, 2), subflow=np.tile([0, 1], each))
        parts["scenario_sha256"] = parts["scenario_sha256"].astype("category")
        write_frame(folder / "subflows" / f"{piece:06}.parquet", parts)
        write_frame(folder / "runs" / f"{piece:06}.parquet", made)
    store.close()
    return ab.Sweep.load(folder)


@pytest.mark.long
def test_a_million_runs_are_read_within_seconds(tmp_path: Path) -> None:
    import time

    kept = million(tmp_path / "kept", 1_000_000, 1000)
    spent = {}
    for name, ask in (
        ("len", lambda: len(kept)),
        ("means", kept.means),
        ("compare", lambda: kept.compare("mss", baseline=400)),
        ("table", lambda: str(kept)),
        ("query", lambda: kept.query("select mss, avg(goodput_mbps) from runs group by mss")),
        ("utilisation", lambda: kept.query("select mss, subflow, avg(utilisation) from subflows group by all")),
        ("runs", lambda: kept.runs),
    ):
        began = time.process_time(), time.monotonic()
        ask()
        spent[name] = (time.process_time() - began[0], time.monotonic() - began[1])
    print(json.dumps(spent))  # noqa: T201 - figures for the documentation
    assert kept.means()["mean"].to_numpy() == pytest.approx(np.full(1000, 5.0), abs=0.2)
    assert max(cpu for name, (cpu, _) in spent.items() if name != "runs") < 10
