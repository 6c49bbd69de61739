"""What is said when something around fails: a full disk, a missing package, a tampered file, a name that lies."""

import contextlib
import json
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import anabranch as ab
from anabranch.install.doctor import examine
from helpers import TWO_PATHS, Command

LINUX = Path(__file__).parent.parent / "crates" / "acceptance" / "tests" / "data" / "linux-mptcp-two-paths-snap128.pcap"
SWEEP = 'scenario = "two.toml"\nseeds = 1\naxes = { mss = [700, 1400] }\n'
posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has neither file-size limits nor POSIX devices")


@contextlib.contextmanager
def full_beyond(octets: int) -> Iterator[None]:
    """Let no file grow larger: more gives EFBIG, as a full disk gives ENOSPC."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (octets, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@posix
@pytest.mark.parametrize(
    ("arguments", "place"),
    [
        (("run", "two.toml", "--out", "far/out", "--quiet"), "far/out"),
        (("demo", "--out", "out"), "out"),
        (("analyze", LINUX, "--out", "out", "--quiet"), "out"),
        (("plot", "older", "--out", "figures"), "figures"),
        (("plot", "older"), "older"),
        (("sweep", "sweep.toml", "--out", "kept", "--quiet"), "kept"),
        (("study", "alheid-2014-aina", "--quick", "--out", "study", "--quiet"), "study/"),
    ],
)
def test_a_full_disk_names_the_folder(
    command: Command, scenario_file: Path, result: Path, arguments: tuple[Any, ...], place: str
) -> None:
    shutil.copytree(result, "older")
    Path("sweep.toml").write_text(SWEEP, encoding="utf-8")
    before = {file.name for file in Path().iterdir()}
    with full_beyond(1000):
        done = command(*arguments)
    assert (done.status, len(done.err.splitlines())) == (2, 1)
    assert done.err.startswith(place)
    assert ": no space left" in done.err
    if arguments[0] in {"run", "demo", "analyze"}:
        assert {file.name for file in Path().iterdir()} == before


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this platform has no /dev/full")
@pytest.mark.parametrize("amount", ["1 B", "100 kB"])
def test_a_trace_on_a_full_disk_fails(command: Command, scenario_file: Path, amount: str) -> None:
    done = command("run", scenario_file, "--set", f"transfer.bytes={amount}", "--trace", "/dev/full")
    assert (done.status, done.out) == (2, "")
    assert "'/dev/full'" in done.err
    assert "No space left" in done.err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this platform has no /dev/full")
@pytest.mark.parametrize("arguments", [("new",), ("run", "two.toml"), ("run", "two.toml", "--json"), ("list",)])
def test_an_answer_to_a_full_disk_says_so(scenario_file: Path, arguments: tuple[str, ...]) -> None:
    import subprocess

    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = subprocess.run(
            [sys.executable, "-m", "anabranch", *arguments], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert (done.returncode, done.stderr) == (2, "standard output: no space left\n")


@pytest.mark.parametrize(
    ("package", "arguments"),
    [
        ("pandas", ("run", "two.toml", "--out", "out", "--quiet")),
        ("matplotlib", ("run", "two.toml", "--out", "out", "--quiet")),
        ("fastparquet", ("run", "two.toml", "--out", "out", "--quiet")),
        ("pandas", ("sweep", "sweep.toml")),
        ("fastparquet", ("plot", "older")),
    ],
)
def test_a_missing_package_is_named_with_the_remedy(
    command: Command,
    scenario_file: Path,
    result: Path,
    monkeypatch: pytest.MonkeyPatch,
    package: str,
    arguments: tuple[str, ...],
) -> None:
    shutil.copytree(result, "older")
    Path("sweep.toml").write_text(SWEEP, encoding="utf-8")
    for name in [name for name in sys.modules if name.partition(".")[0] == package]:
        monkeypatch.delitem(sys.modules, name)
    for name in [name for name in sys.modules if name.startswith("anabranch.plots")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    done = command(*arguments)
    assert done.status == 2
    assert done.err == f"{package} is not installed, and Anabranch needs it: python -m pip install {package}\n"
    (said,) = (finding.detail for finding in examine() if finding.what == "results")
    assert said == done.err.strip()


@pytest.mark.parametrize(
    "content", ["", "[]", "null", "{}", '{"status": "completed"}', "GOODPUT", '{"subflows": 3, "status": 7}']
)
@pytest.mark.parametrize("verb", ["compare", "plot", "replay"])
def test_a_tampered_summary_is_no_fault_of_ours(command: Command, result: Path, content: str, verb: str) -> None:
    file = result / "summary.json"
    if content == "GOODPUT":  # still a summary
        content = json.dumps(json.loads(file.read_text(encoding="utf-8")) | {"goodput_mbps": 1000.0})
    file.write_text(content, encoding="utf-8")
    done = command(verb, result, *([result] if verb == "compare" else []))
    assert (done.status, done.out) == (2, "")
    assert done.err == f"{result}: not a whole Anabranch result: summary.json was changed after it was written\n"


@pytest.mark.parametrize("content", ["[]", "null", "{}", '{"status": "completed"}', '{"subflows": 3, "status": 7}'])
def test_a_tampered_summary_of_an_earlier_version_is_none_either(command: Command, result: Path, content: str) -> None:
    marker = json.loads((result / "provenance.json").read_text(encoding="utf-8"))
    del marker["summary_sha256"]
    (result / "provenance.json").write_text(json.dumps(marker), encoding="utf-8")
    assert command("compare", result, result).status == 0
    (result / "summary.json").write_text(content, encoding="utf-8")
    done = command("compare", result, result)
    assert (done.status, done.out) == (2, "")
    assert done.err == f"{result}: not a whole Anabranch result: summary.json is not the summary of a run\n"


TURNED = "\u202e" + "txet"
CLEARED = "\x1b[2J\x1b[H"


@pytest.mark.parametrize("text", [TURNED, CLEARED, "a\u2028b", "\x9b2J"])
def test_a_title_that_deceives_is_refused(command: Command, scenario_file: Path, text: str) -> None:
    done = command("check", scenario_file, "--set", f"title={json.dumps(text)}")
    assert (done.status, done.out) == (2, "")
    assert "title (from --set or set()): not a title" in done.err
    assert "none of which controls a terminal or the direction of writing" in done.err
    done = command("check", scenario_file, "--set", f"connection.controller={text}")
    assert done.status == 2
    assert not any(character in done.err for character in text if not character.isprintable())


@pytest.mark.parametrize("text", [TURNED, CLEARED])
def test_a_name_in_an_axis_that_deceives_is_refused(command: Command, here: Path, text: str) -> None:
    axes = f"[axes.receiver]\n{json.dumps(text)} = {{ mss = 700 }}\nplain = {{ mss = 1400 }}\n"
    Path("sweep.toml").write_text('scenario = "two.toml"\n' + axes.replace("\x1b", "\\u001b"), encoding="utf-8")
    Path("two.toml").write_text(TWO_PATHS, encoding="utf-8")
    done = command("sweep", "sweep.toml")
    assert (done.status, done.out) == (2, "")
    assert "axes.receiver: " in done.err
    assert done.err.isascii()


@posix
@pytest.mark.parametrize("name", [f"{TURNED}.pcap", f"{CLEARED}.pcap"])
@pytest.mark.usefixtures("no_figures")
def test_a_file_whose_name_deceives_is_shown_as_it_is(command: Command, here: Path, name: str) -> None:
    shutil.copy(LINUX, name)
    done = command("analyze", name, "--out", "out")
    assert (done.status, done.err) == (0, "")
    assert done.out.splitlines()[0].isascii()
    page = Path("out/report.html").read_text(encoding="utf-8")
    assert not any(character in page for character in name if not character.isprintable())
    for verb in ("check", "run"):
        done = command(verb, "missing" + name)
        assert (done.status, done.out) == (2, "")
        assert "no such file" in done.err
        assert done.err.isascii()
    Path(name).write_text("nothing", encoding="utf-8")
    done = command("analyze", name)
    assert (done.status, done.err.isascii()) == (2, True)
    assert "not a pcap or pcapng file" in done.err


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux takes file names that are not UTF-8")
@pytest.mark.usefixtures("no_figures")
def test_a_name_that_is_not_utf_8_is_refused(command: Command, scenario_file: Path) -> None:
    name = os.fsdecode(b"\xff")
    shutil.copy(LINUX, name)
    shutil.copy(scenario_file, name + ".toml")
    for arguments in (
        ("analyze", name),
        ("check", name + ".toml"),
        ("run", name + ".toml"),
        ("run", scenario_file, "--trace", name),
        ("run", scenario_file, "--pcap", name),
    ):
        done = command(*arguments)
        assert (done.status, len(done.err.splitlines())) == (2, 1), arguments
        assert done.err.startswith("\\udcff"), done.err
        assert "not a name in UTF-8" in done.err, done.err
    for verb, file in (("run", scenario_file), ("analyze", LINUX)):
        out = name + verb
        assert command(verb, file, "--out", out, "--quiet").err == ""
        assert "\\udcff" in json.loads((Path(out) / "provenance.json").read_text(encoding="utf-8"))["command"]


def test_an_older_result_is_shown_as_it_is_whatever_its_title(finished: ab.Run) -> None:
    from dataclasses import replace

    old = replace(finished, summary=finished.summary | {"title": TURNED})
    assert str(old).splitlines()[0] == r"\u202etxet"
    assert "\u202e" not in old._repr_html_()
