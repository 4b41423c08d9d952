//! Expected values follow from fluxcd/pkg's `envsubst`, by function.

use super::*;

fn variables(pairs: &[(&str, &str)]) -> Variables {
    let values = pairs.iter().map(|(name, value)| ((*name).to_owned(), Value::from(*value))).collect();
    Variables { values, has_unknown: false }
}

fn all() -> Variables {
    variables(&[
        ("v", "abcABC123"),
        ("path", "/etc/app/app.yaml"),
        ("uni", "éàç"),
        ("empty", ""),
        ("n", "-3"),
        ("one", "1"),
        ("self", "${v}"),
    ])
}

fn substituted(text: &str) -> Result<String, String> {
    substitute(text, &all(), Mode::Lenient).map_err(|error| error.message)
}

#[test]
fn expressions_give_what_flux_gives() {
    for (text, want) in [
        // parseAny: only `${` counts, and of two dollar signs one stays.
        ("a $v b", "a $v b"),
        ("${v}", "abcABC123"),
        ("$${v}", "${v}"),
        ("$$${v}", "$abcABC123"),
        ("$$v $$$$", "$v $$"),
        ("${none}", ""),
        ("x${v}y${one}z", "xabcABC123y1z"),
        // What a value holds is not looked at again.
        ("${self}", "${v}"),
        ("{{ $v }} $( $", "{{ $v }} $( $"),
        // toLen counts bytes.
        ("${#v} ${#uni} ${#none}", "9 6 0"),
        ("${v,} ${v^} ${v,,} ${v^^} ${uni^}", "abcABC123 AbcABC123 abcabc123 ABCABC123 Éàç"),
        // An operator that lookupFunc does not know is a default without arguments.
        ("${v,^}", "abcABC123"),
        // toSubstr
        ("${v:3} ${v:3:3} ${v:9}. ${v:7:9}", "ABC123 ABC . 23"),
        ("${v:${n}} ${v:${n}:1}", "123 1"),
        ("${v:x} ${v:1:x} ${v: -3}", "abcABC123 abcABC123 abcABC123"),
        ("${v:+3}", "abcABC123"),
        ("${v:1::2}", "bc"),
        ("${none:0:1}.", "."),
        // Defaults: all operators mean the same, and only the empty value counts.
        ("${none=d} ${none:=d} ${none:-d} ${none:?d} ${none:+d}", "d d d d d"),
        ("${v=d} ${v:=d} ${v:-d} ${v:?d} ${v:+d}", "abcABC123 abcABC123 abcABC123 abcABC123 abcABC123"),
        ("${empty:=d} ${none:=}.", "d ."),
        ("${none:=a${one}b${none:=${v:0:1}}c}", "a1bac"),
        // There are no escapes and no pairs of braces in defaults.
        ("${none:=$$x} ${none:={\"a\":1}}", "$$x {\"a\":1}"),
        ("${none:=a\\}b}", "a\\b}"),
        // replaceFirst, replaceAll, replacePrefix, replaceSuffix: texts, no patterns.
        (
            "${v/b/X} ${v//[a-z]/X} ${v/#ab/X} ${v/#b/X} ${v/%23/X} ${v/%2/X}",
            "aXcABC123 abcABC123 XcABC123 abcABC123 abcABC1X abcABC123",
        ),
        ("${v/b/} ${v//b/}", "acABC123 acABC123"),
        ("${v/#ab/} ${v/%23/}", "abcABC123 abcABC123"),
        ("${path//\\//-} ${path/\\/etc/x}", "-etc-app-app.yaml x/app/app.yaml"),
        ("${v/b//c}", "accABC123"),
        ("${v//${empty}/-}", "-a-b-c-A-B-C-1-2-3-"),
        ("${v/b/$$}", "a$cABC123"),
        // A brace does not end what is sought.
        ("${v/}/x}", "abcABC123"),
        // trimShortest and trimLongest; a star matches slashes.
        ("${path##*/} ${path#*/} ${path%.*} ${path%%/*}.", "app.yaml etc/app/app.yaml /etc/app/app ."),
        (
            "${v#abc} ${v#x} ${v%123} ${v#?} ${v#[a-b]} ${v%[1-3]}",
            "ABC123 abcABC123 abcABC bcABC123 bcABC123 abcABC123",
        ),
        // A match of nothing is never tried, so that the shortest match of a star is a byte.
        ("${v#*} ${v##*}. ${v%*}", "bcABC123 . abcABC12"),
        // A pattern that is none leaves the value.
        ("${v#[} ${v##a[}", "abcABC123 abcABC123"),
    ] {
        assert_eq!(substituted(text).as_deref(), Ok(want), "{text}");
    }
}

