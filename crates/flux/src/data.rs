//! Reads the data of ConfigMaps and Secrets.
//!
//! In: a reference, and what is known of the cluster. Out: its data, or that it is encrypted or not here. Refused: what is
//! not here and no Secret, unless it is optional.

use std::collections::BTreeMap;

use argocd::objects::Object;
use diagnostic::{Error, Result};
use yamltree::{Dialect, Resolved};

use crate::known::Lookup;
use crate::kustomization::Reference;
use crate::warning::{Code, Warning};

/// The known data of a ConfigMap or Secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Data {
    /// All of it.
    Plain(BTreeMap<String, Vec<u8>>),
    /// Its keys.
    Encrypted(Vec<String>),
    /// Nothing: a Secret that may be in the cluster.
    Missing,
    /// It is not there, and need not be.
    Absent,
}

/// The data of a ConfigMap or Secret.
pub(crate) fn of(
    reference: &Reference,
    namespace: &str,
    known: &Lookup<'_>,
    warnings: &mut Vec<Warning>,
) -> Result<Data> {
    let Reference { kind, name, optional, place } = reference;
    if !matches!(kind.as_str(), "ConfigMap" | "Secret") {
        return Err(Error::invalid(format!(
            "values come from a ConfigMap or a Secret, and not from a {kind}"
        ))
        .at(place.clone()));
    }
    let Some(object) = known.get("", kind, namespace, name) else {
        let message = format!("no {kind} `{namespace}/{name}` found in the repository");
        return match (optional, kind.as_str()) {
            (true, "ConfigMap") => Ok(Data::Absent),
            (_, "Secret") => {
                let warning = Warning::new(Code::MissingSecret, message).at(place.clone());
                warnings.push(warning.hint("what comes from it stays as it is written, or is left out"));
                Ok(Data::Missing)
            }
            _ => Err(Error::invalid(message)
                .at(place.clone())
                .hint("add it, or say `optional: true` if it may be missing")),
        };
    };
    if is_encrypted(object) {
        let message = format!("the Secret `{namespace}/{name}` is encrypted with SOPS");
        let warning = Warning::new(Code::Encrypted, message).at(place.clone());
        warnings.push(warning.hint("what comes from it stays as it is written, or is left out"));
        let keys = ["data", "stringData"].iter().filter_map(|field| object.node().get(field)?.entries());
        let keys = keys.flatten().filter_map(|entry| entry.key.text().map(str::to_owned));
        return Ok(Data::Encrypted(keys.collect()));
    }
    plain(object).map(Data::Plain)
}

/// Returns true if a Secret is one that SOPS has encrypted.
pub(crate) fn is_encrypted(object: &Object) -> bool {
    object.kind() == "Secret" && object.api_version() == "v1" && object.node().get("sops").is_some()
}

/// The data as the API server would give it: a Secret's `stringData` comes over its `data`.
fn plain(object: &Object) -> Result<BTreeMap<String, Vec<u8>>> {
    let is_secret = object.kind() == "Secret";
    let fields: &[&str] = if is_secret { &["data", "stringData"] } else { &["data"] };
    let mut data = BTreeMap::new();
    for field in fields {
        for entry in object.node().get(field).and_then(|node| node.entries()).into_iter().flatten() {
            let key = entry.key.text().unwrap_or_default();
            let text = match entry.value.resolved(Dialect::V2) {
                Ok(Resolved::Null) => "",
                Ok(Resolved::Str | Resolved::Timestamp(_)) => entry.value.text().unwrap_or_default(),
                _ => {
                    let error = Error::invalid(format!("`{field}.{key}` of {object} must be a string"));
                    return Err(error.at(object.place_of(&entry.value)).hint("quote it"));
                }
            };
            let bytes = match (is_secret, *field) {
                (true, "data") => gostd::base64::decode(text.as_bytes()).map_err(|_| {
                    Error::invalid(format!("`data.{key}` of {object} is not valid base64"))
                        .at(object.place_of(&entry.value))
                        .hint("plain text goes into `stringData`")
                })?,
                _ => text.as_bytes().to_vec(),
            };
            data.insert(key.to_owned(), bytes);
        }
    }
    Ok(data)
}
