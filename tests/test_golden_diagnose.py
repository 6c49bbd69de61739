"""Whole answers of `diagnose`: of runs and captures, with remedies, drafts of twins and fits (`golden_answers`)."""

import json
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

import anabranch as ab
from anabranch.diagnosis import report
from anabranch.diagnosis.changes import changes
from anabranch.diagnosis.explanation import diagnose_run
from anabranch.diagnosis.over_time import rtt_frame
from anabranch.diagnosis.remedies import On, remedies
from anabranch.diagnosis.rolling import Rolling
from anabranch.diagnosis.twin import Captured, Draft, Likeness, Twin, captured, drafts, likeness, paths_away
from anabranch.diagnosis.twin.fit import _Fit
from golden_answers import agrees, digest, listed, page

ROOT = Path(__file__).parent.parent
ENDS = ("client", "server")
DATA = ROOT / "crates" / "acceptance" / "tests" / "data"
MADE = {"command": "c", "version": "v", "started": "s", "machine": "m", "python": "p"}
TWO = '[[path]]\nrate = "8 Mbit/s"\ndelay = "20 ms"\n{}\n[[path]]\nrate = "3 Mbit/s"\ndelay = "60 ms"\n{}\n'
SCENARIOS = {
    "plain": 'transfer.bytes = "1500 kB"\n' + TWO.format('queue = "40 packets"', "backup = true"),
    "lossy": 'transfer.bytes = "900 kB"\nseed = 4\n' + TWO.format('loss = "2 %"', 'delay_variation = "3 %"'),
    "blocked": 'transfer.bytes = "1 MB"\nconnection.receive_buffer = "40 kB"\n'
    + TWO.format("", 'rate_up = "300 kbit/s"'),
    "down": 'transfer = { bytes = "800 kB", direction = "down" }\nconnection = { controller = "cubic", sack = false }\n'
    + TWO.format('queue = "8 packets"', 'queue = "8 packets"'),
    "away": 'transfer.duration = "8 s"\n'
    + TWO.format('changes = [{ at = "2 s", state = "down" }, { at = "4.5 s", state = "up" }]', 'queue = "30 packets"'),
    "slow-writer": 'transfer = { duration = "4 s", on = "500 ms", off = "500 ms", rate = "2 Mbit/s" }\n'
    'connection = { protocol = "tcp", paths = ["path0"], send_buffer = "30 kB" }\n' + TWO.format("", ""),
    "several": """
        [[connection]]
        name = "first"
        protocol = "tcp"
        paths = ["path0"]
        transfer = { bytes = "300 kB", start = "1 s" }
        [[connection]]
        name = "second"
        transfer = { bytes = "800 kB", direction = "down" }
    """
    + TWO.format('rate_down = "5 Mbit/s"', ""),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the captures of `runs`."""
    return tmp_path_factory.mktemp("golden")


@pytest.fixture(scope="module")
def runs(folder: Path) -> dict[str, ab.Run]:
    """Each of `SCENARIOS` as a run, with captures."""
    made = ((name, ab.Scenario.from_toml(text, name=name)) for name, text in SCENARIOS.items())
    return {name: scenario.run(pcap=folder / f"{name}-pcap") for name, scenario in made}


@pytest.fixture
def there(folder: Path, runs: dict[str, ab.Run], monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder with the captures as working directory, so that names of files are short."""
    assert runs
    monkeypatch.chdir(folder)
    return folder


def told(found: ab.Diagnosis, *, pages: bool = False) -> list[str]:
    """Everything that a diagnosis says."""
    tables = [found.text(width).partition("\n\n")[2].partition("\n\nnot visible")[0] for width in (84, 70, 48)]
    parts = [found.text(), *tables, listed(found.summary, 3), repr(found)]
    if pages:
        parts += [page(report.html(found.summary, None, MADE)), page(found._repr_html_())]
    return parts


@pytest.mark.parametrize("name", list(SCENARIOS))
def test_a_run_and_its_captures(
    there: Path, runs: dict[str, ab.Run], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report, "picture", lambda *_: "")
    found, capture = diagnose_run(runs[name])
    run = ab.Diagnosis({**found, "files": [name], "twin": None, "remedies": None}, capture)
    agrees(f"diagnose-{name}-run", *told(run, pages=name in ("plain", "several")))
    for place in ENDS:
        files = sorted(Path(file).relative_to(there) for file in there.glob(f"{name}-pcap/{place}-*"))
        at_one_end = ab.diagnose(files)
        agrees(f"diagnose-{name}-{place}", *told(at_one_end, pages=name == "lossy"))
        for true, one in zip(run.connections, at_one_end.connections, strict=True):
            assert sum(one["causes"].values()) == pytest.approx(1)
            assert one["bytes_delivered"] == pytest.approx(true["bytes_delivered"], rel=0.02)


def test_round_trips_over_time(there: Path) -> None:
    found = ab.diagnose(sorted(there.glob("lossy-pcap/client-*")))
    assert found.capture is not None
    frame = rtt_frame(found.capture)
    agrees("diagnose-round-trips", frame[::7].to_csv(index=False, float_format="%.6g"))
    # 20 and 60 ms one way; the delay of the second varies by 3 % each way.
    least = frame.groupby("subflow")["rtt"].min().tolist()
    assert least == pytest.approx([0.040, 0.120], rel=0.08)


def test_a_capture_that_goes_on(there: Path) -> None:
    """Each second is compared with the one before."""
    lines: list[str] = []
    rolling = Rolling()
    for name in ("away", "several"):
        ab.diagnose(
            sorted(there.glob(f"{name}-pcap/client-*")),
            every=0.5,
            told=lambda so_far: lines.extend(rolling.lines(so_far.summary)),
        )
    agrees("diagnose-rolling", "\n".join(lines))
    assert any("path failed" in line or "no path" in line or "outage" in line for line in lines)


def test_what_would_help(there: Path) -> None:
    lossy = ab.Scenario.from_toml(SCENARIOS["blocked"].replace("1 MB", "300 kB"))
    parts = ["\n".join(f"{one.kind}: {one.what} {json.dumps(dict(one.keys))} {one.in_linux}" for one in changes(lossy))]
    open_ = [{"path.0.queue": "10 packets"}, {"path.0.queue": "60 packets"}]
    for on, seeds in ((On(lossy), 3), (On(lossy, measured=2.0, open=open_), 6)):
        found = remedies(on, seeds=seeds)
        parts += [found.sentence("the twin"), "\n".join(found.sentences()), listed(found.summary())]
        assert found.base.n == seeds
    agrees("diagnose-remedies", *parts)
    several = ab.Scenario.from_toml(SCENARIOS["several"])
    agrees(
        "diagnose-changes", *("\n".join(f"{one.what} {dict(one.keys)}" for one in changes(several, n)) for n in (0, 1))
    )


def draft_of(files: list[Path]) -> tuple[Captured, Draft]:
    what = captured([str(file) for file in files])
    return what, drafts(what.found, what.number, what.frames)


def test_first_drafts_of_twins(there: Path) -> None:
    parts = []
    places = [(f"{name} {place}", sorted(there.glob(f"{name}-pcap/{place}-*"))) for name in SCENARIOS for place in ENDS]
    places += [(file.name, [file]) for file in sorted(DATA.glob("linux-mptcp-two-paths-snap128.pcap"))]
    for name, files in places:
        what, draft = draft_of(files)
        gone = paths_away(what.found, what.number, what.frames)
        ways = Twin(draft, Likeness(0.0, 0.0, 0.0), 1).open
        parts.append(f"{name}\n{draft.toml(['head'])}free: {listed(free(draft), 1)}\naway: {listed(gone, 1)}")
        parts.append(f"open: {listed(ways)}")
        ab.Scenario.from_toml(draft.toml()).check()
    agrees("diagnose-drafts", *parts)
    _, plain = draft_of(sorted(there.glob("plain-pcap/client-*")))
    assert number(json.loads(plain.paths[0]["delay"].value)) == pytest.approx(20, rel=0.02)


def free(draft: Draft) -> Any:
    """What a fit may change, as JSON."""
    return json.loads(json.dumps(draft.free, default=list).replace("Infinity", "1e99"))


Apart = Callable[[Mapping[str, Any], int], Likeness | None]
"""How far a run is from the capture, by the resolved lines of its draft and its seed."""


class _Invented(_Fit):
    """A fit of which runs are not made: how like they are is computed from the lines of their drafts."""

    def __init__(self, what: Captured, draft: Draft, apart: Apart, until: float = math.inf) -> None:
        self.apart, self.seen = apart, []  # type: ignore[var-annotated]
        super().__init__(what.found, paths_away(what.found, what.number, what.frames), draft, until, None)

    def likeness(self, draft: Draft) -> Likeness | None:
        """Note the lines that differ from those of the first draft."""
        self.runs += 1
        now, first = (lines(one) for one in (draft, self.first if hasattr(self, "first") else draft))
        new = {key: value for key, value in now.items() if first.get(key) != value}
        lost = [key for key in first if key not in now]
        self.seen.append(json.dumps([draft.seed, new, *lost]))
        return self.apart(now, draft.seed)


def lines(draft: Draft) -> dict[str, Any]:
    """The values of a draft by key."""
    found = {f"connection.{key}": said.value for key, said in draft.connection.items()}
    found |= {f"transfer.{key}": said.value for key, said in draft.transfer.items()}
    for number, path in enumerate(draft.paths):
        found |= {f"{number}.{key}": said.value for key, said in path.items()}
    return {key: json.loads(value) if value[0] in '"tf' else value for key, value in found.items()}


def number(text: str) -> float:
    """The number of a quantity."""
    return float(text.partition(" ")[0])


def hidden(now: Mapping[str, Any], seed: int) -> Likeness:
    """A rare scheduler, another controller, a longer queue; seeds differ by up to three per cent."""
    wrong = 0.3 * (now.get("connection.scheduler") != "ecf") + 0.15 * (now["connection.controller"] != "olia")
    queue = abs(math.log(number(now["0.queue"]) / 60)) / 4
    return Likeness(wrong + 0.01 * (seed % 4), 0.02 * seed % 0.05, queue, losses=0.001 * seed, srtt=queue / 2)


def jittery(now: Mapping[str, Any], seed: int) -> Likeness:
    """What is out of order comes from delays that vary by 4.5 % on the second path alone."""
    share = number(now.get("1.delay_variation", "0 %")) / 100 - number(now.get("0.delay_variation", "0 %")) / 200
    sack = 0.05 * (now.get("connection.sack") is False)
    return Likeness(0.01 * seed, 0.0, 8 * abs(0.045 - share), losses=0.002 * seed + sack)


def unlike(now: Mapping[str, Any], seed: int) -> Likeness:
    """Nothing makes it like; a higher rate and a smaller send buffer come closest."""
    rate = abs(math.log(number(now["0.rate"]) / 20))
    buffer = 0.2 * (now["connection.send_buffer"] == "unlimited")
    return Likeness(-0.2 - rate / 4 - buffer, 0.11 + 0.01 * (seed % 3), 0.0, srtt=-rate / 9)


FITS = [
    (hidden, "plain client", True),
    (hidden, "slow-writer client", False),
    (jittery, "lossy server", True),
    (jittery, "blocked client", True),
    (unlike, "plain server", False),
    (unlike, "blocked server", False),
    (unlike, "slow-writer client", False),
]


@pytest.mark.parametrize(("apart", "of", "like"), FITS)
def test_fits_of_twins(there: Path, apart: Apart, of: str, like: bool) -> None:
    scenario, place = of.split()
    what, draft = draft_of(sorted(there.glob(f"{scenario}-pcap/{place}-*")))
    fit = _Invented(what, draft, apart)
    twin = fit.make()
    end = f"{twin.runs} runs, {', '.join(f'{value:.6g}' for value in twin.likeness)}"
    some, everything = ("\n".join(fit.seen[:count]) for count in (40, None))
    name = f"diagnose-fit-{apart.__name__}-{scenario}"
    agrees(name, end, twin.toml, listed(twin.open), some, digest(everything))
    if apart is hidden and like:
        assert json.loads(twin.draft.connection["scheduler"].value) == "ecf"
        assert json.loads(twin.draft.connection["controller"].value) == "olia"
    if apart is jittery and len(twin.draft.paths) > 1:
        assert json.loads(twin.draft.paths[1]["delay_variation"].value) == "4.5 %"
    assert twin.likeness.is_like == like


def test_a_capture_without_goodput_is_like_no_run() -> None:
    """Not even a run of one Mbit/s, which a division by almost nothing must not make like it."""
    flow = {"path": 0, "goodput_mbps": None, "segments": 0}
    nothing = {"goodput_mbps": None, "ooo_ratio": None, "subflows": [flow]}
    for rate in (0.001, 1.0, 1.05):
        run = {"goodput_mbps": rate, "ooo_ratio": 0.0, "subflows": [{**flow, "goodput_mbps": rate, "segments": 90}]}
        assert not likeness(nothing, run).is_like
        assert likeness(nothing, run).goodput > 1e5


def test_a_fit_some_of_whose_drafts_give_no_run(there: Path) -> None:
    """Such a draft is never the best, be it the first one."""
    what, draft = draft_of(sorted(there.glob("plain-pcap/client-*")))

    def broken(now: Mapping[str, Any], seed: int) -> Likeness | None:
        return (
            None
            if now["connection.controller"] == "coupled" or now.get("0.queue") == "60 packets"
            else hidden(now, seed)
        )

    twin = _Invented(what, draft, broken).make()
    assert json.loads(twin.draft.connection["scheduler"].value) == "ecf"
    assert json.loads(twin.draft.connection["controller"].value) == "olia"
    agrees("diagnose-fit-broken", f"{twin.runs} runs, {listed(twin.likeness)}", twin.toml)
    nothing = _Invented(what, draft, lambda *_: None).make()
    assert (nothing.draft, nothing.likeness.is_like) == (draft, False)


def test_a_fit_that_is_stopped(there: Path) -> None:
    """Ctrl-C in the fortieth run, and no time at all: the best so far."""
    what, draft = draft_of(sorted(there.glob("plain-pcap/client-*")))
    count = 0

    def stopped(now: Mapping[str, Any], seed: int) -> Likeness:
        nonlocal count
        count += 1
        if count == 40:
            raise KeyboardInterrupt
        return hidden(now, seed)

    twins: list[Twin] = [_Invented(what, draft, stopped).make(), _Invented(what, draft, hidden, 0.0).make()]
    assert [twin.interrupted for twin in twins] == [True, False]
    agrees("diagnose-fit-stopped", *(f"{twin.runs} runs, {twin.likeness}\n{twin.toml}" for twin in twins))
