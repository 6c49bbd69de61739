"""Sentences of a diagnosis claim no more than the packets or the run show, and name what the connection has."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import anabranch as ab
from anabranch.diagnosis.capacities import path_capacities
from anabranch.diagnosis.measure import events, open_at_receiver
from anabranch.diagnosis.seen import Seen
from anabranch.diagnosis.text import note_on_shares
from anabranch.diagnosis.unknown import unknown
from anabranch.diagnosis.verdict import open_names, verdict
from anabranch.measures.causes import CAUSES
from anabranch.sentences import common
from anabranch.sentences import diagnose as say

TCP = "connection.protocol = 'tcp'\n"
PATH = "[[path]]\nrate = '{}'\ndelay = '{}'\n{}"


def run_of(text: str, folder: Path, place: str | None = None) -> tuple[dict[str, Any], list[str]]:
    """The only connection and the notes of a run's diagnosis, or of that of its captures at `place`."""
    run = ab.Scenario.from_toml(text).run(pcap=folder / "pcap")
    if place is None:
        run.save(folder / "run")
        found = ab.diagnose(folder / "run")
    else:
        found = ab.diagnose(sorted((folder / "pcap").glob(f"{place}-[0-9]*.pcapng")))
    (connection,) = found.connections
    return connection, found.summary["notes"]


def connection_of(causes: dict[str, float], **fields: Any) -> dict[str, Any]:
    """A connection with one subflow of 10 s over a path of 10 Mbit/s, as `verdict` gets it."""
    shares = {**dict.fromkeys(CAUSES, 0.0), **causes}
    flow = {
        "client": "10.0.0.1:1", "server": "10.0.0.2:2", "causes": shares, "measured_s": 10.0, "saturated_s": 0.0,
        "capacity_mbps": 10.0, "capacity_given": False, "capacity_at_least_mbps": 10.0, "blocked_others_s": 0.0,
    }  # fmt: skip
    flow |= {key: fields.pop(key) for key in ("saturated_s", "capacity_mbps") if key in fields}
    made = {
        "protocol": "tcp", "data_from": "client", "captured_at": ["client"], "incomplete": [], "causes": shares,
        "limits": None, "indistinct": [], "goodput_mbps": 5.0, "paths_mbps": 10.0, "paths_are_lower_bounds": False,
        "main_cause": max(shares, key=lambda cause: shares[cause]), "duration_s": 10.0, "is_known": False,
        "complete_beginning": True, "subflows": [flow],
    }  # fmt: skip
    return made | fields


def texts(connection: dict[str, Any], facts: Seen) -> list[str]:
    """Each thing that a capture does not show, with its reason."""
    return [f"{one['what']}: {one['why']}" for one in unknown(connection, facts)]


def test_head_of_line_blocking_is_called_a_fact_only_of_a_capture_at_the_receiver() -> None:
    blocked = {"head_of_line": 0.4, "cwnd": 0.6}
    for places in ([], ["client"]):
        assert note_on_shares(connection_of(blocked, captured_at=places)) == say.INFERRED_AND_BLOCKING
    for places in (["server"], ["client", "server"]):
        assert note_on_shares(connection_of(blocked, captured_at=places)) == say.INFERRED
    assert note_on_shares(connection_of({"cwnd": 1.0})) == say.INFERRED
    assert note_on_shares(connection_of(blocked, is_known=True)) == say.KNOWN


def test_a_capture_without_timestamps_does_not_speak_of_their_milliseconds() -> None:
    short = "queues shorter than 2.5 ms: TCP timestamps usually give sending times to the millisecond at best"
    none = "queues in the direction of the data: without TCP timestamps the sending times are unknown"
    stamped = texts(connection_of({"cwnd": 1.0}, captured_at=["server"]), Seen())
    bare = texts(
        connection_of({"cwnd": 1.0}, captured_at=["server"]), Seen(with_timestamps=False, without_timestamps=True)
    )
    assert (short in stamped, none in stamped) == (True, False)
    assert (short in bare, none in bare) == (False, True)
    both = texts(connection_of({"cwnd": 1.0}, captured_at=["server"]), Seen(without_timestamps=True))
    assert {short, none} <= set(both)


