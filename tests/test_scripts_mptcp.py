"""Scripts of Multipath TCP: what the options, names and commands of the dialect mean, and what is refused."""

import pytest

from anabranch.packetdrill import script

OPENED = """
 0 socket(..., SOCK_STREAM, IPPROTO_MPTCP) = 3
+0 bind(3, ..., ...) = 0
+0 listen(3, 1) = 0
+0 < addr[caddr0] > addr[saddr0] S 0:0(0) win 65535 <mss 1460, sackOK, nop, wscale 7, mpcapable v1 flags[flag_h] nokey>
+0 > S. 0:0(0) ack 1 <mss 1460, sackOK, nop, wscale 7, mpcapable v1 flags[flag_h] key[skey]>
+.1 < . 1:1(0) ack 1 win 512 <mpcapable v1 flags[flag_h] key[ckey=2, skey]>
+0 accept(3, ..., ...) = 4
"""


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("<mpcapable 1 flags[flag_h] nokey>", "where a version was expected: v0 to v15"),
        ("<mpcapable v1 flags[flag_z] nokey>", '"flag_z" is no flag; flags: no_flags, flag_a'),
        ("<mpcapable v1 flags[flag_h] key[2]>", "where a name of a key was expected"),
        ("<mp_join_syn backup=2 token=auto>", "backup=2: the flag B is 0 or 1"),
        ("<mp_join_ack sender_hmac=sha1>", 'where "trunc_l64_hmac" was expected'),
        ("<dss dack8=1 dsn8=-1 nocs>", "where a number of 64 bits was expected"),
        ('<add_address addr[a=inet_addr("10.0.0")] hmac=auto>', '"10.0.0" is no IP address'),
        ("<mp_fail dsn4=1>", "MP_FAIL has a data sequence number of 64 bits"),
        ("<mp_fastclosed>", "options: mss, sackOK, TS"),
        ("<mp_reset 256>", "256 is out of range for a reason (8 bits)"),
        ("<dss dack8=trunc_r64_hmac(nokey)+1 nocs>", "no key is named nokey yet"),
        ("<mp_join_syn token=sha256_32(other)>", "no key is named other yet"),
    ],
)
def test_an_option_that_makes_no_sense_is_refused(line: str, said: str) -> None:
    outcome = script.run_text(OPENED + f"+0 < . 1:1(0) ack 1 win 9 {line}")
    assert outcome.status == "invalid"
    assert outcome.why is not None
    assert said in outcome.why.text


def test_keys_are_needed_before_what_is_made_of_them() -> None:
    text = OPENED.partition("+.1")[0] + "+0 < . 1:1(0) ack 1 win 9 <mp_fastclose>"
    outcome = script.run_text(text)
    assert outcome.why is not None
    assert "this needs the keys of both sides" in outcome.why.text


def test_a_name_stands_for_the_key_that_was_there_when_it_was_first_used() -> None:
    fastclose = (
        "+0 setsockopt(4, SOL_SOCKET, SO_LINGER, {onoff=1, linger=0}, 8) = 0\n+0 close(4) = 0\n"
        "+0 > R. 1:1(0) ack 1 <mp_fastclose NAME>"
    )
    assert script.run_text(OPENED + fastclose.replace("NAME", "ckey")).passed
    outcome = script.run_text(OPENED + fastclose.replace("NAME", "skey"))
    assert outcome.mismatch is not None
    assert outcome.mismatch.actual == "R. 1:1(0) ack 1 <mp_fastclose ckey>"


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("ip mptcp endpoint add 10.0.0.7 singal", 'did you mean "signal"?'),
        ("ip mptcp endpoint delete id 9", "no endpoint has the id 9"),
        ("ip mptcp endpoint add here signal", "no IP address"),
        ("ip mptcp limits set joins 2", "limits set joins 2: supported are subflows and add_addr_accepted"),
        ("ip mptcp monitor", "ip mptcp monitor: supported are endpoint flush, add, change and delete, limits set"),
        ("sysctl -q net.mptcp.enable=1", 'did you mean "net.mptcp.enabled"?'),
        ("sysctl -q net.mptcp.scheduler=fastest", "fastest"),
        ("../common/multi-ep.sh -x", "multi-ep.sh -x: supported are -e, -m and -b"),
    ],
)
def test_what_a_command_cannot_mean_is_named(command: str, said: str) -> None:
    outcome = script.run_text(OPENED + f"+0 `{command}`")
    assert outcome.status in ("unsupported", "invalid")
    assert outcome.why is not None
    assert said in outcome.why.text


def test_counters_of_the_host() -> None:
    test = "+0 `test $(nstat -zjs | jq '.kernel.MPTcpExtMPCapableSYNRX') -eq {}`"
    assert script.run_text(OPENED + test.format(1)).passed
    outcome = script.run_text(OPENED + test.format(2))
    assert outcome.mismatch is not None
    assert outcome.mismatch.actual == "MPTcpExtMPCapableSYNRX = 1"
    assert script.run_text(OPENED + "+0 `nstat -n`\n" + test.format(0)).passed
    other = script.run_text(OPENED + "+0 `test $(nstat -zjs | jq '.kernel.TcpExtTW') -eq 1`")
    assert other.status == "unsupported"


