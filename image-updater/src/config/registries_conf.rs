//! `registries.conf` of Argo CD Image Updater, and how it names where credentials are kept.
//!
//! In: the text of a file. Out: the same that `image-updater.yaml` says of registries. Refused, with line and column:
//! what Argo CD Image Updater refuses, prefixes that are there twice, and where credentials cannot be. Without a cluster,
//! credentials that are kept in one are refused only where they are wanted.

use diagnostic::{Error, Result};
use std::collections::HashSet;
use std::path::Path;
use std::time::Duration;

use oci_registry::Repository;
use serde::Deserialize;
use serde::de::{self, Deserializer, Visitor};

use super::credentials::{ClusterName, Credentials, SecretKey};
use super::file::Registry;
use crate::criteria::Age;
use crate::input;
use yamlserde::{Spanned, YamlFile};

/// Values of Argo CD Image Updater's `tagsortmode`.
const TAG_SORT_MODES: &[&str] = &["latest-first", "latest-last", "none", ""];

/// The content of the file.
#[derive(Debug)]
pub(crate) struct RegistriesConf {
    text: YamlFile,
    entries: Vec<Known>,
    default: Option<usize>,
}

/// A place of credentials, as Argo CD Image Updater names it: `env:NAME`, `ext:/PROGRAM`, and what is in a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NamedSource {
    /// The registry that it is for, if it says.
    pub(crate) registry: Option<String>,
    /// The source of the credentials.
    pub(crate) credentials: Credentials,
}

#[derive(Debug)]
struct Known {
    registry: Registry,
    source: Option<Spanned<NamedSource>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    registries: Option<Vec<Spanned<Entry>>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    #[serde(rename = "name")]
    _name: String,
    api_url: Spanned<String>,
    #[serde(default)]
    prefix: Option<String>,
    #[serde(default, rename = "ping")]
    _ping: Flag,
    credentials: Option<Spanned<String>>,
    credsexpire: Option<Spanned<String>>,
    tagsortmode: Option<Spanned<String>>,
    #[serde(default)]
    insecure: Flag,
    ca_file: Option<String>,
    ca_data: Option<String>,
    defaultns: Option<String>,
    limit: Option<Spanned<u32>>,
    #[serde(default)]
    default: Flag,
}

impl RegistriesConf {
    /// Reads a file.
    ///
    /// # Errors
    /// If it cannot be read, or anything in it is wrong.
    pub(crate) fn load(path: &Path) -> Result<Self> {
        let (text, name) = input::read_text(path)?;
        Self::parse(&text, &name)
    }

    fn parse(text: &str, path: &str) -> Result<Self> {
        let text = YamlFile::new(path, text);
        let file: File = text.read()?;
        let mut conf = Self { text, entries: Vec::new(), default: None };
        let mut prefixes = HashSet::new();
        for entry in file.registries.unwrap_or_default() {
            let start = entry.start;
            let is_default =
                entry.value.default.0 || entry.value.prefix.as_deref().unwrap_or_default().is_empty();
            let known = conf.known(entry.value)?;
            if !prefixes.insert(known.registry.prefix.clone()) {
                return Err(conf.at(start, Error::invalid("another registry has the same prefix")));
            }
            if is_default && conf.default.replace(conf.entries.len()).is_some() {
                let error = Error::invalid("another registry is the default one already");
                let hint = "one registry has `default: true`, or no `prefix`";
                return Err(conf.at(start, error.hint(hint)));
            }
            conf.entries.push(known);
        }
        Ok(conf)
    }

    /// Returns what images that name no registry are below, where that is not Docker Hub.
    pub(crate) fn default_prefix(&self) -> Option<&str> {
        self.default.map(|place| self.entries[place].registry.prefix.as_str())
    }

    /// Returns what is said of the registry of an image. With credentials from elsewhere, those it names do not count.
    ///
    /// # Errors
    /// If credentials are wanted that are kept in a cluster.
    pub(crate) fn registry(
        &self,
        repository: &Repository,
        credentials: Option<Credentials>,
    ) -> Result<Option<Registry>> {
        let fitting = self.entries.iter().filter(|known| repository.is_below(&known.registry.prefix));
        let Some(known) = fitting.max_by_key(|known| known.registry.prefix.len()) else { return Ok(None) };
        let credentials = match (credentials, &known.source) {
            (None, Some(named)) => Some(named.value.here().map_err(|error| self.at(named.start, error))?),
            (given, _) => given,
        };
        Ok(Some(Registry { credentials, ..known.registry.clone() }))
    }

