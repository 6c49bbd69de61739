"""`anabranch trace import`: measurements as what a link takes. The files here are made for the tests."""

import random
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

import anabranch as ab
from anabranch import traces
from helpers import Command


def keys(text: str) -> dict[str, Any]:
    """The keys of a link, which a scenario has to take."""
    scenario = ab.Scenario.from_toml('[transfer]\nbytes = "100 kB"\n[[path]]\n' + text)
    scenario.check()
    return tomllib.loads(text)


def written(name: str, text: str) -> str:
    Path(name).write_text(text, encoding="utf-8")
    return name


def test_each_second_has_the_opportunities_of_its_rate(here: Path) -> None:
    """Up to the end of second k: the sum of the rates so far by 12,000 bits, rounded down."""
    rates = [random.Random(5).uniform(0, 90) for _ in range(40)]
    file = written("drive.csv", "goodput_mbps\n" + "".join(f"{rate}\n" for rate in rates))
    stamps = traces.load(file, "goodput", step="1 s").stamps
    assert stamps is not None
    for k in range(1, 40):
        assert sum(stamp <= 1000 * k for stamp in stamps) == int(sum(rates[:k]) * 1e6 / 12_000 + 1e-6)
    assert stamps[-1] == 40_000


def test_a_series_of_rates_paces_a_link(here: Path, command: Command) -> None:
    file = written("drive.csv", "second;rate\n0;4000\n1;8000\n2;0\n3;4000\n")
    done = command("trace", "import", file, "--kind", "goodput", "--unit", "kbit/s")
    assert done.status == 0
    Path("drive.trace").write_text(done.out, encoding="utf-8")
    text = '[transfer]\nduration = "16 s"\nprotocol = "udp"\nrate = "20 Mbit/s"\n[[path]]\ntrace = "drive.trace"\n'
    Path("s.toml").write_text(text.replace('protocol = "udp"\nrate = "20 Mbit/s"\n', ""), encoding="utf-8")
    # 16 Mbit in 4 s, of which TCP gets at most 1460 of 1500 octets.
    assert 0.5 * 4 < ab.Scenario.load("s.toml").run().summary["goodput_mbps"] <= 4 * 1460 / 1500


@pytest.mark.parametrize("text", ["1000\n" * 25, "".join(f"{i}\n" for i in (*range(1, 1200), 3))])
def test_rates_that_do_not_only_grow_are_no_times(here: Path, text: str) -> None:
    file = written("drive.csv", text)
    assert traces.load(file, "goodput", step="1 s", unit="kbit/s").stamps
    with pytest.raises(traces.TraceError) as told:
        traces.load(file, "ping", step="1 s", column="rtt")
    assert "looks like" not in str(told.value)


def test_rates_that_only_grow_are_read_from_a_named_column(here: Path) -> None:
    file = written("drive.csv", "".join(f"{20 * i}\n" for i in range(1, 99)))
    assert traces.load(file, "goodput", step="1 s", unit="kbit/s", column="value").stamps


def test_a_piece_begins_at_zero(here: Path) -> None:
    file = written("drive.csv", "12\n24\n36\n48\n")
    stamps = traces.load(file, "goodput", step="1 s", begin="1500 ms", length="1 s").stamps
    assert stamps is not None
    # Half a second of 24 Mbit/s and half a second of 36.
    assert (sum(s <= 500 for s in stamps), len(stamps), stamps[-1]) == (1000, 2500, 1000)


def test_gaps_are_refused_or_filled(here: Path) -> None:
    file = written("drive.csv", "time,goodput\n100,12\n101,12\n105,12\n106,12\n")
    with pytest.raises(traces.TraceError, match=re.escape("line 4: no rate from 2 s to 5 s; --gaps zero")):
        traces.load(file, "goodput")
    zero, hold = (traces.load(file, "goodput", gaps=gaps).stamps for gaps in ("zero", "hold"))
    assert zero is not None
    assert hold is not None
    assert (len(zero), len(hold)) == (4000, 7000)
    assert not any(2000 < stamp <= 5000 for stamp in zero)


