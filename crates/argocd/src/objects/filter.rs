//! Objects that Argo CD is told to leave alone.
//!
//! In: `resource.exclusions` and `resource.inclusions` of `argocd-cm`, which are YAML in a text. Out: whether a kind is
//! excluded on a cluster. Refused: settings that are no such lists.

use std::collections::BTreeMap;

use serde::Deserialize;
use yamlserde::YamlFile;

use diagnostic::Result;
use glob::gobwas::Glob;

const EXCLUSIONS: &str = "resource.exclusions";
const INCLUSIONS: &str = "resource.inclusions";

/// Kinds that Argo CD never manages, by group.
const NEVER_MANAGED: &[(&str, Option<&str>)] = &[
    ("events.k8s.io", None),
    ("metrics.k8s.io", None),
    ("", Some("Event")),
    ("coordination.k8s.io", Some("Lease")),
];

/// Which kinds of objects are managed at all.
#[derive(Clone, Debug, Default)]
pub struct ResourceFilter {
    exclusions: Vec<Rule>,
    inclusions: Vec<Rule>,
}

/// Kinds on clusters; an empty list says nothing.
#[derive(Clone, Debug)]
struct Rule {
    groups: Patterns,
    kinds: Vec<String>,
    clusters: Patterns,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Written {
    api_groups: Option<Vec<String>>,
    kinds: Option<Vec<String>>,
    clusters: Option<Vec<String>>,
}

/// Patterns, one of which must match if there are any. One that is none matches nothing, as for Argo CD.
#[derive(Clone, Debug)]
struct Patterns(Vec<Option<Glob>>);

impl Patterns {
    fn new(patterns: Option<Vec<String>>) -> Self {
        let patterns = patterns.unwrap_or_default();
        Self(patterns.iter().map(|pattern| Glob::new(pattern, "").ok()).collect())
    }

    fn matches(&self, text: &str) -> bool {
        self.0.is_empty() || self.0.iter().flatten().any(|glob| glob.matches(text))
    }
}

impl ResourceFilter {
    /// Returns what the settings say.
    ///
    /// # Errors
    /// If they are no lists of rules.
    pub fn new(settings: &BTreeMap<String, String>) -> Result<Self> {
        let rules = |key: &str| settings.get(key).map_or(Ok(Vec::new()), |text| read(key, text));
        Ok(Self { exclusions: rules(EXCLUSIONS)?, inclusions: rules(INCLUSIONS)? })
    }

    /// Returns true if objects of a kind are left alone on the cluster with an address.
    #[must_use]
    pub fn excludes(&self, group: &str, kind: &str, server: &str) -> bool {
        let is_never_managed =
            NEVER_MANAGED.iter().any(|(of, only)| *of == group && only.is_none_or(|only| only == kind));
        if is_never_managed || self.exclusions.iter().any(|rule| rule.matches(group, kind, server)) {
            return true;
        }
        // On a cluster that inclusions speak of, nothing else is managed.
        !self.inclusions.iter().any(|rule| rule.matches(group, kind, server))
            && self.inclusions.iter().any(|rule| rule.clusters.matches(server))
    }
}

impl Rule {
    fn matches(&self, group: &str, kind: &str, server: &str) -> bool {
        let kinds = &self.kinds;
        self.groups.matches(group)
            && (kinds.is_empty() || kinds.iter().any(|it| it == "*" || it == kind))
            && self.clusters.matches(server)
    }
}

fn read(key: &str, text: &str) -> Result<Vec<Rule>> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let name = format!("settings: {key}");
    let written: Option<Vec<Written>> = YamlFile::new(&name, text).read().map_err(|error| {
        error.hint("expected a string that contains a list of `{apiGroups: […], kinds: […], clusters: […]}`")
    })?;
    let rules = written.unwrap_or_default().into_iter().map(|Written { api_groups, kinds, clusters }| Rule {
        groups: Patterns::new(api_groups),
        kinds: kinds.unwrap_or_default(),
        clusters: Patterns::new(clusters),
    });
    Ok(rules.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROD: &str = "https://prod.example.com";

    fn filter(exclusions: &str, inclusions: &str) -> ResourceFilter {
        let settings = [(EXCLUSIONS, exclusions), (INCLUSIONS, inclusions)];
        let settings = settings.map(|(key, value)| (key.to_owned(), value.to_owned()));
        ResourceFilter::new(&settings.into_iter().filter(|(_, value)| !value.is_empty()).collect()).unwrap()
    }

    /// The table above `IsExcludedResource` in util/settings/resources_filter.go.
    #[test]
    fn exclusions_weigh_more_than_inclusions() {
        let secrets = "- {apiGroups: [''], kinds: [Secret], clusters: ['*']}";
        let apps = "- apiGroups: [apps]\n  kinds: ['*']\n  clusters: ['https://prod*']\n";
        let excluded = |filter: &ResourceFilter, group: &str, kind: &str| filter.excludes(group, kind, PROD);
        let none = filter("", "");
        assert!(!excluded(&none, "", "Secret") && excluded(&none, "", "Event"));
        assert!(excluded(&none, "metrics.k8s.io", "PodMetrics"));
        assert!(excluded(&filter(secrets, ""), "", "Secret"));
        assert!(!excluded(&filter(secrets, ""), "", "Service"));
        let only_apps = filter("", apps);
        assert!(!excluded(&only_apps, "apps", "Deployment") && excluded(&only_apps, "", "Service"));
        assert!(!only_apps.excludes("", "Service", "https://dev.example.com"));
        assert!(excluded(&filter("- {apiGroups: [a*]}", apps), "apps", "Deployment"));
    }

    #[test]
    fn settings_that_are_no_rules_are_refused() {
        let settings = BTreeMap::from([(EXCLUSIONS.to_owned(), "kinds: [a]".to_owned())]);
        let error = ResourceFilter::new(&settings).unwrap_err().to_string();
        assert!(error.starts_with("settings: resource.exclusions:1:1: "), "{error}");
    }
}
