//! Numbers and strings under verbs: in goes one and the verb, out comes its text in the width and
//! form that the flags ask for.

use gostd::{characters, quoted, quoted_ascii, quoted_char};

use super::float::format_float;
use super::format::Flags;
use super::number::{Notation, pad, push_integer, push_unicode};
use super::print::Printer;
use crate::error::CallError;
use crate::value::Value;

impl Printer<'_> {
    pub(super) fn integer(
        &mut self,
        value: &Value,
        magnitude: u64,
        negative: bool,
        verb: char,
    ) -> Result<(), CallError> {
        let (base, upper, octal_prefix) = match verb {
            'v' if self.flags.sharp_v && matches!(value, Value::Uint(..)) => {
                self.flags.sharp = true;
                let notation = Notation { base: 16, upper: false, octal_prefix: false };
                push_integer(self.out, &self.flags, magnitude, negative, notation);
                self.flags.sharp = false;
                return Ok(());
            }
            'v' | 'd' => (10, false, false),
            'b' => (2, false, false),
            'o' => (8, false, false),
            'O' => (8, false, true),
            'x' => (16, false, false),
            'X' => (16, true, false),
            'c' | 'q' | 'U' => {
                self.character(if negative { magnitude.wrapping_neg() } else { magnitude }, verb);
                return Ok(());
            }
            _ => return self.bad_verb(value, verb),
        };
        push_integer(self.out, &self.flags, magnitude, negative, Notation { base, upper, octal_prefix });
        Ok(())
    }

    fn character(&mut self, code: u64, verb: char) {
        if verb == 'U' {
            push_unicode(self.out, &self.flags, code);
            return;
        }
        let known = u32::try_from(code).ok().and_then(char::from_u32);
        let character = known.unwrap_or(char::REPLACEMENT_CHARACTER);
        let text = if verb == 'q' { quoted_char(character, self.flags.plus) } else { character.to_string() };
        self.pad(text.as_bytes());
    }

    pub(super) fn float(&mut self, value: &Value, number: f64, verb: char) -> Result<(), CallError> {
        let Some((format, precision)) = float_format(verb) else { return self.bad_verb(value, verb) };
        self.float_as(number, format, precision);
        Ok(())
    }

    pub(super) fn complex(
        &mut self,
        value: &Value,
        real: f64,
        imaginary: f64,
        verb: char,
    ) -> Result<(), CallError> {
        let Some((format, precision)) = float_format(verb) else { return self.bad_verb(value, verb) };
        let plus = self.flags.plus;
        self.push("(");
        self.float_as(real, format, precision);
        self.flags.plus = true;
        self.float_as(imaginary, format, precision);
        self.push("i)");
        self.flags.plus = plus;
        Ok(())
    }

    fn float_as(&mut self, number: f64, format: u8, precision: Option<usize>) {
        let precision = self.flags.precision.or(precision);
        let mut text = format_float(number, format, precision);
        if !text.starts_with(['-', '+']) {
            text.insert(0, '+');
        }
        if self.flags.space && !self.flags.plus && text.starts_with('+') {
            text.replace_range(..1, " ");
        }
        if !number.is_finite() {
            let bare = number.is_nan() && !self.flags.space && !self.flags.plus;
            let shown = if bare { &text[1..] } else { &text[..] };
            pad(self.out, &Flags { zero: false, ..self.flags }, shown.as_bytes());
            return;
        }
        if self.flags.sharp && format != b'b' {
            text = with_point(&text, format, precision);
        }
        self.pad_signed(&text);
    }

    /// Writes a number whose first byte is its sign: zeros go between the sign and the digits.
    fn pad_signed(&mut self, text: &str) {
        let shown = if self.flags.plus || !text.starts_with('+') { text } else { &text[1..] };
        let width = self.flags.width.unwrap_or(0);
        if self.flags.zero && !self.flags.minus && shown.len() == text.len() && width > text.len() {
            self.push(&text[..1]);
            self.out.resize(self.out.len() + width - text.len(), b'0');
            self.push(&text[1..]);
            return;
        }
        self.pad(shown.as_bytes());
    }

    pub(super) fn string(&mut self, value: &Value, text: &[u8], verb: char) -> Result<(), CallError> {
        match verb {
            'v' if self.flags.sharp_v => self.string_quoted(text),
            'v' | 's' => self.string_cut(text),
            'q' => self.string_quoted(text),
            'x' | 'X' => self.string_hex(text, verb == 'X'),
            _ => return self.bad_verb(value, verb),
        }
        Ok(())
    }

    /// The characters that the precision asks for.
    fn cut<'t>(&self, text: &'t [u8]) -> &'t [u8] {
        let Some(precision) = self.flags.precision else { return text };
        let length =
            characters(text).take(precision).map(|character| character.map_or(1, char::len_utf8)).sum();
        &text[..length]
    }

    pub(super) fn string_cut(&mut self, text: &[u8]) {
        let text = self.cut(text);
        self.pad(text);
    }

    fn string_quoted(&mut self, text: &[u8]) {
        let text = self.cut(text);
        if self.flags.sharp && can_backquote(text) {
            let raw = [b"`", text, b"`"].concat();
            self.pad(&raw);
            return;
        }
        let literal = if self.flags.plus { quoted_ascii(text) } else { quoted(text) };
        self.pad(literal.as_bytes());
    }

    fn string_hex(&mut self, text: &[u8], upper: bool) {
        let text = &text[..text.len().min(self.flags.precision.unwrap_or(usize::MAX))];
        let digits = if upper { b"0123456789ABCDEF" } else { b"0123456789abcdef" };
        let mut hex = Vec::with_capacity(text.len() * 2);
        for (index, byte) in text.iter().enumerate() {
            if self.flags.space && index > 0 {
                hex.push(b' ');
            }
            if self.flags.sharp && (self.flags.space || index == 0) {
                hex.extend_from_slice(if upper { b"0X" } else { b"0x" });
            }
            hex.extend([digits[usize::from(byte >> 4)], digits[usize::from(byte & 15)]]);
        }
        self.pad(&hex);
    }
}

