//! JSON patches (RFC 6902), as evanphx/json-patch 4 applies them inside Kustomize.
//!
//! In: the text of a patch, JSON or YAML, and a resource. Out: the resource as it is after a way through JSON, which
//! makes floats of all numbers, and changed by the operations in turn. What the library allows beyond the RFC is
//! allowed: negative indices, `replace` of a key that is missing, a path without its first slash. Refused, at the
//! operation's place: what does not apply. An operation that is none is refused when it is applied.

use std::sync::Arc;

use diagnostic::{Error, Result};
use yamltree::{Dialect, Entry, JsonOptions, Kind, Node, Span, to_json, to_json_tree};

use crate::decode::described;
use crate::growth::{Growth, check_nesting};
use crate::json;
use crate::loader::File;
use crate::read;

/// A patch that was read.
#[derive(Debug)]
pub(crate) struct JsonPatch {
    operations: Vec<Operation>,
}

/// One operation, with its members as they are written. What is missing or of a wrong type is at fault only when the
/// operation is applied.
#[derive(Debug)]
struct Operation {
    span: Span,
    op: Option<Node>,
    path: Option<Node>,
    from: Option<Node>,
    value: Option<Node>,
    /// The value and the text around it, where that is JSON proper.
    written: Option<(Node, Arc<str>)>,
}

impl JsonPatch {
    /// Reads a patch: JSON proper where it begins with a bracket, else the first document of YAML.
    ///
    /// # Errors
    /// If it cannot be read or is not a list of operations.
    pub(crate) fn parse(file: &File) -> Result<Self> {
        if file.text.is_empty() {
            return Err(Error::invalid("the patch is empty"));
        }
        let is_json = file.text.starts_with('[');
        let document = if is_json {
            json::parse(&file.text, file.source)?
        } else {
            let first = read::documents(&file.text, file.source)?.into_iter().next();
            first.map_or_else(Node::null, |document| document.root)
        };
        let (values, _) = to_json_tree(&document, Dialect::V2)?;
        if crate::resource::is_null(&values) {
            return Ok(Self { operations: Vec::new() });
        }
        let Kind::Sequence(items) = values.kind else { return Err(not_a_list(&document)) };
        let written = document.items().map(Vec::as_slice).unwrap_or_default();
        let operation = |(at, item): (usize, Node)| {
            let text = is_json.then(|| Arc::clone(&file.text));
            let written = written.get(at).and_then(|item| Some((item.get("value")?.clone(), text?)));
            Operation::read(item, written)
        };
        let operations = items.into_iter().enumerate().map(operation).collect::<Result<_>>()?;
        Ok(Self { operations })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.operations.is_empty()
    }

    /// Changes a resource. Returns the places of the numbers that have become others on the way through JSON.
    ///
    /// # Errors
    /// The first operation that does not apply; the resource is then unchanged.
    pub(crate) fn apply(&self, resource: &mut Node, growth: &Growth) -> Result<Vec<Span>> {
        let (mut document, inexact) = to_json_tree(resource, Dialect::V3)?;
        for operation in &self.operations {
            operation.apply(&mut document, growth).map_err(|error| error.at(operation.place()))?;
        }
        if !document.is_mapping() {
            let sentence = format!("the patch makes {} of the resource", described(&document));
            return Err(Error::invalid(sentence).at(document.span));
        }
        *resource = document;
        Ok(inexact)
    }
}

fn not_a_list(document: &Node) -> Error {
    let sentence = format!("a JSON patch must be a list of operations, not {}", described(document));
    Error::invalid(sentence).at(document.span)
}

impl Operation {
    fn read(mut item: Node, written: Option<(Node, Arc<str>)>) -> Result<Self> {
        if !item.is_mapping() && !crate::resource::is_null(&item) {
            let sentence = format!("an operation must be a mapping, not {}", described(&item));
            return Err(Error::invalid(sentence).at(item.span));
        }
        let span = item.span;
        let mut take = |name| item.remove(name);
        Ok(Self {
            span,
            op: take("op"),
            path: take("path"),
            from: take("from"),
            value: take("value"),
            written,
        })
    }

    fn apply(&self, document: &mut Node, growth: &Growth) -> Result<()> {
        match self.op.as_ref().and_then(text) {
            Some("add") => self.add(document),
            Some("remove") => {
                let path = self.path()?;
                remove(document, path).map(drop)
            }
            Some("replace") => self.replace(document),
            Some("move") => {
                let value = remove(document, self.from()?)?;
                growth.relocate(&value, self.path()?)?;
                insert(document, self.path()?, value)
            }
            Some("copy") => {
                let value = match get(document, self.from()?)? {
                    Some(found) => {
                        growth.copy(found, self.path()?)?;
                        found.clone()
                    }
                    None => Node::null(),
                };
                insert(document, self.path()?, value)
            }
            Some("test") => self.test(document),
            _ => Err(self.unknown()),
        }
    }

