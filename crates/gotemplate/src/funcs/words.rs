//! Names in snake, kebab and camel case, as the Go package xstrings makes them of words.

use gostd::unicode::{is_letter, is_punct, is_upper, to_lower, to_upper};

use super::args::text;
use super::text::{first_rune, runes};
use crate::Context;
use crate::error::CallError;
use crate::function::Function;
use crate::value::{Type, Value};

pub(super) const FUNCS: &[Function] = &[
    Function::new("camelcase", &[Type::String], camelcase),
    Function::new("kebabcase", &[Type::String], kebabcase),
    Function::new("snakecase", &[Type::String], snakecase),
];

fn snakecase(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    Ok(connected(text(args, 0), '_').into())
}

fn kebabcase(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    Ok(connected(text(args, 0), '-').into())
}

/// Words begin after connectors. A word that begins with capitals keeps the first only; leading
/// connectors stay, and of others in a row all but one.
fn camelcase(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let mut out = String::new();
    let mut characters = runes(text(args, 0)).peekable();
    while let Some(connector) = characters.next_if(|c| is_connector(*c)) {
        out.push(connector);
    }
    let Some(first) = characters.next() else {
        // Where there is no word, the last connector comes twice.
        out.extend(out.chars().next_back());
        return Ok(out.into());
    };
    let mut in_capitals = is_upper(first);
    let mut before = to_upper(first);
    for c in characters {
        let mut current = c;
        if is_connector(before) {
            if is_connector(c) {
                out.push(before);
                continue;
            }
            in_capitals = is_upper(c);
            current = to_upper(c);
        } else {
            if in_capitals {
                in_capitals = is_upper(c);
                current = if in_capitals { to_lower(c) } else { c };
            }
            out.push(before);
        }
        before = current;
    }
    out.push(before);
    Ok(out.into())
}

fn is_connector(c: char) -> bool {
    c == '-' || c == '_' || c.is_whitespace()
}

/// Letters that make words; ideographs do not.
fn is_alphabet(c: char) -> bool {
    let ideograph =
        matches!(c, '\u{4e00}'..='\u{9fcc}' | '\u{3400}'..='\u{4d85}' | '\u{20000}'..='\u{2b81d}');
    is_letter(c) && !ideograph
}

/// The class of a run of characters.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Invalid,
    Number,
    /// A capital, with the capitals or small letters after it.
    Upper,
    Alphabet,
    Connector,
    Punctuation,
    Other,
}

impl Kind {
    /// Returns true if a connector belongs between a word and this after it.
    fn is_apart(self) -> bool {
        !matches!(self, Self::Invalid | Self::Connector | Self::Punctuation)
    }

    fn joins_number(self) -> bool {
        matches!(self, Self::Alphabet | Self::Number)
    }
}

/// The runs of characters of a text, one at a time.
struct Words<'a> {
    rest: &'a [u8],
    kind: Kind,
    word: &'a [u8],
    connector: char,
    out: Vec<u8>,
}

/// The words of `string` in small letters with `connector` between them.
fn connected(string: &[u8], connector: char) -> Vec<u8> {
    let out = Vec::with_capacity(string.len() + string.len() / 4);
    let mut words = Words { rest: string, kind: Kind::Invalid, word: b"", connector, out };
    words.next();
    while !words.rest.is_empty() {
        let (kind, word) = (words.kind, words.word);
        if kind != Kind::Connector {
            words.write(kind, word);
        }
        words.next();
        match kind {
            Kind::Number => {
                words.write_joined();
                words.connect_if(words.kind.is_apart());
            }
            Kind::Connector => words.write(kind, word),
            Kind::Punctuation => {}
            _ => words.after_letters(),
        }
    }
    words.write(words.kind, words.word);
    words.out
}

impl<'a> Words<'a> {
    /// Moves on to the next run; past the last one there is an invalid one without characters.
    fn next(&mut self) {
        let (kind, length) = next_word(self.rest);
        self.kind = kind;
        (self.word, self.rest) = self.rest.split_at(length);
    }

    /// Decides about a connector after letters, and whether a number belongs to them.
    fn after_letters(&mut self) {
        if self.kind != Kind::Number {
            // A run of nothing but bytes that are not UTF-8 is connected too.
            self.connect_if(!matches!(self.kind, Kind::Connector | Kind::Punctuation));
            return;
        }
        if self.rest.is_empty() {
            return;
        }
        let number = self.word;
        self.next();
        if self.kind != Kind::Alphabet {
            // The number ends the word before it: `Bld4Floor`.
            self.write(Kind::Number, number);
            self.connect_if(!matches!(self.kind, Kind::Connector | Kind::Punctuation));
            return;
        }
        // Small letters follow, so it begins one: `HTTP2xx`.
        self.connect_if(true);
        self.write(Kind::Number, number);
        self.write_joined();
        self.connect_if(self.kind.is_apart());
    }

    /// Writes the small letters and numbers that come next.
    fn write_joined(&mut self) {
        while self.kind.joins_number() {
            self.write(self.kind, self.word);
            self.next();
        }
    }

    fn connect_if(&mut self, wanted: bool) {
        if wanted {
            self.push(self.connector);
        }
    }

