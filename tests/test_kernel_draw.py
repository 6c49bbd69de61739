"""Random cases measured on Linux (tests/kernel/drawn-*.csv, tools/kernel-oracle/draw) against profile linux-6.1."""

import csv
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from anabranch.kernel import KernelError
from anabranch.kernel import draw as drawing
from anabranch.kernel.runner import release
from anabranch.kernel.translate import spec_of

KERNEL = Path(__file__).parent / "kernel"
ROOT = Path(__file__).parents[1]


def run(goodput: float, share: float = 0.5) -> dict[str, Any]:
    return {"goodput_mbps": goodput, "completion_s": 1 / goodput, "share": [share, 1 - share]}


def case(kind: str = "two subflows", feature: str = "lossless") -> drawing.Case:
    return drawing.Case(0, kind, feature, "")


def test_a_seed_gives_the_same_cases_and_more_cases_begin_alike() -> None:
    assert drawing.draw(3, 30) == drawing.draw(3, 48)[:30]
    assert drawing.draw(3, 5) != drawing.draw(4, 5)


def test_kinds_are_dealt_and_linux_can_follow_every_case() -> None:
    cases = drawing.draw(5, 48)
    assert Counter(c.kind for c in cases) == {"one subflow": 12, "two subflows": 20, "three subflows": 8, "short": 8}
    assert {c.feature for c in cases} == set(drawing.FEATURES)
    for c in cases:
        specs = [spec_of(s.check()) for s in c.scenarios(2, 0.03)]
        first, second = (spec["paths"][0]["up"] for spec in specs)
        assert 2e6 <= first["rate_bps"] <= 100e6
        assert 2_000 <= first["delay_us"] <= 120_000
        assert second["rate_bps"] != first["rate_bps"]
        assert abs(second["rate_bps"] / first["rate_bps"] - 1) <= 0.0301
        assert (c.kind == "short") == (specs[0]["bytes"] <= 1_000_000)


def test_means_agree_within_the_tolerance_or_two_standard_errors() -> None:
    steady, lower = [run(10.0)] * 6, [run(9.4)] * 6
    found = drawing.verdict(case(), lower, steady)
    assert (found.goodput, round(found.difference, 3), found.allowed) == (False, -0.06, 0.05)
    assert drawing.verdict(case(feature="loss"), lower, steady).agrees
    # 0.6 of standard deviation on one side: two standard errors are 2 x 0.6 / sqrt(6) = 0.49 of 10.
    wide = [run(10 + d) for d in (-0.8, -0.5, -0.2, 0.2, 0.5, 0.8)]
    far = drawing.verdict(case(), [run(9.45)] * 6, wide)
    assert not far.goodput
    assert far.allowed == pytest.approx(0.0508, abs=1e-3)
    assert drawing.verdict(case(), [run(9.55)] * 6, wide).goodput


def test_two_regimes_are_compared_by_their_counts() -> None:
    two = [run(v) for v in (24, 24.2, 24.1, 30, 30.2, 30.1)]
    assert drawing.verdict(case(), two, two).regimes
    low = [run(v) for v in (24, 24.1, 24.2, 24.3, 30, 30.2)]
    assert drawing.verdict(case(), low, two).regimes  # 2 and 3 of 6 are high
    high = [run(24.1), run(24.2), *[run(30.0)] * 5]
    assert not drawing.verdict(case(), [run(24.0 + k / 10) for k in range(6)], high).regimes  # 0 of 6 and 5 of 7


def test_shares_agree_within_five_points() -> None:
    assert drawing.verdict(case(), [run(10, 0.549)] * 2, [run(10, 0.5)] * 2).shares
    assert not drawing.verdict(case(), [run(10, 0.551)] * 2, [run(10, 0.5)] * 2).shares


def test_a_short_transfer_is_compared_by_its_completion() -> None:
    found = drawing.verdict(case("short"), [run(8.0)] * 2, [run(10.0)] * 2)
    assert found.difference == pytest.approx(0.25)


def test_rows_are_read_back(tmp_path: Path) -> None:
    drawn = drawing.Drawn(2, 2, 2, 0.03)
    first, second = drawn.cases()
    figures = {"goodput_mbps": 5.5, "completion_s": 2.0, "retransmissions": 3, "timeouts": 0, "queue_drops": [1, 0]}
    file = tmp_path / "drawn.csv"
    with file.open("w", encoding="utf-8") as out:
        out.write(drawn.head("6.1.192"))
        rows = csv.DictWriter(out, drawing.COLUMNS)
        rows.writeheader()
        for k in (0, 1):
            rows.writerow(drawing.row(first, k, figures | {"share": [0.25, 0.75]}))
        rows.writerow(drawing.row(second, 0, figures | {"share": [1.0]}))
    read = drawing.load(file)
    assert read.title() == drawn.title() == "seed 2, 2 cases, 2 runs of each, rates and delays varied by 3 %"
    [(known, runs)] = read.measured()  # the second case lacks a run
    assert known == first
    assert runs[1]["share"] == [0.25, 0.75]
    assert runs[1]["goodput_mbps"] == 5.5
    file.write_text("case,run\n", encoding="utf-8")
    with pytest.raises(ValueError, match="line 1 does not say how the cases were drawn"):
        drawing.load(file)


