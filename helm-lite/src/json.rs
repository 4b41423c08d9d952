//! JSON as Go's `encoding/json` reads it, as a tree over its text: for `--set-json` and for schemas.
//!
//! In: texts that begin with a value. Out: the values, each with its parent and its place. Refuses what is no JSON and
//! values that are nested too deeply; numbers stay as they are written. No words about it: those are for the caller.

use std::borrow::Cow;
use std::ops::Range;

use gojson::Tokenizer;
use yamltree::MAX_DEPTH;

/// Values that were read, from one text or several.
#[derive(Debug, Default)]
pub(crate) struct Json<'t> {
    nodes: Vec<Node<'t>>,
    members: Vec<(Cow<'t, str>, NodeId)>,
    items: Vec<NodeId>,
}

/// The number of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct NodeId(u32);

#[derive(Debug)]
struct Node<'t> {
    value: Value<'t>,
    parent: Option<NodeId>,
    place: Range<u32>,
}

/// A value. What collections hold is asked of the tree.
#[derive(Clone, Debug)]
pub(crate) enum Value<'t> {
    Null,
    Bool(bool),
    /// A number as it is written.
    Number(&'t str),
    Str(Cow<'t, str>),
    Array(Range<u32>),
    /// The members are sorted by key; of several with one key the last is there.
    Object(Range<u32>),
}

impl<'t> Json<'t> {
    /// Reads the value at `at`, after white space; returns it with the place behind it. `None` if there is none.
    pub(crate) fn read(&mut self, text: &'t str, at: usize) -> Option<(NodeId, usize)> {
        let mut tokens = Tokenizer::new(text.as_bytes());
        tokens.position = at;
        let mut reader =
            Reader { json: self, text, tokens, depth: 0, members: Vec::new(), items: Vec::new() };
        let node = reader.value(None, None)?;
        Some((node, reader.tokens.position))
    }

    /// Reads a text that is one value.
    pub(crate) fn read_all(&mut self, text: &'t str) -> Option<NodeId> {
        let (node, end) = self.read(text, 0)?;
        text[end..].bytes().all(is_space).then_some(node)
    }

    pub(crate) fn value(&self, node: NodeId) -> &Value<'t> {
        &self.nodes[node.0 as usize].value
    }

    pub(crate) fn parent(&self, node: NodeId) -> Option<NodeId> {
        self.nodes[node.0 as usize].parent
    }

    /// Returns where a value is written; that of a member begins at its key.
    pub(crate) fn place(&self, node: NodeId) -> Range<u32> {
        self.nodes[node.0 as usize].place.clone()
    }

    /// The members of an object, by their keys; none of anything else.
    pub(crate) fn members(&self, node: NodeId) -> &[(Cow<'t, str>, NodeId)] {
        match self.value(node) {
            Value::Object(range) => &self.members[range.start as usize..range.end as usize],
            _ => &[],
        }
    }

    /// The items of an array; none of anything else.
    pub(crate) fn items(&self, node: NodeId) -> &[NodeId] {
        match self.value(node) {
            Value::Array(range) => &self.items[range.start as usize..range.end as usize],
            _ => &[],
        }
    }

    /// The member of an object with a key.
    pub(crate) fn member(&self, node: NodeId, key: &str) -> Option<NodeId> {
        let members = self.members(node);
        let at = members.binary_search_by(|(found, _)| found.as_ref().cmp(key)).ok()?;
        Some(members[at].1)
    }

    /// The text of a string.
    pub(crate) fn text(&self, node: NodeId) -> Option<&str> {
        match self.value(node) {
            Value::Str(text) => Some(text),
            _ => None,
        }
    }

    /// The value at a JSON pointer from another.
    pub(crate) fn lookup(&self, node: NodeId, pointer: &str) -> Option<NodeId> {
        pointer.split('/').skip(1).try_fold(node, |node, token| {
            let token = token.replace("~1", "/").replace("~0", "~");
            match self.value(node) {
                Value::Object(_) => self.member(node, &token),
                Value::Array(_) => self.items(node).get(token.parse::<usize>().ok()?).copied(),
                _ => None,
            }
        })
    }

    /// The JSON pointer of a value from the root of its text.
    pub(crate) fn pointer(&self, node: NodeId) -> String {
        let Some(parent) = self.parent(node) else { return String::new() };
        let key = self.members(parent).iter().find(|(_, member)| *member == node);
        let token = key.map_or_else(
            || self.items(parent).iter().position(|item| *item == node).unwrap_or_default().to_string(),
            |(key, _)| escape_token(key),
        );
        format!("{}/{token}", self.pointer(parent))
    }
}

/// A token of a JSON pointer.
pub(crate) fn escape_token(token: &str) -> String {
    token.replace('~', "~0").replace('/', "~1")
}

struct Reader<'j, 't> {
    json: &'j mut Json<'t>,
    text: &'t str,
    tokens: Tokenizer<'t>,
    depth: usize,
    /// The members and items of the open collections, one collection after another.
    members: Vec<(Cow<'t, str>, NodeId)>,
    items: Vec<NodeId>,
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

impl<'t> Reader<'_, 't> {
    /// Reads a value; `start` is where its key starts, if it is a member.
    fn value(&mut self, parent: Option<NodeId>, start: Option<usize>) -> Option<NodeId> {
        let first = self.tokens.peek()?;
        let start = start.unwrap_or(self.tokens.position);
        let node = NodeId(offset(self.json.nodes.len()));
        self.json.nodes.push(Node { value: Value::Null, parent, place: 0..0 });
        let value = match first {
            b'{' => self.nested(node, Self::object)?,
            b'[' => self.nested(node, Self::array)?,
            b'"' => Value::Str(self.tokens.string().ok()?),
            b'n' => self.literal("null", Value::Null)?,
            b't' => self.literal("true", Value::Bool(true))?,
            b'f' => self.literal("false", Value::Bool(false))?,
            _ => Value::Number(&self.text[self.tokens.number().ok()?]),
        };
        let place = offset(start)..offset(self.tokens.position);
        self.json.nodes[node.0 as usize] = Node { value, parent, place };
        Some(node)
    }

    fn literal(&mut self, name: &'static str, value: Value<'t>) -> Option<Value<'t>> {
        self.tokens.literal(name).ok().map(|()| value)
    }

    fn nested(
        &mut self,
        node: NodeId,
        read: fn(&mut Self, NodeId) -> Option<Value<'t>>,
    ) -> Option<Value<'t>> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return None;
        }
        self.tokens.position += 1;
        let value = read(self, node);
        self.depth -= 1;
        value
    }

    fn object(&mut self, node: NodeId) -> Option<Value<'t>> {
        let first = self.members.len();
        if !self.tokens.take(b'}') {
            loop {
                if self.tokens.peek() != Some(b'"') {
                    return None;
                }
                let start = self.tokens.position;
                let key = self.tokens.string().ok()?;
                if !self.tokens.take(b':') {
                    return None;
                }
                let value = self.value(Some(node), Some(start))?;
                self.members.push((key, value));
                if self.tokens.take(b'}') {
                    break;
                }
                if !self.tokens.take(b',') {
                    return None;
                }
            }
        }
        self.members[first..].sort_by(|(left, _), (right, _)| left.cmp(right));
        let start = self.json.members.len();
        for member in self.members.drain(first..) {
            match self.json.members[start..].last_mut() {
                Some(last) if last.0 == member.0 => *last = member,
                _ => self.json.members.push(member),
            }
        }
        Some(Value::Object(offset(start)..offset(self.json.members.len())))
    }

    fn array(&mut self, node: NodeId) -> Option<Value<'t>> {
        let first = self.items.len();
        if !self.tokens.take(b']') {
            loop {
                let item = self.value(Some(node), None)?;
                self.items.push(item);
                if self.tokens.take(b']') {
                    break;
                }
                if !self.tokens.take(b',') {
                    return None;
                }
            }
        }
        let start = self.json.items.len();
        self.json.items.extend(self.items.drain(first..));
        Some(Value::Array(offset(start)..offset(self.json.items.len())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(json: &Json<'_>, node: NodeId) -> String {
        match json.value(node) {
            Value::Null => "null".to_owned(),
            Value::Bool(value) => value.to_string(),
            Value::Number(text) => (*text).to_owned(),
            Value::Str(text) => format!("{text:?}"),
            Value::Array(_) => {
                let items: Vec<_> = json.items(node).iter().map(|item| show(json, *item)).collect();
                format!("[{}]", items.join(","))
            }
            Value::Object(_) => {
                let member =
                    |(key, value): &(Cow<'_, str>, NodeId)| format!("{key:?}:{}", show(json, *value));
                format!("{{{}}}", json.members(node).iter().map(member).collect::<Vec<_>>().join(","))
            }
        }
    }

    fn parsed(text: &str) -> Option<(String, &str)> {
        let mut json = Json::default();
        let (node, end) = json.read(text, 0)?;
        Some((show(&json, node), &text[end..]))
    }

    /// As `helm template --set-json` takes them.
    #[test]
    fn values_end_where_they_end() {
        for (text, wanted, rest) in [
            (r#" {"a": [1, -2.5e1, true, null]} ,x"#, r#"{"a":[1,-2.5e1,true,null]}"#, " ,x"),
            (r#"{"b":1,"a":2,"b":3}"#, r#"{"a":2,"b":3}"#, ""),
            ("[ ]{}", "[]", "{}"),
            ("01", "0", "1"),
            (r#""a\"\u00e9\ud83d\ude00\n\/""#, "\"a\\\"\u{e9}\u{1f600}\\n/\"", ""),
            (r#""\ud83dx\ude00""#, "\"\u{fffd}x\u{fffd}\"", ""),
            (r#""\\\\""#, r#""\\\\""#, ""),
        ] {
            assert_eq!(parsed(text), Some((wanted.to_owned(), rest)), "{text}");
        }
    }

    #[test]
    fn what_is_no_json_is_refused() {
        for text in [
            "",
            "x",
            "nul",
            "{",
            "[1,]",
            "{\"a\"}",
            "{a:1}",
            "'a'",
            "\"a",
            "\"\n\"",
            "-",
            "1.",
            ".5",
            "1e",
            "+1",
            "\"\\x\"",
            "\"\\u12\"",
            "[1",
            "{\"a\":1,}",
            "\"\\u+123\"",
        ] {
            assert_eq!(parsed(text), None, "{text}");
        }
        assert!(parsed(&("[".repeat(MAX_DEPTH) + &"]".repeat(MAX_DEPTH))).is_some());
        assert!(parsed(&("[".repeat(MAX_DEPTH + 1) + &"]".repeat(MAX_DEPTH + 1))).is_none());
    }

    #[test]
    fn values_are_found_by_pointer_and_know_theirs() {
        let mut json = Json::default();
        let root = json.read_all(r#"{"a/b": [{"~": 1}, 2], "": 3}"#).expect("JSON");
        for pointer in ["", "/a~1b", "/a~1b/0/~0", "/a~1b/1", "/"] {
            let node = json.lookup(root, pointer).expect(pointer);
            assert_eq!(json.pointer(node), pointer);
        }
        for pointer in ["/b", "/a~1b/2", "/a~1b/x", "/a~1b/1/0"] {
            assert_eq!(json.lookup(root, pointer), None, "{pointer}");
        }
        assert!(json.read_all("1 2").is_none());
    }
}
