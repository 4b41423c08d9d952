//! The flags that say where charts come from and by what their servers are asked, which several commands have.

use std::convert::Infallible;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use diagnostic::{Error, ErrorKind, Result};
use oci_registry::Secret;

use crate::charts::ChartLocation;
use crate::config;
use crate::homes::Homes;
use crate::progress;
use crate::remote::charts::{
    Access, Account, ChartRequest, ChartSources, Pulled, TIMEOUT, Tls, WITH_DEVELOPMENT_VERSIONS,
};
use crate::report::Reporter;

/// A token is a few thousand bytes.
const MAX_PASSWORD: u64 = 64 << 10;

#[derive(Args, Debug)]
pub(super) struct SourceFlags {
    /// The address of the repository that has the chart
    #[arg(long, value_name = "URL")]
    repo: Option<String>,

    /// The chart's version, or a range of versions; the newest release where none is given
    #[arg(long, value_name = "VERSION")]
    version: Option<String>,

    /// Take development versions too
    #[arg(long)]
    devel: bool,

    /// Refused: signatures are not verified
    #[arg(long)]
    verify: bool,

    /// No effect: signatures are not verified
    #[arg(long, value_name = "FILE")]
    keyring: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(super) struct AccessFlags {
    /// User name for the repository or registry
    #[arg(long, value_name = "NAME")]
    username: Option<String>,

    /// The password of who asks
    #[arg(long, value_name = "PASSWORD", value_parser = secret)]
    password: Option<Secret<String>>,

    /// Show them to other hosts too, where an index names some
    #[arg(long)]
    pass_credentials: bool,

    /// The authorities whose certificates are trusted
    #[arg(long, value_name = "FILE")]
    ca_file: Option<PathBuf>,

    /// The certificate to show
    #[arg(long, value_name = "FILE")]
    cert_file: Option<PathBuf>,

    /// The key of the certificate
    #[arg(long, value_name = "FILE")]
    key_file: Option<PathBuf>,

    /// Trust every certificate
    #[arg(long)]
    insecure_skip_tls_verify: bool,

    /// Ask registries without TLS
    #[arg(long)]
    plain_http: bool,
}

#[derive(Args, Debug)]
pub(super) struct HomeFlags {
    /// The list of repositories [env: HELM_REPOSITORY_CONFIG]
    #[arg(long, value_name = "FILE")]
    repository_config: Option<PathBuf>,

    /// The folder with their indexes [env: HELM_REPOSITORY_CACHE]
    #[arg(long, value_name = "FOLDER")]
    repository_cache: Option<PathBuf>,

    /// The accounts of registries [env: HELM_REGISTRY_CONFIG]
    #[arg(long, value_name = "FILE")]
    registry_config: Option<PathBuf>,

    /// Cache directory of charts [env: RENDERER_CACHE_DIR] [default: ~/.cache/renderer]
    #[arg(long, value_name = "FOLDER")]
    cache_dir: Option<PathBuf>,

    /// Take charts and indexes from the cache only
    #[arg(long)]
    offline: bool,
}

impl SourceFlags {
    /// Returns true if signatures should be verified.
    pub(super) fn verifies(&self) -> bool {
        self.verify
    }

    /// Gets a chart.
    pub(super) fn pull(&self, sources: &ChartSources, reference: &str, access: &Access) -> Result<Pulled> {
        let doing = format!("getting {}", diagnostic::redact(reference));
        progress::while_waiting(&doing, || sources.pull(&self.request(reference, access)))
    }

    fn request<'r>(&'r self, reference: &'r str, access: &'r Access) -> ChartRequest<'r> {
        let version = self.version.as_deref().map(str::trim).filter(|version| !version.is_empty());
        let version = version.or_else(|| self.devel.then_some(WITH_DEVELOPMENT_VERSIONS));
        ChartRequest { reference, repo: self.repo.as_deref(), version, access }
    }

    /// Finds a chart as helm does: on this disk, unless a repository is named or there is no such path.
    pub(super) fn locate(
        &self,
        reference: &str,
        access: &AccessFlags,
        home: &HomeFlags,
        reporter: &mut Reporter,
    ) -> Result<ChartLocation> {
        refuse_verification(self.verify)?;
        let reference = reference.trim();
        let path = Path::new(reference);
        if self.repo.is_none() && (path.exists() || path.is_absolute() || reference.starts_with('.')) {
            return Ok(ChartLocation::Disk(path.to_owned()));
        }
        let pulled = self.pull(&home.sources(), reference, &access.access()).map_err(|error| {
            let is_name = self.repo.is_none() && !reference.contains("://");
            if is_name { error.hint(format!("and no file or directory `{reference}` exists")) } else { error }
        })?;
        if let Some(notice) = &pulled.notice {
            reporter.notice(notice);
        }
        Ok(ChartLocation::Pulled(pulled))
    }
}

