//! The known types of Kubernetes: scopes, and the merge keys of lists.
//!
//! In: the tables that the crate carries, or an OpenAPI document of the user's in their place. Out: answers by
//! apiVersion and kind and by field. Refused: a document that is no OpenAPI document, with the place of the fault.

mod openapi;
mod tables;
pub(crate) mod written;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use yamltree::Node;

use crate::context::Context;
use crate::decode::{self, Located, closest};
use crate::kustomization::Kustomization;
use crate::loader::Loader;
use crate::resid::Gvk;
use crate::warning::Code;

use diagnostic::{Error, Result};
use tables::{KUBERNETES, Range, Scope, Tables};

/// The only version of Kubernetes' types that Kustomize carries.
const BUILTIN_VERSION: &str = "v1.21.2";

/// The types known to a build.
#[derive(Debug)]
pub(crate) struct Schema {
    tables: Tables,
    /// Tells whether types are namespaced, as far as the user's document says so.
    scopes: HashMap<Gvk, bool>,
    /// True if a kustomization has chosen it.
    is_chosen: bool,
    asked: Asked,
}

/// The types that a build has queried so far. Kustomize reads its own types when it first needs them, and a base's
/// `openapi` is then added to them instead of replacing them.
#[derive(Debug, Default)]
struct Asked {
    fields: AtomicBool,
    scope_of_unknown: AtomicBool,
}

/// A type, or the type of a field.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Type<'s> {
    tables: &'s Tables,
    shape: u32,
}

/// The keys by which the items of a list are told apart; none for a list of scalars.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MergeKeys<'s> {
    tables: &'s Tables,
    keys: Range,
}

static BUILTIN: Tables = KUBERNETES;

/// One of the types that are built in.
pub(crate) fn builtin_resource(api_version: &str, kind: &str) -> Option<Type<'static>> {
    let shape = BUILTIN.resource(api_version, kind)?.shape;
    (shape != tables::NONE).then_some(Type { tables: &BUILTIN, shape })
}

impl Schema {
    /// The types of Kubernetes 1.21.2, as Kustomize 5.8.1 embeds them.
    pub(crate) fn builtin() -> Arc<Schema> {
        Arc::new(Self::of(KUBERNETES, false))
    }

    fn of(tables: Tables, is_chosen: bool) -> Self {
        Self { tables, scopes: HashMap::new(), is_chosen, asked: Asked::default() }
    }

    /// Returns true if the type is known to be cluster-scoped.
    pub(crate) fn is_cluster_scoped(&self, gvk: &Gvk) -> bool {
        // Kustomize asks its own list of scopes before the user's document.
        match KUBERNETES.resource(&gvk.api_version(), &gvk.kind).map(|resource| resource.scope) {
            Some(Scope::Cluster) => true,
            Some(Scope::Namespaced) => false,
            Some(Scope::Unknown) | None => {
                self.asked.scope_of_unknown.store(true, Ordering::Relaxed);
                self.scopes.get(gvk) == Some(&false)
            }
        }
    }

    /// The type of a resource.
    pub(crate) fn resource(&self, api_version: &str, kind: &str) -> Option<Type<'_>> {
        self.asked.fields.store(true, Ordering::Relaxed);
        let shape = self.tables.resource(api_version, kind)?.shape;
        (shape != tables::NONE).then_some(Type { tables: &self.tables, shape })
    }

    /// Every type that the tables hold, for tests over all of them.
    #[cfg(test)]
    pub(crate) fn resources(&self) -> impl Iterator<Item = (&str, &str)> {
        self.tables
            .resources
            .iter()
            .map(|resource| (self.tables.text(resource.api_version), self.tables.text(resource.kind)))
    }
}

