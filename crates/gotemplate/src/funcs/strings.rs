//! Functions over strings: cutting, padding, joining, quoting.
//!
//! Strings are bytes. What Sprig does by byte can cut a character in two, and does here too.

use gostd::quoted;
use gostd::unicode;
use memchr::memmem;

use super::args::{int, text};
use super::convert::{to_strings, to_text};
use super::text::{explode, map_characters, runes, split, trim_matching, wrap};
use crate::Context;
use crate::error::CallError;
use crate::fmt::print_plain;
use crate::function::Function;
use crate::value::{Entries, Map, Str, Type, Value};

const TEXT: Type = Type::String;

pub(super) const FUNCS: &[Function] = &[
    Function::new("abbrev", &[Type::INT, TEXT], abbrev),
    Function::new("abbrevboth", &[Type::INT, Type::INT, TEXT], abbrevboth),
    Function::variadic("cat", &[Type::Any], cat),
    Function::new("contains", &[TEXT, TEXT], contains),
    Function::new("hasPrefix", &[TEXT, TEXT], has_prefix),
    Function::new("hasSuffix", &[TEXT, TEXT], has_suffix),
    Function::new("hello", &[], hello),
    Function::new("indent", &[Type::INT, TEXT], indent),
    Function::new("initials", &[TEXT], initials),
    Function::new("join", &[TEXT, Type::Any], join),
    Function::new("lower", &[TEXT], lower),
    Function::new("nindent", &[Type::INT, TEXT], nindent),
    Function::new("nospace", &[TEXT], nospace),
    Function::new("plural", &[TEXT, TEXT, Type::INT], plural),
    Function::variadic("quote", &[Type::Any], quote),
    Function::new("repeat", &[Type::INT, TEXT], repeat),
    Function::new("replace", &[TEXT, TEXT, TEXT], replace),
    Function::new("split", &[TEXT, TEXT], split_map),
    Function::new("splitList", &[TEXT, TEXT], split_list),
    Function::new("splitn", &[TEXT, Type::INT, TEXT], splitn),
    Function::variadic("squote", &[Type::Any], squote),
    Function::new("substr", &[Type::INT, Type::INT, TEXT], substr),
    Function::new("swapcase", &[TEXT], swapcase),
    Function::new("title", &[TEXT], title),
    Function::new("toString", &[Type::Any], to_string),
    Function::new("toStrings", &[Type::Any], to_strings_list),
    Function::new("trim", &[TEXT], trim),
    Function::new("trimAll", &[TEXT, TEXT], trim_all),
    Function::new("trimPrefix", &[TEXT, TEXT], trim_prefix),
    Function::new("trimSuffix", &[TEXT, TEXT], trim_suffix),
    Function::new("trimall", &[TEXT, TEXT], trim_all),
    Function::new("trunc", &[Type::INT, TEXT], trunc),
    Function::new("untitle", &[TEXT], untitle),
    Function::new("upper", &[TEXT], upper),
    Function::new("wrap", &[Type::INT, TEXT], wrap_words),
    Function::new("wrapWith", &[Type::INT, TEXT, TEXT], wrap_with),
];

fn hello(_: &mut Context<'_>, _: &[Value]) -> Result<Value, CallError> {
    Ok("Hello!".into())
}

// What is left of a string.

fn abbrev(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let (width, string) = (int(args, 0), text(args, 1));
    if width < 4 {
        return Ok(args[1].clone());
    }
    Ok(abbreviated(string, 0, length_of(width)).into())
}

fn abbrevboth(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let (left, width, string) = (int(args, 0), int(args, 1), text(args, 2));
    if width < 4 || left > 0 && width < 7 {
        return Ok(args[2].clone());
    }
    Ok(abbreviated(string, length_of(left), length_of(width)).into())
}

