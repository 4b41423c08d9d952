//! `ARGOCD_APP_PARAMETERS`: the parameters of an Application's plugin, as JSON.
//!
//! In: the text, which is `null` where there are none. Out: names and their values. Refused: what is no JSON of this form;
//! errors have names and no values in them.

use std::collections::BTreeMap;

use diagnostic::{Error, Result};
use serde_json::Value;

/// The variable.
const NAME: &str = "ARGOCD_APP_PARAMETERS";

/// The value of a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// `string`
    Text(String),
    /// `array`
    List(Vec<String>),
    /// `map`
    Map(BTreeMap<String, String>),
}

/// A parameter that has a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Given {
    pub(super) name: String,
    pub(super) content: Content,
}

impl Content {
    /// The field of a parameter that it is in, which Argo CD also calls the type of a collection.
    #[must_use]
    pub fn field(&self) -> &'static str {
        match self {
            Self::Text(_) => "string",
            Self::List(_) => "array",
            Self::Map(_) => "map",
        }
    }

    /// The texts in it.
    pub(super) fn texts(&self) -> Vec<&str> {
        match self {
            Self::Text(text) => vec![text],
            Self::List(items) => items.iter().map(String::as_str).collect(),
            Self::Map(map) => map.values().map(String::as_str).collect(),
        }
    }
}

/// Reads the parameters that have a value.
pub(super) fn read(text: &str) -> Result<Vec<Given>> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    // What serde says of a text that is no JSON is where, and never what.
    let value: Value = serde_json::from_str(text).map_err(|error| {
        refuse(&format!("is not valid JSON: line {}, column {}", error.line(), error.column()))
    })?;
    let items = match value {
        Value::Null => return Ok(Vec::new()),
        Value::Array(items) => items,
        _ => return Err(refuse("must be an array")),
    };
    let mut found: Vec<Given> = Vec::with_capacity(items.len());
    for item in items {
        let Some(given) = parameter(item)? else { continue };
        if found.iter().any(|known| known.name == given.name) {
            return Err(Error::invalid(format!("the parameter `{}` is given twice", given.name)));
        }
        found.push(given);
    }
    Ok(found)
}

fn parameter(item: Value) -> Result<Option<Given>> {
    let Value::Object(mut fields) = item else {
        return Err(refuse("has an item that is not an object"));
    };
    let Some(Value::String(name)) = fields.remove("name") else {
        return Err(refuse("has an item without a name"));
    };
    let mut take = |field: &str| fields.remove(field).filter(|value| !value.is_null());
    let wrong = |field: &str| {
        Error::invalid(format!("the `{field}` of the parameter `{name}` must contain strings only"))
    };
    let text = |field: &'static str, value: Value| match value {
        Value::String(text) => Ok(text),
        _ => Err(wrong(field)),
    };
    let mut contents = Vec::new();
    if let Some(value) = take("string") {
        contents.push(Content::Text(text("string", value)?));
    }
    if let Some(value) = take("array") {
        let Value::Array(items) = value else { return Err(wrong("array")) };
        let items = items.into_iter().map(|item| text("array", item));
        contents.push(Content::List(items.collect::<Result<_>>()?));
    }
    if let Some(value) = take("map") {
        let Value::Object(map) = value else { return Err(wrong("map")) };
        let entries = map.into_iter().map(|(key, value)| Ok((key, text("map", value)?)));
        contents.push(Content::Map(entries.collect::<Result<_>>()?));
    }
    let mut contents = contents.into_iter();
    match (contents.next(), contents.next()) {
        (None, _) => Ok(None),
        (Some(content), None) => Ok(Some(Given { name, content })),
        _ => Err(Error::invalid(format!("the parameter `{name}` has several values at once"))
            .hint("it has one of `string`, `array` and `map`")),
    }
}

fn refuse(why: &str) -> Error {
    Error::invalid(format!("{NAME} {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_may_be_none() {
        for text in ["", " ", "null", "[]", r#"[{"name": "a"}]"#, r#"[{"name": "a", "string": null}]"#] {
            assert_eq!(read(text).unwrap(), [], "{text}");
        }
    }

    #[test]
    fn each_has_one_value() {
        let text = r#"[{"name":"a","string":""},{"name":"b","array":["x"]},{"name":"c","map":{"k":"v"}}]"#;
        let contents: Vec<Content> = read(text).unwrap().into_iter().map(|given| given.content).collect();
        let map = BTreeMap::from([("k".to_owned(), "v".to_owned())]);
        assert_eq!(
            contents,
            [Content::Text(String::new()), Content::List(vec!["x".to_owned()]), Content::Map(map)]
        );
    }

    #[test]
    fn what_is_wrong_is_said_without_values() {
        for (text, want) in [
            ("hunter2", "ARGOCD_APP_PARAMETERS is not valid JSON: line 1, column 1"),
            (r#""hunter2""#, "ARGOCD_APP_PARAMETERS must be an array"),
            (r#"["hunter2"]"#, "ARGOCD_APP_PARAMETERS has an item that is not an object"),
            (r#"[{"string":"hunter2"}]"#, "ARGOCD_APP_PARAMETERS has an item without a name"),
            (r#"[{"name":"a","map":"hunter2"}]"#, "the `map` of the parameter `a` must contain strings only"),
            (r#"[{"name":"a","array":[2]}]"#, "the `array` of the parameter `a` must contain strings only"),
            (
                r#"[{"name":"a","string":"hunter2","array":[]}]"#,
                "the parameter `a` has several values at once",
            ),
            (
                r#"[{"name":"a","string":"hunter2"},{"name":"a","string":"x"}]"#,
                "the parameter `a` is given twice",
            ),
        ] {
            assert_eq!(read(text).unwrap_err().message(), want, "{text}");
        }
    }
}
