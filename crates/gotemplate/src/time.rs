//! Go's `time`: points in time, durations, and the layouts that they are written and read by.
//!
//! In go seconds since 1970, texts and names of time zones; out come texts as Go writes them.
//! Zones are those of the IANA database that is built in; one that it lacks is UTC.

mod calendar;
mod duration;
mod format;
mod instant;
mod layout;
mod object;
mod parse;
mod zone;

pub use calendar::{Month, Weekday};
pub use duration::Duration;
pub use instant::Time;
pub use zone::Zone;

pub(crate) use object::TIME;

const NANOSECONDS: i64 = 1_000_000_000;

/// Returns how Go's `time` quotes: bytes beyond ASCII and control characters in hexadecimal.
fn quote(text: &[u8]) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for byte in text {
        match byte {
            b'"' | b'\\' => out.extend(['\\', char::from(*byte)]),
            b' '..=0x7f => out.push(char::from(*byte)),
            _ => out.push_str(&format!("\\x{byte:02x}")),
        }
    }
    out.push('"');
    out
}
