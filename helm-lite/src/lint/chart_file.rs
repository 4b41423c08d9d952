//! The checks of `Chart.yaml`.
//!
//! In: the file. Out: what is wrong with it, in Helm's words and order. Rules that need a file which can be read are
//! skipped where it cannot.

use gostd::quoted;
use gotemplate::semver::{Constraints, Version};
use yamltree::{Dialect, DuplicateKeys, Expansion, JsonOptions, Node, ParseOptions, Resolved, to_json};

use super::addresses::{is_email, is_request_url, is_url};
use super::{Message, Severity};
use crate::chart::{shape, text};

const FILE: &str = "Chart.yaml";

/// Adds what is wrong with the file.
pub(super) fn lint(data: &[u8], messages: &mut Vec<Message>) {
    let text = String::from_utf8_lossy(data);
    let mut say = |severity, text: Option<String>| {
        messages.extend(text.map(|text| Message { severity, path: FILE.to_owned(), text }));
    };
    let raw = match read(&text, DuplicateKeys::KeepLast) {
        Ok(raw) => raw,
        Err(reason) => return say(Severity::Error, Some(format!("unable to parse YAML\n\t{reason}"))),
    };
    let mut node = raw.clone();
    if let Err(misfit) = shape::fit(&mut node, &shape::REQUIREMENTS) {
        let reason = format!("error unmarshaling JSON: while decoding JSON: {}", misfit.message);
        return say(Severity::Error, Some(format!("unable to parse YAML\n\t{reason}")));
    }
    say(Severity::Warning, strictly(&text, &node));
    say(Severity::Error, name(&node));
    say(Severity::Error, generation(&node));
    say(Severity::Error, not_a_string(&raw, "version"));
    say(Severity::Error, version(&node));
    say(Severity::Error, not_a_string(&raw, "appVersion"));
    say(Severity::Error, maintainers(&node));
    say(Severity::Error, sources(&node));
    let icon = field(&node, "icon");
    say(Severity::Info, icon.is_empty().then(|| "icon is recommended".to_owned()));
    let is_wrong = !icon.is_empty() && !is_request_url(&icon);
    say(Severity::Error, is_wrong.then(|| format!("invalid icon URL '{icon}'")));
    say(Severity::Error, only_in_v2(&node));
    say(Severity::Error, dependencies_in_v1(&node));
    say(Severity::Warning, strict_version(&node));
}

/// The first document as Go reads it, or Go's words.
fn read(text: &str, duplicate_keys: DuplicateKeys) -> Result<Node, String> {
    let refused = |error: yamltree::Error| format!("error converting YAML to JSON: {}", error.go_text());
    let options = ParseOptions { dialect: Dialect::V2, duplicate_keys, ..ParseOptions::default() };
    let Some(document) = yamltree::parse_first(text, 0, &options).map_err(refused)? else {
        return Ok(Node::null());
    };
    let mut root = document.root;
    root.expand_aliases(Expansion::Decoded(Dialect::V2))
        .and_then(|()| to_json(&root, JsonOptions::SIGS, &mut String::new()))
        .map_err(refused)?;
    Ok(root)
}

fn strictly(text: &str, node: &Node) -> Option<String> {
    let reason = match read(text, DuplicateKeys::Refuse) {
        Err(reason) => reason,
        Ok(_) => {
            let field = shape::unknown(node, &shape::REQUIREMENTS)?;
            format!(
                "error unmarshaling JSON: while decoding JSON: json: unknown field {}",
                quoted(field.as_bytes())
            )
        }
    };
    Some(format!("failed to strictly parse chart metadata file\n\t{reason}"))
}

fn field(node: &Node, key: &str) -> String {
    text(node, key)
}

fn items<'n>(node: &'n Node, key: &str) -> &'n [Node] {
    node.get(key).and_then(Node::items).map(Vec::as_slice).unwrap_or_default()
}

fn name(node: &Node) -> Option<String> {
    let name = field(node, "name");
    if name.is_empty() {
        return Some("name is required".to_owned());
    }
    name.contains('/').then(|| format!("chart name {} is invalid", quoted(name.as_bytes())))
}

fn generation(node: &Node) -> Option<String> {
    let wanted = "The value must be either \"v1\" or \"v2\"";
    match field(node, "apiVersion").as_str() {
        "v1" | "v2" => None,
        "" => Some(format!("apiVersion is required. {wanted}")),
        other => Some(format!("apiVersion '{other}' is not valid. {wanted}")),
    }
}

/// A version that is no string loses digits: `1.10` is `1.1`.
fn not_a_string(raw: &Node, key: &str) -> Option<String> {
    let found = match raw.get(key)?.resolved(Dialect::V2) {
        Ok(Resolved::Null) => "<nil>",
        Ok(Resolved::Bool(_)) => "bool",
        Ok(Resolved::Int(_) | Resolved::Uint(_) | Resolved::Float(_)) => "float64",
        _ => return None,
    };
    Some(format!("{key} should be of type string but it's of type {found}"))
}

fn version(node: &Node) -> Option<String> {
    let text = field(node, "version");
    if text.is_empty() {
        return Some("version is required".to_owned());
    }
    let Ok(version) = Version::parse(&text) else {
        return Some(format!("version '{text}' is not a valid SemVer"));
    };
    let is_above = Constraints::parse(">0.0.0-0").is_ok_and(|constraints| constraints.check(&version));
    (!is_above).then(|| format!("version {} is less than or equal to \"0.0.0-0\"", quoted(text.as_bytes())))
}

fn strict_version(node: &Node) -> Option<String> {
    let text = field(node, "version");
    Version::parse_strict(&text).is_err().then(|| format!("version '{text}' is not a valid SemVerV2"))
}

fn maintainers(node: &Node) -> Option<String> {
    items(node, "maintainers").iter().find_map(|maintainer| {
        if !maintainer.is_mapping() {
            return Some("a maintainer entry is empty".to_owned());
        }
        let [name, email, url] = ["name", "email", "url"].map(|key| field(maintainer, key));
        if name.is_empty() {
            return Some("each maintainer requires a name".to_owned());
        }
        if !email.is_empty() && !is_email(&email) {
            return Some(format!("invalid email '{email}' for maintainer '{name}'"));
        }
        (!url.is_empty() && !is_url(&url)).then(|| format!("invalid url '{url}' for maintainer '{name}'"))
    })
}

fn sources(node: &Node) -> Option<String> {
    let mut sources = items(node, "sources").iter().map(|source| source.text().unwrap_or_default());
    sources.find(|source| !is_request_url(source)).map(|source| format!("invalid source URL '{source}'"))
}

fn only_in_v2(node: &Node) -> Option<String> {
    let generation = field(node, "apiVersion");
    (!field(node, "type").is_empty() && generation != "v2").then(|| {
        format!("chart type is not valid in apiVersion '{generation}'. It is valid in apiVersion 'v2'")
    })
}

fn dependencies_in_v1(node: &Node) -> Option<String> {
    let generation = field(node, "apiVersion");
    (!items(node, "dependencies").is_empty() && generation != "v2").then(|| {
        format!(
            "dependencies are not valid in the Chart file with apiVersion '{generation}'. They are valid in apiVersion 'v2'"
        )
    })
}