    /// All that is said, for who has a cluster.
    pub(crate) fn registries(&self) -> Vec<Registry> {
        let registry = |known: &Known| {
            let credentials = known.source.as_ref().map(|named| named.value.credentials.clone());
            Registry { credentials, ..known.registry.clone() }
        };
        self.entries.iter().map(registry).collect()
    }

    fn at(&self, start: u32, error: Error) -> Error {
        error.at(self.text.location(start))
    }

    fn known(&self, entry: Entry) -> Result<Known> {
        let Spanned { value: api, start } = &entry.api_url;
        let host = host(api).ok_or_else(|| {
            let error = Error::invalid("`api_url` must be the URL of a registry");
            self.at(*start, error.hint("write it as `https://host` or `http://host`"))
        })?;
        self.check(&entry)?;
        let credentials_expire = self.expiry(entry.credsexpire.as_ref())?;
        let prefix = entry.prefix.filter(|prefix| !prefix.is_empty()).unwrap_or_else(|| host.to_owned());
        let source = entry.credentials.map(|source| self.source(&source)).transpose()?;
        // Nothing is checked by them then.
        let trusted = |authorities: Option<String>| authorities.filter(|_| !entry.insecure.0);
        let registry = Registry {
            prefix,
            api: Some(api.trim_end_matches('/').to_owned()),
            insecure: entry.insecure.0,
            ca_file: trusted(entry.ca_file),
            ca_data: trusted(entry.ca_data),
            default_namespace: entry.defaultns.filter(|namespace| !namespace.is_empty()),
            rate_limit: entry.limit.map(|limit| f64::from(limit.value)),
            credentials_expire,
            ..Registry::default()
        };
        Ok(Known { registry, source })
    }

    /// Checks what has no effect here too.
    fn check(&self, entry: &Entry) -> Result<()> {
        if let Some(Spanned { value: mode, start }) = &entry.tagsortmode
            && !TAG_SORT_MODES.contains(&mode.to_lowercase().as_str())
        {
            let error = Error::invalid(format!("unknown `tagsortmode` `{mode}`"));
            return Err(self.at(*start, error.hint("there are latest-first, latest-last and none")));
        }
        match &entry.limit {
            Some(Spanned { value: 0, start }) => {
                Err(self.at(*start, Error::invalid("`limit` is a number of requests in a second, above 0")))
            }
            _ => Ok(()),
        }
    }

    /// For how long credentials are used again. Argo CD Image Updater uses them for ever where nothing is said.
    fn expiry(&self, text: Option<&Spanned<String>>) -> Result<Option<Duration>> {
        let Some(Spanned { value, start }) = text else { return Ok(None) };
        let age: Age = value.parse().map_err(|error| self.at(*start, error))?;
        Ok(Duration::try_from(age.span()).ok().filter(|expiry| !expiry.is_zero()))
    }

    fn source(&self, Spanned { value, start }: &Spanned<String>) -> Result<Spanned<NamedSource>> {
        let source = NamedSource::parse(value).map_err(|error| self.at(*start, error))?;
        Ok(Spanned { value: source, start: *start })
    }
}

impl NamedSource {
    /// Reads `[registry=]kind:value`.
    ///
    /// # Errors
    /// If it is none; what it is instead may be a secret, and is not part of the error.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        if let Some(credentials) = source(text)? {
            return Ok(Self { registry: None, credentials });
        }
        let (registry, rest) = text.split_once('=').ok_or_else(malformed)?;
        if registry.is_empty() {
            return Err(malformed());
        }
        let credentials = source(rest)?.ok_or_else(malformed)?;
        Ok(Self { registry: Some(registry.to_owned()), credentials })
    }

    /// Returns where they are kept, for who has no cluster.
    ///
    /// # Errors
    /// If they are in a cluster.
    pub(crate) fn here(&self) -> Result<Credentials> {
        if self.credentials.in_cluster().is_some() {
            let error = Error::invalid(
                "these credentials are in a Secret of a cluster, and no cluster is asked here",
            );
            let hint = "use `env:NAME` or `ext:/PROGRAM`, or log in with `docker login` and leave them out";
            return Err(error.hint(hint));
        }
        Ok(self.credentials.clone())
    }
}

