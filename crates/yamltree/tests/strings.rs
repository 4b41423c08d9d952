//! Strings as the real tools write them.
//!
//! The expected forms are the answers of Kustomize 5.8.1 (go-yaml v2, a value in a ConfigMap's `data`) and of Helm
//! 4.3.1's `toYamlPretty` (go-yaml v3, a value of the outermost map).

use yamltree::{Dialect, EmitOptions, Emitter, Start};

/// A string with both forms of it.
type Row = (&'static str, &'static str, &'static str);

const fn same(text: &'static str, written: &'static str) -> Row {
    (text, written, written)
}

const fn apart(text: &'static str, v2: &'static str, v3: &'static str) -> Row {
    (text, v2, v3)
}

#[rustfmt::skip]
const STRINGS: &[Row] = &[
    same("a", "a"),
    same("", "\"\""),
    same("a b", "a b"),
    same(" a", "' a'"),
    same("a ", "'a '"),
    same("#a", "'#a'"),
    same("a#", "a#"),
    same("a #b", "'a #b'"),
    same("a:", "'a:'"),
    same("a: b", "'a: b'"),
    same("a:b", "a:b"),
    same(":a", ":a"),
    same("- a", "'- a'"),
    same("-a", "-a"),
    same("-", "'-'"),
    same("--- a", "'--- a'"),
    same("...", "'...'"),
    same("?", "'?'"),
    same("? a", "'? a'"),
    same("?a", "?a"),
    same("@a", "'@a'"),
    same("%a", "'%a'"),
    same("&a", "'&a'"),
    same("*a", "'*a'"),
    same("!a", "'!a'"),
    same("|", "'|'"),
    same(">", "'>'"),
    same("'a'", "'''a'''"),
    same("it's", "it's"),
    same("\"a\"", "'\"a\"'"),
    same("[a]", "'[a]'"),
    same("a[0]", "a[0]"),
    same("{a: b}", "'{a: b}'"),
    same("a, b", "a, b"),
    same("`a`", "'`a`'"),
    same("\\a", "\\a"),
    same("a\\b", "a\\b"),
    same("=", "="),
    same("<<", "<<"),
    same("~", "\"~\""),
    same("null", "\"null\""),
    same("nULL", "nULL"),
    same("true", "\"true\""),
    same("Yes", "\"Yes\""),
    same("no", "\"no\""),
    same("y", "\"y\""),
    same("N", "\"N\""),
    same("off", "\"off\""),
    same("0", "\"0\""),
    same("12", "\"12\""),
    same("-1", "\"-1\""),
    same("+1", "\"+1\""),
    same("1.5", "\"1.5\""),
    same(".5", "\".5\""),
    same("1e3", "\"1e3\""),
    same("0x1F", "\"0x1F\""),
    same("0o7", "\"0o7\""),
    same("017", "\"017\""),
    same("08", "\"08\""),
    same("0b1", "\"0b1\""),
    same("1_000", "\"1_000\""),
    same(".inf", "\".inf\""),
    same(".nan", "\".nan\""),
    same("12:30", "\"12:30\""),
    same("12:60", "12:60"),
    same("190:20:30.5", "\"190:20:30.5\""),
    same("2001-01-01", "\"2001-01-01\""),
    same("2001-1-1 1:2:3", "\"2001-1-1 1:2:3\""),
    same("1.2.3", "1.2.3"),
    same("a\nb", "|-\n  a\n  b"),
    same("a\nb\n", "|\n  a\n  b"),
    same("a\n\n", "|+\n  a\n"),
    same("\na", "|2-\n\n  a"),
    same("\n", "|2+\n"),
    same(" a\nb", "|2-\n   a\n  b"),
    same("a\n b", "|-\n  a\n   b"),
    same("a \nb", "\"a \\nb\""),
    same("a\nb ", "\"a\\nb \""),
    same("a\tb", "\"a\\tb\""),
    same("\ta", "\"\\ta\""),
    same("a\r\nb\n", "\"a\\r\\nb\\n\""),
    same("a\0b", "\"a\\0b\""),
    same("a\u{1B}", "\"a\\e\""),
    same("é", "é"),
    same("日本", "日本"),
    same("😀", "\"\\U0001F600\""),
    same("a\u{A0}b", "a\u{A0}b"),
    apart("a\u{2028}b", "'a\u{2028}    b'", "'a\u{2028}  b'"),
    same("\u{FEFF}a b", "\"\\uFEFF\\x61\\x20\\x62\""),
    same("a\u{FEFF}b", "\"a\\uFEFFb\""),
    same("a\u{200B}b", "a\u{200B}b"),
    apart("word word word word word word word word word word word word word word word word word word word word ", "'word word word word word word word word word word word word word word word\n  word word word word word '", "'word word word word word word word word word word word word word word word word word word word word '"),
    apart("word word word word word word word word word word word word word word word word word word word word", "word word word word word word word word word word word word word word word\n  word word word word word", "word word word word word word word word word word word word word word word word word word word word"),
    apart("it's word word word word word word word word word word word word word word word word word word word word: x", "'it''s word word word word word word word word word word word word word\n  word word word word word word word: x'", "'it''s word word word word word word word word word word word word word word word word word word word word: x'"),
    apart("éééééééééééééééééééééééééééééééééééééééééééééééééé éééééééééééééééééééééééééééééééééééééééééééééééééé é", "éééééééééééééééééééééééééééééééééééééééééééééééééé éééééééééééééééééééééééééééééééééééééééééééééééééé\n  é", "éééééééééééééééééééééééééééééééééééééééééééééééééé éééééééééééééééééééééééééééééééééééééééééééééééééé é"),
    same("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"),
    apart("12:30 x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x y", "12:30 x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x\n  x x x x x x x x x x x x y", "12:30 x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x y"),
    apart("tab\tword word word word word word word word word word word word word word word word word word word word", "\"tab\\tword word word word word word word word word word word word word word\n  word word word word word word\"", "\"tab\\tword word word word word word word word word word word word word word word word word word word word\""),
    same("two  spaces  two  spaces  two  spaces  two  spaces  two  spaces  two  spaces  two  spaces  two  spaces  two  spaces  two  spaces  end", "two  spaces  two  spaces  two  spaces  two  spaces  two  spaces  two  spaces  two  spaces  two  spaces  two  spaces  two  spaces  end"),
    same("- word  word  word  word  word  word  word  word  word  word  word  word  word  word  word  word  word  word  word  word  end", "'- word  word  word  word  word  word  word  word  word  word  word  word  word  word  word  word  word  word  word  word  end'"),
];

#[test]
fn kustomize_writes_a_value_of_a_config_map() {
    for (text, wanted, _) in STRINGS {
        let mut out = String::new();
        let mut emitter = Emitter::new(&mut out, EmitOptions::SIGS);
        emitter.mapping_start(Start::default());
        emitter.string("data");
        emitter.mapping_start(Start::default());
        emitter.string("k00000");
        emitter.string(text);
        emitter.mapping_end();
        emitter.mapping_end();
        emitter.document_end();
        assert_eq!(out, format!("data:\n  k00000: {}\n", indented(wanted)), "{text:?}");
    }
}

#[test]
fn helm_writes_a_value_prettily() {
    for (text, _, wanted) in STRINGS {
        let mut out = String::new();
        let options = EmitOptions { dialect: Dialect::V3, indent: 2, compact_sequences: false };
        let mut emitter = Emitter::new(&mut out, options);
        emitter.mapping_start(Start::default());
        emitter.string("k00000");
        emitter.string(text);
        emitter.mapping_end();
        emitter.document_end();
        assert_eq!(out, format!("k00000: {wanted}\n"), "{text:?}");
    }
}

/// The lines after the first with the two columns of `data`.
fn indented(text: &str) -> String {
    let lines: Vec<String> = text.split('\n').map(|line| format!("  {line}")).collect();
    lines.join("\n").trim_start().replace("\n  \n", "\n\n").trim_end_matches("  ").to_owned()
}