    fn write(&mut self, kind: Kind, word: &'a [u8]) {
        if !matches!(kind, Kind::Upper | Kind::Connector) {
            self.out.extend_from_slice(word);
            return;
        }
        for c in runes(word) {
            self.push(if is_connector(c) {
                self.connector
            } else if is_upper(c) {
                to_lower(c)
            } else {
                c
            });
        }
    }

    fn push(&mut self, c: char) {
        self.out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
    }
}

/// Returns what `text` begins with, and for how many bytes.
fn next_word(text: &[u8]) -> (Kind, usize) {
    if text.is_empty() {
        return (Kind::Invalid, 0);
    }
    let mut run = Run { text, length: 0, last: char::REPLACEMENT_CHARACTER, last_size: 0 };
    run.take();
    let first = run.last;
    let kind = match first {
        char::REPLACEMENT_CHARACTER => return (Kind::Invalid, run.length),
        c if is_connector(c) => {
            run.take_while(is_connector);
            Kind::Connector
        }
        c if is_punct(c) => {
            run.take_while(is_punct);
            Kind::Punctuation
        }
        c if is_upper(c) => {
            run.take_capitalized();
            Kind::Upper
        }
        c if is_alphabet(c) => {
            run.take_while(|c| is_alphabet(c) && !is_upper(c));
            Kind::Alphabet
        }
        c if c.is_numeric() => {
            run.take_while(char::is_numeric);
            Kind::Number
        }
        _ => {
            run.take_while(|c| !is_connector(c) && !is_alphabet(c) && !c.is_numeric() && !is_punct(c));
            Kind::Other
        }
    };
    (kind, run.length)
}

/// The beginning of a text that is one word.
struct Run<'a> {
    text: &'a [u8],
    length: usize,
    last: char,
    last_size: usize,
}

impl Run<'_> {
    /// The next character and the bytes up to its end. Bytes that are not UTF-8 are passed over; if
    /// nothing else comes, it is as if the last character came again.
    fn peek(&self) -> (char, usize) {
        let mut size = 0;
        while let Some((c, length)) = first_rune(&self.text[self.length + size..]) {
            size += length;
            if c != char::REPLACEMENT_CHARACTER {
                return (c, size);
            }
        }
        (self.last, size)
    }

    fn take(&mut self) {
        (self.last, self.last_size) = self.peek();
        self.length += self.last_size;
    }

    fn take_while(&mut self, fits: impl Fn(char) -> bool) {
        while self.length < self.text.len() && fits(self.peek().0) {
            self.take();
        }
    }

    /// After a capital: small letters, or more capitals, of which the last begins the next word if
    /// small letters follow.
    fn take_capitalized(&mut self) {
        if self.length == self.text.len() {
            return;
        }
        let (second, _) = self.peek();
        if is_upper(second) {
            self.take_while(is_upper);
            if self.length < self.text.len() && is_alphabet(self.peek().0) {
                self.length -= self.last_size;
            }
        } else if is_alphabet(second) {
            self.take_while(|c| is_alphabet(c) && !is_upper(c));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::funcs::testing::check;

    // What Helm 4.3.1 makes of these.
    const CASES: &[(&str, &str)] = &[
        (
            r#"{{ camelcase "http_server" }}|{{ camelcase "JSONToXML12" }}|{{ camelcase "AB" }}|{{ camelcase "__x__y" }}|{{ camelcase "foo  bar" }}|{{ camelcase "aÉ_bÉ" }}|{{ camelcase "_" }}|{{ camelcase "" }}"#,
            "HttpServer|JsontoXML12|Ab|__X_Y|Foo Bar|AÉBÉ|__|",
        ),
        (
            r#"{{ snakecase "FirstName" }}|{{ snakecase "HTTPServer" }}|{{ snakecase "NoHTTPS" }}|{{ snakecase "GO_PATH" }}|{{ snakecase "GO PATH" }}|{{ snakecase "GO-PATH" }}"#,
            "first_name|http_server|no_https|go_path|go_path|go_path",
        ),
        (
            r#"{{ snakecase "http2xx" }}|{{ snakecase "HTTP20xOK" }}|{{ snakecase "Duration2m3s" }}|{{ snakecase "Bld4Floor3rd" }}|{{ snakecase "a1b2" }}|{{ snakecase "1A" }}"#,
            "http_2xx|http_20x_ok|duration_2m3s|bld4_floor_3rd|a_1b2|1_a",
        ),
        (
            r#"{{ kebabcase "v1beta2" }}|{{ kebabcase "ID2Name" }}|{{ kebabcase "a.b,C" }}|{{ kebabcase "日本Go" }}|{{ kebabcase "a__b" }}|{{ kebabcase "éaÉb" }}|{{ kebabcase "A€b" }}"#,
            "v-1beta2|id2-name|a.b,c|日本-go|a--b|éa-éb|a-€-b",
        ),
        (
            r#"{{ snakecase "x2Y" }}|{{ snakecase "AbC" }}|{{ snakecase "ABc9" }}|{{ snakecase "9" }}|{{ snakecase " a" }}|{{ snakecase "a " }}|{{ snakecase "Ab-" }}|{{ snakecase "½A" }}"#,
            "x2_y|ab_c|a_bc9|9|_a|a_|ab_|½_a",
        ),
    ];

    #[test]
    fn answers_are_those_of_helm() {
        check(CASES);
    }
}
