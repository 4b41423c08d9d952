//! The schemas of Kubernetes' own kinds, which `update.py` made of its OpenAPI documents.

use std::collections::{BTreeMap, HashMap};
use std::io::Read as _;
use std::sync::Arc;

use serde::Deserialize;

use crate::Gvk;
use crate::schema::{Additional, Format, ListType, Schema, Type};

const ASSET: &[u8] = include_bytes!("schemas.json.gz");

/// The schemas of one minor version of Kubernetes.
#[derive(Debug)]
pub struct BuiltinSchemas {
    minors: Vec<String>,
    minor: usize,
    types: HashMap<Arc<str>, Schema>,
    /// The name of the type of each kind, and the bits of the minors that serve it.
    kinds: HashMap<Gvk, (Arc<str>, u32)>,
}

/// The support of a kind in a minor version of Kubernetes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Availability {
    /// The version serves it.
    Served,
    /// Removed; holds the last version that serves it.
    RemovedAfter(String),
    /// Not served yet; holds the first version that serves it.
    NotBefore(String),
    /// No known version of Kubernetes serves it.
    Unknown,
}

#[derive(Deserialize)]
struct Asset {
    minors: Vec<String>,
    types: Vec<AssetType>,
}

#[derive(Deserialize)]
struct AssetType {
    n: String,
    m: u32,
    s: Compact,
    #[serde(default)]
    g: Vec<(String, String, String)>,
}

/// A schema as `update.py` writes it.
#[derive(Default, Deserialize)]
struct Compact {
    t: Option<String>,
    f: Option<String>,
    p: Option<BTreeMap<String, Compact>>,
    #[serde(default)]
    r: Vec<String>,
    i: Option<Box<Compact>>,
    a: Option<Box<Compact>>,
    #[serde(rename = "$")]
    reference: Option<String>,
    l: Option<String>,
    #[serde(default)]
    k: Vec<String>,
}

impl BuiltinSchemas {
    /// The minor versions that schemas are built in for, the oldest first.
    #[must_use]
    pub fn minors() -> Vec<String> {
        asset().minors
    }

    /// The schemas of a version such as `1.34`, `v1.34.2` or `1.34+`; those of the newest where none is said.
    ///
    /// # Errors
    /// The version, where none are built in for it.
    pub fn for_version(version: Option<&str>) -> Result<Self, String> {
        let asset = asset();
        let minor = match version {
            None => asset.minors.len() - 1,
            Some(version) => {
                let wanted = minor_of(version);
                let found = asset.minors.iter().position(|minor| wanted.as_deref() == Some(minor));
                found.ok_or_else(|| version.to_owned())?
            }
        };
        let mut types = HashMap::new();
        let mut kinds: HashMap<Gvk, (Arc<str>, u32)> = HashMap::new();
        for entry in asset.types {
            let name: Arc<str> = Arc::from(entry.n);
            for (group, version, kind) in entry.g {
                let (_, served) =
                    kinds.entry(Gvk { group, version, kind }).or_insert_with(|| (Arc::clone(&name), 0));
                *served |= entry.m;
            }
            if entry.m & (1 << minor) != 0 {
                types.insert(name, Schema::from(entry.s));
            }
        }
        Ok(Self { minors: asset.minors, minor, types, kinds })
    }

    /// The minor version: `1.34`.
    #[must_use]
    pub fn minor(&self) -> &str {
        &self.minors[self.minor]
    }

    /// The schema of a kind that this version serves.
    #[must_use]
    pub fn kind(&self, gvk: &Gvk) -> Option<&Schema> {
        let (name, _) = self.kinds.get(gvk)?;
        self.types.get(name)
    }

    /// Returns the availability of a kind in this version.
    #[must_use]
    pub fn availability(&self, gvk: &Gvk) -> Availability {
        let Some((_, served)) = self.kinds.get(gvk) else { return Availability::Unknown };
        let serves = |minor: &usize| served & (1 << minor) != 0;
        if serves(&self.minor) {
            return Availability::Served;
        }
        if let Some(last) = (0..self.minor).rev().find(serves) {
            return Availability::RemovedAfter(self.minors[last].clone());
        }
        match (self.minor..self.minors.len()).find(serves) {
            Some(first) => Availability::NotBefore(self.minors[first].clone()),
            None => Availability::Unknown,
        }
    }

    /// The schema under a name that another refers to.
    pub(crate) fn named(&self, name: &str) -> Option<&Schema> {
        self.types.get(name)
    }

