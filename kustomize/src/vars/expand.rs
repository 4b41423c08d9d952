//! The syntax of references to vars: `$(NAME)` is one, `$$` stands for `$`, and everything else is left as it is.

use std::fmt;

use yamltree::{Node, Tag};

/// The value of a var.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Text(String),
    Int(i64),
    Float(f64),
    Bool(bool),
    /// A mapping or a list, which cannot stand in a text.
    Collection,
}

impl Value {
    /// The value as a scalar of its type.
    pub(super) fn to_node(&self) -> Node {
        let (text, tag) = match self {
            Value::Text(text) => return Node::string(text),
            Value::Int(int) => (int.to_string(), Tag::Int),
            // Without an exponent, unlike within a text.
            Value::Float(float) => (float.to_string(), Tag::Float),
            Value::Bool(bool) => (bool.to_string(), Tag::Bool),
            Value::Collection => return Node::null(),
        };
        let mut node = Node::plain(&text);
        node.tag = tag;
        node
    }
}

/// The value within a text, as Go prints it.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Text(text) => f.write_str(text),
            Value::Int(int) => write!(f, "{int}"),
            Value::Float(float) => write_float(*float, f),
            Value::Bool(bool) => write!(f, "{bool}"),
            Value::Collection => Ok(()),
        }
    }
}

/// Go's `%v`: the shortest digits, with an exponent of at least two digits below 1e-4 and from 1e6 on.
fn write_float(float: f64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let scientific = format!("{float:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    if exponent.parse().is_ok_and(|exponent: i32| (-4..6).contains(&exponent)) {
        return write!(f, "{float}");
    }
    let (sign, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |exponent| ('-', exponent));
    write!(f, "{digits}e{sign}{exponent:0>2}")
}

/// A text with the values of vars in it. One that is a single reference takes the value's type; a reference to what has
/// no value stays.
pub(super) fn expand<'v>(text: &str, mut value: impl FnMut(&str) -> Option<&'v Value>) -> Value {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    // Where nothing closes any more, nothing is looked for: a text of only `$(` is read once.
    let last_close = text.rfind(')').map_or(usize::MAX, |at| text.len() - at);
    while let Some(at) = rest.find('$') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(behind) = rest.strip_prefix('$') {
            out.push('$');
            rest = behind;
        } else if let Some(open) = rest.strip_prefix('(').filter(|open| open.len() >= last_close)
            && let Some((name, behind)) = open.split_once(')')
        {
            match value(name) {
                Some(value) if name.len() + "$()".len() == text.len() => return value.clone(),
                Some(value) => out.push_str(&value.to_string()),
                None => out.extend(["$(", name, ")"]),
            }
            rest = behind;
        } else {
            // An opened but unclosed reference; what follows the parenthesis may hold another.
            out.push('$');
        }
    }
    out.push_str(rest);
    Value::Text(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(name: &str) -> Option<&'static Value> {
        static VALUES: std::sync::LazyLock<std::collections::HashMap<&str, Value>> =
            std::sync::LazyLock::new(|| {
                let text = |text: &str| Value::Text(text.to_owned());
                [
                    ("A", text("1")),
                    ("B", text("two")),
                    ("REF", text("$(A)")),
                    ("EMPTY", text("")),
                    ("INT", Value::Int(8)),
                    ("YES", Value::Bool(true)),
                    ("FLOAT", Value::Float(1.5)),
                    ("LARGE", Value::Float(1_234_567.5)),
                    ("SMALL", Value::Float(0.000_01)),
                ]
                .into()
            });
        VALUES.get(name)
    }

    /// The facts of upstream's own table, and what follows from its reading.
    #[test]
    fn references_are_read_as_upstream_reads_them() {
        let cases = [
            ("", ""),
            ("no reference", "no reference"),
            ("$(A)-$(A)", "1-1"),
            ("__$(A)_$(B)__", "__1_two__"),
            ("$(NONE)", "$(NONE)"),
            ("$(NONE)$(B)", "$(NONE)two"),
            ("$$(B)_$(A)", "$(B)_1"),
            ("$$$$$$(A)", "$$$(A)"),
            ("$$$$$$$(A)", "$$$1"),
            ("a-$$A", "a-$A"),
            ("a\\$(B)c", "a\\twoc"),
            ("$(A$(B))", "$(A$(B))"),
            ("$(A$(B)", "$(A$(B)"),
            ("%$(REF)-$(REF)%", "%$(A)-$(A)%"),
            ("a$(EMPTY)b", "ab"),
            ("a$(Awhoops!", "a$(Awhoops!"),
            ("a__(A)__", "a__(A)__"),
            ("$?_$!", "$?_$!"),
            ("$A)", "$A)"),
            ("${A}", "${A}"),
            ("$(A)_$(", "1_$("),
            ("$(A)$", "1$"),
            ("--$($($($--", "--$($($($--"),
            ("$($($(A)", "$($($(A)"),
            ("$(a$$b)", "$(a$$b)"),
            ("$()", "$()"),
            ("v$(INT)", "v8"),
            ("$(YES)!", "true!"),
            ("$(FLOAT)/$(LARGE)/$(SMALL)", "1.5/1.2345675e+06/1e-05"),
            ("$é$(A)", "$é1"),
        ];
        for (text, want) in cases {
            assert_eq!(expand(text, values), Value::Text(want.to_owned()), "{text}");
        }
    }

    #[test]
    fn a_single_reference_takes_the_type_of_the_value() {
        assert_eq!(expand("$(INT)", values), Value::Int(8));
        assert_eq!(expand("$(A)", values).to_node().tag, Tag::Str);
        assert_eq!(expand("$(LARGE)", values).to_node().text(), Some("1234567.5"));
    }
}
