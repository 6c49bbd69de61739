"""Pictures of waiting: the data sequence to be zoomed in a report, and who waited for whom."""

import json
import re
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

import anabranch as ab
from anabranch.plots.waiting import SHADES, waiting
from anabranch.plots.zoom import duplicates, zoomable
from helpers import Page

ROOT = Path(__file__).parent.parent
LINUX = ROOT / "crates" / "acceptance" / "tests" / "data" / "linux-mptcp-two-paths-snap128.pcap"


def test_a_duplicate_was_acknowledged_before_it_was_sent_again() -> None:
    """Octets 0 to 100 are acknowledged at 1 s: what is sent again then or before is none, what is at 2 s is one."""
    sent = pd.DataFrame(
        [
            (0.0, "new", 0, 200),
            (0.5, "retransmission", 0, 100),
            (1.0, "reinjection", 0, 100),
            (2.0, "reinjection", 0, 100),
            (2.0, "reinjection", 50, 150),
            (2.0, "new", 0, 100),
        ],
        columns=["t", "kind", "low", "high"],
    ).assign(connection=0, subflow=0)
    said = pd.DataFrame([(0, 1.0, 100, 500)], columns=["connection", "t", "data_ack", "edge"])
    assert duplicates(sent, said).tolist() == [False, False, False, True, False, False]
    assert not duplicates(sent, said[said["t"] > 5]).any()


def test_the_zoomable_picture_has_every_span_and_loads_nothing(tmp_path: Path) -> None:
    capture = ab.analyze(LINUX)
    capture.save(tmp_path / "analysis")
    text = (tmp_path / "analysis" / "report.html").read_text("utf-8")
    assert all(address.startswith("data:") for address in Page(text).loads)
    (inside,) = re.findall(r'<script type="application/json">(.*?)</script>', text)
    data = json.loads(inside)
    assert sum(len(one["t"]) for one in data["spans"]) == len(capture.sequence)
    assert [len(one["t"]) for one in data["lines"]] == [len(capture.window)] * 2
    new = capture.sequence[capture.sequence["kind"] == "new"]
    colours = [one["colour"] for one in data["spans"] if not one["mark"]]
    assert len(set(colours)) == 2
    assert [len(one["t"]) for one in data["spans"] if not one["mark"]] == new.groupby("subflow").size().tolist()
    assert all(high > low for one in data["spans"] for low, high in zip(one["low"], one["high"], strict=True))


def test_nothing_in_a_label_ends_the_script() -> None:
    sent = pd.DataFrame({"t": [0.0], "connection": 0, "subflow": 0, "kind": "new", "low": 0, "high": 9})
    said = pd.DataFrame({"t": [], "connection": [], "data_ack": [], "edge": []})
    text = zoomable(sent, said, {(0, 0): "</script><b>"}, "a <b>", "")
    assert "<b>" not in text
    assert text.count("</script>") == 2


def test_bars_of_who_waited_are_as_long_as_what_was_measured(tmp_path: Path) -> None:
    ab.Scenario.load(ROOT / "examples" / "blocked-buffer.toml").run(pcap=tmp_path)
    connection = ab.diagnose(sorted(tmp_path.glob("client-*"))).connections[0]
    ax = waiting(connection, Figure().subplots())
    fast, slow = connection["subflows"]
    bars = {box.get_label(): [bar.get_width() for bar in box] for box in ax.containers}
    held = bars.pop("others waited for it")
    assert held == [fast["blocked_others_s"], slow["blocked_others_s"]]
    assert held[1] > 10 * held[0]
    for i, flow in enumerate((fast, slow)):
        assert 0.97 * flow["measured_s"] < sum(widths[i] for widths in bars.values()) <= flow["measured_s"] + 1e-9


def test_every_cause_has_its_colour() -> None:
    from anabranch.measures.causes import CAUSES

    assert list(SHADES) == list(CAUSES)
    assert len(set(SHADES.values())) == len(CAUSES)