def test_an_analysis_knows_whether_segments_have_timestamps(tmp_path: Path) -> None:
    path = PATH.format("5 Mbit/s", "9 ms", "")
    for stamps in ("true", "false"):
        text = f"{TCP}connection.timestamps = {stamps}\ntransfer.bytes = '50 kB'\n{path}"
        connection, _ = run_of(text, tmp_path / stamps, "server")
        told = [one["why"] for one in connection["unknown"]]
        assert ("without TCP timestamps the sending times are unknown" in told) == (stamps == "false")


@pytest.mark.parametrize("place", ["client", "server"])
def test_plain_tcp_has_neither_a_scheduler_nor_subflows(place: str) -> None:
    connection = connection_of({"application": 1.0}, captured_at=[place])
    tcp = texts(connection, Seen(is_multipath=False))
    mptcp = texts(connection, Seen())
    assert not any("scheduler" in one or "subflow" in one for one in tcp)
    assert any("subflow" in one for one in mptcp)
    assert len(mptcp) == len(tcp) + 1


def test_only_causes_that_can_occur_are_left_open(tmp_path: Path) -> None:
    own = {"failed", "cwnd", "send_buffer", "application"}
    shares = {**dict.fromkeys(CAUSES, 0.0), "application": 1.0}
    assert set(open_at_receiver(shares, multipath=False)) == own
    assert set(open_at_receiver(shares, multipath=True)) == own | {"reinjection", "scheduler"}
    path = PATH.format("5 Mbit/s", "9 ms", "")
    for protocol, found in (("tcp", own), ("mptcp", own | {"reinjection", "scheduler"})):
        text = f"connection.protocol = '{protocol}'\ntransfer.bytes = '50 kB'\n{path}"
        connection, _ = run_of(text, tmp_path / protocol, "server")
        assert set(connection["indistinct"]) == found


def test_a_scheduler_that_waits_or_copies_is_not_said_to_make_no_difference() -> None:
    assert "Schedulers that choose among the subflows whose window has room" in common.WHY["scheduler"]


def test_of_a_capture_at_the_receiver_not_too_much_is_promised() -> None:
    """A capture at the sender leaves the send buffer and the application open, too."""
    found = connection_of({"send_buffer": 1.0}, captured_at=["server"], indistinct=["cwnd", "send_buffer"])
    told = verdict(found)[2]
    assert told.startswith("Main cause: probably send buffer, ")
    assert "`ss -tin` on the sender" in told


@pytest.mark.usefixtures("no_figures")
def test_syns_that_were_lost_are_named_in_place_of_fast_open(tmp_path: Path) -> None:
    down = "changes = [{ at = '0 s', state = 'down' }, { at = '1.5 s', state = 'up' }]\n"
    for place in (None, "client"):
        text = f"{TCP}transfer.bytes = '20 kB'\n" + PATH.format("5 Mbit/s", "10 ms", down)
        connection, _ = run_of(text, tmp_path / str(place), place)
        assert connection["main_cause"] == "not_up"
        # RFC 6298 2.1: sent again after 1 s and, since the timeout doubles, after 3 s.
        assert "The SYN was sent again 2 times" in connection["sentences"][2]
        assert "Fast Open" not in connection["sentences"][2]


@pytest.mark.usefixtures("no_figures")
def test_a_short_transfer_waits_for_its_handshake(tmp_path: Path) -> None:
    """Three segments: a round trip for the handshake, one for the data, which carry the FIN."""
    connection, _ = run_of(f"{TCP}transfer.bytes = '4 kB'\n" + PATH.format("50 Mbit/s", "20 ms", ""), tmp_path)
    assert connection["causes"]["not_up"] > 0.9
    handshake, after = (float(part.split(" ")[-1]) for part in connection["sentences"][2].split(" %")[:2])
    # Both take a round trip; the data take their serialisation time, too.
    assert 40 < handshake < 55
    assert handshake + after == pytest.approx(100 * connection["causes"]["not_up"], abs=0.2)
    assert "Fast Open" in connection["sentences"][2]


