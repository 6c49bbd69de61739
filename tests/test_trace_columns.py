"""`anabranch trace import`: names of columns, times, units, and what is refused instead of guessed.

The files here are made for the tests, in the forms that public data sets of cellular links have.
"""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from anabranch import traces
from helpers import Command

RATES = (10, 20, 10, 0)
"""Mbit/s, each for half a second: 2 s and 20 Mbit."""


def shape(text: str | bytes, **options: Any) -> tuple[float, float]:
    """Length in s and mean rate in Mbit/s of the trace that a file gives."""
    octets = text.encode() if isinstance(text, str) else text
    Path("f.csv").write_bytes(octets)
    stamps = traces.load("f.csv", "goodput", **options).stamps
    assert stamps is not None
    opportunities = len(stamps) - (RATES[-1] == 0)  # the last stamp of a trace that ends without rate is its length
    return stamps[-1] / 1000, round(opportunities * 0.012 / (stamps[-1] / 1000), 1)


def series(times: list[str], *, head: str = "time,throughput_mbps", mark: str = ",", scale: float = 1) -> str:
    rows = [f"{t}{mark}{rate * scale:g}" for t, rate in zip(times, RATES, strict=True)]
    return "\n".join([head, *rows]) + "\n"


STEPS = ["0", "0.5", "1.0", "1.5"]


@pytest.mark.parametrize(
    "head",
    [
        "Timestamp,throughput_mbps",
        "TIME,THROUGHPUT_MBPS",
        " Time , Throughput_Mbps ",
        '"Timestamp","Goodput"',
        "time (s),goodput (Mbps)",
        "Time [s],Rate [Mbit/s]",
        "time_s,bitrate_mbps",
        "Seconds,Throughput Mbps",
        "Date Time,goodput",
    ],
)
def test_names_of_columns_are_compared_without_case_blanks_and_units(here: Path, head: str) -> None:
    assert shape(series(STEPS, head=head)) == (2.0, 10.0)
    assert shape("\ufeff" + series(STEPS, head=head)) == (2.0, 10.0)
    assert shape(series(STEPS, head=head).replace("\n", "\r\n")) == (2.0, 10.0)
    assert shape(series(STEPS, head=head).encode("utf-16")) == (2.0, 10.0)


@pytest.mark.parametrize(
    ("first", "head"),
    [
        ("2026-01-02T10:00:0{s}", "time"),
        ("2026-01-02 10:00:0{s}", "Timestamp"),
        ("2026-01-02T10:00:0{s}Z", "time"),
        ("2026-01-02T10:00:0{s}+05:30", "time"),
        ("2026-01-02t10:00:0{s}-0800", "time"),
        ("2026-01-02 10:00:0{s} UTC", "time"),
        ("2026/1/2 10:00:0{s}", "time"),
        ("2019.12.01_12.11.2{s}", "Timestamp"),
        ("20260102T10000{s}", "time"),
        ("2026010210000{s}", "time"),
        ("12:11:2{s}", "time"),
        ("157520228{s}", "time"),
    ],
)
def test_times_are_dates_times_of_day_and_numbers(here: Path, first: str, head: str) -> None:
    times = [first.format(s=s) for s in ("1.000", "1.500", "2.000", "2.500")]
    assert shape(series(times, head=f"{head},goodput")) == (2.0, 10.0)
    if "." not in first.replace(".2", "") and ":" in first:
        assert shape(series([t.replace(".", ",") for t in times], head=f"{head};goodput", mark=";")) == (2.0, 10.0)


