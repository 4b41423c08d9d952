//! That a text which is written stays a string for every reader of YAML, and gets quotes only for one that needs them.
//!
//! The readers are the schemas as they are published: that of YAML 1.1 with the expressions of its type repository as
//! PyYAML corrects them, the core schema of YAML 1.2, and both generations of go-yaml as `yamltree` has them.

use std::sync::LazyLock;

use goregex::Regex;
use proptest::prelude::*;
use proptest::test_runner::Config;
use yamledit::{Edits, File, Path};
use yamltree::{Dialect, Resolved, resolve};

/// <https://yaml.org/type/>
const YAML_1_1: &[&str] = &[
    "~|null|Null|NULL|",
    "y|Y|yes|Yes|YES|n|N|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF",
    "[-+]?0b[01_]+|[-+]?0[0-7_]+|[-+]?(?:0|[1-9][0-9_]*)|[-+]?0x[0-9a-fA-F_]+|[-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+",
    r"[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+][0-9]+)?|\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?",
    r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)",
    "[0-9]{4}-[0-9]{2}-[0-9]{2}",
    r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt]|[ \t]+)[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]*)?(?:[ \t]*(?:Z|[-+][0-9]{1,2}(?::[0-9]{2})?))?",
    "<<|=",
];

/// <https://yaml.org/spec/1.2.2/#103-core-schema>
const YAML_1_2: &[&str] = &[
    "~|null|Null|NULL|",
    "true|True|TRUE|false|False|FALSE",
    "[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+",
    r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?",
    r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)",
];

static SCHEMAS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    let whole = |expression: &&str| Regex::new(&format!("^(?:{expression})$")).expect("an expression");
    YAML_1_1.iter().chain(YAML_1_2).map(whole).collect()
});

/// Returns true if some reader takes a plain text for something else than a string.
fn needs_quotes(text: &str) -> bool {
    SCHEMAS.iter().any(|schema| schema.is_match(text))
        || [Dialect::V2, Dialect::V3].iter().any(|dialect| resolve(text, *dialect) != Resolved::Str)
}

/// Texts as tags can be, most of them close to a number, a date or a word.
fn tag_like() -> impl Strategy<Value = String> {
    let words =
        ["null", "NULL", "true", "False", "yes", "No", "on", "OFF", "y", "N", "nan", "inf", "e", "latest"];
    prop_oneof![
        4 => "[0-9][0-9_.eE]{0,6}",
        2 => "[0-9]{1,12}",
        2 => "0[xXoObB][0-9a-fA-F_]{0,5}",
        2 => "[0-9]{1,3}\\.[0-9]{0,3}([eE][0-9-]{0,3})?",
        2 => "[0-9]{3,4}-[0-9]{1,2}-[0-9]{1,2}(T[0-9]{2})?",
        1 => "[0-9_]{1,6}",
        1 => proptest::sample::select(words.to_vec()).prop_map(str::to_owned),
        1 => "[A-Za-z0-9_][A-Za-z0-9._-]{0,127}",
    ]
}

proptest! {
    #![proptest_config(Config { cases: 6_000, failure_persistence: None, ..Config::default() })]

    #[test]
    fn a_tag_stays_a_string_to_every_reader(tag in tag_like()) {
        let file = File::parse("tag: old # c\n", 0).unwrap();
        let mut edits = Edits::new(&file);
        edits.set(file.find(&Path::key("tag")).unwrap(), &tag).unwrap();
        let edited = edits.apply().unwrap().unwrap();
        let plain = format!("tag: {tag} # c\n");
        let quoted = format!("tag: \"{tag}\" # c\n");
        prop_assert_eq!(edited, if needs_quotes(&tag) { quoted } else { plain });
    }
}
