//! Go's `fmt` and the parts of `strconv` it rests on: in go values and perhaps a format, out comes
//! text as Go prints it, wrong verbs and missing arguments included.
//!
//! Refused: text beyond a length that the caller gives, and values nested deeper than
//! a thousand levels, for a template can make a map contain itself.

mod float;
mod format;
mod number;
mod print;
mod scalar;

use crate::error::CallError;
use crate::value::Value;

pub use float::format_float;

pub(crate) use print::{is_string, print_plain};
pub(crate) use scalar::can_backquote;

use print::Printer;

/// `fmt.Sprintf`.
///
/// # Errors
/// If the text is longer than `limit` bytes or a value nested too deep.
pub fn sprintf(format: &[u8], args: &[Value], limit: usize) -> Result<Vec<u8>, CallError> {
    let mut out = Vec::with_capacity(format.len());
    Printer::new(&mut out, limit).printf(format, args)?;
    Ok(out)
}

/// `fmt.Sprint`: a space between two operands of which neither is a string.
///
/// # Errors
/// If the text is longer than `limit` bytes or a value nested too deep.
pub fn sprint(args: &[Value], limit: usize) -> Result<Vec<u8>, CallError> {
    let mut out = Vec::new();
    let mut after_string = true;
    for arg in args {
        let string = is_string(arg);
        if !string && !after_string {
            out.push(b' ');
        }
        print_plain(&mut out, arg, limit)?;
        after_string = string;
    }
    Ok(out)
}

/// `fmt.Sprintln`: a space between all operands, and the end of a line.
///
/// # Errors
/// If the text is longer than `limit` bytes or a value nested too deep.
pub fn sprintln(args: &[Value], limit: usize) -> Result<Vec<u8>, CallError> {
    let mut out = Vec::new();
    for (index, arg) in args.iter().enumerate() {
        if index > 0 {
            out.push(b' ');
        }
        print_plain(&mut out, arg, limit)?;
    }
    out.push(b'\n');
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn print_puts_spaces_between_operands_that_are_no_strings() {
        let text = |args: &[Value]| String::from_utf8(sprint(args, 100).unwrap()).unwrap();
        assert_eq!(text(&["a".into(), "b".into()]), "ab");
        assert_eq!(text(&[Value::int(1), "a".into(), Value::int(2)]), "1a2");
        assert_eq!(text(&[Value::int(1), Value::int(2), true.into()]), "1 2 true");
        assert_eq!(text(&[Value::Nil, Value::Nil]), "<nil> <nil>");
    }
}