impl AccessFlags {
    pub(super) fn access(&self) -> Access {
        let password = self.password.as_ref().map(|password| password.expose().as_str()).unwrap_or_default();
        Access {
            account: Account::new(self.username.as_deref().unwrap_or_default(), password),
            pass_credentials: self.pass_credentials,
            tls: Tls {
                authorities: self.ca_file.clone(),
                certificate: self.cert_file.clone(),
                key: self.key_file.clone(),
                is_unchecked: self.insecure_skip_tls_verify,
            },
            plain_http: self.plain_http,
        }
    }

    /// Returns true if somebody asks who has not said a password.
    pub(super) fn lacks_password(&self) -> bool {
        self.username.is_some() && self.password.is_none()
    }

    pub(super) fn set_password(&mut self, password: Secret<String>) {
        self.password = Some(password);
    }

    pub(super) fn username(&self) -> &str {
        self.username.as_deref().unwrap_or_default()
    }

    pub(super) fn password(&self) -> Option<&Secret<String>> {
        self.password.as_ref()
    }
}

impl HomeFlags {
    pub(super) fn homes(&self) -> Homes {
        let homes = Homes::from_environment();
        let or = |flag: &Option<PathBuf>, path| flag.clone().unwrap_or(path);
        Homes {
            repository_config: or(&self.repository_config, homes.repository_config),
            repository_cache: or(&self.repository_cache, homes.repository_cache),
            registry_config: or(&self.registry_config, homes.registry_config),
            docker_config: homes.docker_config,
        }
    }

    pub(super) fn sources(&self) -> ChartSources {
        self.sources_within(TIMEOUT)
    }

    /// The same where servers have this much time for an answer.
    pub(super) fn sources_within(&self, timeout: Duration) -> ChartSources {
        let cache = self.cache_dir.clone().or_else(config::default_cache_dir);
        let cache = cache.map(|path| std::path::absolute(&path).unwrap_or(path));
        ChartSources::new(cache, self.offline, self.homes(), timeout)
    }
}

/// Refuses what is not done: to go on would be to pretend that it was.
pub(super) fn refuse_verification(is_wanted: bool) -> Result<()> {
    if !is_wanted {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Usage, "`--verify` is not supported: chart signatures are not verified")
        .hint("archives are checked by the digests of their repository; use helm for signatures"))
}

/// Returns what stands on standard input, up to the end of its line.
pub(super) fn password_on_stdin() -> Result<Secret<String>> {
    let input = |sentence: String| Error::new(ErrorKind::Invalid, sentence);
    let mut password = String::new();
    let read = std::io::stdin().lock().take(MAX_PASSWORD).read_to_string(&mut password);
    read.map_err(|error| input(format!("cannot read the password: {error}")))?;
    let password = password.strip_suffix('\n').unwrap_or(&password);
    let password = password.strip_suffix('\r').unwrap_or(password);
    if password.is_empty() {
        return Err(input("standard input contains no password".to_owned()));
    }
    Ok(Secret::new(password.to_owned()))
}

/// A time as Go writes it: `1m30s`.
pub(super) fn duration(text: &str) -> std::result::Result<Duration, String> {
    let nanoseconds = gotemplate::time::Duration::parse(text.as_bytes())?.0;
    u64::try_from(nanoseconds)
        .ok()
        .filter(|nanoseconds| *nanoseconds > 0)
        .map(Duration::from_nanos)
        .ok_or_else(|| "not a duration".to_owned())
}

pub(super) fn secret(text: &str) -> std::result::Result<Secret<String>, Infallible> {
    Ok(Secret::new(text.to_owned()))
}
