"""Whole answers of `compare`: runs, analyses, both, sweeps; as text, tables and frames (`golden_answers`)."""

import contextlib
from pathlib import Path
from typing import Any

import pytest

import anabranch as ab
from anabranch.comparison import Comparison
from anabranch.comparison.runs import changes
from golden_answers import agrees, page
from helpers import SEVERAL, TWO_PATHS

TWO = ab.Scenario.from_toml(TWO_PATHS).set("transfer.bytes", "400 kB")
RUNS = {
    "two": TWO,
    "two-lossy": TWO.set({"path.1.loss": "3 %", "path.0.delay": "30 ms", "connection.controller": "cubic"}),
    "same-trace": TWO.set("connection.judge", "dsack"),
    "several": ab.Scenario.from_toml(SEVERAL),
    "several-slow": ab.Scenario.from_toml(SEVERAL).set({"path.1.rate": "1 Mbit/s"}),
    "messages": TWO.set("transfer", '{ message = "2 kB", interval = "20 ms", duration = "1 s" }'),
}
AXES: Any = {"scheduler": ["min-rtt", "round-robin"], "path.1.delay": ["10 ms", "80 ms"]}
BASE = ab.Scenario.two_path("5 Mbit/s, 20 ms, loss 1 %", "2 Mbit/s, 10 ms", transfer="200 kB")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Runs, and the analyses of some of their captures."""
    place = tmp_path_factory.mktemp("golden")
    made: dict[str, Any] = {}
    with contextlib.chdir(place):
        for name, scenario in RUNS.items():
            made[name] = scenario.run(pcap=name)
            made[f"{name} client"] = ab.analyze(sorted(Path(name).glob("client-*")))
        made["two both"] = ab.analyze(sorted(Path("two").glob("*.pcapng")))
    return made


@pytest.fixture(scope="module")
def sweeps() -> dict[str, ab.Sweep]:
    """Sweeps that share some cells and some seeds."""
    return {
        "before": ab.sweep(BASE, AXES, seeds=6),
        "after": ab.sweep(BASE.set("path.0.loss", "2 %"), AXES, seeds=5),
        "part": ab.sweep(BASE, {"path.1.delay": ["80 ms", "90 ms"], "scheduler": ["round-robin"]}, seeds=[2, 4, 9]),
        "still": ab.sweep(BASE.set("path.0.loss", "0 %"), AXES, seeds=6),
        "slow": ab.sweep(BASE.set({"path.0.loss": "0 %", "path.0.rate": "4 Mbit/s"}), AXES, seeds=6),
    }


def told(found: Comparison) -> list[str]:
    """Everything that a comparison says."""
    document = found.document
    frame = found.frame.to_csv(index=False, float_format="%.6g")
    forms = [document.text(), document.text(50), document.written("markdown"), document.written("latex")]
    return [repr(found), *forms, frame, page(found._repr_html_())]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("two", "two-lossy"),
        ("two", "same-trace"),
        ("two", "two"),
        ("several", "several-slow"),
        ("two", "several"),
        ("messages", "two"),
        ("two client", "two-lossy client"),
        ("several client", "two client"),
        ("two both", "two"),
        ("several", "several client"),
    ],
)
def test_runs_and_analyses(runs: dict[str, Any], first: str, second: str) -> None:
    found = ab.compare(runs[first], runs[second])
    name = f"compare-{first}-{second}".replace(" ", "-")
    agrees(name, *told(found))
    ours, theirs = runs[first].summary, runs[second].summary
    rows = found.frame.query("field == 'goodput_mbps' and subflow.isna()")
    if len(rows) == 1 and "connections" not in ours and "connections" not in theirs:
        assert rows["first"].item() == ours["goodput_mbps"]
        assert rows["ratio"].item() == pytest.approx(theirs["goodput_mbps"] / ours["goodput_mbps"])


@pytest.mark.parametrize(
    ("first", "second", "measure"),
    [
        ("before", "after", None),
        ("after", "before", "completion_s"),
        ("before", "before", "ooo_ratio"),
        ("part", "before", "segments"),
        ("still", "slow", None),
        ("still", "before", None),
    ],
)
def test_sweeps(sweeps: dict[str, ab.Sweep], first: str, second: str, measure: str | None) -> None:
    found = ab.compare(sweeps[first], sweeps[second], measure)
    agrees(f"compare-sweeps-{first}-{second}", *told(found))
    if (first, second) == ("before", "after"):
        ours, theirs = (sweeps[name].runs.query("seed <= 5") for name in (first, second))
        apart = theirs["goodput_mbps"].to_numpy() - ours["goodput_mbps"].to_numpy()
        assert found.frame["n"].tolist() == [5] * 4
        assert found.frame["difference"].tolist() == pytest.approx(apart.reshape(4, 5).mean(1).tolist())
        # The 97.5 % quantile of Student's t with four degrees of freedom is 2.7764.
        half = 2.7764 * apart.reshape(4, 5).std(1, ddof=1) / 5**0.5
        assert (found.frame["high"] - found.frame["difference"]).tolist() == pytest.approx(half.tolist(), rel=1e-4)


def test_a_dozen_connections_and_one_more() -> None:
    """Of more than twelve connections the goodputs alone are compared."""
    both = []
    for rate in ("20 Mbit/s", "10 Mbit/s"):
        for count in (12, 13):
            one = '[[connection]]\nname = "c{}"\nprotocol = "tcp"\ntransfer.bytes = "40 kB"\n'
            text = "".join(one.format(i) for i in range(count)) + f'[[path]]\nrate = "{rate}"\ndelay = "5 ms"\n'
            both.append(ab.Scenario.from_toml(text, name=f"{count}").run())
    texts = [ab.compare(first, second).document.text() for first, second in zip(both[:2], both[2:], strict=True)]
    assert [text.count("data segments") > 1 for text in texts] == [True, False]
    agrees("compare-a-dozen", texts[0][:3000], texts[1], ab.compare(both[0], both[3]).document.text())


def test_of_a_long_line_of_a_scenario_its_beginning_is_shown() -> None:
    texts = [f"a = 1\nb = 2\nstamps = {'x' * count}\nc = 3" for count in (190, 192)]
    shown = changes(texts[0], texts[1], ("one", "other"))
    assert shown[:4] == ["--- one", "+++ other", "@@ -2,3 +2,3 @@", " b = 2"]
    assert shown[4:] == [f"-stamps = {'x' * 190}", f"+stamps = {'x' * 190} ...", " c = 3"]
