//! The chart engine behind the kustomize engine's [`ChartInflator`]: `helmCharts` rendered in this process.
//!
//! In: what an entry asks for, as flags of `helm template`. Out: what that prints. Each chart is read once in a run,
//! however many overlays inflate it, and nothing is written.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use diagnostic::{Error, ErrorKind, Result};
use helm_lite::values::{self, ValuesFile};
use helm_lite::{Selection, Warning};
use kustomize::{ChartInflator, Inflated, RemoteChart, TextPlaces};

use crate::chart::places::{Inputs, ReadFiles};
use crate::chart::{self, DEFAULT_NAME, Release, Values};
use crate::remote::charts::{Access, ChartRequest, WITH_DEVELOPMENT_VERSIONS};
use crate::render::{ENGINE, Engines};

/// Inflates the charts of one target.
#[derive(Debug)]
pub(crate) struct Inflator<'r> {
    engines: Engines<'r>,
    warnings: Mutex<Vec<Warning>>,
}

impl<'r> Inflator<'r> {
    pub(crate) fn new(engines: Engines<'r>) -> Self {
        Self { engines, warnings: Mutex::default() }
    }

    /// Returns what the charts gave warnings of.
    pub(crate) fn into_warnings(self) -> Vec<Warning> {
        self.warnings.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn render(&self, asked: &kustomize::Chart<'_>) -> Result<Inflated> {
        let loaded = self.engines.chart(asked.folder, asked.repository)?;
        let files: Vec<ValuesFile<'_>> = asked
            .values
            .iter()
            .map(|values| ValuesFile { name: &values.name, data: values.text.as_bytes() })
            .collect();
        let options = values::Options { files: &files, ..values::Options::default() };
        let user = values::merge(&options, ENGINE)?;
        let name = release_name(asked)?;
        let release = Release {
            name: &name,
            namespace: asked.namespace,
            is_upgrade: false,
            kube_version: asked.kube_version,
            api_versions: asked.api_versions,
            version: ENGINE,
            checks_schemas: true,
            cluster: None,
        };
        let rendered = self.engines.helm(&loaded, &user, &release)?;
        let selection =
            Selection { crds: asked.include_crds, hooks: !asked.skip_hooks, tests: !asked.skip_tests };
        let inputs = |root| Inputs {
            root,
            chart: Arc::clone(&loaded),
            given: Values {
                files: asked.values.iter().map(|values| values.name.clone()).collect(),
                ..Values::default()
            },
            files: ReadFiles(
                asked
                    .values
                    .iter()
                    .map(|values| (values.name.clone(), values.text.as_bytes().to_vec()))
                    .collect(),
            ),
            version: ENGINE,
        };
        let (text, places) = self.engines.text(rendered.text(selection), asked.folder, inputs);
        self.warnings.lock().unwrap_or_else(PoisonError::into_inner).extend(rendered.warnings);
        Ok(Inflated { text, places: places.map(|places| places as Arc<dyn TextPlaces>) })
    }
}

impl ChartInflator for Inflator<'_> {
    fn pull(&self, chart: &RemoteChart<'_>) -> Result<PathBuf> {
        let access = Access::default();
        let version = chart.version.or(chart.devel.then_some(WITH_DEVELOPMENT_VERSIONS));
        let request =
            ChartRequest { reference: chart.name, repo: Some(chart.repo), version, access: &access };
        let sources = self.engines.chart_sources();
        match chart.config_home {
            Some(folder) => sources.with_config(folder).folder(&request),
            None => sources.folder(&request),
        }
    }

    fn inflate(&self, chart: &kustomize::Chart<'_>) -> Result<Inflated> {
        self.render(chart)
    }
}

fn release_name(asked: &kustomize::Chart<'_>) -> Result<String> {
    match (asked.release_name, asked.name_template) {
        (Some(_), Some(_)) => {
            Err(Error::new(ErrorKind::Invalid, "`releaseName` and `nameTemplate` cannot both be given"))
        }
        (Some(name), None) => Ok(name.to_owned()),
        (None, Some(template)) => chart::release_name(template),
        (None, None) => Ok(DEFAULT_NAME.to_owned()),
    }
}
