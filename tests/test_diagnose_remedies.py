"""What would help: what is tried, in which order, what is said of it; the remedy sentence follows the trials."""

import json
import re
from pathlib import Path

import pytest

import anabranch as ab
from anabranch import _core
from anabranch.diagnosis import twin as twins
from anabranch.diagnosis.changes import LINUX_CONTROLLERS, LINUX_SCHEDULERS, PACING, changes
from anabranch.diagnosis.remedies import On, Remedies, Tried, remedies
from anabranch.diagnosis.tried import _of_run
from anabranch.diagnosis.twin import Captured, Likeness, Twin, made
from anabranch.sentences import diagnose as say
from anabranch.sweeps.paired import interval
from helpers import Command, Page

ROOT = Path(__file__).parent.parent
BLOCKED = ROOT / "examples" / "blocked-buffer.toml"
THREE = ROOT / "examples" / "slow" / "three-links.toml"


def tried(what: str, gain: list[float], *, linux: bool = True, effort: int = 0, beyond: bool = False) -> Tried:
    return Tried(what, what, interval([10 + g for g in gain]), interval(gain), linux, effort, beyond)


def test_what_users_can_change_comes_first_and_what_linux_lacks_last() -> None:
    found = changes(ab.Scenario.load(THREE))
    kinds = list(dict.fromkeys(change.kind for change in found if change.in_linux))
    assert kinds == [
        "pacing", "backup", "path removed", "one path", "first path", "receive buffer", "send buffer", "scheduler",
        "controller", "queue management",
    ]  # fmt: skip
    assert found[0].what == PACING
    assert [change.in_linux for change in found] == sorted((change.in_linux for change in found), reverse=True)
    assert {change.what for change in found if change.kind == "path removed"} == {
        "without path0", "without path1", "without path2",
    }  # fmt: skip
    lacking = {change.what.split()[2] for change in found if not change.in_linux}
    assert lacking == {"olia", "balia", "blest", "ecf", "round-robin"}
    # Each of Linux's controllers also with Linux's scheduler.
    assert any("bbr with the scheduler linux" in change.what for change in found)


@pytest.mark.parametrize(
    ("before", "alone", "with_scheduler"),
    [
        (
            False,
            "the controller dctcp with ECN instead of coupled",
            "the controller dctcp with ECN and the scheduler linux",
        ),
        (True, "the controller dctcp instead of coupled", "the controller dctcp with the scheduler linux"),
    ],
)
def test_a_controller_that_needs_ecn_says_so_if_ecn_was_off(before: bool, alone: str, with_scheduler: str) -> None:
    scenario = ab.Scenario.two_path("5 Mbit/s, 20 ms", "2 Mbit/s, 10 ms", transfer="1 MB", ecn=before)
    found = [change for change in changes(scenario) if "dctcp" in change.what]
    assert [change.what for change in found] == [alone, with_scheduler]
    assert all(change.keys["connection.ecn"] is True for change in found)
    assert not any("ECN" in change.what for change in changes(scenario) if change not in found)


def test_names_of_algorithms_are_those_of_the_registries() -> None:
    known = json.loads(_core.registry())
    names = {kind: {one["name"] for one in known[kind]} for kind in ("controller", "scheduler")}
    assert set(LINUX_CONTROLLERS) <= names["controller"]
    assert set(LINUX_SCHEDULERS) <= names["scheduler"]


@pytest.mark.parametrize("name", ["shared-bottleneck", "cross-traffic", "wifi6", "cellular"])
def test_every_change_is_a_scenario_or_refused(name: str) -> None:
    """Scenarios of the long form, of several connections, and of radio links."""
    scenario = ab.Scenario.load(ROOT / "examples" / f"{name}.toml")
    found = changes(scenario, 0)
    assert len(found) >= 5
    for change in found:
        scenario.set(change.keys).check()


def test_of_several_connections_the_one_in_question_is_changed() -> None:
    text = """
    [[connection]]
    name = "small"
    protocol = "tcp"
    paths = ["path0"]
    transfer.bytes = "20 kB"
    [[connection]]
    name = "large"
    receive_buffer = "30 kB"
    paths = ["path0", "path1"]
    transfer.bytes = "2 MB"
    [[path]]
    rate = "8 Mbit/s"
    delay = "20 ms"
    [[path]]
    rate = "8 Mbit/s"
    delay = "30 ms"
    """
    found = remedies(On(ab.Scenario.from_toml(text), number=1), seeds=2)
    (larger, *_) = [one for one in found.tried if one.kind == "receive buffer"]
    assert "instead of 30 kB" in larger.what
    assert larger.goodput.mean > 2 * found.base.mean


