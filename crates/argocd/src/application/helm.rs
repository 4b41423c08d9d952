//! From what an Application says to Helm to a chart to render (repository.go `helmTemplate`, util/helm/cmd.go `template`).
//!
//! In: a source, its folder, and what is known of the cluster. Out: one `helm template`, with the parameters in the order
//! of their list. Refused: versions of Kubernetes and Helm that are none.

use std::collections::HashMap;
use std::path::Path;

use diagnostic::{Error, Result};

use super::context::shown;
use super::engines::{ChartRequest, Parameter, ParameterKind, ValueText};
use super::fields::{At, place_of};
use super::source::{Helm, HelmParameter};
use super::value_files::{Resolver, ValueFile};
use crate::objects::Sources;
use crate::warning::{Code, Warning};

/// The settings of a release that do not come from its source.
pub(crate) struct Release<'r> {
    /// The Application's name, without its namespace.
    pub(crate) application: &'r str,
    /// The namespace of the destination.
    pub(crate) namespace: &'r str,
    pub(crate) kube_version: Option<String>,
    pub(crate) api_versions: Vec<String>,
}

/// The chart of a source in a folder or an archive.
pub(crate) fn request(
    chart: &Path,
    helm: Option<&Helm>,
    release: Release<'_>,
    resolver: &Resolver<'_>,
    warnings: &mut Vec<Warning>,
) -> Result<ChartRequest> {
    let given = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let mut request = ChartRequest {
        chart: chart.to_owned(),
        repository: resolver.checkout.root().to_owned(),
        release_name: release.application.to_owned(),
        namespace: given(release.namespace),
        kube_version: release.kube_version,
        api_versions: release.api_versions,
        value_files: Vec::new(),
        values: None,
        parameters: Vec::new(),
        include_crds: true,
        skip_tests: false,
        skip_schema_validation: false,
    };
    let Some(helm) = helm else { return Ok(request) };
    check_version(helm, resolver.texts)?;
    if !helm.release_name.value.is_empty() {
        request.release_name.clone_from(&helm.release_name.value);
    }
    if let Some(namespace) = given(&helm.namespace) {
        request.namespace = Some(namespace);
    }
    request.value_files = resolver.value_files(helm)?;
    request.values = values(helm, resolver.texts)?;
    request.parameters = parameters(&helm.parameters, resolver, warnings);
    for parameter in last_of_each(&helm.file_parameters, |parameter| &parameter.name) {
        let file = resolver.parameter_file(&parameter.path)?;
        let path = match &file {
            ValueFile::File(path) => path.to_string_lossy().into_owned(),
            ValueFile::Url(url) => url.clone(),
        };
        let assignment = format!("{}={}", parameter.name, escaped(&path));
        request.parameters.push(Parameter { kind: ParameterKind::File, assignment });
    }
    request.include_crds = !helm.skip_crds;
    request.skip_tests = helm.skip_tests;
    request.skip_schema_validation = helm.skip_schema_validation;
    Ok(request)
}

/// The command that Argo CD would run, with paths from the repository's root (util/helm/cmd.go `template`).
pub(crate) fn command(request: &ChartRequest, root: &Path) -> String {
    let relative = |path: &str| path.replace(&*root.to_string_lossy(), ".");
    let mut words =
        ["helm", "template", ".", "--name-template", &request.release_name].map(str::to_owned).to_vec();
    let mut flag = |name: &str, value: &str| words.extend([name.to_owned(), value.to_owned()]);
    if let Some(namespace) = &request.namespace {
        flag("--namespace", namespace);
    }
    if let Some(version) = &request.kube_version {
        flag("--kube-version", version);
    }
    for parameter in &request.parameters {
        flag(parameter.kind.flag(), &relative(&parameter.assignment));
    }
    for file in &request.value_files {
        match file {
            ValueFile::File(path) => flag("--values", &relative(&path.to_string_lossy())),
            ValueFile::Url(url) => flag("--values", url),
        }
    }
    if request.values.is_some() {
        flag("--values", "<temp file with values from source.helm.values/valuesObject>");
    }
    for version in &request.api_versions {
        flag("--api-versions", version);
    }
    let switches = [
        (request.include_crds, "--include-crds"),
        (request.skip_schema_validation, "--skip-schema-validation"),
        (request.skip_tests, "--skip-tests"),
    ];
    words.extend(switches.iter().filter(|(is_on, _)| *is_on).map(|(_, flag)| (*flag).to_owned()));
    shown(words.iter().map(String::as_str))
}

