//! Entries and items that come, laid out as their neighbours are.

use diagnostic::Result;
use yamltree::{Entry, Kind, Node, Style};

use super::Edits;
use crate::anchors::own;
use crate::content::{self, Content, Layout};
use crate::error::refused;
use crate::layout::{column, line_break, line_end, list_indent, own_line};
use crate::proof::place;

impl<'f> Edits<'f> {
    /// Adds an entry behind the last one of a mapping that stays, in its column or, in flow style, behind a comma. In the
    /// mapping that is all of the file, in block style, it goes to the end of the file.
    ///
    /// # Errors
    /// If the node is not a mapping, has the key, or its keys are not aligned.
    pub fn insert(&mut self, mapping: &'f Node, key: &str, value: Content) -> Result<()> {
        let Kind::Mapping(entries) = &mapping.kind else {
            return Err(refused(
                format!("cannot add the key `{key}`: its parent is not a mapping"),
                mapping.span,
            ));
        };
        let added = self.plan.added.get(&place(mapping.span)).map(Vec::as_slice).unwrap_or_default();
        if own(mapping, key)?.is_some() || added.iter().any(|(added, _)| added.as_deref() == Some(key)) {
            return Err(refused(format!("the key `{key}` already exists"), mapping.span));
        }
        if mapping.style == Style::Flow {
            let mut written = String::new();
            content::flow_entry(&mut written, key, &value, self.is_json(mapping));
            let starts: Vec<_> = entries.iter().map(|entry| &entry.key).collect();
            self.add_in_flow(mapping, &starts, entries.last().map(|entry| &entry.value), &written);
        } else {
            self.insert_in_block(mapping, entries, key, &value)?;
        }
        self.plan.added.entry(place(mapping.span)).or_default().push((Some(key.to_owned()), value));
        Ok(())
    }

    fn insert_in_block(
        &mut self,
        mapping: &'f Node,
        entries: &[Entry],
        key: &str,
        value: &Content,
    ) -> Result<()> {
        let text = self.file.text();
        // A key behind an anchor or a tag tells no column, but another one does.
        let at = entries.iter().find_map(|entry| column(text, entry.key.span.start as usize));
        let Some(at) = at else {
            return Err(refused("the keys of the mapping are not aligned", mapping.span));
        };
        let mut written = String::new();
        self.layout(mapping).entry(&mut written, key, value, at);
        if self.is_last_root(mapping) {
            self.add_to_end(at, &written);
        } else {
            let is_kept = |entry: &&Entry| !self.plan.removed.contains(&place(entry.key.span));
            let last =
                entries.iter().rfind(is_kept).map(|entry| entry.key.span.end.max(entry.value.span.end));
            self.add_line(last.unwrap_or(mapping.span.end) as usize, at, &written);
        }
        Ok(())
    }

    /// Adds an item behind the last one of a list that stays, in its column or, in flow style, behind a comma.
    ///
    /// # Errors
    /// If the node is not a list, or its dashes are not aligned.
    pub fn push(&mut self, sequence: &'f Node, item: Content) -> Result<()> {
        let Kind::Sequence(items) = &sequence.kind else {
            return Err(refused("cannot add an item: the value is not a list", sequence.span));
        };
        if sequence.style == Style::Flow {
            let mut written = String::new();
            content::flow(&mut written, &item, self.is_json(sequence));
            self.add_in_flow(sequence, &items.iter().collect::<Vec<_>>(), items.last(), &written);
        } else {
            self.push_in_block(sequence, items, &item)?;
        }
        self.plan.added.entry(place(sequence.span)).or_default().push((None, item));
        Ok(())
    }

    fn push_in_block(&mut self, sequence: &'f Node, items: &[Node], item: &Content) -> Result<()> {
        let text = self.file.text();
        let dash = sequence.span.start as usize;
        let Some(at) = column(text, dash) else {
            return Err(refused("the items of the list are not aligned", sequence.span));
        };
        let mut written = String::new();
        if let Some(last) = items.last().filter(|last| last.style == Style::Flow) {
            written.push_str("- ");
            content::flow(&mut written, item, self.is_json(last));
        } else {
            let gap = items.first().map_or(1, |first| gap_behind(text, dash, first));
            self.layout(sequence).item(&mut written, item, at, gap);
        }
        let is_kept = |item: &&Node| !self.plan.removed.contains(&place(item.span));
        let last = items.iter().rfind(is_kept).map_or(sequence.span.end, |item| item.span.end);
        self.add_line(last as usize, at, &written);
        Ok(())
    }

