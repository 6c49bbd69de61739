//! System calls of the application: the effect of each on the engine, and its return value.

mod descriptors;
mod opening;
mod options;
mod transfer;
mod waiting;

use anabranch_sim::scenario::nearest::did_you_mean;

use super::ast::{Call, Expr};
use super::host::Host;
use super::report::{Step, Stop};
use super::settings::Settings;
use super::sockets::{Sockets, Tcp};

/// Port that packetdrill binds and connects to by default.
pub const PORT: u16 = 8080;

/// Outcome of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Returned {
    /// The call returns this number.
    Value(i64),
    /// The call returns -1 with this errno.
    Error(&'static str),
    /// The call blocks.
    Blocks,
}

/// State that system calls read and change.
pub struct System<'a> {
    /// The engine.
    pub host: &'a mut Host,
    /// Descriptors of the application.
    pub sockets: &'a mut Sockets,
    /// Configuration.
    pub settings: &'a mut Settings,
    /// Octets that the call has transferred so far, counted over its retries.
    pub progress: &'a mut u64,
    /// Line number of the call in the script.
    pub line: u32,
}

type Function = fn(&mut System<'_>, &Call) -> Step<Returned>;

/// Supported calls, by name.
const TABLE: &[(&str, Function)] = &[
    ("socket", |s, c| s.socket(c)),
    ("bind", |s, c| s.bind(c)),
    ("listen", |s, c| s.listen(c)),
    ("accept", |s, c| s.accept(c)),
    ("accept4", |s, c| s.accept(c)),
    ("connect", |s, c| s.connect(c)),
    ("read", |s, c| s.read(c)),
    ("readv", |s, c| s.readv(c)),
    ("recv", |s, c| s.recv(c)),
    ("recvfrom", |s, c| s.recv(c)),
    ("recvmsg", |s, c| s.recvmsg(c)),
    ("write", |s, c| s.write(c)),
    ("writev", |s, c| s.writev(c)),
    ("send", |s, c| s.send(c)),
    ("sendto", |s, c| s.send(c)),
    ("sendmsg", |s, c| s.sendmsg(c)),
    ("sendfile", |s, c| s.sendfile(c)),
    ("splice", |s, c| s.splice(c)),
    ("close", |s, c| s.close(c)),
    ("shutdown", |s, c| s.shutdown(c)),
    ("setsockopt", |s, c| s.setsockopt(c)),
    ("getsockopt", |s, c| s.getsockopt(c)),
    ("fcntl", |s, c| s.fcntl(c)),
    ("ioctl", |s, c| s.ioctl(c)),
    ("poll", |s, c| s.poll(c)),
    ("epoll_create", |s, c| s.epoll_create(c)),
    ("epoll_create1", |s, c| s.epoll_create(c)),
    ("epoll_ctl", |s, c| s.epoll_ctl(c)),
    ("epoll_wait", |s, c| s.epoll_wait(c)),
    ("open", |s, c| s.open(c)),
    ("pipe", |s, c| s.pipe(c)),
];

/// Carries out a call.
///
/// # Errors
/// If the call is not supported, its arguments are invalid, or an output argument differs from the
/// script.
pub fn call(system: &mut System<'_>, call: &Call) -> Step<Returned> {
    let Some((_, function)) = TABLE.iter().find(|(name, _)| *name == call.name) else {
        let names: Vec<_> = TABLE.iter().map(|(name, _)| *name).collect();
        return Stop::lacks(format!(
            "the call {}: {}calls: {}",
            call.name,
            did_you_mean(&call.name, &names),
            names.join(", ")
        ));
    };
    function(system, call)
}

impl System<'_> {
    /// Returns the TCP socket of the call's first argument, or the call's error if the descriptor
    /// is not a TCP socket.
    fn tcp(&mut self, call: &Call) -> Step<Result<&mut Tcp, Returned>> {
        let fd = call.int(0)?;
        Ok(match self.sockets.get(fd) {
            None => Err(Returned::Error("EBADF")),
            Some(_) => self.sockets.tcp(fd).ok_or(Returned::Error("ENOTSOCK")),
        })
    }
}

/// Formats the result that the script expects of a call, such as `read = -1 EAGAIN`.
pub fn expected(call: &Call) -> String {
    let value = call.result.as_ref().map_or("?".to_owned(), ToString::to_string);
    call.errno.as_ref().map_or(format!("{} = {value}", call.name), |errno| format!("{} = {value} {errno}", call.name))
}

/// Compares the result of a call with the result that the script expects.
///
/// # Errors
/// If value or errno differ.
pub fn judge(call: &Call, returned: Returned) -> Step<()> {
    let (value, error) = match returned {
        Returned::Value(n) => (n, None),
        Returned::Error(error) => (-1, Some(error)),
        Returned::Blocks => return Ok(()),
    };
    let same = match &call.result {
        None | Some(Expr::Any) => true,
        Some(wanted) => super::arguments::value(wanted)? == value,
    };
    // Both names have one number (errno.h of Linux and of the BSDs).
    let wanted = call.errno.as_deref().map(|errno| if errno == "EWOULDBLOCK" { "EAGAIN" } else { errno });
    if same && wanted.is_none_or(|errno| Some(errno) == error) {
        return Ok(());
    }
    let actual = error.map_or(format!("{} = {value}", call.name), |error| format!("{} = -1 {error}", call.name));
    Stop::differs(expected(call), actual)
}

/// Returns the descriptor that the script expects a call to return.
fn descriptor(call: &Call) -> Step<i64> {
    match &call.result {
        Some(Expr::Int(n)) => Ok(*n),
        Some(other) => Stop::wrong(format!("{other} where a descriptor was expected")),
        None => Stop::wrong(format!("{}: write the descriptor that the call returns, such as = 3", call.name)),
    }
}

/// Evaluates to the TCP socket of the call, or returns the call's error from the function.
macro_rules! socket {
    ($system:ident, $call:ident) => {
        match $system.tcp($call)? {
            Ok(tcp) => tcp,
            Err(returned) => return Ok(returned),
        }
    };
}
use socket;
