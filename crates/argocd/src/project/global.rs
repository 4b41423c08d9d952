//! Global projects, whose rules are added to those of the projects that a selector chooses.
//!
//! In: `globalProjects` of `argocd-cm`. Out: which project is added to those with which labels. Refused: what is no list
//! of such rules, and operators that selectors do not have.

use std::collections::BTreeMap;

use diagnostic::Result;
use serde::Deserialize;
use yamlserde::YamlFile;

const SETTING: &str = "globalProjects";

/// A project that is added to those with some labels.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct GlobalProject {
    pub(super) project_name: String,
    #[serde(default)]
    label_selector: Selector,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Selector {
    match_labels: Option<BTreeMap<String, String>>,
    match_expressions: Option<Vec<Expression>>,
}

#[derive(Clone, Debug, Deserialize)]
struct Expression {
    key: String,
    operator: Operator,
    #[serde(default)]
    values: Option<Vec<String>>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
enum Operator {
    In,
    NotIn,
    Exists,
    DoesNotExist,
}

/// The rules of the settings.
pub(super) fn read(settings: &BTreeMap<String, String>) -> Result<Vec<GlobalProject>> {
    let Some(text) = settings.get(SETTING).filter(|text| !text.trim().is_empty()) else {
        return Ok(Vec::new());
    };
    YamlFile::new(&format!("settings: {SETTING}"), text).read().map_err(|error| {
        error.hint("expected a string that contains a list of `{projectName: …, labelSelector: {…}}`")
    })
}

impl GlobalProject {
    /// Returns true if it is added to a project with labels.
    pub(super) fn selects(&self, labels: &BTreeMap<String, String>) -> bool {
        let Selector { match_labels, match_expressions } = &self.label_selector;
        match_labels.iter().flatten().all(|(key, value)| labels.get(key) == Some(value))
            && match_expressions.iter().flatten().all(|expression| expression.holds(labels))
    }
}

impl Expression {
    fn holds(&self, labels: &BTreeMap<String, String>) -> bool {
        let label = labels.get(&self.key);
        let is_listed = label.is_some_and(|label| self.values.iter().flatten().any(|value| value == label));
        match self.operator {
            Operator::In => is_listed,
            Operator::NotIn => !is_listed,
            Operator::Exists => label.is_some(),
            Operator::DoesNotExist => label.is_none(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selectors_are_those_of_kubernetes() {
        let labels = BTreeMap::from([("team".to_owned(), "a".to_owned())]);
        for (selector, want) in [
            ("{}", true),
            ("{matchLabels: {team: a}}", true),
            ("{matchLabels: {team: b}}", false),
            ("{matchExpressions: [{key: team, operator: In, values: [a, b]}]}", true),
            ("{matchExpressions: [{key: team, operator: NotIn, values: [a]}]}", false),
            ("{matchExpressions: [{key: tier, operator: NotIn, values: [a]}]}", true),
            ("{matchExpressions: [{key: team, operator: Exists}]}", true),
            ("{matchExpressions: [{key: team, operator: DoesNotExist}]}", false),
            ("{matchLabels: {team: a}, matchExpressions: [{key: tier, operator: Exists}]}", false),
        ] {
            let text = format!("- {{projectName: all, labelSelector: {selector}}}");
            let rules = read(&BTreeMap::from([(SETTING.to_owned(), text)])).unwrap();
            assert_eq!(rules[0].selects(&labels), want, "{selector}");
        }
        let text = "- {projectName: all, labelSelector: {matchExpressions: [{key: a, operator: Has}]}}";
        let error = read(&BTreeMap::from([(SETTING.to_owned(), text.to_owned())])).unwrap_err();
        assert!(error.to_string().starts_with("settings: globalProjects:1:"), "{error}");
    }
}
