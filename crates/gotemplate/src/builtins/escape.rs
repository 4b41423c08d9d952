//! `html js urlquery`: in go values, out comes their text as `print` makes it, escaped.

use std::borrow::Cow;
use std::fmt::Write as _;

use gostd::characters;
use gostd::unicode::is_print;

use crate::context::Context;
use crate::error::CallError;
use crate::fmt::sprint;
use crate::value::{Str, Value};

pub(super) fn html(context: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let text = text(context, args)?;
    let mut out = Vec::with_capacity(text.len());
    for byte in text.iter() {
        match byte {
            0 => out.extend_from_slice("\u{fffd}".as_bytes()),
            b'"' => out.extend_from_slice(b"&#34;"),
            b'\'' => out.extend_from_slice(b"&#39;"),
            b'&' => out.extend_from_slice(b"&amp;"),
            b'<' => out.extend_from_slice(b"&lt;"),
            b'>' => out.extend_from_slice(b"&gt;"),
            byte => out.push(*byte),
        }
    }
    Ok(out.into())
}

pub(super) fn js(context: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let text = text(context, args)?;
    let mut out = String::with_capacity(text.len());
    let mut bytes = Vec::new();
    for character in characters(&text) {
        let c = match character {
            Ok(c) => c,
            Err(byte) => {
                // Printable as U+FFFD is, the byte stays what it is.
                bytes.extend_from_slice(out.as_bytes());
                bytes.push(byte);
                out.clear();
                continue;
            }
        };
        match c {
            '\\' => out.push_str("\\\\"),
            '\'' => out.push_str("\\'"),
            '"' => out.push_str("\\\""),
            '<' | '>' | '&' | '=' | '\0'..='\u{1f}' => push_code(&mut out, c),
            _ if c.is_ascii() || is_print(c) => out.push(c),
            _ => push_code(&mut out, c),
        }
    }
    bytes.extend_from_slice(out.as_bytes());
    Ok(bytes.into())
}

fn push_code(out: &mut String, c: char) {
    let _ = write!(out, "\\u{:04X}", c as u32);
}

/// `url.QueryEscape`.
pub(super) fn urlquery(context: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let text = text(context, args)?;
    let mut out = Vec::with_capacity(text.len());
    for byte in text.iter() {
        match byte {
            b' ' => out.push(b'+'),
            b'-' | b'_' | b'.' | b'~' => out.push(*byte),
            _ if byte.is_ascii_alphanumeric() => out.push(*byte),
            _ => {
                let hex = b"0123456789ABCDEF";
                out.extend([b'%', hex[usize::from(byte >> 4)], hex[usize::from(byte & 15)]]);
            }
        }
    }
    Ok(out.into())
}

/// The arguments as `print` would write them, but for nil, which is no value.
fn text<'v>(context: &Context<'_>, args: &'v [Value]) -> Result<Cow<'v, [u8]>, CallError> {
    if let [Value::Str(text)] = args {
        return Ok(Cow::Borrowed(Str::as_bytes(text)));
    }
    let printable: Vec<Value> = args
        .iter()
        .map(|arg| if matches!(arg, Value::Nil) { Value::from("<no value>") } else { arg.clone() })
        .collect();
    Ok(Cow::Owned(sprint(&printable, context.options().limits.output)?))
}
