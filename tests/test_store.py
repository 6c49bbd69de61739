"""Results on disk."""

import json
import re
import stat
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

import anabranch as ab
from anabranch.cli.stored import _why_differs
from anabranch.results.provenance import sha256
from anabranch.runs import report
from helpers import Command


def test_what_is_loaded_is_what_was_saved(finished: ab.Run, result: Path) -> None:
    again = ab.load(result)
    assert again.summary == finished.summary
    assert again.provenance == finished.provenance
    assert again.toml == finished.toml
    pd.testing.assert_frame_equal(again.subflows, finished.subflows)
    assert str(again) == str(finished)


@pytest.mark.usefixtures("no_figures")
def test_a_result_says_where_it_comes_from(command: Command, scenario_file: Path) -> None:
    command("run", scenario_file, "--out", "first", "--seed", "5", "--set", "path.1.delay=20 ms")
    made = ab.load("first").provenance
    assert made.version == ab.__version__
    assert made.seed == 5
    assert made.command == f"anabranch run {scenario_file} --out first --seed 5 --set 'path.1.delay=20 ms'"
    assert made.scenario_sha256 == sha256(Path("first/scenario.toml").read_text(encoding="utf-8"))
    assert made.trace_sha256 == ab.load("first").summary["trace_sha256"]
    assert made.started.endswith("+00:00")
    assert made.machine


@pytest.mark.usefixtures("no_figures")
def test_an_older_result_is_replaced(result: Path) -> None:
    newer = ab.Scenario.two_path("1 Mbit/s, 10 ms", "1 Mbit/s, 10 ms", transfer="100 kB").run()
    (result / "cwnd.png").write_bytes(b"drawn by `anabranch plot`")
    newer.save(result)
    assert ab.load(result).summary == newer.summary
    assert not (result / "cwnd.png").exists()
    assert [entry.name for entry in result.parent.iterdir()] == ["result"]


