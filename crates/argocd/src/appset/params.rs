//! A set of parameters, and what generators do with several.
//!
//! In: values as Go holds them. Out: what Argo CD makes of them, in Go's print and in the merges of mergo.

use gotemplate::{Map, Str, Type, Value, fmt, json};

use super::selector::Labels;

/// One parameter as text is no longer than this.
const MAX_PRINTED: usize = 16 << 20;

/// A set of parameters. Clones are the same set.
#[derive(Clone, Debug)]
pub(crate) struct Params(Map);

impl Default for Params {
    fn default() -> Self {
        Self(Map::new::<Str>([]))
    }
}

impl From<Map> for Params {
    fn from(map: Map) -> Self {
        Self(map)
    }
}

impl Params {
    /// The object that a value is, where null is one without keys.
    pub(crate) fn of_value(value: &Value) -> Option<Self> {
        match value {
            Value::Map(map) => Some(Self(map.clone())),
            Value::Nil => Some(Self::default()),
            _ => None,
        }
    }

    pub(crate) fn map(&self) -> &Map {
        &self.0
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn insert(&self, key: impl Into<Str>, value: Value) {
        self.0.insert(key, value);
    }

    /// The parameter that is a text.
    pub(crate) fn text(&self, key: &str) -> Option<String> {
        self.0.get(key)?.as_str().map(|text| text.to_text().into_owned())
    }

    /// The parameters as their keys with dots, and texts (generator_spec_processor.go `flattenParameters`).
    ///
    /// A list of texts, such as the segments of a path, is there as a whole and also item by item.
    pub(crate) fn labels(&self) -> Labels {
        let mut labels = Labels::new();
        let mut add = |key: String, value: &Value| drop(labels.insert(key, printed(value)));
        flatten("", &Value::Map(self.0.clone()), Depth::Parameters, &mut add);
        labels
    }

    /// An object of a file as parameters: its keys with dots, its values as Go prints them.
    pub(crate) fn flat(object: &Map) -> Self {
        let flat = Self::default();
        let mut add = |key: String, value: &Value| flat.insert(key, printed(value).into());
        flatten("", &Value::Map(object.clone()), Depth::Json, &mut add);
        flat
    }

    /// The parameters of both, of which the other's override ours (mergo's `Merge` with `WithOverride`).
    pub(crate) fn overridden_by(&self, other: &Self) -> Self {
        Self(merged(&self.0, &other.0))
    }

    /// The parameters of both, the other's in place of ours.
    pub(crate) fn replaced_by(&self, other: &Self) -> Self {
        let mut entries = self.0.entries().clone();
        entries.extend(other.0.to_vec());
        Self(Map::typed(Type::MAP, entries))
    }

    /// The parameters of both as texts; a key that has two is no set (utils/map.go `CombineStringMaps`).
    ///
    /// # Errors
    /// The key and its two texts.
    pub(crate) fn combined_with(&self, other: &Self) -> Result<Self, (String, String, String)> {
        let combined = Self::default();
        for (key, value) in self.0.entries().iter() {
            combined.insert(key.clone(), printed(value).into());
        }
        for (key, value) in other.0.entries().iter() {
            let text = printed(value);
            let name = key.to_text();
            if let Some(first) = combined.text(&name).filter(|first| *first != text) {
                return Err((name.into_owned(), first, text));
            }
            combined.insert(key.clone(), text.into());
        }
        Ok(combined)
    }

    /// The values of some keys as JSON: what is absent is null (merge.go `getParamSetsByMergeKey`).
    ///
    /// # Errors
    /// Go's words about a value that has no JSON.
    pub(crate) fn merge_key(&self, keys: &[&str]) -> Result<String, String> {
        let values = keys.iter().map(|key| (*key, self.0.get(key).unwrap_or_default()));
        let json = json::encode(&Value::map(values), json::Style::COMPACT, MAX_PRINTED);
        json.map(|json| String::from_utf8_lossy(&json).into_owned()).map_err(|error| error.to_string())
    }
}

/// A value as Go's verb `%v` prints it.
pub(crate) fn printed(value: &Value) -> String {
    match value.as_str() {
        Some(text) => text.to_text().into_owned(),
        None => fmt::sprint(std::slice::from_ref(value), MAX_PRINTED)
            .map(|text| String::from_utf8_lossy(&text).into_owned())
            .unwrap_or_default(),
    }
}

/// The depth to which parameters are flattened.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Depth {
    /// A value from JSON.
    Json,
    /// Maps and lists of texts too.
    Parameters,
}