    /// Replaces a null by a list: below the key if the value is empty, else in flow style.
    ///
    /// # Errors
    /// If the node is not a null.
    pub fn replace_null(&mut self, node: &'f Node, items: Vec<Content>) -> Result<()> {
        let is_null = node.resolved(yamltree::Dialect::V3).is_ok_and(|read| read == yamltree::Resolved::Null);
        if !is_null {
            return Err(refused("the value is not a list", node.span));
        }
        self.replace(node, Content::Sequence(items))
    }

    /// Replaces a node with all that it holds, comments included: in block style where the node is a
    /// collection in block style or where nothing is written, else in flow style.
    ///
    /// # Errors
    /// If the node is a block scalar, or its keys or dashes are not aligned.
    pub fn replace(&mut self, node: &'f Node, content: Content) -> Result<()> {
        if matches!(node.style, Style::Literal | Style::Folded) {
            return Err(
                refused("the value is a block scalar", node.span).hint("write it on the line of its key")
            );
        }
        let (text, start) = (self.file.text(), node.span.start as usize);
        let is_empty = node.span.start == node.span.end;
        let in_flow = self.file.is_in_flow(node.span);
        let mut written = String::new();
        let at = if is_empty && !in_flow {
            let line = crate::layout::line_start(text, start);
            let indent = text[line..].len() - text[line..].trim_start_matches(' ').len();
            self.below(&mut written, node, &content, indent)
        } else if !in_flow && !node.is_scalar() && node.style == Style::Plain && is_filled(&content) {
            let Some(at) = column(text, start).filter(|_| !matches!(node.kind, Kind::Alias(_))) else {
                return self.replace_in_flow(node, content);
            };
            self.layout(node).collection(&mut written, &content, at);
            super::bytes(node.span)
        } else {
            return self.replace_in_flow(node, content);
        };
        self.plan.replaced.insert(place(node.span), content);
        self.splice(at, written, true);
        Ok(())
    }

    /// Returns the text for the content of an empty value, and its position.
    fn below(
        &self,
        written: &mut String,
        node: &Node,
        content: &Content,
        indent: usize,
    ) -> std::ops::Range<usize> {
        let layout = self.layout(node);
        let end = line_end(self.file.text(), node.span.start as usize);
        match content {
            Content::Sequence(items) if !items.is_empty() => {
                layout.new_line(written, indent + layout.list_indent);
                layout.collection(written, content, indent + layout.list_indent);
            }
            Content::Mapping(entries) if !entries.is_empty() => {
                layout.new_line(written, indent + 2);
                layout.collection(written, content, indent + 2);
            }
            scalar => {
                written.push(' ');
                content::flow(written, scalar, false);
                return super::bytes(node.span);
            }
        }
        end..end
    }

    fn replace_in_flow(&mut self, node: &'f Node, content: Content) -> Result<()> {
        let mut written = String::new();
        written.push_str(if node.span.start == node.span.end { " " } else { "" });
        content::flow(&mut written, &content, self.is_json(node));
        self.plan.replaced.insert(place(node.span), content);
        self.splice(super::bytes(node.span), written, true);
        Ok(())
    }

    /// Writes content to an empty file, after its comments.
    ///
    /// # Errors
    /// When the file has content.
    pub fn fill(&mut self, entries: Vec<(String, Content)>) -> Result<()> {
        let root = match self.file.documents() {
            [] => None,
            [document] if document.root.span.start == document.root.span.end => None,
            [document, ..] => Some(document.root.span),
        };
        if let Some(span) = root {
            return Err(refused("the file already has content", span));
        }
        let text = self.file.text();
        let layout = Layout { line_break: line_break(text, text.len()), list_indent: 0 };
        let mut written = String::new();
        for (at, (key, value)) in entries.iter().enumerate() {
            if at > 0 {
                layout.new_line(&mut written, 0);
            }
            layout.entry(&mut written, key, value, 0);
        }
        if text.is_empty() {
            written.push('\n');
            self.splice(0..0, written, true);
        } else {
            self.add_to_end(0, &written);
        }
        self.plan.filled = Some(Content::Mapping(entries));
        Ok(())
    }

    /// The end of the file is where people add to it, unless the document ends before or another one follows.
    pub(super) fn is_last_root(&self, mapping: &Node) -> bool {
        let is_last =
            self.file.documents().last().is_some_and(|last| std::ptr::eq(&raw const last.root, mapping));
        let behind = &self.file.text()[mapping.span.end as usize..];
        is_last && !behind.lines().any(|line| line.starts_with("---") || line.starts_with("..."))
    }

    fn add_to_end(&mut self, at: usize, written: &str) {
        let text = self.file.text();
        let line_break = line_break(text, text.len());
        let indented = format!("{:at$}{written}", "");
        let added = if text.ends_with(['\n', '\r']) {
            indented + line_break
        } else {
            line_break.to_owned() + &indented
        };
        self.splice(text.len()..text.len(), added, true);
    }