@pytest.mark.usefixtures("no_figures")
def test_data_that_wait_in_a_queue_after_the_fin_are_no_handshake(tmp_path: Path) -> None:
    text = f"{TCP}connection.controller = 'cubic'\ntransfer.bytes = '60 kB'\n" + PATH.format("1 Mbit/s", "5 ms", "")
    for place in (None, "client"):
        connection, _ = run_of(text, tmp_path / str(place), place)
        if connection["main_cause"] == "not_up":
            assert "handshake" not in connection["sentences"][2]
    found = connection_of({"not_up": 0.6, "cwnd": 0.4})
    assert "The SYN was sent again 2 times" in verdict(found, Seen(repeated_syns=2))[2]
    assert "handshake, which took 60 %" in verdict(found, Seen(after_fin=0.0))[2]
    assert "took 35 % of the time, and 25 % of the time passed between" in verdict(found, Seen(after_fin=0.25))[2]
    assert "FIN, and for 55 % of the time" in verdict(found, Seen(after_fin=0.55))[2]


@pytest.mark.parametrize("cause", ["send_buffer", "receive_window", "cwnd", "application", "recovery"])
def test_where_links_are_full_no_other_remedy_is_named(cause: str) -> None:
    for fields in (
        {"saturated_s": 9.0, "goodput_mbps": 9.5},
        {"limits": {"link": 0.9, "cwnd": 0.1}, "capacity_mbps": None, "paths_are_lower_bounds": True},
    ):
        if fields.get("limits") and cause in ("cwnd", "recovery", "application"):
            continue
        told = verdict(connection_of({cause: 1.0}, **fields))[2]
        assert told.startswith("The path was saturated")
        assert "enlarge" not in told
    idle = verdict(connection_of({cause: 1.0}, saturated_s=0.0, goodput_mbps=9.5))[2]
    assert idle.startswith("Main cause: ")


@pytest.mark.usefixtures("no_figures")
def test_of_a_full_link_the_run_and_its_captures_say_that_it_is_full(tmp_path: Path) -> None:
    """The send buffer holds more than the path and its queue: without it nothing would be faster."""
    path = PATH.format("10 Mbit/s", "20 ms", "queue = '400 packets'\n")
    text = f"{TCP}connection.send_buffer = '300 kB'\ntransfer.duration = '6 s'\n{path}"
    for place in (None, "client", "server"):
        connection, _ = run_of(text, tmp_path / str(place), place)
        assert connection["goodput_mbps"] > 9
        assert connection["sentences"][2].startswith("The path was saturated")


@pytest.mark.usefixtures("no_figures")
def test_two_full_paths_are_the_limit_of_a_run_of_mptcp(tmp_path: Path) -> None:
    two = PATH.format("6 Mbit/s", "20 ms", "") + PATH.format("4 Mbit/s", "30 ms", "")
    connection, notes = run_of(f"connection.send_buffer = '400 kB'\ntransfer.duration = '6 s'\n{two}", tmp_path)
    assert connection["sentences"][2].startswith("All paths were saturated")
    assert notes == []


@pytest.mark.usefixtures("no_figures")
def test_a_run_is_not_called_a_capture(tmp_path: Path) -> None:
    text = f"{TCP}transfer.bytes = '20 kB'\n" + PATH.format("5 Mbit/s", "9 ms", "")
    assert run_of(text, tmp_path / "run")[1] == ["The run has no Multipath TCP: each connection counts as one path."]
    assert run_of(text, tmp_path / "capture", "client")[1] == [say.NO_MPTCP(source=say.THE_CAPTURE())]


@pytest.mark.usefixtures("no_figures")
def test_paths_of_a_run_have_the_numbers_of_the_run(tmp_path: Path) -> None:
    """Both paths join the same two addresses, so that a capture sees one path."""
    nodes = "[[host]]\nname = 'a'\n[[host]]\nname = 'b'\n[[router]]\nname = 'r'\n[[router]]\nname = 's'\n"
    links = "".join(
        f"[[link]]\nname = '{name}'\nfrom = '{start}'\nto = '{end}'\nrate = '5 Mbit/s'\ndelay = '5 ms'\n"
        for name, start, end in (("in", "a", "r"), ("one", "r", "s"), ("two", "r", "s"), ("out", "s", "b"))
    )
    ends = "[connection]\nclient = 'a'\nserver = 'b'\npaths = [['in', 'one', 'out'], ['in', 'two', 'out']]\n"
    connection, _ = run_of(f"transfer.bytes = '200 kB'\n{ends}{nodes}{links}", tmp_path)
    assert [flow["path"] for flow in connection["subflows"]] == [0, 1]