/// At most `width` bytes of `string` from about `offset` on, dots included.
fn abbreviated(string: &[u8], offset: usize, width: usize) -> Vec<u8> {
    const DOTS: &[u8] = b"...";
    if string.len() <= width {
        return string.to_vec();
    }
    let room = width - DOTS.len();
    let offset = offset.min(string.len()).min(string.len() - room);
    if offset <= 4 {
        return [&string[..room], DOTS].concat();
    }
    if offset + room < string.len() {
        return [DOTS, &abbreviated(&string[offset..], 0, room)].concat();
    }
    [DOTS, &string[string.len() - room..]].concat()
}

/// A number of bytes that may be more than any string has; less than none is none.
fn length_of(count: i64) -> usize {
    usize::try_from(count.max(0)).unwrap_or(usize::MAX)
}

fn trunc(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let (count, string) = (int(args, 0), text(args, 1));
    let wanted = usize::try_from(count.unsigned_abs()).unwrap_or(usize::MAX);
    if wanted >= string.len() {
        return Ok(args[1].clone());
    }
    let kept = if count < 0 { &string[string.len() - wanted..] } else { &string[..wanted] };
    Ok(Str::from(kept).into())
}

/// The bytes from a start to an end; a negative start means from the beginning, a negative or too
/// large end to the end.
fn substr(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let (start, end, string) = (int(args, 0), int(args, 1), text(args, 2));
    let length = string.len();
    let out_of_range =
        |what: String| CallError::new(format!("runtime error: slice bounds out of range [{what}"));
    let part = if start < 0 {
        if end < 0 {
            return Err(out_of_range(format!(":{end}]")));
        }
        let too_far = || out_of_range(format!(":{end}] with length {length}"));
        string.get(..length_of(end)).ok_or_else(too_far)?
    } else if end < 0 || length_of(end) > length {
        string.get(length_of(start)..).ok_or_else(|| out_of_range(format!("{start}:{length}]")))?
    } else {
        string.get(length_of(start)..length_of(end)).ok_or_else(|| out_of_range(format!("{start}:{end}]")))?
    };
    Ok(Str::from(part).into())
}

fn trim(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    Ok(Str::from(trim_matching(text(args, 0), char::is_whitespace)).into())
}

fn trim_all(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let set: Vec<char> = runes(text(args, 0)).collect();
    Ok(Str::from(trim_matching(text(args, 1), |c| set.contains(&c))).into())
}

fn trim_prefix(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    Ok(text(args, 1)
        .strip_prefix(text(args, 0))
        .map_or_else(|| args[1].clone(), |rest| Str::from(rest).into()))
}

fn trim_suffix(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    Ok(text(args, 1)
        .strip_suffix(text(args, 0))
        .map_or_else(|| args[1].clone(), |rest| Str::from(rest).into()))
}

/// Takes each byte for a character, which is what Sprig makes of Unicode here.
fn nospace(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let string = text(args, 0);
    let is_space = |byte: &u8| char::from(*byte).is_whitespace();
    if !string.iter().any(is_space) {
        return Ok(args[0].clone());
    }
    Ok(string.iter().filter(|byte| !is_space(byte)).map(|byte| char::from(*byte)).collect::<String>().into())
}

/// Takes each byte for a character too.
fn initials(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let mut after_gap = true;
    let mut initials = String::new();
    for c in text(args, 0).iter().map(|byte| char::from(*byte)) {
        let gap = c.is_whitespace();
        if after_gap && !gap {
            initials.push(c);
        }
        after_gap = gap;
    }
    Ok(initials.into())
}

// The case of letters.

fn upper(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    Ok(map_characters(text(args, 0), unicode::to_upper).into())
}

fn lower(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    Ok(map_characters(text(args, 0), unicode::to_lower).into())
}

fn title(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let mut before = ' ';
    let titled = |c| {
        let separator = if before.is_ascii() {
            !before.is_ascii_alphanumeric() && before != '_'
        } else {
            before.is_whitespace()
        };
        before = c;
        if separator { unicode::to_title(c) } else { c }
    };
    Ok(map_characters(text(args, 0), titled).into())
}

fn untitle(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let mut at_start = true;
    let untitled = |c: char| {
        let first = at_start && !c.is_whitespace();
        at_start = c.is_whitespace();
        if first { unicode::to_lower(c) } else { c }
    };
    Ok(map_characters(text(args, 0), untitled).into())
}

