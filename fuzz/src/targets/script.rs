//! Runs any text as a script. The runner either refuses it and names a line, or runs it to an end.
//! The same text always gives the same result.

use anabranch_packetdrill::report::Status;
use anabranch_packetdrill::settings::Options;
use anabranch_packetdrill::{Outcome, judge};

use super::kind;
use crate::Target;

/// The fuzz target `script`.
pub const TARGET: Target =
    Target { name: "script", holds: "a text is refused with a place, or runs to an end, always the same", run, seeds };

const LISTEN: &str = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n+0 bind(3, ..., ...) = 0\n+0 listen(3, 1) = 0\n\
    +0 < S 0:0(0) win 65535 <mss 1000,sackOK,TS val 1 ecr 0,nop,wscale 7>\n+0 > S. 0:0(0) ack 1 <...>\n\
    +.1 < . 1:1(0) ack 1 win 500 <nop,nop,TS val 2 ecr 0>\n+0 accept(3, ..., ...) = 4\n";

const MORE: [&str; 8] = [
    "+0 write(4, ..., 5000) = 5000\n* > . 1:989(988) ack 1 <...>\n+1 < . 1:1(0) ack 989 win 9 <TS val 3 ecr 0>\n",
    "+.1 < P. 1:101(100) ack 1 win 500 <TS val 3 ecr 0,sack 1:2>\n+0 read(4, ..., 10) = 10\n+0 close(4) = 0\n",
    "+0 close(4) = 0\n+0 > F. 1:1(0) ack 1 <...>\n+.1 < F. 1:1(0) ack 2 win 500 <TS val 3 ecr 0>\n+0~+1 > . 2:2(0) ack 2\n",
    "`sysctl -q net.ipv4.tcp_ecn=1; tc qdisc add dev tun0 root fq`\n+0...1 read(4, ..., 100) = 0\n",
    "+0 setsockopt(4, SOL_TCP, TCP_CORK, [1], 4) = 0\n+0 sendmsg(4, {msg_iov(1)=[{..., 40}]}, MSG_MORE) = 40\n",
    "+0 poll([{fd=4, events=POLLIN|POLLOUT, revents=POLLOUT}], 1, 0) = 1\n+0 ioctl(4, SIOCINQ, [0]) = 0\n",
    "+0 < icmp unreachable frag_needed mtu 600 [1:2(1)]\n+0 < [ce] SEWA 0:9(9) win 1 <FO 01ab>\n",
    "+0 %{ assert tcpi_state == 1 }%\n+0 < R. 1:1(0) ack 1 win 0\n+0 getsockopt(4, SOL_SOCKET, SO_ERROR, [0], [4]) = 0\n",
];

fn seeds() -> Vec<Vec<u8>> {
    let client = "--tolerance_usecs=10\n--mtu=600\n0...1 connect(3, ..., ...) = -1 EINPROGRESS (now)\n";
    let with = MORE.iter().map(|more| format!("{LISTEN}{more}"));
    with.chain([client.to_owned()]).map(String::into_bytes).collect()
}

fn run(octets: &[u8]) -> u64 {
    let text = String::from_utf8_lossy(octets);
    let judged = |over_mptcp| -> Outcome {
        let options = Options { over_mptcp, ..Options::default() };
        judge(&text, &options, &mut |_, _| Ok(()))
    };
    let (plain, over) = (judged(false), judged(true));
    assert_eq!(judged(false), plain, "the same text ends otherwise");
    let lines = u32::try_from(text.lines().count() + 1).unwrap_or(u32::MAX);
    for report in [&plain.report, &over.report] {
        let place = report.why.as_ref().map(|w| w.line).or(report.mismatch.as_ref().map(|m| m.line));
        let passed = matches!(report.status, Status::Passed | Status::Noted);
        assert_eq!(place.is_none(), passed, "{report:?}");
        assert!(place.is_none_or(|line| line <= lines), "{report:?}");
    }
    kind((plain.report.status.name(), plain.report.events, over.report.status.name(), over.report.events))
}
