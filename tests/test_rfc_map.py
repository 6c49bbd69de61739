"""The map of the RFCs' requirements is up to date, and its check finds what is wrong with it."""

import io
import re
import runpy
import shutil
import sys
from collections.abc import Callable
from contextlib import redirect_stderr
from pathlib import Path
from unittest.mock import patch

import pytest

ROOT = Path(__file__).parents[1]
FEATURES = "# Title\n\n## What is not implemented\n\n- **telepathy**: none\n\n## Licence\n"
CODE = "/// RFC 6298 2.2, 5.1: the timer.\nfn timer() {}\n\n// RFC 6298 2.2: the first sample.\nfn sample() {}\n"
TEST = (
    "//! RFC 6298.\n\n/// 2.2: the first sample.\n#[test]\nfn a_sample() {\n}\n\n/// "
    "5.1: the timer.\n#[test]\nfn a_timer() {\n}\n"
)
LIST = """title = "Timer"
levels = ["MUST", "SHOULD"]
[sentences]
"2" = [2, 1]
[rows]
"2" = [
    { level = "MUST", says = "take the first sample", code = "rtt.rs: the first sample", test = "rfc6298::a_sample" },
    { level = "MUST", says = "read minds", why = "not implemented: telepathy; nobody knows how" },
    { level = "SHOULD", says = "be kind", why = "by choice: now and then" },
]
"""


