"""The study of the AINA 2014 paper: its numbers, its runs, its report."""

import csv
import io
import itertools
import re
import shlex
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pandas as pd
import pytest

import anabranch as ab
from anabranch import _core, studies
from anabranch.execution.child import Child, ChildEndedError
from anabranch.studies import drawing, models, page, panels, run, words
from anabranch.studies.alheid_2014_aina import names
from anabranch.studies.alheid_2014_aina import text as aina_text
from anabranch.studies.alheid_2014_sims import text as sims_text
from anabranch.studies.alheid_2016_ict import names as ict
from anabranch.studies.alheid_2016_ict import text as ict_text
from anabranch.studies.base import ROOT, Data, Entry, Table
from anabranch.studies.beside import Row, gains
from anabranch.studies.task import Task
from anabranch.sweeps import document
from anabranch.sweeps.paired import Interval
from anabranch.sweeps.provenance import Provenance
from helpers import Command, Page, rewrite
from studies import assert_figures_fit, assert_stopped_runs_are_counted, quick_data

if TYPE_CHECKING:
    from anabranch.execution.progress import State

NAME = "alheid-2014-aina"
AINA = studies.find(NAME)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the results of the quick form."""
    return tmp_path_factory.mktemp("study") / "out"


@pytest.fixture(scope="module")
def data(folder: Path) -> Data:
    """The quick form's runs."""
    return quick_data(AINA, folder)


@pytest.fixture(scope="module")
def report(data: Data) -> str:
    made = {name: spec.make(data) for name, spec in AINA.tables.items() if not spec.full}
    figures = {"fig-10": drawing.draw(AINA, "fig-10", data, ["svg"])["svg"].decode()}
    command = ["anabranch", "study", NAME, "--quick", "--out", "my study"]
    return page.page(AINA, data, made, figures, Provenance.here(), command=command, seconds=1.0)


def test_recoveries_with_the_same_maximum_of_the_buffer_are_all_named() -> None:
    sizes = {"dsack": [227.0, 233.0], "eifel": [302.0, 578.0], "door": [229.0, 236.0], "frto": [225.0, 233.0]}
    assert aina_text.least_memory(sizes) == "D-SACK and F-RTO, 225 to 233 packets"
    assert aina_text.least_memory({**sizes, "frto": [229.0, 232.0]}) == "F-RTO, 229 to 232 packets"
    assert aina_text.least_memory({name: [227.0, 233.0] for name in sizes}) == "no difference, 227 to 233 packets"