/// A source without its registry. Nothing where its kind is unknown.
fn source(text: &str) -> Result<Option<Credentials>> {
    let Some((kind, value)) = text.split_once(':').filter(|(_, value)| !value.is_empty()) else {
        return Ok(None);
    };
    Ok(Some(match kind.to_lowercase().as_str() {
        "env" => Credentials::Env(value.to_owned()),
        "ext" if value.starts_with('/') => Credentials::Command(vec![value.to_owned()]),
        "ext" => {
            let error = Error::invalid("the program of an `ext` source must be an absolute path");
            return Err(error.hint("write it as `ext:/PATH/TO/PROGRAM`"));
        }
        "pullsecret" => {
            Credentials::PullSecret(ClusterName::try_from(value.to_owned()).map_err(|_| malformed())?)
        }
        "secret" => Credentials::Secret(SecretKey::try_from(value.to_owned()).map_err(|_| malformed())?),
        _ => return Ok(None),
    }))
}

fn malformed() -> Error {
    let error = Error::invalid("invalid credentials source");
    error.hint(
        "write `env:NAME` or `ext:/PROGRAM`, with `REGISTRY=` before it if need be; \
         in a cluster also `secret:NAMESPACE/NAME#FIELD` or `pullsecret:NAMESPACE/NAME`",
    )
}

/// The host of an address, with its port.
fn host(api: &str) -> Option<&str> {
    let rest = api.strip_prefix("https://").or_else(|| api.strip_prefix("http://"))?;
    let host = rest.split('/').next()?;
    (!host.is_empty() && !host.contains(['@', '?', '#'])).then_some(host)
}

/// A switch with all words that YAML 1.1 has for it, as the file is read by go-yaml v2.
#[derive(Clone, Copy, Debug, Default)]
struct Flag(bool);