def test_the_sentence_names_the_easiest_of_the_best_that_linux_has() -> None:
    """Gains of 5.1 and 5.2 are alike: what takes less effort is named, and what Linux lacks only if it gives more."""
    easy, hard = tried("easy", [5.0, 5.1, 5.2], effort=1), tried("hard", [5.2, 5.2, 5.2], effort=7)
    foreign = tried("foreign", [8.0, 8.0, 8.0], linux=False, effort=9)
    base = interval([10, 10, 10])
    found = Remedies(base, [foreign, hard, easy])
    assert [one.what for one in found.helping()] == ["easy", "hard", "foreign"]
    assert found.sentence("the twin") == (
        "Remedy: easy. It raises the goodput from 10 Mbit/s to 15.1 Mbit/s, as tried on the twin with 3 seeds. "
        "A change that Linux does not have raises the goodput more (to 18 Mbit/s): foreign."
    )
    assert Remedies(base, [foreign]).sentence("the twin").startswith("Remedy: foreign (not in Linux). ")
    assert "not in Linux" not in Remedies(base, [hard, easy]).sentence("the twin")
    assert any("foreign (not in Linux)" in line for line in found.sentences())
    assert [one["in_linux"] for one in found.summary()["tried"]] == [False, True, True]


def test_what_is_much_better_but_not_for_sure_is_no_failure() -> None:
    """Worked: gains of 2, 20 and 8 Mbit/s have the mean 10 and an interval that holds zero."""
    maybe, nothing = tried("maybe", [2.0, 20.0, 8.0]), tried("nothing", [0.1, 0.1, 0.1])
    found = Remedies(interval([10, 10, 10]), [maybe, nothing])
    assert (maybe.helps(10), maybe.may_help(10), nothing.may_help(10)) == (False, True, False)
    sentence = found.sentence("the twin")
    assert sentence.startswith("Possible remedy: maybe. ")
    assert sentence.endswith("but 3 seeds are too few to be sure.")
    lines = found.sentences()
    assert "may help, but 3 seeds are too few to be sure: maybe (20 Mbit/s)" in lines
    assert lines[-1] == "no clear effect on the goodput: nothing"
    assert Remedies(interval([10, 10]), [nothing]).sentence("the twin") == say.NOTHING_HELPS(
        twin="the twin", seeds=2, before="10 Mbit/s"
    )


def test_more_than_the_capture_shows_is_said_to_be_so() -> None:
    found = Remedies(interval([10, 10, 10]), [tried("more", [9.0, 9.1, 9.2], beyond=True)])
    assert say.BEYOND_MEASURED in found.sentence("the twin")
    assert found.summary()["tried"][0]["beyond_measured"]


@pytest.mark.usefixtures("no_figures")
def test_the_remedy_sentence_of_a_run_follows_its_trials(command: Command, tmp_path: Path) -> None:
    """A slow path blocks a small receive buffer: by the trials the path as backup gives five times as much."""
    ab.Scenario.load(BLOCKED).run().save(tmp_path / "run")
    (plain,) = ab.diagnose(tmp_path / "run").connections
    assert "(not tried)" in plain["sentences"][2]
    done = command("diagnose", tmp_path / "run", "--seeds", "2", "--json")
    assert done.status == 0
    found = json.loads(done.out)
    sentence = found["connections"][0]["sentences"][2]
    best = max(one["goodput_mbps"] for one in found["remedies"]["tried"] if one["helps"] and one["in_linux"])
    said = re.match(
        r"Remedy: (.+)\. It raises the goodput from 3\.8\d* Mbit/s to (\S+) Mbit/s, "
        r"as tried on the scenario of the run with 2 seeds\.",
        sentence,
    )
    assert said, sentence
    assert said[1] == "slow as backup"
    assert float(said[2]) == pytest.approx(best, rel=0.04)
    tried_ = {one["what"]: one for one in found["remedies"]["tried"]}
    assert PACING in tried_
    assert not tried_["the scheduler ecf instead of min-rtt"]["in_linux"]