def test_the_wireless_studies_name_all_recoveries_with_the_smallest_buffer(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = {"dsack": 36.0, "eifel": 90.0, "door": 40.0, "frto": 36.0}
    data = cast("Data", SimpleNamespace(mean=lambda *_, recovery, **__: SimpleNamespace(mean=sizes[recovery])))
    assert sims_text._least_memory(data, "coupled") == "D-SACK and F-RTO, 36 packets"
    monkeypatch.setattr(ict_text, "_measure", lambda *cell: sizes[cell[-1]])
    cells = len(ict.CASES) * len(ict.CONTROLLERS)
    assert ict_text._memory(data, "coupled") == f"D-SACK and F-RTO, {cells} of {cells} cells"


def test_a_table_of_a_study_comes_in_three_forms(command: Command, data: Data) -> None:
    out = data.sweeps["tables"].source.folder.parents[1]  # type: ignore[union-attr]
    asked = ("study", NAME, "--quick", "--only", "table-2", "--out", out)
    latex = command(*asked, "--format", "latex").out
    assert latex.strip() == (out / "tables" / "table-2.tex").read_text("utf-8").strip()
    assert latex.count(r" \\" + "\n") == 1 + 15
    assert latex.count(r"\begin{tabular}") == latex.count(r"\end{tabular}") == 1
    markdown = command(*asked, "--format", "markdown").out
    assert markdown.strip() == (out / "tables" / "table-2.md").read_text("utf-8").strip()
    assert len(re.findall(r"^\|", markdown, re.M)) == 2 + 15
    text = command(*asked, "--format", "text").out
    assert max(len(line) for line in text.splitlines() if "  " in line) <= 80
    assert "left out" in text
    assert "left out" not in command(*asked, "--format", "text", "--wide").out
    assert command(*asked).out.strip() == str(out / "tables" / "table-2.csv")


def test_intervals_and_differences_are_told_apart() -> None:
    found = Interval(10, 2.0, 1.5, 2.5)
    cells = [
        Entry.of(found, 2),
        Entry("5.0", "\N{PLUS-MINUS SIGN}0.0"),
        Entry("5.0", "\N{MINUS SIGN}0.3"),
        Entry.of(found, 0, "+5 %"),
    ]
    table = Table("t", "c", [], ["a", *"bcd"], [["x", *cells[:3]], ["y", *cells[3:], "", ""]], 1, pd.DataFrame())
    first, second = table.plain().latex()[5:7]
    assert first == r"x & $2.00 \pm 0.50$ & 5.0 ($\pm$0.0) & 5.0 ($-0.3$) \\"
    assert second == r"y & $+5$ \% $\pm$ 1 &  &  \\"


@pytest.mark.parametrize("recovery", ["none", "door"])
def test_the_2011_model_does_not_stop_because_data_overtook_a_handshake(recovery: str) -> None:
    """With seed 26 the second subflow's first segment overtakes the third ACK of its handshake by 55 us."""
    base = ab.Scenario.two_path("0.5 Mbit/s, 10 ms", "0.5 Mbit/s, 500 ms", transfer="50 MB")
    base = base.set({"stack": "legacy-2011", "connection.recovery": recovery, "duration": "1 h"})
    base = base.set({f"path.{i}.delay_variation": "5 %" for i in range(2)})
    for controller in ("uncoupled", "fully-coupled", "linked-increases", "rtt-compensator"):
        run = base.set("connection.controller", controller).run(26)
        assert run.summary["status"] == "completed"
        assert run.summary["goodput_mbps"] > 0.2  # the least of the original's runs


def test_runs_that_stopped_are_counted_beside_the_mean() -> None:
    """Two links of 0.5 Mbit/s with 20 packets of queue: of the 2011 model no run ends (docs/legacy.md)."""
    base = ab.Scenario.two_path("0.5 Mbit/s, 10 ms", "0.5 Mbit/s, 200 ms", transfer="5 MB")
    base = base.set({"stack": "legacy-2011", "duration": "20 min", "connection.controller": "uncoupled"})
    queues = {"short": {"path.0.queue": "20 packets", "path.1.queue": "20 packets"}, "long": {}}
    data = Data(AINA, {"tables": ab.sweep(base, {"queues": queues}, seeds=2)})
    short, long = (data.mean("tables", "goodput_mbps", queues=queues) for queues in ("short", "long"))
    assert (short.stopped, long.stopped) == ("all 2 stopped", "")
    both = data.over([short.mean, long.mean], "tables", {"queues": "short"}, {"queues": "long"})
    assert both.stopped == "2 of 4 stopped"
    assert Entry.of(long, 2).stopped == ""
    rows: list[list[str | Entry]] = [["x", Entry.of(short, 2)], ["y", Entry.of(both, 2, "5.0", "+0.1")]]
    table = Table("t", "c", [], ["a", "b"], rows, 1, pd.DataFrame())
    text = str(table.plain())
    assert "(all 2 stopped)" in text
    assert "5.0 (+0.1; 2 of 4 stopped)" in text
    assert "<small>+0.1; 2 of 4 stopped</small>" in page.table_html(table)


def test_the_studies_are_listed(command: Command) -> None:
    done = command("study", "--list")
    assert (done.status, done.err) == (0, "")
    listed = [line.split()[0] for line in done.out.splitlines()]
    assert listed == studies.names()
    assert NAME in listed


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), f"give the name of a study, or `all`; studies: {NAME}"),
        (("alheid-2015",), "unknown study 'alheid-2015'"),
        ((NAME, "--only", "fig-3"), "'fig-3' is not a part of"),
    ],
)
def test_a_study_that_cannot_be_made_says_what_can(command: Command, arguments: tuple[str, ...], said: str) -> None:
    done = command("study", *arguments)
    assert (done.status, done.out) == (2, "")
    assert said in done.err