FAST = 2 * PATH.format("700 Mbit/s", "5 ms", "")


@pytest.mark.parametrize(
    ("text", "named"),
    [
        # The connection starts when half of the run is over: its own time counts.
        (
            f"[transfer]\nduration = '0.5 s'\nstart = '0.5 s'\n[host]\ncost = '40 us'\n{FAST}",
            say.HOST_REMEDIES_AND_CORES(),
        ),
        # Each subflow has a core of its own, so a third core would have no work.
        (f"[transfer]\nduration = '0.5 s'\n[host]\ncost = '80 us'\ncores = 2\n{FAST}", say.HOST_REMEDIES()),
        # The queue of the link overflows before the core, busy for 92 % of the time, is the limit.
        (
            "[connection]\nprotocol = 'tcp'\n[transfer]\nduration = '3 s'\n[host]\ncost = '76 us'\n"
            + PATH.format("100 Mbit/s", "10 ms", ""),
            None,
        ),
        # Losses of the slow start, and a goodput far below the capacities: the core is the limit.
        (
            "[connection]\nscheduler = 'linux-blest'\nchecksum = true\n[transfer]\nduration = '2 s'\n[host]\n"
            "cost = '30 us'\n"
            + PATH.format("300 Mbit/s", "5 ms", "delay_variation = '2 ms'\n")
            + PATH.format("300 Mbit/s", "25 ms", ""),
            say.HOST_REMEDIES_AND_CORES(),
        ),
        # The application writes 70 Mbit/s, and the core can send that: with a lower cost per segment the
        # goodput would be the same.
        (
            "[connection]\nprotocol = 'tcp'\n[transfer]\nduration = '3 s'\non = '1 s'\noff = '0 s'\n"
            "rate = '70 Mbit/s'\n[host]\ncost = '100 us'\n" + PATH.format("500 Mbit/s", "5 ms", ""),
            None,
        ),
        # A backup subflow that carries no data shares the core in name only.
        (f"[transfer]\nduration = '0.5 s'\n[host]\ncost = '40 us'\n{FAST}backup = true\n", say.HOST_REMEDIES()),
        # Three subflows on two cores: the first and the third share one.
        (
            f"[transfer]\nduration = '0.5 s'\n[host]\ncost = '60 us'\ncores = 2\n{FAST}"
            + PATH.format("700 Mbit/s", "5 ms", ""),
            say.HOST_REMEDIES_AND_CORES(),
        ),
        (f"[transfer]\nduration = '0.5 s'\n{FAST}", None),
    ],
)
def test_a_processor_is_the_main_cause_only_where_it_bounds_the_connection(
    text: str, named: str | None, tmp_path: Path
) -> None:
    connection, _ = run_of(text, tmp_path)
    told = [sentence for sentence in connection["sentences"] if "the processor of" in sentence]
    assert [named is not None and named in sentence for sentence in told] == ([] if named is None else [True])


NAMED: Sequence[tuple[list[str], list[str]]] = (
    (["client"], ["congestion window with pacing", "send buffer", "application"]),
    (["server"], ["congestion window", "send buffer", "application"]),
)


@pytest.mark.parametrize(("places", "names"), NAMED)
def test_a_set_of_causes_has_the_same_names_in_every_sentence(places: list[str], names: list[str]) -> None:
    causes = ["cwnd", "send_buffer", "application"]
    found = connection_of({"cwnd": 0.9, "recovery": 0.1}, captured_at=places, indistinct=causes)
    assert open_names(found) == names
    if places == ["client"]:
        either = "congestion window with pacing, send buffer or application"
        assert f"({either})" in verdict(found)[1]
        assert f": {either}." in verdict(found)[2]


def test_the_second_sentence_says_what_its_shares_are_of() -> None:
    alone = connection_of({"cwnd": 0.97, "recovery": 0.03})
    assert verdict(alone)[1] == (
        "Shares of the time by cause: congestion window 97 %; other causes have less than 5 % each."
    )
    two = connection_of({"cwnd": 1.0})
    two["subflows"] *= 2
    assert verdict(two)[1] == "Shares of the time by cause (mean of 2 subflows): congestion window 100 %."


