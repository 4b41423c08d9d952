//! Emulates an API server's handling of a custom resource: it applies defaults, checks the schema, and then the CEL
//! rules.

use std::sync::LazyLock;

use kubeschema::{BuiltinSchemas, Schema, check};
use serde_json::Value;
use yamlserde::YamlFile;
use yamltree::{JsonOptions, Node, to_json};

use super::expression;

/// The CRD of an API server.
pub(super) struct Server {
    schema: Value,
    compiled: Schema,
}

static BUILTIN: LazyLock<BuiltinSchemas> = LazyLock::new(|| BuiltinSchemas::for_version(None).unwrap());

impl Server {
    pub(super) fn new(manifest: &Value) -> Self {
        let schema = manifest["spec"]["versions"][0]["schema"]["openAPIV3Schema"].clone();
        Self { compiled: Schema::read_structural(&parsed(&schema.to_string())), schema }
    }

    /// The fields that are refused, each once. Strict as `kubectl apply` is: fields that are not known are.
    pub(super) fn refused(&self, object: &Node) -> Vec<String> {
        let mut json = String::new();
        to_json(object, JsonOptions::SIGS, &mut json).unwrap();
        let mut object: Value = serde_json::from_str(&json).unwrap();
        fill(&mut object, &self.schema);
        let report = check(&parsed(&object.to_string()), &self.compiled, &BUILTIN);
        let mut fields: Vec<String> = report.violations.into_iter().map(|fault| fault.path).collect();
        // Rules are only looked at where the schema has nothing to say.
        if fields.is_empty() {
            hold(&object, &self.schema, "", &mut fields);
        }
        fields.dedup();
        fields
    }
}

/// JSON as YAML.
fn parsed(json: &str) -> Node {
    YamlFile::new("object", json).documents().unwrap().remove(0)
}

/// Writes the defaults into what is there.
fn fill(value: &mut Value, schema: &Value) {
    if let (Value::Object(fields), Some(properties)) = (&mut *value, schema["properties"].as_object()) {
        for (name, property) in properties {
            let is_absent = fields.get(name).is_none_or(Value::is_null);
            if let Some(default) = property.get("default").filter(|_| is_absent) {
                fields.insert(name.clone(), default.clone());
            }
            if let Some(field) = fields.get_mut(name) {
                fill(field, property);
            }
        }
    }
    if let Value::Array(items) = value {
        items.iter_mut().for_each(|item| fill(item, &schema["items"]));
    }
}

/// Evaluates the rules.
fn hold(value: &Value, schema: &Value, path: &str, refused: &mut Vec<String>) {
    for rule in schema["x-kubernetes-validations"].as_array().into_iter().flatten() {
        assert!(rule["message"].is_string(), "{rule}");
        if !expression::holds(rule["rule"].as_str().unwrap(), value) {
            refused.push(path.to_owned());
        }
    }
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let dot = if path.is_empty() { "" } else { "." };
        if let Some(field) = value.get(name).filter(|field| !field.is_null()) {
            hold(field, property, &format!("{path}{dot}{name}"), refused);
        }
    }
    for (number, item) in value.as_array().into_iter().flatten().enumerate() {
        hold(item, &schema["items"], &format!("{path}[{number}]"), refused);
    }
}