fn flatten(key: &str, value: &Value, depth: Depth, add: &mut dyn FnMut(String, &Value)) {
    let below = |name: &str| if key.is_empty() { name.to_owned() } else { format!("{key}.{name}") };
    match value {
        Value::Map(map) if depth == Depth::Parameters || *map.go_type() == Type::MAP => {
            for (name, value) in map.entries().iter() {
                flatten(&below(&name.to_text()), value, depth, add);
            }
        }
        Value::List(list) if matches!(*list.go_type(), Type::LIST | Type::STRINGS) => {
            if *list.go_type() == Type::STRINGS {
                add(key.to_owned(), value);
                if depth == Depth::Json {
                    return;
                }
            }
            for (at, item) in list.items().iter().enumerate() {
                flatten(&below(&at.to_string()), item, depth, add);
            }
        }
        _ => add(key.to_owned(), value),
    }
}

/// Maps are merged, everything else of the second one counts: also what is empty, and null.
fn merged(base: &Map, other: &Map) -> Map {
    let mut entries = base.entries().clone();
    for (key, value) in other.entries().iter() {
        let value = match (entries.get(key), value) {
            (Some(Value::Map(ours)), Value::Map(theirs)) if !ours.is_empty() => merged(ours, theirs).into(),
            _ => value.clone(),
        };
        entries.insert(key.clone(), value);
    }
    Map::typed(Type::MAP, entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn params(json: &str) -> Params {
        Params::of_value(&json::decode(json.as_bytes()).unwrap().value).unwrap()
    }

    fn text(params: &Params) -> String {
        let json = json::encode(&Value::Map(params.map().clone()), json::Style::RAW, 1 << 20).unwrap();
        String::from_utf8(json).unwrap()
    }

    #[test]
    fn values_print_as_go_prints_them() {
        let labels = params(
            r#"{"i": 1000000, "j": 999999, "f": 0.5, "n": null, "b": true, "e": {}, "l": [], "m": {"x": [1, {"y": "z"}]}}"#,
        )
        .labels();
        let labels: Vec<_> = labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
        assert_eq!(labels.join(" "), "b=true f=0.5 i=1e+06 j=999999 m.x.0=1 m.x.1.y=z n=<nil>");
        assert_eq!(
            printed(&params(r#"{"b": [1.5, "x"], "a": null}"#).map().clone().into()),
            "map[a:<nil> b:[1.5 x]]"
        );
    }

    #[test]
    fn lists_of_texts_are_chosen_by_whole_and_by_item() {
        let params = Params::default();
        params.insert("segments", Value::strings(["a", "b"]));
        let labels = params.labels();
        assert_eq!(labels["segments"], "[a b]");
        assert_eq!(labels["segments.1"], "b");
    }

    /// mergo's `deepMerge`, maps of `any`: an empty text of the second map overrides, which it does not in structs.
    #[test]
    fn maps_are_merged_and_the_rest_overrides() {
        let base = params(r#"{"a": {"b": 1, "c": [1, 2], "d": {"e": 1}}, "f": "x", "g": {"h": 1}, "k": {}}"#);
        let other = params(r#"{"a": {"c": [], "d": {"i": 2}}, "f": "", "g": null, "j": 1, "k": 5}"#);
        assert_eq!(
            text(&base.overridden_by(&other)),
            r#"{"a":{"b":1,"c":[],"d":{"e":1,"i":2}},"f":"","g":null,"j":1,"k":5}"#
        );
        // What was merged is as it was.
        assert_eq!(text(&params(r#"{"a": 1}"#).replaced_by(&params(r#"{"b": 2}"#))), r#"{"a":1,"b":2}"#);
    }

    #[test]
    fn a_key_has_one_text() {
        let combined = params(r#"{"a": 1, "b": "x"}"#).combined_with(&params(r#"{"a": "1", "c": null}"#));
        assert_eq!(text(&combined.unwrap()), r#"{"a":"1","b":"x","c":"<nil>"}"#);
        let (key, ..) = params(r#"{"a": 1}"#).combined_with(&params(r#"{"a": 2}"#)).unwrap_err();
        assert_eq!(key, "a");
    }

    #[test]
    fn an_absent_key_is_null() {
        let params = params(r#"{"b": {"y": 1, "x": "<"}}"#);
        assert_eq!(params.merge_key(&["b", "a"]).unwrap(), r#"{"a":null,"b":{"x":"\u003c","y":1}}"#);
    }
}