PING = """PING 192.0.2.1 (192.0.2.1) 56(84) bytes of data.
[1000.040000] 64 bytes from 192.0.2.1: icmp_seq=65534 ttl=63 time=40.0 ms
[1000.140200] 64 bytes from 192.0.2.1: icmp_seq=65535 ttl=63 time=40.2 ms
[1000.260000] 64 bytes from 192.0.2.1: icmp_seq=0 ttl=63 time=60.0 ms
[1000.261000] 64 bytes from 192.0.2.1: icmp_seq=0 ttl=63 time=61.0 ms (DUP!)
[1000.660000] 64 bytes from 192.0.2.1: icmp_seq=4 ttl=63 time=60.0 ms
"""


def test_pings_are_delay_and_silence_is_loss(here: Path) -> None:
    """Probes 0.1 s apart; two answers are missing. A step of 0.1 ms is below the resolution."""
    expected = [
        {"at": "0.2 s", "delay": "30 ms"},
        {"at": "0.3 s", "loss": "100 %"},
        {"at": "0.6 s", "loss": "0 %"},
    ]
    for text in (PING, re.sub(r"\[[0-9.]+\] ", "", PING)):
        found = keys(traces.load(written("ping.txt", text), "ping", step="100 ms").text)
        assert found == {"delay": "20 ms", "loss": "0 %", "changes": expected}
    table = "t,rtt\n0,40\n0.1,40.2\n0.2,60\n0.3,\n0.5,nan\n0.6,60\n"
    assert keys(traces.load(written("ping.csv", table), "ping").text)["changes"] == expected


def test_a_link_from_pings_has_their_round_trip_time(here: Path) -> None:
    """A transfer from 1 s on sees the round trip of the second half."""
    rows = "".join(f"{i / 10},{40 if i < 10 else 90}\n" for i in range(40))
    text = traces.load(written("ping.csv", "time,rtt\n" + rows), "ping").text
    head = '[transfer]\nbytes = "20 kB"\nstart = "2 s"\n[[path]]\nrate = "1 Gbit/s"\n'
    run = ab.Scenario.from_toml(head + text).run()
    assert run.summary["subflows"][0]["srtt_ms"] == pytest.approx(90, rel=0.01)


def test_lens_tells_the_directions_apart(here: Path) -> None:
    base = 1_700_000_000_000_000_000
    rows = [(30, 20, 10), (0, -1, 0), (0, 0, -1), (-1, 0, 0), (34, 24, 10)]
    lines = "".join(f"{base + i * 10_000_000},{a},{b},{c}\n" for i, (a, b, c) in enumerate(rows))
    found = keys(traces.load(written("irtt.csv", "timestamp,rtt,uplink,downlink\n" + lines), "lens").text)
    assert {k: v for k, v in found.items() if k != "changes"} == {
        "delay_up": "20 ms",
        "loss_up": "0 %",
        "delay_down": "10 ms",
        "loss_down": "0 %",
    }
    assert found["changes"] == [
        {"at": "0.01 s", "direction": "up", "loss": "100 %"},
        {"at": "0.02 s", "direction": "up", "loss": "0 %"},
        {"at": "0.02 s", "direction": "down", "loss": "100 %"},
        {"at": "0.03 s", "direction": "up", "loss": "100 %"},
        {"at": "0.04 s", "direction": "up", "delay": "24 ms", "loss": "0 %"},
        {"at": "0.04 s", "direction": "down", "loss": "0 %"},
    ]


def test_lens_pings_that_come_back_together_were_sent_one_by_one(here: Path) -> None:
    """What is held in a gap: the round-trip time falls by the spacing of sending, and arrivals are at one time."""
    lines = [f"{100 + i / 100 + 0.05:.6f},50\n" for i in range(10)]
    lines += [f"100.300000,{300 - 10 * i}\n" for i in range(10, 15)]
    found = keys(traces.load(written("ping.csv", "timestamp,rtt\n" + "".join(lines)), "lens").text)
    assert found["delay"] == "25 ms"
    assert [change["delay"] for change in found["changes"]] == [f"{100 - 5 * i} ms" for i in range(5)]
    assert found["changes"][0]["at"] == "0.1 s"


ERRANT = """operator,country,rat,signal_quality,download_kbps,upload_kbps,latency_ms_avg,latency_ms_stdev
alpha,norway,4G,good,20000,10000,80,40
alpha,norway,4G,bad,3000,500,120,60
beta,norway,4G,good,40000,15000,70,40
"""


