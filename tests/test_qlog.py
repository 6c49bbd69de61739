"""``anabranch analyze --qlog``: read back, its events are counted against what the analysis counted."""

import json
import os
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import anabranch as ab
from helpers import Command

LINUX = Path(__file__).parent.parent / "crates" / "acceptance" / "tests" / "data" / "linux-mptcp-two-paths-snap128.pcap"


def records(file: Path) -> list[dict[str, Any]]:
    """RFC 7464 2.1: each record stands between a record separator and a line feed."""
    first, *parts = file.read_bytes().split(b"\x1e")
    assert first == b""
    assert all(part.endswith(b"\n") for part in parts)
    return [json.loads(part) for part in parts]


def test_the_first_record_says_what_it_is(command: Command, tmp_path: Path) -> None:
    done = command("analyze", LINUX, "--qlog", tmp_path / "out.sqlog", "--quiet")
    assert (done.status, done.out, done.err) == (0, "", "")
    head, *events = records(tmp_path / "out.sqlog")
    assert head["file_schema"] == "urn:ietf:params:qlog:file:sequential"
    assert head["serialization_format"] == "application/qlog+json-seq"
    assert head["trace"]["event_schemas"] == ["urn:anabranch:qlog:events:mptcp"]
    assert head["trace"]["common_fields"]["time_format"] == "relative_to_epoch"
    assert all(set(event) == {"time", "name", "group_id", "data"} for event in events)
    times = [event["time"] for event in events]
    assert times == sorted(times)


def test_events_are_as_many_as_the_capture_counts(command: Command, tmp_path: Path) -> None:
    """3,868 packets of one connection; of data and retransmissions the analysis says the same."""
    assert command("analyze", LINUX, "--qlog", tmp_path / "out.sqlog", "--quiet").status == 0
    _, *events = records(tmp_path / "out.sqlog")
    summary = ab.analyze(LINUX).summary
    segments = [event["data"] for event in events if event["name"] == "mptcp:segment"]
    started = [event["data"] for event in events if event["name"] == "mptcp:subflow_started"]
    assert len(segments) == summary["capture"]["tcp"] == 3868
    assert len(started) + len(segments) == len(events)
    ends = [f"{one['client']['ip']}:{one['client']['port']}" for one in started]
    assert ends == [flow["client"] for flow in summary["subflows"]]
    for number, flow in enumerate(summary["subflows"]):
        mine = [one for one in segments if one["subflow"] == number]
        sent = [one for one in mine if one["sender"] == "client" and one["length"]]
        kinds = Counter(one["kind"] for one in sent if "kind" in one)
        assert len(mine) == flow["packets"]
        assert kinds["retransmission"] == flow["retransmissions"]
        assert kinds["reinjection"] == flow["reinjections"]
        assert sum(one["length"] for one in sent) == flow["bytes_sent"]
    assert max(one["data_offset"] + one["length"] for one in segments if "kind" in one) >= summary["bytes_delivered"]


def test_both_ends_of_a_run_have_every_segment_that_arrived_twice(tmp_path: Path) -> None:
    from anabranch.captures.data import write_qlog

    run = ab.Scenario.two_path("5 Mbit/s, 30 ms", "2 Mbit/s, 10 ms", transfer="300 kB").run(pcap=tmp_path)
    files = sorted(tmp_path.glob("*.pcapng"))
    assert write_qlog(files, tmp_path / "out.sqlog") == ab.analyze(files).summary["capture"]["tcp"]
    _, *events = records(tmp_path / "out.sqlog")
    new = [one["data"] for one in events if one["data"].get("kind") == "new"]
    assert sum(one["length"] for one in new) == run.summary["bytes_delivered"] == 300_000


def test_standard_input_cannot_be_read_twice(command: Command) -> None:
    done = command("analyze", "-", "--qlog", "out.sqlog")
    assert done.status == 2
    assert "--qlog" in done.err


def test_diagnose_writes_the_same(command: Command, tmp_path: Path) -> None:
    for name in ("analyze", "diagnose"):
        assert command(name, LINUX, "--qlog", tmp_path / name, "--quiet").status == 0
    assert (tmp_path / "analyze").read_bytes() == (tmp_path / "diagnose").read_bytes()


def test_the_vantage_point_is_a_network_whose_flow_is_named(tmp_path: Path) -> None:
    """draft-ietf-quic-qlog-main-schema, VantagePoint: of the type "network" the flow is required."""
    from anabranch.captures.data import write_qlog

    write_qlog([LINUX], tmp_path / "out")
    head, *events = records(tmp_path / "out")
    assert head["trace"]["vantage_point"] == {"type": "network", "flow": "client"}
    assert all(isinstance(event["time"], float | int) and ":" in event["name"] for event in events)


def test_a_file_that_cannot_be_made_whole_stays_as_it_was(tmp_path: Path) -> None:
    """The capture is no capture: what was there before is still there, and nothing else is."""
    from anabranch.captures.data import write_qlog

    (tmp_path / "bad.pcap").write_bytes(b"this is no capture")
    (tmp_path / "out").write_text("before")
    with pytest.raises(ab.CaptureError):
        write_qlog([tmp_path / "bad.pcap"], tmp_path / "out")
    assert (tmp_path / "out").read_text() == "before"
    assert {file.name for file in tmp_path.iterdir()} == {"bad.pcap", "out"}


def test_a_pipe_is_written_as_it_is(tmp_path: Path) -> None:
    from anabranch.captures.data import write_qlog

    os.mkfifo(tmp_path / "pipe")
    with (tmp_path / "read").open("wb") as file, subprocess.Popen(["cat", tmp_path / "pipe"], stdout=file) as reader:
        count = write_qlog([LINUX], tmp_path / "pipe")
        assert reader.wait(10) == 0
    assert (tmp_path / "read").read_bytes().count(b"mptcp:segment") == count
    assert (tmp_path / "pipe").is_fifo()
