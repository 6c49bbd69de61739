"""``anabranch compare``: runs, analyses, a run and an analysis, sweeps; and analyses drawn and made again."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import anabranch as ab
from anabranch.comparison.captures import paired
from anabranch.sentences import sweep as say
from helpers import SEVERAL, TWO_PATHS, Command, without_figures

LINUX = Path(__file__).parent.parent / "crates" / "acceptance" / "tests" / "data" / "linux-mptcp-two-paths-snap128.pcap"
AXES: Any = {"recovery": ["none", "dsack"], "path.1.delay": ["10 ms", "80 ms"]}
BASE = ab.Scenario.two_path("5 Mbit/s, 20 ms, loss 1 %", "2 Mbit/s, 10 ms", transfer="300 kB")


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run and its captures, before and after a change; a sweep before and after; the capture of Linux."""
    base = tmp_path_factory.mktemp("compare")
    two = ab.Scenario.from_toml(TWO_PATHS)
    with without_figures():
        for name, scenario in (("before", two), ("after", two.set("path.1.delay", "200 ms"))):
            run = scenario.run(pcap=base / f"{name}-pcap")
            run.save(base / name)
            ab.analyze(sorted((base / f"{name}-pcap").glob("client-*.pcapng"))).save(base / f"{name}-seen")
    ab.analyze(LINUX).save(base / "linux")
    ab.sweep(BASE, AXES, seeds=6, out=base / "sweep-before")
    ab.sweep(BASE.set("path.0.loss", "2 %"), AXES, seeds=6, out=base / "sweep-after")
    return base