def test_its_files_are_part_of_the_package() -> None:
    assert ROOT.is_relative_to(Path(ab.__file__).parent)
    files = {file.name for file in (AINA.folder).iterdir()}
    assert {"scenario.toml", "paper-tables.csv", "README.md"} <= files
    assert {f"{name}.toml" for name in AINA.sweeps} <= files


def test_the_full_study_has_ten_seeds_in_every_cell_and_no_invalid_one() -> None:
    task = Task(AINA, quick=False)
    for plan in task.plans().values():
        assert plan.seeds == tuple(range(1, 11))
        assert [cell.error for cell in plan.cells if cell.error] == []
    delays = task.plans()["delays"].axes["path.1.delay"]
    assert tuple(point.label for point in delays) == names.DELAYS
    differences = [int(delay.split()[0]) - 10 for delay in names.DELAYS]
    assert (differences[0], differences[-1]) == (0, 500)
    assert {second - first for first, second in itertools.pairwise(differences)} == {50, 100}


def test_the_papers_buffer_column_is_mbit_of_payload() -> None:
    frame = names.paper()
    assert len(frame) == 15
    packets = frame["ooo_buffer_printed"] * 1e6 / (8 * names.PAYLOAD)
    assert packets.tolist() == pytest.approx(frame["ooo_buffer_packets"].tolist(), abs=1e-6)


def test_a_full_segment_has_the_size_that_the_ceiling_supposes() -> None:
    # One run over constant delays: octets that the link carried / segments that got on it.
    base = document.read(AINA.folder / "ceiling.toml").cells[0].scenario
    summary = base.run(seed=1).summary
    for flow in summary["subflows"]:
        octets = flow["utilisation"] * names.RATE * 1e6 / 8 * summary["last_byte_s"]
        assert octets / (flow["segments"] - flow["queue_drops"]) == pytest.approx(names.PACKET, abs=1)


def test_the_independent_receiver_fills_both_links_in_all_cells(data: Data) -> None:
    # Ceiling: 2 x 0.5 Mbit/s x 1400 octets of payload in each packet.
    runs = data.frame("ceiling")
    constant = runs[runs["links"] == "constant"]
    assert len(constant) == 15
    assert constant["goodput_mbps"].min() >= 0.98 * names.CEILING
    assert constant["goodput_mbps"].max() <= names.CEILING


def test_the_legacy_model_collapses_to_one_link(data: Data) -> None:
    cells: tuple[tuple[str, dict[str, Any]], ...] = (
        ("tables", {"recovery": "none"}),
        ("nopr", {"case": "unlike-constant"}),
    )
    for sweep, cell in cells:
        for controller in names.CONTROLLERS:
            rate = data.mean(sweep, "goodput_mbps", controller=controller, model="legacy", **cell).mean
            assert rate == pytest.approx(0.50, abs=0.011)


def test_the_coupled_receiver_costs_the_same_engine_its_second_link(data: Data) -> None:
    for controller in names.CONTROLLERS:
        coupled, independent = (
            data.mean("tables", "goodput_mbps", controller=controller, recovery="none", model=model).mean
            for model in ("coupled", "independent")
        )
        assert coupled < 0.8 * independent


def test_the_first_paragraph_states_the_contrast_in_measured_numbers(data: Data) -> None:
    text = AINA.opening(data)
    runs = data.frame("ceiling")
    least = runs[runs["links"] == "constant"]["goodput_mbps"].min()
    assert f"{least / names.CEILING:.4f}" in text
    assert "all 15 cells" in text
    for controller, label in names.CONTROLLERS.items():
        mean = data.mean("nopr", "goodput_mbps", controller=controller, case="unlike-constant", model="legacy").mean
        assert f"{mean:.2f} Mbit/s ({label})" in text


def test_each_cell_says_how_far_it_is_from_the_paper(data: Data) -> None:
    for name, quantities in (("table-1", 2), ("table-2", 3)):
        table = AINA.tables[name].make(data)
        assert len(table.rows) == 15
        assert all(len(row) == 2 + 4 * quantities for row in table.rows)
    rows = {(row[0], row[1]): row for row in AINA.tables["table-1"].make(data).rows}
    cell = data.mean("tables", "ooo_ratio", 100, controller="uncoupled", recovery="none", model="legacy").mean
    shown = rows["Uncoupled", "NoPR"]
    assert shown[2] == "6.5"
    assert shown[3] == Entry(f"{cell:.1f}", words.signed(cell - 6.49, 1))