    /// Adds lines behind the line of a place in a collection in block style. A missing end of the last line stays missing.
    fn add_line(&mut self, last: usize, at: usize, written: &str) {
        let text = self.file.text();
        let end = line_end(text, last);
        self.splice(end..end, format!("{}{:at$}{written}", line_break(text, last), ""), true);
    }

    fn add_in_flow(&mut self, collection: &Node, children: &[&Node], last: Option<&Node>, written: &str) {
        let text = self.file.text();
        let Some(last) = last else {
            let inside = collection.span.start as usize + 1;
            let follows = self.plan.added.contains_key(&place(collection.span));
            return self.splice(
                inside..inside,
                format!("{}{written}", if follows { ", " } else { "" }),
                true,
            );
        };
        let starts: Option<Vec<&str>> =
            children.iter().map(|child| own_line(text, child.span.start as usize)).collect();
        // To go, `a:,` has no colon.
        let gap = if last.span.start == last.span.end { " " } else { "" };
        let last = last.span.end as usize;
        let added = match starts.as_deref() {
            // One per line.
            Some([.., blanks]) => format!("{gap},{}{blanks}{written}", line_break(text, last)),
            _ => format!("{gap}, {written}"),
        };
        self.splice(last..last, added, true);
    }

    fn layout(&self, node: &Node) -> Layout<'f> {
        let line_break = line_break(self.file.text(), node.span.end as usize);
        let list_indent = *self.list_indent.get_or_init(|| list_indent(self.file));
        Layout { line_break, list_indent }
    }

    /// Returns true if what surrounds a node is written as JSON has it, so that what is added must be too.
    fn is_json(&self, node: &Node) -> bool {
        looks_like_json(node).unwrap_or_else(|| {
            self.file.documents().iter().any(|document| looks_like_json(&document.root) == Some(true))
        })
    }
}

fn is_filled(content: &Content) -> bool {
    match content {
        Content::Mapping(entries) => !entries.is_empty(),
        Content::Sequence(items) => !items.is_empty(),
        _ => false,
    }
}

/// Returns true if the keys of flow mappings are in double quotes; `None` without keys.
fn looks_like_json(node: &Node) -> Option<bool> {
    if node.style != Style::Flow {
        return None;
    }
    match &node.kind {
        Kind::Mapping(entries) if !entries.is_empty() => {
            Some(entries.iter().all(|entry| entry.key.style == Style::DoubleQuoted))
        }
        Kind::Sequence(items) => items.last().and_then(looks_like_json),
        _ => None,
    }
}