    /// Returns where the operation says what it is about.
    fn place(&self) -> Span {
        self.path.as_ref().map_or(self.span, |path| path.span)
    }

    fn path(&self) -> Result<&str> {
        self.pointer(self.path.as_ref(), "path")
    }

    fn from(&self) -> Result<&str> {
        self.pointer(self.from.as_ref(), "from")
    }

    fn pointer<'n>(&self, member: Option<&'n Node>, name: &str) -> Result<&'n str> {
        match member {
            Some(node) => text(node).ok_or_else(|| {
                Error::invalid(format!("`{name}` must be a string, not {}", described(node))).at(node.span)
            }),
            None => Err(Error::invalid(format!("the operation lacks `{name}`")).at(self.span)),
        }
    }

    /// The value; none counts as null.
    fn value(&self) -> Node {
        self.value.clone().unwrap_or_else(Node::null)
    }

    fn add(&self, document: &mut Node) -> Result<()> {
        let value = self.value();
        check_nesting(&value, self.path()?)?;
        insert(document, self.path()?, value)
    }

    /// In a mapping `replace` is `set`; in a list the item must exist.
    fn replace(&self, document: &mut Node) -> Result<()> {
        let path = self.path()?;
        let value = self.value();
        check_nesting(&value, path)?;
        if path.is_empty() {
            if value.is_scalar() {
                let sentence =
                    format!("the whole can only be replaced by a mapping, not by {}", described(&value));
                return Err(Error::invalid(sentence));
            }
            *document = value;
            return Ok(());
        }
        let (container, key) = container(document, path)?;
        if container.is_mapping() {
            container.set(&key, value);
            return Ok(());
        }
        let items = items(container, path)?;
        let at = existing(items, &key, path)?;
        items[at] = value;
        Ok(())
    }

    fn test(&self, document: &mut Node) -> Result<()> {
        let path = self.path()?;
        let found = if path.is_empty() { Some(&*document) } else { get(document, path)? };
        let found = found.filter(|node| !crate::resource::is_null(node));
        let wanted = self.value.as_ref().filter(|node| !crate::resource::is_null(node));
        let passes = match (found, wanted) {
            (None, None) => true,
            (Some(found), Some(wanted)) => {
                equal(found, wanted, self.written.as_ref().map(|(node, text)| (node, &**text)))
            }
            _ => false,
        };
        if passes {
            return Ok(());
        }
        let shown = found.map_or_else(|| "nothing".to_owned(), described);
        Err(Error::invalid(format!("the test of `{path}` fails: there is {shown}")))
    }

    fn unknown(&self) -> Error {
        const OPERATIONS: &[&str] = &["add", "remove", "replace", "move", "copy", "test"];
        let Some(op) = &self.op else { return Error::invalid("the operation lacks `op`").at(self.span) };
        let name = op.text().unwrap_or_default();
        let error = Error::invalid(format!("unknown operation `{name}`")).at(op.span);
        match crate::decode::closest(name, OPERATIONS.iter().copied()) {
            Some(meant) => error.hint(format!("did you mean `{meant}`?")),
            None => error.hint(format!("the operations are {}", OPERATIONS.join(", "))),
        }
    }
}

/// The text of a string; `None` for any other value.
fn text(node: &Node) -> Option<&str> {
    node.text().filter(|_| node.tag == yamltree::Tag::Str)
}

/// The value at a path, as `get` finds it: nothing where a mapping has no such key.
fn get<'n>(document: &'n mut Node, path: &str) -> Result<Option<&'n Node>> {
    let (container, key) = container(document, path)?;
    if container.is_mapping() {
        return Ok(container.get(&key));
    }
    let items = items(container, path)?;
    let at = existing(items, &key, path)?;
    Ok(Some(&items[at]))
}

fn insert(document: &mut Node, path: &str, value: Node) -> Result<()> {
    let (container, key) = container(document, path)?;
    if container.is_mapping() {
        container.set(&key, value);
        return Ok(());
    }
    let items = items(container, path)?;
    // Counted from the end, -1 is behind the last item.
    let at = if key == "-" { items.len() } else { index(&key, items.len() + 1, items.len(), path)? };
    items.insert(at, value);
    Ok(())
}

