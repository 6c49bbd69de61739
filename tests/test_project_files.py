"""Workflows, forms, hooks and lists of the project name files, targets and versions that exist."""

import importlib.machinery
import importlib.util
import re
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

from wrapping import wide

ROOT = Path(__file__).resolve().parents[1]
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
RECORDS = sorted((ROOT / "docs/adr").glob("[0-9]*.md"))
NAMED = re.compile(r"`((?:stack|lab|py|fuzz|python|studies|tests|tools|docs|benches|\.ci|\.github)/[\w./-]+)`")
"""A path from the root, in inline code."""


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def program(name: str) -> ModuleType:
    """Return a program without suffix as a module."""
    loader = importlib.machinery.SourceFileLoader(name.replace("-", "_"), str(ROOT / "tools" / name))
    spec = importlib.util.spec_from_loader(loader.name, loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def test_every_record_has_its_sections_and_stands_in_the_index() -> None:
    index = text("docs/adr/README.md")
    for number, file in enumerate(RECORDS, 1):
        record = file.read_text(encoding="utf-8")
        assert re.match(rf"# {number:04}: \S", record)
        assert re.findall(r"^## (\w+)", record, re.MULTILINE) == ["Context", "Decision", "Consequences"]
        ((date, status),) = re.findall(r"^Date: (\d{4}-\d\d-\d\d)\. Status: (.+)\.$", record, re.MULTILINE)
        (row,) = [line for line in index.splitlines() if f"]({file.name})" in line]
        assert row.endswith(f"| {date} | {status} |")
        assert len(record.split()) <= 400, "a record fills one screen"


@pytest.mark.parametrize("page", ["docs/architecture.md", "CONTRIBUTING.md", *(f"docs/adr/{r.name}" for r in RECORDS)])
def test_paths_that_a_page_names_exist(page: str) -> None:
    names = [name for name in NAMED.findall(text(page)) if not re.search(r"KIND|NAME|NNNN", name)]
    # The how-to section about keys names a file relative to this directory.
    places = (ROOT, ROOT / "crates/scenario/src")
    assert [name for name in names if not any((place / name).exists() for place in places)] == []


def test_the_architecture_stays_short() -> None:
    assert len(text("docs/architecture.md").split()) <= 2500


def test_workflows_run_targets_that_make_has_and_the_oldest_versions_that_are_promised() -> None:
    checks, matrix = (text(f".github/workflows/{name}.yml") for name in ("checks", "matrix"))
    for target in re.findall(r"\bmake ([\w-]+)", checks + matrix):
        assert re.search(rf"^{target}:", MAKEFILE, re.MULTILINE), target
    assert "run: .ci/run" in checks
    rust = tomllib.loads(text("Cargo.toml"))["workspace"]["package"]["rust-version"]
    assert f"rustup toolchain install {rust} " in matrix
    python = tomllib.loads(text("pyproject.toml"))["project"]["requires-python"].removeprefix(">=")
    assert f'python-version: "{python}"' in matrix


def test_documented_targets_exist_and_every_target_is_documented_or_a_step_of_another() -> None:
    documented = set(re.findall(r"^# {3}make ([\w-]+)", MAKEFILE, re.MULTILINE))
    phony = set(" ".join(re.findall(r"^\.PHONY: (.*)", MAKEFILE, re.MULTILINE)).split())
    assert documented <= phony
    assert phony - documented == {"capi-stage", "lint-python", "lint-rust", "ns3-build", "ns3-test-long", "semver"}


def test_forms_ask_for_what_repeats_a_run() -> None:
    form = text(".github/ISSUE_TEMPLATE/wrong-result.yml")
    for asked in ("Scenario", "Seed", "anabranch --version", "anabranch doctor"):
        assert asked in form


def test_hooks_are_local_and_name_programs_that_exist() -> None:
    hooks = text(".pre-commit-config.yaml")
    assert re.findall(r"- repo: (\S+)", hooks) == ["local"]
    for entry in re.findall(r"entry: python3 (\S+)", hooks):
        assert (ROOT / entry).exists()


def test_a_wide_line_of_prose_is_found_with_its_place(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"{'a ' * 50}\n{'b ' * 51}\n| {'c ' * 80}|\n```\n{'d ' * 80}\n```\n", encoding="utf-8")
    assert wide(page) == [f"{page}:2: 102 columns"]


def test_dependencies_of_python_and_rust_name_the_licences_that_are_allowed() -> None:
    page = re.sub(r"\s+", " ", text("docs/dependencies.md"))
    for licence in tomllib.loads(text("deny.toml"))["licenses"]["allow"]:
        assert licence.split(" WITH ")[0] in page


def test_public_items_are_read_from_the_pages_of_rustdoc(tmp_path: Path) -> None:
    pages = {
        "index.html": '<a class="mod" href="a/index.html" title="mod x::a">a</a>',
        "a/index.html": "",
        "gone/index.html": "",
        "all.html": '<h3 id="structs">S</h3><ul class="all-items"><li><a href="a/struct.S.html">a::S</a></li></ul>'
        '<h3 id="enums">E</h3><ul class="all-items"><li><a href="a/enum.E.html">a::E</a></li></ul>',
        "a/struct.S.html": '<span id="structfield.f"><section id="method.new">'
        '<h2 id="trait-implementations"><section id="method.clone">',
        "a/enum.E.html": '<section id="variant.V"><span id="variant.V.field.g">',
    }
    for name, page in pages.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(page, encoding="utf-8")
    found = program("public-items").items(tmp_path)
    assert found[:4] == ["mod a", "enum a::E", "variant a::E::V", "field a::E::V::g"]
    assert found[4:] == ["struct a::S", "field a::S::f", "fn a::S::new"]


def test_the_list_of_public_items_has_what_every_driver_needs() -> None:
    items = set(text("crates/stack/public-items.txt").splitlines())
    assert {f"fn mptcp::connection::Connection::{name}" for name in ("handle_segment", "poll_transmit")} <= items
