"""Tables fit the terminal, show all columns if asked, and come as Markdown and LaTeX; their words are documented."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import anabranch as ab
from anabranch.measures import table as measures
from anabranch.measures import units
from anabranch.runs.text import COLUMNS
from anabranch.tables import Column, Document, Table
from anabranch.tables.formats import escaped, number
from helpers import SEVERAL, Command

ROOT = Path(__file__).parents[1]
LOSSY = ab.Scenario.two_path("5 Mbit/s, 20 ms, loss 1 %", "2 Mbit/s, 10 ms", transfer="300 kB")
AXES: Any = {"controller": ["coupled", "olia"], "path.1.delay": ["10 ms", "80 ms"]}
SWEEP = (
    'scenario = "base.toml"\nseeds = 4\n[axes]\ncontroller = ["coupled", "olia"]\n"path.1.delay" = ["10 ms", "80 ms"]\n'
)
LEFT_OUT = re.compile(
    r"^left\s+out,\s+to\s+fit\s+(\d+)\s+characters:\s+((?:(?!^left\s).)*?);\s+--wide\s+shows\s+all$", re.M | re.S
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A scenario, a sweep of it, results of both, and captures."""
    base = tmp_path_factory.mktemp("forms")
    (base / "base.toml").write_text(LOSSY.toml, encoding="utf-8")
    (base / "several.toml").write_text(SEVERAL, encoding="utf-8")
    (base / "sweep.toml").write_text(SWEEP, encoding="utf-8")
    LOSSY.run(1, pcap=base / "pcap").save(base / "one")
    LOSSY.run(2).save(base / "two")
    for name, scenario in (("before", LOSSY), ("after", LOSSY.set("path.0.loss", "2 %"))):
        ab.sweep(scenario, AXES, seeds=4, out=base / name)
    return base


