"""The notebooks of docs/notebooks: they run from the first cell to the last one, and are stored without outputs."""

import json
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[1] / "docs" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def cells(notebook: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(notebook.read_text("utf-8"))["cells"]
    return found


def test_there_are_three_notebooks() -> None:
    assert [notebook.stem for notebook in NOTEBOOKS] == ["own-scheduler", "reordering", "two-paths"]


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda notebook: notebook.stem)
def test_a_notebook_is_stored_without_outputs(notebook: Path) -> None:
    for number, cell in enumerate(cells(notebook)):
        assert not cell.get("outputs"), f"cell {number} has outputs: clear them before a commit"
        assert cell.get("execution_count") is None, f"cell {number} has a number: clear the outputs before a commit"


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda notebook: notebook.stem)
def test_a_notebook_is_short_and_begins_with_its_title(notebook: Path) -> None:
    first = "".join(cells(notebook)[0]["source"])
    assert first.startswith("# ")
    assert len(cells(notebook)) <= 15


@pytest.mark.long
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda notebook: notebook.stem)
@pytest.mark.filterwarnings("default")  # of the packages of notebooks
def test_a_notebook_runs(notebook: Path, tmp_path: Path) -> None:
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    import nbformat

    read = nbformat.read(notebook, as_version=4)  # type: ignore[no-untyped-call]
    nbclient.NotebookClient(read, timeout=600, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [output for cell in read.cells if cell.cell_type == "code" for output in cell.outputs]
    assert any("text/html" in output.get("data", {}) for output in shown)
    assert not [output for output in shown if output.output_type == "error"]
