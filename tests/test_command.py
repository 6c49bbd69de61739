"""The commands, on good input."""

import csv
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import anabranch as ab
from helpers import SEVERAL, Command

COMMANDS = ("demo", "new", "check", "run", "sweep", "study", "list", "plot", "replay", "compare", "doctor", "torture")


def files_of(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def test_without_arguments_the_commands_are_listed(command: Command) -> None:
    done = command()
    assert done.status == 0
    assert all(re.search(rf"^  {name} ", done.out, re.M) for name in COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself(command: Command, name: str) -> None:
    done = command(name, "--help")
    assert done.status == 0
    assert done.out.startswith(f"Usage: anabranch {name}")


def test_the_version_is_that_of_the_engine(command: Command) -> None:
    done = command("--version")
    assert done.status == 0
    assert done.out.split()[:2] == ["anabranch", ab.__version__]


def test_the_printed_scenario_is_valid_and_can_be_run_from_a_pipe() -> None:
    new = subprocess.run([sys.executable, "-m", "anabranch", "new"], capture_output=True, check=True)
    run = subprocess.run(
        [sys.executable, "-m", "anabranch", "run", "-", "--json", "--set", "transfer.bytes=1 MB"],
        input=new.stdout,
        capture_output=True,
        check=True,
    )
    assert json.loads(run.stdout)["bytes_delivered"] == 1_000_000


@pytest.mark.parametrize("form", [(), ("--json",), ("--csv",)])
def test_a_terminal_of_few_letters_is_no_obstacle(scenario_file: Path, form: tuple[str, ...]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "anabranch", "run", str(scenario_file), "--set", "title=fünf → sechs", *form],
        capture_output=True,
        env=os.environ | {"PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0"},
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    said = done.stdout.decode("cp1252")
    if form == ("--json",):
        assert json.loads(said)["title"] == "fünf → sechs"
    elif not form:
        assert said.startswith("fünf \\u2192 sechs")


def test_check_says_that_a_scenario_is_valid(command: Command, scenario_file: Path) -> None:
    done = command("check", scenario_file)
    assert (done.status, done.err) == (0, "")
    force = "connection0: profile modern, detector rack, reduction prr\n"
    assert done.out == f"{scenario_file}: valid: 1 connection, 2 paths\n{force}"


@pytest.mark.parametrize("change", ["connection.sack=false", "connection.acknowledgement=coupled"])
def test_check_says_where_a_default_gives_way_to_newreno(command: Command, scenario_file: Path, change: str) -> None:
    done = command("check", scenario_file, "--set", change)
    force = "connection0: profile modern, detector newreno, reduction newreno"
    assert done.out.endswith(f"{force} (rack needs an independent receiver with SACK)\n")
    done = command("check", scenario_file, "--json", "--set", change)
    assert json.loads(done.out)["in_force"] == [{"detector": "newreno", "reduction": "newreno"}]
    # What the scenario names itself stays.
    done = command("check", scenario_file, "--set", change, "--set", "connection.detector=reordering-degree")
    assert "detector reordering-degree, reduction newreno\n" in done.out


def test_check_says_that_bbr_decides_its_reduction(command: Command, scenario_file: Path) -> None:
    done = command("check", scenario_file, "--set", "connection.controller=bbr")
    assert done.out.endswith("connection0: profile modern, detector rack, reduction by the controller bbr\n")


def test_check_says_once_what_holds_for_all_connections(command: Command, here: Path) -> None:
    (here / "three.toml").write_text(f"{SEVERAL}[[connection]]\nprotocol = 'udp'\n", encoding="utf-8")
    done = command("check", "three.toml", "--set", "connection.2.transfer.bytes=1 kB")
    assert done.out.splitlines()[1:] == ["2 connections: profile modern, detector rack, reduction prr"]


def test_check_gives_every_value_as_json(command: Command, scenario_file: Path) -> None:
    done = command("check", scenario_file, "--json", "--set", "path.1.delay=200 ms")
    links = json.loads(done.out)["links"]
    assert [link["up"]["delay_s"] for link in links] == [0.1, 0.2]


def test_check_warns_of_what_is_probably_not_meant(command: Command, scenario_file: Path) -> None:
    done = command("check", scenario_file, "--set", "connection.protocol=tcp")
    assert done.status == 0
    assert done.err.startswith("warning: ")
    assert "path1" in done.err


def test_check_writes_a_generated_network_out(command: Command, tmp_path: Path) -> None:
    short = tmp_path / "tree.toml"
    short.write_text(
        'transfer.bytes = "100 kB"\ntopology = { kind = "fat-tree", k = 4 }\ntraffic = { pattern = "permutation" }\n',
        encoding="utf-8",
    )
    long = tmp_path / "long.toml"
    long.write_text(command("check", short, "--expand", "--set", "traffic.subflows=2").out, encoding="utf-8")
    assert long.read_text(encoding="utf-8").count("[[connection]]") == 16
    runs = [
        json.loads(command("run", *rest, "--json").out) for rest in ((short, "--set", "traffic.subflows=2"), (long,))
    ]
    assert runs[0]["trace_sha256"] == runs[1]["trace_sha256"]


def test_run_answers_with_a_table_and_writes_nothing(command: Command, scenario_file: Path) -> None:
    done = command("run", scenario_file)
    assert done.status == 0
    assert "completed in" in done.out
    assert "content verified" in done.out
    rows = [line for line in done.out.splitlines() if line.startswith("path ")]
    assert [row.split("  ")[0] for row in rows] == ["path 0: 5 Mbit/s, 100 ms", "path 1: 2 Mbit/s, 10 ms"]
    assert files_of(scenario_file.parent) == ["two.toml"]


def test_the_columns_of_the_table_are_aligned(command: Command, scenario_file: Path) -> None:
    table = command("run", scenario_file, "--wide").out.split("\n\n")[-1].splitlines()
    ends = {len(line) for line in table[1:]}
    assert len(table) == 5
    assert len(ends) == 1


def test_the_table_is_plain_ascii(command: Command, scenario_file: Path) -> None:
    assert command("run", scenario_file).out.isascii()


def test_several_connections_have_a_row_each(several: ab.Run) -> None:
    text = str(several)
    assert re.search(r"^both +mptcp +completed", text, re.M)
    assert re.search(r"^rival +tcp +completed", text, re.M)
    assert re.search(r"^rival, path 1: 2 Mbit/s, 10 ms ", text, re.M)


def test_the_seed_option_wins_over_the_file(command: Command, scenario_file: Path) -> None:
    assert json.loads(command("run", scenario_file, "--json", "--seed", "9").out)["seed"] == 9
    assert json.loads(command("run", scenario_file, "--json").out)["seed"] == 1


@pytest.mark.parametrize("key", ["path[1].delay", "path.1.delay"])
def test_set_changes_a_value_in_both_spellings(command: Command, scenario_file: Path, key: str) -> None:
    done = command("run", scenario_file, "--set", f"{key}=200 ms")
    assert "path 1: 2 Mbit/s, 200 ms" in done.out


def test_set_takes_a_quoted_value(command: Command, scenario_file: Path) -> None:
    done = command("run", scenario_file, "--set", 'path.1.delay="200 ms"', "--set", "connection.sack=false")
    assert done.status == 0
    assert "path 1: 2 Mbit/s, 200 ms" in done.out


def test_csv_has_a_row_for_each_subflow(command: Command, scenario_file: Path) -> None:
    done = command("run", scenario_file, "--csv")
    rows = list(csv.DictReader(io.StringIO(done.out)))
    assert [(row["connection"], row["path"]) for row in rows] == [("0", "0"), ("0", "1")]
    assert all(float(row["goodput_mbps"]) > 0 for row in rows)


def test_quiet_says_nothing(command: Command, scenario_file: Path) -> None:
    done = command("run", scenario_file, "--quiet")
    assert (done.status, done.out, done.err) == (0, "", "")


def test_quiet_does_not_silence_an_answer_that_was_asked_for(command: Command, scenario_file: Path) -> None:
    assert json.loads(command("run", scenario_file, "--quiet", "--json").out)["status"] == "completed"


def test_there_is_a_capture_of_each_interface(command: Command, scenario_file: Path) -> None:
    plain = command("run", scenario_file, "--json")
    done = command("run", scenario_file, "--json", "--pcap", "new/captures", "--set", "path.1.capture=true")
    assert done.status == 0
    assert json.loads(done.out)["trace_sha256"] == json.loads(plain.out)["trace_sha256"]
    names = ["client-0.pcapng", "client-1.pcapng", "path1.link.pcapng", "server-0.pcapng", "server-1.pcapng"]
    assert files_of(Path("new/captures")) == names
    for name in names:
        content = (Path("new/captures") / name).read_bytes()
        assert content[:4] == b"\x0a\x0d\x0d\x0a"
        assert b'scenario "two paths", seed 1, anabranch' in content
    # All data went out of the client's two interfaces, in packets of at most 1476 octets.
    sizes = [(Path("new/captures") / name).stat().st_size for name in names[:2]]
    assert sum(sizes) > 2_000_000


def test_the_trace_has_a_row_for_each_protocol_event(command: Command, scenario_file: Path) -> None:
    done = command("run", scenario_file, "--json", "--trace", "events.txt")
    rows = Path("events.txt").read_text(encoding="utf-8").splitlines()
    assert len(rows) > 2 * json.loads(done.out)["segments"]  # each is sent and arrives
    assert files_of(scenario_file.parent) == ["events.txt", "two.toml"]


@pytest.mark.usefixtures("no_figures")
def test_out_holds_everything_and_nothing_is_left_beside_it(command: Command, scenario_file: Path) -> None:
    done = command("run", scenario_file, "--out", "results/first")
    assert done.status == 0
    assert "results" in done.out
    assert files_of(scenario_file.parent) == ["results", "two.toml"]
    assert files_of(Path("results")) == ["first"]
    assert files_of(Path("results/first")) == [
        "cwnd.svg",
        "ooo_buffer.svg",
        "provenance.json",
        "report.html",
        "scenario.toml",
        "srtt.svg",
        "subflows.parquet",
        "summary.json",
        "throughput.svg",
    ]


@pytest.mark.usefixtures("no_figures")
def test_out_with_json_leaves_standard_output_to_the_object(command: Command, scenario_file: Path) -> None:
    done = command("run", scenario_file, "--out", "first", "--json")
    assert json.loads(done.out) == json.loads(Path("first/summary.json").read_text(encoding="utf-8"))


def test_a_run_that_reaches_its_duration_is_no_error(command: Command, scenario_file: Path) -> None:
    done = command("run", scenario_file, "--set", "duration=2 s", "--json")
    summary = json.loads(done.out)
    assert (done.status, summary["status"], summary["completion_s"]) == (0, "duration", None)
    assert 0 < summary["bytes_delivered"] < 2_000_000
    assert "stopped at its `duration`" in command("run", scenario_file, "--set", "duration=2 s").out


def test_a_transfer_that_can_never_end_is_told_since_when(command: Command, here: Path) -> None:
    file = here / "dead.toml"
    dead = 'changes = [{ at = "1 s", state = "down" }]\n'
    file.write_text(f'duration = "10 min"\n[transfer]\nbytes = "50 MB"\n[[path]]\n{dead}[[path]]\n{dead}', "utf-8")
    done = command("run", file, "--json")
    summary = json.loads(done.out)
    assert (done.status, summary["status"], summary["completion_s"]) == (0, "stalled", None)
    assert 0.8 < summary["stalled_since_s"] < 1.2
    assert re.search(r"^stalled since \S+ m?s: ", command("run", file).out, re.M)


def test_demo_prints_the_table_then_writes_the_picture_and_the_report(command: Command, here: Path) -> None:
    done = command("demo")
    assert done.status == 0
    assert re.search(r"^path 0: 5 Mbit/s, 100 ms ", done.out, re.M)
    assert done.out.index("total") < done.out.index("report.html")
    for file in re.findall(r"\S+\.(?:html|svg)", done.out):
        assert Path(file).stat().st_size > 1000
    assert files_of(here) == ["out"]
    assert command("compare", "out/demo", "out/demo").status == 0  # as the README has it
    assert command("demo", "--out", "elsewhere").status == 0
    assert ab.load("elsewhere").provenance.command == "anabranch demo --out elsewhere"


def test_list_names_what_a_scenario_may_name(command: Command) -> None:
    lines = dict(line.split(maxsplit=1) for line in command("list").out.splitlines())
    assert {"coupled", "uncoupled"} <= set(lines["controller"].split(", "))
    assert {"min-rtt", "round-robin"} <= set(lines["scheduler"].split(", "))
    assert "none" in lines["judge"].split(", ")
    assert {"rfc4015", "restore"} <= set(lines["response"].split(", "))
    assert "classic" in lines["profile"]


def test_list_long_gives_the_parameters_of_each(command: Command) -> None:
    out = " ".join(command("list", "--long").out.split())  # without the breaks of its lines
    held = "t1 T1: how long the window and the timer are held after reordering"
    assert f"{held} (0 to 1000 smoothed round-trip times, default 1)" in out
    (door,) = (e for e in json.loads(command("list", "--json").out)["judge"] if e["name"] == "door")
    assert [(p["name"], p["default"], p["least"], p["most"]) for p in door["parameters"]] == [
        ("t1", 1.0, 0.0, 1000.0),
        ("t2", 1.0, 0.0, 1000.0),
    ]


def test_list_long_gives_source_and_validation_of_each(command: Command) -> None:
    out = command("list", "--long").out
    names = json.loads(command("list", "--json").out)
    for word in ("source", "needs", "validated"):
        count = sum(word in entry or word == "source" for entries in names.values() for entry in entries)
        assert len(re.findall(rf"^  {word} +\S", out, re.M)) == count
    assert re.search(r"^controller coupled\n.*\n?.*\n?  source +.*RFC 6356", out, re.M)


def test_plot_draws_again_what_run_drew(command: Command, result: Path) -> None:
    first = {file.name: file.read_bytes() for file in result.iterdir()}
    (result / "cwnd.svg").unlink()
    assert command("plot", result).status == 0
    again = {file.name: file.read_bytes() for file in result.iterdir()}
    assert {name: again[name] == content for name, content in first.items() if name != "report.html"} == dict.fromkeys(
        first.keys() - {"report.html"}, True
    )


def test_plot_draws_one_figure_in_another_format_elsewhere(command: Command, result: Path, here: Path) -> None:
    done = command("plot", result, "--figure", "cwnd", "--format", "png", "--out", "pictures")
    assert done.out.split() == [str(Path("pictures/cwnd.png"))]
    assert (here / "pictures/cwnd.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.usefixtures("no_figures")
def test_compare_shows_both_and_the_changed_line(command: Command, scenario_file: Path) -> None:
    command("run", scenario_file, "--out", "near")
    command("run", scenario_file, "--out", "far", "--set", "path.1.delay=200 ms")
    done = command("compare", "near", "far")
    assert done.status == 0
    assert re.search(r"^goodput \(Mbit/s\) +[\d.]+ +[\d.]+ +[\d.]+$", done.out, re.M)
    assert re.search(r'^\+.*"200 ms"', done.out, re.M)
    assert "same trace" in command("compare", "near", "near").out


def test_doctor_finds_a_working_installation_working(command: Command) -> None:
    done = command("doctor")
    assert done.status == 0
    assert "FAIL" not in done.out


@pytest.mark.usefixtures("no_figures")
def test_doctor_finds_an_engine_that_does_not_reproduce(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    run = ab.Scenario.run
    count = iter(range(100))

    def unsteady(self: ab.Scenario, seed: int | None = None) -> ab.Run:
        return run(self, next(count) if seed else None)

    monkeypatch.setattr(ab.Scenario, "run", unsteady)
    done = command("doctor")
    assert done.status == 1
    assert "FAIL  determinism" in done.out


FAR = """
transfer.bytes = "2 MB"
[[path]]
rate = "10 Mbit/s"
delay = "10 ms"
[[path]]
wifi = { standard = "802.11g", distance = "%s m", rate = "24 Mbit/s"%s }
rate = "100 Mbit/s"
delay = "5 ms"
"""


def test_a_wireless_path_is_named_by_its_radio(command: Command, here: Path) -> None:
    Path("near.toml").write_text(FAR % ("20", ""), encoding="utf-8")
    done = command("run", "near.toml")
    assert re.search(r"^path 1: 802\.11g 24 Mbit/s, 20 m, 5 ms ", done.out, re.M), done.out
    assert "out of range" not in done.out
    Path("slow.toml").write_text(FAR.replace("100 Mbit", "2 Mbit") % ("20", ', velocity = "1 m/s"'), encoding="utf-8")
    assert "path 1: 802.11g 24 Mbit/s, from 20 m, 2 Mbit/s, 5 ms" in command("run", "slow.toml").out


# 16 dBm less 46.7 dB and 30 dB a decade are -82 dBm at 51 m. From 20 m at 40 m/s that is after 0.78 s.
def test_a_station_out_of_range_is_told_before_the_run_and_after(command: Command, here: Path) -> None:
    Path("far.toml").write_text(FAR % ("500", ""), encoding="utf-8")
    checked = command("check", "far.toml")
    assert 'link "path1" is out of range: at 500 m its ends receive -1' in checked.out + checked.err
    ran = command("run", "far.toml")
    told = r"^path1 was out of range at the start: at 500 m its ends receive -1\d\d\.\d dBm, "
    told += "but frames below -82 dBm are not noticed$"
    assert re.search(told, ran.out, re.M), ran.out
    moving = (FAR % ("20", ', velocity = "40 m/s"')).replace("2 MB", "20 MB")
    Path("walk.toml").write_text(moving, encoding="utf-8")
    walked = command("run", "walk.toml")
    assert re.search(r"^path1 went out of range at 7[0-9]+ ms: frames below", walked.out, re.M), walked.out


def test_list_links_says_what_each_figure_agrees_with(command: Command) -> None:
    """A measurement with how closely the preset agrees, or the authors' estimate; nothing is left without a word."""
    links = {entry["name"]: entry for entry in json.loads(command("list", "links", "--json").out)["link"]}
    out = " ".join(command("list", "links").out.split())
    rate = "mean 88.6, p5 17.8, p25 53.7, p50 86.1, p75 120.1, p95 169.6 Mbit/s, reproduced within 10 %"
    assert f"rate down {rate} (3495 " in out
    for name, entry in links.items():
        assert entry["figures"], name
        for figure in entry["figures"]:
            assert figure["estimate"] == (figure["source"] == "authors' estimate")
            assert f"{figure['what']} {' '.join(figure['value'].split())} ({figure['source']})" in out
    for name in ("lte", "5g", "dsl"):
        assert all(figure["estimate"] for figure in links[name]["figures"])
        assert links[name]["source"] == "authors' estimate"
    assert {figure["what"]: figure["estimate"] for figure in links["geo"]["figures"]} == {
        "round trip": False,
        "the rest": True,
    }
    assert "memory" not in out
