//! The origin of a resource and its transformations, for the annotations of `buildMetadata`.

use std::path::Path;

use vfs::clean;

use yamltree::{EmitOptions, Emitter, Start};

use crate::repository;

/// The origin of a resource, or a step that changed it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Origin {
    /// The file, relative to the build's root or the repository's.
    pub(crate) path: String,
    /// The remote repository.
    pub(crate) repo: String,
    /// The revision in it.
    pub(crate) reference: String,
    /// The file that holds the configuration of the generator or transformer.
    pub(crate) configured_in: String,
    /// That generator or transformer.
    pub(crate) configured_by: Option<ConfiguredBy>,
}

/// The identity of a generator or transformer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ConfiguredBy {
    pub(crate) api_version: String,
    pub(crate) kind: String,
    pub(crate) name: String,
    pub(crate) namespace: String,
}

impl Origin {
    /// The origin of what a path below this one names; the address of a repository starts anew.
    pub(crate) fn join(&self, path: &str) -> Origin {
        let mut joined = self.clone();
        let path = match repository::parse(path) {
            Ok(Some(entry)) => {
                joined.path.clear();
                joined.repo = entry.repository.url;
                joined.reference = entry.repository.revision.unwrap_or_default();
                path_in_repository(&entry.path)
            }
            Ok(None) | Err(_) => path.to_owned(),
        };
        // As Go joins: a path that looks absolute is below the other all the same.
        let whole = if joined.path.is_empty() { path } else { format!("{}/{path}", joined.path) };
        let whole = clean(Path::new(&whole));
        joined.path = whole.to_string_lossy().into_owned();
        joined
    }

    /// The text of the annotation `config.kubernetes.io/origin`.
    pub(crate) fn text(&self) -> String {
        written(|out| self.write(out))
    }

    fn write(&self, out: &mut Emitter<'_>) {
        let configured_by = self.configured_by.as_ref().filter(|by| **by != ConfiguredBy::default());
        let fields = [
            ("path", &self.path),
            ("repo", &self.repo),
            ("ref", &self.reference),
            ("configuredIn", &self.configured_in),
        ];
        let empty = configured_by.is_none() && fields.iter().all(|(_, value)| value.is_empty());
        out.mapping_start(Start { empty, ..Start::default() });
        write_fields(out, &fields);
        if let Some(by) = configured_by {
            out.string("configuredBy");
            out.mapping_start(Start::default());
            write_fields(
                out,
                &[
                    ("apiVersion", &by.api_version),
                    ("kind", &by.kind),
                    ("name", &by.name),
                    ("namespace", &by.namespace),
                ],
            );
            out.mapping_end();
        }
        out.mapping_end();
    }
}

/// The text of the annotation `alpha.config.kubernetes.io/transformations`.
pub(crate) fn list_text(transformations: &[Origin]) -> String {
    written(|out| {
        out.sequence_start(Start { empty: transformations.is_empty(), ..Start::default() });
        for transformation in transformations {
            transformation.write(out);
        }
        out.sequence_end();
    })
}

/// The top of a repository is named by the placeholder that Kustomize has for its clone.
fn path_in_repository(path: &str) -> String {
    let cleaned = clean(Path::new(path));
    if cleaned.as_os_str().is_empty() {
        return "notCloned".to_owned();
    }
    cleaned.to_string_lossy().into_owned()
}

fn write_fields(out: &mut Emitter<'_>, fields: &[(&str, &String)]) {
    for (name, value) in fields.iter().filter(|(_, value)| !value.is_empty()) {
        out.string(name);
        out.string(value);
    }
}

fn written(write: impl FnOnce(&mut Emitter<'_>)) -> String {
    let mut text = String::new();
    let mut out = Emitter::new(&mut text, EmitOptions::KYAML);
    write(&mut out);
    out.document_end();
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_in_a_repository_keeps_address_and_revision() {
        let origin = Origin::default().join("file:///srv/repo//sub?ref=1.0").join("cm.yaml");
        assert_eq!(origin.text(), "path: sub/cm.yaml\nrepo: file:///srv/repo\nref: \"1.0\"\n");
    }

    #[test]
    fn the_top_of_a_repository_is_called_not_cloned() {
        let origin = Origin::default().join("overlays").join("file:///srv/repo").join("base/../cm.yaml");
        assert_eq!(origin.text(), "path: notCloned/cm.yaml\nrepo: file:///srv/repo\n");
    }

    #[test]
    fn a_local_path_may_lead_upwards() {
        assert_eq!(Origin::default().join("../base").join("./cm.yaml").text(), "path: ../base/cm.yaml\n");
    }

    #[test]
    fn a_step_names_its_configuration() {
        let step = Origin {
            configured_in: "sub/kustomization.yaml".to_owned(),
            configured_by: Some(ConfiguredBy {
                api_version: "builtin".to_owned(),
                kind: "ConfigMapGenerator".to_owned(),
                ..ConfiguredBy::default()
            }),
            ..Origin::default()
        };
        let want = "configuredIn: sub/kustomization.yaml\nconfiguredBy:\n  apiVersion: builtin\n  kind: ConfigMapGenerator\n";
        assert_eq!(step.text(), want);
        let item = "- configuredIn: sub/kustomization.yaml\n  configuredBy:\n    apiVersion: builtin\n    kind: ConfigMapGenerator\n";
        assert_eq!(list_text(&[step.clone(), step]), item.repeat(2));
    }
}
