//! The values of a HelmRelease (fluxcd/pkg/chartutil, `ChartValuesFromReferences`).
//!
//! In: its references and its own values. Out: values for its chart. References come in their order, and the release's own
//! values over them. What a `targetPath` sets comes over both, but not always, see [`is_shared`]. Refused: references to
//! what is not there, and values that are none.

use diagnostic::{Error, Result};
use helm_lite::HelmVersion;
use helm_lite::values::{self, Options, SetAs, Table, UserValues, ValuesFile};
use yamltree::JsonOptions;

use crate::data::{self, Data};
use crate::helm_release::{HelmRelease, ValuesReference};
use crate::known::Lookup;
use crate::warning::Warning;

const VERSION: HelmVersion = HelmVersion::V4;

/// The values that a chart is rendered with.
pub(crate) fn of(
    release: &HelmRelease,
    known: &Lookup<'_>,
    warnings: &mut Vec<Warning>,
) -> Result<UserValues> {
    let mut own = own(release)?;
    let mut all = UserValues::default();
    for from in &release.values_from {
        let Some(bytes) = content(from, release, known, warnings)? else { continue };
        let place = from.reference.place.clone();
        let name = format!("{} {}, {}", from.reference.kind, from.reference.name, from.key);
        if from.target_path.is_empty() {
            let given = read(&name, &bytes).map_err(|error| error.at(place))?;
            all.put_over(&given);
            continue;
        }
        let text = String::from_utf8(bytes)
            .map_err(|_| Error::invalid(format!("`{name}` is not valid UTF-8")).at(place.clone()))?;
        let (assignment, read_as) = assignment(from, &text);
        let is_shared = is_shared(&all.table, &own.table, &from.target_path);
        all.put_over(&own);
        for values in [&mut all, &mut own].into_iter().take(if is_shared { 2 } else { 1 }) {
            // The message of the parser may have the value in it, which may be a secret.
            values.set(&name, &assignment, read_as, VERSION).map_err(|_| {
                Error::invalid(format!("`{name}` cannot be set at `{}`", from.target_path)).at(place.clone())
            })?;
        }
    }
    all.put_over(&own);
    Ok(all)
}

fn own(release: &HelmRelease) -> Result<UserValues> {
    let Some(node) = &release.values else { return Ok(UserValues::default()) };
    let mut json = String::new();
    yamltree::to_json(node, JsonOptions::SIGS, &mut json)
        .map_err(|error| Error::invalid(format!("the values cannot be read: {}", error.message())))?;
    let name = format!("values of the HelmRelease {}", release.name);
    read(&name, json.as_bytes()).map_err(|error| error.at(release.place.clone()))
}

fn read(name: &str, bytes: &[u8]) -> Result<UserValues> {
    let files = [ValuesFile { name, data: bytes }];
    let options = Options { files: &files, ..Options::default() };
    values::merge(&options, VERSION).map_err(|error| Error::invalid(error.message()))
}

/// Returns what a reference leads to; `None` where it is optional and not there, or not known here.
fn content(
    from: &ValuesReference,
    release: &HelmRelease,
    known: &Lookup<'_>,
    warnings: &mut Vec<Warning>,
) -> Result<Option<Vec<u8>>> {
    let reference = &from.reference;
    let missing = || {
        let message = format!("the {} `{}` lacks the key `{}`", reference.kind, reference.name, from.key);
        Error::invalid(message).at(reference.place.clone())
    };
    match data::of(reference, &release.namespace, known, warnings)? {
        Data::Absent | Data::Missing => Ok(None),
        Data::Encrypted(keys) if keys.contains(&from.key) || reference.optional => Ok(None),
        Data::Encrypted(_) => Err(missing()),
        Data::Plain(mut data) => match data.remove(&from.key) {
            None if !reference.optional => {
                Err(missing().hint("name the key by `valuesKey`, or say `optional: true`"))
            }
            found => Ok(found),
        },
    }
}

/// `path=value` as `--set` and `--set-string` have it: in quotes a value is a text.
fn assignment(from: &ValuesReference, text: &str) -> (String, SetAs) {
    let path = &from.target_path;
    if from.is_literal {
        let mut escaped = String::with_capacity(text.len());
        for c in text.chars() {
            if matches!(c, '\\' | ',' | '[' | ']' | '{' | '}') {
                escaped.push('\\');
            }
            escaped.push(c);
        }
        return (format!("{path}={escaped}"), SetAs::Text);
    }
    let is_in = |quote: char| text.starts_with(quote) && text.ends_with(quote);
    if is_in('\'') || is_in('"') {
        return (format!("{path}={}", text.trim_matches(['\'', '"'])), SetAs::Text);
    }
    (format!("{path}={text}"), SetAs::Typed)
}

/// Returns true if Flux, when it sets a path, changes the release's own values too. It merges these in first, and a mapping of theirs
/// that stood nowhere before is then the very same one in both. At the end the own values are merged in again: they win
/// over what was set, unless they were changed with it.
fn is_shared(before: &Table, own: &Table, path: &str) -> bool {
    let names = names(path);
    let is_table =
        |table: &Table, path: &[&str]| table.lookup(path).is_some_and(|item| item.data.as_table().is_some());
    (1..names.len()).any(|length| {
        let path: Vec<&str> = names[..length].iter().map(String::as_str).collect();
        is_table(own, &path) && !is_table(before, &path)
    })
}

/// The names of a path up to its first index; the last one is that which is set.
fn names(path: &str) -> Vec<String> {
    let mut names = vec![String::new()];
    let mut rest = path.chars();
    while let Some(c) = rest.next() {
        match (c, names.last_mut()) {
            ('.', _) => names.push(String::new()),
            ('[', _) => break,
            ('\\', Some(name)) => name.extend(rest.next()),
            (c, Some(name)) => name.push(c),
            (_, None) => {}
        }
    }
    names
}
