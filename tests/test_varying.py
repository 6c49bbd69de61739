"""What links that vary offered: the frame and its figures."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

import anabranch as ab
from anabranch import plots
from anabranch.measures.timeline import spoken
from helpers import TWO_PATHS, Command

CHANGES = """
[transfer]
duration = "10 s"
[[path]]
rate = "10 Mbit/s"
changes = [
    { at = "4 s", rate = "4 Mbit/s" },
    { at = "6 s", state = "down" },
    { at = "8 s", state = "up", delay = "60 ms" },
]
[[path]]
rate = "5 Mbit/s"
"""


def test_the_frame_has_rates_and_delays_of_the_link_that_changes() -> None:
    run = ab.Scenario.from_toml(CHANGES).run()
    frame = run.links
    assert set(frame["link"]) == {"path0"}
    at = {t: frame.iloc[(frame["t"] - t).abs().argmin()] for t in (2.0, 5.0, 7.0, 9.0)}
    assert [at[t]["offered"] for t in at] == pytest.approx([10e6, 4e6, 0, 4e6])
    delays = [at[t]["delay"] for t in at]
    assert delays[:2] + delays[3:] == pytest.approx([0.01, 0.01, 0.06])
    assert np.isnan(delays[2])
    # Full most of the time: payload is 1400 of 1452 octets, less options.
    assert 0.9 < at[2.0]["carried"] / 10e6 < 1400 / 1452
    assert at[7.0]["carried"] == 0


def test_over_a_satellite_no_more_is_carried_than_offered() -> None:
    scenario = ab.Scenario.two_path("starlink mobile", "lte driving", transfer="30 s").set("transfer.direction", "down")
    frame = scenario.run(seed=3).links
    assert set(frame["link"]) == {"path0", "path1"}
    for _, rows in frame.groupby("link"):
        sums = rows[["offered", "carried"]].cumsum()
        assert (sums["carried"] <= sums["offered"] * 1.02 + 1e6).all()
        assert sums["carried"].iloc[-1] > 0
        assert rows["delay"].min() > 0.005


def test_a_trace_offers_what_it_says(here: Path) -> None:
    Path("a.trace").write_text("".join(f"{ms}\n" for ms in range(1, 1001)), encoding="utf-8")  # 12 Mbit/s
    Path("s.toml").write_text('[transfer]\nbytes = "3 MB"\n[[path]]\ntrace = "a.trace"\n', encoding="utf-8")
    offered = ab.Scenario.load("s.toml").run().links["offered"]
    assert offered.iloc[:-1].to_numpy() == pytest.approx(12e6, rel=0.06)
    assert offered.mean() == pytest.approx(12e6, rel=0.01)


def test_the_figures_are_there_where_a_link_varies(here: Path, command: Command) -> None:
    run = ab.Scenario.from_toml(CHANGES).run()
    for name, label in (("offered", "Mbit/s"), ("link_delay", "(ms)")):
        ax = getattr(run.plot, name)(Figure().subplots())
        assert label in ax.get_ylabel()
        names = [text.get_text() for text in ax.get_legend().get_texts()]
        assert names == [spoken(name) for name in run.links["link"].unique()]
    run.save("out")
    assert {"offered.svg", "link_delay.svg"} <= {file.name for file in Path("out").iterdir()}
    assert "Rate offered and used" in Path("out/report.html").read_text("utf-8")
    assert command("plot", "out", "--figure", "link_delay", "--format", "png").status == 0
    still = ab.Scenario.from_toml(TWO_PATHS).run()
    assert not len(still.links)
    with pytest.raises(ValueError, match="none of its links varies"):
        still.plot.offered()


def test_the_scale_of_the_delay_is_that_of_the_link_and_not_of_its_outages(here: Path) -> None:
    run = ab.Scenario.from_toml(CHANGES).run()
    frame = pd.concat([run.links.iloc[:1]] * 60, ignore_index=True).assign(t=[0.5 + i for i in range(60)], delay=0.01)

    def top(**delays: float) -> float:
        changed = frame.copy()
        for second, delay in delays.items():
            changed.loc[int(second[1:]), "delay"] = delay
        return float(plots.link_delay(changed, Figure().subplots()).get_ylim()[1])

    assert top() == pytest.approx(11)
    assert top(s5=0.08) == pytest.approx(88)
    # The last second of an outage, or all of it.
    assert top(s5=0.9) == top(s5=0.9, s6=3.0) == pytest.approx(110)
    # A delay that is there for long.
    assert top(**{f"s{i}": 0.3 for i in range(20, 30)}) == pytest.approx(330)