def test_differences_have_a_sign() -> None:
    assert words.signed(1.25, 1) == "+1.2"
    assert words.signed(-0.3, 1) == "\N{MINUS SIGN}0.3"
    assert words.signed(0.01, 1) == "±0.0"
    assert words.signed(float("nan"), 1) == ""


def test_the_report_loads_nothing_and_holds_everything(report: str) -> None:
    found = Page(report)
    assert all(load.startswith("data:image/svg+xml;base64,") for load in found.loads)
    assert not re.search(r"https?:|//cdn|@import|url\(", report)
    assert not {"script", "link", "iframe"} & set(found.tags)
    text = " ".join(found.text)
    for part in (AINA.source, ab.__version__, "Table I", "Table II", 'delay_redraw = "write"', *AINA.notes):
        assert part in text
    assert "nan" not in re.sub(r"[a-z]+nan|nan[a-z]+", "", text.lower())


def test_the_first_paragraph_of_the_report_is_the_contrast(data: Data, report: str) -> None:
    paragraph = re.search(r"<p[^>]*>(.*?)</p>", report, re.DOTALL)
    assert paragraph is not None
    assert Page(f"<p>{paragraph[1]}</p>").text == [AINA.opening(data)]


def test_the_algorithms_of_the_papers_keep_their_colours() -> None:
    """Those of the figures that were published; F-RTO's bars are hatched, since it is as grey as TCP-DOOR."""
    shown = {name: panels.look_of(name).colour for name in (*names.RECOVERIES, *models.CONTROLLERS)}
    assert shown == {
        "none": "#000000",
        "dsack": "#0072B2",
        "eifel": "#E69F00",
        "door": "#009E73",
        "frto": "#D55E00",
        "uncoupled": "#56B4E9",
        "fully-coupled": "#CC79A7",
        "rtt-compensator": "#882255",
        "linked-increases": "#117733",
    }


def test_the_command_under_a_figure_makes_it_again(command: Command, here: Path, report: str) -> None:
    (said,) = re.findall(r"anabranch (study \S+ --quick --out 'my study' --only fig-10)", " ".join(Page(report).text))
    done = command(*shlex.split(said))
    assert (done.status, done.err) == (0, "")
    assert done.out == f"{Path('my study') / 'figures' / 'fig-10.svg'}\n"
    made = {file.name: file.read_bytes()[:5] for file in (here / "my study" / "figures").iterdir()}
    assert made == {"fig-10.svg": b"<?xml", "fig-10.png": b"\x89PNG\r", "fig-10.pdf": b"%PDF-"}
    assert sorted(folder.name for folder in (here / "my study" / "sweeps").iterdir()) == ["single-path", "tables"]
    again = command(*shlex.split(said.replace("fig-10", "table-1")))
    assert again.out == f"{Path('my study') / 'tables' / 'table-1.csv'}\n"
    rows = list(csv.DictReader(io.StringIO(Path("my study/tables/table-1.csv").read_text(encoding="utf-8"))))
    assert rows[0]["ooo_ratio_pct paper"] == "6.49"


def test_a_figure_is_the_same_bytes_here_and_in_a_further_process(
    data: Data, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drawing, "cores", lambda: 2)
    monkeypatch.setattr(drawing, "_FIGURES_PER_PROCESS", 1)
    task = Task(AINA, quick=True, only=("fig-5",))
    shared = drawing.Drawing(task, run.stores(task, folder, task.plans(), "python"))
    shared.finish()
    shared._share()
    here = drawing.draw(AINA, "fig-5", data, drawing.KINDS)
    assert shared.files == {"fig-5": here}
    assert b"Type3" not in here["pdf"]  # which publishers refuse


