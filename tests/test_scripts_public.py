"""Scripts: features of the runner that public packetdrill suites use."""

from pathlib import Path

import pytest

from anabranch.packetdrill import script

LISTENING = """
 0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 bind(3, ..., ...) = 0
+0 listen(3, 1) = 0
"""
OPENED = """
+0 < S 0:0(0) win 65535 <mss 1000>
+0 > S. 0:0(0) ack 1 <mss 1460>
+.1 < . 1:1(0) ack 1 win 65535
+0 accept(3, ..., ...) = 4
"""
ACCEPTED = LISTENING + OPENED


def test_a_sysctl_of_accurate_ecn_is_noted_and_changes_nothing() -> None:
    outcome = script.run_text(ACCEPTED + "+0 `sysctl -q net.ipv4.tcp_ecn=2 net.ipv4.tcp_ecn_option=2`")
    assert outcome.status == "passed with notes", "a note prevents the status `passed`"
    assert outcome.passed
    assert [("tcp_ecn_option" in note.text, note.line) for note in outcome.inert] == [(True, 10)]
    assert not outcome.notes
    refused = script.run_text(ACCEPTED + "+0 `sysctl -q net.ipv4.tcp_ecn=3 net.ipv4.tcp_ecn_option=2`")
    assert refused.status == "unsupported", "with tcp_ecn=3, the engine would have to negotiate the AccECN option"


def test_a_note_that_could_change_the_result_is_told_apart() -> None:
    outcome = script.run_text(ACCEPTED + "+0 `sysctl -q net.ipv4.tcp_no_metrics_save=0`")
    assert (outcome.status, len(outcome.notes), len(outcome.inert)) == ("passed with notes", 1, 0)


def test_files_of_commands_may_have_conditions(tmp_path: Path) -> None:
    (tmp_path / "server.sh").write_text(
        "\n".join(
            [
                "#!/bin/bash",
                'if [[ $OPT_IP_VERSION = "ipv6" ]]; then',
                "    unknown command",
                "else # the other version",
                "    if [[ $OPT_LOCAL_IP =~ ([0-9]+[.][0-9]+[.][0-9]+[.])([0-9]+) ]];then",
                "\tlet next=${BASH_REMATCH[2]}+1",
                '\thost="${BASH_REMATCH[1]}$next"',
                "    fi",
                "fi",
                "ip mptcp endpoint add $host signal",
            ]
        ),
        "utf-8",
    )
    opened = """
+0 < S 0:0(0) win 65535 <mss 1000,mpcapable v1 flags[flag_h] nokey>
+0 > S. 0:0(0) ack 1 <mss 1460,mpcapable v1 flags[flag_h] key[skey]>
+0 < . 1:1(0) ack 1 win 65535 <mpcapable v1 flags[flag_h] key[ckey=2, skey]>
+0 > . 1:1(0) ack 1 <add_address address_id=1 addr[next=inet_addr("192.168.0.2")] hmac=auto>
"""
    text = "0 `./server.sh`\n" + LISTENING.replace("IPPROTO_TCP", "IPPROTO_MPTCP") + opened
    outcome = script.run_text(text, directory=tmp_path)
    assert outcome.status == "passed", str(outcome)
    # Beside ADD_ADDR, the engine may omit an expected DATA_ACK that acknowledges no new data.
    beside = script.run_text(text.replace("auto>", "auto,dss dack4=1 dll=0 nocs>"), directory=tmp_path)
    assert beside.status == "passed with notes", str(beside)
    new = script.run_text(text.replace("auto>", "auto,dss dack4=2 dll=0 nocs>"), directory=tmp_path)
    assert new.status == "failed"


def test_a_data_ack_may_be_missing_only_beside_an_add_addr_that_was_sent() -> None:
    """The peer has no Multipath TCP, so the acknowledgement has neither of the options that the script expects."""
    address = 'add_address address_id=1 addr[next=inet_addr("192.168.0.2")] hmac=auto'
    opened = """
+0 < S 0:0(0) win 65535 <mss 1000>
+0 > S. 0:0(0) ack 1 <mss 1460>
+0 < . 1:1(0) ack 1 win 65535
+0 accept(3, ..., ...) = 4
+0 < P. 1:2001(2000) ack 1 win 65535
"""
    listening = LISTENING.replace("IPPROTO_TCP", "IPPROTO_MPTCP") + opened
    assert script.run_text(listening + "+.04 > . 1:1(0) ack 2001\n").status == "passed"
    for options in (address, f"{address},dss dack4=1 dll=0 nocs"):
        outcome = script.run_text(f"{listening}+.04 > . 1:1(0) ack 2001 <{options}>\n")
        assert outcome.status == "failed", str(outcome)


