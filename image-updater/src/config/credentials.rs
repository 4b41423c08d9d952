//! Sources of credentials in a configuration, which never contains them.

use std::borrow::Cow;
use std::fmt;
use std::path::Path;

use oci_registry::Cloud;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

use super::file::within;
use crate::change::Named;

/// A source of credentials, never the credentials themselves.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub enum Credentials {
    /// A variable that holds `user:password`.
    Env(String),
    /// A file that holds `user:password`.
    File(String),
    /// A file as Docker keeps it, with its helpers.
    DockerConfig(String),
    /// A program, and what it is told, that prints `user:password`.
    Command(Vec<String>),
    /// A Secret of the cluster that Kubernetes pulls images with, as `NAMESPACE/NAME`.
    PullSecret(ClusterName),
    /// A key of a Secret of the cluster that holds `user:password`, as `NAMESPACE/NAME#KEY`.
    Secret(SecretKey),
    /// The pull secrets of a ServiceAccount of the cluster, as `NAMESPACE/NAME`.
    ServiceAccount(ClusterName),
    /// A cloud that knows this workload: only for its own registries.
    Provider(Provider),
}

/// A cloud.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq, Hash)]
#[serde(rename_all = "lowercase")]
pub enum Provider {
    /// Amazon's, for Elastic Container Registry.
    Aws,
    /// Google's, for Artifact Registry.
    Gcp,
    /// Microsoft's, for Azure Container Registry.
    Azure,
}

/// An object of the cluster, as `NAMESPACE/NAME`.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(try_from = "String")]
pub struct ClusterName(pub Named);

/// A key of a Secret of the cluster, as `NAMESPACE/NAME#KEY`.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(try_from = "String")]
pub struct SecretKey {
    /// The Secret.
    pub secret: Named,
    /// The key.
    pub key: String,
}

impl Credentials {
    /// With its file looked for in a folder; programs are where the machine has them.
    pub(super) fn within(self, folder: &Path) -> Self {
        match self {
            Self::File(path) => Self::File(within(folder, path)),
            Self::DockerConfig(path) => Self::DockerConfig(within(folder, path)),
            other => other,
        }
    }

    /// Returns true if they are of this program: what it is told by its surroundings, a file, or a program that it runs.
    pub(crate) fn is_local(&self) -> bool {
        !matches!(self, Self::Provider(_)) && self.in_cluster().is_none()
    }

    /// The object of a cluster that they are kept in, if they are.
    pub(crate) fn in_cluster(&self) -> Option<&Named> {
        match self {
            Self::PullSecret(name) | Self::ServiceAccount(name) => Some(&name.0),
            Self::Secret(key) => Some(&key.secret),
            Self::Env(_) | Self::File(_) | Self::DockerConfig(_) | Self::Command(_) | Self::Provider(_) => {
                None
            }
        }
    }

    /// The pull secret of a namespace.
    pub(crate) fn pull_secret(namespace: &str, name: &str) -> Self {
        Self::PullSecret(ClusterName(Named { namespace: namespace.to_owned(), name: name.to_owned() }))
    }
}

impl Provider {
    /// As it is written.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Aws => "aws",
            Self::Gcp => "gcp",
            Self::Azure => "azure",
        }
    }

    /// The cloud.
    #[must_use]
    pub fn cloud(self) -> Cloud {
        match self {
            Self::Aws => Cloud::Aws,
            Self::Gcp => Cloud::Gcp,
            Self::Azure => Cloud::Azure,
        }
    }
}

impl TryFrom<String> for ClusterName {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        named(&text).map(Self).ok_or("this is written as `NAMESPACE/NAME`")
    }
}

impl TryFrom<String> for SecretKey {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let parts = text.split_once('#').filter(|(_, key)| !key.is_empty());
        let key = parts.and_then(|(secret, key)| Some(Self { secret: named(secret)?, key: key.to_owned() }));
        key.ok_or("this is written as `NAMESPACE/NAME#KEY`")
    }
}

fn named(text: &str) -> Option<Named> {
    let (namespace, name) = text.split_once('/')?;
    let is_name = |text: &str| {
        let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-.".contains(&byte);
        !text.is_empty() && text.bytes().all(is_allowed)
    };
    let named = || Named { namespace: namespace.to_owned(), name: name.to_owned() };
    (is_name(namespace) && is_name(name)).then(named)
}

impl fmt::Display for ClusterName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.secret, self.key)
    }
}

impl JsonSchema for ClusterName {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "ClusterName".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^[A-Za-z0-9.-]+/[A-Za-z0-9.-]+$" })
    }
}

impl JsonSchema for SecretKey {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "SecretKey".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^[A-Za-z0-9.-]+/[A-Za-z0-9.-]+#.+$" })
    }
}

#[cfg(test)]
mod tests {
    use yamlserde::YamlFile;

    use super::*;

    #[test]
    fn names_in_a_cluster_have_their_namespace() {
        let id = |namespace: &str, name: &str| Named { namespace: namespace.into(), name: name.into() };
        let name = |text: &str| ClusterName::try_from(text.to_owned()).ok().map(|name| name.0);
        assert_eq!(name("ns/a.b"), Some(id("ns", "a.b")));
        for wrong in ["a", "/a", "ns/", "ns/a/b", "ns/a#b", "ns/a b", "", "ns/../a"] {
            assert_eq!(name(wrong), None, "{wrong}");
        }
        let key = SecretKey::try_from("ns/a#user:password".to_owned()).unwrap();
        assert_eq!((key.secret.clone(), key.to_string()), (id("ns", "a"), "ns/a#user:password".to_owned()));
        for wrong in ["ns/a", "ns/a#", "a#b"] {
            assert!(SecretKey::try_from(wrong.to_owned()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn each_kind_is_read_and_a_fault_has_its_place() {
        let read = |text: &str| YamlFile::new("x.yaml", text).read::<Credentials>();
        assert_eq!(read("pullSecret: ns/a\n").unwrap(), Credentials::pull_secret("ns", "a"));
        assert_eq!(read("provider: gcp\n").unwrap(), Credentials::Provider(Provider::Gcp));
        let account = read("serviceAccount: ns/default\n").unwrap();
        assert_eq!(account.in_cluster().unwrap().name, "default");
        assert_eq!(read("secret: ns/a#login\n").unwrap().in_cluster().unwrap().name, "a");
        for (text, want) in [
            ("pullSecret: a\n", "`NAMESPACE/NAME`"),
            ("secret: ns/a\n", "`NAMESPACE/NAME#KEY`"),
            ("provider: ibm\n", "expected one of `aws`, `gcp`, `azure`"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.message().contains(want), "{error}");
            assert_eq!(error.location().unwrap().line_column().0, 1, "{error}");
        }
    }
}