@pytest.mark.parametrize(
    ("causes", "indistinct", "close"),
    [
        # No share is in doubt, but the two largest differ by two points.
        ({"recovery": 0.5, "cwnd": 0.48}, ["recovery", "cwnd"], True),
        ({"not_up": 0.4, "cwnd": 0.36, "send_buffer": 0.2}, ["not_up", "cwnd", "send_buffer"], True),
        ({"cwnd": 0.5, "application": 0.48}, ["cwnd", "application"], True),
        ({"cwnd": 0.9, "recovery": 0.1}, ["cwnd", "send_buffer", "application"], False),
    ],
)
def test_close_shares_are_not_called_a_limit_at_the_sender(
    causes: dict[str, float], indistinct: list[str], close: bool
) -> None:
    found = connection_of(causes, indistinct=indistinct)
    _, second, third = verdict(found)
    assert ("uncertain" in second) != close
    assert third.startswith("Main cause: a limit at the sender") != close
    assert ("does not show for certain" in third) == close
    assert ("with pacing" in third) != close


def test_links_that_were_full_for_a_third_of_the_time_are_not_called_saturated() -> None:
    limits = {"link": 0.35, "receive_window": 0.33, "application": 0.32}
    found = connection_of({"receive_window": 0.68, "application": 0.32}, limits=limits)
    told = verdict(found)[2]
    assert told.startswith("Main cause: links (35 % of the time). ")
    assert verdict({**found, "limits": {"link": 0.6, "cwnd": 0.4}})[2].startswith(
        "The path was saturated most of the time"
    )


@pytest.mark.usefixtures("no_figures")
def test_a_run_without_data_is_not_told_to_capture_more(tmp_path: Path) -> None:
    down = "changes = [{ at = '0 s', state = 'down' }]\n"
    ab.Scenario.from_toml(
        f"{TCP}duration = '5 s'\ntransfer.bytes = '20 kB'\n" + PATH.format("5 Mbit/s", "10 ms", down)
    ).run().save(tmp_path / "run")
    found = ab.diagnose(tmp_path / "run")
    assert found.connections == []
    assert found.summary["notes"] == [say.NO_DATA_IN_RUN()]


def test_of_several_subflows_only_those_without_acknowledgements_are_named() -> None:
    whole = {"segments": 9, "captured_at": ["client"], "lacks_pure_acks": False, "reset_by": None, "damaged": 0}
    whole |= {"client": "10.0.0.1:1", "server": "10.0.0.2:2", "diagnosis": {"base_rtt_ms": 10.0}}
    one_way = {**whole, "captured_at": [], "diagnosis": {}}
    lacking = {**whole, "lacks_pure_acks": True}
    found = {
        "data_from": "client", "fallback": False, "dss_checksums": {"failed": 0}, "signals": {"mp_fail": 0},
        "handshake": None,
    }  # fmt: skip
    assert events({**found, "subflows": [whole]}) == []
    assert events({**found, "subflows": [one_way]}) == [say.ONE_WAY()]
    assert events({**found, "subflows": [whole, one_way]}) == [say.ONE_WAY_OF(flows=1)]
    assert events({**found, "subflows": [lacking]}) == [say.NO_PURE_ACKS(receiver="server")]
    assert events({**found, "subflows": [whole, lacking]}) == [say.NO_PURE_ACKS_OF(flows=1, receiver="server")]


PATH_OF = {"capacity_given": False, "capacity_at_least_mbps": 3.0, "path": 0, "measured_s": 10.0}


def path_of(capacity: float | None, not_up: float, low: float | None = None, **fields: Any) -> dict[str, Any]:
    """A subflow of path 0 that was up for a part of 10 s."""
    rates = dict.fromkeys(("capacity_mbps", "capacity_high_mbps"), capacity)
    low = capacity if low is None else low
    return {**PATH_OF, **rates, "capacity_low_mbps": low, "causes": {"not_up": not_up}, **fields}