@pytest.mark.parametrize("bound", ["", "+0 bind(3, ..., ...) = 0\n"])
def test_a_segment_to_a_closed_port_is_answered_with_a_reset(bound: str) -> None:
    """RFC 9293 3.10.7.1: in the CLOSED state, any segment but a RST is answered with a RST."""
    fresh = " 0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n" + bound
    syn = "+0 < S 0:0(0) win 65535 <mss 1000>\n+0 > R. 0:0(0) ack 1\n"
    data = "+0 < . 1:11(10) ack 7 win 65535\n+0 > R 7:7(0)\n"
    without_ack = "+0 < F 1:11(10) win 65535\n+0 > R. 0:0(0) ack 12\n"
    for segment in (syn, data, without_ack):
        assert script.run_text(fresh + segment).status == "passed", str(script.run_text(fresh + segment))
    assert script.run_text(fresh + "+0 < R 1:1(0) win 0\n+0 > R 0:0(0)\n").status == "failed", "a RST is never answered"


def test_a_look_at_the_data_leaves_them_there() -> None:
    look = "+0 recv(4, ..., {most}, MSG_PEEK) = {found}\n"
    text = ACCEPTED + "+0 < . 1:11(10) ack 1 win 65535\n" + look.format(most=4, found=4)
    text += look.format(most=100, found=10) + "+0 read(4, ..., 100) = 10\n"
    assert script.run_text(text).passed, str(script.run_text(text))


def test_a_tolerance_never_lowers_that_of_the_script() -> None:
    late = "--tolerance_usecs=1000\n" + ACCEPTED + "+0 < P. 1:11(10) ack 1 win 9\n+.039 > . 1:1(0) ack 11"
    assert script.run_text(late).passed
    assert script.run_text(late, tolerance="1 us").passed
    wider = late.replace("+.039", "+.038")
    assert not script.run_text(wider).passed
    assert script.run_text(wider, tolerance="2 ms").passed


def test_an_edge_is_reported_again_when_more_data_come() -> None:
    wait = "+0 epoll_wait(5, {{events={events}, fd=4}}, 1, 0) = {found}\n"
    one, none = wait.format(events="EPOLLIN", found=1), wait.format(events=0, found=0)
    text = ACCEPTED + "+0 epoll_create(1) = 5\n+0 epoll_ctl(5, EPOLL_CTL_ADD, 4, {events=EPOLLIN|EPOLLET, fd=4}) = 0\n"
    text += none + "+0 < . 1:11(10) ack 1 win 65535\n" + one + none
    text += "+0 < . 11:21(10) ack 1 win 65535\n" + one + none
    text += "+0 read(4, ..., 15) = 15\n" + none + "+0 < F. 21:21(0) ack 1 win 65535\n" + one + none
    outcome = script.run_text(text)
    assert outcome.passed, str(outcome)


def test_the_end_of_the_stream_is_nothing_to_read() -> None:
    """tcp(7): SIOCINQ returns the number of unread octets; a FIN does not count as one."""
    asked = "+0 ioctl(4, SIOCINQ, [{octets}]) = 0\n"
    text = ACCEPTED + "+0 < F. 1:11(10) ack 1 win 65535\n+0 > . 1:1(0) ack 12\n" + asked.format(octets=10)
    outcome = script.run_text(text + "+0 read(4, ..., 100) = 10\n" + asked.format(octets=0))
    assert outcome.passed, str(outcome)


ZERO_COPY = """+0 recvmsg(4, {{msg_name(...)=..., msg_iov(1)=[{{...,0}}], msg_flags=MSG_ERRQUEUE,
  msg_control=[{{cmsg_level=SOL_IP, cmsg_type=IP_RECVERR, cmsg_data={{ee_errno=0, ee_origin=SO_EE_ORIGIN_ZEROCOPY,
  ee_type=0, ee_code=SO_EE_CODE_ZEROCOPY_COPIED, ee_info={first}, ee_data={last}}}}}]}}, MSG_ERRQUEUE) = 0
"""
EMPTY = """+0 recvmsg(4, {msg_name(...)=..., msg_iov(1)=[{...,0}], msg_flags=MSG_ERRQUEUE, msg_control=[]},
  MSG_ERRQUEUE) = -1 EAGAIN
"""