fn swapcase(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let mut after_space = true;
    let swapped = |c: char| {
        let at_start = after_space;
        after_space = false;
        if unicode::is_upper(c) || unicode::is_title(c) {
            unicode::to_lower(c)
        } else if !unicode::is_lower(c) {
            after_space = c.is_whitespace();
            c
        } else if at_start {
            unicode::to_title(c)
        } else {
            unicode::to_upper(c)
        }
    };
    Ok(map_characters(text(args, 0), swapped).into())
}

// What is in a string.

fn contains(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    Ok(memmem::find(text(args, 1), text(args, 0)).is_some().into())
}

fn has_prefix(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    Ok(text(args, 1).starts_with(text(args, 0)).into())
}

fn has_suffix(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    Ok(text(args, 1).ends_with(text(args, 0)).into())
}

// Strings made of strings.

fn repeat(context: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let (count, string) = (int(args, 0), text(args, 1));
    let count = usize::try_from(count).map_err(|_| "strings: negative Repeat count")?;
    let length = string.len().checked_mul(count).filter(|length| i64::try_from(*length).is_ok());
    context.check_length(length.ok_or("strings: Repeat output length overflow")?)?;
    Ok(string.repeat(count).into())
}

fn indent(context: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    indented(context, int(args, 0), text(args, 1), b"")
}

fn nindent(context: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    indented(context, int(args, 0), text(args, 1), b"\n")
}

/// `lead`, and `string` with so many spaces before each line, empty ones included.
fn indented(context: &Context<'_>, spaces: i64, string: &[u8], lead: &[u8]) -> Result<Value, CallError> {
    let spaces = usize::try_from(spaces).map_err(|_| "strings: negative Repeat count")?;
    let lines = 1 + memchr::memchr_iter(b'\n', string).count();
    let length = spaces.saturating_mul(lines).saturating_add(string.len() + lead.len());
    context.check_length(length)?;
    let mut out = Vec::with_capacity(length);
    out.extend_from_slice(lead);
    for (index, line) in string.split(|byte| *byte == b'\n').enumerate() {
        if index > 0 {
            out.push(b'\n');
        }
        out.resize(out.len() + spaces, b' ');
        out.extend_from_slice(line);
    }
    Ok(out.into())
}

fn replace(context: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let (old, new, string) = (text(args, 0), text(args, 1), text(args, 2));
    if old.is_empty() {
        let characters = explode(string);
        context
            .check_length((characters.len() + 1).saturating_mul(new.len()).saturating_add(string.len()))?;
        let mut out = new.to_vec();
        for character in characters {
            out.extend_from_slice(character);
            out.extend_from_slice(new);
        }
        return Ok(out.into());
    }
    let mut out = Vec::with_capacity(string.len());
    let mut done = 0;
    for found in memmem::find_iter(string, old) {
        out.extend_from_slice(&string[done..found]);
        out.extend_from_slice(new);
        context.check_length(out.len())?;
        done = found + old.len();
    }
    if done == 0 {
        return Ok(args[2].clone());
    }
    out.extend_from_slice(&string[done..]);
    Ok(out.into())
}

fn plural(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    Ok(args[usize::from(int(args, 2) != 1)].clone())
}

fn wrap_words(context: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    Ok(wrap(context, text(args, 1), int(args, 0), b"\n", false)?.into())
}

fn wrap_with(context: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let separator = if text(args, 1).is_empty() { b"\n" } else { text(args, 1) };
    Ok(wrap(context, text(args, 2), int(args, 0), separator, true)?.into())
}

// Values as text.

fn quote(context: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let mut out = String::new();
    for value in args.iter().filter(|value| !matches!(value, Value::Nil)) {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(&quoted(&to_text(context, value)?));
        context.check_length(out.len())?;
    }
    Ok(out.into())
}

fn squote(context: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let mut out = Vec::new();
    for value in args.iter().filter(|value| !matches!(value, Value::Nil)) {
        if !out.is_empty() {
            out.push(b' ');
        }
        out.push(b'\'');
        print_plain(&mut out, value, context.options().limits.output)?;
        out.push(b'\'');
    }
    Ok(out.into())
}

