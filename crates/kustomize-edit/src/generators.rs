//! `edit add|set|remove configmap|secret`: `configMapGenerator` and `secretGenerator`.

use diagnostic::{Error, Result};
use yamledit::Content;

use crate::fields::{self, Fields};
use crate::kustomization::Kustomization;

/// The namespace of an entry that has none.
const DEFAULT_NAMESPACE: &str = "default";

/// The kind of generator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Generator {
    /// `configMapGenerator`
    ConfigMap,
    /// `secretGenerator`
    Secret,
}

impl Generator {
    fn field(self) -> &'static str {
        match self {
            Self::ConfigMap => "configMapGenerator",
            Self::Secret => "secretGenerator",
        }
    }

    fn kind(self) -> &'static str {
        match self {
            Self::ConfigMap => "ConfigMap",
            Self::Secret => "Secret",
        }
    }

    /// Returns what messages call it.
    #[must_use]
    pub fn entry(self) -> &'static str {
        match self {
            Self::ConfigMap => "configmap",
            Self::Secret => "secret",
        }
    }
}

/// The sources of a generator; empty ones are not set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sources {
    /// The entry's name.
    pub name: String,
    /// Its namespace.
    pub namespace: String,
    /// `KEY=VALUE`
    pub literals: Vec<String>,
    /// `PATH` or `KEY=PATH`
    pub files: Vec<String>,
    /// A file of `KEY=VALUE` lines.
    pub env_file: String,
    /// `create`, `merge` or `replace`
    pub behavior: String,
    /// The type of a secret that is new.
    pub secret_type: String,
    /// True if the name gets no hash.
    pub disable_name_suffix_hash: bool,
}

impl Sources {
    fn check(&self) -> Result<()> {
        let invalid = |why: &str| Err(Error::invalid(format!("failed to validate flags: {why}")));
        let has_others = !self.files.is_empty() || !self.literals.is_empty();
        match (self.env_file.is_empty(), has_others) {
            (true, false) => {
                return invalid("at least from-env-file, or from-file or from-literal must be set");
            }
            (false, true) => {
                return invalid("from-env-file cannot be combined with from-file or from-literal");
            }
            _ => {}
        }
        if !matches!(self.behavior.as_str(), "" | "create" | "merge" | "replace") {
            return invalid("invalid behavior: must be one of \"create\", \"merge\", or \"replace\"");
        }
        Ok(())
    }

    fn write(&self, entries: &mut Fields) {
        for (field, sources) in [("literals", &self.literals), ("files", &self.files)] {
            if !sources.is_empty() {
                fields::list(entries, field).extend(sources.iter().map(|source| source.as_str().into()));
            }
        }
        if !self.env_file.is_empty() {
            fields::list(entries, "envs").push(self.env_file.as_str().into());
        }
        if self.disable_name_suffix_hash {
            let options = vec![("disableNameSuffixHash".to_owned(), Content::Bool(true))];
            fields::set(entries, "options", Content::Mapping(options));
        }
        if !self.behavior.is_empty() {
            fields::set_text(entries, "behavior", &self.behavior);
        }
    }
}