@pytest.mark.parametrize(("unit", "scale"), [("ms", 10**3), ("us", 10**6), ("ns", 10**9)])
def test_times_are_in_parts_of_a_second(here: Path, unit: str, scale: int) -> None:
    since_1970 = [str(1_575_202_281 * scale + i * scale // 2) for i in range(4)]
    assert shape(series(since_1970, head="Timestamp,goodput")) == (2.0, 10.0)
    since_start = [str(i * scale // 2) for i in range(4)]
    for head in (f"time_{unit},goodput", f"Time ({unit}),goodput"):
        assert shape(series(since_start, head=head)) == (2.0, 10.0)


def test_days_and_offsets_change_within_a_series(here: Path) -> None:
    over_midnight = ["2025-12-31T23:59:59", "2025-12-31T23:59:59.5", "2026-01-01T00:00:00", "2026-01-01T00:00:00.5"]
    assert shape(series(over_midnight)) == (2.0, 10.0)
    assert shape(series([t.partition("T")[2] for t in over_midnight])) == (2.0, 10.0)
    rows = "".join(f"{t.replace('T', ',')},{r}\n" for t, r in zip(over_midnight, RATES, strict=True))
    assert shape("Date,Time,goodput\n" + rows) == (2.0, 10.0)
    end_of_summer = ["02:59:59+02:00", "02:59:59.5+02:00", "02:00:00+01:00", "02:00:00.5+01:00"]
    assert shape(series([f"2025-10-26T{t}" for t in end_of_summer])) == (2.0, 10.0)
    leap = ["2016-12-31T23:59:59Z", "2016-12-31T23:59:59.5Z", "2016-12-31T23:59:60Z", "2016-12-31T23:59:60.5Z"]
    assert shape(series(leap)) == (2.0, 10.0)


def test_rows_of_one_instant_count_once_with_their_mean(here: Path, command: Command) -> None:
    text = "Timestamp,goodput\n0,5\n0,15\n0.5,20\n1,-\n1,10\n1.5,0\n1.5,0\n"
    assert shape(text) == (2.0, 10.0)
    done = command("trace", "import", "f.csv", "--kind", "goodput")
    assert "f.csv: 3 rows have the time of the row above; an instant counts once, with the mean of its rows" in done.err
    Path("p.csv").write_text("time,rtt\n0,30\n0,50\n0.1,40\n0.2,60\n0.2,\n0.3,80\n", encoding="utf-8")
    found = tomllib.loads(traces.load("p.csv", "ping").text)
    assert (found["delay"], [c["delay"] for c in found["changes"]]) == ("20 ms", ["30 ms", "40 ms"])
    probes = "timestamp,rtt,uplink,downlink\n1,30,20,10\n1,50,40,10\n2,-1,0,0\n2,40,30,10\n3,0,-1,0\n3,0,-1,0\n"
    Path("l.csv").write_text(probes, encoding="utf-8")
    found = tomllib.loads(traces.load("l.csv", "lens").text)
    assert (found["delay_up"], found["delay_down"]) == ("30 ms", "10 ms")
    assert [{k: v for k, v in c.items() if k in ("at", "loss")} for c in found["changes"]] == [
        {"at": "2 s", "loss": "100 %"}
    ]


IRISH = (
    "Timestamp,Longitude,Latitude,Speed,Operatorname,NetworkMode,RSRP,SNR,DL_bitrate,UL_bitrate,State\n"
    "2019.12.01_12.11.21,-8.4,51.8,0,B,5G,-99,-,10000,10,D\n"
    "2019.12.01_12.11.21,-8.4,51.8,0,B,5G,-99,-,30000,30,D\n"
    "2019.12.01_12.11.22,-8.4,51.8,0,B,5G,-99,4,40000,40,D\n"
)


def test_a_public_data_set_is_read_and_says_what_it_leaves_out(here: Path, command: Command) -> None:
    Path("irish.csv").write_text(IRISH, encoding="utf-8")
    for column in ("DL_bitrate", "dl_bitrate"):
        for unit in ((), ("--unit", "kbit/s")):
            done = command("trace", "import", "irish.csv", "--kind", "goodput", "--column", column, *unit)
            stamps = done.out.split()
            assert (done.status, len(stamps), stamps[-1]) == (0, 60_000 // 12, "2000")
    assert "rate from DL_bitrate in kbit/s" in done.err
    assert "columns not used: Longitude, Latitude, Speed, Operatorname, NetworkMode, RSRP, SNR, UL_bitrate" in done.err
    both = command("trace", "import", "irish.csv", "--kind", "goodput")
    assert (both.status, both.out) == (2, "")
    assert "rates of two directions: DL_bitrate, UL_bitrate; choose one of them with --column" in both.err


@pytest.mark.parametrize(
    ("head", "scale"),
    [
        ("DL_bitrate (kbps)", 1e3),
        ("rate (bit/s)", 1e6),
        ("goodput_kbps", 1e3),
        ("throughput [Gbit/s]", 1e-3),
        ("rate (MB/s)", 1 / 8),
        ("rate (kB/s)", 1e3 / 8),
        ("bits_per_second", 1e6),
        ("DL_bitrate", 1e3),
    ],
)
def test_the_unit_in_a_name_counts(here: Path, head: str, scale: float) -> None:
    assert shape(series(STEPS, head=f"time,{head}", scale=scale)) == (2.0, 10.0)
    # What the user says wins.
    assert shape(series(STEPS, head=f"time,{head}", scale=1e3), unit="kbit/s") == (2.0, 10.0)


@pytest.mark.parametrize(
    "text",
    [
        "time;goodput\n0;10\n0,5;20\n1;10\n1,5;0\n",
        "0,0;10,0\n0,5;20,0\n1,0;10,0\n1,5;0,0\n",
        "time\tgoodput\n0\t10\n0,5\t20\n1\t10\n1,5\t0\n",
        'time,goodput\n0,"10,0"\n0.5,"20,0"\n1,"10,0"\n1.5,"0,0"\n',
        "sep=;\ntime;goodput (Mbit/s, mean)\n0;10\n0,5;20\n1;10\n1,5;0\n",
        "time goodput\n0 10\n0.5 20\n1 10\n1.5 0\n",
        "time;goodput\n0,000;10,250\n0,500;19,750\n1,000;10,000\n1,500;0,000\n",
    ],
)
def test_marks_between_cells_and_decimal_commas(here: Path, text: str) -> None:
    options = {"column": "column2", "time": "column1"} if "time" not in text else {}
    assert shape(text, **options) == (2.0, 10.0)


STREAMS = {
    "start": {"version": "iperf 3.16", "test_start": {"protocol": "TCP", "num_streams": 1, "reverse": 0}},
    "intervals": [
        {"streams": [], "sum": {"start": i / 2, "end": i / 2 + 0.5, "bits_per_second": r * 1e6, "omitted": i < 0}}
        for i, r in enumerate(RATES)
    ],
    "end": {"sum_sent": {}, "sum_received": {}},
}


def test_the_json_of_iperf3_is_named_and_has_a_kind_of_its_own(here: Path, command: Command) -> None:
    for indent in (None, 4):
        Path("i.json").write_text(json.dumps(STREAMS, indent=indent), encoding="utf-8")
        for kind in ("goodput", "ping", "lens", "errant", "mahimahi"):
            done = command("trace", "import", "i.json", "--kind", kind)
            assert (done.status, done.out) == (2, "")
            assert done.err == "i.json: this is iperf3's JSON, not a table; --kind iperf3 reads it\n"
        stamps = traces.load("i.json", "iperf3").stamps
        assert stamps is not None
        assert (stamps[-1], len(stamps) - 1) == (2000, 20_000 // 12)
        # As `trace` of a link, too, it is named.
        Path("s.toml").write_text('[transfer]\nbytes = "1 MB"\n[[path]]\ntrace = "i.json"\n', encoding="utf-8")
        done = command("check", "s.toml")
        assert done.status == 2
        assert "i.json is iperf3's JSON, not a trace" in done.err
        assert "--kind iperf3" in done.err


def test_omitted_intervals_are_left_out_and_gaps_are_refused(here: Path) -> None:
    text = json.loads(json.dumps(STREAMS))
    text["intervals"][0]["sum"]["omitted"] = True
    Path("i.json").write_text(json.dumps(text), encoding="utf-8")
    found = traces.load("i.json", "iperf3")
    assert found.stamps is not None
    assert found.stamps[-1] == 1500
    assert "1 interval of iperf3's warm-up (omitted) is left out" in found.notes[1]
    del text["intervals"][2]
    Path("i.json").write_text(json.dumps(text), encoding="utf-8")
    with pytest.raises(traces.TraceError, match=re.escape("no interval from 1 s to 1.5 s; --gaps zero")):
        traces.load("i.json", "iperf3")


@pytest.mark.parametrize(
    ("kind", "text", "options", "said"),
    [
        ("goodput", "x,goodput\n0,10\n1,20\n", (), "no column for the time (time, t, timestamp,"),
        ("goodput", "x,goodput\n0,10\n1,20\n", (), "--step says how far apart the rows are; columns: x, goodput"),
        ("goodput", "10\n20\n", (), "no column for the time"),
        ("goodput", "2026-01-02T10:00:00,10\n2026-01-02T10:00:01,10\n", (), "columns: column1, column2"),
        ("goodput", "x,goodput\n0,10\n1,20\n", ("--time", "X", "--step", "1 s"), "rows have times (x); leave out"),
        ("goodput", "time,goodput\n5,10\n", (), "all rows have one time in time (in s)"),
        ("goodput", "time,goodput\n0,10\n2026-01-02T10:00:00,10\n", (), "'2026-01-02T10:00:00' is not a time"),
        ("goodput", "time,goodput\n2026-01-02T10:00:00,10\n1,10\n", (), "line 3: time '1' is not a time; allowed: a"),
        ("goodput", "time,goodput\n2026-13-02T10:00:00,1\n", (), "'2026-13-02T10:00:00' is not a time"),
        ("goodput", "time,goodput\n02.01.2026 10:00:00,1\n", (), "'02.01.2026 10:00:00' is not a time; allowed"),
        ("goodput", "time,goodput\n2026-01-02T10:00:00Z,1\n2026-01-02T10:00:01,1\n", (), "give all rows an offset"),
        (
            "goodput",
            "time,goodput\n2026-01-02 10:00:01,1\n2026-01-02 10:00:00,1\n",
            (),
            "is earlier than the row above",
        ),
        ("goodput", "time,goodput\n12:00:01,1\n12:00:00,1\n", (), "12:00:00 is earlier than the row above"),
        ("goodput", "time,goodput\n0,-\n1,10\n", ("--gaps", "hold"), "--gaps hold needs a rate in an earlier row"),
        ("goodput", "time,goodput\n0,10\n1,N/A\n", (), "line 3: goodput is empty; --gaps zero assumes a rate of zero"),
        ("goodput", "time,goodput\n-,10\n1,10\n", (), "line 2: time is empty"),
        ("goodput", "time,goodput\n86400000000000,10\n86400000000001,1\n", (), 'such as "time (ns)"'),
        ("goodput", "Time,time,goodput\n0,0,1\n1,1,1\n", ("--time", "TIME"), "2 columns are called 'TIME': Time, time"),
        ("goodput", "time,rate,rate\n0,1,1\n1,1,1\n", (), "2 columns are called 'rate': rate, rate"),
        ("goodput", "time,DL MBPS\n0,1\n1,1\n", ("--column", "DL MBPS"), "may be bits or octets; give the unit"),
        ("goodput", "time;goodput\n0;1,234\n1;2,345\n", (), "1,234: the comma may be decimal or separate thousands"),
        ("goodput", "time,goodput\n0,1_000\n1,1\n", (), "goodput '1_000' is not a number"),
        ("goodput", '{"a": 1}', (), "f.csv: this is JSON, not a table; write it as CSV"),
        ("goodput", '{"event":"start","data":{"test_start":{}}}\n', (), "iperf3 --json-stream"),
        ("goodput", "[ ID] Interval Transfer Bitrate\n[  5] 0.00-1.00 sec 1 MBytes 8 Mbits/sec\n", (), "with --json"),
        ("iperf3", '{"intervals": [], "error": "unable to connect"}', (), "iperf3 says: unable to connect"),
        ("iperf3", '{"intervals": [', (), "not the whole JSON of one iperf3 test"),
        ("iperf3", "[1]", (), "it has no list of intervals"),
        (
            "iperf3",
            '{"intervals": [{"sum": {"start": 0, "end": 0, "bits_per_second": 1}}]}',
            (),
            "intervals[0].sum: begins at 0 s and ends at 0 s",
        ),
        (
            "iperf3",
            '{"intervals": [{"sum": {"start": 0, "end": 1}}]}',
            (),
            "sum.bits_per_second: None is not a finite number",
        ),
        ("ping", "64 bytes from 192.0.2.1: icmp_seq=1 ttl=63 time=40.0 ms\n", (), "`ping -D` prints them, or --step"),
        ("ping", "x,rtt\n0,40\n1,41\n", (), "no column for the time"),
        ("lens", "Timestamp,RTT,Uplink\n0,40,30\n1,40,30\n", (), "Uplink without downlink"),
    ],
)
def test_what_is_not_known_is_refused(
    here: Path, command: Command, kind: str, text: str, options: tuple[str, ...], said: str
) -> None:
    Path("f.csv").write_text(text, encoding="utf-8")
    done = command("trace", "import", "f.csv", "--kind", kind, *options)
    assert (done.status, done.out) == (2, "")
    assert said in done.err
    assert len(done.err.splitlines()) <= 3
    assert "Traceback" not in done.err