def agreement(name: str, numbers: slice) -> tuple[int, dict[int, drawing.Verdict]]:
    """How many cases of a file were compared, and the verdicts of those that differ."""
    drawn = drawing.load(KERNEL / name)
    measured = list(drawn.measured())
    assert len(measured) == drawn.count
    found = {
        c.number: drawing.verdict(c, drawing.simulated(c, drawn.runs, drawn.vary), linux)
        for c, linux in measured[numbers]
    }
    return len(found), {number: verdict for number, verdict in found.items() if not verdict.agrees}


def test_every_second_random_case_agrees_with_linux() -> None:
    """Demands nine of twelve cases. The long test compares all cases of both draws."""
    count, differ = agreement("drawn-2.csv", slice(None, None, 2))
    assert count == 12
    assert len(differ) <= 3, differ


@pytest.mark.long
@pytest.mark.parametrize("name", ["drawn-1.csv", "drawn-2.csv"])
def test_random_cases_agree_with_linux(name: str) -> None:
    count, differ = agreement(name, slice(None))
    assert count == 24
    assert len(differ) <= 2, differ


@pytest.fixture
def few(tmp_path: Path) -> Path:
    """The rows of the first case of a draw: the text up to the row of run 0 of case 1."""
    text = (KERNEL / "drawn-1.csv").read_text("utf-8")
    file = tmp_path / "few.csv"
    file.write_text(text[: text.index("\n1,")] + "\n", "utf-8")
    return file


BROKEN = {
    "6 runs of each": ("0 runs of each", "line 1: runs: 0; give at least 1"),
    "varied by 3 %": ("varied by 90 %", "line 1: rates and delays varied by 90 %; give 0 to 50 %"),
    ",share,": (",part,", "line 2 lacks the column share"),
    "0,short,": ("zero,short,", 'line 3: case is "zero"; expected 0 to 23'),
    "0,short,lossless,1,": ("0,short,lossless,9,", 'line 18: run is "9"; expected 0 to 5'),
    "0,short,lossless,2,": ("0,short,lossless,1,", "line 19: run 1 of case 0 has two rows"),
    "0,short,lossless,0,": ("0,long,lossless,0,", 'line 3: kind is "long"; choices: one subflow, two'),
    "0,short,lossless,3,": ("0,short,magic,3,", 'line 20: feature is "magic"; choices: lossless, loss'),
    "0,short,lossless,0,36": ("0,short,lossless,0,x36", r'line 3: goodput_mbps is "x36\S+", which is no number'),
    "0,short,lossless,1,3": ("0,short,lossless,1,-3", r"line 18: goodput_mbps is -\S+; expected a finite number"),
    "0,0,1,0,": ("0,0,0.5 0.5,0,", "line 18: share has 1 number; other runs of this case have another count"),
}


@pytest.mark.parametrize("old", BROKEN)
def test_a_broken_file_is_refused_with_its_line(few: Path, old: str) -> None:
    new, said = BROKEN[old]
    text = few.read_text("utf-8")
    assert old in text
    few.write_text(text.replace(old, new, 1), "utf-8")
    with pytest.raises(ValueError, match=said):
        drawing.load(few)


def test_a_file_that_ends_within_a_row_is_refused_with_its_line(few: Path) -> None:
    few.write_text(few.read_text("utf-8")[:-8], "utf-8")
    with pytest.raises(ValueError, match=r"line 22: the row ends before .*\n.* run draw again with --csv"):
        drawing.load(few)


def test_a_file_with_another_scenario_is_refused_with_the_case(few: Path) -> None:
    whole = few.read_text("utf-8")
    few.write_text(whole.replace("[connection]", "[connection", 1), "utf-8")
    with pytest.raises(ValueError, match=r"^case 0: .*line 2"):
        drawing.table(drawing.load(few))
    few.write_text(whole.replace("0,0,1,0,", "0,0,0.5 0.5,0,"), "utf-8")
    with pytest.raises(ValueError, match=r"^case 0: share has 2 numbers, but its scenario has 1 path"):
        drawing.table(drawing.load(few))
    few.write_text("".join(whole.splitlines(keepends=True)[:2]), "utf-8")
    with pytest.raises(ValueError, match="no case has all its 6 runs"):
        drawing.table(drawing.load(few))


def test_a_kernel_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for file, said in ((Path(sys.executable), '--version prints "Python 3'), (tmp_path, "Permission denied")):
        monkeypatch.setattr("anabranch.kernel.runner.kernel", lambda _, file=file: file)
        with pytest.raises(KernelError, match=said):
            release()


def tool(*arguments: str | Path) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, ROOT / "tools/kernel-oracle/draw", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_tool_refuses_in_one_line(tmp_path: Path) -> None:
    done = tool("--compare", "few.csv", "--cases", "5")
    assert done.returncode == 2
    assert done.stderr.endswith("error: --compare takes no --cases: the file has its own draw\n")
    done = tool("--compare", tmp_path / "absent.csv")
    assert (done.returncode, done.stderr) == (2, f"{tmp_path}/absent.csv: No such file or directory\n")


def test_the_tool_compares_stored_rows(few: Path) -> None:
    done = tool("--compare", few)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] in ("all: 1 of 1 cases agree", "all: 0 of 1 cases agree")