/// The format letter and default precision that a verb stands for.
fn float_format(verb: char) -> Option<(u8, Option<usize>)> {
    Some(match verb {
        'v' => (b'g', None),
        'b' | 'g' | 'G' | 'x' | 'X' => (verb as u8, None),
        'e' | 'E' | 'f' => (verb as u8, Some(6)),
        'F' => (b'f', Some(6)),
        _ => return None,
    })
}

/// Gives a signed number the point and the zeros that `#` asks for.
fn with_point(text: &str, format: u8, precision: Option<usize>) -> String {
    let hexadecimal = matches!(format, b'x' | b'X');
    let tail = text.find(|c| matches!(c, 'p' | 'P') || !hexadecimal && matches!(c, 'e' | 'E'));
    let (number, exponent) = text.split_at(tail.unwrap_or(text.len()));
    let mut number = number.to_owned();
    let wanted = if matches!(format, b'g' | b'G' | b'x') { precision.unwrap_or(6) } else { 0 };
    let mut shown =
        number.bytes().skip(1).filter(|byte| *byte != b'.').skip_while(|byte| *byte == b'0').count();
    if !number.contains('.') {
        shown += usize::from(number.len() == 2 && number.ends_with('0'));
        number.push('.');
    }
    number.extend(std::iter::repeat_n('0', wanted.saturating_sub(shown)));
    number + exponent
}

/// `strconv.CanBackquote`: whether the text can stand between backquotes on one line.
pub(crate) fn can_backquote(text: &[u8]) -> bool {
    characters(text).all(|character| match character {
        Ok('\t') => true,
        Ok(c) => !c.is_ascii_control() && c != '`' && c != '\u{feff}',
        Err(_) => false,
    })
}
