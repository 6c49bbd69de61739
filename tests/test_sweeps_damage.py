"""Damage to a sweep on disk: every bit that is not as it was written is found, and no row is another one's."""

import io
import json
import random
import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from fastparquet import ParquetFile

import anabranch as ab
from anabranch.sweeps import dataset, piece
from anabranch.sweeps.store import Store
from anabranch.sweeps.task import Record
from helpers import Command

BASE = ab.Scenario.two_path("5 Mbit/s, 20 ms, loss 1 %", "2 Mbit/s, 10 ms", transfer="100 kB")
AXES: Any = {"mss": [700, 1400]}
ASIDE = ["wall_s", "machine"]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("damage") / "kept"
    ab.sweep(BASE, AXES, seeds=3, out=folder, series=5)
    return folder


@pytest.fixture
def kept(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / "kept"))


def flipped(content: bytes, bit: int) -> bytes:
    octets = bytearray(content)
    octets[bit // 8] ^= 1 << bit % 8
    return bytes(octets)


def read(folder: Path) -> None:
    """All that is in it."""
    sweep = ab.Sweep.load(folder)
    assert len(sweep.runs) == 6
    assert len(sweep.subflows) == 12
    assert len(sweep.series) > 0


# Written -- one bit flips -- read: no reader gives a row.
@pytest.mark.parametrize("every", [7, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("name", ["runs/000000.parquet", "subflows/000000.parquet", "sweep.json", "provenance.json"])
def test_a_bit_that_flipped_is_found_wherever_it_is(kept: Path, name: str, every: int) -> None:
    """Flips one in `every` bits of the first 8 and the last 16 octets, and of 150 bits between; 7 meets each octet."""
    file = kept / name
    content = file.read_bytes()
    bits = [*range(64), *range(8 * len(content) - 128, 8 * len(content))][::every]
    bits += random.Random(name).sample(range(8 * len(content)), 150)[::every]
    read(kept)
    for bit in bits:
        file.write_bytes(flipped(content, bit))
        with pytest.raises(ab.ResultError, match=r"kept/.*damaged|kept: .*damaged|kept: not a sweep|a sweep of format"):
            read(kept)


def test_a_piece_that_was_cut_or_is_anothers_is_found(kept: Path) -> None:
    file = kept / "runs" / "000000.parquet"
    content = file.read_bytes()
    for other in (b"", content[:3], content[:-1], content[: len(content) // 2], content + b"\0", content[8:]):
        file.write_bytes(other)
        with pytest.raises(ab.ResultError, match=r"000000\.parquet: damaged"):
            read(kept)


def test_a_question_in_sql_finds_damage_too(kept: Path, command: Command) -> None:
    pytest.importorskip("duckdb")
    for name in ("runs", "subflows"):
        file = kept / name / "000000.parquet"
        content = file.read_bytes()
        assert command("query", kept, "select count(*) from subflows").status == 0
        for bit in random.Random(name).sample(range(8 * len(content)), 6):
            file.write_bytes(flipped(content, bit))
            done = command("query", kept, "select count(*) from subflows")
            assert (done.status, done.out) == (2, "")
            assert f"{name}/000000.parquet: damaged" in done.err
        file.write_bytes(content)


def test_what_the_message_says_mends_it(kept: Path, command: Command) -> None:
    wanted = ab.Sweep.load(kept).runs
    damaged = kept / "runs" / "000000.parquet"
    damaged.write_bytes(flipped(damaged.read_bytes(), 4000))
    with pytest.raises(ab.ResultError) as said:
        ab.sweep(BASE, AXES, seeds=3, out=kept, series=5)
    assert "delete it and the other files with its number, then run the sweep again" in str(said.value)
    for name in ("runs", "subflows"):
        (kept / name / "000000.parquet").unlink()
    again = ab.sweep(BASE, AXES, seeds=3, out=kept, series=5)
    pd.testing.assert_frame_equal(again.runs.drop(columns=ASIDE), wanted.drop(columns=ASIDE))


def test_a_damaged_plan_is_written_anew_by_the_command_that_made_it(kept: Path) -> None:
    wanted = ab.Sweep.load(kept).runs
    marker = json.loads((kept / "sweep.json").read_text(encoding="utf-8"))
    (kept / "sweep.json").write_text(json.dumps(marker | {"seeds": [1, 2]}), encoding="utf-8")
    with pytest.raises(ab.ResultError, match=r"damaged(.|\n)*the command that made the sweep writes it anew"):
        ab.Sweep.load(kept)
    pd.testing.assert_frame_equal(ab.sweep(BASE, AXES, seeds=3, out=kept, series=5).runs, wanted)


# Run 1 ---- run 2 ---- run 3 ---- the machine stops; a bit of the journal flips: that run is made again, no other.
@pytest.mark.parametrize("flips", [30, pytest.param(200, marks=pytest.mark.long)])
def test_a_line_of_the_journal_that_was_damaged_is_no_run(tmp_path: Path, flips: int) -> None:
    store = Store.open(tmp_path / "kept", ab.Plan.of(BASE, {}, seeds=3))
    cell = store.plan.cells[0]
    for seed in (1, 2, 3):
        summary = json.dumps(BASE.run(seed).summary)
        store.append([Record(cell.key(seed), cell.sha256, seed, "completed", "", "e", "m", summary)])
    store.close()
    (journal,) = (tmp_path / "kept" / "runs").glob("*.jsonl")
    content = journal.read_bytes()
    wanted = ab.Sweep.load(tmp_path / "kept").runs
    first = content.index(b"\n")
    for bit in random.Random(1).sample(range(8 * len(content)), flips):
        journal.write_bytes(flipped(content, bit))
        found = ab.Sweep.load(tmp_path / "kept").runs
        last = 8 * (len(content) - 1) <= bit
        assert len(found) == 2 or (len(found) == 1 and content[bit // 8] == 10) or last
        pd.testing.assert_frame_equal(
            found.reset_index(drop=True), wanted[wanted["seed"].isin(found["seed"])].reset_index(drop=True)
        )
    journal.write_bytes(flipped(content, 8 * (first // 2)))
    again = Store.open(tmp_path / "kept", ab.Plan.of(BASE, {}, seeds=3))
    assert sorted(seed for _, seed in again.statuses) == [2, 3]
    again.close()


def test_a_sealed_piece_is_a_parquet_file_like_any_other(kept: Path) -> None:
    file = kept / "runs" / "000000.parquet"
    assert len(ParquetFile(io.BytesIO(file.read_bytes())).to_pandas()) == 6
    content = file.read_bytes()
    assert content[:4] == content[-4:] == b"PAR1"
    assert piece.opened(file) == content
    assert len(dataset.read_runs(kept)) == 6
