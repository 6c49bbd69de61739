//! Reads MPTCP options from a script.

use super::super::cursor::{Cursor, Parsed};
use super::option::{Check, FLAGS, Hmac, Key, Mp, Number, Place, Proof, Token};

type Read = fn(&mut Cursor<'_>) -> Parsed<Mp>;

/// The options by the word they begin with. `mp_octets` is this runner's own.
pub const TABLE: &[(&str, Read)] = &[
    ("mpcapable", capable),
    ("mp_join_syn_ack", join_syn_ack),
    ("mp_join_syn", join_syn),
    ("mp_join_ack", |c| Ok(Mp::JoinAck(hmac(c)?))),
    ("dss", dss),
    ("add_address", add_address),
    ("remove_address", remove_address),
    ("mp_prio", |c| Ok(Mp::Prio(backup(c)?, address_id(c)?))),
    ("mp_fail", fail),
    ("mp_fastclose", fastclose),
    ("mp_reset", reset),
    ("mp_octets", |c| Ok(Mp::Octets(c.octets()?))),
];

fn capable(c: &mut Cursor<'_>) -> Parsed<Mp> {
    let from = c.clone();
    let Some(version) = c.word()?.strip_prefix('v').and_then(|v| v.parse().ok()).filter(|v| *v < 16) else {
        return from.fail(format!("{} where a version was expected: v0 to v15", from.here()));
    };
    let flags = flags(c)?;
    let mut keys = Vec::new();
    if !c.eat_word("nokey")? {
        c.expect("key")?;
        c.expect("[")?;
        keys.push(key(c)?);
        if c.eat(",")? {
            keys.push(key(c)?);
        }
        c.expect("]")?;
    }
    let mut data = None;
    if c.eat_word("mpcdatalen")? {
        let len = c.number("a data-level length (16 bits)")?;
        // Without a word about it the option has no checksum.
        let check = if c.at_word("cksum") { check(c)? } else { Check::Without };
        data = Some((len, check));
    }
    Ok(Mp::Capable { version, flags, keys, data })
}

fn flags(c: &mut Cursor<'_>) -> Parsed<u8> {
    c.expect("flags")?;
    if !c.eat("[")? {
        return c.number("flags (8 bits)");
    }
    let mut flags = 0;
    loop {
        let from = c.clone();
        let word = c.word()?;
        match FLAGS.iter().position(|flag| *flag == word) {
            Some(i) => flags |= 0x80 >> i,
            None if word == "no_flags" => {}
            None => return from.fail(format!("\"{word}\" is no flag; flags: no_flags, {}", FLAGS.join(", "))),
        }
        if !c.eat(",")? {
            c.expect("]")?;
            return Ok(flags);
        }
    }
}

fn key(c: &mut Cursor<'_>) -> Parsed<Key> {
    let name = name(c, "a name of a key")?;
    let value = if c.eat("=")? { Some(wide(c)?) } else { None };
    Ok(Key { name, value })
}

fn name(c: &mut Cursor<'_>, what: &str) -> Parsed<String> {
    let from = c.clone();
    let word = c.word()?;
    let is_name = word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if is_name { Ok(word) } else { from.fail(format!("{} where {what} was expected", from.here())) }
}

/// A number of 64 bits, without a sign.
fn wide(c: &mut Cursor<'_>) -> Parsed<u64> {
    let from = c.clone();
    let word = c.word()?;
    let read = match word.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => word.parse().ok(),
    };
    match read {
        Some(n) => Ok(n),
        None => from.fail(format!("{} where a number of 64 bits was expected", from.here())),
    }
}

fn backup(c: &mut Cursor<'_>) -> Parsed<bool> {
    if !c.eat_word("backup")? {
        return Ok(false);
    }
    c.expect("=")?;
    let from = c.clone();
    match c.integer()? {
        0 => Ok(false),
        1 => Ok(true),
        n => from.fail(format!("backup={n}: the flag B is 0 or 1")),
    }
}

fn address_id(c: &mut Cursor<'_>) -> Parsed<Option<u8>> {
    if !c.eat_word("address_id")? {
        return Ok(None);
    }
    c.expect("=")?;
    if c.eat_word("auto")? { Ok(None) } else { c.number("an address identifier (8 bits)").map(Some) }
}

fn nonce(c: &mut Cursor<'_>) -> Parsed<Option<u32>> {
    if !c.eat_word("rand")? {
        return Ok(None);
    }
    c.expect("=")?;
    c.number("a random number (32 bits)").map(Some)
}

fn join_syn(c: &mut Cursor<'_>) -> Parsed<Mp> {
    let (backup, id) = (backup(c)?, address_id(c)?);
    c.expect("token")?;
    c.expect("=")?;
    let token = if c.eat_word("auto")? {
        Token::Auto
    } else if c.eat_word("sha256_32")? {
        c.expect("(")?;
        let name = name(c, "a name of a key")?;
        c.expect(")")?;
        Token::Of(name)
    } else {
        Token::Is(c.number("a token (32 bits)")?)
    };
    Ok(Mp::JoinSyn { backup, id, token, nonce: nonce(c)? })
}

fn join_syn_ack(c: &mut Cursor<'_>) -> Parsed<Mp> {
    let (backup, id) = (backup(c)?, address_id(c)?);
    let hmac = hmac(c)?;
    Ok(Mp::JoinSynAck { backup, id, hmac, nonce: nonce(c)? })
}

