//! A host, and how its functions are guarded.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use anabranch_stack::host::{ByReference, ConnectionId, Endpoint};
use anabranch_stack::time::Instant;

use crate::managed::Managed;
use crate::status::{
    ANABRANCH_ARGUMENT, ANABRANCH_FORM, ANABRANCH_OK, ANABRANCH_PANIC, Fault, caught, check_size, fault, given, null,
    panicked, put, report,
};

/// A host with its connections: an opaque handle. One thread at a time may use it.
#[derive(Debug)]
pub struct anabranch_host {
    pub(crate) form: Form,
    pub(crate) managed: BTreeMap<ConnectionId, Managed>,
    /// First and last local port that the host draws.
    pub(crate) ports: (u16, u16),
    /// Buffer for headers and packets.
    pub(crate) buffer: Vec<u8>,
    now: Instant,
    panicked: bool,
}

/// The latest time and the longest duration in ns: their sums stay within 64 bits.
pub(crate) const LONGEST: u64 = 1 << 62;

/// Who keeps the octets.
#[derive(Debug)]
pub(crate) enum Form {
    Octets(Box<Endpoint>),
    Reference(Box<Endpoint<ByReference>>),
}

/// Evaluates an expression with the endpoint of either form.
macro_rules! each {
    ($host:expr, $e:ident => $call:expr) => {
        match &mut $host.form {
            $crate::host::Form::Octets($e) => $call,
            $crate::host::Form::Reference($e) => $call,
        }
    };
}
pub(crate) use each;

/// What a new host is. Set `size` to `sizeof(struct anabranch_host_options)` and the rest to zero
/// before you fill it in.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct anabranch_host_options {
    /// Octets of this struct.
    pub size: u32,
    /// Not 0: the caller keeps the octets, the host counts them.
    pub by_reference: u8,
    /// Not 0: timestamps show the caller's clock in ms. 0: each subflow adds an offset (RFC 7323
    /// 5.4).
    pub virtual_time: u8,
    /// First local port that the host draws; 0: 1024.
    pub first_port: u16,
    /// Last local port that the host draws; 0: 65535.
    pub last_port: u16,
    /// Zero.
    pub reserved: [u8; 6],
    /// Secret from which keys, sequence numbers and ports come. Unpredictable, and used only once.
    pub secret: [u8; 32],
}

/// Makes a host.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anabranch_host_new(
    options: *const anabranch_host_options,
    out: *mut *mut anabranch_host,
) -> i32 {
    caught(|| {
        // SAFETY: null is refused; else the struct begins with its size.
        let size = *unsafe { given(options.cast::<u32>(), "options") }? as usize;
        check_size::<anabranch_host_options>(size, "options")?;
        // SAFETY: the size says that the whole struct is there.
        let o = unsafe { given(options, "options") }?;
        let or = |port, usual| if port == 0 { usual } else { port };
        let ports = (or(o.first_port, 1024), or(o.last_port, u16::MAX));
        if ports.0 > ports.1 {
            let text = format!("first_port {} is above last_port {}", ports.0, ports.1);
            return fault(ANABRANCH_ARGUMENT, text);
        }
        if out.is_null() {
            return Err(null("out"));
        }
        let form = match (o.by_reference != 0, o.virtual_time != 0) {
            (false, false) => Form::Octets(Box::new(Endpoint::new(o.secret))),
            (false, true) => Form::Octets(Box::new(Endpoint::in_virtual_time(o.secret))),
            (true, false) => Form::Reference(Box::new(Endpoint::by_reference(o.secret))),
            (true, true) => Form::Reference(Box::new(Endpoint::by_reference_in_virtual_time(o.secret))),
        };
        let host = anabranch_host {
            form,
            managed: BTreeMap::new(),
            ports,
            buffer: Vec::new(),
            now: Instant::ZERO,
            panicked: false,
        };
        // SAFETY: `out` is not null; the caller passes a place for a pointer.
        unsafe { put(out, Box::into_raw(Box::new(host)), "out") }.map(|()| ANABRANCH_OK)
    })
}

/// Frees a host with all its connections; peers are told nothing. A null pointer is ignored.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anabranch_host_free(host: *mut anabranch_host) {
    if !host.is_null() {
        // SAFETY: the pointer came from `anabranch_host_new` and is freed once.
        let host = unsafe { Box::from_raw(host) };
        // What a panicked host was about to do may leave it in a state that cannot be dropped.
        let _ = catch_unwind(AssertUnwindSafe(|| drop(host)));
    }
}