def test_a_profile_is_a_link_and_several_are_a_journey(here: Path) -> None:
    file = written("profiles.csv", ERRANT)
    one = traces.load(file, "errant", where={"operator": "Alpha", "signal_quality": "bad"})
    assert keys(one.text) == {"rate_down": "3000 kbit/s", "rate_up": "500 kbit/s", "delay": "60 ms"}
    journey = keys(traces.load(file, "errant", where={"operator": "alpha"}, step="10 s").text)
    assert journey["changes"] == [
        {"at": "10 s", "delay": "60 ms"},
        {"at": "10 s", "direction": "up", "rate": "500 kbit/s"},
        {"at": "10 s", "direction": "down", "rate": "3000 kbit/s"},
    ]
    several = "2 rows without times; choose one with --where COLUMN=VALUE (COLUMN: operator)"
    with pytest.raises(traces.TraceError, match=re.escape(several)):
        traces.load(file, "errant", where={"signal_quality": "good"})
    with pytest.raises(traces.TraceError, match="operator = 'gamma'; values: alpha, beta"):
        traces.load(file, "errant", where={"operator": "gamma"})


def test_mahimahi_is_checked_and_cut(here: Path) -> None:
    file = written("up.trace", "".join(f"{10 * i}\n" for i in range(1, 101)))
    assert traces.load(file, "mahimahi").stamps == [10 * i for i in range(1, 101)]
    assert traces.load(file, "mahimahi", begin="200 ms", length="35 ms").stamps == [10, 20, 30, 35]


