//! Reading: in goes text, out comes a value as Go decodes one into an `interface {}`, or Go's words
//! about the first thing that is no JSON.

use std::fmt;

use gojson::{Fault, TokenError, Tokenizer};
use gostd::quoted;
use gostd::unicode::is_print;

use super::DEEPEST_TEXT;
use crate::value::{Entries, List, Map, Str, Type, Value};

/// A text that was read.
#[derive(Debug)]
pub struct Decoded {
    /// The value. Numbers are float64.
    pub value: Value,
    /// The first number that no float64 is; it stands as 0 in the value.
    pub out_of_range: Option<OutOfRange>,
}

/// A number that no float64 is.
#[derive(Debug)]
pub struct OutOfRange {
    /// The number as it is written.
    pub number: String,
    /// The keys and indices that lead to it, each after a point.
    pub path: String,
    in_list: bool,
}

/// Go's message for such a number.
impl fmt::Display for OutOfRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match (self.path.is_empty(), self.in_list) {
            (true, _) => "Go value",
            (false, true) => "",
            (false, false) => "Go struct field ",
        };
        write!(f, "json: cannot unmarshal number {} into {what}{} of type float64", self.number, self.path)
    }
}

/// Reads a text as JSON.
///
/// # Errors
/// Go's words about a text that is none.
pub fn decode(text: &[u8]) -> Result<Decoded, String> {
    let mut reader = Reader { text, tokens: Tokenizer::new(text), open: Vec::new(), out_of_range: None };
    let value = reader.document()?;
    Ok(Decoded { value, out_of_range: reader.out_of_range })
}

const END: &str = "unexpected end of JSON input";

struct Reader<'a> {
    text: &'a [u8],
    tokens: Tokenizer<'a>,
    /// The lists and maps around what is read.
    open: Vec<Container>,
    out_of_range: Option<OutOfRange>,
}

enum Container {
    List(Vec<Value>),
    Map(Entries, Str),
}