fn cat(context: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let mut out = Vec::new();
    for (index, value) in args.iter().filter(|value| !matches!(value, Value::Nil)).enumerate() {
        if index > 0 {
            out.push(b' ');
        }
        print_plain(&mut out, value, context.options().limits.output)?;
    }
    Ok(out.into())
}

fn to_string(context: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    to_text(context, &args[0]).map(Value::Str)
}

fn to_strings_list(context: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    match &args[0] {
        Value::List(list) if *list.go_type() == Type::STRINGS => Ok(args[0].clone()),
        value => Ok(Value::strings(to_strings(context, value)?)),
    }
}

fn join(context: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let separator = text(args, 0);
    let mut out = Vec::new();
    for (index, item) in to_strings(context, &args[1])?.iter().enumerate() {
        if index > 0 {
            out.extend_from_slice(separator);
        }
        out.extend_from_slice(item);
        context.check_length(out.len())?;
    }
    Ok(out.into())
}

// Strings taken apart.

fn split_list(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    Ok(Value::strings(split(text(args, 1), text(args, 0), -1)))
}

fn split_map(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    Ok(numbered(&split(text(args, 1), text(args, 0), -1)))
}

fn splitn(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    Ok(numbered(&split(text(args, 2), text(args, 0), int(args, 1))))
}

/// The parts under the keys `_0`, `_1` and so on.
fn numbered(parts: &[&[u8]]) -> Value {
    let entry = |(index, part): (usize, &&[u8])| (format!("_{index}").into(), Str::from(*part).into());
    let entries: Entries = parts.iter().enumerate().map(entry).collect();
    Map::typed(Type::STRING_MAP, entries).into()
}

#[cfg(test)]
mod tests {
    use crate::funcs::testing::{check, check_refusals};

