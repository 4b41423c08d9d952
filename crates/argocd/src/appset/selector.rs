//! Label selectors: `matchLabels` and `matchExpressions`.
//!
//! In: a selector as it is written. Out: whether labels match. Refused: unknown operators, operators with values that
//! they do not take, and keys that no label has; where labels of objects are chosen, values that no label has either.

use std::collections::BTreeMap;

use yamltree::Span;

use super::schema::{Shape, optional, required};
use super::tree::Tree;

/// The shape of a selector.
pub(crate) const SHAPE: Shape = Shape::Object(&[
    optional("matchLabels", Shape::TEXT_MAP),
    optional("matchExpressions", Shape::List(&EXPRESSION)),
]);

const EXPRESSION: Shape = Shape::Object(&[
    required("key", Shape::Text),
    required("operator", Shape::Text),
    optional("values", Shape::TEXTS),
]);

/// Longest name of a label, and longest value.
const MAX_LABEL: usize = 63;
/// Longest prefix of a label's name: that of a DNS name.
const MAX_PREFIX: usize = 253;

/// Labels by their names.
pub(crate) type Labels = BTreeMap<String, String>;

/// Requirements that labels must meet, all of them.
#[derive(Debug)]
pub(crate) struct Selector(Vec<Requirement>);

#[derive(Debug)]
struct Requirement {
    key: String,
    test: Test,
}

#[derive(Debug)]
enum Test {
    In(Vec<String>),
    NotIn(Vec<String>),
    Exists,
    DoesNotExist,
}

/// Which values a selector may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValuesOf {
    /// Those that labels of objects can have.
    Objects,
    /// Any: parameters are chosen by more than labels (applicationset/utils/selector.go).
    Parameters,
}

/// An error in a selector, with its span.
pub(crate) type Fault = (String, Span);

impl Selector {
    pub(crate) fn read(tree: &Tree, values: ValuesOf) -> Result<Self, Fault> {
        let mut requirements = Vec::new();
        for (key, value) in tree.entries_of("matchLabels") {
            let text = value.text().unwrap_or_default().to_owned();
            requirements.push(Requirement::new(key, Test::In(vec![text]), values, value.span)?);
        }
        for expression in tree.items_of("matchExpressions") {
            let given = expression.items_of("values").iter().filter_map(Tree::text).map(str::to_owned);
            let test = Test::new(expression.text_of("operator"), given.collect());
            let test = test.map_err(|message| (message, expression.span))?;
            requirements.push(Requirement::new(expression.text_of("key"), test, values, expression.span)?);
        }
        Ok(Self(requirements))
    }

    /// Returns true if everything matches.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn matches(&self, labels: &Labels) -> bool {
        self.0.iter().all(|requirement| requirement.test.holds(labels.get(&requirement.key)))
    }
}

impl Requirement {
    fn new(key: &str, test: Test, values: ValuesOf, span: Span) -> Result<Self, Fault> {
        if !is_label_name(key) {
            return Err((format!("`{key}` cannot be the name of a label, so that nothing has it"), span));
        }
        if let (ValuesOf::Objects, Test::In(given) | Test::NotIn(given)) = (values, &test)
            && let Some(value) = given.iter().find(|value| !is_label_value(value))
        {
            return Err((format!("`{value}` cannot be the value of a label"), span));
        }
        Ok(Self { key: key.to_owned(), test })
    }
}

impl Test {
    fn new(operator: &str, values: Vec<String>) -> Result<Self, String> {
        match (operator, values.is_empty()) {
            ("In", false) => Ok(Self::In(values)),
            ("NotIn", false) => Ok(Self::NotIn(values)),
            ("Exists", true) => Ok(Self::Exists),
            ("DoesNotExist", true) => Ok(Self::DoesNotExist),
            ("In" | "NotIn", true) => Err(format!("the operator `{operator}` needs `values`")),
            ("Exists" | "DoesNotExist", false) => Err(format!("the operator `{operator}` takes no `values`")),
            _ => Err(format!(
                "unknown selector operator `{operator}`; expected In, NotIn, Exists or DoesNotExist"
            )),
        }
    }