fn remove(document: &mut Node, path: &str) -> Result<Node> {
    let (container, key) = container(document, path)?;
    if container.is_mapping() {
        return container
            .remove(&key)
            .ok_or_else(|| Error::invalid(format!("the path `{path}` does not exist: no key `{key}`")));
    }
    let items = items(container, path)?;
    let at = existing(items, &key, path)?;
    Ok(items.remove(at))
}

/// The mapping or list that holds what a path leads to, and the last part of the path. What stands before the first
/// slash does not count.
fn container<'n>(document: &'n mut Node, path: &str) -> Result<(&'n mut Node, String)> {
    let missing = |part: &str| Error::invalid(format!("the path `{path}` does not exist: no `{part}`"));
    let Some((_, path_of_parts)) = path.split_once('/') else {
        let sentence = format!("the path `{path}` must begin with a slash");
        return Err(Error::invalid(sentence).hint(format!("write `/{path}`")));
    };
    let mut parts: Vec<String> = path_of_parts.split('/').map(json::unescape).collect();
    let last = parts.pop().unwrap_or_default();
    let mut at = document;
    for part in parts {
        at = match &mut at.kind {
            Kind::Mapping(entries) => {
                let is_it = |entry: &&mut Entry| entry.key.text() == Some(&part);
                &mut entries.iter_mut().find(is_it).ok_or_else(|| missing(&part))?.value
            }
            Kind::Sequence(items) => {
                let place = existing(items, &part, path)?;
                &mut items[place]
            }
            Kind::Scalar(_) | Kind::Alias(_) => return Err(missing(&part)),
        };
    }
    match at.kind {
        Kind::Mapping(_) | Kind::Sequence(_) => Ok((at, last)),
        Kind::Scalar(_) | Kind::Alias(_) => Err(missing(&last)),
    }
}

fn items<'n>(container: &'n mut Node, path: &str) -> Result<&'n mut Vec<Node>> {
    container.items_mut().ok_or_else(|| Error::invalid(format!("the path `{path}` does not exist")))
}

/// The index of an item that exists.
fn existing(items: &[Node], key: &str, path: &str) -> Result<usize> {
    index(key, items.len(), items.len(), path)
}

/// An index below a bound, counted from the end where it is negative.
fn index(key: &str, bound: usize, length: usize, path: &str) -> Result<usize> {
    let Ok(number) = key.parse::<i64>() else {
        return Err(Error::invalid(format!("`{key}` in `{path}` must be the index of an item")));
    };
    let bound_from_end = i64::try_from(bound).unwrap_or(i64::MAX);
    let from_start = if number < 0 { number.saturating_add(bound_from_end) } else { number };
    match usize::try_from(from_start) {
        Ok(at) if at < bound => Ok(at),
        _ => Err(Error::invalid(format!("no item `{key}` at `{path}`: the list has {length}"))),
    }
}

/// Returns true if two values are the same. Scalars are compared as JSON is written, so the text of a patch that is JSON must
/// be spelled as Go does.
fn equal(found: &Node, wanted: &Node, written: Option<(&Node, &str)>) -> bool {
    match (&found.kind, &wanted.kind) {
        (Kind::Mapping(found), Kind::Mapping(entries)) => {
            found.len() == entries.len()
                && found.iter().all(|entry| {
                    let key = entry.key.text().unwrap_or_default();
                    let written = written.and_then(|(node, text)| Some((node.get(key)?, text)));
                    wanted.get(key).is_some_and(|wanted| equal(&entry.value, wanted, written))
                })
        }
        (Kind::Sequence(found), Kind::Sequence(wanted)) => {
            found.len() == wanted.len()
                && found.iter().zip(wanted).enumerate().all(|(at, (found, wanted))| {
                    let written = written.and_then(|(node, text)| Some((node.items()?.get(at)?, text)));
                    equal(found, wanted, written)
                })
        }
        (Kind::Scalar(_), Kind::Scalar(_)) => {
            let found = json_text(found);
            let wanted = match written {
                Some((node, text)) => {
                    text.get(node.span.start as usize..node.span.end as usize).map(str::to_owned)
                }
                None => json_text(wanted),
            };
            found.is_some() && found == wanted
        }
        _ => false,
    }
}

fn json_text(scalar: &Node) -> Option<String> {
    let mut text = String::new();
    to_json(scalar, JsonOptions::KYAML, &mut text).ok()?;
    Some(text)
}

#[cfg(test)]
mod tests {
    use yamltree::{ParseOptions, parse_first, to_sigs_yaml};

    use super::*;

