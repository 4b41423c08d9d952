//! `labelSelector` and `fieldSelector`: texts in, whether an object matches out. What they cannot mean is refused with
//! 400, as the real server does, so that a mistake in a selector is no empty list.

use serde_json::Value;

use super::failure::Failure;

/// Which objects are asked for.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Selector {
    labels: Vec<Requirement>,
    fields: Vec<Field>,
}

#[derive(Clone, Debug, PartialEq)]
struct Requirement {
    key: String,
    test: Test,
}

#[derive(Clone, Debug, PartialEq)]
enum Test {
    Exists,
    DoesNotExist,
    In(Vec<String>),
    NotIn(Vec<String>),
    GreaterThan(i64),
    LessThan(i64),
}

#[derive(Clone, Debug, PartialEq)]
struct Field {
    path: String,
    value: String,
    equal: bool,
}

impl Selector {
    /// Reads both; `selectable` are the fields that the resource can be selected by.
    pub(super) fn read(labels: &str, fields: &str, selectable: &[String]) -> Result<Self, Failure> {
        let labels = read_labels(labels)
            .map_err(|why| Failure::bad_request(format!("unable to parse requirement: {why}")))?;
        let fields = split(fields)
            .map(|field| read_field(field, selectable).map_err(Failure::bad_request))
            .collect::<Result<_, _>>()?;
        Ok(Self { labels, fields })
    }

    pub(super) fn matches(&self, object: &Value) -> bool {
        self.labels.iter().all(|requirement| requirement.matches(object))
            && self.fields.iter().all(|field| field.matches(object))
    }

    /// Returns true if all objects match.
    pub(super) fn is_empty(&self) -> bool {
        self.labels.is_empty() && self.fields.is_empty()
    }

    /// The one name that can match.
    pub(super) fn name(&self) -> Option<&str> {
        self.fields
            .iter()
            .find(|field| field.equal && field.path == "metadata.name")
            .map(|field| field.value.as_str())
    }
}

impl Requirement {
    fn matches(&self, object: &Value) -> bool {
        let value = object["metadata"]["labels"][&self.key].as_str();
        match &self.test {
            Test::Exists => value.is_some(),
            Test::DoesNotExist => value.is_none(),
            Test::In(values) => value.is_some_and(|value| values.iter().any(|one| one == value)),
            Test::NotIn(values) => value.is_none_or(|value| values.iter().all(|one| one != value)),
            Test::GreaterThan(least) => number(value).is_some_and(|number| number > *least),
            Test::LessThan(most) => number(value).is_some_and(|number| number < *most),
        }
    }
}

fn number(value: Option<&str>) -> Option<i64> {
    value?.parse().ok()
}

impl Field {
    fn matches(&self, object: &Value) -> bool {
        let value = self.path.split('.').fold(object, |value, step| &value[step]);
        let value = match value {
            Value::String(text) => text.clone(),
            Value::Null => String::new(),
            other => other.to_string(),
        };
        (value == self.value) == self.equal
    }
}

/// The parts between commas.
fn split(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|part| !part.is_empty())
}

fn read_field(text: &str, selectable: &[String]) -> Result<Field, String> {
    let (path, value, equal) = if let Some((path, value)) = text.split_once("!=") {
        (path, value, false)
    } else if let Some((path, value)) = text.split_once("==").or_else(|| text.split_once('=')) {
        (path, value, true)
    } else {
        return Err(format!("invalid selector: '{text}'; can't understand '{text}'"));
    };
    if !selectable.iter().any(|known| known == path) {
        return Err(format!("field label not supported: {path}"));
    }
    Ok(Field { path: path.to_owned(), value: value.to_owned(), equal })
}

fn read_labels(text: &str) -> Result<Vec<Requirement>, String> {
    let mut requirements = Vec::new();
    let mut rest = text;
    while !rest.trim().is_empty() {
        let end = end_of_requirement(rest)?;
        requirements.push(read_requirement(rest[..end].trim())?);
        rest = rest.get(end + 1..).unwrap_or_default();
    }
    Ok(requirements)
}

