//! The fields that are lists of paths or words: `edit add|remove resource|component|generator|transformer|base` and
//! `edit add|set|remove buildmetadata`.

use std::collections::HashSet;

use diagnostic::{Error, Result};
use yamledit::Content;

use crate::fields;
use crate::kustomization::Kustomization;

/// The words of `buildMetadata`.
const BUILD_METADATA: [&str; 3] = ["originAnnotations", "transformerAnnotations", "managedByLabel"];

/// A field that lists paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum List {
    /// `resources`
    Resources,
    /// `components`
    Components,
    /// `generators`
    Generators,
    /// `transformers`
    Transformers,
}

impl List {
    fn field(self) -> &'static str {
        match self {
            Self::Resources => "resources",
            Self::Components => "components",
            Self::Generators => "generators",
            Self::Transformers => "transformers",
        }
    }

    /// Returns what one of its entries is called.
    #[must_use]
    pub fn entry(self) -> &'static str {
        match self {
            Self::Resources => "resource",
            Self::Components => "component",
            Self::Generators => "generator",
            Self::Transformers => "transformer",
        }
    }
}

impl Kustomization<'_> {
    /// The paths that a field lists.
    #[must_use]
    pub fn paths(&self, list: List) -> Vec<&str> {
        self.words(list.field())
    }

    /// Adds paths to a field; those that are there already are noted.
    pub fn add_paths(&mut self, list: List, paths: &[impl AsRef<str>]) {
        let mut known: HashSet<String> = self.paths(list).into_iter().map(str::to_owned).collect();
        for path in paths.iter().map(AsRef::as_ref) {
            if known.insert(path.to_owned()) {
                fields::list(&mut self.fields, list.field()).push(path.into());
            } else {
                self.note(format!("{} {path} already in kustomization file", list.entry()));
            }
        }
    }

    /// Removes paths from a field.
    pub fn remove_paths(&mut self, list: List, paths: &[impl AsRef<str>]) {
        if fields::get(&self.fields, list.field()).is_none() {
            return;
        }
        let is_named = |item: &Content| matches!(item, Content::String(text) if paths.iter().any(|path| path.as_ref() == text));
        fields::list(&mut self.fields, list.field()).retain(|item| !is_named(item));
        fields::drop_empty(&mut self.fields, list.field());
    }

    /// Adds folders to `resources`, as `edit add base` does.
    ///
    /// # Errors
    /// If one is there already.
    pub fn add_bases(&mut self, folders: &[impl AsRef<str>]) -> Result<()> {
        for folder in folders.iter().map(AsRef::as_ref) {
            if self.paths(List::Resources).contains(&folder) {
                return Err(Error::invalid(format!("base {folder} already in kustomization file")));
            }
            fields::list(&mut self.fields, "resources").push(folder.into());
        }
        Ok(())
    }

    /// Has `buildMetadata` be these options.
    ///
    /// # Errors
    /// If one is no option.
    pub fn set_build_metadata(&mut self, options: &[impl AsRef<str>]) -> Result<()> {
        check_options(options)?;
        let items = options.iter().map(|option| option.as_ref().into()).collect();
        fields::set(&mut self.fields, "buildMetadata", Content::Sequence(items));
        Ok(())
    }

    /// Adds options to `buildMetadata`.
    ///
    /// # Errors
    /// If one is no option, or is there already.
    pub fn add_build_metadata(&mut self, options: &[impl AsRef<str>]) -> Result<()> {
        check_options(options)?;
        for option in options.iter().map(AsRef::as_ref) {
            if self.words("buildMetadata").contains(&option) {
                return Err(Error::invalid(format!(
                    "buildMetadata option {option} already in kustomization file"
                )));
            }
            fields::list(&mut self.fields, "buildMetadata").push(option.into());
        }
        Ok(())
    }

    /// Removes options from `buildMetadata`.
    ///
    /// # Errors
    /// If one is no option.
    pub fn remove_build_metadata(&mut self, options: &[impl AsRef<str>]) -> Result<()> {
        check_options(options)?;
        if fields::get(&self.fields, "buildMetadata").is_none() {
            return Ok(());
        }
        let is_named = |item: &Content| matches!(item, Content::String(text) if options.iter().any(|option| option.as_ref() == text));
        fields::list(&mut self.fields, "buildMetadata").retain(|item| !is_named(item));
        fields::drop_empty(&mut self.fields, "buildMetadata");
        Ok(())
    }

    fn words(&self, field: &str) -> Vec<&str> {
        let Some(Content::Sequence(items)) = fields::get(&self.fields, field) else { return Vec::new() };
        items
            .iter()
            .filter_map(|item| match item {
                Content::String(text) => Some(text.as_str()),
                _ => None,
            })
            .collect()
    }
}

fn check_options(options: &[impl AsRef<str>]) -> Result<()> {
    let unknown = options.iter().map(AsRef::as_ref).find(|option| !BUILD_METADATA.contains(option));
    match unknown {
        Some(option) => Err(Error::invalid(format!("invalid buildMetadata option: {option}"))),
        None => Ok(()),
    }
}