    fn node(text: &str) -> Node {
        parse_first(text, 1, &ParseOptions::default()).expect("YAML").expect("a document").root
    }

    fn patch(text: &str) -> Result<JsonPatch> {
        JsonPatch::parse(&File { source: 0, text: text.into() })
    }

    fn patched(resource: &str, operations: &str) -> Result<String> {
        let mut resource = node(resource);
        patch(operations)?.apply(&mut resource, &Growth::default())?;
        let mut out = String::new();
        to_sigs_yaml(&resource, &mut out)?;
        Ok(out)
    }

    #[track_caller]
    fn check(resource: &str, operations: &str, wanted: &str) {
        let found = patched(resource, operations).unwrap_or_else(|error| panic!("{}", error.message()));
        assert_eq!(found, wanted);
    }

    /// The appendix of RFC 6902, where the resource is a mapping.
    #[test]
    fn examples_of_the_rfc() {
        check("{foo: bar}", "- {op: add, path: /baz, value: qux}", "baz: qux\nfoo: bar\n");
        check("{foo: [bar, baz]}", "- {op: add, path: /foo/1, value: qux}", "foo:\n- bar\n- qux\n- baz\n");
        check("{baz: qux, foo: bar}", "- {op: remove, path: /baz}", "foo: bar\n");
        check("{foo: [bar, qux, baz]}", "- {op: remove, path: /foo/1}", "foo:\n- bar\n- baz\n");
        check("{baz: qux}", "- {op: replace, path: /baz, value: boo}", "baz: boo\n");
        check(
            "{foo: {bar: x}, qux: {}}",
            "- {op: move, from: /foo/bar, path: /qux/thud}",
            "foo: {}\nqux:\n  thud: x\n",
        );
        check("{foo: [a, b, c]}", "- {op: move, from: /foo/0, path: /foo/2}", "foo:\n- b\n- c\n- a\n");
        check(
            "{baz: qux, foo: [a, 2]}",
            "- {op: test, path: /foo/1, value: 2}",
            "baz: qux\nfoo:\n- a\n- 2\n",
        );
        check("{foo: [bar]}", "- {op: add, path: /foo/-, value: [a]}", "foo:\n- bar\n- - a\n");
        check("{/: 9, ~1: 10}", "- {op: test, path: /~01, value: 10}", "/: 9\n~1: 10\n");
        check("{foo: bar}", "- {op: copy, from: /foo, path: /baz}", "baz: bar\nfoo: bar\n");
    }

    /// Expected values: what the library allows and the RFC does not.
    #[test]
    fn liberties_of_the_library() {
        check("{a: 1}", "- {op: replace, path: /b, value: 2}", "a: 1\nb: 2\n");
        check("{a: [1, 2]}", "- {op: replace, path: /a/-1, value: 3}", "a:\n- 1\n- 3\n");
        check("{a: [1, 2]}", "- {op: add, path: /a/-1, value: 3}", "a:\n- 1\n- 2\n- 3\n");
        check("{a: [1, 2]}", "- {op: remove, path: /a/-2}", "a:\n- 2\n");
        check("{a: {b: 1}}", "- {op: replace, path: a/b, value: 2}", "a:\n  b: 1\nb: 2\n");
        check("{a: 1}", "- {op: add, path: /b}", "a: 1\nb: null\n");
        check("{a: 1}", "- {op: copy, from: /b, path: /c}", "a: 1\nc: null\n");
        check("{a: 1}", "- {op: test, path: /b, value: null}", "a: 1\n");
        check("{a: 1}", "- {op: replace, path: '', value: {b: 2}}", "b: 2\n");
        check("{a: 1}", "- {op: test, path: '', value: {a: 1.0}}", "a: 1\n");
        check("{a: 1}", "- {op: add, path: /b, value: 2, extra: x}", "a: 1\nb: 2\n");
        check("{a: 1}", "[]", "a: 1\n");
    }

