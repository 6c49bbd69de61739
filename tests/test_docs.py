"""Pages wrap at 100 columns, their links lead somewhere, and every page can be found from the first one."""

import pkgutil
import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

import anabranch as ab
from wrapping import prose, wide

ROOT = Path(__file__).resolve().parents[1]
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "examples").rglob("*.md")),
]
# Pages whose prose is not wrapped yet.
UNWRAPPED: set[str] = set()

LINK = re.compile(r"\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^()\s]+)\)")


def named(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@cache
def anchors(page: Path) -> set[str]:
    """Return the anchors of the headings, as GitHub makes them."""
    seen: Counter[str] = Counter()
    found = set()
    for _, line in prose(page):
        if heading := re.match(r"#{1,6} +(.*?)(?: +#+)? *$", line):
            text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading[1])
            slug = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
            found.add(f"{slug}-{seen[slug]}" if seen[slug] else slug)
            seen[slug] += 1
    return found


def links(page: Path) -> list[tuple[int, Path, str]]:
    """Return the internal links of a page: line, file and anchor."""
    found = []
    for number, line in prose(page):
        for target in LINK.findall(re.sub(r"`[^`]*`", "", line)):
            if not re.match(r"[a-z]+:", target):
                file, _, anchor = target.partition("#")
                found.append((number, (page.parent / file).resolve() if file else page, anchor))
    return found


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_prose_wraps(page: Path) -> None:
    assert named(page) in UNWRAPPED or wide(page) == []


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_links_lead_somewhere(page: Path) -> None:
    for number, file, anchor in links(page):
        place = f"{named(page)}:{number}"
        assert file.exists(), f"{place}: there is no {file}"
        if anchor and file.suffix == ".md":
            assert anchor in anchors(file), f"{place}: {named(file)} has no heading #{anchor}"


def found_from(first: Path) -> set[Path]:
    """Return the pages that links lead to, one after the other."""
    found, ahead = set(), [first]
    while ahead:
        page = ahead.pop()
        if page not in found:
            found.add(page)
            ahead += [file for _, file, _ in links(page) if file.suffix == ".md" and file.exists()]
    return found


def test_every_page_can_be_found_from_the_readme() -> None:
    found = found_from(ROOT / "README.md")
    assert [named(page) for page in PAGES if page not in found] == []


def test_the_first_page_lists_every_page_or_a_page_that_leads_to_it() -> None:
    listed = {file for _, file, _ in links(ROOT / "docs/index.md")}
    near = {file for page in listed if page.suffix == ".md" for _, file, _ in links(page)}
    docs = [page for page in PAGES if page.parent == ROOT / "docs" and page.name != "index.md"]
    assert [named(page) for page in docs if page not in listed | near] == []


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").split()) <= 900


def test_anchors_are_those_of_github(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# Low satellites: `leo`\n## A\n```\n# no heading\n```\n## A\n## [x](y.md) & z\n", encoding="utf-8")
    assert anchors(page) == {"low-satellites-leo", "a", "a-1", "x--z"}


SHOWN = [page for page in PAGES if page.name != "CHANGELOG.md"] + sorted((ROOT / "examples").rglob("*.py"))


def test_every_import_and_name_that_is_shown_works() -> None:
    """CHANGELOG.md keeps the names of its time."""
    text = "\n".join(page.read_text(encoding="utf-8") for page in SHOWN)
    statements = set(
        re.findall(r"^(?:>>> | *)((?:from anabranch[\w.]* import|import anabranch)[^#\n]*)$", text, re.MULTILINE)
    )
    assert "import anabranch as ab" in statements
    for statement in statements:
        exec(statement, {})
    names = set(re.findall(r"\banabranch(?:\.[a-z_]\w*){2,}(?=\W)", text))
    assert {"anabranch.script.run", "anabranch.series.throughput", "anabranch.traces.load"} <= names
    for name in names:
        assert pkgutil.resolve_name(name) is not None
    for name in set(re.findall(r"\bab\.([A-Za-z_]\w*)", text)):
        assert hasattr(ab, name), name
