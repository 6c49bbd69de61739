"""`anabranch torture`: random scenarios held to invariants."""

import json
from pathlib import Path

from helpers import Command


def test_a_range_of_runs_is_clean_and_says_what_it_covered(command: Command, tmp_path: Path) -> None:
    table = tmp_path / "table.json"
    done = command("torture", "--seed", "100", "--runs", "60", "--jobs", "2", "--table", str(table), "--json")
    assert (done.status, done.err) == (0, "")
    report = json.loads(done.out)
    assert (report["seed"], report["runs"], report["next"], report["failures"]) == (100, 60, 160, [])
    assert (report["large"], report["wide"], report["repeated"]) == (6, 12, 6)
    counted = json.loads(table.read_text("utf-8"))
    assert counted == report["table"]
    assert counted["features"]["5 MB or more"] == 6
    pairs = [n for row in counted["pairs"] for n in row]
    assert len(pairs) == counted["pairs_possible"] == len(counted["features"]) * (len(counted["features"]) - 1) // 2
    assert sum(n > 0 for n in pairs) == counted["pairs_met"]


def test_people_get_a_summary_and_quiet_nothing(command: Command) -> None:
    assert "5 runs in " in command("torture", "--runs", "5").out
    assert command("torture", "--runs", "5", "--quiet").out == ""


def test_a_scenario_in_a_file_is_looked_at(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "s.toml"
    file.write_text("path = [{}]\ntransfer = { bytes = '10 kB' }\n", "utf-8")
    done = command("torture", str(file))
    assert (done.status, done.out) == (0, f"{file}: all invariants hold\n")


def test_a_film_that_has_failed_leaves_the_other_connections_alone(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "film.toml"
    file.write_text(
        """
        seed = 1706615838501265408
        path = [{ corruption = "7.3572 %", middleboxes = [{ kind = "rewrite-sequence", at = "1 us" }] }]
        connection = [
            { transfer = { ladder = ["1 bit/s"], count = 1 } },
            { transfer = { duration = "1 us" } },
            { protocol = "udp", transfer = { bytes = "1 B" } },
        ]
        """,
        "utf-8",
    )
    done = command("torture", str(file))
    assert (done.status, done.out) == (0, f"{file}: all invariants hold\n")


def test_questions_that_make_no_sense_are_refused(command: Command, tmp_path: Path) -> None:
    for arguments in (
        ["--runs", "0"],
        ["--seed", "-1"],
        ["--minutes", "0"],
        ["--jobs", "x"],
        [str(tmp_path / "none.toml")],
    ):
        done = command("torture", *arguments)
        assert done.status == 2, arguments
        assert "Traceback" not in done.err
    done = command("torture", "--runs", "1", "--table", str(tmp_path / "no" / "table.json"))
    assert done.status == 2
