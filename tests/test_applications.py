"""What applications that count in parts are told: frames, percentiles, sentences, figures, sweeps."""

import json
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

import anabranch as ab
from anabranch import plots
from anabranch.kernel.runner import KernelError
from anabranch.kernel.translate import spec_of
from helpers import Command, without_figures

MESSAGES = """
title = "messages"
connection = { nagle = false }
[transfer]
message = { name = "lognormal", median = "2 kB", sigma = 1.0 }
interval = { name = "exponential", mean = "20 ms" }
deadline = "100 ms"
duration = "5 s"
[[path]]
loss = "1 %"
[[path]]
rate = "2 Mbit/s"
delay = "50 ms"
"""
PERCENTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99, "p999": 0.999}


@pytest.fixture(scope="module")
def messages() -> ab.Run:
    return ab.Scenario.from_toml(MESSAGES).run()


def test_percentiles_are_those_of_the_frame(messages: ab.Run) -> None:
    latency = messages.items["latency"].to_numpy()
    assert len(latency) > 150
    told = messages.summary["message_latency_ms"]
    assert set(told) == set(PERCENTILES)
    for name, p in PERCENTILES.items():
        assert told[name] == pytest.approx(1e3 * np.quantile(latency, p), rel=1e-9)
    assert messages.summary["deadline_missed"] == pytest.approx((latency > 0.1).mean())
    assert 0 < messages.summary["deadline_missed"] < 1


def test_the_frame_holds_all_that_was_sent(messages: ab.Run) -> None:
    frame = messages.items
    assert list(frame.columns) == ["connection", "kind", "number", "bytes", "asked", "done", "latency"]
    assert frame["bytes"].sum() == messages.summary["bytes_delivered"]
    assert frame["number"].tolist() == list(range(len(frame)))
    assert (np.diff(frame["done"]) >= 0).all()
    np.testing.assert_allclose(frame["done"] - frame["asked"], frame["latency"])


def test_runs_without_parts_have_an_empty_frame_and_no_figure(finished: ab.Run) -> None:
    assert finished.items.empty
    assert "message_latency_ms" not in finished.summary
    assert set(plots.figures_of(finished)) == set(plots.FIGURES)
    with pytest.raises(ValueError, match="no figure 'latency'"):
        finished.plot.latency()


def test_the_figure_is_the_distribution_of_the_latencies(messages: ab.Run) -> None:
    ax = messages.plot.latency(Figure().subplots())
    (line,) = ax.lines
    x, y = (np.asarray(values, dtype=float) for values in line.get_data())
    latency = np.sort(messages.items["latency"]) * 1e3
    np.testing.assert_allclose(x[1:], latency)
    assert (y[0], y[-1]) == (0, 100)
    assert ax.get_xlabel() == "latency (ms)"
    assert ax.get_ylabel() == "messages (%)"


@pytest.mark.usefixtures("no_figures")
def test_a_result_keeps_its_parts(messages: ab.Run, tmp_path: Path) -> None:
    messages.save(tmp_path / "kept")
    again = ab.load(tmp_path / "kept")
    assert again.items.equals(messages.items)
    assert (tmp_path / "kept/latency.svg").exists()
    assert "Share of the messages" in (tmp_path / "kept/report.html").read_text(encoding="utf-8")
    (tmp_path / "kept/items.parquet").write_bytes(b"")
    with pytest.raises(ab.ResultError, match=r"items\.parquet was changed after it was written"):
        ab.load(tmp_path / "kept")


def test_the_table_says_what_messages_took(command: Command, here: Path) -> None:
    (here / "messages.toml").write_text(MESSAGES, encoding="utf-8")
    told = json.loads(command("run", "messages.toml", "--json").out)["message_latency_ms"]
    said = command("run", "messages.toml").out
    assert "message latency: median " in said
    assert f"99.9th percentile {told['p999']:.3g} ms" in said
    assert "deadlines missed " in said


def test_latencies_are_columns_of_sweeps() -> None:
    plan = ab.Scenario.from_toml(MESSAGES).set("transfer.duration", "2 s")
    sweep = ab.sweep(plan, {"scheduler": ["min-rtt", "round-robin"]}, seeds=2)
    runs = sweep.runs
    assert runs["message_latency_p99_ms"].between(10, 10_000).all()
    assert runs["deadline_missed"].between(0, 1).all()
    assert len(sweep.compare("scheduler", baseline="min-rtt", measure="message_latency_p95_ms")) == 1


PAGE = """
transfer = { page = "wikipedia", connections = 3 }
[[path]]
[[path]]
"""
FILM = """
connection = { protocol = "tcp" }
transfer = { ladder = ["1 Mbit/s", "2 Mbit/s"], count = 5, segment = "2 s" }
path = [{ rate = "RATE" }]
"""


def test_a_page_over_several_connections_is_one_page(command: Command, here: Path) -> None:
    run = ab.Scenario.from_toml(PAGE).run()
    summary, frame = run.summary, run.items
    assert sorted(frame["number"]) == list(range(15))
    assert frame["bytes"].sum() == 72 * 1024
    assert summary["page_load_s"] == pytest.approx(frame["done"].max())
    assert [c.get("page_load_s") for c in summary["connections"]] == [summary["page_load_s"], None, None]
    assert summary["object_latency_ms"]["p95"] == pytest.approx(1e3 * np.quantile(frame["latency"], 0.95))
    ax = run.plot.latency(Figure().subplots())
    assert [line.get_label() for line in ax.lines] == ["connection0", "connection0-2", "connection0-3", "total"]
    (here / "page.toml").write_text(PAGE, encoding="utf-8")
    said = command("run", "page.toml").out
    assert "page load " in said
    assert "object latency: median " in said