/// The blanks between a dash and what it is of.
fn gap_behind(text: &str, dash: usize, first: &Node) -> usize {
    let gap = text.get(dash + 1..first.span.start as usize).unwrap_or_default();
    if !gap.is_empty() && gap.bytes().all(|byte| byte == b' ') { gap.len() } else { 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{File, Path};

    fn inserted(text: &str, path: Option<&str>, key: &str, value: &Content) -> Result<String> {
        let file = File::parse(text, 0)?;
        let mut edits = Edits::new(&file);
        let mapping = match path {
            Some(path) => file.find(&Path::parse(path)?)?,
            None => &file.documents()[0].root,
        };
        edits.insert(mapping, key, value.clone())?;
        Ok(edits.apply()?.unwrap())
    }

    #[test]
    fn keys_come_behind_the_last_one_in_its_column() {
        let value = "1.20".into();
        for (old, new) in [
            ("l:\n- a: 1 # c\n# d\n", "l:\n- a: 1 # c\n  k: \"1.20\"\n# d\n"),
            ("l:\n  -   a: 1\n", "l:\n  -   a: 1\n      k: \"1.20\"\n"),
            ("l:\r\n- a: 1\r\nm: 2\r\n", "l:\r\n- a: 1\r\n  k: \"1.20\"\r\nm: 2\r\n"),
            ("l:\n- a: 1", "l:\n- a: 1\n  k: \"1.20\""),
            ("l:\n- a:\n  - b\n  -\n", "l:\n- a:\n  - b\n  -\n  k: \"1.20\"\n"),
            ("l:\n- &x a: 1\n  b: 2\n", "l:\n- &x a: 1\n  b: 2\n  k: \"1.20\"\n"),
            ("l: [{a: 1}]", "l: [{a: 1, k: \"1.20\"}]"),
            ("l:\n- { a: 1 }\n", "l:\n- { a: 1, k: \"1.20\" }\n"),
            ("l: [{}]", "l: [{k: \"1.20\"}]"),
            ("l: [{a: }]", "l: [{a: , k: \"1.20\" }]"),
            ("l: [{a}]", "l: [{a , k: \"1.20\"}]"),
            ("{\"l\":[{\"a\":1}]}", "{\"l\":[{\"a\":1, \"k\": \"1.20\"}]}"),
            (
                "{\"l\": [\n  {\n    \"a\": 1\n  }\n]}",
                "{\"l\": [\n  {\n    \"a\": 1,\n    \"k\": \"1.20\"\n  }\n]}",
            ),
        ] {
            assert_eq!(inserted(old, Some("l[0]"), "k", &value).unwrap(), new, "{old:?}");
        }
    }

    #[test]
    fn a_list_comes_at_the_end_of_the_file_as_its_others_are() {
        let list = Content::Sequence(vec![Content::strings(&[("a", "b"), ("c", "d")])]);
        for (old, new) in [
            ("x: 1\n", "x: 1\nk:\n- a: b\n  c: d\n"),
            ("x:\n  - 1\n\n# end\n", "x:\n  - 1\n\n# end\nk:\n  - a: b\n    c: d\n"),
            ("x: 1\r\ny: 2", "x: 1\r\ny: 2\r\nk:\r\n- a: b\r\n  c: d"),
            ("x: 1\n...\n", "x: 1\nk:\n- a: b\n  c: d\n...\n"),
            ("  x: 1\n", "  x: 1\n  k:\n  - a: b\n    c: d\n"),
            ("x: |\n  t\n\n", "x: |\n  t\n\nk:\n- a: b\n  c: d\n"),
            ("{\"x\": []}\n", "{\"x\": [], \"k\": [{\"a\": \"b\", \"c\": \"d\"}]}\n"),
        ] {
            assert_eq!(inserted(old, None, "k", &list).unwrap(), new, "{old:?}");
        }
    }

    #[test]
    fn items_come_behind_the_last_one_in_its_column() {
        for (old, new) in [
            ("l:\n- a: 1 # c\n# d\n", "l:\n- a: 1 # c\n- a: b\n  c: d\n# d\n"),
            ("l:\n    -   a: 1\nm: 1\n", "l:\n    -   a: 1\n    -   a: b\n        c: d\nm: 1\n"),
            ("l:\n- {a: 1}", "l:\n- {a: 1}\n- {a: b, c: d}"),
            ("l:\n- {\"a\": 1}\n", "l:\n- {\"a\": 1}\n- {\"a\": \"b\", \"c\": \"d\"}\n"),
            ("l: []\n", "l: [{a: b, c: d}]\n"),
            ("l: [{a: 1}]\n", "l: [{a: 1}, {a: b, c: d}]\n"),
            ("l: [\n  {a: 1}, # c\n]\n", "l: [\n  {a: 1},\n  {a: b, c: d}, # c\n]\n"),
            ("{\"l\": []}\n", "{\"l\": [{\"a\": \"b\", \"c\": \"d\"}]}\n"),
        ] {
            let file = File::parse(old, 0).unwrap();
            let mut edits = Edits::new(&file);
            let list = file.find(&Path::key("l")).unwrap();
            edits.push(list, Content::strings(&[("a", "b"), ("c", "d")])).unwrap();
            assert_eq!(edits.apply().unwrap().as_deref(), Some(new), "{old:?}");
        }
    }

    #[test]
    fn a_null_becomes_a_list() {
        for (old, new) in [
            ("l: # c\nm:\n  - 1\n", "l: # c\n  - a\nm:\n  - 1\n"),
            ("l:", "l:\n- a"),
            ("l: ~ # c\n", "l: [a] # c\n"),
            ("{l: }", "{l: [a] }"),
        ] {
            let file = File::parse(old, 0).unwrap();
            let mut edits = Edits::new(&file);
            edits.replace_null(file.find(&Path::key("l")).unwrap(), vec!["a".into()]).unwrap();
            assert_eq!(edits.apply().unwrap().as_deref(), Some(new), "{old:?}");
        }
    }

    #[test]
    fn an_empty_file_is_filled() {
        for (old, new) in
            [("", "k: v\n"), ("# c\n", "# c\nk: v\n"), ("# c", "# c\nk: v"), ("---\r\n", "---\r\nk: v\r\n")]
        {
            let file = File::parse(old, 0).unwrap();
            let mut edits = Edits::new(&file);
            edits.fill(vec![("k".to_owned(), "v".into())]).unwrap();
            assert_eq!(edits.apply().unwrap().as_deref(), Some(new), "{old:?}");
        }
    }

    #[test]
    fn a_key_is_not_added_twice() {
        assert!(inserted("a: 1\n", None, "a", &"x".into()).is_err());
    }
}
