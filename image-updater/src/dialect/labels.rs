//! Selectors of labels, by the rules of Kubernetes: all of `matchLabels` and of `matchExpressions` must hold.

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

use yamlserde::Spanned;

/// A selector. An empty one selects all.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[schemars(extend("x-kubernetes-map-type" = "atomic"))]
pub(super) struct LabelSelector {
    /// Labels with their values.
    #[serde(default)]
    pub(super) match_labels: BTreeMap<String, String>,
    /// Additional label requirements.
    #[serde(default)]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    pub(super) match_expressions: Vec<Spanned<Expression>>,
}

/// A label requirement.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Expression {
    /// The label.
    key: String,
    /// `In` or `NotIn` the values, or `Exists` or `DoesNotExist`.
    #[schemars(schema_with = "operator")]
    operator: Operator,
    /// Values of the label.
    #[serde(default)]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    values: Vec<String>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
enum Operator {
    In,
    NotIn,
    Exists,
    DoesNotExist,
}

impl LabelSelector {
    /// Returns where it is wrong, and how.
    pub(super) fn fault(&self) -> Option<(u32, &'static str)> {
        self.match_expressions.iter().find_map(|Spanned { value, start }| {
            let wants_values = matches!(value.operator, Operator::In | Operator::NotIn);
            match (wants_values, value.values.is_empty()) {
                (true, true) => Some((*start, "`In` and `NotIn` need `values`")),
                (false, false) => Some((*start, "`Exists` and `DoesNotExist` do not take `values`")),
                _ => None,
            }
        })
    }

    pub(super) fn selects(&self, labels: &BTreeMap<&str, &str>) -> bool {
        let of = |key: &str| labels.get(key).copied();
        self.match_labels.iter().all(|(key, value)| of(key) == Some(value))
            && self.match_expressions.iter().all(|Spanned { value: expression, .. }| {
                let value = of(&expression.key);
                let is_in = || expression.values.iter().any(|wanted| Some(wanted.as_str()) == value);
                match expression.operator {
                    Operator::In => is_in(),
                    // A label that is not there is in no set.
                    Operator::NotIn => !is_in(),
                    Operator::Exists => value.is_some(),
                    Operator::DoesNotExist => value.is_none(),
                }
            })
    }
}

/// An operator is a text to the API, which leaves it to the controller to refuse others.
fn operator(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use yamlserde::YamlFile;

    #[test]
    fn selectors_are_those_of_kubernetes() {
        let labels = BTreeMap::from([("app", "web"), ("tier", "front")]);
        for (selector, selects) in [
            ("{}", true),
            ("matchLabels: {app: web, tier: front}", true),
            ("matchLabels: {app: web, tier: back}", false),
            ("matchExpressions: [{key: app, operator: In, values: [api, web]}]", true),
            ("matchExpressions: [{key: app, operator: NotIn, values: [web]}]", false),
            ("matchExpressions: [{key: none, operator: NotIn, values: [web]}]", true),
            ("matchExpressions: [{key: none, operator: Exists}]", false),
            ("matchExpressions: [{key: none, operator: DoesNotExist}]", true),
            ("{matchLabels: {app: web}, matchExpressions: [{key: app, operator: DoesNotExist}]}", false),
        ] {
            let read: LabelSelector = YamlFile::new("f", selector).read().unwrap();
            assert_eq!((read.fault(), read.selects(&labels)), (None, selects), "{selector}");
        }
        for selector in [
            "matchExpressions: [{key: a, operator: In}]",
            "matchExpressions: [{key: a, operator: Exists, values: [b]}]",
        ] {
            let read: LabelSelector = YamlFile::new("f", selector).read().unwrap();
            assert_eq!(read.fault().map(|(start, _)| start), Some(19), "{selector}");
        }
    }
}
