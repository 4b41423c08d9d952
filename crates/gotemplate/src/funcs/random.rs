//! Random text and numbers, out of the random bytes that the host gives.

use gostd::base64;

use super::args::{int, text};
use super::convert::made_length;
use super::text::runes;
use crate::Context;
use crate::error::CallError;
use crate::function::Function;
use crate::value::{Type, Value};

const LETTERS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const DIGITS: &str = "0123456789";
const ALPHANUMERIC: &str = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

pub(super) const FUNCS: &[Function] = &[
    Function::new("randAlpha", &[Type::INT], rand_alpha),
    Function::new("randAlphaNum", &[Type::INT], rand_alpha_num),
    Function::new("randAscii", &[Type::INT], rand_ascii),
    Function::new("randBytes", &[Type::INT], rand_bytes),
    Function::new("randInt", &[Type::INT, Type::INT], rand_int),
    Function::new("randNumeric", &[Type::INT], rand_numeric),
    Function::new("shuffle", &[Type::String], shuffle),
    Function::new("uuidv4", &[], uuidv4),
];

fn rand_alpha(context: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    random_text(context, int(args, 0), LETTERS.as_bytes())
}

fn rand_alpha_num(context: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    random_text(context, int(args, 0), ALPHANUMERIC.as_bytes())
}

fn rand_numeric(context: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    random_text(context, int(args, 0), DIGITS.as_bytes())
}

fn rand_ascii(context: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    random_text(context, int(args, 0), &(b' '..=b'~').collect::<Vec<_>>())
}

/// So many characters of an alphabet, none for a number below 0.
fn random_text(context: &Context<'_>, count: i64, alphabet: &[u8]) -> Result<Value, CallError> {
    let count = usize::try_from(count).unwrap_or(0);
    context.check_length(count)?;
    let mut out = Vec::with_capacity(count);
    // The largest multiple of the alphabet's length: bytes from there on would favour its beginning.
    let fair = 256 - 256 % alphabet.len();
    let mut bytes = [0; 64];
    while out.len() < count {
        context.fill_random(&mut bytes)?;
        let fair_bytes = bytes.iter().map(|byte| usize::from(*byte)).filter(|byte| *byte < fair);
        out.extend(fair_bytes.map(|byte| alphabet[byte % alphabet.len()]).take(count - out.len()));
    }
    Ok(out.into())
}

fn rand_bytes(context: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let count = made_length(int(args, 0))?;
    context.check_length(count)?;
    let mut bytes = vec![0; count];
    context.fill_random(&mut bytes)?;
    Ok(base64::encode(&bytes).into())
}

fn rand_int(context: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let (least, end) = (int(args, 0), int(args, 1));
    let count = u64::try_from(end.wrapping_sub(least)).ok().filter(|count| *count > 0);
    let number = below(context, count.ok_or("invalid argument to Intn")?)?;
    Ok(Value::int(least.wrapping_add_unsigned(number)))
}

/// A random number below `count`, which is not 0.
fn below(context: &Context<'_>, count: u64) -> Result<u64, CallError> {
    let fair = u64::MAX - u64::MAX % count;
    loop {
        let mut bytes = [0; 8];
        context.fill_random(&mut bytes)?;
        let number = u64::from_le_bytes(bytes);
        if number < fair {
            return Ok(number % count);
        }
    }
}

fn shuffle(context: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let mut characters: Vec<char> = runes(text(args, 0)).collect();
    for last in (1..characters.len()).rev() {
        let other = below(context, last as u64 + 1)?;
        characters.swap(last, usize::try_from(other).unwrap_or(last));
    }
    Ok(characters.into_iter().collect::<String>().into())
}

fn uuidv4(context: &mut Context<'_>, _: &[Value]) -> Result<Value, CallError> {
    let mut bytes = [0; 16];
    context.fill_random(&mut bytes)?;
    // Version 4, variant 1 of RFC 9562.
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let hex: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let parts = [&hex[..4], &hex[4..6], &hex[6..8], &hex[8..10], &hex[10..]];
    Ok(parts.map(<[String]>::concat).join("-").into())
}