#[test]
fn what_flux_refuses_is_refused() {
    for (text, want) in [
        ("${}", "`${}` lacks a variable"),
        ("${ v}", "`${ v}` lacks a variable"),
        ("${v", "`${v` is not closed behind its variable"),
        ("${v.x}", "`${v.x}` is not closed behind its variable"),
        ("${v-x}", "`${v-x}` has the operator `-`, which Flux does not know"),
        ("${v+x}", "`${v+x}` has the operator `+`, which Flux does not know"),
        ("${#}", "`${#}` is not a substitution that Flux supports"),
        ("${v:}", "`${v:}` is empty after `:`"),
        ("${v::2}", "`${v::2}` is empty after `:`"),
        ("${v:é}", "`${v:é}` is not a substitution that Flux supports"),
        ("${v:${one}0}", "`${v:${one}` is not a substitution that Flux supports"),
        ("${v#}", "`${v#}` is empty after `#`"),
        ("${v#a${one}}", "`${v#a${one}` is not a substitution that Flux supports"),
        ("${v/a}", "`${v/a}` is not a substitution that Flux supports"),
        ("${v///x}", "`${v///x}` is empty after `//`"),
        ("${v^^^}", "`${v^^^}` is not a substitution that Flux supports"),
        ("${none:=x", "`${none:=x` is empty after `:=`"),
        // At these Flux' own code panics, or gives what YAML refuses.
        ("${v:3:-1}", "`${v:…}` takes a part of negative length, at which Flux fails"),
        ("${uni:1}", "`${uni:…}` cuts a character in two"),
    ] {
        assert_eq!(substituted(text).unwrap_err(), want, "{text}");
    }
    let error = substitute("a: b\nc: ${v-x}\n", &all(), Mode::Lenient).unwrap_err();
    assert_eq!((error.offset, error.hint.as_deref()), (8, Some("write `${v:-…}`")));
}

#[test]
fn strict_mode_wants_values_where_there_is_no_default() {
    let strict = |text: &str| substitute(text, &all(), Mode::Strict).map_err(|error| error.message);
    assert_eq!(strict("${none:=x}${empty}").as_deref(), Ok("x"));
    for text in ["${none}", "${#none}", "${none^^}", "${none:1}", "${none/a/b}", "${v:=${none}}"] {
        assert_eq!(strict(text).unwrap_err(), "the variable `none` is not set", "{text}");
    }
}

#[test]
fn names_are_those_of_shells() {
    for (name, want) in [("a", true), ("_A1", true), ("1a", false), ("a-b", false), ("", false), ("é", false)]
    {
        assert_eq!(is_name(name), want, "{name}");
    }
}

#[test]
fn hostile_expressions_are_bounded() {
    let deep = "${a:=".repeat(10_000);
    assert!(substituted(&deep).unwrap_err().contains("nests deeper"));
    let long = variables(&[("long", &"a".repeat(9 << 10))]);
    assert!(substitute("${long#a}", &long, Mode::Lenient).is_err());
    let binary = Variables { values: [("b".to_owned(), Value::Binary)].into(), has_unknown: false };
    assert_eq!(
        substitute("${b}", &binary, Mode::Lenient).unwrap_err().message,
        "the value of `b` is not text"
    );
    assert_eq!(substitute("x", &binary, Mode::Lenient).as_deref(), Ok("x"));
}

#[test]
fn what_nobody_knows_stays_as_it_is_written() {
    let mut known = all();
    known.values.insert("secret".to_owned(), Value::Unknown);
    let text = "${secret:=x} ${none:=${secret}} ${none} ${v}";
    let lenient = |known: &Variables| substitute(text, known, Mode::Lenient).unwrap();
    assert_eq!(lenient(&known), "${secret:=x} ${secret}  abcABC123");
    known.has_unknown = true;
    assert_eq!(lenient(&known), "${secret:=x} ${secret} ${none} abcABC123");
}
