//! Edits: collected as runs of bytes to replace, made all at once, and proven.

mod add;
mod reconcile;
mod remove;

use std::cell::OnceCell;
use std::ops::Range;

use diagnostic::{Error, ErrorKind, Result};
use yamltree::{Entry, Kind, Node, Span, Style, Tag};

use crate::error::refused;
use crate::file::File;
use crate::proof::{Plan, place};
use crate::scalar::{self, Slot};
use crate::schema::is_string;

/// Edits of a file that were asked for and not made yet.
#[derive(Debug)]
pub struct Edits<'f> {
    file: &'f File<'f>,
    splices: Vec<Splice>,
    plan: Plan,
    /// The list indentation of the file, determined once.
    list_indent: OnceCell<usize>,
}

/// A byte range with its replacement.
#[derive(Debug)]
struct Splice {
    range: Range<usize>,
    text: String,
    /// Of splices at one place, what completes a value comes before what follows it.
    is_addition: bool,
}

impl<'f> Edits<'f> {
    /// No edits yet.
    #[must_use]
    pub fn new(file: &'f File<'f>) -> Self {
        Self { file, splices: Vec::new(), plan: Plan::default(), list_indent: OnceCell::new() }
    }

    /// Returns true if there are no edits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.splices.is_empty()
    }

    /// Sets a scalar to a string and keeps its quotes. Returns false if the scalar already is this string. A null is a
    /// scalar too, even an empty one.
    ///
    /// # Errors
    /// If the node is not a scalar, is an alias or a block scalar, or has a tag of another type than string.
    pub fn set(&mut self, node: &'f Node, text: &str) -> Result<bool> {
        check_editable(node)?;
        if node.text() == Some(text) && is_string(node) {
            return Ok(false);
        }
        let slot = Slot {
            style: node.style,
            in_flow: self.file.is_in_flow(node.span),
            is_tagged: node.tag == Tag::Str,
        };
        let mut written = scalar::write(text, slot);
        if node.span.start == node.span.end {
            // Nothing is written there: what comes before is a colon, a dash, an anchor or a tag; or a key alone.
            written.insert_str(0, if self.is_bare(node) { ": " } else { " " });
        }
        if self.plan.set.insert(place(node.span), text.to_owned()).is_some() {
            return Err(refused("the value has two edits", node.span));
        }
        self.splice(bytes(node.span), written, false);
        Ok(true)
    }

    /// Returns true if an empty value is that of a key without its colon, as in `{a, b: 1}`.
    fn is_bare(&self, node: &Node) -> bool {
        let before = self.file.text()[..node.span.start as usize].trim_end();
        let has_own_text = node.anchor().is_some() || node.tag != Tag::Implicit;
        self.file.is_in_flow(node.span) && !has_own_text && !before.ends_with(':')
    }

    /// Gives an entry of a mapping another key, in the quotes that the key has.
    ///
    /// # Errors
    /// If the key is not an editable scalar.
    pub fn rename(&mut self, entry: &'f Entry, key: &str) -> Result<()> {
        check_editable(&entry.key)?;
        let slot =
            Slot { style: entry.key.style, in_flow: self.file.is_in_flow(entry.key.span), is_tagged: false };
        self.plan.renamed.insert(place(entry.key.span), key.to_owned());
        self.splice(bytes(entry.key.span), scalar::write(key, slot), false);
        Ok(())
    }

    /// The edited text; `None` where nothing was to change.
    ///
    /// # Errors
    /// If edits overlap, or the text does not read as planned once they are made.
    pub fn apply(mut self) -> Result<Option<String>> {
        if self.splices.is_empty() {
            return Ok(None);
        }
        self.splices.sort_by_key(|splice| (splice.range.start, splice.is_addition));
        let old = self.file.text();
        let mut new = String::with_capacity(old.len() + 64);
        let mut done = 0;
        for splice in &self.splices {
            let Some(kept) = old.get(done..splice.range.start) else {
                return Err(Error::new(ErrorKind::Denied, "two edits meet in one place"));
            };
            new.push_str(kept);
            new.push_str(&splice.text);
            done = splice.range.end;
        }
        new.push_str(&old[done..]);
        self.prove(&new)?;
        Ok(Some(new))
    }

    fn prove(&self, new: &str) -> Result<()> {
        let unproven = |why: &str| {
            Error::new(ErrorKind::Internal, format!("the edited file would {why}"))
                .hint("nothing was changed; edit this place by hand")
        };
        let source = self.file.documents().first().map_or(0, |document| document.root.span.source);
        let read = File::parse(new, source)
            .map_err(|error| unproven(&format!("not be valid YAML: {}", error.message())))?;
        let replaced: Vec<_> = self.splices.iter().map(|splice| splice.range.clone()).collect();
        let texts = (self.file.text(), new);
        self.plan
            .check(self.file.documents(), read.documents(), texts, &replaced)
            .map_err(|span| unproven("differ where it must not").at(Span { source, ..span }))
    }

    fn splice(&mut self, range: Range<usize>, text: String, is_addition: bool) {
        self.splices.push(Splice { range, text, is_addition });
    }
}

