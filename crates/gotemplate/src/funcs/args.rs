//! Arguments that the executor has checked: in goes their place, out comes what they hold.

use crate::value::Value;

/// The string at `index`.
pub(super) fn text(args: &[Value], index: usize) -> &[u8] {
    match args.get(index) {
        Some(Value::Str(text)) => text,
        _ => b"",
    }
}

/// The string at `index`, with U+FFFD for what is not UTF-8.
pub(super) fn lossy(args: &[Value], index: usize) -> String {
    String::from_utf8_lossy(text(args, index)).into_owned()
}

/// The integer at `index`.
pub(super) fn int(args: &[Value], index: usize) -> i64 {
    args.get(index).and_then(Value::as_int).unwrap_or(0)
}