impl anabranch_host {
    /// Advances the clock of the host.
    ///
    /// # Errors
    /// If time goes back, or beyond [`LONGEST`].
    pub(crate) fn at(&mut self, now: u64) -> Result<Instant, Fault> {
        if now < self.now.0 {
            let text = format!("now is {now} ns, before {} ns of an earlier call: time must not go back", self.now.0);
            return fault(ANABRANCH_ARGUMENT, text);
        }
        if now > LONGEST {
            return fault(ANABRANCH_ARGUMENT, format!("now is {now} ns: at most {LONGEST}, which is 146 years"));
        }
        self.now = Instant(now);
        Ok(self.now)
    }

    pub(crate) fn octets(&mut self) -> Result<&mut Endpoint, Fault> {
        match &mut self.form {
            Form::Octets(e) => Ok(e),
            Form::Reference(_) => fault(ANABRANCH_FORM, "the host is by reference and keeps no octets"),
        }
    }

    pub(crate) fn reference(&mut self) -> Result<&mut Endpoint<ByReference>, Fault> {
        match &mut self.form {
            Form::Reference(e) => Ok(e),
            Form::Octets(_) => fault(ANABRANCH_FORM, "the host keeps octets: set by_reference when you make it"),
        }
    }
}

/// Runs `call` with the host, catches panics, and stores the text of an error.
///
/// # Safety
/// `host` is null or came from `anabranch_host_new`, is not freed, and no other thread uses it.
pub(crate) unsafe fn guarded(
    host: *mut anabranch_host,
    call: impl FnOnce(&mut anabranch_host) -> Result<i32, Fault>,
) -> i32 {
    // SAFETY: as this function's caller promises.
    let Some(host) = (unsafe { host.as_mut() }) else { return report(null("host")) };
    let poisoned = "the engine panicked in an earlier call: free the host, and report the scenario";
    if host.panicked {
        return report(Fault { code: ANABRANCH_PANIC, text: poisoned.to_owned() });
    }
    match catch_unwind(AssertUnwindSafe(|| call(host))) {
        Ok(Ok(code)) => code,
        Ok(Err(fault)) => report(fault),
        Err(panic) => {
            host.panicked = true;
            report(panicked(&*panic))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ptr::null_mut;

    use super::*;
    use crate::events::anabranch_poll_event;
    use crate::packets::{anabranch_handle_timeout, anabranch_poll_timeout};
    use crate::status::anabranch_last_error;
    use crate::stream::anabranch_close;

    #[test]
    fn after_a_panic_the_host_answers_only_with_its_code() {
        let options = anabranch_host_options {
            size: size_of::<anabranch_host_options>() as u32,
            by_reference: 0,
            virtual_time: 0,
            first_port: 0,
            last_port: 0,
            reserved: [0; 6],
            secret: [1; 32],
        };
        let (mut panics, mut other) = (null_mut(), null_mut());
        let text = || {
            // SAFETY: the text stays valid until the next error of this thread.
            unsafe { std::ffi::CStr::from_ptr(anabranch_last_error()) }.to_str().expect("UTF-8").to_owned()
        };
        // SAFETY: the pointers are those of this test, and each host is freed once.
        unsafe {
            assert_eq!(anabranch_host_new(&options, &mut panics), ANABRANCH_OK);
            assert_eq!(anabranch_host_new(&options, &mut other), ANABRANCH_OK);
            let hook = std::panic::take_hook();
            std::panic::set_hook(Box::new(|_| {}));
            assert_eq!(guarded(panics, |_| panic!("on purpose, {}", 7)), ANABRANCH_PANIC);
            std::panic::set_hook(hook);
            assert_eq!(text(), "the engine panicked: on purpose, 7");
            let mut at = 0;
            assert_eq!(anabranch_poll_timeout(panics, &mut at), ANABRANCH_PANIC);
            assert_eq!(anabranch_handle_timeout(panics, 5), ANABRANCH_PANIC);
            assert_eq!(anabranch_poll_event(panics, null_mut()), ANABRANCH_PANIC);
            assert_eq!(anabranch_close(panics, 1), ANABRANCH_PANIC);
            assert!(text().starts_with("the engine panicked in an earlier call: free the host"), "{}", text());
            assert_eq!(anabranch_handle_timeout(other, 5), ANABRANCH_OK);
            anabranch_host_free(panics);
            anabranch_host_free(other);
        }
    }

    /// A panic that leaves a function of the C interface ends the whole program.
    #[test]
    fn every_function_catches_panics() {
        let sources = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/src")).expect("a folder");
        let mut functions = 0;
        for source in sources {
            let text = std::fs::read_to_string(source.expect("a file").path()).expect("text");
            for function in text.split("#[unsafe(no_mangle)]\n").skip(1) {
                let (name, body) = function.split_once('(').expect("a function");
                let body = body.split_once("\n}\n").expect("its end").0;
                let catches = ["guarded(", "caught(", "catch_unwind("].iter().any(|c| body.contains(c));
                assert!(catches || name.ends_with("anabranch_last_error"), "{name} catches no panics");
                functions += 1;
            }
        }
        assert!(functions > 30, "{functions} functions");
    }
}
