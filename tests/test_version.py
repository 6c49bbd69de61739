"""The version stands in one place, and everything that says it says the same."""

import re
import subprocess
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

import anabranch as ab
from anabranch import _core
from helpers import Command

ROOT = Path(__file__).parent.parent
VERSION: str = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["package"]["version"]


def test_engine_package_and_command_say_the_version_of_the_workspace(command: Command, finished: ab.Run) -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+", VERSION)
    assert _core.version() == VERSION == ab.__version__ == metadata.version("anabranch")
    assert finished.summary["version"] == VERSION
    assert command("--version").out.split()[:2] == ["anabranch", VERSION]


def test_the_version_is_written_in_no_other_manifest() -> None:
    others = [ROOT / "fuzz" / "Cargo.toml", ROOT / "tools" / "capi-header" / "Cargo.toml"]
    manifests = [*ROOT.glob("crates/*/Cargo.toml"), *others]
    assert len(manifests) > 5
    for manifest in manifests:
        assert tomllib.loads(manifest.read_text(encoding="utf-8"))["package"]["version"] == {"workspace": True}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert "version" not in project
    assert project["dynamic"] == ["version"]
    assert not re.search(r"^(version|repository-code|url):", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.M)


def test_the_changelog_begins_with_the_version() -> None:
    (first, *_) = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert first == VERSION


def test_a_wheel_of_one_machine_or_one_python_is_refused(tmp_path: Path) -> None:
    for name, said in (
        ("anabranch-1.0.0-cp312-cp312-manylinux_2_17_x86_64.whl", "every Python from 3.11 on"),
        ("anabranch-1.0.0-cp311-abi3-linux_x86_64.whl", "a manylinux wheel is wanted"),
    ):
        (tmp_path / name).write_bytes(b"")
        done = subprocess.run(
            [ROOT / "tests" / "wheel", "python3", tmp_path / name], capture_output=True, text=True, check=False
        )
        assert done.returncode == 1
        assert said in done.stderr


def test_the_citation_has_what_its_format_asks_for() -> None:
    yaml = pytest.importorskip("yaml")
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert {"cff-version", "message", "title", "authors"} <= set(cited)
    assert " OR ".join(cited["license"]) == "MIT OR Apache-2.0"