@pytest.fixture
def there(folders: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(folders)
    return folders


def row(text: str, label: str, which: int = 0) -> list[str]:
    """The cells of a line that begins with `label`."""
    lines = [line.strip() for line in text.splitlines() if line.strip().startswith(label)]
    return re.split(r" {2,}", lines[which])[1:]


def test_two_analyses_stand_side_by_side(command: Command, there: Path) -> None:
    done = command("compare", "before-seen", "after-seen")
    assert (done.status, done.err) == (0, "")
    before, after = (ab.Capture.load(name).summary for name in ("before-seen", "after-seen"))
    a, b, ratio = row(done.out, "goodput (Mbit/s)")
    assert float(a) == pytest.approx(before["goodput_mbps"], rel=1e-3)
    assert float(b) == pytest.approx(after["goodput_mbps"], rel=1e-3)
    assert float(ratio) == pytest.approx(after["goodput_mbps"] / before["goodput_mbps"], rel=1e-3)
    # The second path's delay is 10 ms, then 200 ms, one way.
    low, high, _ = row(done.out, "minimum RTT (ms)", 1)
    assert 20 < float(low) < 40
    assert 400 < float(high) < 420
    assert "after-seen: captured at the client; completion, first and last octet read, goodput, " in done.out
    assert "inferred" in done.out


@pytest.mark.usefixtures("no_figures")
def test_an_upload_and_a_download_are_estimated_each_at_its_sender(command: Command, here: Path) -> None:
    both_ways = ab.Scenario.from_toml(
        """
        [[path]]
        rate = "5 Mbit/s"
        [[connection]]
        name = "upload"
        transfer = { bytes = "200 kB", direction = "up" }
        [[connection]]
        name = "download"
        transfer = { bytes = "200 kB", direction = "down" }
        """
    )
    both_ways.run(pcap="pcap")
    estimated = []
    for host in ("client", "server"):
        capture = ab.analyze(sorted(Path("pcap").glob(f"{host}-*.pcapng")))
        capture.save(host)
        estimated.append([bool(one["estimated"]) for one in capture.summary["connections"]])
    assert estimated == [[True, False], [False, True]]
    done = command("compare", "client", "server")
    text = " ".join(done.out.split())
    for host in ("client", "server"):
        assert f"{host}: captured at the {host}; for 1 of 2 connections, completion, first and last octet" in text


@pytest.mark.usefixtures("no_figures")
def test_subflows_belong_together_by_their_addresses_whatever_their_order(command: Command, there: Path) -> None:
    turned = ab.Capture.load("before-seen")
    turned.summary["subflows"].reverse()
    turned.save("turned")
    done = command("compare", "before-seen", "turned")
    for which in range(1, 3):
        same, other, ratio = row(done.out, "data segments", which)
        assert (same, ratio) == (other, "1")


def test_connections_of_other_ports_belong_together_by_their_server() -> None:
    from anabranch.comparison.captures import matched

    ours = [{"k": "a", "n": 1}, {"k": "b", "n": 2}, {"k": "b", "n": 3}, {"k": "c", "n": 4}]
    theirs = [{"k": "b", "n": 5}, {"k": "d", "n": 6}, {"k": "a", "n": 7}, {"k": "b", "n": 8}]
    found = [tuple(x and x["n"] for x in pair) for pair in matched(ours, theirs, lambda x: x["k"])]
    assert found == [(1, 7), (2, 5), (3, 8), (4, 6)]
    found = [tuple(x and x["n"] for x in pair) for pair in matched(ours[2:], theirs[1:3], lambda x: x["k"])]
    assert found == [(3, None), (4, None), (None, 6), (None, 7)]


def test_connections_of_analyses_are_paired_by_the_server_of_their_first_subflow() -> None:
    """The second capture has the connections in the opposite order, with other ports of the client."""

    def capture(*ends: tuple[str, str]) -> Any:
        flows = [{"client": client, "server": server} for client, server in ends]
        return SimpleNamespace(summary={"connections": [{"name": f["server"], "subflows": [f]} for f in flows]})

    first = capture(("10.0.0.1:5001", "10.1.0.1:80"), ("10.0.0.1:5002", "10.1.0.2:443"))
    second = capture(("10.0.0.1:6001", "10.1.0.2:443"), ("10.0.0.1:6002", "10.1.0.1:80"))
    assert [pair.name for pair in paired(first, second)] == ["10.1.0.1:80", "10.1.0.2:443"]


@pytest.mark.usefixtures("no_figures")
def test_a_run_and_its_capture_show_what_both_have(command: Command, there: Path) -> None:
    both_ends = ab.analyze(sorted(Path("before-pcap").glob("*.pcapng")))
    both_ends.save("both-ends")
    done = command("compare", "before", "both-ends")
    assert done.status == 0
    for label in ("goodput (Mbit/s)", "data segments", "out-of-order ratio (%)", "octets delivered"):
        a, b, ratio = row(done.out, label)
        assert (a, ratio) == (b, "1"), label
    assert "utilisation" not in done.out  # a capture cannot know it
    assert "one way, median" not in done.out  # a run does not say it
    turned = command("compare", "both-ends", "before")
    assert row(turned.out, "data segments")[:2] == row(done.out, "data segments")[:2]


def test_two_sweeps_are_compared_cell_by_cell_in_pairs(command: Command, there: Path) -> None:
    done = command("compare", "sweep-before", "sweep-after")
    assert (done.status, done.err) == (0, "")
    before, after = (ab.Sweep.load(name) for name in ("sweep-before", "sweep-after"))
    (a,), (b,) = before.cubes("goodput_mbps"), after.cubes("goodput_mbps")
    lines = [line for line in done.out.splitlines() if re.match(r"(none|dsack) ", line)]
    assert len(lines) == 4
    for i, line in enumerate(lines):
        cells = re.split(r" {2,}", line)
        assert cells[:3] == [*map(str, before.plan.cells[i].labels.values()), "6"]
        assert float(cells[3]) == pytest.approx(a[i].mean(), rel=5e-3)
        assert float(cells[5]) == pytest.approx((b[i] - a[i]).mean(), rel=5e-2)
        # Twice the loss does no good: the interval of the paired difference tells.
        assert float(cells[5]) < 0
    assert "4 comparisons: on average, 0.2 of their 95 % intervals miss" in done.out
    assert re.search(r"^-.*# --set|^\+# --set path.0.loss=2 %", done.out, re.M)
    other = command("compare", "sweep-before", "sweep-after", "--measure", "segments")
    title = "segments; differences are sweep-after minus sweep-before, in pairs of runs with the same seed\n"
    assert other.out.startswith(title)


def test_the_same_sweep_twice_has_the_same_traces(command: Command, there: Path) -> None:
    done = command("compare", "sweep-before", "sweep-before")
    assert say.SAME_TRACES in done.out
    assert "the scenarios differ" not in done.out


def test_sweeps_that_share_some_cells_are_compared_in_these(command: Command, there: Path) -> None:
    ab.sweep(BASE, {"path.1.delay": ["80 ms", "90 ms"], "recovery": ["dsack"]}, seeds=[4, 5, 9], out="sweep-other")
    done = command("compare", "sweep-before", "sweep-other")
    lines = [line for line in done.out.splitlines() if re.match(r"(none|dsack) ", line)]
    assert [re.split(r" {2,}", line)[:3] for line in lines] == [["dsack", "80 ms", "2"]]
    assert say.ONLY_IN(count=3, name="sweep-before") in done.out
    assert say.ONLY_IN(count=1, name="sweep-other") in done.out
    assert say.SAME_TRACES in done.out


@pytest.mark.parametrize(
    ("first", "second", "arguments", "words"),
    [
        ("before", "sweep-before", (), ("before is a run", "sweep-before is a sweep", "two sweeps, two analyses")),
        ("linux", "sweep-before", (), ("linux is an analysis of captures",)),
        ("sweep-before", "sweep-before", ("--measure", "speed"), ("no measure 'speed'", "goodput_mbps")),
        ("before", "after", ("--measure", "segments"), ("--measure", "a measure is for two sweeps")),
        ("before", "before-pcap", (), ("before-pcap: a folder with captures; give the files: before-pcap/*.pcapng",)),
        ("none", "before", (), ("none: no such directory",)),
    ],
)
def test_what_cannot_be_compared_is_refused(
    command: Command, there: Path, first: str, second: str, arguments: tuple[str, ...], words: tuple[str, ...]
) -> None:
    done = command("compare", first, second, *arguments)
    assert (done.status, done.out) == (2, "")
    for word in words:
        assert word in done.err
    assert len(done.err.splitlines()) <= 3


def test_sweeps_of_other_axes_are_refused(command: Command, there: Path) -> None:
    ab.sweep(BASE, {"mss": [700]}, seeds=1, out="sweep-mss")
    done = command("compare", "sweep-before", "sweep-mss")
    assert (done.status, done.out) == (2, "")
    assert "have different axes (recovery, path.1.delay; mss)" in done.err
    ab.sweep(BASE, AXES, seeds=[77], out="sweep-77")
    assert "no seed in common" in command("compare", "sweep-before", "sweep-77").err


@pytest.mark.usefixtures("no_figures")
def test_runs_of_several_connections_are_compared_one_by_one(command: Command, here: Path) -> None:
    several = ab.Scenario.from_toml(SEVERAL)
    several.run().save("one")
    several.set("path.0.delay", "60 ms").run().save("two")
    done = command("compare", "one", "two")
    assert done.status == 0
    assert len(row(done.out, "Jain's index of the goodputs")) == 3
    names = [connection["name"] for connection in ab.load("one").summary["connections"]]
    assert all(re.search(rf"^{name}$", done.out, re.M) for name in names)


def test_a_stored_analysis_is_what_was_stored(there: Path) -> None:
    made, again = ab.analyze(LINUX), ab.Capture.load("linux")
    assert {**again.summary, "wall_s": 0} == {**made.summary, "wall_s": 0}
    for name in ("subflows", "sequence", "window"):
        pd.testing.assert_frame_equal(getattr(again, name), getattr(made, name))
    assert str(again) == str(made)
    assert np.isfinite(again.plot.srtt().get_xlim()).all()


def test_an_analysis_is_drawn_again(command: Command, there: Path) -> None:
    shutil.copytree("linux", "drawn")
    first = {file.name: file.read_bytes() for file in Path("drawn").iterdir()}
    (there / "drawn" / "sequence.svg").unlink()
    done = command("plot", "drawn")
    assert (done.status, done.err) == (0, "")
    assert {file.name: file.read_bytes() for file in Path("drawn").iterdir()} == first
    done = command("plot", "drawn", "--figure", "in_flight", "--format", "png", "--out", "pictures")
    assert done.out.split() == [str(Path("pictures/in_flight.png"))]
    done = command("plot", "drawn", "--figure", "cwnd")
    assert (done.status, done.out) == (2, "")
    assert "'cwnd' is not a figure; choices: sequence, throughput" in done.err
    assert "'sequence' is not a figure; choices: cwnd" in command("plot", "before", "--figure", "sequence").err


@pytest.mark.usefixtures("no_figures")
def test_an_analysis_of_one_protocol_is_made_again_with_it(command: Command, here: Path) -> None:
    text = """
        [[path]]
        [[path]]
        [[connection]]
        transfer = { bytes = "50 kB" }
        [[connection]]
        protocol = "tcp"
        transfer = { bytes = "50 kB" }
    """
    ab.Scenario.from_toml(text).run(pcap="both")
    for protocol in ("tcp", "mptcp"):
        assert command("analyze", "both/client-0.pcapng", "--protocol", protocol, "--out", protocol).status == 0
        assert ab.Capture.load(protocol).summary["protocol"] == protocol
        assert command("replay", protocol).out == f"{protocol}: reproduced\n"


@pytest.mark.usefixtures("no_figures")
def test_an_analysis_is_made_again_and_proved(command: Command, here: Path) -> None:
    shutil.copy(LINUX, "linux.pcap")
    assert command("analyze", "linux.pcap", "--out", "seen", "--quiet").status == 0
    done = command("replay", "seen")
    assert (done.status, done.out, done.err) == (0, "seen: reproduced\n", "")
    marker = json.loads((here / "seen" / "provenance.json").read_text(encoding="utf-8"))
    summary = (here / "seen" / "summary.json").read_bytes()
    (here / "seen" / "summary.json").write_bytes(summary.replace(b'"segments": 2133', b'"segments": 2134'))
    done = command("replay", "seen")
    assert (done.status, done.out) == (2, "")
    assert "seen: not a whole analysis of captures: summary.json was changed after it was written" in done.err
    del marker["sha256"]
    (here / "seen" / "provenance.json").write_text(json.dumps(marker), encoding="utf-8")
    done = command("replay", "seen")
    assert (done.status, done.out, done.err) == (1, "", "seen: DIFFERS in segments\n")
    shutil.copy(LINUX, "other.pcap")
    with Path("linux.pcap").open("ab") as file:
        file.write(b"\0")
    assert "linux.pcap was changed after the analysis" in command("replay", "seen").err
    Path("linux.pcap").unlink()
    assert (
        "its capture linux.pcap is not here; go to the directory in which `analyze` was run"
        in command("replay", "seen").err
    )


@pytest.mark.usefixtures("no_figures")
def test_an_analysis_of_standard_input_cannot_be_made_again(here: Path) -> None:
    with LINUX.open("rb") as file:
        words = [sys.executable, "-m", "anabranch", "analyze", "-", "--out", "seen", "--quiet"]
        assert subprocess.run(words, stdin=file, check=False).returncode == 0
    words = [sys.executable, "-m", "anabranch", "replay", "seen"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (
        2,
        "seen: no hash of its capture - is stored, because it was not a file when the analysis was saved; analyse it "
        "again from a file\n",
    )


def test_a_damaged_frame_of_an_analysis_is_told(command: Command, there: Path) -> None:
    shutil.copytree("linux", "damaged")
    for name in ("subflows", "sequence", "window"):
        file = there / "damaged" / f"{name}.parquet"
        content = file.read_bytes()
        file.write_bytes(content[:100] + bytes([content[100] ^ 1]) + content[101:])
        done = command("plot", "damaged")
        assert (done.status, done.out) == (2, "")
        assert f"damaged: not a whole analysis of captures: {name}.parquet was changed after it was written" in done.err
        file.write_bytes(content)


def test_python_says_who_reads_an_analysis(there: Path) -> None:
    with pytest.raises(ab.ResultError, match=r"it is an analysis of captures: ab\.Capture\.load reads it"):
        ab.load("linux")
    with pytest.raises(ab.ResultError, match="before: a run, not an analysis of captures"):
        ab.Capture.load("before")