    /// Returns the schema of `metadata`.
    pub(crate) fn metadata(&self) -> Option<&Schema> {
        self.named("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta")
    }
}

/// The asset is part of the program: what is wrong with it, a test finds.
fn asset() -> Asset {
    let mut text = String::new();
    flate2::read::GzDecoder::new(ASSET).read_to_string(&mut text).expect("the asset is whole");
    serde_json::from_str(&text).expect("the asset is what update.py writes")
}

/// `1.34` of `v1.34.2`.
fn minor_of(version: &str) -> Option<String> {
    let mut parts = version.trim_start_matches('v').split('.');
    let major = parts.next()?;
    let minor: String = parts.next()?.chars().take_while(char::is_ascii_digit).collect();
    Some(format!("{major}.{minor}"))
}

impl From<Compact> for Schema {
    fn from(compact: Compact) -> Self {
        let kind = compact.t.as_deref().and_then(Type::named);
        let additional = match (&compact.p, compact.a) {
            (_, Some(inner)) => Additional::Schema(Box::new(Self::from(*inner))),
            (Some(_), None) => Additional::Refused,
            (None, None) => Additional::Any,
        };
        let list = match compact.l.as_deref() {
            Some("set") => ListType::Set,
            Some("map") => ListType::Map(compact.k),
            _ => ListType::Plain,
        };
        Self {
            kind,
            // As the API server decodes it, null is as if it were not there.
            is_nullable: true,
            properties: compact
                .p
                .unwrap_or_default()
                .into_iter()
                .map(|(name, inner)| (name, inner.into()))
                .collect(),
            additional,
            required: compact.r,
            items: compact.i.map(|inner| Box::new(Self::from(*inner))),
            list,
            format: compact.f.as_deref().and_then(Format::named),
            reference: compact.reference.map(Arc::from),
            is_resource: false,
            rules: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_six_minors_are_built_in() {
        let minors = BuiltinSchemas::minors();
        assert_eq!(minors.len(), 6);
        for minor in &minors {
            let schemas = BuiltinSchemas::for_version(Some(minor)).unwrap();
            assert_eq!(schemas.minor(), minor);
            for (api_version, kind) in [("apps/v1", "Deployment"), ("v1", "Secret"), ("batch/v1", "CronJob")]
            {
                assert!(schemas.kind(&Gvk::new(api_version, kind)).is_some(), "{minor}: {kind}");
            }
            // No schema refers to one that is not there.
            let mut todo: Vec<&Schema> = schemas.types.values().collect();
            while let Some(schema) = todo.pop() {
                if let Some(name) = &schema.reference {
                    assert!(schemas.named(name).is_some(), "{minor}: {name}");
                }
                todo.extend(schema.properties.values().chain(schema.items.as_deref()));
            }
        }
    }

    #[test]
    fn a_version_is_read_however_it_is_written() {
        let newest = BuiltinSchemas::minors().pop().unwrap();
        assert_eq!(BuiltinSchemas::for_version(None).unwrap().minor(), newest);
        for version in ["1.34", "v1.34.2", "1.34+", "1.34.0-eks-1"] {
            assert_eq!(BuiltinSchemas::for_version(Some(version)).unwrap().minor(), "1.34", "{version}");
        }
        assert_eq!(BuiltinSchemas::for_version(Some("1.3")).unwrap_err(), "1.3");
    }

    /// The beta of `ValidatingAdmissionPolicy` went with 1.34, in which `ResourceClaim` became stable.
    #[test]
    fn unserved_kinds_differ_from_unknown_ones() {
        let availability = |version: &str, api_version: &str, kind: &str| {
            BuiltinSchemas::for_version(Some(version)).unwrap().availability(&Gvk::new(api_version, kind))
        };
        assert_eq!(availability("1.34", "apps/v1", "Deployment"), Availability::Served);
        let claim = ("resource.k8s.io/v1", "ResourceClaim");
        assert_eq!(availability("1.33", claim.0, claim.1), Availability::NotBefore("1.34".to_owned()));
        let policy = ("admissionregistration.k8s.io/v1beta1", "ValidatingAdmissionPolicy");
        assert_eq!(availability("1.34", policy.0, policy.1), Availability::RemovedAfter("1.33".to_owned()));
        assert_eq!(availability("1.34", "example.com/v1", "Deployment"), Availability::Unknown);
    }
}
