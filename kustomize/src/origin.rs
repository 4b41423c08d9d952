//! Where a resource came from and what changed it, for the annotations that `buildMetadata` asks for.

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
    /// The text of the annotation.
    pub(crate) fn text(&self) -> String {
        self.path.clone()
    }

    /// The origin of what a path below this one names; the address of a repository starts anew.
    pub(crate) fn join(&self, path: &str) -> Origin {
        let mut joined = self.clone();
        let path = match crate::repository::parse(path) {
            Some(entry) => {
                joined.path.clear();
                joined.repo = entry.repository.url;
                joined.reference = entry.repository.revision.unwrap_or_default();
                entry.path
            }
            None => path.to_owned(),
        };
        let whole = crate::loader::clean(&std::path::Path::new(&joined.path).join(path));
        joined.path = whole.to_string_lossy().into_owned();
        joined
    }
}

/// The text of the annotation that lists steps.
pub(crate) fn list_text(steps: &[Origin]) -> String {
    steps.iter().map(Origin::text).collect()
}