fn hmac(c: &mut Cursor<'_>) -> Parsed<Hmac> {
    c.expect("sender_hmac")?;
    c.expect("=")?;
    if c.eat_word("auto")? {
        return Ok(Hmac::Auto);
    }
    if !c.eat_word("full_160_hmac")? {
        c.expect("trunc_l64_hmac")?;
    }
    c.expect("(")?;
    let hmac = if c.peek().is_some_and(|c| c.is_ascii_digit()) {
        Hmac::Is(wide(c)?)
    } else {
        Hmac::Of(name(c, "a name of a key")?, name(c, "a name of a key")?)
    };
    c.expect(")")?;
    Ok(hmac)
}

/// `dack8`, `dack8=auto`, `dack8=7`, `dack8=trunc_r64_hmac(skey)+7`; `None` if none of these follows.
fn number(c: &mut Cursor<'_>, [four, eight]: [&str; 2]) -> Parsed<Option<Number>> {
    let long = c.eat_word(eight)?;
    if !long && !c.eat_word(four)? {
        return Ok(None);
    }
    let mut number = Number { eight: long, value: None, key: None };
    if !c.eat("=")? || c.eat_word("auto")? {
        return Ok(Some(number));
    }
    if c.eat_word("trunc_r64_hmac")? {
        c.expect("(")?;
        number.key = Some(name(c, "a name of a key")?);
        c.expect(")")?;
        number.value = Some(if c.eat("+")? { wide(c)? } else { 0 });
    } else {
        number.value = Some(wide(c)?);
    }
    Ok(Some(number))
}

fn check(c: &mut Cursor<'_>) -> Parsed<Check> {
    if c.eat_word("nocs")? {
        return Ok(Check::Without);
    }
    if !c.eat_word("cksum")? {
        return Ok(Check::Auto);
    }
    c.expect("=")?;
    if c.eat_word("auto")? { Ok(Check::Auto) } else { c.number("a checksum (16 bits)").map(Check::Is) }
}

fn dss(c: &mut Cursor<'_>) -> Parsed<Mp> {
    let ack = number(c, ["dack4", "dack8"])?;
    let dsn = number(c, ["dsn4", "dsn8"])?;
    let mut ssn = None;
    if c.eat_word("ssn")? {
        c.expect("=")?;
        ssn = Some(c.number("a subflow sequence number (32 bits)")?);
    }
    let mut len = None;
    if c.eat_word("dll")? {
        c.expect("=")?;
        len = Some(c.number("a data-level length (16 bits)")?);
    }
    let check = check(c)?;
    let fin = c.eat_word("fin")?;
    Ok(Mp::Dss { ack, dsn, ssn, len, check, fin })
}

fn add_address(c: &mut Cursor<'_>) -> Parsed<Mp> {
    let id = address_id(c)?;
    c.expect("addr")?;
    let place = place(c)?;
    let mut port = None;
    if c.eat_word("port")? {
        c.expect("=")?;
        port = Some(c.number("a port (16 bits)")?);
    }
    if c.eat_word("addr_echo")? {
        return Ok(Mp::AddAddr { id, place, port, proof: Proof::Echo });
    }
    c.expect("hmac")?;
    c.expect("=")?;
    let proof = if c.eat_word("auto")? { Proof::Auto } else { Proof::Is(wide(c)?) };
    Ok(Mp::AddAddr { id, place, port, proof })
}

/// `[name]` or `[name=inet_addr("192.0.2.1")]`.
///
/// # Errors
/// If it is neither.
pub fn place(c: &mut Cursor<'_>) -> Parsed<Place> {
    c.expect("[")?;
    let name = name(c, "a name of an address")?;
    let mut addr = None;
    if c.eat("=")? {
        if !c.eat_word("inet_addr")? {
            c.expect("inet6_addr")?;
        }
        c.expect("(")?;
        c.expect("\"")?;
        let from = c.clone();
        let text = c.until("\"")?;
        c.space()?;
        let Ok(read) = text.parse() else { return from.fail(format!("\"{text}\" is no IP address")) };
        addr = Some(read);
        c.expect(")")?;
    }
    c.expect("]")?;
    Ok(Place { name, addr })
}

fn remove_address(c: &mut Cursor<'_>) -> Parsed<Mp> {
    c.expect("address_id")?;
    c.expect("=")?;
    c.expect("[")?;
    let mut ids = vec![c.number("an address identifier (8 bits)")?];
    while c.eat(",")? {
        ids.push(c.number("an address identifier (8 bits)")?);
    }
    c.expect("]")?;
    Ok(Mp::RemoveAddr(ids))
}

fn fail(c: &mut Cursor<'_>) -> Parsed<Mp> {
    // RFC 8684 3.7: always 64 bits.
    let any = Number { eight: true, value: None, key: None };
    if c.at_word("dsn4") {
        return c.fail("MP_FAIL has a data sequence number of 64 bits: mp_fail dsn8=...");
    }
    Ok(Mp::Fail(number(c, ["dsn8", "dsn8"])?.unwrap_or(any)))
}

fn fastclose(c: &mut Cursor<'_>) -> Parsed<Mp> {
    if !c.peek().is_some_and(|c| c.is_ascii_alphabetic() || c == '_') {
        return Ok(Mp::Fastclose(None, 0));
    }
    let key = key(c)?;
    let more = if c.eat("+")? { wide(c)? } else { 0 };
    Ok(Mp::Fastclose(Some(key), more))
}

fn reset(c: &mut Cursor<'_>) -> Parsed<Mp> {
    let reason = c.number("a reason (8 bits)")?;
    let mut transient = false;
    if c.eat_word("flags")? {
        c.expect("[")?;
        transient = c.eat_word("flag_t")?;
        if !transient {
            c.expect("no_flags")?;
        }
        c.expect("]")?;
    }
    Ok(Mp::Reset(reason, transient))
}