def test_data_sent_without_a_copy_are_reported_when_they_are_acknowledged() -> None:
    text = ACCEPTED.replace("+0 bind", "+0 setsockopt(3, SOL_SOCKET, SO_ZEROCOPY, [1], 4) = 0\n+0 bind")
    text += "+0 send(4, ..., 10, MSG_ZEROCOPY) = 10\n+0 > P. 1:11(10) ack 1\n" + EMPTY
    text += "+.1 < . 1:1(0) ack 11 win 65535\n" + ZERO_COPY.format(first=0, last=0) + EMPTY
    text += "+0 send(4, ..., 10, MSG_ZEROCOPY) = 10\n+0 > P. 11:21(10) ack 1\n+.1 < . 1:1(0) ack 21 win 65535\n"
    text += "+0 send(4, ..., 10, MSG_ZEROCOPY) = 10\n+0 > P. 21:31(10) ack 1\n+.1 < . 1:1(0) ack 31 win 65535\n"
    outcome = script.run_text(text + ZERO_COPY.format(first=1, last=2))
    assert outcome.passed, str(outcome)
    other = script.run_text(text + ZERO_COPY.format(first=1, last=1))
    assert other.mismatch is not None
    assert (other.mismatch.expected, other.mismatch.actual) == ("ee_data=1", "2")


STAMP = """+0 recvmsg(4, {{msg_name(...)=..., msg_iov(1)=[{{...,0}}], msg_flags=MSG_ERRQUEUE|MSG_TRUNC, msg_control=[
  {{cmsg_level=SOL_SOCKET, cmsg_type=SCM_TIMESTAMPING, cmsg_data={{scm_sec=0, scm_nsec={at}}}}},
  {{cmsg_level=SOL_IP, cmsg_type=IP_RECVERR, cmsg_data={{ee_errno=ENOMSG, ee_origin=SO_EE_ORIGIN_TIMESTAMPING,
  ee_type=0, ee_code=0, ee_info={what}, ee_data={key}}}}}]}}, MSG_ERRQUEUE) = 0
"""


def test_timestamps_of_sent_data_are_reported() -> None:
    flags = "SOF_TIMESTAMPING_TX_SCHED|SOF_TIMESTAMPING_TX_SOFTWARE|SOF_TIMESTAMPING_TX_ACK|SOF_TIMESTAMPING_OPT_ID"
    text = ACCEPTED + f"+0 setsockopt(4, SOL_SOCKET, SO_TIMESTAMPING, [{flags}], 4) = 0\n"
    text += "+0 write(4, ..., 10) = 10\n+0 > P. 1:11(10) ack 1\n+.1 < . 1:1(0) ack 11 win 65535\n"
    stamps = [("SCM_TSTAMP_SCHED", 100_000_000), ("SCM_TSTAMP_SND", 100_000_000), ("SCM_TSTAMP_ACK", 200_000_000)]
    text += "".join(STAMP.format(what=what, at=at, key=9) for what, at in stamps)
    outcome = script.run_text(text)
    assert outcome.passed, str(outcome)
    assert script.run_text(text.replace("200000000", "200000001")).status == "failed"
    assert script.run_text(text.replace("ee_data=9", "ee_data=10")).status == "failed"


def test_a_mark_of_unsent_data_bounds_what_a_call_writes() -> None:
    """TCP_NOTSENT_LOWAT: write() fills whole packet buffers until unsent data reach the mark.

    A packet buffer holds 32 segments. The first ten segments leave at once (initial cwnd).
    """
    text = ACCEPTED + "+0 fcntl(4, F_SETFL, O_RDWR|O_NONBLOCK) = 0\n"
    text += "+0 setsockopt(4, SOL_TCP, TCP_NOTSENT_LOWAT, [{mark}], 4) = 0\n+0 write(4, ..., 200000) = {written}\n"
    text += "+0 > . 1:10001(10000) ack 1\n+0 poll([{{fd=4, events=POLLOUT, revents=0}}], 1, 0) = 0\n"
    for mark, written in ((4000, 42000), (50000, 74000)):
        outcome = script.run_text(text.format(mark=mark, written=written))
        assert outcome.passed, str(outcome)


