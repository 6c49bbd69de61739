"""A transfer that delivers no octet: said, stored, and told by the exit status."""

import json
from pathlib import Path

import pytest

from helpers import Command

HEAD = 'duration = "12 s"\n'
DEAD = '[[path]]\nrate = "5 Mbit/s"\nloss = "100 %"\n'
SINGLE = {
    "bulk": HEAD + '[transfer]\nbytes = "1 MB"\n' + DEAD,
    "down": HEAD + '[transfer]\nbytes = "1 MB"\ndirection = "down"\n' + DEAD,
    "tcp": HEAD + 'connection.protocol = "tcp"\n[transfer]\nbytes = "1 MB"\n' + DEAD,
    "datagrams": HEAD + 'connection.protocol = "udp"\n[transfer]\nduration = "5 s"\nrate = "1 Mbit/s"\n' + DEAD,
    "messages": HEAD + '[transfer]\nmessage = "1 kB"\ninterval = "1 s"\ncount = 3\n' + DEAD,
    "too late": 'duration = "2 s"\n[transfer]\nbytes = "1 MB"\nstart = "5 s"\n[[path]]\n',
    "2011": HEAD + 'stack = "legacy-2011"\n[transfer]\nbytes = "1 MB"\n' + DEAD,
}
MIXED = (
    HEAD
    + '[[path]]\nrate = "5 Mbit/s"\n'
    + DEAD
    + """
[[connection]]
name = "alive"
protocol = "tcp"
paths = ["path0"]
transfer = { bytes = "20 kB" }
[[connection]]
name = "dead"
protocol = "tcp"
paths = ["path1"]
transfer = { bytes = "20 kB" }
[[connection]]
name = "flow"
protocol = "udp"
paths = ["path1"]
transfer = { duration = "1 s", rate = "1 Mbit/s" }
"""
)


@pytest.mark.parametrize("name", SINGLE)
def test_a_run_without_an_octet_says_so_and_ends_with_3(command: Command, here: Path, name: str) -> None:
    Path("s.toml").write_text(SINGLE[name], encoding="utf-8")
    done = command("run", "s.toml")
    assert (done.status, done.err) == (3, "")
    assert ": nothing arrived" in done.out
    assert "verified" not in done.out


def test_the_result_is_written_and_can_be_used(command: Command, here: Path) -> None:
    Path("s.toml").write_text(SINGLE["bulk"], encoding="utf-8")
    done = command("run", "s.toml", "--out", "out", "--json")
    assert (done.status, json.loads(done.out)["bytes_delivered"]) == (3, 0)
    assert "nothing arrived" in done.err.splitlines()
    assert "nothing arrived" in Path("out/report.html").read_text(encoding="utf-8")
    assert command("replay", "out").status == 0
    assert command("compare", "out", "out").status == 0
    for option in ("--csv", "--quiet"):
        done = command("run", "s.toml", option)
        assert (done.status, done.err) == (3, "nothing arrived\n")


def test_of_several_transfers_those_without_an_octet_are_named(command: Command, here: Path) -> None:
    Path("s.toml").write_text(MIXED, encoding="utf-8")
    done = command("run", "s.toml")
    assert done.status == 3
    assert "\nnothing arrived: dead, flow\n" in done.out
    assert command("run", "s.toml", "--quiet").err == "nothing arrived: dead, flow\n"
    alive = command("run", "s.toml", "--set", "path.1.loss=0 %")
    assert (alive.status, "nothing arrived" in alive.out) == (0, False)


def test_of_two_directions_the_end_that_got_nothing_is_named(command: Command, here: Path) -> None:
    """Delays are 10 ms: the client's first segment of data ends at 21.3 ms, the server's begins at 30 ms."""
    text = '[transfer]\nbytes = "1 MB"\ndirection = "both"\n[[path]]\nchanges = [{ at = "%s", direction = "%s", '
    text += 'loss = "100 %%" }]\n'
    found = {}
    for way, at in (("up", "20.8 ms"), ("down", "25 ms")):
        Path("s.toml").write_text(HEAD + text % (at, way), encoding="utf-8")
        done = command("run", "s.toml", "--quiet")
        found[way] = (done.status, done.err)
    # The client's first segment of data is also the end of the handshake, without which the server sends none.
    assert found == {"up": (3, "nothing arrived\n"), "down": (3, "nothing arrived at the client\n")}


def test_rows_of_a_sweep_have_the_status_of_their_run(command: Command, here: Path) -> None:
    Path("s.toml").write_text(SINGLE["bulk"], encoding="utf-8")
    sweep = 'scenario = "s.toml"\nseeds = 1\n[axes]\n"path.0.loss" = ["100 %", "0 %"]\n'
    Path("sweep.toml").write_text(sweep, encoding="utf-8")
    done = command("sweep", "sweep.toml")
    assert done.status == 0
    assert "In 1 of 2 runs nothing arrived." in done.out
    rows = command("sweep", "sweep.toml", "--csv").out.splitlines()
    assert [row.split(",")[2] for row in rows[1:]] == ["stalled", "completed"]
