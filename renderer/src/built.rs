//! What a target gives: its manifests, in each form that they are written in, and warnings.

use std::borrow::Cow;

use kustomize::Output;
use yamltree::JsonOptions;

use crate::error::{Error, ErrorKind, Result};
use crate::output::{self, Format};
use crate::report::Reporter;

/// The manifests of a target.
#[derive(Debug)]
pub struct Built {
    output: Output,
    chart_warnings: Vec<helm_lite::Warning>,
}

/// What is not wrong with a target but surely not meant.
#[derive(Debug, Default)]
pub(crate) struct Warnings {
    overlay: Vec<kustomize::Warning>,
    chart: Vec<helm_lite::Warning>,
}

impl Built {
    pub(crate) fn new(output: Output, chart_warnings: Vec<helm_lite::Warning>) -> Self {
        Self { output, chart_warnings }
    }

    /// What the engine made.
    #[must_use]
    pub fn output(&self) -> &Output {
        &self.output
    }

    /// What is not wrong but surely not meant.
    pub(crate) fn warnings(&self) -> Warnings {
        Warnings { overlay: self.output.warnings().to_vec(), chart: self.chart_warnings.clone() }
    }

    /// The manifests as one text.
    ///
    /// # Errors
    /// A resource that has no JSON.
    pub(crate) fn text(&self, format: Format) -> Result<Cow<'_, str>> {
        Ok(match format {
            Format::Yaml => self.fragment(format)?,
            Format::Json => Cow::Owned(output::join(&[self.fragment(format)?], format)),
        })
    }

    /// The manifests as a part of a text that [`output::join`] makes.
    ///
    /// # Errors
    /// A resource that has no JSON.
    pub(crate) fn fragment(&self, format: Format) -> Result<Cow<'_, str>> {
        if format == Format::Yaml {
            return Ok(Cow::Borrowed(self.output.yaml()));
        }
        let options = JsonOptions { escape_html: false, ..JsonOptions::KYAML };
        let mut text = String::new();
        for object in self.output.objects() {
            text.push_str(if text.is_empty() { "" } else { ",\n" });
            yamltree::to_json(&object.node, options, &mut text)
                .map_err(|error| Error::new(ErrorKind::Input, error.message()))?;
        }
        Ok(Cow::Owned(text))
    }
}

impl Warnings {
    /// Reports each, those of charts first, as they arose first.
    pub(crate) fn report(&self, reporter: &mut Reporter) {
        reporter.warnings(&self.chart);
        reporter.warnings(&self.overlay);
    }

    /// Fails where there are any, as `--strict` asks for.
    ///
    /// # Errors
    /// That there are warnings.
    pub(crate) fn refuse(&self) -> Result<()> {
        match self.overlay.len() + self.chart.len() {
            0 => Ok(()),
            1 => Err(Error::new(ErrorKind::Input, "there is a warning, and `--strict` makes it an error")),
            count => Err(Error::new(
                ErrorKind::Input,
                format!("there are {count} warnings, and `--strict` makes them errors"),
            )),
        }
    }
}
