//! Names in `\p{...}`, as Go resolves them: categories by short or long name, scripts by long name
//! only, in any case and with `_`, `-` and space left out.

use std::sync::LazyLock;

use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, HirKind};

/// Script names of four letters. Every other four-letter name is an ISO 15924 code (`Grek`), which
/// Go does not know.
const FOUR_LETTER_SCRIPTS: &[&str] =
    &["ahom", "cham", "kawi", "lisu", "miao", "modi", "newa", "thai", "toto"];

/// The code points Go means by `name`, without any case folding.
pub(crate) fn table(name: &str) -> Option<ClassUnicode> {
    let name: String = name.chars().filter(|c| !"_- ".contains(*c)).map(|c| c.to_ascii_lowercase()).collect();
    // The `is` prefix (`IsGreek`) is Unicode's, and regex-syntax's, but not Go's.
    if name.starts_with("is") || !name.bytes().all(|b| b.is_ascii_lowercase()) {
        return None;
    }
    match name.as_str() {
        "" => None,
        "any" => Some(range('\0', char::MAX)),
        "ascii" => Some(range('\0', '\x7F')),
        "assigned" => lookup("gc", "cn").map(|mut unassigned| {
            unassigned.negate();
            unassigned
        }),
        // Text has no surrogates.
        "cs" | "surrogate" => Some(ClassUnicode::empty()),
        _ => lookup("gc", &name).or_else(|| {
            let is_code = name.len() == 4 && !FOUR_LETTER_SCRIPTS.contains(&name.as_str());
            if is_code { None } else { lookup("sc", &name) }
        }),
    }
}

/// Go's `unicode.IsLetter` or `unicode.IsDigit`.
pub(crate) fn is_letter_or_digit(c: char) -> bool {
    static WORD: LazyLock<Vec<ClassUnicodeRange>> = LazyLock::new(|| {
        let mut word = table("L").unwrap_or_else(ClassUnicode::empty);
        word.union(&table("Nd").unwrap_or_else(ClassUnicode::empty));
        word.ranges().to_vec()
    });
    if c.is_ascii() {
        return c.is_ascii_alphanumeric();
    }
    let after = WORD.partition_point(|range| range.start() <= c);
    after > 0 && c <= WORD[after - 1].end()
}

fn range(low: char, high: char) -> ClassUnicode {
    ClassUnicode::new([ClassUnicodeRange::new(low, high)])
}

/// regex-syntax shows its tables only through its parser.
fn lookup(property: &str, value: &str) -> Option<ClassUnicode> {
    let hir = regex_syntax::parse(&format!(r"\p{{{property}={value}}}")).ok()?;
    match hir.into_kind() {
        HirKind::Class(Class::Unicode(class)) => Some(class),
        HirKind::Literal(one) => {
            let c = std::str::from_utf8(&one.0).ok()?.chars().next()?;
            Some(range(c, c))
        }
        _ => None,
    }
}
