//! Prints a rendered chart as `helm template` does.
//!
//! In: the manifests, and which of them are wanted. Out: one text, or that of the documents of some templates.

use std::fmt::Write as _;

use diagnostic::{Error, ErrorKind, Result};
use glob::path_match;
use helm_lite::manifest::{self, Hook, Manifest};

use super::places::{ChartPlaces, Collector};
use super::rendered::Rendered;

/// Which of a chart's documents are wanted beside its manifests.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Selection {
    /// The files below `crds/`.
    pub(crate) crds: bool,
    /// Hooks, tests among them.
    pub(crate) hooks: bool,
    /// Hooks that are tests.
    pub(crate) tests: bool,
}

/// The documents of a rendered chart that are wanted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Text<'t> {
    pub(super) rendered: &'t Rendered,
    pub(super) selection: Selection,
}

/// A part of the text.
enum Document<'t> {
    /// Path and content of a file.
    Crd(&'t str, &'t str),
    /// The output of a template.
    Rendered(&'t Manifest),
}

impl Rendered {
    /// Returns the selected documents.
    pub(crate) fn text(&self, selection: Selection) -> Text<'_> {
        Text { rendered: self, selection }
    }
}

impl<'t> Text<'t> {
    /// Path and content of CRDs.
    pub(crate) fn crds(self) -> &'t [(String, String)] {
        if self.selection.crds { &self.rendered.crds } else { &[] }
    }

    /// The documents that are no hooks.
    pub(crate) fn manifests(self) -> &'t [Manifest] {
        &self.rendered.manifests.manifests
    }

    /// The hooks.
    pub(crate) fn hooks(self) -> impl Iterator<Item = &'t Hook> {
        let hooks = if self.selection.hooks { self.rendered.manifests.hooks.as_slice() } else { &[] };
        hooks.iter().filter(move |hook| self.selection.tests || !hook.is_test())
    }

    /// Everything: what is no hook trimmed at both ends, hooks as they are.
    pub(crate) fn whole(self) -> String {
        self.write(&mut |_, _| {})
    }

    /// The same, with the places where it was written; `root` is how the chart's folder would be named.
    pub(crate) fn placed(self, root: &str) -> (String, ChartPlaces) {
        let mut collector = Collector::new(root);
        let text = self.write(&mut |start, document| match document {
            Document::Crd(path, text) => collector.add(start, path, text.as_bytes(), None),
            Document::Rendered(manifest) => {
                if let Some(origin) = &manifest.origin {
                    collector.add(start, &manifest.path, origin.template(), Some(origin));
                }
            }
        });
        (text, collector.places)
    }

    /// Puts the text together, and tells of each document where in the text it begins.
    fn write(self, hear: &mut dyn FnMut(usize, Document<'t>)) -> String {
        let mut release = String::new();
        for (path, text) in self.crds() {
            push_document(&mut release, path, text);
            hear(release.len() - text.len() - 1, Document::Crd(path, text));
        }
        for manifest in self.manifests() {
            push_document(&mut release, &manifest.path, &manifest.text);
            hear(release.len() - manifest.text.len() - 1, Document::Rendered(manifest));
        }
        // It begins with dashes, so that places stay what they are.
        let mut text = release.trim().to_owned();
        text.push('\n');
        for Hook { manifest, .. } in self.hooks() {
            push_document(&mut text, &manifest.path, &manifest.text);
            hear(text.len() - manifest.text.len() - 1, Document::Rendered(manifest));
        }
        text
    }

    /// The documents whose template matches, in the order of the patterns. As in Helm they are cut out of the whole.
    ///
    /// # Errors
    /// A pattern that nothing matches.
    pub(crate) fn only(self, patterns: &[String]) -> Result<String> {
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
                return Err(Error::new(
                    ErrorKind::Invalid,
                    format!("could not find template {wanted} in chart"),
                ));
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
pub(crate) fn push_document(text: &mut String, path: &str, document: &str) {
    let _ = writeln!(text, "---\n# Source: {path}\n{document}");
}
