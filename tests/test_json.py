"""What ``run --json`` prints: fields and meanings are fixed, programs rely on them."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

import anabranch as ab
from helpers import SEVERAL, Command

TOP = {
    "status", "completion_s", "first_byte_s", "last_byte_s", "goodput_mbps", "bytes_delivered", "content_ok",
    "ooo_ratio", "ooo_buffer_max_packets", "ooo_buffer_max_bytes", "segments", "events", "wall_s", "trace_sha256",
    "seed", "version", "subflows",
}  # fmt: skip
ALSO = {
    "title", "aborted_by", "bytes_altered", "stalled_since_s", "choice_ratio", "episodes", "detection_delay_ms",
    "windows_restored", "longest_gap_s",
}  # fmt: skip
ONE = {"name", "protocol", "fallback", "rbd", "reorder_extent_max", "reorder_density", "hol_delay_ms", "limits"}
SUBFLOW = {
    "path", "goodput_mbps", "utilisation", "segments", "retransmissions_fast", "retransmissions_timeout", "spurious",
    "undone", "srtt_ms", "cwnd_mean_segments", "queue_drops",
}  # fmt: skip


def strict(text: str) -> Any:
    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is not JSON")

    return json.loads(text, parse_constant=refuse)


def test_the_fields_are_exactly_the_documented_ones(command: Command, scenario_file: Path) -> None:
    done = command("run", scenario_file, "--json")
    assert done.err == ""
    summary = strict(done.out)
    assert set(summary) == TOP | ALSO | ONE
    assert [set(subflow) for subflow in summary["subflows"]] == [SUBFLOW, SUBFLOW]


def test_several_connections_come_as_a_list_of_such_objects(several: ab.Run) -> None:
    summary = strict(json.dumps(several.summary, allow_nan=False))
    assert set(summary) == TOP | ALSO | {"connections", "jain"}
    assert [c["name"] for c in summary["connections"]] == ["both", "rival"]
    per_run = {"events", "wall_s", "trace_sha256", "seed", "version", "title"}
    for connection in summary["connections"]:
        assert set(connection) >= (TOP | ONE | {"stalled_since_s"}) - per_run


def test_over_several_connections_counts_add_and_maxima_are_maxima(several: ab.Run) -> None:
    summary = several.summary
    connections = summary["connections"]
    for count in ("bytes_delivered", "segments"):
        assert summary[count] == sum(connection[count] for connection in connections)
    for largest in ("ooo_buffer_max_packets", "ooo_buffer_max_bytes"):
        assert summary[largest] == max(connection[largest] for connection in connections)
    assert summary["bytes_delivered"] == 1_500_000
    assert [flow["connection"] for flow in summary["subflows"]] == [0, 0, 1]


def test_a_summary_holds_together(finished: ab.Run) -> None:
    summary = finished.summary
    assert summary["status"] == "completed"
    assert summary["content_ok"] is True
    assert summary["bytes_delivered"] == 2_000_000
    assert 0 < summary["first_byte_s"] < summary["last_byte_s"] <= summary["completion_s"]
    assert summary["goodput_mbps"] == pytest.approx(16 / summary["completion_s"], rel=1e-6)
    assert 0 <= summary["ooo_ratio"] <= 1
    assert summary["segments"] == sum(flow["segments"] for flow in summary["subflows"])
    assert summary["segments"] >= math.ceil(2_000_000 / 1400)
    assert sum(flow["goodput_mbps"] for flow in summary["subflows"]) == pytest.approx(summary["goodput_mbps"], rel=0.02)
    assert all(0 < flow["utilisation"] <= 1 for flow in summary["subflows"])
    assert len(summary["trace_sha256"]) == 64
    assert summary["version"] == ab.__version__


def test_nothing_is_not_a_number_even_if_nothing_arrived(command: Command, here: Path) -> None:
    file = here / "lost.toml"
    file.write_text('duration = "5 s"\n[transfer]\nbytes = "1 MB"\n[[path]]\nloss = "100 %"\n', encoding="utf-8")
    summary = strict(command("run", file, "--json").out)
    assert (summary["bytes_delivered"], summary["goodput_mbps"], summary["first_byte_s"]) == (0, 0, None)


def test_json_of_several_connections_is_one_object(command: Command, here: Path) -> None:
    file = here / "several.toml"
    file.write_text(SEVERAL, encoding="utf-8")
    done = command("run", file, "--json")
    assert len(strict(done.out)["connections"]) == 2


def test_shares_of_a_whole_add_up_to_it(finished: ab.Run) -> None:
    summary = finished.summary
    assert sum(summary["limits"].values()) == pytest.approx(1)
    assert sum(summary["rbd"]) == pytest.approx(1)
    assert sum(share for _, share in summary["reorder_density"]) == pytest.approx(1)


def test_fairness_is_jains_index_of_the_goodputs(several: ab.Run) -> None:
    rates = [connection["goodput_mbps"] for connection in several.summary["connections"]]
    expected = sum(rates) ** 2 / (2 * sum(rate**2 for rate in rates))
    assert 0.5 <= several.summary["jain"] <= 1
    assert several.summary["jain"] == pytest.approx(expected)
