//! Prints MPTCP options as scripts write them.

use std::fmt;
use std::net::IpAddr;

use super::option::{Check, FLAGS, Hmac, Key, Mp, Number, Place, Proof, Token};

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.value {
            None => f.write_str(&self.name),
            Some(value) => write!(f, "{}={value:#x}", self.name),
        }
    }
}

impl fmt::Display for Hmac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str(" sender_hmac=auto"),
            Self::Is(n) => write!(f, " sender_hmac=trunc_l64_hmac({n:#x})"),
            Self::Of(a, b) => write!(f, " sender_hmac=full_160_hmac({a} {b})"),
        }
    }
}

fn show_number(f: &mut fmt::Formatter<'_>, names: [&str; 2], number: Option<&Number>) -> fmt::Result {
    let Some(n) = number else { return Ok(()) };
    write!(f, " {}", names[usize::from(n.eight)])?;
    match (&n.key, n.value) {
        (_, None) => Ok(()),
        (None, Some(value)) => write!(f, "={value}"),
        (Some(key), Some(value)) => write!(f, "=trunc_r64_hmac({key})+{value}"),
    }
}

fn show_check(f: &mut fmt::Formatter<'_>, check: Check) -> fmt::Result {
    match check {
        Check::Without => f.write_str(" nocs"),
        Check::Auto => f.write_str(" cksum=auto"),
        Check::Is(n) => write!(f, " cksum={n:#06x}"),
    }
}

fn show_one<T: fmt::Display>(f: &mut fmt::Formatter<'_>, name: &str, value: Option<T>) -> fmt::Result {
    value.map_or(Ok(()), |value| write!(f, " {name}={value}"))
}

fn show_capable(
    f: &mut fmt::Formatter<'_>,
    (version, flags): (u8, u8),
    keys: &[Key],
    data: Option<(u16, Check)>,
) -> fmt::Result {
    let set: Vec<_> = (0..8).filter(|i| flags & 0x80 >> i != 0).map(|i| FLAGS[i]).collect();
    let set = if set.is_empty() { "no_flags".to_owned() } else { set.join(", ") };
    write!(f, "mpcapable v{version} flags[{set}]")?;
    let keys: Vec<_> = keys.iter().map(ToString::to_string).collect();
    match keys.is_empty() {
        true => f.write_str(" nokey")?,
        false => write!(f, " key[{}]", keys.join(", "))?,
    }
    let Some((len, check)) = data else { return Ok(()) };
    write!(f, " mpcdatalen {len}")?;
    if check == Check::Without { Ok(()) } else { show_check(f, check) }
}

fn show_address(
    f: &mut fmt::Formatter<'_>,
    id: Option<u8>,
    place: &Place,
    (port, proof): (Option<u16>, Proof),
) -> fmt::Result {
    f.write_str("add_address")?;
    show_one(f, "address_id", id)?;
    match place.addr {
        None => write!(f, " addr[{}]", place.name)?,
        Some(IpAddr::V4(addr)) => write!(f, " addr[{}=inet_addr(\"{addr}\")]", place.name)?,
        Some(IpAddr::V6(addr)) => write!(f, " addr[{}=inet6_addr(\"{addr}\")]", place.name)?,
    }
    show_one(f, "port", port)?;
    match proof {
        Proof::Echo => f.write_str(" addr_echo"),
        Proof::Auto => f.write_str(" hmac=auto"),
        Proof::Is(n) => write!(f, " hmac={n:#018x}"),
    }
}

impl fmt::Display for Mp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let flag = |backup: bool| if backup { " backup=1" } else { "" };
        match self {
            Self::Capable { version, flags, keys, data } => show_capable(f, (*version, *flags), keys, *data),
            Self::JoinSyn { backup, id, token, nonce } => {
                write!(f, "mp_join_syn{}", flag(*backup))?;
                show_one(f, "address_id", *id)?;
                match token {
                    Token::Auto => f.write_str(" token=auto")?,
                    Token::Is(n) => write!(f, " token={n:#010x}")?,
                    Token::Of(key) => write!(f, " token=sha256_32({key})")?,
                }
                show_one(f, "rand", *nonce)
            }
            Self::JoinSynAck { backup, id, hmac, nonce } => {
                write!(f, "mp_join_syn_ack{}", flag(*backup))?;
                show_one(f, "address_id", *id)?;
                write!(f, "{hmac}")?;
                show_one(f, "rand", *nonce)
            }
            Self::JoinAck(hmac) => write!(f, "mp_join_ack{hmac}"),
            Self::Dss { ack, dsn, ssn, len, check, fin } => {
                f.write_str("dss")?;
                show_number(f, ["dack4", "dack8"], ack.as_ref())?;
                show_number(f, ["dsn4", "dsn8"], dsn.as_ref())?;
                show_one(f, "ssn", *ssn)?;
                show_one(f, "dll", *len)?;
                show_check(f, *check)?;
                f.write_str(if *fin { " fin" } else { "" })
            }
            Self::AddAddr { id, place, port, proof } => show_address(f, *id, place, (*port, *proof)),
            Self::RemoveAddr(ids) => {
                let ids: Vec<_> = ids.iter().map(ToString::to_string).collect();
                write!(f, "remove_address address_id=[{}]", ids.join(", "))
            }
            Self::Prio(backup, id) => {
                write!(f, "mp_prio backup={}", u8::from(*backup))?;
                show_one(f, "address_id", *id)
            }
            Self::Fail(dsn) => {
                f.write_str("mp_fail")?;
                show_number(f, ["dsn8", "dsn8"], Some(dsn))
            }
            Self::Fastclose(None, _) => f.write_str("mp_fastclose"),
            Self::Fastclose(Some(key), 0) => write!(f, "mp_fastclose {key}"),
            Self::Fastclose(Some(key), more) => write!(f, "mp_fastclose {key} + {more}"),
            Self::Reset(reason, transient) => {
                write!(f, "mp_reset {reason}{}", if *transient { " flags[flag_t]" } else { "" })
            }
            Self::Octets(octets) => {
                f.write_str("mp_octets ")?;
                octets.iter().try_for_each(|octet| write!(f, "{octet:02x}"))
            }
        }
    }
}
