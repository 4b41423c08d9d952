//! The result of a target: its manifests in each output format, and warnings.

use std::borrow::Cow;
use std::sync::Arc;

use diagnostic::{Error, ErrorKind, Result};
use kustomize::Output;
use yamltree::{Dialect, DuplicateKeys, Expansion, JsonOptions, ParseOptions, Resolved};

use crate::chart::places::ChartPlaces;
use crate::output::{self, Format};
use crate::report::Reporter;

/// The manifests of a target.
#[derive(Debug)]
pub enum Built {
    /// Those of a kustomization.
    Overlay(Box<Overlay>),
    /// Those of a chart.
    Chart(RenderedChart),
}

/// The manifests of a kustomization, and what the charts in it gave warnings of.
#[derive(Debug)]
pub struct Overlay {
    /// The output of the engine.
    pub output: Output,
    /// The warnings of charts.
    pub chart_warnings: Vec<helm_lite::Warning>,
}

/// The output of `helm template` for a chart.
#[derive(Debug)]
pub struct RenderedChart {
    /// The text.
    pub text: String,
    /// Warnings.
    pub warnings: Vec<helm_lite::Warning>,
    /// Maps the text to locations, if the renderer records them.
    pub(crate) places: Option<Arc<ChartPlaces>>,
}

/// The warnings of a target.
#[derive(Debug, Default)]
pub(crate) struct Warnings {
    overlay: Vec<kustomize::Warning>,
    chart: Vec<helm_lite::Warning>,
    application: Vec<argocd::Warning>,
    flux: Vec<flux::Warning>,
}

impl Warnings {
    /// Returns true if a chart comes out different each time it is rendered.
    pub(crate) fn is_unstable(&self) -> bool {
        self.chart.iter().any(|warning| warning.code == helm_lite::Code::Unstable)
    }
}

impl Built {
    /// Returns what is not wrong but surely not meant.
    pub(crate) fn warnings(&self) -> Warnings {
        match self {
            Built::Overlay(overlay) => overlay.warnings(),
            Built::Chart(chart) => Warnings::of_chart(chart.warnings.clone()),
        }
    }

    /// The manifests as one text.
    ///
    /// # Errors
    /// A resource that has no JSON.
    pub(crate) fn text(&self, format: Format) -> Result<Cow<'_, str>> {
        Ok(whole(self.fragment(format)?, format))
    }

    /// The manifests as a part of a text that [`output::join`] makes.
    ///
    /// # Errors
    /// A resource that has no JSON.
    pub(crate) fn fragment(&self, format: Format) -> Result<Cow<'_, str>> {
        match self {
            Built::Overlay(overlay) => overlay.fragment(format),
            Built::Chart(chart) => chart.fragment(format),
        }
    }
}

impl Overlay {
    /// Returns what is not wrong but surely not meant.
    pub(crate) fn warnings(&self) -> Warnings {
        Warnings {
            overlay: self.output.warnings().to_vec(),
            chart: self.chart_warnings.clone(),
            application: Vec::new(),
            flux: Vec::new(),
        }
    }

    /// The manifests as one text.
    ///
    /// # Errors
    /// A resource that has no JSON.
    pub(crate) fn text(&self, format: Format) -> Result<Cow<'_, str>> {
        Ok(whole(self.fragment(format)?, format))
    }

    fn fragment(&self, format: Format) -> Result<Cow<'_, str>> {
        if format == Format::Yaml {
            return Ok(Cow::Borrowed(self.output.yaml()));
        }
        Ok(Cow::Owned(self.json_objects()?.join(",\n")))
    }

    /// The objects, each as compact JSON.
    ///
    /// # Errors
    /// A resource that has no JSON.
    pub(crate) fn json_objects(&self) -> Result<Vec<String>> {
        let options = JsonOptions { escape_html: false, ..JsonOptions::KYAML };
        json(self.output.objects().iter().map(|object| &object.node), options)
    }
}

impl RenderedChart {
    fn fragment(&self, format: Format) -> Result<Cow<'_, str>> {
        if format == Format::Yaml {
            return Ok(Cow::Borrowed(&self.text));
        }
        Ok(Cow::Owned(json_objects(&self.text)?.join(",\n")))
    }
}

