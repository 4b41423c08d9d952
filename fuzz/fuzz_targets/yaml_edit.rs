//! Edits an arbitrary text. Run with
//! `RUSTC_BOOTSTRAP=1 cargo fuzz run -s none yaml_edit -- -max_total_time=600`.
//!
//! The first line of the input is a path, the second a value, the rest the text. The path's scalar is set to the value,
//! and what can be is added, renamed and removed. Nothing may panic, and what is edited is YAML; around the scalar every
//! byte stays, and when the edit is made again all is right.

#![no_main]

use libfuzzer_sys::fuzz_target;
use yamledit::{Edits, File, Content, Path};
use yamltree::Node;

fuzz_target!(|bytes: &[u8]| {
    let Ok(input) = std::str::from_utf8(bytes) else { return };
    let mut parts = input.splitn(3, '\n');
    let (Some(path), Some(value), Some(text)) = (parts.next(), parts.next(), parts.next()) else { return };
    let (Ok(path), Ok(file)) = (Path::parse(path), File::parse(text, 0)) else { return };
    for document in file.documents() {
        add_and_remove(&file, &document.root, value);
    }
    let Ok(node) = file.find(&path) else { return };
    add_and_remove(&file, node, value);
    let mut edits = Edits::new(&file);
    if edits.set(node, value).is_err() {
        return;
    }
    let Ok(Some(edited)) = edits.apply() else { return };
    let (start, end) = (node.span.start as usize, node.span.end as usize);
    assert!(edited.starts_with(&text[..start]) && edited.ends_with(&text[end..]));
    let file = File::parse(&edited, 0).expect("what is edited is YAML");
    let node = file.find(&path).expect("what was there is there");
    assert_eq!(node.text(), Some(value));
    assert!(!Edits::new(&file).set(node, value).expect("what was set can be set"));
});

/// Adds to a node and takes from it; that an edit is refused is no fault, so the proof is what is tried.
fn add_and_remove<'f>(file: &'f File<'f>, node: &'f Node, value: &str) {
    let entry = || Content::Sequence(vec![Content::strings(&[("name", value), ("newTag", value)])]);
    check(file, |edits| edits.insert(node, value, entry()));
    check(file, |edits| edits.push(node, entry()));
    for entry in node.entries().into_iter().flatten().take(8) {
        check(file, |edits| edits.remove(node, entry));
        check(file, |edits| edits.rename(entry, value));
    }
}

fn check<'f>(file: &'f File<'f>, edit: impl FnOnce(&mut Edits<'f>) -> Result<(), diagnostic::Error>) {
    let mut edits = Edits::new(file);
    if edit(&mut edits).is_ok()
        && let Ok(Some(edited)) = edits.apply()
    {
        File::parse(&edited, 0).expect("what is edited is YAML");
    }
}