def test_a_file_of_yours_in_an_older_result_is_not_lost(finished: ab.Run, result: Path) -> None:
    (result / "notes.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(ab.ResultError, match=r"notes\.txt"):
        finished.save(result)
    assert (result / "notes.txt").read_text(encoding="utf-8") == "mine"


@pytest.mark.usefixtures("no_figures")
def test_an_empty_directory_is_used(finished: ab.Run, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    finished.save(tmp_path / "empty")
    assert ab.load(tmp_path / "empty").summary == finished.summary


@pytest.mark.usefixtures("no_figures")
def test_what_stops_half_way_is_no_result_and_is_removed(
    finished: ab.Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []

    def fail(*_: object) -> str:
        (draft,) = tmp_path.iterdir()
        seen.extend(sorted(entry.name for entry in draft.iterdir()))
        with pytest.raises(ab.ResultError):
            ab.load(draft)
        raise KeyboardInterrupt

    monkeypatch.setattr(report, "report_html", fail)
    with pytest.raises(KeyboardInterrupt):
        finished.save(tmp_path / "result")
    assert "subflows.parquet" in seen
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("no_figures")
def test_an_older_result_survives_a_failure(finished: ab.Run, result: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = {file.name: file.read_bytes() for file in result.iterdir()}

    def full(*_: object) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(report, "report_html", full)
    with pytest.raises(OSError, match=r"no space left: .*result"):
        finished.save(result)
    assert {file.name: file.read_bytes() for file in result.iterdir()} == before
    assert [entry.name for entry in result.parent.iterdir()] == ["result"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no permission bits")
@pytest.mark.usefixtures("no_figures")
def test_a_result_has_the_permissions_of_other_new_directories(finished: ab.Run, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    finished.save(tmp_path / "result")
    mode = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("other", "result")]
    assert mode[0] == mode[1]


def test_a_result_of_a_later_format_is_not_guessed_at(result: Path) -> None:
    marker = json.loads((result / "provenance.json").read_text(encoding="utf-8"))
    (result / "provenance.json").write_text(json.dumps(marker | {"format_version": 99}), encoding="utf-8")
    with pytest.raises(ab.ResultError, match="a result of format 99; this version"):
        ab.load(result)
    del marker["format_version"]
    (result / "provenance.json").write_text(json.dumps(marker), encoding="utf-8")
    with pytest.raises(ab.ResultError, match="a result of an unknown format; this version"):
        ab.load(result)


def test_replay_proves_a_result(command: Command, result: Path) -> None:
    done = command("replay", result)
    assert (done.status, done.err) == (0, "")
    assert "reproduced" in done.out


def test_replay_finds_a_forged_trace(command: Command, result: Path) -> None:
    marker = json.loads((result / "provenance.json").read_text(encoding="utf-8"))
    (result / "provenance.json").write_text(json.dumps(marker | {"trace_sha256": "0" * 64}), encoding="utf-8")
    done = command("replay", result)
    assert (done.status, done.out) == (1, "")
    assert "DIFFERS" in done.err
    assert "0" * 64 in done.err
    assert len(done.err.splitlines()) <= 3


def test_replay_finds_a_changed_scenario(command: Command, result: Path) -> None:
    text = (result / "scenario.toml").read_text(encoding="utf-8")
    assert '"2 Mbit/s"' in text
    (result / "scenario.toml").write_text(text.replace('"2 Mbit/s"', '"3 Mbit/s"'), encoding="utf-8")
    done = command("replay", result)
    assert done.status == 1
    assert "scenario.toml was changed after the run" in done.err


def test_replay_says_that_another_version_gives_the_same(command: Command, result: Path) -> None:
    marker = json.loads((result / "provenance.json").read_text(encoding="utf-8"))
    (result / "provenance.json").write_text(json.dumps(marker | {"version": "0.0.1"}), encoding="utf-8")
    done = command("replay", result)
    assert done.status == 0
    assert "made by version 0.0.1" in done.out


def test_replay_names_the_other_version(command: Command, result: Path) -> None:
    marker = json.loads((result / "provenance.json").read_text(encoding="utf-8"))
    marker |= {"trace_sha256": "0" * 64, "version": "0.0.1"}
    (result / "provenance.json").write_text(json.dumps(marker), encoding="utf-8")
    done = command("replay", result)
    assert done.status == 1
    assert "0.0.1" in done.err
    assert ab.__version__ in done.err


@pytest.mark.parametrize(
    ("commit", "algorithms", "said"),
    [
        ("0123abc", (), "version and scenario are the same: this is a fault of Anabranch, please report it"),
        ("0123abc", ({"name": "mine.py:Mine"},), "`anabranch check-algorithm mine.py:Mine` shows whether"),
        ("0123abc-dirty", (), "if the source was not changed in between, the difference is a fault of Anabranch"),
        (
            "",
            (),
            "the result was made by version 1.0, and this program is version 1.0, too; if the source was not changed",
        ),
    ],
)
def test_replay_calls_a_difference_a_fault_only_if_nothing_else_can_be_the_cause(
    commit: str, algorithms: tuple[dict[str, str], ...], said: str
) -> None:
    run: Any = SimpleNamespace(provenance=SimpleNamespace(version="1.0", commit=commit, algorithms=algorithms))
    assert said in _why_differs(run, run, touched=False)


CONNECTIONS = {
    "a table": "[connection]\nprofile = 'classic'\nsack = false\n",
    "a list": "[[connection]]\nprofile = 'classic'\n[[connection]]\nprotocol = 'tcp'\nprofile = 'classic'\n",
    "none": "[connection]\nprofile = 'classic'\n",
}


@pytest.mark.parametrize("form", CONNECTIONS)
@pytest.mark.usefixtures("no_figures")
def test_replay_of_a_result_from_before_profiles_has_the_defaults_of_its_time(
    form: str, command: Command, tmp_path: Path
) -> None:
    """Version 0.1 knew no profile, and its defaults are now the profile "classic"."""
    paths = "[[path]]\nrate = '5 Mbit/s'\nloss = '1 %'\n[[path]]\nrate = '2 Mbit/s'\nloss = '1 %'\n"
    written = f"{paths}{CONNECTIONS[form]}"
    if form == "a list":
        # Each connection has a transfer of its own.
        written = written.replace("profile = 'classic'\n", "profile = 'classic'\ntransfer = { bytes = '300 kB' }\n")
    else:
        written += "[transfer]\nbytes = '500 kB'\n"
    folder = tmp_path / "result"
    run = ab.Scenario.from_toml(written).run()
    run.save(folder)
    stored = (folder / "scenario.toml").read_text(encoding="utf-8")
    older = "".join(line for line in stored.splitlines(keepends=True) if not line.startswith("profile ="))
    if form == "none":
        older = older.replace("[connection]\n", "")
    assert (older.count("profile"), stored.count("profile = ")) == (0, 2 if form == "a list" else 1)
    (folder / "scenario.toml").write_text(older, encoding="utf-8")
    marker = json.loads((folder / "provenance.json").read_text(encoding="utf-8"))
    marker |= {"version": "0.1.0", "scenario_sha256": sha256(older)}
    (folder / "provenance.json").write_text(json.dumps(marker), encoding="utf-8")
    # Its text has other defaults today, so that a replay that adds nothing would differ.
    assert ab.Scenario.from_toml(older).run().summary["trace_sha256"] != marker["trace_sha256"]

    done = command("replay", folder)
    assert (done.status, done.err) == (0, "")
    assert "reproduced" in done.out
    assert "made by version 0.1.0" in done.out

    (folder / "provenance.json").write_text(json.dumps(marker | {"trace_sha256": "0" * 64}), encoding="utf-8")
    done = command("replay", folder)
    assert (done.status, done.out) == (1, "")
    # Behind a version its commit may be named, where the build knows one.
    assert re.search(rf"made by version 0\.1\.0( \([\w-]+\))?, this is version {re.escape(ab.__version__)}", done.err)
    assert "please report" not in done.err