impl<'s> Type<'s> {
    /// The type of a field, or of any key's value in a map.
    pub(crate) fn field(self, name: &str) -> Option<Type<'s>> {
        let shape = self.tables.field(self.shape, name)?;
        Some(Type { tables: self.tables, shape })
    }

    /// The type of a list's items.
    pub(crate) fn items(self) -> Option<Type<'s>> {
        let shape = self.tables.shape(self.shape).items;
        (shape != tables::NONE).then_some(Type { tables: self.tables, shape })
    }

    /// Returns how a patch adds to this list; `None` where it replaces it.
    pub(crate) fn merge_keys(self) -> Option<MergeKeys<'s>> {
        let keys = self.tables.shape(self.shape).merge?;
        Some(MergeKeys { tables: self.tables, keys })
    }

    /// The fields that are objects, maps or lists.
    #[cfg(test)]
    pub(crate) fn fields(self) -> Vec<&'s str> {
        let Range { start, len } = self.tables.shape(self.shape).fields;
        let fields = &self.tables.fields[start as usize..(start + len) as usize];
        fields.iter().map(|field| self.tables.text(field.name)).collect()
    }
}

impl<'s> MergeKeys<'s> {
    pub(crate) fn iter(self) -> impl ExactSizeIterator<Item = &'s str> + Clone {
        self.tables.keys(self.keys)
    }
}

/// Puts a kustomization's `openapi` in force. That of the build's start replaces any; one below only where none is
/// in force yet.
pub(crate) fn select(
    kustomization: &Kustomization,
    loader: &Loader,
    start: bool,
    cx: &Context<'_>,
) -> Result<()> {
    let Some(field) = kustomization.field("openapi") else { return Ok(()) };
    let choice = Choice::read(field, cx)?;
    // The file is read even where it does not count, as by Kustomize.
    let file = choice.path.as_ref().map(|path| loader.text(path, cx)).transpose()?;
    let current = cx.schema();
    if !start && current.is_chosen {
        let sentence = "this `openapi` is ignored, because another one is in force already";
        cx.warn(Code::Ignored, sentence, field.span);
        return Ok(());
    }
    let schema = match (file, choice.version) {
        (Some(_), Some(version)) => {
            return Err(Error::invalid("`openapi` has a `path` and a `version`; it can have one of them")
                .at(version.span));
        }
        (Some(file), None) => current.replaced(&openapi::read(&file)?)?,
        (None, Some(version)) if version.text == BUILTIN_VERSION => Schema::of(KUBERNETES, true),
        (None, Some(version)) if !version.text.is_empty() => {
            return Err(Error::invalid(format!("no types of Kubernetes `{}` are built in", version.text))
                .at(version.span)
                .hint(format!(
                    "the only version is {BUILTIN_VERSION}; other types come from a file (`path`)"
                )));
        }
        (None, _) => return Ok(()),
    };
    cx.set_schema(Arc::new(schema));
    Ok(())
}

impl Schema {
    /// The schema that a user's document makes of this one.
    fn replaced(&self, document: &Node) -> Result<Schema> {
        let asked = |flag: &AtomicBool| flag.load(Ordering::Relaxed);
        let below = if asked(&self.asked.fields) {
            openapi::Below::Overridden
        } else if asked(&self.asked.scope_of_unknown) {
            openapi::Below::Overriding
        } else {
            openapi::Below::Nothing
        };
        let mut schema = Self::of(openapi::tables(document, below)?, true);
        schema.scopes = openapi::scopes(document)?;
        Ok(schema)
    }
}

/// The `openapi` settings of a kustomization.
#[derive(Debug, Default)]
struct Choice {
    path: Option<Located>,
    version: Option<Located>,
}