@pytest.fixture
def there(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(folder)
    monkeypatch.delenv("COLUMNS", raising=False)
    return folder


COMMANDS = {
    "run": ("run", "base.toml"),
    "several": ("run", "several.toml"),
    "sweep": ("sweep", "sweep.toml", "--compare", "controller=coupled"),
    "compare runs": ("compare", "one", "two"),
    "compare sweeps": ("compare", "before", "after"),
    "analyze": ("analyze", "pcap/client-0.pcapng", "pcap/client-1.pcapng"),
    "diagnose": ("diagnose", "pcap/client-0.pcapng", "pcap/client-1.pcapng"),
    "query": ("query", "before", "select * from runs"),
}


def rows(text: str) -> Iterator[str]:
    """Lines of tables: those with columns."""
    yield from (line for line in text.splitlines() if re.search(r"\S {2,}\S", line))


@pytest.mark.parametrize("which", COMMANDS)
@pytest.mark.parametrize("width", [80, 60, 132])
def test_tables_fit_the_terminal_and_say_what_is_left_out(
    command: Command, there: Path, monkeypatch: pytest.MonkeyPatch, which: str, width: int
) -> None:
    if width != 80:  # without a terminal and without COLUMNS
        monkeypatch.setenv("COLUMNS", str(width))
    done = command(*COMMANDS[which])
    assert done.status == 0
    table = list(rows(done.out))
    assert len(table) >= 3
    assert max(map(len, table)) <= width
    whole = command(*COMMANDS[which], "--wide")
    assert "left out" not in whole.out
    told = LEFT_OUT.findall(done.out)
    fits = max(map(len, rows(whole.out))) <= width
    assert fits == (not told)
    assert all(int(size) == width for size, _ in told)
    for word in {word for _, names in told for word in re.findall(r"[\w.']+", names)}:
        assert word in whole.out


def test_columns_are_left_out_in_the_documented_order() -> None:
    order = [measures.MEASURES[c.key].words for c in sorted(COLUMNS, key=lambda c: c.drop) if c.drop]
    text = " ".join((ROOT / "docs" / "columns.md").read_text("utf-8").split())
    assert ", ".join(word.replace("retransmissions", "retrans.") for word in order) in text
    names = [" ".join(c.head) for c in COLUMNS]
    left: list[list[str]] = []
    flow = dict.fromkeys([c.key for c in COLUMNS], 1)
    from anabranch.runs.text import subflow_table

    for width in range(200, 20, -1):
        lines = "\n".join(subflow_table([{"subflows": [flow | {"path": 0}]}], {}).text(width))
        found = LEFT_OUT.search(lines)
        left.append([] if found is None else [n for n in names if n in " ".join(found[2].split())])
    assert [len(one) for one in left] == sorted(len(one) for one in left)
    assert left[0] == []
    assert len(left[-1]) == len(COLUMNS) - 1  # the goodput stays


def test_every_heading_and_label_is_in_the_documentation(command: Command, there: Path) -> None:
    text = (ROOT / "docs" / "columns.md").read_text("utf-8")
    section = text.partition("## Labels")[2].partition("\n## ")[0]
    listed = dict(re.findall(r"^\| `([\w.]+)` \| ([^|]+?) \|", section, re.M))
    assert listed == {name: measure.label for name, measure in measures.MEASURES.items()}
    for which in ("run", "several", "sweep", "analyze"):
        out = command(*COMMANDS[which], "--format", "markdown").out
        heads = re.findall(r"^\| (.*) \|\n\| :?-", out, re.M)
        assert heads
        known = {" ".join(measure.heading) for measure in measures.MEASURES.values()}
        own = {"subflow", "subflows", "runs", "controller", "path.1.delay", "pairs", "coupled", "mean", "difference"}
        for head in (cell.replace("\\", "") for line in heads for cell in line.split(" | ")):
            assert head.removesuffix(" (?)") in known | own | {"p", "Holm's"}, head


def test_labels_are_different_and_headings_of_two_lines() -> None:
    labels = [measure.label for measure in measures.MEASURES.values()]
    assert len(set(labels)) == len(labels)
    assert max(len(measure.heading) for measure in measures.MEASURES.values()) == 2


@pytest.mark.parametrize("which", [name for name in COMMANDS if name not in {"query", "diagnose"}])
def test_markdown_and_latex_have_all_columns_and_rows(command: Command, there: Path, which: str) -> None:
    text = command(*COMMANDS[which], "--wide").out
    markdown = command(*COMMANDS[which], "--format", "markdown").out
    latex = command(*COMMANDS[which], "--format", "latex").out
    piped = [line for line in markdown.splitlines() if line.startswith("| ")]
    bodies = re.findall(r"\\begin\{tabular\}\{([lr]+)\}\n\\hline\n(.*?)\\hline\n\\end\{tabular\}", latex, re.S)
    assert bodies
    lines = [(form, line) for form, body in bodies for line in body.splitlines() if line != r"\hline"]
    assert len(lines) == len(piped) - len(bodies)  # the line below the heading
    for (form, line), pipe in zip(lines, (p for p in piped if not re.match(r"\| :?-", p)), strict=True):
        assert line.endswith(r" \\")
        assert len(re.findall(r"(?<!\\)&", line)) == len(form) - 1 == len(re.findall(r"(?<!\\)\|", pipe)) - 2
    outside = re.sub(r"\\begin\{tabular\}.*?\\end\{tabular\}", "", latex, flags=re.S)
    assert all(not line or line.startswith("% ") for line in outside.splitlines())
    assert latex.isascii()
    assert markdown.isascii()
    assert len(text.splitlines()) > len(piped) - len(bodies)


def test_papers_have_means_with_half_widths(command: Command, there: Path) -> None:
    before = ab.Sweep.load("before").means()
    mean, low = (before[name].tolist()[0] for name in ("mean", "low"))
    done = command("sweep", "sweep.toml", "--format", "latex")
    cell = re.search(r"^coupled & 10 ms & 4 & \$([\d.]+) \\pm ([\d.]+)\$", done.out, re.M)
    assert cell
    decimals = len(cell[2].partition(".")[2])
    assert len(cell[1].partition(".")[2]) == decimals
    assert len(cell[2].replace(".", "").lstrip("0")) == 2
    assert float(cell[1]) == pytest.approx(mean, abs=0.51 * 10**-decimals)
    assert float(cell[2]) == pytest.approx(mean - low, abs=0.51 * 10**-decimals)
    assert "+-" not in done.out
    plain = command("sweep", "sweep.toml", "--format", "markdown").out
    assert f"| {cell[1]} +- {cell[2]} |" in plain
    pairs = command("compare", "before", "after", "--format", "latex").out
    assert len(re.findall(r"\$-?[\d.]+ \\pm [\d.]+\$", pairs)) == 4


def test_csv_is_a_format_and_forms_exclude_each_other(command: Command, there: Path) -> None:
    for arguments in (("run", "base.toml"), ("sweep", "sweep.toml"), ("query", "before", "select count(*) from runs")):
        flag, form = (command(*arguments, *more).out for more in (("--csv",), ("--format", "csv")))
        aside = re.compile(r"[\d.e-]+,(?=[0-9a-f]{64})")  # wall_s stands before the hash
        assert aside.sub("", flag) == aside.sub("", form)
        done = command(*arguments, "--csv", "--format", "latex")
        assert (done.status, done.out) == (2, "")
        assert "give only one of them" in done.err
    assert command("run", "base.toml", "--format", "word").status == 2


SPECIAL = r"a_b & 50 % of {x} ~ $5 #1 ^2 \par <tag> | *"


def test_latex_prints_every_character_as_it_is() -> None:
    text = escaped(SPECIAL)
    bare = re.sub(r"\\(textbackslash|textasciitilde|textasciicircum)\{\}|\\[_&%{}$#]|\$[<>|*]\$", "", text)
    assert not re.search(r"[_&%{}$#~^\\<>|*]", bare)
    assert number("-3") == "$-3$"
    assert number("1e-7 of 5") == "1e-7 of 5"
    table = Table([Column(("x",), ["[5]", "*"], left=True), Column(("n",), ["1", "2"])])
    rows = table.latex()[4:6]
    assert rows == [r"{}[5] & 1 \\", r"$*$ & 2 \\"]


def test_markdown_has_no_markup_of_the_values() -> None:
    (cell,) = re.findall(r"^\| (.*) \|$", Table([Column(("x",), [SPECIAL], left=True)]).markdown()[-1])
    assert re.sub(r"\\(?=[_{}#\\<>|*])", "", cell) == SPECIAL
    assert not re.search(r"(?<!\\)[_*<>|`]", cell)


def test_what_cannot_be_left_out_is_cut() -> None:
    table = Table([Column(("connection",), ["a" * 100], left=True), Column(("goodput", "(Mbit/s)"), ["1.00"])])
    lines = table.text(40)
    assert max(map(len, lines)) <= 40
    assert "aaa..." in lines[-1]
    assert lines[-1].endswith("1.00")
    assert Document(["x", table]).text().splitlines()[-1].startswith("a" * 100)


@pytest.mark.parametrize(
    ("mean", "half", "shown"),
    [
        (6.8123, 0.8934, "6.81 +- 0.89"),
        (0.012341, 0.00067, "0.01234 +- 0.00067"),
        (9.822063498, 8.9e-16, "9.82206 +- 0.00001"),
        (279.4, 3.2, "279.4 +- 3.2"),
        (279.4, 42.0, "279 +- 42"),
        (0.0, 0.5, "0.00 +- 0.50"),
        (5.0, 0.0, "5.00"),
        (5.0, float("nan"), "5.00"),
        (float("nan"), float("nan"), "-"),
    ],
)
def test_an_interval_has_two_digits_and_none_below_those_of_its_mean(mean: float, half: float, shown: str) -> None:
    assert units.plus_minus(mean, half) == shown


def test_no_half_width_is_finer_than_its_mean() -> None:
    shown = units.column([9.822, 279.4])
    assert [text.strip() for text in units.halves(shown, [8.9e-16, 3.21])] == ["0.01", "3"]
    assert units.halves(units.column([0.01431]), [0.00031]) == ["0.0003"]