impl Reader<'_> {
    fn document(&mut self) -> Result<Value, String> {
        let mut value = self.begin()?;
        loop {
            // A value that is there goes into what is around it, until something remains open.
            if let Some(complete) = value {
                match self.open.last_mut() {
                    None => return self.end(complete),
                    Some(Container::List(items)) => items.push(complete),
                    Some(Container::Map(entries, key)) => {
                        entries.insert(std::mem::take(key), complete);
                    }
                }
                value = self.after_value()?;
            } else {
                value = self.begin()?;
            }
        }
    }

    /// Returns what may stand before a value: its start if it is a list or map that has something in it,
    /// else all of it.
    fn begin(&mut self) -> Result<Option<Value>, String> {
        match self.peek()? {
            b'{' => self.begin_map(),
            b'[' => self.begin_list(),
            b'"' => self.string().map(|text| Some(Value::Str(text))),
            b't' => self.literal("true", true.into()),
            b'f' => self.literal("false", false.into()),
            b'n' => self.literal("null", Value::Nil),
            b'-' | b'0'..=b'9' => self.number(),
            _ => Err(self.invalid("looking for beginning of value")),
        }
    }

    fn open(&mut self, container: Container) -> Result<(), String> {
        if self.open.len() == DEEPEST_TEXT {
            return Err("exceeded max depth".to_owned());
        }
        self.open.push(container);
        self.tokens.position += 1;
        Ok(())
    }

    fn begin_map(&mut self) -> Result<Option<Value>, String> {
        self.open(Container::Map(Entries::new(), Str::default()))?;
        if self.peek()? == b'}' {
            return Ok(self.close());
        }
        self.key()?;
        Ok(None)
    }

    fn begin_list(&mut self) -> Result<Option<Value>, String> {
        self.open(Container::List(Vec::new()))?;
        Ok(if self.peek()? == b']' { self.close() } else { None })
    }

    fn close(&mut self) -> Option<Value> {
        self.tokens.position += 1;
        Some(match self.open.pop()? {
            Container::List(items) => List::new(items).into(),
            Container::Map(entries, _) => Map::typed(Type::MAP, entries).into(),
        })
    }

    fn key(&mut self) -> Result<(), String> {
        if self.peek()? != b'"' {
            return Err(self.invalid("looking for beginning of object key string"));
        }
        let name = self.string()?;
        if self.peek()? != b':' {
            return Err(self.invalid("after object key"));
        }
        self.tokens.position += 1;
        if let Some(Container::Map(_, key)) = self.open.last_mut() {
            *key = name;
        }
        Ok(())
    }

    /// A comma, or the end of the list or map, which is then the value.
    fn after_value(&mut self) -> Result<Option<Value>, String> {
        let in_map = matches!(self.open.last(), Some(Container::Map(..)));
        match (self.peek()?, in_map) {
            (b',', true) => {
                self.tokens.position += 1;
                self.key()?;
                Ok(None)
            }
            (b',', false) => {
                self.tokens.position += 1;
                Ok(None)
            }
            (b'}', true) | (b']', false) => Ok(self.close()),
            (_, true) => Err(self.invalid("after object key:value pair")),
            (_, false) => Err(self.invalid("after array element")),
        }
    }

    fn end(&mut self, value: Value) -> Result<Value, String> {
        if self.tokens.peek().is_some() { Err(self.invalid("after top-level value")) } else { Ok(value) }
    }

    /// Returns the next byte that is not white space.
    fn peek(&mut self) -> Result<u8, String> {
        self.tokens.peek().ok_or_else(|| END.to_owned())
    }

    fn literal(&mut self, name: &'static str, value: Value) -> Result<Option<Value>, String> {
        self.tokens.literal(name).map_err(|error| self.go_error(error))?;
        Ok(Some(value))
    }

    fn number(&mut self) -> Result<Option<Value>, String> {
        let range = self.tokens.number().map_err(|error| self.go_error(error))?;
        let text = String::from_utf8_lossy(&self.text[range]);
        let number: f64 = text.parse().unwrap_or(f64::INFINITY);
        if number.is_finite() {
            return Ok(Some(number.into()));
        }
        if self.out_of_range.is_none() {
            let in_list = matches!(self.open.first(), Some(Container::List(_)));
            self.out_of_range = Some(OutOfRange { number: text.into_owned(), path: self.path(), in_list });
        }
        Ok(Some(0.0.into()))
    }

    fn path(&self) -> String {
        let step = |container: &Container| match container {
            Container::List(items) => format!(".{}", items.len()),
            Container::Map(_, key) => format!(".{}", key.to_text().replace('~', "~0").replace('/', "~1")),
        };
        self.open.iter().map(step).collect()
    }

    fn string(&mut self) -> Result<Str, String> {
        let string = self.tokens.string().map_err(|error| self.go_error(error))?;
        Ok(string.into_owned().into())
    }

    /// Returns Go's text for an error of the tokenizer.
    fn go_error(&self, TokenError { position, fault }: TokenError) -> String {
        let Some(&found) = self.text.get(position) else { return END.to_owned() };
        match fault {
            Fault::Literal { name, expected } => {
                self.invalid(&format!("in literal {name} (expecting '{}')", char::from(expected)))
            }
            Fault::Number => self.invalid("in numeric literal"),
            Fault::String => self.invalid("in string"),
            Fault::Escape => invalid_escape(&[b'\\', found]),
            Fault::UnicodeEscape { start } => {
                invalid_escape(&self.text[start..self.text.len().min(start + 6)])
            }
        }
    }

    /// Returns what Go says of the character that is next.
    fn invalid(&self, context: &str) -> String {
        let rest = &self.text[self.tokens.position..];
        let first = gostd::characters(rest).next();
        let length = first.map_or(0, |character| character.map_or(1, char::len_utf8));
        let character = match rest[..length] {
            [b'\''] => r"\'".to_owned(),
            [b'"'] => "\"".to_owned(),
            ref bytes => quoted(bytes).trim_matches('"').to_owned(),
        };
        format!("invalid character '{character}' {context}")
    }
}

