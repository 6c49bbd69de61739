"""Ten complaints: what docs/diagnose.md says of each is what a run gives, and each remedy does what is promised."""

import re
from functools import cache
from pathlib import Path

import pytest

import anabranch as ab
from slow_examples import FOLDER, HEAD, Answer, answer, names

DOCS = (Path(__file__).parent.parent / "docs" / "diagnose.md").read_text("utf-8")
USELESS = {"alike", "busy-server"}
"""What no setting of the network mends."""


@cache
def found(name: str) -> Answer:
    return answer(name)


def test_there_are_ten_of_the_threads_that_ask() -> None:
    assert len(names()) == 10
    assert {found(name).thread for name in names()} == {
        "OpenMPTCProuter #1021",
        "OpenMPTCProuter #3325",
        "OpenMPTCProuter #3374",
        "OpenMPTCProuter #3984",
        "mptcp #168",
        "mptcp_net-next #307",
        "mptcp_net-next #381",
        "mptcp_net-next #437",
    }


@pytest.mark.parametrize("name", names())
def test_the_documented_row_is_what_comes_out(name: str) -> None:
    assert HEAD in DOCS
    assert found(name).row() in DOCS


@pytest.mark.parametrize("name", names())
def test_the_remedy_helps_where_the_diagnosis_says_so(name: str) -> None:
    a = found(name)
    if name in USELESS:
        assert a.after_mbps == pytest.approx(a.got_mbps, rel=0.02)
        assert a.main in {"cwnd", "application"}
    else:
        assert a.after_mbps > 1.15 * a.got_mbps


def test_the_documented_shares_of_captures_are_what_comes_out(tmp_path: Path) -> None:
    (said,) = re.findall(
        r"For `([\w-]+)`, captures of both hosts show (\d+) % head-of-line blocking and (\d+) % `scheduler`, "
        r"where the run recorded (\d+) % and (\d+) %:",
        " ".join(DOCS.split()),
    )
    name, *shares = said
    run = ab.Scenario.load(FOLDER / f"{name}.toml").run(pcap=tmp_path)
    (captured,) = ab.diagnose(sorted(tmp_path.glob("*.pcapng"))).connections
    (recorded,) = run.explain().connections
    found = [c["causes"][cause] for c in (captured, recorded) for cause in ("head_of_line", "scheduler")]
    assert [f"{100 * share:.0f}" for share in found] == shares


def test_numbers_of_the_threads_are_in_the_scenarios() -> None:
    folder = Path(__file__).parent.parent / "examples" / "slow"
    for name, numbers in {
        "two-lte": "120 and 210 Mbit/s give about 130",
        "cable-and-5g": "800 Mbit/s and 5G of 100 give 400",
        "download-only": "(90)",
        "wifi-and-lte": "304.7 Mbit/s and LTE of 146.5",
    }.items():
        assert re.search(re.escape(numbers), (folder / f"{name}.toml").read_text("utf-8"))
