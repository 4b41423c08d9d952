//! Values under verbs: in goes a value, a verb and flags, out comes the text, or Go's complaint
//! within it (`%!d(string=x)`).

use super::format::{Directive, Flags, Reader};
use super::number::pad;
use crate::error::CallError;
use crate::value::{Kind, List, Map, Object, Str, Type, Value};

/// Maximum number of lists and maps that may be within each other.
const DEEPEST: usize = 1000;

/// The text printed for a pointer; Go prints an address, which differs from run to run.
const ADDRESS: &str = "0xc000000000";

/// Returns true if Go takes the value for a string where it puts spaces.
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
    pub(super) out: &'a mut Vec<u8>,
    limit: usize,
    pub(super) flags: Flags,
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

    /// Returns what Go writes of the arguments that the format does not mention.
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

    pub(super) fn push(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    pub(super) fn pad(&mut self, text: &[u8]) {
        pad(self.out, &self.flags, text);
    }

    /// Go's complaint about a verb that is not for such a value.
    pub(super) fn bad_verb(&mut self, value: &Value, verb: char) -> Result<(), CallError> {
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