    fn holds(&self, value: Option<&String>) -> bool {
        match self {
            Self::In(values) => value.is_some_and(|value| values.contains(value)),
            Self::NotIn(values) => value.is_none_or(|value| !values.contains(value)),
            Self::Exists => value.is_some(),
            Self::DoesNotExist => value.is_none(),
        }
    }
}

/// A name, perhaps behind a DNS name and a slash (apimachinery's `IsQualifiedName`).
fn is_label_name(key: &str) -> bool {
    let (prefix, name) = match key.split_once('/') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, key),
    };
    let is_part = |part: &str| {
        let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        part.bytes().all(|byte| inner(byte) || byte == b'-')
            && part.bytes().next().is_some_and(inner)
            && part.bytes().last().is_some_and(inner)
    };
    prefix.is_none_or(|prefix| prefix.len() <= MAX_PREFIX && prefix.split('.').all(is_part))
        && !name.is_empty()
        && is_label_value(name)
}

/// Letters and digits, inside also `-`, `_` and `.` (apimachinery's `IsValidLabelValue`).
fn is_label_value(value: &str) -> bool {
    let ends = |byte: Option<u8>| byte.is_none_or(|byte| byte.is_ascii_alphanumeric());
    value.len() <= MAX_LABEL
        && value.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
        && ends(value.bytes().next())
        && ends(value.bytes().last())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selector(json: &str, values: ValuesOf) -> Result<Selector, Fault> {
        Selector::read(&Tree::of_json(serde_json::from_str(json).unwrap(), Span::NONE), values)
    }

    fn matches(json: &str, labels: &[(&str, &str)]) -> bool {
        let labels = labels.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        selector(json, ValuesOf::Parameters).unwrap().matches(&labels)
    }

    #[test]
    fn all_requirements_hold() {
        let labels = [("env", "prod"), ("server", "https://a b")];
        for (selector, want) in [
            (r#"{}"#, true),
            (r#"{"matchLabels": {"env": "prod", "server": "https://a b"}}"#, true),
            (r#"{"matchLabels": {"env": "prod", "region": ""}}"#, false),
            (r#"{"matchExpressions": [{"key": "env", "operator": "NotIn", "values": ["dev"]}]}"#, true),
            // An absent label is in no list of values.
            (r#"{"matchExpressions": [{"key": "tier", "operator": "NotIn", "values": ["dev"]}]}"#, true),
            (r#"{"matchExpressions": [{"key": "tier", "operator": "DoesNotExist"}]}"#, true),
            (r#"{"matchExpressions": [{"key": "tier", "operator": "Exists"}]}"#, false),
            (
                r#"{"matchLabels": {"env": "prod"}, "matchExpressions": [{"key": "env", "operator": "In", "values": ["a"]}]}"#,
                false,
            ),
        ] {
            assert_eq!(matches(selector, &labels), want, "{selector}");
        }
    }

    #[test]
    fn what_no_selector_can_say_is_refused() {
        for (json, values, want) in [
            (
                r#"{"matchExpressions": [{"key": "a", "operator": "Gt", "values": ["1"]}]}"#,
                ValuesOf::Parameters,
                "unknown selector operator `Gt`",
            ),
            (
                r#"{"matchExpressions": [{"key": "a", "operator": "In"}]}"#,
                ValuesOf::Parameters,
                "needs `values`",
            ),
            (
                r#"{"matchExpressions": [{"key": "a", "operator": "Exists", "values": ["1"]}]}"#,
                ValuesOf::Parameters,
                "takes no `values`",
            ),
            (r#"{"matchLabels": {"path[0]": "a"}}"#, ValuesOf::Parameters, "`path[0]` cannot be the name"),
            (r#"{"matchLabels": {"a/b/c": "a"}}"#, ValuesOf::Parameters, "cannot be the name"),
            (r#"{"matchLabels": {"/b": "a"}}"#, ValuesOf::Parameters, "cannot be the name"),
            (r#"{"matchLabels": {"Example.com/b": "a"}}"#, ValuesOf::Parameters, "cannot be the name"),
            (r#"{"matchLabels": {"a": "https://b"}}"#, ValuesOf::Objects, "cannot be the value"),
        ] {
            let (message, _) = selector(json, values).unwrap_err();
            assert!(message.contains(want), "{json}: {message}");
        }
        selector(r#"{"matchLabels": {"example.com/b_c.D": ""}}"#, ValuesOf::Objects).unwrap();
    }
}
