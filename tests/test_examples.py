"""What examples/README.md, the sweeps and the captures promise.

crates/acceptance/tests/it/examples.rs has the scenarios.
"""

import re
import shlex
import tomllib
from functools import cache
from pathlib import Path

import pytest

import anabranch as ab
from helpers import Command

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = ROOT / "examples"
README = (EXAMPLES / "README.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^\|.*?`(anabranch [^`]*)`", README, re.MULTILINE)


def goodput(name: str, **changes: str) -> float:
    scenario = ab.Scenario.load(EXAMPLES / f"{name}.toml")
    run = scenario.set(changes).run() if changes else scenario.run()
    return float(run.summary["goodput_mbps"])


def sweep(name: str, seeds: int) -> ab.Sweep:
    plan = ab.Plan.read(EXAMPLES / "sweeps" / f"{name}.toml")
    return plan.with_seeds(tuple(range(1, seeds + 1))).run()


@cache
def means(name: str, seeds: int) -> dict[tuple[str, ...], float]:
    """Return the mean goodput of each cell of a sweep."""
    done = sweep(name, seeds)
    frame = done.means()
    return {tuple(map(str, row[: len(done.axes)])): float(row[-1]) for row in frame[[*done.axes, "mean"]].to_numpy()}


def test_the_page_lists_every_example() -> None:
    files = [*EXAMPLES.glob("*.toml"), *EXAMPLES.glob("sweeps/*.toml")]
    linked = set(re.findall(r"^\| \[[^\]]*\]\(([^)]*)\)", README, re.MULTILINE))
    assert {file.relative_to(EXAMPLES).as_posix() for file in files} == linked
    assert all((EXAMPLES / file).exists() for file in re.findall(r"`([\w-]+\.trace)`", README))


@pytest.mark.parametrize("text", COMMANDS)
def test_its_commands_are_valid(text: str, command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    _, verb, file, *_ = shlex.split(text)
    assert list(ROOT.glob(file)), file
    if verb == "diagnose":
        return
    if verb == "sweep":
        assert not any(cell.error for cell in ab.Plan.read(file).cells)
        return
    changes = re.findall(rf"{re.escape(file)}.*?`(--set [^`]*)`", README)
    assert command("check", file, *(word for change in changes[:1] for word in shlex.split(change))).status == 0


@pytest.mark.parametrize("file", sorted(EXAMPLES.rglob("*.toml")), ids=lambda file: file.stem)
def test_each_begins_with_what_to_expect_and_has_a_title(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    assert text.startswith("# ")
    assert all(len(line) <= 100 for line in text.splitlines())
    assert "title" in text or "scenario" in tomllib.loads(text)


def test_two_links_and_a_small_buffer_are_slower_than_plain_tcp() -> None:
    assert goodput("blocked-buffer") == pytest.approx(4.1, abs=0.1)
    assert goodput("blocked-buffer", **{"connection.protocol": "tcp"}) == pytest.approx(19.2, abs=0.1)
    assert goodput("blocked-buffer", **{"connection.scheduler": "ecf"}) == pytest.approx(17.3, abs=0.1)
    assert goodput("blocked-buffer", **{"connection.scheduler": "blest"}) == pytest.approx(18.8, abs=0.1)
    assert goodput("blocked-buffer", **{"path.1.queue": "5 packets"}) > 17


def test_seeds_of_wifi_and_lte_differ_fourfold() -> None:
    scenario = ab.Scenario.load(EXAMPLES / "wifi-and-lte.toml")
    rates = [scenario.run(seed=seed).summary["goodput_mbps"] for seed in (1, 17)]
    assert rates == pytest.approx([30.7, 131.8], rel=0.05)


def test_blest_gains_with_loss_based_controllers_and_loses_with_bbr() -> None:
    plan = ab.Plan.read(EXAMPLES / "sweeps/paper.toml")
    assert {point.label for point in plan.axes["scheduler"]} >= {"min-rtt", "blest"}
    axes = {"scheduler": ["min-rtt", "blest"], "controller": ["coupled", "bbr"]}
    pairs = ab.sweep(plan.scenario, axes, seeds=8).compare("scheduler", baseline="min-rtt")
    difference = pairs.set_index("controller")["difference"]
    assert difference["coupled"] > 8
    assert difference["bbr"] < -5


def test_more_memory_can_be_slower() -> None:
    found = means("buffer", 2)
    for memory, rate in [("64 kB", 18.9), ("256 kB", 4.1), ("4 MB", 13.8)]:
        assert found["min-rtt", memory] == pytest.approx(rate, abs=0.1)
    assert all(
        found[scheduler, memory] > 17 for scheduler in ("ecf", "blest") for memory in ("64 kB", "256 kB", "1 MB")
    )


def test_only_bbr_keeps_a_path_with_loss() -> None:
    found = means("loss", 2)
    for controller, rate in [("uncoupled", 11.4), ("cubic", 11.8), ("coupled", 10.0)]:
        assert found[controller, "2 %"] == pytest.approx(rate, abs=0.8)
        assert found[controller, "0.1 %"] > found[controller, "0.5 %"] > found[controller, "2 %"]
    assert found["bbr", "2 %"] > 15


def test_a_detector_and_a_judge_help_each_other_against_reordering() -> None:
    found = means("reordering", 10)
    assert found["rack", "none"] > found["rfc6675", "none"] + 0.5
    assert found["rfc6675", "eifel"] > found["rfc6675", "none"] + 1.5
    assert found["rack", "eifel"] == max(found.values())
    assert max(found.values()) < 15
    assert goodput("reordering", **{"path.0.overtaking": "false"}) == pytest.approx(17.8, abs=0.1)


@pytest.mark.parametrize(("name", "rate"), [("vpn", 6.4), ("backup", 18.7), ("shaper", 11.7)])
def test_a_capture_agrees_with_what_the_receiver_measured(name: str, rate: float) -> None:
    found = ab.diagnose([str(file) for file in sorted(EXAMPLES.glob(f"captures/{name}-*.pcap.gz"))])
    (connection,) = found.summary["connections"]
    assert connection["goodput_mbps"] == pytest.approx(rate, rel=0.03)
    capacities = [flow["capacity_mbps"] for flow in connection["subflows"]]
    if name == "vpn":
        assert connection["main_cause"] == "head_of_line"
        # 3 Mbit/s less the headers of VXLAN, 50 of 1500 octets.
        assert capacities == pytest.approx([20, 2.9], rel=0.02)
    elif name == "shaper":
        assert connection["sentences"][2].startswith("All paths were saturated")
        assert capacities == pytest.approx([10, 2.9], rel=0.04)
