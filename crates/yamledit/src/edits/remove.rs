//! Entries that go, with their lines.

use diagnostic::Result;
use yamltree::{Entry, Kind, Node, Style};

use super::Edits;
use crate::error::refused;
use crate::layout::{break_at, line_end, line_start, own_line};
use crate::proof::place;

impl<'f> Edits<'f> {
    /// Takes an entry out of a mapping: in block style its lines with the comment at their end, in flow style what lies
    /// up to the next comma. A comment on a line of its own stays.
    ///
    /// # Errors
    /// If the entry is not of the mapping, or something in it has an anchor that other places may use. In block style
    /// a mapping must keep a key, or get one.
    pub fn remove(&mut self, mapping: &'f Node, entry: &'f Entry) -> Result<()> {
        let entries = mapping.entries().map(Vec::as_slice).unwrap_or_default();
        let Some(at) = entries.iter().position(|one| std::ptr::eq(one, entry)) else {
            return Err(refused("the mapping does not have the entry", mapping.span));
        };
        check_unshared(&entry.key)?;
        check_unshared(&entry.value)?;
        let range = if mapping.style == Style::Flow {
            let spans: Vec<_> =
                entries.iter().map(|entry| (entry.key.span.start as usize, end_of(entry))).collect();
            self.range_in_flow(&spans, at)
        } else {
            self.range_in_block(entry.key.span.start as usize, end_of(entry), &entry.value)?
        };
        self.plan.removed.insert(place(entry.key.span));
        self.splice(range, String::new(), false);
        Ok(())
    }

    /// Takes an item out of a list, as [`Self::remove`] does an entry.
    ///
    /// # Errors
    /// As [`Self::remove`], and when more than the item is on the line of its dash.
    pub fn remove_item(&mut self, sequence: &'f Node, item: &'f Node) -> Result<()> {
        let items = sequence.items().map(Vec::as_slice).unwrap_or_default();
        let Some(at) = items.iter().position(|one| std::ptr::eq(one, item)) else {
            return Err(refused("the list does not have the item", sequence.span));
        };
        check_unshared(item)?;
        let range = if sequence.style == Style::Flow {
            let spans: Vec<_> =
                items.iter().map(|item| (item.span.start as usize, item.span.end as usize)).collect();
            self.range_in_flow(&spans, at)
        } else {
            let text = self.file.text();
            let before = text[..item.span.start as usize].trim_end_matches([' ', '\t']);
            let dash = before.strip_suffix('-').map(str::len);
            let Some(dash) = dash.filter(|dash| own_line(text, *dash).is_some()) else {
                return Err(refused("the item does not begin its line", item.span));
            };
            self.range_in_block(dash, item.span.end as usize, item)?
        };
        self.plan.removed.insert(place(item.span));
        self.splice(range, String::new(), false);
        Ok(())
    }

    /// The lines from a key or a dash to the end of a value.
    fn range_in_block(&self, key: usize, last: usize, value: &Node) -> Result<std::ops::Range<usize>> {
        let text = self.file.text();
        if matches!(value.style, Style::Literal | Style::Folded) && text[..last].ends_with('\n') {
            // Its end is the beginning of the next line.
            return Ok(line_start(text, key)..last);
        }
        let end = line_end(text, last);
        let behind = text[last..end].trim_start();
        if !(behind.is_empty() || behind.starts_with('#')) {
            return Err(refused("something follows the value on its line", value.span));
        }
        let next = end + break_at(text, end).len();
        let start = line_start(text, key);
        let explicit = text[start..key].trim_start_matches(' ');
        if own_line(text, key).is_none() && explicit.trim_end() != "?" {
            // The entry follows a dash: the next entry moves up to it.
            let rest = &text[next..];
            return Ok(key..next + (rest.len() - rest.trim_start().len()));
        }
        if next == end {
            // The last line has no line break, so the line before it loses its own.
            let before = text[..start].strip_suffix('\n').map_or(&text[..start], |line| line);
            return Ok(before.strip_suffix('\r').unwrap_or(before).len()..end);
        }
        Ok(start..next)
    }

    fn range_in_flow(&self, spans: &[(usize, usize)], at: usize) -> std::ops::Range<usize> {
        let text = self.file.text();
        let (start, end) = spans[at];
        if at + 1 == spans.len() {
            let Some((_, before)) = at.checked_sub(1).map(|before| spans[before]) else { return start..end };
            // A comma may stay behind the last one, but a comment behind the comma must.
            return if text[before..start].contains('#') { start..end } else { before..end };
        }
        let comma = text[end..].find(',').map_or(end, |comma| end + comma + 1);
        let rest = text[comma..].trim_start_matches([' ', '\t']);
        let next = if rest.starts_with('#') { comma } else { text.len() - rest.len() };
        start..next
    }
}

