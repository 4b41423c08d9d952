//! Answers of Go 1.27's regexp, asked through Helm 4.3's `regex*` functions.

use goregex::{Regex, quote_meta};

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).unwrap_or_else(|e| panic!("{e}"))
}

fn find_all<'t>(pattern: &str, text: &'t str) -> Vec<&'t str> {
    regex(pattern).find_all(text, -1).into_iter().map(|range| &text[range]).collect()
}

fn replace_all<T: AsRef<[u8]> + ?Sized>(pattern: &str, text: &T, template: &str) -> Vec<u8> {
    regex(pattern).replace_all(text, template.as_bytes())
}

fn split<'t>(pattern: &str, text: &'t str, limit: i64) -> Vec<&'t str> {
    regex(pattern).split(text, limit).into_iter().map(|range| &text[range]).collect()
}

#[test]
fn errors() {
    for (pattern, text) in [
        ("[", "missing closing ]: `[`"),
        ("a[b", "missing closing ]: `[b`"),
        ("[[:alpha:", "missing closing ]: `[[:alpha:`"),
        ("(?i", "invalid or unsupported Perl syntax: `(?i`"),
        ("(?x)", "invalid or unsupported Perl syntax: `(?x`"),
        ("(?=a)", "invalid or unsupported Perl syntax: `(?=`"),
        ("(?P=n)", "invalid or unsupported Perl syntax: `(?P`"),
        ("(?'n'a)", "invalid or unsupported Perl syntax: `(?'`"),
        ("(?i-)", "invalid or unsupported Perl syntax: `(?i-)`"),
        ("(?<=a)b", "invalid named capture: `(?<=a)b`"),
        ("(?P<n", "invalid named capture: `(?P<n`"),
        ("(?P<é>a)", "invalid named capture: `(?P<é>`"),
        ("a**", "invalid nested repetition operator: `**`"),
        ("x{2}{3}", "invalid nested repetition operator: `{2}{3}`"),
        ("x*??", "invalid nested repetition operator: `*??`"),
        ("a{1001}", "invalid repeat count: `{1001}`"),
        ("(a{100}){11}", "invalid repeat count: `{11}`"),
        ("x{2,1}", "invalid repeat count: `{2,1}`"),
        ("*", "missing argument to repetition operator: `*`"),
        ("a|*", "missing argument to repetition operator: `*`"),
        (r"\Q\E*", "missing argument to repetition operator: `*`"),
        (r"\C", r"invalid escape sequence: `\C`"),
        (r"\Z", r"invalid escape sequence: `\Z`"),
        (r"\8", r"invalid escape sequence: `\8`"),
        (r"\1", r"invalid escape sequence: `\1`"),
        (r"\u0041", r"invalid escape sequence: `\u`"),
        (r"\x{110000}", r"invalid escape sequence: `\x{110000`"),
        (r"\xg1", r"invalid escape sequence: `\xg1`"),
        (r"\é", r"invalid escape sequence: `\é`"),
        (r"[a-\d]", r"invalid escape sequence: `\d`"),
        (r"[\b]", r"invalid escape sequence: `\b`"),
        (r"\p{Grek}", r"invalid character class range: `\p{Grek}`"),
        (r"\p{IsGreek}", r"invalid character class range: `\p{IsGreek}`"),
        (r"\p", r"invalid character class range: `\p`"),
        ("[b-a]", "invalid character class range: `b-a`"),
        ("[[:foo:]]", "invalid character class range: `[:foo:]`"),
        ("a)", "unexpected ): `a)`"),
        ("(a", "missing closing ): `(a`"),
        (r"a\", "trailing backslash at end of expression: ``"),
    ] {
        let error = Regex::new(pattern).err().map(|e| e.to_string());
        assert_eq!(error, Some(format!("error parsing regexp: {text}")), "{pattern}");
    }
}

/// Expected values: what the `regex` crate reads in another way, or not at all.
#[test]
fn syntax() {
    for (pattern, text, found) in [
        (r"\Q.*\E+", "a.***", vec![".***"]),
        (r"\Qa.b", "a.b axb", vec!["a.b"]),
        ("a{,2}", "aa a{,2}", vec!["a{,2}"]),
        ("x{2", "x{2", vec!["x{2"]),
        ("[[]", "[]", vec!["["]),
        ("[a-z&&[^b]]", "b&[^]] a]", vec!["^]", "a]"]),
        (r"[\d-z]", "1-z5", vec!["1", "-", "z", "5"]),
        ("[]a]", "a]b", vec!["a", "]"]),
        (r"\w+", "héllo wörld", vec!["h", "llo", "w", "rld"]),
        (r"\s+", "a \t\u{a0}\u{b}b", vec![" \t"]),
        (r"[[:space:]]+", " \u{b} ", vec![" \u{b} "]),
        (r"\bfoo", "éfoo", vec!["foo"]),
        (r"\d", "٣3", vec!["3"]),
        (r"\0\101\x41\x{263a}", "\0AA☺", vec!["\0AA☺"]),
        (r"\p{greek}|\p{Old_Italic}|\p{^L}|\p{Cased_Letter}", "αA1", vec!["α", "A", "1"]),
        ("(?P<1n>a)(?P<n>b)(?<n>c)", "abc", vec!["abc"]),
        ("a(?i)*", "aab", vec!["aa", ""]),
        ("(?i)k", "kK\u{212a}", vec!["k", "K", "\u{212a}"]),
        (r"(?i)\W", "s\u{17f}\u{212a}-", vec!["-"]),
        ("(?i)[^k]", "kK\u{212a}x", vec!["x"]),
        ("(?i)[[:upper:]]", "aB\u{17f}", vec!["a", "B", "\u{17f}"]),
        ("(?U)a+", "aaa", vec!["a", "a", "a"]),
        ("(?m)^b$", "a\nb\nc", vec!["b"]),
        ("(?s).", "\n", vec!["\n"]),
        (".", "\n", vec![]),
        ("(|a)+", "aaa", vec!["", "", "", ""]),
        ("(?:|a)*", "aaa", vec!["", "", "", ""]),
        ("a*", "baaac", vec!["", "aaa", ""]),
    ] {
        assert_eq!(find_all(pattern, text), found, "{pattern} on {text:?}");
    }
}

#[test]
fn templates() {
    for (pattern, text, template, replaced) in [
        ("(a)", "a", "${1}W $1W ${01} $01 $x ${ $$ $", "aW     ${ $ $"),
        ("(?P<e>a)", "a", "$eé|${eé}", "|"),
        ("(?P<n>a)|(?P<n>b)", "ab", "[${n}]", "[a][b]"),
        ("(a*)*", "b", "<$1>", "<>b<>"),
        ("(a*)+", "ab", "<$1>", "<a>b<>"),
        ("(a){0}(b)", "ab", "<$1$2>", "a<b>"),
        ("(a){0}b", "ab", "<$1$0>", "a<b>"),
    ] {
        let got = String::from_utf8(replace_all(pattern, text, template)).unwrap();
        assert_eq!(got, replaced, "{pattern} by {template}");
    }
}

#[test]
fn groups_that_cannot_match_are_counted() {
    assert_eq!(regex("(a){0}b").captures("ab"), Some(vec![Some(1..2), None]));
}

#[test]
fn splits() {
    assert_eq!(split("a*", "abaabaccadaaae", 5), ["", "b", "b", "c", "cadaaae"]);
    assert_eq!(split("", "héy", -1), ["h", "é", "y"]);
    assert_eq!(split("a", "", -1), [""]);
    assert!(split("", "", -1).is_empty());
    assert!(split("a", "aaa", 0).is_empty());
}

/// Each byte of a cut character is one U+FFFD, also to a pattern that asks for it.
#[test]
fn stray_bytes() {
    let text = b"a\xE2\x98b";
    assert_eq!(replace_all(".", text, "<$0>"), b"<a><\xE2><\x98><b>");
    assert_eq!(replace_all("[^ab]", text, "x"), b"axxb");
    assert_eq!(replace_all(r"\x{FFFD}", text, "x"), b"axxb");
    assert_eq!(replace_all("\u{FFFD}+", text, "x"), b"axb");
    assert_eq!(replace_all("", text, "-"), b"-a-\xE2-\x98-b-");
    assert_eq!(replace_all(r"\B", text, "."), b"a\xE2.\x98b");
    assert!(regex(r"^\x{FFFD}$").is_match(b"\xE2"));
    assert!(!regex(r"\x{D800}").is_match("\u{FFFD}"));
}

#[test]
fn nesting() {
    let nested = |depth: usize, inner: &str| format!("{}{inner}{}", "(".repeat(depth), ")".repeat(depth));
    assert!(regex(&nested(999, "a")).is_match("a"));
    assert!(regex(&nested(998, "ab|cd")).is_match("ab"));
    let branches = format!("{}x{}", "(?:a(b|".repeat(190), ")*c?)+".repeat(190));
    assert!(regex(&branches).is_match("abac"));
    let twins = format!("{0}{1}a|{0}{1}b", "(?:".repeat(990), format!("x{}", ")?".repeat(990)));
    assert!(regex(&twins).is_match("xb"));
    for pattern in [nested(1000, "a"), nested(999, "ab|cd")] {
        let error = Regex::new(&pattern).err().map(|e| e.to_string());
        assert_eq!(error, Some(format!("error parsing regexp: expression nests too deeply: `{pattern}`")));
    }
}

/// As Kustomize puts selectors together: a stray parenthesis may pair with its own.
#[test]
fn anchored() {
    assert!(Regex::anchored("a)|(?:b").is_ok_and(|regex| regex.is_match("ax") && regex.is_match("xb")));
    assert!(Regex::anchored("a|b").is_ok_and(|regex| regex.is_match("a") && !regex.is_match("ax")));
    assert!(Regex::anchored("web").is_ok_and(|regex| regex.is_match("web") && !regex.is_match("web-1")));
    let error = Regex::anchored("a[").unwrap_err();
    assert_eq!(error.to_string(), "error parsing regexp: missing closing ]: `[)$`");
    assert_eq!(error.span(), 1..2);
}

#[test]
fn quoting() {
    assert_eq!(quote_meta(r"1.2.3-[a]{b}$^é\".as_bytes()), r"1\.2\.3-\[a\]\{b\}\$\^é\\".as_bytes());
}