def check(root: Path, *options: str) -> tuple[int, str]:
    """Exit status and complaints of the command over the repository at `root`."""
    complaints = io.StringIO()
    with patch.object(sys, "argv", ["rfc-map", "--root", str(root), *options]), redirect_stderr(complaints):
        status: int = runpy.run_path(str(ROOT / "tools" / "rfc-map"))["main"]()
    return status, complaints.getvalue()


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with one list of three rows and an up-to-date page, which no test changes."""
    root = tmp_path_factory.mktemp("small") / "root"
    texts = {
        "docs/features.md": FEATURES,
        "docs/rfc/6298.toml": LIST,
        "crates/stack/src/rtt.rs": CODE,
        "crates/stack/tests/it/rfc6298.rs": TEST,
    }
    for name, text in texts.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    assert check(root) == (0, "")
    assert check(root, "--check") == (0, "")
    return root


@pytest.fixture
def small(template: Path, tmp_path: Path) -> Path:
    """A copy of the template for one test."""
    return Path(shutil.copytree(template, tmp_path / "root"))


def test_the_map_is_up_to_date() -> None:
    assert check(ROOT, "--check") == (0, "")


def test_the_page_counts_and_names_rows(small: Path) -> None:
    page = (small / "docs" / "rfc-map.md").read_text()
    assert "| [6298](#rfc-6298) Timer | 3 | 1 | 0 | 0 | 0 | 0 | 1 | 1 |" in page
    assert "| 2 | MUST | take the first sample | [rtt.rs](../crates/stack/src/rtt.rs) `sample` |" in page
    assert "| telepathy | RFC 6298 2 |" in page


def replaced(name: str, old: str, new: str) -> Callable[[Path], None]:
    def change(root: Path) -> None:
        text = (root / name).read_text()
        assert old in text
        (root / name).write_text(text.replace(old, new, 1))

    return change


ROW = "docs/rfc/6298.toml"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (replaced(ROW, ', test = "rfc6298::a_sample"', ""), "section 2, row 1 .*neither a line with a test"),
        (replaced(ROW, ', why = "by choice: now and then"', ""), "section 2, row 3 .*nor a reason"),
        (replaced(ROW, "by choice: now", "because: now"), "why begins with 'because': choose from"),
        (replaced(ROW, '"MUST", says = "read', '"MAYBE", says = "read'), "level is 'MAYBE': choose from"),
        (replaced(ROW, '{ level = "MUST", says = "read', '{ levl = "MUST", says = "read'), r"unknown keys \['levl'\]"),
        (replaced(ROW, "not implemented: telepathy; nobody", "by choice: nobody"), "a MUST is no matter of choice"),
        (replaced(ROW, "rtt.rs: the first", "rto.rs: the first"), "there is no file rto.rs"),
        (replaced(ROW, "rtt.rs: the first sample", "rtt.rs: 2.2"), r"2 such comments \(lines 1, 4\): add words"),
        (
            replaced("crates/stack/src/rtt.rs", "RFC 6298 2.2: the first", "RFC 6298 3: the first"),
            "cites RFC 6298 2 .*line 1",
        ),
        (
            replaced("crates/stack/src/rtt.rs", "RFC 6298 2.2: the first", "RFC 62981 2.2: the first"),
            "cite it at the line",
        ),
        (replaced(ROW, "rfc6298::a_sample", "rfc6298::no_sample"), "has no function of that name"),
        (replaced(ROW, "rfc6298::a_sample", "rfc6298::a_timer"), "test rfc6298::a_timer does not cite RFC 6298 2"),
        (replaced(ROW, "rfc6298::a_sample", "timer.pkt"), "there is no script timer.pkt"),
        (replaced("crates/stack/tests/it/rfc6298.rs", "#[test]\n", ""), "the function has no #\\[test\\]"),
        (replaced(ROW, '"2" = [2, 1]', '"2" = [3, 1]'), r"the text has \[3, 1\] .* the rows cover \[2, 1\]"),
        (replaced(ROW, '"2" = [2, 1]', '"2" = [2, 1]\n"5" = [1, 0]'), "section 5: the text has"),
        (replaced(ROW, "by choice: now and then", "see: RFC 5681 3.1"), "no row of RFC 5681 3.1 has a line to see"),
        (replaced(ROW, "telepathy; nobody", "magic; nobody"), "lacks 'magic'(.|\n)*has 'telepathy', which no row"),
        (replaced("docs/features.md", "## What is not implemented", "## What"), "features.md: there is no section"),
        (replaced("docs/rfc-map.md", "first sample", "last sample"), "docs/rfc-map.md is stale: run `make rfc-map`"),
        (replaced(ROW, "[rows]", "[rows"), "docs/rfc/6298.toml: .*describes the form"),
        (replaced(ROW, 'a_sample"', 'a_sample", breaks = { old = "" }'), r"breaks has \['old'\]: it is"),
        (replaced(ROW, 'a_sample"', 'a_sample", breaks = { from = "no such", to = "" }'), "text of `breaks` 0 times"),
        (replaced(ROW, 'now and then"', 'now and then", unbroken = "none"'), "are of rows with `code` and `test`"),
    ],
)
def test_a_planted_fault_is_found(small: Path, change: Callable[[Path], None], said: str) -> None:
    change(small)
    status, complaints = check(small, "--check")
    assert status == 1
    assert re.search(said, complaints), complaints


PROVED = """rows = [
    { rfc = 6298, section = "2", says = "take the first sample", test = "a_sample", mutant = "x", date = "2026-11-28" },
]
"""


def test_rows_that_a_mutant_has_proved_are_counted(small: Path) -> None:
    proved = small / "docs" / "rfc" / "proved.toml"

    def count() -> list[str]:
        return re.findall(r"^\| 6298, MUST .*$", (small / "docs" / "rfc-map.md").read_text(), re.M)

    for text, counts in (
        (PROVED, "1 | 1 | 0 | 0 | 0"),
        (PROVED.replace('"x"', '""'), "1 | 0 | 0 | 1 | 0"),
        ("rows = []", None),
    ):
        proved.write_text(text)
        assert check(small) == (0, "")
        assert count() == ([f"| 6298, MUST | {counts} |"] if counts else [])
    replaced(ROW, 'a_sample"', 'a_sample", unbroken = "none"')(small)
    proved.write_text(PROVED)
    assert check(small) == (0, "")
    assert count() == ["| 6298, MUST | 1 | 0 | 1 | 0 | 0 |"]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [("first sample", "last sample", "there is no such row"), ("a_sample", "a_timer", "the row does not name a_timer")],
)
def test_a_proof_of_no_row_or_by_another_test_is_found(small: Path, old: str, new: str, said: str) -> None:
    (small / "docs" / "rfc" / "proved.toml").write_text(PROVED.replace(old, new))
    status, complaints = check(small, "--check")
    assert status == 1
    assert f"{said}: run `tools/mutants --rfc 6298:2`, or remove the line" in complaints


def test_lines_may_move(small: Path) -> None:
    replaced("crates/stack/src/rtt.rs", "/// RFC", "fn before() {}\n\n/// RFC")(small)
    assert check(small, "--check") == (0, "")


def test_a_row_of_the_real_lists_without_its_test_is_found(tmp_path: Path) -> None:
    for name in (
        "docs/rfc",
        "docs/features.md",
        "docs/rfc-map.md",
        "crates",
        "tests",
    ):
        source, target = ROOT / name, tmp_path / name
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("target", "__pycache__", "data"))
        elif source.exists():
            shutil.copy(source, target)
    assert check(tmp_path, "--check") == (0, "")
    replaced("crates/stack/tests/it/rfc6298.rs", "fn samples_make_the_timeout", "fn samples_make_it")(tmp_path)
    status, complaints = check(tmp_path, "--check")
    assert (status, "samples_make_the_timeout" in complaints) == (1, True)
