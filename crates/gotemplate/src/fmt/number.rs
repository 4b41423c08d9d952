//! Integers, and the padding of everything: in go a number and flags, out comes its text.

use super::format::Flags;

/// The notation of an integer.
#[derive(Clone, Copy)]
pub(super) struct Notation {
    pub(super) base: u64,
    pub(super) upper: bool,
    /// The `0o` of `%O`.
    pub(super) octal_prefix: bool,
}

/// Writes an integer given as its magnitude and whether it is negative.
pub(super) fn push_integer(
    out: &mut Vec<u8>,
    flags: &Flags,
    magnitude: u64,
    negative: bool,
    notation: Notation,
) {
    let width = flags.width.unwrap_or(0);
    if flags.precision == Some(0) && magnitude == 0 {
        out.resize(out.len() + width, b' ');
        return;
    }
    let signed = negative || flags.plus || flags.space;
    let digits = match flags.precision {
        Some(precision) => precision,
        None if flags.zero && !flags.minus => width.saturating_sub(usize::from(signed)),
        None => 0,
    };
    // The number is written from its end.
    let mut text = Vec::new();
    push_digits(&mut text, magnitude, notation);
    if text.len() < digits {
        text.resize(digits, b'0');
    }
    push_prefix(&mut text, flags, notation);
    if negative {
        text.push(b'-');
    } else if flags.plus {
        text.push(b'+');
    } else if flags.space {
        text.push(b' ');
    }
    text.reverse();
    pad(out, &Flags { zero: false, ..*flags }, &text);
}

fn push_digits(text: &mut Vec<u8>, magnitude: u64, notation: Notation) {
    let digits = if notation.upper { b"0123456789ABCDEF" } else { b"0123456789abcdef" };
    let mut rest = magnitude;
    loop {
        text.push(digits[(rest % notation.base) as usize]);
        rest /= notation.base;
        if rest == 0 {
            return;
        }
    }
}

fn push_prefix(text: &mut Vec<u8>, flags: &Flags, notation: Notation) {
    if flags.sharp {
        match notation.base {
            2 => text.extend(b"b0"),
            8 if text.last() != Some(&b'0') => text.push(b'0'),
            16 => text.extend(if notation.upper { b"X0" } else { b"x0" }),
            _ => {}
        }
    }
    if notation.octal_prefix {
        text.extend(b"o0");
    }
}

/// Writes `U+0078`, with the character itself after it if asked for.
pub(super) fn push_unicode(out: &mut Vec<u8>, flags: &Flags, code: u64) {
    let digits = flags.precision.unwrap_or(0).max(4);
    let mut text = format!("U+{code:0width$X}", width = digits.min(1000)).into_bytes();
    if digits > 1000 {
        let zeros = digits - 1000;
        text.splice(2..2, std::iter::repeat_n(b'0', zeros));
    }
    let character = u32::try_from(code).ok().and_then(char::from_u32);
    if let Some(character) = character.filter(|c| flags.sharp && gostd::unicode::is_print(*c)) {
        text.extend(format!(" '{character}'").into_bytes());
    }
    pad(out, &Flags { zero: false, ..*flags }, &text);
}

/// Writes text in the width asked for, which counts characters.
pub(super) fn pad(out: &mut Vec<u8>, flags: &Flags, text: &[u8]) {
    let Some(width) = flags.width.filter(|width| *width > 0) else {
        out.extend_from_slice(text);
        return;
    };
    let missing = width.saturating_sub(gostd::characters(text).count());
    if flags.minus {
        out.extend_from_slice(text);
        out.resize(out.len() + missing, b' ');
    } else {
        out.resize(out.len() + missing, if flags.zero { b'0' } else { b' ' });
        out.extend_from_slice(text);
    }
}