    #[test]
    fn what_does_not_apply_is_refused() {
        for operation in [
            "{op: add, path: /a/b/c, value: 1}",
            "{op: add, path: /s/1, value: 1}",
            "{op: add, path: /l/3, value: 1}",
            "{op: add, path: /l/-4, value: 1}",
            "{op: add, path: /l/x, value: 1}",
            "{op: add, path: '', value: {}}",
            "{op: add, path: x, value: 1}",
            "{op: add, value: 1}",
            "{op: add, path: 7, value: 1}",
            "{op: remove, path: /x}",
            "{op: remove, path: /l/2}",
            "{op: replace, path: /l/2, value: 1}",
            "{op: replace, path: /l/-, value: 1}",
            "{op: replace, path: '', value: [1]}",
            "{op: replace, path: ''}",
            "{op: move, from: /m, path: /m/n}",
            "{op: move, from: /x, path: /y}",
            "{op: copy, path: /y}",
            "{op: copy, from: /l/7, path: /y}",
            "{op: test, path: /s, value: other}",
            "{op: test, path: /s}",
            "{op: test, path: /m, value: {n: 1, o: 2}}",
            "{op: test, path: /l, value: [1]}",
            "{op: ad, path: /b, value: 1}",
            "{path: /b, value: 1}",
        ] {
            let text = format!("- {operation}");
            let error = patched("{s: text, l: [1, 2], m: {n: 1}}", &text).expect_err(&text);
            assert_eq!(error.span().source, 0, "{text}: {}", error.message());
        }
    }

    #[test]
    fn what_is_no_patch_is_refused() {
        for text in ["", "{op: add}", "- 7", "[{op: remove, path: /x}]", "[{\"op\": \"add\"},]", "- a: .inf"]
        {
            assert!(patch(text).is_err(), "{text}");
        }
        assert!(patch("# nothing").expect("no operations").is_empty());
    }

    /// The library compares the texts of scalars, and Go's JSON escapes `<`.
    #[test]
    fn a_test_in_json_compares_spelling() {
        for (operations, passes) in [
            ("[{\"op\": \"test\", \"path\": \"/a\", \"value\": 1.0}]", false),
            ("[{\"op\": \"test\", \"path\": \"/a\", \"value\": 1}]", true),
            ("- {op: test, path: /a, value: 1.0}", true),
            ("[{\"op\": \"test\", \"path\": \"/b\", \"value\": [\"<\"]}]", false),
            ("[{\"op\": \"test\", \"path\": \"/b\", \"value\": [\"\\u003c\"]}]", true),
            ("- {op: test, path: /b, value: ['<']}", true),
        ] {
            assert_eq!(patched("{a: 1, b: ['<']}", operations).is_ok(), passes, "{operations}");
        }
    }

    /// As `kustomize build` prints them: YAML 1.1 in the patch, floats everywhere.
    #[test]
    fn values_are_read_as_by_go() {
        check(
            "{a: 9007199254740993, b: 0o7, c: 2001-01-01, d: yes}",
            "- {op: add, path: /e, value: [yes, 012, 2001-01-01, '1']}",
            "a: 9007199254740992\nb: 7\nc: \"2001-01-01T00:00:00Z\"\nd: \"yes\"\ne:\n- true\n- 10\n- \"2001-01-01\"\n- \"1\"\n",
        );
    }

    /// Depth and size are bounded where a patch makes them grow: reading a document bounds only what is read.
    #[test]
    fn a_patch_cannot_grow_without_end() {
        let repeated = |start: &str, times: usize, step: &dyn Fn(usize) -> String| {
            (0..times).fold(start.to_owned(), |text, at| text + &step(at))
        };
        let doubled = repeated("", 40, &|at| {
            format!("- {{op: copy, from: /s, path: /t}}\n- {{op: move, from: /t, path: /s/b{at}}}\n")
        });
        let moved = repeated("", 300, &|_| {
            "- {op: move, from: /s, path: /t}\n- {op: add, path: /s, value: {}}\n- {op: move, from: /t, path: /s/a}\n"
                .repeat(2)
        });
        let nested = format!("{}1{}", "[".repeat(300), "]".repeat(300));
        let added = format!(
            "- {{op: add, path: /s/a, value: {nested}}}\n- {{op: add, path: /s/a{zeros}/-, value: {nested}}}\n",
            zeros = "/0".repeat(250),
        );
        for (operations, message) in [
            (doubled, "JSON patches copy more than 64 MiB in this build"),
            (moved, "the patch nests values more than 500 deep"),
            (added, "the patch nests values more than 500 deep"),
        ] {
            let error = patched("{s: {a: [1, 2]}}", &operations).expect_err(message);
            assert_eq!(error.message(), message);
            assert_eq!(error.kind(), diagnostic::ErrorKind::Limit);
        }
    }

    #[test]
    fn numbers_that_change_are_reported() {
        let mut resource = node("{a: 9007199254740993, b: 5}");
        let inexact = patch("- {op: add, path: /c, value: 1}")
            .expect("a patch")
            .apply(&mut resource, &Growth::default())
            .expect("applies");
        assert_eq!(inexact, [Span { source: 1, start: 4, end: 20 }]);
    }
}
