//! Registry flags for one image: ours, and those of Argo CD Image Updater's `test`.

use diagnostic::{Error, Result};
use std::path::PathBuf;

use clap::Args;
use clap::builder::PossibleValuesParser;
use oci_registry::{Client, Reference, Repository};

use crate::config::{Config, Credentials, NamedSource, RegistriesConf, Registry};
use crate::registries;

const LEVELS: [&str; 5] = ["trace", "debug", "info", "warn", "error"];

const REGISTRY: &str = "Registry";

// Not a documentation comment, which would become the text of each command's help.
#[derive(Args, Debug)]
pub(super) struct RegistryFlags {
    /// A configuration that says how registries are asked
    #[arg(help_heading = REGISTRY, long, value_name = "FILE", conflicts_with = "tags_from")]
    config: Option<PathBuf>,
    /// The same, as Argo CD Image Updater's `registries.conf`
    #[arg(help_heading = REGISTRY, long, value_name = "FILE", conflicts_with_all = ["tags_from", "config"])]
    registries_conf_path: Option<PathBuf>,
    /// Credentials source, in place of the configured one: `env:NAME` or `ext:/PROGRAM`, which contain or print
    /// `user:password`
    #[arg(help_heading = REGISTRY, long, value_name = "SOURCE", conflicts_with = "tags_from")]
    credentials: Option<String>,
    /// Requests in a second, instead of what is configured
    #[arg(help_heading = REGISTRY, long, value_name = "NUMBER", value_parser = rate, allow_negative_numbers = true)]
    rate_limit: Option<f64>,
    /// Neither use nor keep what registries said earlier
    #[arg(help_heading = REGISTRY, long)]
    no_cache: bool,
    /// Accepted: no cluster is asked anyway
    #[arg(help_heading = REGISTRY, long = "disable-kubernetes")]
    _disable_kubernetes: bool,
    /// Accepted: no cluster is asked anyway
    #[arg(help_heading = REGISTRY, long = "kubeconfig", value_name = "FILE")]
    _kubeconfig: Option<PathBuf>,
    /// Accepted: there is no log
    #[arg(help_heading = REGISTRY, long = "loglevel", value_name = "LEVEL")]
    #[arg(value_parser = PossibleValuesParser::new(LEVELS))]
    _loglevel: Option<String>,
}

/// The registry settings.
#[derive(Debug)]
pub(super) struct Registries {
    configured: Configured,
    named: Option<NamedSource>,
    rate_limit: Option<f64>,
    cache: Option<PathBuf>,
}

#[derive(Debug)]
enum Configured {
    Ours(Vec<Registry>),
    ArgoCd(RegistriesConf),
}

impl RegistryFlags {
    /// Reads what the flags name.
    ///
    /// # Errors
    /// If a file cannot be read, or anything is wrong.
    pub(super) fn read(&self) -> Result<Registries> {
        let configured = match (&self.config, &self.registries_conf_path) {
            (_, Some(path)) => Configured::ArgoCd(RegistriesConf::load(path)?),
            (Some(path), None) => Configured::Ours(Config::load(path)?.registries),
            (None, None) => Configured::Ours(Vec::new()),
        };
        Ok(Registries {
            configured,
            named: self.credentials.as_deref().map(NamedSource::parse).transpose()?,
            rate_limit: self.rate_limit,
            cache: registries::cache_folder()
                .filter(|_| !self.no_cache)
                .map(|cache| cache.join("registries")),
        })
    }
}

impl Registries {
    /// The image of a name, which may be in a registry that goes without saying.
    ///
    /// # Errors
    /// If it is no name of an image.
    pub(super) fn reference(&self, image: &str) -> Result<Reference> {
        let default = match &self.configured {
            Configured::ArgoCd(conf) if !Reference::names_registry(image) => conf.default_prefix(),
            _ => None,
        };
        Ok(match default {
            // What goes without saying on Docker Hub is still left to it.
            Some(default) if default != oci_registry::DOCKER_HUB => format!("{default}/{image}").parse()?,
            _ => image.parse()?,
        })
    }

    /// Returns what asks the registry of an image.
    ///
    /// # Errors
    /// If credentials cannot be had here, or are for another registry.
    pub(super) fn client(&self, repository: &Repository) -> Result<Client> {
        let given = self.named.as_ref().map(|named| credentials(named, repository)).transpose()?;
        let configured = match &self.configured {
            Configured::ArgoCd(conf) => conf.registry(repository, given.clone())?,
            Configured::Ours(known) => registries::best(known, repository).cloned(),
        };
        let configured = configured.unwrap_or_default();
        let registry = Registry {
            prefix: repository.registry().to_owned(),
            credentials: given.or(configured.credentials),
            rate_limit: self.rate_limit.or(configured.rate_limit),
            ..configured
        };
        registries::client(&[registry], self.cache.clone())
    }
}

/// Those of the flag, where they are for the registry of the image.
fn credentials(named: &NamedSource, repository: &Repository) -> Result<Credentials> {
    if let Some(registry) = named.registry.as_ref().filter(|registry| !repository.is_below(registry)) {
        let (asked, repository) = (repository.registry(), repository.name());
        return Err(Error::invalid(format!(
            "the credentials are for `{registry}`, and `{repository}` is on `{asked}`"
        )));
    }
    named.here()
}

fn rate(text: &str) -> Result<f64, String> {
    let rate = text.parse().ok().filter(|rate: &f64| rate.is_finite() && *rate > 0.0);
    rate.ok_or_else(|| "it is a number of requests in a second, above 0".to_owned())
}
