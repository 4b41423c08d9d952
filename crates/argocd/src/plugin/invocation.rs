//! Reads a plugin request: the variables of one Application.
//!
//! In: a way to ask for variables. Out: parameters, and the variables that these name. A variable that nothing names is not
//! asked for, so that a result does not depend on it; and none is but Argo CD's, so that no parameter gets at what else
//! is in a plugin's environment.

use std::collections::BTreeSet;

use diagnostic::{Error, Result};

use super::given::{self, Content, Given};
use super::table::{self, Parameter, Scope};
use super::wanted::Wanted;
use crate::application::Environment;
use crate::suggestion;

/// The variables that parameters may name.
const EXPANDED: [&str; 4] = ["ARGOCD_APP_", "ARGOCD_ENV_", "KUBE_VERSION", "KUBE_API_VERSIONS"];

/// Of a secret that is shorter, nothing is gained by hiding it, and of the message too much lost.
const MIN_HIDDEN: usize = 4;

/// The request for one Application.
#[derive(Clone, Debug)]
pub struct Invocation {
    /// The Application's name, without the namespace that Argo CD puts in front.
    pub(super) application: Option<String>,
    pub(super) namespace: String,
    pub(super) kube_version: String,
    pub(super) api_versions: Vec<String>,
    pub(super) environment: Environment,
    pub(super) given: Vec<(&'static Parameter, Content)>,
    pub(super) wanted: Wanted,
}

impl Invocation {
    /// Reads the variables that Argo CD gives a plugin.
    ///
    /// # Errors
    /// If the parameters are invalid.
    pub fn read(variable: &dyn Fn(&str) -> Option<String>) -> Result<Self> {
        let text = |name: &str| variable(name).unwrap_or_default();
        let given = given::read(&text("ARGOCD_APP_PARAMETERS"))?;
        let environment = environment(&given, variable);
        let given: Vec<_> = given.into_iter().map(known).collect::<Result<_>>()?;
        let mut wanted = Wanted::default();
        for (parameter, content) in &given {
            parameter.apply(content.clone(), &mut wanted)?;
        }
        wanted.allow_empty |= matches!(text("ARGOCD_ENV_ALLOW_EMPTY").as_str(), "true" | "1");
        let api_versions = text("KUBE_API_VERSIONS");
        let api_versions = api_versions.split(',').map(str::trim).filter(|version| !version.is_empty());
        // Names have no `_`, so that the first one ends the namespace.
        let application = variable("ARGOCD_APP_NAME").filter(|name| !name.is_empty());
        let application = application.map(|name| match name.split_once('_') {
            Some((_, name)) if !name.is_empty() => name.to_owned(),
            _ => name,
        });
        Ok(Self {
            application,
            namespace: text("ARGOCD_APP_NAMESPACE"),
            kube_version: text("KUBE_VERSION"),
            api_versions: api_versions.map(str::to_owned).collect(),
            environment,
            given,
            wanted,
        })
    }

    /// A message without what parameters say that may be secret.
    #[must_use]
    pub fn without_secrets(&self, message: &str) -> String {
        let mut message = message.to_owned();
        let secrets = self.given.iter().filter(|(parameter, _)| parameter.may_be_secret);
        let texts = secrets.flat_map(|(_, content)| content.texts());
        // Values are YAML, so that what is a secret is an end of one of its lines.
        let parts = texts
            .flat_map(str::lines)
            .flat_map(|line| [line.trim(), line.split_once(':').map_or("", |(_, value)| value.trim())]);
        let mut parts: Vec<&str> = parts
            .map(|part| part.trim_start_matches("- ").trim_matches(['"', '\'']))
            .filter(|part| part.len() >= MIN_HIDDEN && !matches!(*part, "true" | "false" | "null"))
            .collect();
        parts.sort_by_key(|part| std::cmp::Reverse(part.len()));
        for part in parts {
            if message.contains(part) {
                message = message.replace(part, "***");
            }
        }
        message
    }

    /// Refuses parameters that are for another kind of source.
    pub(super) fn check_scope(&self, scopes: &[Scope], source: &str) -> Result<()> {
        let foreign = self.given.iter().find(|(parameter, _)| !scopes.contains(&parameter.scope));
        let Some((parameter, _)) = foreign else { return Ok(()) };
        let error = Error::invalid(format!("the parameter `{}` does not apply to {source}", parameter.name));
        Err(match parameter.scope {
            Scope::Helm => {
                error.hint("it is for charts; `chain` makes a chart a resource of a kustomization")
            }
            Scope::Kustomize => error.hint("it is for kustomizations"),
            Scope::Directory => error.hint("it applies to directories of manifests: set `engine: directory`"),
            Scope::Any => error,
        })
    }
}

/// The parameter that a name stands for.
fn known(given: Given) -> Result<(&'static Parameter, Content)> {
    match table::PARAMETERS.iter().find(|parameter| parameter.name == given.name) {
        Some(parameter) => Ok((parameter, given.content)),
        None => Err(unknown(&given.name)),
    }
}

/// All names, the closest first.
fn unknown(name: &str) -> Error {
    let names = || table::PARAMETERS.iter().map(|parameter| parameter.name);
    // `valueFiles` is how an Application says `helm-value-files`.
    let bare = |name: &'static str| name.split_once('-').map_or(name, |(_, rest)| rest);
    let of_bare = || {
        let bare_name = suggestion::closest(name, names().map(bare))?;
        names().find(|name| bare(name) == bare_name)
    };
    let closest = suggestion::closest(name, names()).or_else(of_bare);
    let rest = names().filter(|name| Some(*name) != closest);
    let all: Vec<&str> = closest.into_iter().chain(rest).collect();
    Error::invalid(format!("unknown parameter `{name}`")).hint(match closest {
        Some(closest) => format!("did you mean `{closest}`? There are: {}", all.join(", ")),
        None => format!("there are: {}", all.join(", ")),
    })
}

/// The variables that the texts of parameters name.
fn environment(given: &[Given], variable: &dyn Fn(&str) -> Option<String>) -> Environment {
    let texts = given.iter().flat_map(|given| given.content.texts());
    let names: BTreeSet<&str> = texts
        .flat_map(Environment::names)
        .filter(|name| EXPANDED.iter().any(|start| name.starts_with(start)))
        .collect();
    Environment::given(names.into_iter().filter_map(|name| Some((name.to_owned(), variable(name)?))))
}