def test_figures_of_a_process_that_ends_early_are_left_to_others(
    data: Data, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Ended(Child):
        def ask(self, request: Any, limit: float | None = None) -> Any:
            raise ChildEndedError(-9, late=False)

    monkeypatch.setattr(drawing, "cores", lambda: 2)
    monkeypatch.setattr(drawing, "Child", Ended)
    task = Task(AINA, quick=True, only=("fig-5", "fig-10"))
    opened = run.stores(task, folder, task.plans(), "python")
    shared = drawing.Drawing(task, opened)
    assert shared.finish().sweeps
    shared._share()
    assert shared.files == {}


def test_a_directory_of_something_else_is_left_alone(command: Command, here: Path) -> None:
    (here / "notes").mkdir()
    (here / "notes" / "mine.txt").write_text("mine", encoding="utf-8")
    done = command("study", NAME, "--quick", "--out", "notes")
    assert done.status == 2
    assert "nothing is written" in done.err
    assert [entry.name for entry in (here / "notes").iterdir()] == ["mine.txt"]


def test_runs_of_another_engine_are_not_mixed_in(command: Command, here: Path) -> None:
    assert command("study", NAME, "--quick", "--only", "baselines", "--out", "out").status == 0
    marker = here / "out" / "sweeps" / "single-path" / "provenance.json"
    rewrite(marker, version="0.0.1")
    done = command("study", NAME, "--quick", "--only", "baselines", "--out", "out")
    assert done.status == 2
    assert "version 0.0.1" in done.err
    assert "--allow-mixed" not in done.err  # which a study does not have


def test_what_two_sweeps_share_is_run_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "scenario.toml").write_text('[transfer]\nbytes = "50 kB"\n[[path]]\n', encoding="utf-8")
    for name, sizes in (("first", "[700, 1400]"), ("second", "[1400, 1000]")):
        (tmp_path / f"{name}.toml").write_text(
            f'scenario = "scenario.toml"\nseeds = 2\naxes = {{ mss = {sizes} }}\n', encoding="utf-8"
        )
    plans = {name: document.read(tmp_path / f"{name}.toml") for name in ("first", "second")}
    task = Task(AINA, quick=True)
    stores = run.stores(task, tmp_path / "out", plans, "python")
    made: list[int] = []
    real = _core.run

    def counted(*arguments: Any) -> Any:
        made.append(1)
        return real(*arguments)

    monkeypatch.setattr(_core, "run", counted)
    states: list[State] = []
    run.execute(stores, states.append)
    for store in stores.values():
        store.close()
    assert len(made) == 6
    assert (states[-1].total, states[-1].stored) == (8, 0)
    assert len(ab.Sweep.load(tmp_path / "out" / "sweeps" / "second").runs) == 4


@pytest.mark.long
def test_the_quick_study_answers_with_its_report(command: Command, here: Path) -> None:
    done = command("study", NAME, "--quick", "--out", "out")
    assert (done.status, done.err) == (0, "")
    assert done.out.endswith(f"report   {Path('out') / 'report.html'}\n")
    task = Task(AINA, quick=True)
    files = {file.name for file in (here / "out" / "figures").iterdir()}
    assert files == {f"{name}.{kind}" for name in task.figures for kind in drawing.KINDS}
    assert {file.stem for file in (here / "out" / "tables").iterdir()} == set(task.tables)
    found = Page((here / "out" / "report.html").read_text(encoding="utf-8"))
    assert len(found.loads) == len(task.figures)


def test_the_table_of_gains_says_how_many_comparisons_it_makes() -> None:
    base = ab.Scenario.two_path("5 Mbit/s, 20 ms, loss 1 %", "2 Mbit/s, 10 ms", transfer="300 kB")
    models = {"legacy": {"acknowledgement": "coupled"}, "coupled": {"acknowledgement": "coupled"}, "independent": {}}
    done = ab.sweep(base, {"recovery": ["none", "dsack", "frto"], "model": models}, seeds=3)
    rows = [Row((name,), {"recovery": name}) for name in ("dsack", "frto")]
    made = gains(cast("Any", SimpleNamespace(sweeps={"tables": done})), rows, ["Recovery"], "Small.")
    assert "Small. 6 comparisons: on average, 0.3 of their 95 % intervals miss the true" in made.caption
    assert {"p", "p_holm"} <= set(made.frame.columns)


def test_no_text_leaves_its_figures(data: Data) -> None:
    assert_figures_fit(AINA, data, "fig-4", "fig-5", "fig-6", "fig-10", "fig-11")


def test_tables_count_runs_that_stopped(data: Data) -> None:
    assert_stopped_runs_are_counted(AINA, data)
