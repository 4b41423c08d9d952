//! Edits of texts that nobody would write: none panics, and what comes out reads as planned, as the proof in `apply` and
//! another look from outside say.

use diagnostic::Error;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::Config;
use yamledit::{Content, Edits, File};
use yamltree::{Kind, Node};

/// Pieces of which texts are built.
const PIECES: &[&str] = &[
    "a",
    "b: ",
    "c:",
    "- ",
    "-",
    "? ",
    ": ",
    "{",
    "}",
    "[",
    "]",
    ", ",
    ",",
    "\n",
    "\n  ",
    "\r\n",
    "\n\n",
    "\r",
    " ",
    "\t",
    "# c",
    " # d",
    "'x'",
    "\"y\\n\"",
    "\"",
    "'",
    "&n ",
    "*n",
    "!!str ",
    "!t ",
    "|\n  t\n",
    ">-\n ",
    "---\n",
    "...\n",
    "<<: *n",
    "~",
    "é",
    "\u{FEFF}",
    "\u{2028}",
    "1.0",
    "%YAML 1.1\n",
];

fn texts() -> impl Strategy<Value = String> {
    prop::collection::vec(select(PIECES), 0..24).prop_map(|pieces| pieces.concat())
}

/// All nodes of a file.
fn nodes<'f>(file: &'f File<'f>) -> Vec<&'f Node> {
    let mut found: Vec<&Node> = file.documents().iter().map(|document| &document.root).collect();
    let mut next = 0;
    while let Some(node) = found.get(next) {
        match &node.kind {
            Kind::Scalar(_) | Kind::Alias(_) => {}
            Kind::Sequence(items) => found.extend(items),
            Kind::Mapping(entries) => {
                found.extend(entries.iter().flat_map(|entry| [&entry.key, &entry.value]));
            }
        }
        next += 1;
    }
    found
}

fn check<'f>(file: &'f File<'f>, edit: impl FnOnce(&mut Edits<'f>) -> Result<(), Error>) {
    let mut edits = Edits::new(file);
    if edit(&mut edits).is_ok()
        && let Ok(Some(edited)) = edits.apply()
    {
        File::parse(&edited, 0).expect("what is edited is YAML");
    }
}

proptest! {
    #![proptest_config(Config { cases: 4_000, failure_persistence: None, ..Config::default() })]

    #[test]
    fn no_edit_panics(text in texts(), value in select(vec!["v1", "1.20", "", "a: b", "x # y", "it's", "\n"])) {
        let Ok(file) = File::parse(&text, 0) else { return Ok(()) };
        let content = || Content::Sequence(vec![Content::strings(&[("name", value), ("newTag", value)])]);
        check(&file, |edits| edits.fill(vec![(value.to_owned(), content())]));
        for node in nodes(&file) {
            check(&file, |edits| edits.set(node, value).map(drop));
            check(&file, |edits| edits.insert(node, value, content()));
            check(&file, |edits| edits.push(node, content()));
            check(&file, |edits| edits.replace_null(node, vec![content()]));
            for entry in node.entries().into_iter().flatten() {
                check(&file, |edits| edits.remove(node, entry));
                check(&file, |edits| edits.rename(entry, value));
            }
        }
    }
}