/// Rejects nodes that have no text of their own to replace.
fn check_editable(node: &Node) -> Result<()> {
    let deny = |message: String| Err(refused(message, node.span));
    match &node.kind {
        Kind::Alias(name) => {
            let error =
                refused(format!("the value is the alias `*{name}`, shared with other places"), node.span);
            return Err(error.hint(format!("edit the anchor `&{name}`, or replace the alias by a value")));
        }
        Kind::Mapping(_) => return deny("the value is a mapping, not a scalar".to_owned()),
        Kind::Sequence(_) => return deny("the value is a list, not a scalar".to_owned()),
        Kind::Scalar(_) => {}
    }
    if matches!(node.style, Style::Literal | Style::Folded) {
        let error = refused("the value is a block scalar", node.span);
        return Err(error.hint("write it on the line of its key"));
    }
    match node.tag {
        Tag::Implicit | Tag::Str | Tag::Other => Ok(()),
        tag => deny(format!("the value is tagged `{}`, which makes it no string", tag.name())),
    }
}

fn bytes(span: Span) -> Range<usize> {
    span.start as usize..span.end as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Path;

    fn set(text: &str, path: &str, value: &str) -> Result<Option<String>> {
        let file = File::parse(text, 0)?;
        let mut edits = Edits::new(&file);
        edits.set(file.find(&Path::parse(path)?)?, value)?;
        edits.apply()
    }

    #[test]
    fn only_the_scalar_changes() {
        for (old, new) in [
            ("a: v1\n", "a: v2\n"),
            ("a: 'v1'  # c\n", "a: 'v2'  # c\n"),
            ("\u{FEFF}a: \"v1\"\r\n", "\u{FEFF}a: \"v2\"\r\n"),
            ("a: &x v1\nb: *x", "a: &x v2\nb: *x"),
            ("a: !!str v1", "a: !!str v2"),
            ("a: !mine v1", "a: !mine v2"),
            ("a:\n  v1\n", "a:\n  v2\n"),
            ("? a\n: v1\n", "? a\n: v2\n"),
            ("{a: v1}", "{a: v2}"),
            ("{\"a\":\"v1\"}", "{\"a\":\"v2\"}"),
            ("a: v\n  1\n", "a: v2\n"),
            ("a: \"v\n\n  1\" # c\n", "a: \"v2\" # c\n"),
            ("a: ~ # c\n", "a: v2 # c\n"),
            ("a:\n", "a: v2\n"),
            ("a:", "a: v2"),
            ("a:   # c\n", "a: v2   # c\n"),
            ("a: &x\nb: 1\n", "a: &x v2\nb: 1\n"),
            ("{a: , b: 1}", "{a: v2 , b: 1}"),
            ("{a, b: 1}", "{a: v2, b: 1}"),
            ("{b: 1, \"a\"}", "{b: 1, \"a\": v2}"),
            ("{a: &x , b: 1}", "{a: &x v2 , b: 1}"),
            ("--- # d\na: v1\n...\n# e\n---\nb: 1\n", "--- # d\na: v2\n...\n# e\n---\nb: 1\n"),
            ("a: \t v1\t\n", "a: \t v2\t\n"),
        ] {
            assert_eq!(set(old, "a", "v2").unwrap().as_deref(), Some(new), "{old:?}");
            assert_eq!(set(new, "a", "v2").unwrap(), None, "{new:?}");
        }
    }

    #[test]
    fn quotes_come_where_they_are_needed() {
        for (old, new) in [
            ("a: 1.19\n", "a: \"1.20\"\n"),
            ("a: 1.20\n", "a: \"1.20\"\n"),
            ("a: '1.19'\n", "a: '1.20'\n"),
            ("a: !!str 1.19\n", "a: !!str 1.20\n"),
            ("a:\n", "a: \"1.20\"\n"),
        ] {
            assert_eq!(set(old, "a", "1.20").unwrap().as_deref(), Some(new), "{old:?}");
            assert_eq!(set(new, "a", "1.20").unwrap(), None, "{new:?}");
        }
        assert_eq!(set("a: [x, y]\n", "a[1]", "p, q").unwrap().as_deref(), Some("a: [x, \"p, q\"]\n"));
        assert_eq!(set("a:\n- x\n- y\n", "a[1]", "p, q").unwrap().as_deref(), Some("a:\n- x\n- p, q\n"));
    }

    #[test]
    fn what_has_no_text_of_its_own_is_refused() {
        for (text, kind) in [
            ("b: &x v1\na: *x\n", ErrorKind::Denied),
            ("a: |\n  v1\n", ErrorKind::Denied),
            ("a: >-\n  v1\n", ErrorKind::Denied),
            ("a: {b: c}\n", ErrorKind::Denied),
            ("a: [b]\n", ErrorKind::Denied),
            ("a: !!int 1\n", ErrorKind::Denied),
            ("a: !!binary djI=\n", ErrorKind::Denied),
            // Without a colon, the value would be read as more of its key.
            ("? a\n", ErrorKind::Internal),
        ] {
            assert_eq!(set(text, "a", "v2").unwrap_err().kind(), kind, "{text:?}");
        }
    }

    #[test]
    fn edits_that_meet_are_refused() {
        let file = File::parse("a: v1\n", 0).unwrap();
        let node = file.documents()[0].root.get("a").unwrap();
        let mut edits = Edits::new(&file);
        assert!(edits.set(node, "v2").unwrap());
        assert_eq!(edits.set(node, "v3").unwrap_err().kind(), ErrorKind::Denied);
    }

    #[test]
    fn keys_are_renamed_in_their_quotes() {
        for (old, new) in [("a: 1 # c\nb: 2\n", "new: 1 # c\nb: 2\n"), ("{\"a\": 1}", "{\"new\": 1}")] {
            let file = File::parse(old, 0).unwrap();
            let mut edits = Edits::new(&file);
            edits.rename(&file.documents()[0].root.entries().unwrap()[0], "new").unwrap();
            assert_eq!(edits.apply().unwrap().as_deref(), Some(new));
        }
    }
}