/// Rejects nodes with an anchor, which aliases may refer to.
fn check_unshared(node: &Node) -> Result<()> {
    match anchor_in(node) {
        Some(name) => Err(refused(format!("cannot remove a node with the anchor `&{name}`"), node.span)
            .hint("remove it by hand, with the aliases that use it")),
        None => Ok(()),
    }
}

fn end_of(entry: &Entry) -> usize {
    entry.key.span.end.max(entry.value.span.end) as usize
}

fn anchor_in(node: &Node) -> Option<&str> {
    node.anchor().or_else(|| match &node.kind {
        Kind::Scalar(_) | Kind::Alias(_) => None,
        Kind::Sequence(items) => items.iter().find_map(anchor_in),
        Kind::Mapping(entries) => {
            entries.iter().find_map(|entry| anchor_in(&entry.key).or_else(|| anchor_in(&entry.value)))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::File;

    fn without(text: &str, key: &str) -> Result<String> {
        let file = File::parse(text, 0)?;
        let root = &file.documents()[0].root;
        let mapping = root.items().map_or(root, |items| &items[0]);
        let entry = mapping.entries().unwrap().iter().find(|entry| entry.key.text() == Some(key)).unwrap();
        let mut edits = Edits::new(&file);
        edits.remove(mapping, entry)?;
        Ok(edits.apply()?.unwrap())
    }

    #[test]
    fn an_entry_goes_with_its_lines() {
        for (old, new) in [
            ("a: 1\nx: 2 # c\nb: 3\n", "a: 1\nb: 3\n"),
            ("a: 1\n# above\nx:\n  2\n# below\nb: 3\n", "a: 1\n# above\n# below\nb: 3\n"),
            ("a: 1\r\nx: 2\r\n", "a: 1\r\n"),
            ("a: 1\r\nx: 2", "a: 1"),
            ("a: 1\nx: 2", "a: 1"),
            ("x: 2\na: 1", "a: 1"),
            ("- x: 2\n  a: 1\n- b\n", "- a: 1\n- b\n"),
            ("- x: 2 # c\n\n  # d\n  a: 1\n", "- # d\n  a: 1\n"),
            ("- a: 1\n  x: 2\n", "- a: 1\n"),
            ("? x\n: 2\n? a\n: 1\n", "? a\n: 1\n"),
            ("x:\n- 1\n- 2\na: 1\n", "a: 1\n"),
            ("\u{FEFF}x: 2\na: 1\n", "\u{FEFF}a: 1\n"),
        ] {
            assert_eq!(without(old, "x").unwrap(), new, "{old:?}");
        }
    }

    #[test]
    fn an_entry_goes_with_its_comma() {
        for (old, new) in [
            ("{a: 1, x: 2}", "{a: 1}"),
            ("{x: 2, a: 1}", "{a: 1}"),
            ("{ a: 1 , x: 2 , b: 3 }", "{ a: 1 , b: 3 }"),
            ("{\"a\":1,\"x\":2}", "{\"a\":1}"),
            ("{a: 1, x: 2,}", "{a: 1,}"),
            ("{a: 1, # one\n x: 2}", "{a: 1, # one\n }"),
            ("{x: 2, # two\n a: 1}", "{ # two\n a: 1}"),
            ("{a: 1, x}", "{a: 1}"),
        ] {
            assert_eq!(without(old, "x").unwrap(), new, "{old:?}");
        }
    }

    #[test]
    fn an_item_goes_as_an_entry_does() {
        for (old, new) in [
            ("l:\n- a\n- x # c\n# d\n- b\n", "l:\n- a\n# d\n- b\n"),
            ("l:\n  - a\n  - x: 1\n    y: 2", "l:\n  - a"),
            ("l:\n- x: |\n    text\n- b\n", "l:\n- b\n"),
            ("l: [a, x, b]\n", "l: [a, b]\n"),
            ("l: [a, x]\n", "l: [a]\n"),
            ("l: [x]\n", "l: []\n"),
        ] {
            let file = File::parse(old, 0).unwrap();
            let list = file.documents()[0].root.get("l").unwrap();
            let is_wanted = |item: &&Node| item.text() == Some("x") || item.get("x").is_some();
            let item = list.items().unwrap().iter().find(is_wanted).unwrap();
            let mut edits = Edits::new(&file);
            edits.remove_item(list, item).unwrap();
            assert_eq!(edits.apply().unwrap().as_deref(), Some(new), "{old:?}");
        }
    }

    #[test]
    fn what_others_may_use_stays() {
        assert!(without("x: &y 1\na: 2\n", "x").is_err());
        assert!(without("x: [&y 1]\na: *y\n", "x").is_err());
        assert!(without("x: 1\n", "x").is_err());
    }
}