impl Choice {
    fn read(field: &Node, cx: &Context<'_>) -> Result<Self> {
        let Some(entries) = field.entries() else {
            return Err(decode::wrong_type("openapi", "a mapping", field));
        };
        let mut choice = Self::default();
        for entry in entries {
            let value = Located::of(&entry.value, "openapi")?;
            match entry.key.text() {
                Some("path") => choice.path = Some(value),
                Some("version") => choice.version = Some(value),
                other => {
                    let name = other.unwrap_or_default();
                    let sentence = format!("`{name}` has no meaning in `openapi` and is ignored");
                    let mut warning =
                        crate::warning::Warning::new(Code::Ignored, sentence).at(entry.key.span);
                    if let Some(meant) = closest(name, ["path", "version"].into_iter()) {
                        warning = warning.hint(format!("did you mean `{meant}`?"));
                    }
                    cx.push_warning(warning);
                }
            }
        }
        Ok(choice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(schema: &Schema, api_version: &str, kind: &str, path: &str) -> Option<Vec<String>> {
        let mut at = schema.resource(api_version, kind).expect("a known type");
        for part in path.split('/') {
            at = if part == "[]" { at.items() } else { at.field(part) }?;
        }
        at.merge_keys().map(|keys| keys.iter().map(str::to_owned).collect())
    }

    #[test]
    fn scopes_are_those_of_kubernetes() {
        let schema = Schema::builtin();
        for (api_version, kind, wanted) in [
            ("v1", "Namespace", true),
            ("v1", "Pod", false),
            ("rbac.authorization.k8s.io/v1", "ClusterRole", true),
            ("rbac.authorization.k8s.io/v1", "Role", false),
            ("apiextensions.k8s.io/v1", "CustomResourceDefinition", true),
            // Not known, so taken to be namespaced.
            ("rbac.authorization.k8s.io/v2", "ClusterRole", false),
            ("example.com/v1", "Namespace", false),
            ("", "Namespace", false),
        ] {
            assert_eq!(
                schema.is_cluster_scoped(&Gvk::new(api_version, kind)),
                wanted,
                "{api_version} {kind}"
            );
        }
    }

    /// Section 5 of the spec lists them, from Kubernetes' own document.
    #[test]
    fn lists_have_their_merge_keys() {
        let schema = Schema::builtin();
        let pod = "spec/template/spec";
        for (api_version, kind, path, wanted) in [
            ("apps/v1", "Deployment", format!("{pod}/containers"), Some(&["name"][..])),
            (
                "apps/v1",
                "Deployment",
                format!("{pod}/containers/[]/ports"),
                Some(&["containerPort", "protocol"]),
            ),
            ("apps/v1", "Deployment", format!("{pod}/containers/[]/envFrom"), None),
            ("apps/v1", "Deployment", format!("{pod}/tolerations"), None),
            ("apps/v1", "Deployment", format!("{pod}/hostAliases"), Some(&["ip"])),
            (
                "apps/v1",
                "Deployment",
                format!("{pod}/topologySpreadConstraints"),
                Some(&["topologyKey", "whenUnsatisfiable"]),
            ),
            ("v1", "Service", "spec/ports".to_owned(), Some(&["port", "protocol"])),
            ("v1", "ConfigMap", "metadata/finalizers".to_owned(), Some(&[])),
            ("v1", "ConfigMap", "metadata/ownerReferences".to_owned(), Some(&["uid"])),
            ("apps/v1", "StatefulSet", "spec/volumeClaimTemplates".to_owned(), None),
        ] {
            let found = keys(&schema, api_version, kind, &path);
            let wanted = wanted.map(|keys| keys.iter().map(|key| (*key).to_owned()).collect::<Vec<_>>());
            assert_eq!(found, wanted, "{kind} {path}");
        }
    }

    #[test]
    fn types_hang_on_group_and_version() {
        let schema = Schema::builtin();
        assert!(schema.resource("apps/v1", "Deployment").is_some());
        assert!(schema.resource("apps/v1beta1", "Deployment").is_none());
        assert!(schema.resource("v1", "Deployment").is_none());
    }

    /// A type that contains itself has a shape of finite size.
    #[test]
    fn recursive_types_have_no_end() {
        let schema = Schema::builtin();
        let crd = schema.resource("apiextensions.k8s.io/v1", "CustomResourceDefinition").expect("known");
        let mut at = crd.field("spec").and_then(|spec| spec.field("versions")?.items()?.field("schema"));
        at = at.and_then(|schema| schema.field("openAPIV3Schema"));
        for _ in 0..100 {
            at = at.and_then(|schema| schema.field("properties")?.field("any"));
        }
        assert!(at.is_some());
    }
}