def test_fields_of_the_ip_header_follow_the_socket_on_all_subflows() -> None:
    text = (
        OPENED
        + """
+0 setsockopt(4, SOL_IP, IP_TOS, [7], 4) = 0
+0 getsockopt(4, SOL_IP, IP_TOS, [4], [4]) = 0
+0 setsockopt(4, SOL_IP, IP_TTL, [9], 4) = 0
+0 getsockopt(4, SOL_IP, IP_TTL, [9], [4]) = 0
+0 setsockopt(4, SOL_IP, IP_TTL, [0], 4) = -1 EINVAL (Invalid argument)
+0 write(4, ..., 10) = 10
+0 > [tos 0x04, ttl 9] P. 1:11(10) ack 1 <dss dack4=1 dsn8=1 ssn=1 dll=10 nocs>
"""
    )
    assert script.run_text(text).passed, str(script.run_text(text))
    assert not script.run_text(text.replace("ttl 9] P", "ttl 64] P")).passed
    assert not script.run_text(text.replace("tos 0x04, ", "tos 0x00, ")).passed


def test_segments_on_two_flows_are_told_apart() -> None:
    text = (
        OPENED
        + """
+.1 < addr[caddr1] > addr[saddr0] S 0:0(0) win 65535 <mss 1460, mp_join_syn address_id=1 token=sha256_32(skey)>
+0 > S. 0:0(0) ack 1 <mss 1460, mp_join_syn_ack address_id=0 sender_hmac=auto>
+.1 < . 1:1(0) ack 1 win 512 <mp_join_ack sender_hmac=auto>
+0 > . 1:1(0) ack 1 <dss dack4=1 nocs>
+0 < . 1:11(10) ack 1 win 512 <dss dack8=1 dsn8=1 ssn=1 dll=10 nocs>
+.04 > addr[saddr0] > addr[caddr1] . 1:1(0) ack 11 <dss dack8=11 nocs>
"""
    )
    assert script.run_text(text).passed, str(script.run_text(text))
    outcome = script.run_text(text.replace("+.04 > addr[saddr0] > addr[caddr1]", "+.04 > addr[saddr0] > addr[caddr0]"))
    assert outcome.mismatch is not None
    assert "nothing is sent" in outcome.mismatch.actual


@pytest.mark.parametrize(
    "rest",
    [
        # RFC 7323 3.2 SHOULD: without its timestamp a segment is dropped. Linux takes it.
        pytest.param(
            "+0 < . 1:1001(1000) ack 1 win 512 <dss dack8=1 dsn8=1 ssn=1 dll=1000 nocs>\n"
            "+0 > . 1:1(0) ack 1001 <nop, nop, TS val 7 ecr 7, dss dack8=1001 nocs>",
            id="timestamps",
        ),
        # RFC 8684 3.3.2 speaks of data: a DATA_FIN without data is acknowledged with 32 bits.
        pytest.param(
            "+0 < . 1:1(0) ack 1 win 512 <nop, nop, TS val 8 ecr 0, dss dack8=1 dsn8=1 ssn=0 dll=1 nocs fin>\n"
            "+0 > . 1:1(0) ack 1 <nop, nop, TS val 7 ecr 7, dss dack4=2 nocs>",
            id="data-fin-acknowledged",
        ),
        pytest.param(
            "+0 close(4) = 0\n"
            + "".join(
                f"+{wait} > . 1:1(0) ack 1 <nop, nop, TS val 7 ecr 7, dss dack4=1 dsn8=1 ssn=0 dll=1 nocs fin>\n"
                for wait in (0, 0.2, 0.2, 0.4)
            ),
            id="data-fin-repeated",
        ),
        pytest.param(
            "+0 < . 1:1(0) ack 1 win 512 <nop, nop, TS val 8 ecr 0, mp_fastclose>\n"
            "+0 > R. 1:1(0) ack 1 <nop, nop, TS val 7 ecr 7, mp_reset 0>",
            id="reset-reason",
        ),
    ],
)
def test_what_linux_does_otherwise_is_in_its_profile(rest: str) -> None:
    opened = OPENED.replace("sackOK, nop", "sackOK, TS val 7 ecr 0, nop")
    opened = opened.replace("<mpc", "<nop, nop, TS val 7 ecr 0, mpc").replace(
        "> S. 0:0(0) ack 1 <mss 1460, sackOK, TS val 7 ecr 0", "> S. 0:0(0) ack 1 <mss 1460, sackOK, TS val 0 ecr 7"
    )
    linux = script.run_text(opened + rest, profile="linux")
    assert linux.passed, str(linux)
    default = script.run_text(opened + rest)
    assert default.mismatch is not None, str(default)
    assert default.mismatch.line > len(opened.splitlines()), str(default)