def test_the_twin_of_a_run_does_not_differ_from_it() -> None:
    """The twin of a run is its own scenario, so no run is needed."""
    found = _of_run(BLOCKED.read_text("utf-8"))
    assert (found["like"], found["differs"], found["runs"]) == (True, None, 0)
    assert [found[name] for name in Likeness._fields] == [0.0] * len(Likeness._fields)


@pytest.mark.usefixtures("no_figures")
def test_no_remedy_of_a_twin_that_is_not_like_its_capture(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The link's rate falls to a twentieth, which no twin has, and there is no time to search."""
    path = 'rate = "8 Mbit/s"\ndelay = "20 ms"\nchanges = [{ at = "2 s", rate = "0.4 Mbit/s" }]\n'
    ab.Scenario.from_toml(f'transfer.duration = "5 s"\n[[path]]\n{path}').run(pcap=tmp_path / "c")
    files = sorted((tmp_path / "c").glob("client-*"))

    def hurried(what: Captured, **how: object) -> Twin:
        return made(what, budget=0.0)

    monkeypatch.setattr(twins, "made", hurried)
    found = ab.diagnose(files, twin=True, seeds=2)
    summary = found.summary
    assert not summary["twin"]["like"]
    assert summary["remedies"] is None
    assert summary["twin"]["differs"] in {"goodput", "shares", "reordering", "losses", "srtt", "outages"}
    assert re.match(
        r"No change was tried, because the twin is not like the capture\. .+ differs by [+-]\S+ ", found.sentences[2]
    )
    found.save(tmp_path / "out")
    report = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert "The twin is NOT like the capture" in str(found)
    for text in (str(found), report, found._repr_html_(), json.dumps(summary)):
        assert "No change was tried" in text
        assert "Remedy: " not in text
        assert "helps: " not in text
        assert "instead of" not in text


def test_the_report_shows_rate_and_round_trips_over_time_at_either_side(tmp_path: Path) -> None:
    """Reconstructed round trips are those of the sender within two ticks of the timestamps."""
    from anabranch.diagnosis.over_time import rtt_frame

    ab.Scenario.two_path("5 Mbit/s, 30 ms", "2 Mbit/s, 10 ms", transfer="4 s").run(pcap=tmp_path)
    means = {}
    for place in ("client", "server"):
        found = ab.diagnose(sorted(tmp_path.glob(f"{place}-*")))
        found.save(tmp_path / place)
        report = (tmp_path / place / "report.html").read_text("utf-8")
        assert "Goodput of each subflow over time" in report
        assert "Round-trip time of each subflow over time" in report
        assert say.REPORT_RATE_TOTAL() in report
        assert all(address.startswith("data:") for address in Page(report).loads)
        assert found.capture is not None
        means[place] = rtt_frame(found.capture).groupby("subflow")["rtt"].mean().tolist()
    assert means["server"] == pytest.approx(means["client"], rel=0.03, abs=0.0025)
    assert means["client"][0] > 0.06
    assert means["client"][1] > 0.02


def test_the_report_names_a_total_only_if_the_figure_has_one(tmp_path: Path) -> None:
    text = "connection.protocol = 'tcp'\ntransfer.bytes = '200 kB'\n[[path]]\nrate = '5 Mbit/s'\ndelay = '30 ms'\n"
    ab.Scenario.from_toml(text).run(pcap=tmp_path)
    ab.diagnose(sorted(tmp_path.glob("client-*"))).save(tmp_path / "out")
    report = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert say.REPORT_RATE_CAPTION() in report
    assert say.REPORT_RATE_TOTAL() not in report


def test_a_notebook_shows_sentences_and_tables(tmp_path: Path) -> None:
    ab.Scenario.two_path("5 Mbit/s, 30 ms", "2 Mbit/s, 10 ms", transfer="500 kB").run(pcap=tmp_path)
    found = ab.diagnose(sorted(tmp_path.glob("client-*")))
    html = found._repr_html_()
    assert html.count("<table>") == 2
    assert all(f"<p>{sentence}</p>" in html for sentence in found.sentences[:1])
    assert "10.0.1.1:49153" in html
    assert "<script" not in html
    assert "<style" not in html