impl<'de> Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Words;
        impl Visitor<'_> for Words {
            type Value = Flag;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("true or false")
            }

            fn visit_bool<E: de::Error>(self, value: bool) -> Result<Flag, E> {
                Ok(Flag(value))
            }

            fn visit_str<E: de::Error>(self, value: &str) -> Result<Flag, E> {
                match value {
                    "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" => Ok(Flag(true)),
                    "n" | "N" | "no" | "No" | "NO" | "off" | "Off" | "OFF" => Ok(Flag(false)),
                    _ => Err(E::invalid_value(de::Unexpected::Str(value), &self)),
                }
            }
        }
        deserializer.deserialize_any(Words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FULL: &str = include_str!("../../../testdata/image-updater/config/registries.conf");

    fn parse(text: &str) -> Result<RegistriesConf> {
        RegistriesConf::parse(text, "registries.conf")
    }

    fn of(conf: &RegistriesConf, repository: &str) -> Registry {
        conf.registry(&repository.parse().unwrap(), None).unwrap().unwrap()
    }

    #[test]
    fn every_field_is_read() {
        let conf = parse(FULL).unwrap();
        assert_eq!(conf.default_prefix(), Some("quay.io"));
        let hub = of(&conf, "nginx");
        assert_eq!(hub.api.as_deref(), Some("https://registry-1.docker.io"));
        assert_eq!(hub.default_namespace.as_deref(), Some("library"));
        assert_eq!(hub.credentials, Some(Credentials::Env("HUB_LOGIN".to_owned())));
        let quay = of(&conf, "quay.io/other/app");
        assert_eq!((quay.insecure, quay.rate_limit), (true, Some(10.0)));
        assert_eq!(quay.ca_file, None, "nothing is checked by it");
        let team = of(&conf, "quay.io/team/app");
        assert_eq!(team.credentials, Some(Credentials::Command(vec!["/opt/login:v2".to_owned()])));
        assert_eq!(team.ca_data.as_deref(), Some("-----BEGIN CERTIFICATE-----\n"));
        assert_eq!(team.ca_file.as_deref(), Some("/etc/authorities.pem"));
        assert_eq!(conf.registry(&"ghcr.io/a/b".parse().unwrap(), None).unwrap(), None);
    }

    #[test]
    fn an_entry_without_a_prefix_is_the_default_registry() {
        let conf = parse("registries:\n- {name: ours, api_url: 'http://r.test:5000/'}\n").unwrap();
        assert_eq!(conf.default_prefix(), Some("r.test:5000"));
        assert_eq!(of(&conf, "r.test:5000/a").api.as_deref(), Some("http://r.test:5000"));
        assert_eq!(parse("registries: []\n").unwrap().default_prefix(), None);
    }

    #[test]
    fn what_is_in_a_cluster_is_refused_where_it_is_wanted() {
        let conf = parse(FULL).unwrap();
        let repository: Repository = "registry.example.com/shop".parse().unwrap();
        let error = conf.registry(&repository, None).unwrap_err();
        assert_eq!(error.location().unwrap().to_string(), "registries.conf:32:16");
        assert!(error.message().contains("in a Secret of a cluster"), "{error}");
        let given = Credentials::Env("MINE".to_owned());
        let registry = conf.registry(&repository, Some(given.clone())).unwrap().unwrap();
        assert_eq!(registry.credentials, Some(given));
        let in_cluster =
            conf.registries().into_iter().find(|registry| registry.prefix == "registry.example.com");
        let secret = Credentials::pull_secret("argocd", "registry");
        assert_eq!(in_cluster.unwrap().credentials, Some(secret));
    }

    #[test]
    fn credentials_expire_when_it_is_said() {
        let expire = |text: &str| {
            let entry = format!("registries:\n- {{name: a, api_url: 'https://a.test'{text}}}\n");
            parse(&entry).unwrap().registries()[0].credentials_expire
        };
        assert_eq!(expire(", credsexpire: 5h"), Some(Duration::from_secs(18_000)));
        assert_eq!((expire(", credsexpire: 0s"), expire("")), (None, None));
    }

    #[test]
    fn sources_are_read_and_refused_without_a_word_of_theirs() {
        let credentials = |text: &str| NamedSource::parse(text).unwrap().credentials;
        let command = |path: &str| Credentials::Command(vec![path.to_owned()]);
        assert_eq!(credentials("env:A"), Credentials::Env("A".to_owned()));
        assert_eq!(credentials("ENV:A=B"), Credentials::Env("A=B".to_owned()));
        assert_eq!(credentials("ext:/a:b=c"), command("/a:b=c"));
        let key = SecretKey::try_from("a/b#c:d".to_owned()).unwrap();
        assert_eq!(credentials("secret:a/b#c:d"), Credentials::Secret(key));
        assert_eq!(credentials("pullsecret:a/b"), Credentials::pull_secret("a", "b"));
        let named = NamedSource::parse("localhost:5000=ext:/a").unwrap();
        assert_eq!((named.registry.as_deref(), named.credentials), (Some("localhost:5000"), command("/a")));
        for text in [
            "",
            "ci:s3cret",
            "s3cret",
            "env:",
            "ext:s3cret",
            "=env:A",
            "x=s3cret",
            "secret:s3cret",
            "secret:a/b",
            "pullsecret:s3cret",
            "pullsecret:a/b/s3cret",
            "ci:s3cret=x",
        ] {
            let error = NamedSource::parse(text).unwrap_err();
            assert!(!format!("{error:?}").contains("s3cret"), "{text}: {error:?}");
        }
    }

    #[test]
    fn a_fault_has_its_place() {
        let one = |more: &str| format!("registries:\n- {{name: a, api_url: 'https://a.test', {more}}}\n");
        for (text, place, message) in [
            ("registry: []\n".to_owned(), "1:1", "unknown field `registry`"),
            ("registries:\n- api_url: https://a.test\n".to_owned(), "2:3", "missing field `name`"),
            ("registries:\n- name: a\n".to_owned(), "2:3", "missing field `api_url`"),
            (
                "registries:\n- {name: a, api_url: a.test}\n".to_owned(),
                "2:22",
                "must be the URL of a registry",
            ),
            (
                "registries:\n- {name: a, api_url: 'https://u:p@a'}\n".to_owned(),
                "2:22",
                "must be the URL of a registry",
            ),
            (one("token: x"), "2:40", "unknown field `token`"),
            (one("limit: 0"), "2:47", "above 0"),
            (one("limit: -1"), "2:47", "integer `-1`"),
            (one("insecure: maybe"), "2:50", "expected true or false"),
            (one("tagsortmode: newest"), "2:53", "unknown `tagsortmode` `newest`"),
            (one("credsexpire: 5"), "2:53", "a unit is missing"),
            (one("credentials: 'ci:s3cret'"), "2:53", "invalid credentials source"),
            (one("prefix: a}\n- {name: b, api_url: 'https://b.test', prefix: a"), "3:3", "same prefix"),
            (
                one("prefix: a, default: on}\n- {name: b, api_url: 'https://b.test', default: y"),
                "3:3",
                "the default one already",
            ),
        ] {
            let error = parse(&text).unwrap_err();
            let found = error.location().map(ToString::to_string).unwrap_or_default();
            assert!(error.message().contains(message), "{text}: {error}");
            assert_eq!(found, format!("registries.conf:{place}"), "{text}: {error}");
        }
        assert!(parse("registries:\n").unwrap().entries.is_empty());
    }
}