/// `helm.version` chose between generations of Helm once.
fn check_version(helm: &Helm, texts: &Sources) -> Result<()> {
    match helm.version.value.as_str() {
        "" | "v3" | "v4" => Ok(()),
        version => Err(Error::invalid(format!("Argo CD does not support Helm version `{version}`"))
            .at(place_of(texts, helm.version.span))
            .hint("remove `helm.version`")),
    }
}

/// `valuesObject`, and `values` where there is none.
fn values(helm: &Helm, texts: &Sources) -> Result<Option<ValueText>> {
    let Some(object) = &helm.values_object else {
        let text = &helm.values.value;
        return Ok(
            (!text.is_empty()).then(|| ValueText { name: "helm.values".to_owned(), text: text.clone() })
        );
    };
    let mut text = String::new();
    yamltree::to_json(
        object,
        yamltree::JsonOptions { dialect: yamltree::Dialect::V2, ..yamltree::JsonOptions::SIGS },
        &mut text,
    )
    .map_err(|error| Error::invalid(error.message()).at(place_of(texts, error.span())))?;
    Ok(Some(ValueText { name: "helm.valuesObject".to_owned(), text }))
}

/// `--set` before `--set-string`. Of two with one name the last counts; Argo CD passes the rest in random order, and here
/// they are in that of the list.
fn parameters(
    given: &[HelmParameter],
    resolver: &Resolver<'_>,
    warnings: &mut Vec<Warning>,
) -> Vec<Parameter> {
    let mut parameters = Vec::with_capacity(given.len());
    for (kind, force_string) in [(ParameterKind::Value, false), (ParameterKind::Text, true)] {
        let of_kind: Vec<&HelmParameter> =
            given.iter().filter(|parameter| parameter.force_string == force_string).collect();
        let of_kind = last_of_each(&of_kind, |parameter| &parameter.name.value);
        warn_of_overlaps(&of_kind, resolver.texts, warnings);
        for parameter in of_kind {
            let value = escaped(&resolver.environment.expand(&parameter.value));
            parameters.push(Parameter { kind, assignment: format!("{}={value}", parameter.name.value) });
        }
    }
    parameters
}

/// The last item of each name, in the order of the list.
fn last_of_each<T>(items: &[T], name: impl Fn(&T) -> &str) -> Vec<&T> {
    let last: HashMap<&str, usize> = items.iter().enumerate().map(|(at, item)| (name(item), at)).collect();
    items
        .iter()
        .enumerate()
        .filter(|(at, item)| last.get(name(item)) == Some(at))
        .map(|(_, item)| item)
        .collect()
}

/// `a=…` and `a.b=…` give what the last of them says, and which that is Argo CD leaves to chance.
fn warn_of_overlaps(parameters: &[&&HelmParameter], texts: &Sources, warnings: &mut Vec<Warning>) {
    let mut names: Vec<&At<String>> = parameters.iter().map(|parameter| &parameter.name).collect();
    names.sort_by(|left, right| left.value.cmp(&right.value));
    let mut above: Vec<&At<String>> = Vec::new();
    for name in names {
        let is_part = |outer: &At<String>| {
            name.value.strip_prefix(outer.value.as_str()).is_some_and(|rest| rest.starts_with(['.', '[']))
        };
        while above.last().is_some_and(|outer| !name.value.starts_with(outer.value.as_str())) {
            above.pop();
        }
        if let Some(outer) = above.iter().rev().find(|outer| is_part(outer)) {
            let message = format!(
                "the parameter `{}` sets a part of `{}`: Argo CD applies both in random order",
                name.value, outer.value
            );
            warnings.push(
                Warning::new(Code::OverlappingParameters, message)
                    .at(place_of(texts, name.span))
                    .hint("write them as one in `helm.valuesObject`"),
            );
        }
        above.push(name);
    }
}