/// Returns where the next comma is that no parenthesis holds.
fn end_of_requirement(text: &str) -> Result<usize, String> {
    let mut depth = 0_i32;
    for (index, letter) in text.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => return Ok(index),
            _ => {}
        }
    }
    if depth == 0 { Ok(text.len()) } else { Err(format!("found '', expected: ',' or ')' in '{text}'")) }
}

fn read_requirement(text: &str) -> Result<Requirement, String> {
    if let Some(key) = text.strip_prefix('!') {
        return requirement(key, Test::DoesNotExist);
    }
    if let Some((head, values)) = text.split_once('(') {
        let values = values.strip_suffix(')').ok_or_else(|| format!("found '{values}', expected: ')'"))?;
        let values = values.split(',').map(|value| value.trim().to_owned()).collect();
        let (key, operator) = head.trim().rsplit_once(char::is_whitespace).unwrap_or((head, ""));
        return match operator {
            "in" => requirement(key, Test::In(values)),
            "notin" => requirement(key, Test::NotIn(values)),
            other => Err(format!("found '{other}', expected: in, notin, =, ==, !=, gt, lt")),
        };
    }
    for (sign, test) in [
        ("!=", Test::NotIn as fn(Vec<String>) -> Test),
        ("==", Test::In as fn(Vec<String>) -> Test),
        ("=", Test::In as fn(Vec<String>) -> Test),
    ] {
        if let Some((key, value)) = text.split_once(sign) {
            return requirement(key, test(vec![checked_value(value.trim())?]));
        }
    }
    for (sign, test) in
        [(">", Test::GreaterThan as fn(i64) -> Test), ("<", Test::LessThan as fn(i64) -> Test)]
    {
        if let Some((key, value)) = text.split_once(sign) {
            let bound =
                value.trim().parse().map_err(|_| format!("for '{sign}', the value must be an integer"))?;
            return requirement(key, test(bound));
        }
    }
    requirement(text, Test::Exists)
}

fn requirement(key: &str, test: Test) -> Result<Requirement, String> {
    let key = key.trim();
    if !super::metadata::is_qualified_name(key) {
        return Err(format!(
            "key: Invalid value: {key:?}: name part must consist of alphanumeric characters"
        ));
    }
    Ok(Requirement { key: key.to_owned(), test })
}

fn checked_value(value: &str) -> Result<String, String> {
    if super::metadata::is_label_value(value) {
        return Ok(value.to_owned());
    }
    Err(format!(
        "values[0]: Invalid value: {value:?}: a valid label must be an empty string or consist of \
                 alphanumeric characters"
    ))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn selects(labels: &str) -> bool {
        let object = json!({"metadata": {"labels": {"app": "web", "tier": "2"}}});
        Selector::read(labels, "", &[]).unwrap().matches(&object)
    }

    /// `!=` and `notin` hold for what has no such label: https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/
    #[test]
    fn labels_are_selected_as_the_documentation_says() {
        for yes in [
            "",
            "app",
            "app=web",
            "app==web",
            "app!=db",
            "other!=x",
            "!other",
            "app in (db, web)",
            "other notin (x)",
            "app in (web),tier=2",
            "tier>1",
            "tier<3",
            "app = web",
        ] {
            assert!(selects(yes), "{yes}");
        }
        for no in
            ["other", "app=db", "app!=web", "!app", "app in (db)", "app notin (web)", "app,tier=1", "tier>2"]
        {
            assert!(!selects(no), "{no}");
        }
    }

    #[test]
    fn what_is_no_selector_is_refused() {
        for bad in ["app in (", "app in web)", "a b c", "=x", "app=a b", "app ni (x)", "app>x"] {
            assert_eq!(Selector::read(bad, "", &[]).unwrap_err().code, 400, "{bad}");
        }
    }

    #[test]
    fn only_fields_that_are_selectable_are_selected_by() {
        let selectable = ["metadata.name".to_owned()];
        let selector = Selector::read("", "metadata.name=web", &selectable).unwrap();
        assert_eq!(selector.name(), Some("web"));
        assert!(selector.matches(&json!({"metadata": {"name": "web"}})));
        assert!(!selector.matches(&json!({"metadata": {"name": "db"}})));
        let refused = Selector::read("", "spec.image=x", &selectable).unwrap_err();
        assert_eq!(refused.message, "field label not supported: spec.image");
    }
}