fn invalid_escape(text: &[u8]) -> String {
    let printable = std::str::from_utf8(text).ok().filter(|text| {
        text.chars()
            .all(|c| c != '`' && c != char::REPLACEMENT_CHARACTER && !c.is_whitespace() && is_print(c))
    });
    match printable {
        Some(text) => format!("invalid escape sequence `{text}` in string"),
        None => format!("invalid escape sequence {} in string", quoted(text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // The words are those of `mustFromJson` in Helm 4.3.1.
    #[test]
    fn what_is_no_json_is_refused_in_go_s_words() {
        let cases = [
            ("", "unexpected end of JSON input"),
            ("nul", "unexpected end of JSON input"),
            ("nulx", "invalid character 'x' in literal null (expecting 'l')"),
            ("[1,]", "invalid character ']' looking for beginning of value"),
            ("[1 2]", "invalid character '2' after array element"),
            ("[1}", "invalid character '}' after array element"),
            ("{a:1}", "invalid character 'a' looking for beginning of object key string"),
            ("{\"a\" 1}", "invalid character '1' after object key"),
            ("{\"a\":1 \"b\"}", "invalid character '\"' after object key:value pair"),
            ("{\"a\":1,}", "invalid character '}' looking for beginning of object key string"),
            ("{\"a\":1}}", "invalid character '}' after top-level value"),
            ("01", "invalid character '1' after top-level value"),
            ("-a", "invalid character 'a' in numeric literal"),
            ("1.", "unexpected end of JSON input"),
            ("1e+x", "invalid character 'x' in numeric literal"),
            ("\"a\nb\"", "invalid character '\\n' in string"),
            ("\"\\x\"", "invalid escape sequence `\\x` in string"),
            ("\"\\u12g4\"", "invalid escape sequence `\\u12g4` in string"),
            ("\"\\ud83d\\u12\"", "invalid escape sequence `\\u12\"` in string"),
            ("\"\\u12", "unexpected end of JSON input"),
            ("'a'", "invalid character '\\'' looking for beginning of value"),
            ("\u{feff}1", "invalid character '\\ufeff' looking for beginning of value"),
            ("é", "invalid character 'é' looking for beginning of value"),
        ];
        for (text, words) in cases {
            assert_eq!(decode(text.as_bytes()).unwrap_err(), words, "{text}");
        }
        assert_eq!(decode(b"\xff").unwrap_err(), "invalid character '\\xff' looking for beginning of value");
        assert_eq!(decode(&[b'['; 10_001]).unwrap_err(), "exceeded max depth");
        assert_eq!(decode(&[b'['; 10_000]).unwrap_err(), "unexpected end of JSON input");
    }

    #[test]
    fn halves_of_characters_are_replaced_unless_they_match() {
        let read = |text: &str| decode(text.as_bytes()).unwrap().value.as_str().unwrap().to_string();
        assert_eq!(read(r#""\ud83d\ude00 \/""#), "😀 /");
        assert_eq!(read(r#""\ud800\ud83d\ude00x""#), "\u{fffd}😀x");
        assert_eq!(read(r#""\uD83D\u0041""#), "\u{fffd}A");
    }

    #[test]
    fn a_number_that_is_too_large_is_0_and_told_of() {
        let told = |text: &str| decode(text.as_bytes()).unwrap().out_of_range.unwrap().to_string();
        assert_eq!(told("1e400"), "json: cannot unmarshal number 1e400 into Go value of type float64");
        assert_eq!(told("[-1e400,2]"), "json: cannot unmarshal number -1e400 into .0 of type float64");
        assert_eq!(
            told(r#"{"b":[1, {"c~/":1e400}]}"#),
            "json: cannot unmarshal number 1e400 into Go struct field .b.1.c~0~1 of type float64"
        );
    }
}