@pytest.mark.parametrize(
    ("rate", "said"),
    [("10 Mbit/s", "; no stop; mean bit rate 1.8 Mbit/s, 1 change"), ("900 kbit/s", "; 4 stops, ")],
)
def test_a_film_is_told_in_a_sentence(command: Command, here: Path, rate: str, said: str) -> None:
    (here / "film.toml").write_text(FILM.replace("RATE", rate), encoding="utf-8")
    assert said in command("run", "film.toml").out
    summary = json.loads(command("run", "film.toml", "--json").out)
    assert (summary["rebuffering_s"] > 0) == (summary["rebuffering_count"] > 0) == (rate == "900 kbit/s")


@pytest.mark.usefixtures("no_figures")
def test_pages_and_films_are_compared_and_swept(command: Command, here: Path) -> None:
    (here / "page.toml").write_text(PAGE, encoding="utf-8")
    for out, context in (("one", nullcontext()), ("two", without_figures())):
        with context:
            assert command("run", "page.toml", "--out", out, "--quiet").status == 0
    said = command("compare", "one", "two").out
    assert "page load (s)" in said
    assert "object latency, 95th percentile (ms)" in said
    film = ab.Scenario.from_toml(FILM.replace("RATE", "900 kbit/s"))
    runs = ab.sweep(film, {"path.0.delay": ["10 ms", "100 ms"]}, seeds=1).runs
    assert (runs["rebuffering_count"] == 4).all()
    assert runs["rebuffering_s"].iloc[1] > runs["rebuffering_s"].iloc[0] + 4 * 0.18
    assert runs["startup_s"].between(2, 5).all()
    assert (runs["bitrate_mean_mbps"] == 1).all()


@pytest.mark.parametrize("transfer", ["page = 'amazon'", "message = '1 kB'\ninterval = '1 s'\ncount = 1"])
def test_the_kernel_is_not_asked_for_what_it_has_not(transfer: str) -> None:
    resolved = ab.Scenario.from_toml(f"connection.controller = 'cubic'\n[transfer]\n{transfer}\n[[path]]").check()
    with pytest.raises(KernelError, match="transfer: this transfer cannot be compared with Linux"):
        spec_of(resolved)


OUTAGE = """
transfer = { duration = "9 s" }
[[path]]
changes = [{ at = "3 s", state = "down" }, { at = "6 s", state = "up" }]
[[path]]
rate = "5 Mbit/s"
"""


@pytest.mark.usefixtures("no_figures")
def test_the_longest_gap_and_the_recovery_are_told_compared_and_swept(command: Command, here: Path) -> None:
    (here / "outage.toml").write_text(OUTAGE, encoding="utf-8")
    summary = json.loads(command("run", "outage.toml", "--json", "--out", "one").out)
    found = [change["recovery_s"] for change in summary["recoveries"]]
    assert [change["at_s"] for change in summary["recoveries"]] == [3, 6]
    assert summary["recovery_max_s"] == max(found)
    said = command("run", "outage.toml").out
    assert "longest time without data " in said
    assert "; path change at 3 s: " in said
    assert "longest recovery after a change (s)" in command("compare", "one", "one").out
    runs = ab.sweep(ab.Scenario.from_toml(OUTAGE), {"scheduler": ["min-rtt"]}, seeds=2).runs
    assert (runs["recovery_max_s"] > 0).all()
    assert (runs["longest_gap_s"] > 0).all()


def test_runs_without_changes_have_a_gap_and_no_recovery(finished: ab.Run) -> None:
    assert 0 < finished.summary["longest_gap_s"] < 1
    assert "recoveries" not in finished.summary
    assert "longest time without data" not in str(finished)


def test_datagrams_are_told_in_a_sentence(command: Command, here: Path) -> None:
    text = "connection.protocol = 'udp'\ntransfer = { rate = '1 Mbit/s', duration = '2 s' }\n[[path]]\nloss = '5 %'\n"
    (here / "udp.toml").write_text(text, encoding="utf-8")
    said = command("run", "udp.toml").out
    assert "datagram delay: median 11" in said
    assert "; jitter 0 s; datagrams lost " in said
    runs = ab.sweep(ab.Scenario.from_toml(text), {"path.0.loss": ["0 %", "20 %"]}, seeds=2).runs
    assert runs["datagram_loss"].iloc[0] == 0 < runs["datagram_loss"].iloc[-1]
    assert runs["datagram_delay_p99_ms"].between(11, 11.5).all()


@pytest.mark.usefixtures("no_figures")
def test_both_directions_are_told_and_swept(command: Command, here: Path) -> None:
    text = "transfer = { bytes = '500 kB', direction = 'both' }\n[[path]]\n[[path]]\nrate = '2 Mbit/s'\n"
    (here / "both.toml").write_text(text, encoding="utf-8")
    said = command("run", "both.toml", "--out", "out").out
    assert "from the server to the client: 500 kB delivered, goodput " in said
    scenario = ab.Scenario.from_toml(text)
    assert "client and server" in scenario._repr_html_()
    runs = ab.sweep(scenario, {"scheduler": ["min-rtt"]}, seeds=1).runs
    assert runs["reverse_goodput_mbps"].between(1, 12).all()
    with pytest.raises(KernelError, match=r"transfer\.direction"):
        spec_of(scenario.set({"connection.controller": "cubic"}).check())
