//! Prints a rendered chart as `helm template` does.
//!
//! In: the manifests, and which of them are wanted. Out: one text, or that of the documents of some templates.

use std::fmt::Write as _;

use diagnostic::{Error, Result};
use glob::path_match;

use crate::manifest::{self, Hook, Manifest};
use crate::template::Rendered;

/// The documents that are printed beside the manifests.
#[derive(Clone, Copy, Debug)]
pub struct Selection {
    /// The files below `crds/`.
    pub crds: bool,
    /// Hooks, tests among them.
    pub hooks: bool,
    /// Hooks that are tests.
    pub tests: bool,
}

impl Default for Selection {
    /// As `helm template` without flags: hooks and tests, no CRDs.
    fn default() -> Self {
        Self { crds: false, hooks: true, tests: true }
    }
}

/// The documents of a rendered chart that are wanted.
#[derive(Clone, Copy, Debug)]
pub struct Text<'t> {
    rendered: &'t Rendered,
    selection: Selection,
}

/// A document of the text.
#[derive(Clone, Copy, Debug)]
pub enum Document<'t> {
    /// Path and content of a file below `crds/`.
    Crd(&'t str, &'t str),
    /// The output of a template.
    Rendered(&'t Manifest),
}

impl Rendered {
    /// Returns the selected documents.
    #[must_use]
    pub fn text(&self, selection: Selection) -> Text<'_> {
        Text { rendered: self, selection }
    }
}

impl<'t> Text<'t> {
    /// Returns path and content of the CRDs.
    #[must_use]
    pub fn crds(self) -> &'t [(String, String)] {
        if self.selection.crds { &self.rendered.crds } else { &[] }
    }

    /// Returns the documents that are not hooks.
    #[must_use]
    pub fn manifests(self) -> &'t [Manifest] {
        &self.rendered.manifests.manifests
    }

    /// Returns the hooks.
    pub fn hooks(self) -> impl Iterator<Item = &'t Hook> {
        let hooks = if self.selection.hooks { self.rendered.manifests.hooks.as_slice() } else { &[] };
        hooks.iter().filter(move |hook| self.selection.tests || !hook.is_test())
    }

    /// Returns the whole text: manifests trimmed at both ends, hooks as they are.
    #[must_use]
    pub fn whole(self) -> String {
        self.write(&mut |_, _| {})
    }

    /// Returns the whole text, and calls `observe` with each document and its offset in the text.
    pub fn write(self, observe: &mut dyn FnMut(usize, Document<'t>)) -> String {
        let mut release = String::new();
        for (path, text) in self.crds() {
            push_document(&mut release, path, text);
            observe(release.len() - text.len() - 1, Document::Crd(path, text));
        }
        for manifest in self.manifests() {
            push_document(&mut release, &manifest.path, &manifest.text);
            observe(release.len() - manifest.text.len() - 1, Document::Rendered(manifest));
        }
        // It begins with dashes, so that places stay what they are.
        let mut text = release.trim().to_owned();
        text.push('\n');
        for Hook { manifest, .. } in self.hooks() {
            push_document(&mut text, &manifest.path, &manifest.text);
            observe(text.len() - manifest.text.len() - 1, Document::Rendered(manifest));
        }
        text
    }

    /// The documents whose template matches, in the order of the patterns. As in Helm they are cut out of the whole.
    ///
    /// # Errors
    /// A pattern that nothing matches.
    pub fn only(self, patterns: &[String]) -> Result<String> {
        let whole = self.whole();
        let documents = manifest::split_as(&whole, self.rendered.version);
        let mut text = String::new();
        for wanted in patterns {
            let mut found = false;
            for document in &documents {
                let Some(path) = template(document) else { continue };
                if path_match(wanted, path).unwrap_or(false) {
                    let _ = writeln!(text, "---\n{document}");
                    found = true;
                }
            }
            if !found {
                return Err(Error::invalid(format!("could not find template {wanted} in chart")));
            }
        }
        Ok(text)
    }
}

/// The template that a document says it comes from, as a path in the chart.
fn template(document: &str) -> Option<&str> {
    let line = document.lines().find_map(|line| line.split_once("# Source: "))?.1;
    Some(line.split_once('/')?.1)
}

/// Adds a document with the lines that Helm puts before it.
pub fn push_document(text: &mut String, path: &str, document: &str) {
    let _ = writeln!(text, "---\n# Source: {path}\n{document}");
}
