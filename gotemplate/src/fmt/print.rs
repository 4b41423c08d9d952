//! Values under verbs: in goes a value, a verb and flags, out comes the text, or Go's complaint
//! within it (`%!d(string=x)`).

use super::float::format_float;
use super::format::{Directive, Flags, Reader};
use super::number::{Notation, pad, push_integer, push_unicode};
use super::quote::{characters, quoted, quoted_ascii, quoted_char};
use crate::error::CallError;
use crate::value::{Kind, List, Map, Object, Str, Type, Value};

/// How many lists and maps may be within each other.
const DEEPEST: usize = 1000;

/// What Go prints for a pointer. An address would differ from run to run.
const ADDRESS: &str = "0xc000000000";

/// Whether Go takes the value for a string where it puts spaces.
pub(crate) fn is_string(value: &Value) -> bool {
    match value {
        Value::Str(_) => true,
        Value::Object(object) => object.go_type().kind() == Kind::String,
        _ => false,
    }
}

/// Writes a value as `%v` does.
pub(crate) fn print_plain(out: &mut Vec<u8>, value: &Value, limit: usize) -> Result<(), CallError> {
    match value {
        Value::Str(text) => out.extend_from_slice(text),
        Value::Bool(true) => out.extend_from_slice(b"true"),
        Value::Bool(false) => out.extend_from_slice(b"false"),
        // A whole number that is short enough to have no exponent.
        Value::Float(number) if number.fract() == 0.0 && number.abs() < 1e6 && number.is_sign_positive() => {
            push_decimal(out, *number as u64);
        }
        Value::Int(_, number) => {
            if *number < 0 {
                out.push(b'-');
            }
            push_decimal(out, number.unsigned_abs());
        }
        _ => Printer::new(out, limit).argument(value, 'v')?,
    }
    too_long(out, limit)
}

fn push_decimal(out: &mut Vec<u8>, number: u64) {
    // The largest has 20 digits.
    let mut digits = [0; 20];
    let mut start = digits.len();
    let mut rest = number;
    loop {
        start -= 1;
        digits[start] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[start..]);
}

fn too_long(out: &[u8], limit: usize) -> Result<(), CallError> {
    if out.len() > limit {
        return Err(CallError::limit(format!("template output is longer than {limit} bytes")));
    }
    Ok(())
}

/// Writes values to the end of a text.
pub(super) struct Printer<'a> {
    out: &'a mut Vec<u8>,
    limit: usize,
    flags: Flags,
    depth: usize,
}

impl<'a> Printer<'a> {
    pub(super) fn new(out: &'a mut Vec<u8>, limit: usize) -> Self {
        Self { out, limit, flags: Flags::default(), depth: 0 }
    }

    pub(super) fn printf(&mut self, format: &[u8], args: &[Value]) -> Result<(), CallError> {
        let mut reader = Reader::new(format, args);
        loop {
            let (text, directive) = reader.next();
            self.out.extend_from_slice(text);
            let Some(directive) = directive else { break };
            for complaint in reader.complaints.drain(..) {
                self.push(complaint);
            }
            self.flags = reader.flags;
            match directive {
                Directive::NoVerb => self.push("%!(NOVERB)"),
                Directive::Percent => self.push("%"),
                Directive::BadIndex(verb) => self.push(&format!("%!{verb}(BADINDEX)")),
                Directive::Missing(verb) => self.push(&format!("%!{verb}(MISSING)")),
                Directive::Verb(verb, index) => self.argument(&args[index], verb)?,
            }
            too_long(self.out, self.limit)?;
        }
        self.extra(reader.unused())
    }

    /// What Go writes of the arguments that the format does not mention.
    fn extra(&mut self, args: &[Value]) -> Result<(), CallError> {
        if args.is_empty() {
            return Ok(());
        }
        self.flags = Flags::default();
        self.push("%!(EXTRA ");
        for (index, arg) in args.iter().enumerate() {
            if index > 0 {
                self.push(", ");
            }
            if matches!(arg, Value::Nil) {
                self.push("<nil>");
            } else {
                self.push(&arg.type_name());
                self.push("=");
                self.argument(arg, 'v')?;
            }
        }
        self.push(")");
        too_long(self.out, self.limit)
    }

    /// Writes one argument of a format.
    fn argument(&mut self, value: &Value, verb: char) -> Result<(), CallError> {
        match (value, verb) {
            (Value::Nil, 'T' | 'v') => self.pad(b"<nil>"),
            (Value::Nil, _) => self.bad_verb(value, verb)?,
            (_, 'T') => self.string_cut(value.type_name().as_bytes()),
            (Value::List(_) | Value::Map(_) | Value::Bytes(_), 'p') => self.push(ADDRESS),
            (_, 'w') => self.bad_verb(value, verb)?,
            _ => self.value(value, verb)?,
        }
        Ok(())
    }

    fn value(&mut self, value: &Value, verb: char) -> Result<(), CallError> {
        match value {
            Value::Nil if self.flags.sharp_v => self.push("interface {}(nil)"),
            Value::Nil => self.push("<nil>"),
            Value::Bool(truth) if matches!(verb, 't' | 'v') => self.pad(truth.to_string().as_bytes()),
            Value::Int(_, number) => return self.integer(value, number.unsigned_abs(), *number < 0, verb),
            Value::Uint(_, number) => return self.integer(value, *number, false, verb),
            Value::Float(number) => return self.float(value, *number, verb),
            Value::Complex(real, imaginary) => return self.complex(value, *real, *imaginary, verb),
            Value::Str(text) => return self.string(value, text, verb),
            Value::Bytes(bytes) => return self.bytes(value, bytes, verb),
            Value::List(list) => return self.nested(|printer| printer.list(list, verb)),
            Value::Map(map) => return self.nested(|printer| printer.map(map, verb)),
            Value::Object(object) => return self.nested(|printer| printer.object(value, &**object, verb)),
            Value::Bool(_) => return self.bad_verb(value, verb),
        }
        Ok(())
    }