/// A value for `--set`: its commas are its own, unless it is a list in braces (util/helm/cmd.go `cleanSetParameters`).
fn escaped(value: &str) -> String {
    if value.starts_with('{') && value.ends_with('}') {
        return value.to_owned();
    }
    let mut escaped = String::with_capacity(value.len());
    let mut before = '\0';
    for character in value.chars() {
        if character == ',' && before != '\\' {
            escaped.push('\\');
        }
        escaped.push(character);
        before = character;
    }
    escaped
}

/// A version of Kubernetes without what only Kubernetes knows of it (apimachinery `version.ParseGeneric`).
pub(crate) fn kube_version(text: &str) -> Result<String, String> {
    let refuse = || format!("invalid Kubernetes version `{text}`");
    let trimmed = text.trim_start();
    let trimmed = trimmed.strip_prefix('v').unwrap_or(trimmed);
    let end = trimmed.find(|character: char| !character.is_ascii_digit() && character != '.');
    let numbers = trimmed[..end.unwrap_or(trimmed.len())].trim_end_matches('.');
    let parts: Vec<&str> = numbers.split('.').collect();
    let is_first_plain = parts[0] == "0" || !parts[0].starts_with('0');
    let are_numbers = parts.iter().all(|part| part.parse::<u64>().is_ok());
    if parts.len() < 2 || !is_first_plain || !are_numbers {
        return Err(refuse());
    }
    let plain: Vec<String> = parts
        .iter()
        .map(|part| part.parse::<u64>().map(|number| number.to_string()))
        .collect::<Result<_, _>>()
        .map_err(|_| refuse())?;
    Ok(plain.join("."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_of_values_are_escaped_once() {
        for (value, want) in [
            ("a,b", r"a\,b"),
            (r"a\,b", r"a\,b"),
            ("{a,b}", "{a,b}"),
            ("{a,b", r"{a\,b"),
            (",", r"\,"),
            ("", ""),
        ] {
            assert_eq!(escaped(value), want, "{value}");
        }
    }

    #[test]
    fn versions_of_kubernetes_are_read_generically() {
        for (text, want) in [
            ("v1.30.2", "1.30.2"),
            ("1.28.9+k3s1", "1.28.9"),
            ("1.29", "1.29"),
            (" v1.27.11-gke.100", "1.27.11"),
            ("1.030", "1.30"),
        ] {
            assert_eq!(kube_version(text).as_deref(), Ok(want), "{text}");
        }
        for text in ["", "latest", "1", "v1", "01.2", "1.99999999999999999999"] {
            assert!(kube_version(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_last_of_a_name_counts_and_parts_are_warned_of() {
        let parameter = |name: &str| HelmParameter {
            name: At { value: name.to_owned(), ..At::default() },
            ..HelmParameter::default()
        };
        let given: Vec<HelmParameter> = ["a", "a-b", "ab", "a.c", "x[0]", "a"].map(parameter).into();
        let given: Vec<&HelmParameter> = given.iter().collect();
        let last = last_of_each(&given, |parameter| &parameter.name.value);
        let names: Vec<&str> = last.iter().map(|parameter| parameter.name.value.as_str()).collect();
        assert_eq!(names, ["a-b", "ab", "a.c", "x[0]", "a"]);
        let mut warnings = Vec::new();
        warn_of_overlaps(&last, &Sources::from([]), &mut warnings);
        let [warning] = warnings.as_slice() else { panic!("{warnings:?}") };
        assert!(warning.message.starts_with("the parameter `a.c` sets a part of `a`"), "{}", warning.message);
    }
}