@pytest.mark.parametrize(
    ("flows", "capacity", "least"),
    [
        # One after another: each had the whole path.
        ([path_of(8.0, 0.6, 7.0), path_of(9.0, 0.5)], 9.0, 3.0),
        ([path_of(None, 0.6), path_of(9.0, 0.5)], 9.0, 3.0),
        ([path_of(None, 0.6), path_of(None, 0.5)], None, 3.0),
        # At the same time: each had its part, unless the rate is that of the path.
        ([path_of(4.0, 0.01, 3.5), path_of(5.0, 0.01)], 9.0, 9.0),
        ([path_of(None, 0.01), path_of(5.0, 0.01)], None, 8.0),
        ([path_of(10.0, 0.01), path_of(10.0, 0.01)], 10.0, 3.0),
    ],
)
def test_a_path_with_several_subflows_counts_once(
    flows: list[dict[str, Any]], capacity: float | None, least: float
) -> None:
    (path,) = path_capacities(flows)
    assert (path["capacity_mbps"], path["capacity_at_least_mbps"]) == (capacity, least)


@pytest.mark.usefixtures("no_figures")
def test_a_path_that_came_back_is_one_path(tmp_path: Path) -> None:
    two = PATH.format("6 Mbit/s", "20 ms", "name = 'a'\n") + PATH.format("4 Mbit/s", "30 ms", "name = 'b'\n")
    back = "{ at = '2 s', path = 'b', action = 'remove' }, { at = '4 s', path = 'b', action = 'add' }"
    text = f"transfer.duration = '8 s'\nconnection.path_changes = [{back}]\n{two}"
    connection, _ = run_of(text, tmp_path)
    assert [flow["path"] for flow in connection["subflows"]] == [0, 1, 1]
    assert connection["sentences"][0].startswith("The capacity of the 2 paths is 6 Mbit/s + 4 Mbit/s. ")
    assert connection["paths_mbps"] == pytest.approx(10)


@pytest.mark.usefixtures("no_figures")
@pytest.mark.parametrize("place", [None, "client", "server"])
def test_a_handshake_with_data_in_the_syn_is_no_wait_after_the_fin(place: str | None, tmp_path: Path) -> None:
    """The handshake takes 20 ms of 42: the data of four segments and their acknowledgement follow it."""
    text = f"{TCP}connection.fast_open = true\ntransfer.bytes = '6 kB'\n" + PATH.format("10 Mbit/s", "10 ms", "")
    connection, _ = run_of(text, tmp_path, place)
    if place != "server":
        assert "The handshake took 4" in connection["sentences"][2]
    assert "99" not in connection["sentences"][2]


@pytest.mark.usefixtures("no_figures")
def test_data_that_arrive_with_the_syn_have_no_goodput_of_zero(tmp_path: Path) -> None:
    text = f"{TCP}connection.fast_open = true\ntransfer.bytes = '1 kB'\n" + PATH.format("10 Mbit/s", "10 ms", "")
    connection, _ = run_of(text, tmp_path)
    assert connection["sentences"][0] == f"The capacity of the path is 10 Mbit/s. {say.NO_GOODPUT()}"


@pytest.mark.usefixtures("no_figures")
def test_a_run_of_udp_alone_is_refused_by_its_name(tmp_path: Path) -> None:
    text = "connection.protocol = 'udp'\ntransfer = { duration = '1 s', rate = '1 Mbit/s' }\n"
    ab.Scenario.from_toml(text + PATH.format("5 Mbit/s", "10 ms", "")).run().save(tmp_path / "run")
    with pytest.raises(ab.ResultError) as error:
        ab.diagnose(tmp_path / "run")
    assert str(error.value) == say.NO_TCP_IN_RUN(folder=tmp_path / "run")


def test_losses_are_no_remedy_where_the_goodput_is_nearly_the_capacity() -> None:
    causes = {"cwnd": 0.75, "recovery": 0.25}
    full = connection_of(causes, saturated_s=9.0, goodput_mbps=9.5)
    lossy = connection_of(causes, saturated_s=9.0, goodput_mbps=8.0)
    assert verdict(full)[2].startswith("The path was saturated: its slowest link was the limit.")
    assert "Loss recovery took 25 % of the time." in verdict(lossy)[2]


@pytest.mark.usefixtures("no_figures")
def test_a_capacity_that_changed_is_said_to_be_a_median(tmp_path: Path) -> None:
    changes = "changes = [{ at = '4 s', rate = '50 Mbit/s' }]\n"
    text = "transfer.duration = '10 s'\n" + PATH.format("5 Mbit/s", "10 ms", changes)
    connection, _ = run_of(text, tmp_path)
    assert connection["sentences"][0].startswith(
        "The capacity of the path is 50 Mbit/s (median of 5 Mbit/s to 50 Mbit/s)"
    )