    fn nested(&mut self, print: impl FnOnce(&mut Self) -> Result<(), CallError>) -> Result<(), CallError> {
        if self.depth >= DEEPEST {
            return Err(CallError::limit(format!(
                "value to print is nested more than {DEEPEST} levels deep"
            )));
        }
        self.depth += 1;
        let printed = print(self);
        self.depth -= 1;
        printed?;
        too_long(self.out, self.limit)
    }

    fn push(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    fn pad(&mut self, text: &[u8]) {
        pad(self.out, &self.flags, text);
    }

    /// Go's complaint about a verb that is not for such a value.
    fn bad_verb(&mut self, value: &Value, verb: char) -> Result<(), CallError> {
        self.push(&format!("%!{verb}("));
        if matches!(value, Value::Nil) {
            self.push("<nil>");
        } else {
            self.push(&value.type_name());
            self.push("=");
            self.value(value, 'v')?;
        }
        self.push(")");
        Ok(())
    }

    fn integer(
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

    fn float(&mut self, value: &Value, number: f64, verb: char) -> Result<(), CallError> {
        let Some((format, precision)) = float_format(verb) else { return self.bad_verb(value, verb) };
        self.float_as(number, format, precision);
        Ok(())
    }

    fn complex(&mut self, value: &Value, real: f64, imaginary: f64, verb: char) -> Result<(), CallError> {
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

    fn string(&mut self, value: &Value, text: &[u8], verb: char) -> Result<(), CallError> {
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

    fn string_cut(&mut self, text: &[u8]) {
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

    fn bytes(&mut self, value: &Value, bytes: &[u8], verb: char) -> Result<(), CallError> {
        if matches!(verb, 's' | 'x' | 'X' | 'q') {
            return self.string(value, bytes, verb);
        }
        let list = List::typed(
            Type::BYTES,
            bytes.iter().map(|byte| Value::Uint(crate::value::UintKind::Uint8, u64::from(*byte))).collect(),
        );
        if self.flags.sharp_v && self.depth == 0 {
            self.push("[]byte{");
            self.items(&list, verb, ", ")?;
            self.push("}");
            return Ok(());
        }
        self.nested(|printer| printer.list(&list, verb))
    }

    fn list(&mut self, list: &List, verb: char) -> Result<(), CallError> {
        if !self.flags.sharp_v {
            self.push("[");
            self.items(list, verb, " ")?;
            self.push("]");
            return Ok(());
        }
        self.push(&list.go_type().to_string());
        if list.is_nil() {
            self.push("(nil)");
            return Ok(());
        }
        self.push("{");
        self.items(list, verb, ", ")?;
        self.push("}");
        Ok(())
    }

    fn items(&mut self, list: &List, verb: char, separator: &str) -> Result<(), CallError> {
        for (index, item) in list.items().iter().enumerate() {
            if index > 0 {
                self.push(separator);
            }
            self.value(item, verb)?;
        }
        Ok(())
    }

    fn map(&mut self, map: &Map, verb: char) -> Result<(), CallError> {
        let (open, separator, close) = if self.flags.sharp_v {
            self.push(&map.go_type().to_string());
            if map.is_nil() {
                self.push("(nil)");
                return Ok(());
            }
            ("{", ", ", "}")
        } else {
            ("map[", " ", "]")
        };
        self.push(open);
        for (index, (key, value)) in map.entries().iter().enumerate() {
            if index > 0 {
                self.push(separator);
            }
            self.key(key, verb)?;
            self.push(":");
            self.value(value, verb)?;
        }
        self.push(close);
        Ok(())
    }

    fn key(&mut self, key: &Str, verb: char) -> Result<(), CallError> {
        self.string(&Value::Str(key.clone()), key, verb)
    }

    fn object(&mut self, value: &Value, object: &dyn Object, verb: char) -> Result<(), CallError> {
        let go_type = object.go_type();
        let pointer = go_type.kind() == Kind::Ptr;
        if pointer && object.is_nil() {
            self.push("<nil>");
            return Ok(());
        }
        if matches!(verb, 'v' | 's' | 'x' | 'X' | 'q')
            && !self.flags.sharp_v
            && let Some(text) = object.text()
        {
            return self.string(value, &text, verb);
        }
        if let Some(plain) = object.underlying() {
            return self.value(&plain, verb);
        }
        if pointer && self.depth > 1 {
            self.push(ADDRESS);
            return Ok(());
        }
        if pointer {
            self.push("&");
        }
        self.fields(object, verb)
    }

    fn fields(&mut self, object: &dyn Object, verb: char) -> Result<(), CallError> {
        if self.flags.sharp_v {
            let name = object.go_type().to_string();
            self.push(name.trim_start_matches('*'));
        }
        self.push("{");
        for (index, (name, field)) in object.fields().iter().enumerate() {
            if index > 0 {
                self.push(if self.flags.sharp_v { ", " } else { " " });
            }
            if self.flags.plus_v || self.flags.sharp_v {
                self.push(name);
                self.push(":");
            }
            self.value(field, verb)?;
        }
        self.push("}");
        Ok(())
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