def test_an_arriving_segment_may_be_several() -> None:
    arrives = "+0 < . 1:4001(4000) ack 1 win 65535\n+0 > . 1:1(0) ack 4001\n"
    assertion = "+0 %{{ assert tcpi_rcv_mss == {mss}, tcpi_rcv_mss }}%\n"
    assert script.run_text(ACCEPTED + arrives + assertion.format(mss=4000)).status == "failed", "its ACK is delayed"
    outcome = script.run_text("--mss=1000\n" + ACCEPTED + arrives + assertion.format(mss=1000))
    assert outcome.status == "passed", str(outcome)


def test_a_segment_that_stands_for_several_may_have_a_push() -> None:
    """RFC 9293 3.9.1.2: PSH marks the last segment of the queued data.

    Linux also sets PSH on each packet that it sends as several segments (TSO).
    """
    text = ACCEPTED + "+0 write(4, ..., 20000) = 20000\n+0 > P. 1:10001(10000) ack 1\n"
    assert script.run_text(text).status == "passed with notes"
    assert script.run_text(text.replace("P. 1:10001", ". 1:10001")).status == "passed"
    one = text.replace("1:10001(10000)", "1:1001(1000)")
    assert script.run_text(one).status == "failed", "the extra PSH is accepted only for several segments"
    assert script.run_text("--strict_segments\n" + text).status == "failed"


def test_a_cookie_in_a_syn_ack_is_a_name() -> None:
    """RFC 7413 4.1.2: a server makes its cookies as it likes.

    A cookie that a script expects in a SYN/ACK is therefore a name for the engine's cookie.
    """
    asked = LISTENING.replace("+0 bind", "+0 setsockopt(3, SOL_TCP, TCP_FASTOPEN, [1], 4) = 0\n+0 bind")
    asked += "+0 < S 0:0(0) win 65535 <mss 1000,FO>\n+0 > S. 0:0(0) ack 1 <mss 1460,FO 0011223344556677>\n"
    again = "+0 listen(3, 1) = 0\n+0 < S 0:10(10) win 65535 <mss 1000,FO {cookie}>\n+0 > S. 0:0(0) ack {ack} <...>\n"
    assert script.run_text(asked + again.format(cookie="0011223344556677", ack=11)).passed
    assert script.run_text(asked + again.format(cookie="0011223344556670", ack=1)).passed, "an unknown cookie"


def test_a_listener_is_looked_for_in_the_kernels_list() -> None:
    command = '+0 `grep " 0A " /proc/net/tcp | grep ":{port}"`\n'
    assert script.run_text(LISTENING + command.format(port="1F90")).status == "passed"
    assert script.run_text(LISTENING + command.format(port="1F91")).status == "failed"


def test_reordering_is_counted_in_segments() -> None:
    text = ACCEPTED.replace("<mss 1000>", "<mss 1000,sackOK>").replace("<mss 1460>", "<mss 1460,sackOK>")
    text += "+0 write(4, ..., 10000) = 10000\n+0 > P. 1:10001(10000) ack 1\n"
    text += "+0 %{ assert tcpi_reordering == 3, tcpi_reordering }%\n"
    text += (
        "+.1 < . 1:1(0) ack 1 win 65535 <sack 7001:8001>\n+0 < . 1:1(0) ack 1 win 65535 <sack 3001:4001 7001:8001>\n"
    )
    outcome = script.run_text(text + "+0 %{ assert tcpi_reordering == 5, tcpi_reordering }%\n")
    assert outcome.passed, str(outcome)


def test_a_syn_ack_is_sent_again_as_often_as_the_sysctl_says() -> None:
    syn = "+0 < S 0:0(0) win 65535 <mss 1000>\n+0 > S. 0:0(0) ack 1 <mss 1460>\n+1 > S. 0:0(0) ack 1 <mss 1460>\n"
    late = "+5 < . 1:1(0) ack 1 win 65535\n"
    text = LISTENING + "+0 `sysctl -q net.ipv4.tcp_synack_retries=1`\n" + syn + late
    assert script.run_text(text + "+0 > R 1:1(0)\n").passed, str(script.run_text(text + "+0 > R 1:1(0)\n"))