    // What Helm 4.3.1 makes of these.
    const CASES: &[(&str, &str)] = &[
        (
            r#"{{ abbrev 5 "hello world" }}|{{ abbrev 3 "hello" }}|{{ abbrev 11 "hello world" }}"#,
            "he...|hello|hello world",
        ),
        (
            r#"{{ abbrevboth 5 10 "1234 5678 9123" }}|{{ abbrevboth 9 7 "1234 5678 9123 4567" }}|{{ abbrevboth 50 8 "hello world" }}|{{ abbrevboth 1 6 "hello world" }}"#,
            "...5678...|... ...|...world|hello world",
        ),
        (
            r#"{{ trunc 3 "hello" }}|{{ trunc -3 "hello" }}|{{ trunc 9 "hello" }}|{{ trunc -9 "hello" }}|{{ trunc 0 "hello" }}"#,
            "hel|llo|hello|hello|",
        ),
        (
            r#"{{ substr 1 3 "hello" }}|{{ substr -1 3 "hello" }}|{{ substr 2 -1 "hello" }}|{{ substr 2 99 "hello" }}"#,
            "el|hel|llo|llo",
        ),
        (
            r#"{{ trim " \u00a0\ta b\n " }}|{{ trimAll "$-" "-$a$b-$" }}|{{ trimPrefix "-" "--a" }}|{{ trimSuffix "-" "a--" }}|{{ trimall "é" "éaé" }}"#,
            "a b|a$b|-a|a-|a",
        ),
        (
            r#"{{ nospace " a b\tc " }}|{{ nospace "ﬁ ß" | printf "%q" }}|{{ initials "Ab cd\tEf" }}|{{ initials "é à" | printf "%q" }}"#,
            r#"abc|"ï¬\u0081Ã\u009f"|AcE|"ÃÃ""#,
        ),
        (
            r#"{{ upper "straße ŉ ǆ ﬁ" }}|{{ lower "ΣΑΣ İ" }}|{{ title "o'neil foo_bar ǆ-x 1a" }}|{{ untitle "Hello World" }}|{{ swapcase "aB cd ǆx Ǆ" }}"#,
            "STRAßE ŉ Ǆ ﬁ|σασ i|O'Neil Foo_bar ǅ-X 1a|hello world|Ab CD ǅX ǆ",
        ),
        (
            r#"{{ repeat 3 "ab" }}|{{ repeat 0 "ab" }}|{{ replace "" "-" "aéb" }}|{{ replace "a" "" "banana" }}|{{ replace "ana" "X" "banana" }}"#,
            "ababab||-a-é-b-|bnn|bXna",
        ),
        (
            r#"{{ indent 2 "a\n\nb" }}|{{ nindent 2 "a\nb" }}|{{ indent 0 "a" }}|{{ nindent 1 "" }}"#,
            "  a\n  \n  b|\n  a\n  b|a|\n ",
        ),
        (
            r#"{{ quote "a\"b" nil 1 (list 1 nil) 1e6 }}|{{ squote "a'b" nil true }}|{{ cat "a" nil "" 1 }}|{{ cat nil }}"#,
            r#""a\"b" "1" "[1 <nil>]" "1e+06"|'a'b' 'true'|a  1|"#,
        ),
        (
            r#"{{ plural "one" "many" 1 }}|{{ plural "one" "many" 0 }}|{{ contains "b" "abc" }}|{{ hasPrefix "a" "abc" }}|{{ hasSuffix "" "abc" }}"#,
            "one|many|true|true|true",
        ),
        (
            r#"{{ wrap 5 "hello big world" }}|{{ wrap 3 "hello big world" }}|{{ wrapWith 3 "-" "hello big" }}|{{ wrapWith 3 "" "abcd" }}|{{ wrap 0 "a b" }}"#,
            "hello\nbig\nworld|hello\nbig\nworld|hel-lo-big|abc\nd|a\nb",
        ),
        (
            r#"{{ toString (list 1 nil "a") }}|{{ toString nil }}|{{ toStrings (list 1 nil "a") }}|{{ toStrings "a" }}|{{ toStrings nil }}"#,
            "[1 <nil> a]|<nil>|[1 a]|[a]|[]",
        ),
        (
            r#"{{ join "-" (list 1 nil "a") }}|{{ join "-" "abc" }}|{{ join "-" nil }}|{{ join "" (split "," "b,a") }}"#,
            "1-a|abc||map[_0:b _1:a]",
        ),
        (
            r#"{{ split "," "a,b" }}|{{ split "" "aé" }}|{{ split "x" "" }}|{{ splitn "," 2 "a,b,c" }}|{{ splitn "," 0 "a" }}|{{ splitn "" 2 "aéb" }}"#,
            "map[_0:a _1:b]|map[_0:a _1:é]|map[_0:]|map[_0:a _1:b,c]|map[]|map[_0:a _1:éb]",
        ),
        (
            r#"{{ splitList "," ",a," | toJson }}|{{ splitList "" "" | toJson }}|{{ splitList "" "é1" | toJson }}|{{ typeOf (splitList "," "a") }}|{{ hello }}"#,
            r#"["","a",""]|[]|["é","1"]|[]string|Hello!"#,
        ),
    ];
    const REFUSALS: &[(&str, &str)] = &[
        (r#"{{ substr 3 1 "hello" }}"#, "runtime error: slice bounds out of range [3:1]"),
        (r#"{{ substr 9 -1 "hello" }}"#, "runtime error: slice bounds out of range [9:5]"),
        (r#"{{ substr -1 9 "hello" }}"#, "runtime error: slice bounds out of range [:9] with length 5"),
        (r#"{{ substr -1 -2 "hello" }}"#, "runtime error: slice bounds out of range [:-2]"),
        (r#"{{ repeat -1 "a" }}"#, "strings: negative Repeat count"),
        (r#"{{ repeat 9223372036854775807 "ab" }}"#, "strings: Repeat output length overflow"),
        (r#"{{ indent -1 "a" }}"#, "strings: negative Repeat count"),
    ];

    #[test]
    fn answers_are_those_of_helm() {
        check(CASES);
    }

    #[test]
    fn refusals_are_in_the_words_of_helm() {
        check_refusals(REFUSALS);
    }
}
