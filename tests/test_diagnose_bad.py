"""``diagnose`` of captures that lack something, or are none: a clear word, and what can still be said."""

import array
import fcntl
import gzip
import json
import random
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import anabranch as ab
from anabranch.diagnosis.measure import diagnosis
from anabranch.diagnosis.page import notebook_html
from anabranch.diagnosis.verdict import verdict
from anabranch.measures import units
from anabranch.sentences import common
from anabranch.sentences import diagnose as say
from degraded import Packet, missing, read, write
from helpers import Command

PATHS = ("5 Mbit/s, 30 ms", "2 Mbit/s, 10 ms")


@pytest.fixture(scope="module")
def captures(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("captures")
    ab.Scenario.two_path(*PATHS, transfer="4 s").run(pcap=folder)
    return sorted(folder.glob("client-*.pcapng"))


def changed(files: list[Path], folder: Path, change: Callable[[list[Packet]], list[Packet]]) -> list[Path]:
    """The captures, with their packets changed."""
    made = []
    for file in files:
        head, packets = read(file)
        made.append(write(folder / file.name, head, change(packets)))
    return made


def notes(found: ab.Diagnosis) -> str:
    return "\n".join(found.summary["notes"])


def test_a_capture_that_is_read_and_written_again_gives_the_same_diagnosis(
    captures: list[Path], tmp_path: Path
) -> None:
    again = changed(captures, tmp_path, lambda packets: packets)
    assert [a.read_bytes() for a in again] == [b.read_bytes() for b in captures]
    assert ab.diagnose(captures).summary["notes"] == []


def test_without_multipath_tcp_each_connection_is_a_path(tmp_path: Path) -> None:
    ab.Scenario.load(Path(__file__).parent.parent / "examples" / "single-tcp.toml").set("transfer.bytes", "2 MB").run(
        pcap=tmp_path
    )
    found = ab.diagnose(sorted(tmp_path.glob("client-*")))
    (connection,) = found.connections
    assert connection["protocol"] == "tcp"
    assert connection["main_cause"] is not None
    assert say.NO_MPTCP(source=say.THE_CAPTURE()) in notes(found)


def test_without_tcp_there_is_one_sentence(captures: list[Path], tmp_path: Path, command: Command) -> None:
    def to_udp(p: Packet) -> Packet:
        octets = bytearray(p.octets)
        octets[9] = 17
        return replace(p, octets=bytes(octets))

    files = changed(captures, tmp_path, lambda packets: [to_udp(p) for p in packets])
    done = command("diagnose", *files)
    assert (done.status, done.out) == (2, "")
    assert "no connection of TCP" in done.err
    assert len(done.err.splitlines()) == 1


def test_without_handshakes_the_shares_are_those_of_what_is_there(captures: list[Path], tmp_path: Path) -> None:
    late = ab.diagnose(changed(captures, tmp_path, lambda packets: packets[len(packets) // 3 :]))
    assert len(late.connections) == 2  # no key says that the join belongs to the first
    for connection in late.connections:
        assert not connection["complete_beginning"]
        assert "from the beginning" in {u["capture"] for u in connection["unknown"]}
        assert sum(connection["causes"].values()) == pytest.approx(1)
    # The second path is a connection of its own.
    assert late.sentences[0].endswith("or a capacity may have changed.")
    assert late.connections[0]["subflows"][0]["capacity_mbps"] == pytest.approx(5, rel=0.03)


def test_of_the_data_alone_no_shares_are_told(captures: list[Path], tmp_path: Path) -> None:
    way = read(captures[0])[1][0].octets[12:16]
    other = read(captures[1])[1][0].octets[12:16]
    found = ab.diagnose(changed(captures, tmp_path, lambda ps: [p for p in ps if p.octets[12:16] in (way, other)]))
    (connection,) = found.connections
    assert connection["causes"] is None
    assert connection["goodput_mbps"] == pytest.approx(ab.diagnose(captures).connections[0]["goodput_mbps"], rel=0.02)
    assert say.ONE_WAY in connection["events"]
    assert found.sentences[1:] == [say.NO_CAUSES, say.REMEDY_UNKNOWN]
    html = found._repr_html_()
    assert html.count("<table>") == 1  # that of the paths
    assert say.INFERRED not in html
    assert say.INFERRED_AND_BLOCKING not in html


def test_of_acknowledgements_alone_nothing_is_told(captures: list[Path], tmp_path: Path, command: Command) -> None:
    way = read(captures[0])[1][0].octets[12:16]
    other = read(captures[1])[1][0].octets[12:16]
    files = changed(captures, tmp_path, lambda ps: [p for p in ps if p.octets[12:16] not in (way, other)])
    done = command("diagnose", *files)
    assert done.status == 0
    assert "capture both directions" in done.out
    assert ab.diagnose(files).sentences == ab.diagnose(files).summary["notes"]


def test_thousands_of_other_connections_change_nothing(captures: list[Path], tmp_path: Path) -> None:
    head, packets = read(captures[0])
    syn = packets[0]
    plain = bytearray(syn.octets[:40])
    plain[2:4], plain[32] = (40).to_bytes(2, "big"), 0x50

    def scan(number: int) -> Packet:
        octets = bytearray(plain)
        octets[20:22] = (1024 + number).to_bytes(2, "big")
        octets[16:20] = bytes([10, 9, number // 250, number % 250])
        return Packet(packets[number % len(packets)].at, bytes(octets), b"", 40)

    mixed = sorted([*packets, *map(scan, range(5000))], key=lambda p: p.at)
    found = ab.diagnose([write(tmp_path / captures[0].name, head, mixed), captures[1]])
    alone = ab.diagnose(captures)
    assert found.connections[0]["causes"] == pytest.approx(alone.connections[0]["causes"])
    assert say.WITHOUT_DATA(count=5000) in notes(found)
    assert found.summary["capture"]["tcp_connections"] == 5000


@pytest.mark.parametrize("option", [("diagnose", "--twin"), ("analyze", "--qlog")])
def test_a_capture_is_never_written_over(
    captures: list[Path], tmp_path: Path, command: Command, option: tuple[str, str]
) -> None:
    what, name = option
    mine = tmp_path / "mine.pcapng"
    mine.write_bytes(captures[0].read_bytes())
    before = mine.read_bytes()
    done = command(what, mine, name, mine)
    assert (done.status, done.out) == (2, "")
    assert "it is one of the captures" in done.err
    assert mine.read_bytes() == before
    for wrong in (tmp_path, tmp_path / "nowhere" / "file"):
        done = command(what, mine, name, wrong)
        assert (done.status, done.out) == (2, ""), wrong
        assert "director" in done.err


def test_an_outage_is_neither_a_queue_nor_a_loss_of_one(tmp_path: Path) -> None:
    """The README's own example: one of two paths is down from 10 to 20 s."""
    run = ab.Scenario.load(Path(__file__).parent.parent / "examples" / "path-failure.toml").run(pcap=tmp_path)
    (connection,) = ab.diagnose(sorted(tmp_path.glob("client-*"))).connections
    assert "path failed" in connection["sentences"][2]
    assert say.SATURATED(paths=2) != connection["sentences"][2]
    for flow, true in zip(connection["subflows"], run.summary["subflows"], strict=True):
        # A queue of 50 packets of 1472 octets at 4 Mbit/s.
        assert 100 < flow["queue_max_ms"] < 320
        assert flow["lost_congestion"] == pytest.approx(true["queue_drops"], abs=3)


def test_the_two_sides_of_a_proxy_are_two_connections(tmp_path: Path, command: Command) -> None:
    """RFC 3135 2.4: what the client's host sees is acknowledged by the proxy."""
    ab.Scenario.from_toml(
        "connection.protocol = 'tcp'\ntransfer = { request = '200 B', response = '100 kB', count = 20 }\n"
        "[[path]]\nrate = '10 Mbit/s'\ndelay = '10 ms'\nloss = '2 %'\nmiddleboxes = [{ kind = 'pep' }]"
    ).run(pcap=tmp_path)
    captures = sorted(tmp_path.glob("*.pcapng"))
    both = ab.diagnose(captures)
    assert say.SPLIT(count=1) in notes(both)
    sides = [ab.diagnose([one]).connections[0] for one in captures]
    assert [c["causes"] for c in both.connections] == [c["causes"] for c in sides]
    assert "splits 1 connection" in command("analyze", *captures).out
    # Captures of one side, or of a box that only looks, are of one connection.
    assert not any("proxy" in notes(ab.diagnose([one])) for one in captures)


def test_a_truncated_capture_says_where_it_ends(captures: list[Path], tmp_path: Path) -> None:
    data = captures[0].read_bytes()
    (tmp_path / "cut.pcapng").write_bytes(data[: len(data) // 2 + 3])
    found = ab.diagnose([tmp_path / "cut.pcapng", captures[1]])
    assert "cut.pcapng: it ends within a block, at octet" in notes(found)
    assert found.connections[0]["causes"]
    first, second, *rest = found.text().splitlines()
    assert first.startswith(str(tmp_path / "cut.pcapng: it ends within a block"))
    assert "not whole" in second
    assert "it ends within" not in "".join(rest)


def test_a_damaged_capture_tells_what_came_before(captures: list[Path], tmp_path: Path) -> None:
    data = bytearray(captures[0].read_bytes())
    half = len(data) // 2
    data[half : half + 5000] = b"\xff" * 5000
    (tmp_path / "damaged.pcapng").write_bytes(data)
    found = ab.diagnose([tmp_path / "damaged.pcapng", captures[1]])
    assert "damaged.pcapng: a block has an impossible length" in notes(found)
    assert found.connections[0]["causes"]


@pytest.mark.parametrize("content", [b"", b"\x0a\x0d\x0d\x0a", b"not a capture", b"\xa1\xb2\xc3\xd4\0\2"])
def test_what_holds_nothing_is_refused_in_one_sentence(content: bytes, tmp_path: Path, command: Command) -> None:
    (tmp_path / "file").write_bytes(content)
    done = command("diagnose", tmp_path / "file")
    assert (done.status, done.out, len(done.err.splitlines())) == (2, "", 1)


def test_missing_packets_move_the_shares_little(captures: list[Path], tmp_path: Path) -> None:
    rng = random.Random(1)
    whole = ab.diagnose(captures).connections[0]["causes"]
    found = ab.diagnose(changed(captures, tmp_path, lambda packets: missing(packets, rng))).connections[0]["causes"]
    assert max(abs(whole[cause] - found[cause]) for cause in whole) <= 0.10


def test_following_tells_each_interval_and_then_the_whole(captures: list[Path], command: Command) -> None:
    done = command("diagnose", *captures, "--follow", "--every", "1")
    lines = done.err.splitlines()
    assert done.status == 0
    assert [round(float(line.split()[0])) for line in lines] == [1, 2, 3, 4]
    assert all("shares of the time by cause: " in line for line in lines)
    assert done.out == command("diagnose", *captures).out


def test_following_ends_when_the_caller_says_so(captures: list[Path]) -> None:
    seen: list[Any] = []

    def tell(found: ab.Diagnosis) -> None:
        seen.append(found)
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        ab.diagnose(captures, every=1, told=tell)
    assert len(seen) == 1


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (["--every", "5"], "give --follow, too"),
        (["--follow", "--every", "nan"], "--every nan: give a number of seconds, at least 0.1 s"),
        (["--follow", "--every", "inf"], "--every inf"),
        (["--follow", "--every", "-1"], "--every -1"),
        (["--follow", "--every", "0"], "--every 0"),
        (["--follow", "--every", "1e-12"], "--every 1e-12"),
        (["--follow", "--quiet"], say.FOLLOW_QUIET),
    ],
)
def test_of_follow_and_every_what_makes_no_sense_is_refused(
    options: list[str], word: str, captures: list[Path], command: Command
) -> None:
    done = command("diagnose", *captures, *options)
    assert (done.status, done.out) == (2, "")
    assert word in done.err


@pytest.mark.usefixtures("no_figures")
def test_a_folder_is_not_followed_and_has_no_segments(command: Command, tmp_path: Path) -> None:
    ab.Scenario.two_path(*PATHS, transfer="100 kB").run().save(tmp_path / "run")
    for options, word in ((["--follow"], "--follow"), (["--qlog", tmp_path / "q"], "--qlog")):
        done = command("diagnose", tmp_path / "run", *options)
        assert (done.status, done.out) == (2, "")
        assert word in done.err


@pytest.mark.parametrize("every", [float("nan"), 0.0, -1.0, float("inf")])
def test_python_takes_no_such_interval_either(every: float, captures: list[Path]) -> None:
    with pytest.raises(ValueError, match="every: "):
        ab.diagnose(captures, every=every, told=lambda _: None)


@pytest.mark.usefixtures("no_figures")
def test_a_folder_with_a_diagnosis_is_called_one(captures: list[Path], command: Command, tmp_path: Path) -> None:
    ab.diagnose(captures).save(tmp_path / "d")
    ab.Scenario.two_path(*PATHS, transfer="100 kB").run().save(tmp_path / "run")
    for words in (["diagnose", "d"], ["plot", "d"], ["replay", "d"], ["compare", "run", "d"], ["compare", "d", "d"]):
        done = command(words[0], *(tmp_path / word for word in words[1:]))
        assert done.status == 2, words
        assert "a diagnosis" in done.err, words
        assert "it has no sweep.json" not in done.err


@pytest.mark.parametrize("options", [[], ["--follow"], ["--json"]])
def test_ctrl_c_ends_a_live_capture_with_what_came_until_then(options: list[str], captures: list[Path]) -> None:
    """The pipe stays open and silent: nothing but the signal can end it."""
    words = [sys.executable, "-m", "anabranch", "diagnose", "-", *options]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None
        process.stdin.write(captures[0].read_bytes())
        process.stdin.flush()
        # It reads a megabyte at a time or what there is; the pipe is empty when it waits again.
        waiting = array.array("i", [1])
        while waiting[0]:
            fcntl.ioctl(process.stdin.fileno(), termios.FIONREAD, waiting)
            time.sleep(0.05)
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 130
        assert process.stdout is not None
        assert process.stderr is not None
        out, err = process.stdout.read().decode(), process.stderr.read().decode()
    assert err.splitlines()[-1] == common.INTERRUPTED
    if "--json" in options:
        assert json.loads(out)["interrupted"]
    else:
        assert out == str(ab.diagnose(captures[0])) + "\n"


def test_ctrl_c_before_anything_came_says_so() -> None:
    words = [sys.executable, "-m", "anabranch", "diagnose", "-"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        time.sleep(2)
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 130
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.read() == b""
        assert process.stderr.read() == b"interrupted: nothing was written\n"


EXAMPLES = Path(__file__).parent.parent / "examples" / "captures"


def test_missing_data_refer_to_the_note_of_packets_that_could_not_be_read() -> None:
    file = EXAMPLES / "vpn-dsl0.pcap.gz"
    summary = ab.analyze(file).summary
    (plain,) = diagnosis(summary, [str(file)])["connections"]
    assert say.SEE_NOT_READ() not in plain["incomplete"]
    for field, unread in (("not_opened", {"ESP": 812}), ("unknown_link", 812)):
        found = diagnosis({**summary, "capture": {**summary["capture"], field: unread}}, [str(file)])
        (connection,) = found["connections"]
        assert connection["incomplete"] == [*plain["incomplete"], say.SEE_NOT_READ()]
        assert any(note.startswith("not read: 812 packets of ") for note in found["notes"])


@pytest.mark.parametrize("name", ["vpn", "shaper"])
@pytest.mark.parametrize("path", ["dsl0", "lte0"])
def test_a_missing_path_is_the_first_line_and_leaves_the_main_cause_open(
    name: str, path: str, command: Command
) -> None:
    file = EXAMPLES / f"{name}-{path}.pcap.gz"
    done = command("diagnose", file)
    lines = done.out.splitlines()
    (connection,) = ab.diagnose(file).connections
    missing = connection["missing_bytes"]
    share = units.percent(missing / connection["bytes_delivered"])
    assert done.status == 0
    assert lines[0] == say.PATH_MISSING(missing=units.octets(missing), share=share)
    assert lines[3] == say.MAIN_CAUSE_INCOMPLETE()
    assert connection["main_cause"] is None
    assert "% of the capacity" not in done.out
    assert "caused more" not in done.out
    assert "remedy" not in done.out.lower()
    report = notebook_html(ab.diagnose(file).summary)
    assert report.index("not whole") < report.index("The capacity")


@pytest.mark.parametrize("name", ["vpn", "shaper", "backup"])
def test_a_whole_capture_is_not_called_incomplete(name: str) -> None:
    (connection,) = ab.diagnose(sorted(EXAMPLES.glob(f"{name}-*.pcap.gz"))).connections
    assert (connection["missing_bytes"], connection["incomplete"]) == (0, [])
    assert connection["main_cause"] is not None
    assert not any("not found in the files" in event for event in connection["events"])


@pytest.mark.parametrize("place", ["client", "server"])
@pytest.mark.parametrize(("share", "is_whole"), [(0.0, True), (0.01, True), (0.08, False)])
def test_few_lost_records_are_an_event_and_many_leave_the_main_cause_open(
    place: str, share: float, is_whole: bool, tmp_path: Path
) -> None:
    ab.Scenario.two_path(*PATHS, transfer="4 s").run(pcap=tmp_path)
    rng = random.Random(1)
    files = sorted(tmp_path.glob(f"{place}-*.pcapng"))
    found = ab.diagnose(changed(files, tmp_path, lambda packets: [p for p in packets if rng.random() >= share]))
    (connection,) = found.connections
    assert (connection["main_cause"] is not None) == is_whole
    assert any("tcpdump -B" in sentence for sentence in connection["incomplete"]) != is_whole
    assert any("not found in the files" in event for event in connection["events"]) == (share == 0.01)


def test_without_a_subflow_that_held_the_others_up_the_remedy_leaves_no_path_out() -> None:
    (connection,) = ab.diagnose(sorted(EXAMPLES.glob("vpn-*.pcap.gz"))).connections
    assert "caused more" in verdict(connection)[1]
    assert "leave that path out" in verdict(connection)[2]
    for flow in connection["subflows"]:
        flow["blocked_others_s"] = 0.0007
    assert "caused more" not in verdict(connection)[1]
    assert say.REMEDY_WITHOUT_BLOCKER() in verdict(connection)[2]
    assert "leave that path out" not in verdict(connection)[2]


def cut_at(snap: int, folder: Path) -> list[Path]:
    """Captures of a bond with VXLAN on its second path, as ``tcpdump -s`` with a shorter snap length writes them."""
    made = []
    for name in ("vpn-dsl0", "vpn-lte0"):
        octets = gzip.decompress((EXAMPLES / f"{name}.pcap.gz").read_bytes())
        at, out = 24, [octets[:24]]
        while at < len(octets):
            seconds, fraction, length, whole = struct.unpack_from("<IIII", octets, at)
            kept = min(length, snap)
            out.append(struct.pack("<IIII", seconds, fraction, kept, whole) + octets[at + 16 : at + 16 + kept])
            at += 16 + length
        made.append(folder / f"{name}.pcap")
        made[-1].write_bytes(b"".join(out))
    return made


def test_a_short_snap_length_is_told_first(tmp_path: Path, command: Command) -> None:
    done = command("diagnose", *cut_at(60, tmp_path))
    first, second, *rest = done.out.splitlines()
    assert first == say.CUT_BEFORE_TCP(count=861)
    assert second == say.CUT_OPTIONS(count=4724)
    assert rest[2] == say.MAIN_CAUSE_INCOMPLETE()


def test_a_snap_length_of_160_is_enough_and_one_cut_packet_changes_no_cause(tmp_path: Path) -> None:
    (connection,) = ab.diagnose(cut_at(160, tmp_path)).connections
    assert (connection["incomplete"], connection["main_cause"]) == ([], "head_of_line")
    (connection,) = ab.diagnose(cut_at(128, tmp_path)).connections
    assert (connection["incomplete"], connection["main_cause"]) == ([], "head_of_line")
    assert say.FEW_CUT_OPTIONS(count=1) in connection["events"]