@pytest.mark.parametrize(("on", "cwnd"), [(1, "== 10"), (0, "> 10")])
def test_an_idle_window_may_be_kept(on: int, cwnd: str) -> None:
    """RFC 5681 4.1: cwnd restarts after an idle period, unless `tcp_slow_start_after_idle` is 0."""
    text = LISTENING + f"+0 `sysctl -q net.ipv4.tcp_slow_start_after_idle={on}`\n" + OPENED
    text += "+0 write(4, ..., 10000) = 10000\n+0 > . 1:10001(10000) ack 1\n+.1 < . 1:1(0) ack 10001 win 65535\n"
    text += "+0 %{ assert tcpi_snd_cwnd > 10, tcpi_snd_cwnd }%\n+60 write(4, ..., 1000) = 1000\n"
    text += "+0 > P. 10001:11001(1000) ack 1\n" + f"+0 %{{ assert tcpi_snd_cwnd {cwnd}, tcpi_snd_cwnd }}%\n"
    outcome = script.run_text(text.replace("+0 > . 1:10001(10000)", "+0 > P. 1:10001(10000)"))
    assert outcome.status == "passed", str(outcome)


def test_acknowledgements_wait_for_the_answers_of_an_interactive_application() -> None:
    """Linux (`tcp_event_data_sent`): ACKs are delayed once data were sent in reply to data."""
    text = ACCEPTED + "+.1 < P. 1:101(100) ack 1 win 65535\n+0 > . 1:1(0) ack 101\n+0 read(4, ..., 100) = 100\n"
    text += "+.01 write(4, ..., 50) = 50\n+0 > P. 1:51(50) ack 101\n"
    text += "+.1 < P. 101:201(100) ack 51 win 65535\n+0 read(4, ..., 100) = 100\n"
    answered = text + "+.01 write(4, ..., 50) = 50\n+0 > P. 51:101(50) ack 201\n"
    outcome = script.run_text(answered, profile="linux")
    assert outcome.passed, str(outcome)
    unanswered = text + "+.04 > . 51:51(0) ack 201\n+.1 < P. 201:301(100) ack 51 win 65535\n+0 > . 51:51(0) ack 301\n"
    outcome = script.run_text(unanswered, profile="linux")
    assert outcome.passed, str(outcome)


def test_linux_asks_for_a_cookie_again_after_one_lost_syn() -> None:
    """RFC 7413 4.1.3.1: a client whose SYN was lost disables Fast Open to the server.

    Linux disables it only after two lost SYNs in a row (`tcp_fastopen_cookie_check`).
    """
    lost = """
+.1 socket(..., SOCK_STREAM|SOCK_NONBLOCK, IPPROTO_TCP) = 3
+0 sendto(3, ..., 0, MSG_FASTOPEN, ..., ...) = -1 EINPROGRESS
+0 > S 0:0(0) <mss 1460,sackOK,TS val 1 ecr 0,wscale 7,FO>
+1 > S 0:0(0) <mss 1460,sackOK,TS val 1 ecr 0,wscale 7>
+.1 < S. 0:0(0) ack 1 win 65535 <mss 1000>
+0 > . 1:1(0) ack 1
+.1 < R. 1:1(0) ack 1 win 65535
+0 close(3) = 0
"""
    third = lost.split("+1 >", maxsplit=1)[0]
    assert script.run_text(lost + lost, profile="linux").passed, str(script.run_text(lost + lost, profile="linux"))
    assert not script.run_text(lost + lost + third, profile="linux").passed
    assert not script.run_text(lost + lost).passed


def test_a_fin_may_leave_behind_the_data_it_is_expected_with() -> None:
    text = ACCEPTED + "+0 write(4, ..., 20000) = 20000\n+0 > . 1:10001(10000) ack 1\n+0 close(4) = 0\n"
    text += "+.1 < . 1:1(0) ack 10001 win 65535\n+0 > {flags} 10001:20001(10000) ack 1\n"
    apart = script.run_text(text.format(flags="P.") + "+0 > F. 20001:20001(0) ack 1\n")
    assert apart.status == "passed", str(apart)
    assert script.run_text(text.format(flags="FP.")).status == "passed with notes"


def test_a_socket_of_another_protocol_is_refused() -> None:
    assert script.run_text("0 socket(..., SOCK_STREAM, IPPROTO_UDP) = -1 EPROTONOSUPPORT\n").passed