/// The objects in a text of documents as Helm reads it, each as compact JSON.
///
/// # Errors
/// If it is not YAML or cannot be expressed in JSON.
pub(crate) fn json_objects(text: &str) -> Result<Vec<String>> {
    let failed = |error: yamltree::Error| Error::new(ErrorKind::Invalid, error.message());
    let options = ParseOptions {
        dialect: Dialect::V2,
        duplicate_keys: DuplicateKeys::KeepLast,
        ..ParseOptions::default()
    };
    let mut roots = Vec::new();
    for document in helm_lite::manifest::split(text) {
        let Some(parsed) = yamltree::parse_first(document, 0, &options).map_err(failed)? else {
            continue;
        };
        let mut root = parsed.root;
        root.expand_aliases(Expansion::Decoded(Dialect::V2)).map_err(failed)?;
        if !matches!(root.resolved(Dialect::V2), Ok(Resolved::Null)) {
            roots.push(root);
        }
    }
    json(roots.iter(), JsonOptions { escape_html: false, ..JsonOptions::SIGS })
}

fn json<'n>(nodes: impl Iterator<Item = &'n yamltree::Node>, options: JsonOptions) -> Result<Vec<String>> {
    let object = |node| {
        let mut text = String::new();
        yamltree::to_json(node, options, &mut text)
            .map_err(|error| Error::new(ErrorKind::Invalid, error.message()))?;
        Ok(text)
    };
    nodes.map(object).collect()
}

fn whole(fragment: Cow<'_, str>, format: Format) -> Cow<'_, str> {
    match format {
        Format::Yaml => fragment,
        Format::Json => Cow::Owned(output::join(&[fragment], format)),
    }
}

impl Warnings {
    /// Those of a chart.
    pub(crate) fn of_chart(chart: Vec<helm_lite::Warning>) -> Self {
        Self { chart, ..Self::default() }
    }

    /// Adds others.
    pub(crate) fn extend(&mut self, others: Self) {
        self.overlay.extend(others.overlay);
        self.chart.extend(others.chart);
        self.application.extend(others.application);
        self.flux.extend(others.flux);
    }

    /// Adds those of an Application.
    pub(crate) fn add_applications(&mut self, warnings: Vec<argocd::Warning>) {
        self.application.extend(warnings);
    }

    /// Adds those of a Kustomization or HelmRelease.
    pub(crate) fn add_flux(&mut self, warnings: Vec<flux::Warning>) {
        self.flux.extend(warnings);
    }

    /// Each as a sentence with its code and place, those of charts first.
    pub(crate) fn sentences(&self) -> Vec<String> {
        let charts = self.chart.iter().map(sentence);
        let overlays = self.overlay.iter().map(sentence);
        let applications = self.application.iter().map(sentence);
        let flux = self.flux.iter().map(sentence);
        charts.chain(overlays).chain(applications).chain(flux).collect()
    }

    /// Reports each, those of charts first, as they arose first.
    pub(crate) fn report(&self, reporter: &mut Reporter) {
        reporter.warnings(&self.chart);
        reporter.warnings(&self.overlay);
        reporter.warnings(&self.application);
        reporter.warnings(&self.flux);
    }

    /// Fails where there are any, as `--strict` asks for.
    ///
    /// # Errors
    /// That there are warnings.
    pub(crate) fn refuse(&self) -> Result<()> {
        match self.overlay.len() + self.chart.len() + self.application.len() + self.flux.len() {
            0 => Ok(()),
            1 => Err(Error::new(ErrorKind::Invalid, "there is a warning, and `--strict` makes it an error")),
            count => Err(Error::new(
                ErrorKind::Invalid,
                format!("there are {count} warnings, and `--strict` makes them errors"),
            )),
        }
    }
}

/// Returns a warning in one line: its code, message and location.
fn sentence<C: diagnostic::WarningCode>(warning: &diagnostic::Warning<C>) -> String {
    let (code, message) = (warning.code.as_str(), &warning.message);
    match &warning.location {
        Some(location) => format!("{code}: {message} ({location})"),
        None => format!("{code}: {message}"),
    }
}