impl Kustomization<'_> {
    /// Adds sources to an entry, which is made where there is none.
    ///
    /// # Errors
    /// If there is no source, or sources exclude one another, or a literal has no key.
    pub fn add_generator(&mut self, generator: Generator, sources: &Sources) -> Result<()> {
        sources.check()?;
        let malformed = sources.literals.iter().find(|literal| !is_literal(literal));
        if let Some(literal) = malformed {
            let kind = generator.entry();
            return Err(Error::invalid(format!(
                "failed to create {kind}: literal values: invalid literal source {literal}, expected key=value"
            )));
        }
        let global = fields::get(&self.fields, "generatorOptions").cloned();
        let list = fields::list(&mut self.fields, generator.field());
        let at = find(list, &sources.name, &sources.namespace).unwrap_or_else(|| {
            let mut entries = Fields::new();
            fields::set_text(&mut entries, "name", &sources.name);
            fields::set_text(&mut entries, "namespace", &sources.namespace);
            fields::set_text(&mut entries, "type", &sources.secret_type);
            list.push(Content::Mapping(entries));
            list.len() - 1
        });
        if let Some(entries) = fields::entries_mut(&mut list[at]) {
            sources.write(entries);
            inherit(entries, global.as_ref());
        }
        Ok(())
    }

    /// Gives literals of an entry other values, and the entry another namespace.
    ///
    /// # Errors
    /// If there is no such entry, or no literal of that key.
    pub fn set_generator(
        &mut self,
        generator: Generator,
        sources: &Sources,
        new_namespace: &str,
    ) -> Result<()> {
        let failed = |why: String| Error::invalid(format!("failed to create {}: {why}", generator.entry()));
        if sources.literals.is_empty() && new_namespace.is_empty() {
            return Err(Error::invalid(
                "failed to validate flags: at least one of [--from-literal, --new-namespace] must be specified",
            ));
        }
        let global = fields::get(&self.fields, "generatorOptions").cloned();
        let known = fields::get(&self.fields, generator.field()).is_some();
        let mut none = Vec::new();
        let list = if known { fields::list(&mut self.fields, generator.field()) } else { &mut none };
        let found = find(list, &sources.name, &sources.namespace);
        let Some(entries) = found.and_then(|at| fields::entries_mut(&mut list[at])) else {
            let kind = generator.kind();
            return Err(failed(format!(
                "could not set new {kind} value: unable to find {kind} with name {:?}",
                sources.name
            )));
        };
        if !sources.literals.is_empty() {
            set_literals(entries, &sources.literals)
                .map_err(|error| failed(format!("failed to update literal sources: {error}")))?;
        }
        if !new_namespace.is_empty() {
            fields::set_text(entries, "namespace", new_namespace);
        }
        inherit(entries, global.as_ref());
        Ok(())
    }

    /// Removes entries by name; those that are not there are noted.
    ///
    /// # Errors
    /// If none of them is there.
    pub fn remove_generators(
        &mut self,
        generator: Generator,
        names: &[impl AsRef<str>],
        namespace: &str,
    ) -> Result<()> {
        let mut found = Vec::new();
        let kind = generator.entry();
        if fields::get(&self.fields, generator.field()).is_some() {
            fields::list(&mut self.fields, generator.field()).retain(|item| {
                let entries = fields::entries(item);
                let name = fields::text(entries, "name");
                let is_named = names.iter().any(|wanted| wanted.as_ref() == name)
                    && same_namespace(fields::text(entries, "namespace"), namespace);
                if is_named {
                    found.push(name.to_owned());
                }
                !is_named
            });
        }
        if found.is_empty() {
            let sentence = format!("no specified {kind}(s) were found in the kustomization.yaml file");
            return Err(Error::invalid(sentence));
        }
        for name in names.iter().map(AsRef::as_ref) {
            if !found.iter().any(|found| found == name) {
                self.note(format!("{kind} {name} doesn't exist in kustomization file"));
            }
        }
        fields::drop_empty(&mut self.fields, generator.field());
        Ok(())
    }
}

fn find(list: &[Content], name: &str, namespace: &str) -> Option<usize> {
    list.iter().position(|item| {
        let entries = fields::entries(item);
        matches!(item, Content::Mapping(_))
            && fields::text(entries, "name") == name
            && same_namespace(fields::text(entries, "namespace"), namespace)
    })
}

fn same_namespace(left: &str, right: &str) -> bool {
    let or_default = |namespace: &str| {
        if namespace.is_empty() { DEFAULT_NAMESPACE.to_owned() } else { namespace.to_owned() }
    };
    or_default(left) == or_default(right)
}

/// Returns true if a literal has a key.
fn is_literal(literal: &str) -> bool {
    literal.split_once('=').is_some_and(|(key, _)| !key.is_empty())
}

fn set_literals(entries: &mut Fields, literals: &[String]) -> Result<()> {
    let malformed = || {
        let sentence = "invalid format: literal values must be specified in the key=value format";
        Error::invalid(format!("failed to update resource: {sentence}"))
    };
    let split = |literal: &str| {
        let split = literal.split_once('=').filter(|(_, value)| !value.contains('='));
        split.map(|(key, _)| key.to_owned()).ok_or_else(malformed)
    };
    let known = fields::list(entries, "literals");
    let mut keys = Vec::with_capacity(known.len());
    for literal in known.iter() {
        keys.push(split(if let Content::String(text) = literal { text } else { "" })?);
    }
    for literal in literals {
        let key = split(literal)?;
        let at = keys.iter().position(|known| *known == key);
        let Some(at) = at else { return Err(Error::invalid(format!("key '{key}' not found in resource"))) };
        known[at] = literal.as_str().into();
    }
    Ok(())
}

/// Kustomize writes the kustomization's `generatorOptions` into an entry that it edits.
fn inherit(entries: &mut Fields, global: Option<&Content>) {
    let Some(Content::Mapping(global)) = global else { return };
    for (field, value) in global {
        match value {
            Content::Mapping(pairs) if !pairs.is_empty() => {
                let known = fields::mapping(fields::mapping(entries, "options"), field);
                for (key, value) in pairs {
                    match known.iter_mut().find(|(known, _)| known == key) {
                        Some((_, known)) => *known = value.clone(),
                        None => known.push((key.clone(), value.clone())),
                    }
                }
            }
            Content::Bool(true) => {
                fields::set(fields::mapping(entries, "options"), field, Content::Bool(true));
            }
            _ => {}
        }
    }
}