@pytest.mark.parametrize(
    ("kind", "text", "options", "said"),
    [
        ("goodput", "12\n-3\n", (), "f.csv, line 2: value -3 is negative"),
        ("goodput", "12\nfast\n", (), "f.csv, line 2: value 'fast' is not a number"),
        ("goodput", "time,down\n0,12\n1,13\n", (), "no column for the rate"),
        ("goodput", "time,down\n0,12\n", ("--column", "dwn"), "columns: time, down; did you mean 'down'?"),
        ("goodput", "time,goodput\n1,12\n0,13\n", (), "line 3: time 0 is earlier than the row above it; sort the rows"),
        ("goodput", "goodput\n12\n\n", ("--where", "a=b"), "--where is not for --kind goodput, but for errant"),
        ("goodput", "a,b\n1,2\n3\n", ("--column", "a"), "line 3: 1 cell, but 2 columns"),
        ("goodput", "0\n0\n", ("--step", "1 s"), "the rate is zero all the time"),
        ("goodput", "0.001\n0.002\n", ("--step", "1 s"), "f.csv: 375 octets in 2 s; a trace needs at least one packet"),
        ("lens", "timestamp,rtt,uplink,downlink\n1,9,4,5\n1,9,4,5\n", (), "probes at fewer than two times"),
        ("goodput", "12\n" * 20, ("--step", "1 s", "--from", "1 min"), "--from 60 s is not before its end at 20 s"),
        ("goodput", "12000000\n", (), "above 100 Gbit/s; give the unit"),
        (
            "goodput",
            "time (s),goodput\n1e11,12\n",
            (),
            "s is later than the year 2103; correct the unit in the column's",
        ),
        ("goodput", "time,goodput\n1e11,12\n", (), 'write the unit, such as "time (ns)", into the column\'s name'),
        ("goodput", "1\n", ("--step", "2 kg"), "--step: "),
        ("goodput", PING, (), "looks like --kind ping"),
        ("mahimahi", "0.000000\n0.25\n", (), "found 0.000000; times in seconds? Multiply them by 1000"),
        ("goodput", "".join(f"{20 * i}\n" for i in range(1, 99)), (), "looks like --kind mahimahi"),
        ("ping", ERRANT, (), "looks like --kind errant"),
        ("ping", "t,rtt\n0,40\n1,-4\n", (), "rtt -4 is negative"),
        ("ping", "t,rtt\n0,40\n1,41\n100,40\n101,40\n", (), "no probe answered from 1.0 s to 100.0 s; --gaps zero"),
        ("ping", "t,rtt\n0,40\n", (), "fewer than two answered probes"),
        ("goodput", "time,down\n0,12\n1,13\n", (), "--column names it; columns: time, down"),
        ("lens", "t,rtt\n0,40\n", (), "no column for the time (timestamp)"),
        ("lens", "timestamp,rtt,uplink\n0,40,30\n1,40,30\n", (), "f.csv: uplink without downlink; give both columns"),
        ("lens", "timestamp,rtt,downlink\n0,40,30\n1,40,30\n", (), "f.csv: downlink without uplink; give both columns"),
        ("lens", "1\n2\n2\n9\n", (), "no column for the time (timestamp); columns: value"),
        ("errant", "1\n2\n2\n9\n", (), "no column for the downlink (download_kbps, download_mbps)"),
        ("lens", "timestamp,rtt,uplink,downlink\n1,20,-3,10\n2,20,10,10\n", (), "uplink -3 is negative"),
        # The probes came back, and nobody measured the ways apart; and all were lost on the way down.
        *(
            (
                "lens",
                f"timestamp,rtt,uplink,downlink\n1,{probe}\n2,{probe}\n3,20,10,10\n4,{probe}\n",
                ("--length", "2 s"),
                "f.csv: no probe of this part of the file has a delay in both directions (uplink and downlink); "
                "choose another part",
            )
            for probe in ("20,10,", "20,10,-1")
        ),
        (
            "lens",
            "timestamp,rtt,uplink,downlink\n1,-1,-1,-1\n2,20,10,-1\n",
            (),
            "f.csv: no probe of the file has a delay in both directions (uplink and downlink)\n",
        ),
        (
            "goodput",
            "".join(f"{20 * i}\n" for i in range(1, 99)),
            ("--step", "1 s"),
            "f.csv: whole numbers that never fall look like times, not rates; --column value reads them as rates",
        ),
        ("mahimahi", "5\n4\n", (), "line 2: 4 comes after 5"),
        ("mahimahi", "5\n-4\n", (), "line 2: -4 is negative"),
        ("mahimahi", "5\n4294967296\n", (), "line 2: 4294967296 ms is later than the last allowed stamp"),
        ("mahimahi", "5\n60000\n", ("--from", "5 s", "--length", "1 s"), "f.csv: no stamp from 5 s to 6 s; the whole"),
        ("mahimahi", "5\n60000\n", ("--from", "2 min"), "f.csv: no stamp from 120 s on; the whole trace lasts 60 s"),
        ("ping", "PING a (192.0.2.1)\n--- a ping statistics ---\n", (), 'no line such as "icmp_seq=1 ttl=64 '),
        (
            "ping",
            "PING a (192.0.2.1): 56 data bytes\n64 bytes from 192.0.2.1: icmp_seq=1 ttl=57 time=13,4 ms\n",
            (),
            'f.csv: no line such as "icmp_seq=1 ttl=64 time=12.3 ms": no probe was answered',
        ),
        (
            "ping",
            "PING a (192.0.2.1): 56 data bytes\n64 bytes from 192.0.2.1: seq=0 ttl=57 time=13.4 ms\n",
            (),
            "no probe was answered, or the lines have another form than those of `LC_ALL=C ping` (iputils)",
        ),
        ("mahimahi", "5\n", ("--unit", "kbit/s"), "--unit is not for --kind mahimahi, but for goodput"),
        (
            "errant",
            ERRANT.replace("500,120", "0,120"),
            ("--where", "signal_quality=bad"),
            "line 3: upload_kbps is 0 or missing",
        ),
        ("goodputs", "1\n", (), "did you mean 'goodput'? kinds: goodput, ping, lens, errant, mahimahi, iperf3"),
        ("goodput", "", (), "f.csv: empty"),
        ("goodput", "1\n", ("--gaps", "fill"), "choices: refuse, zero, hold"),
        ("goodput", "1\n", ("--unit", "Mbps"), "units: bit/s"),
    ],
)
def test_what_cannot_be_used_is_told(
    here: Path, command: Command, kind: str, text: str, options: tuple[str, ...], said: str
) -> None:
    done = command("trace", "import", written("f.csv", text), "--kind", kind, *options)
    assert (done.status, done.out) == (2, "")
    assert said in done.err
    assert len(done.err.splitlines()) <= 3
    assert "Traceback" not in done.err


def test_a_file_that_is_none_is_told(here: Path, command: Command) -> None:
    assert "no such file" in command("trace", "import", "none.csv", "--kind", "ping").err
    assert "not a regular file" in command("trace", "import", "/dev/null", "--kind", "ping").err
