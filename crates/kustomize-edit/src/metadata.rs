//! `edit add|set|remove label|annotation`: `commonLabels`, `labels` and `commonAnnotations`.

use diagnostic::{Error, Result};
use yamledit::Content;

use crate::fields::{self, Fields};
use crate::kustomization::Kustomization;

/// Keys with their values, in the order in which they were given.
pub type Pairs = Vec<(String, String)>;

/// The options for adding labels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AddLabels {
    /// True if a label that is there may get another value.
    pub force: bool,
    /// True if selectors stay without them.
    pub without_selector: bool,
    /// True if templates get them, where selectors do not.
    pub include_templates: bool,
}

impl Kustomization<'_> {
    /// Adds labels: to `commonLabels`, or without selectors to the first entry of `labels` that is of this way.
    ///
    /// # Errors
    /// If there is none, or one is there already and may not be overwritten.
    pub fn add_labels(&mut self, how: AddLabels, labels: &Pairs) -> Result<()> {
        check_any(labels, "label")?;
        if how.include_templates && !how.without_selector {
            return Err(Error::invalid(
                "--without-selector flag must be specified for --include-templates to work",
            ));
        }
        let known = if how.without_selector {
            let entry = label_entry(fields::list(&mut self.fields, "labels"), how.include_templates);
            fields::mapping(entry, "pairs")
        } else {
            fields::mapping(&mut self.fields, "commonLabels")
        };
        add(known, labels, "label", how.force)
    }

    /// Adds annotations to `commonAnnotations`.
    ///
    /// # Errors
    /// If there is none, or one is there already and may not be overwritten.
    pub fn add_annotations(&mut self, force: bool, annotations: &Pairs) -> Result<()> {
        check_any(annotations, "annotation")?;
        add(fields::mapping(&mut self.fields, "commonAnnotations"), annotations, "annotation", force)
    }

    /// Sets labels in `commonLabels`.
    ///
    /// # Errors
    /// If there is none.
    pub fn set_labels(&mut self, labels: &Pairs) -> Result<()> {
        check_any(labels, "label")?;
        add(fields::mapping(&mut self.fields, "commonLabels"), labels, "label", true)
    }

    /// Sets annotations in `commonAnnotations`.
    ///
    /// # Errors
    /// If there is none, or a key is none of Kubernetes'.
    pub fn set_annotations(&mut self, annotations: &Pairs) -> Result<()> {
        check_any(annotations, "annotation")?;
        if !annotations.iter().all(|(key, _)| is_key(key)) {
            return Err(Error::invalid(
                "invalid annotation key: see the syntax and character set rules at \
                 https://kubernetes.io/docs/concepts/overview/working-with-objects/annotations/",
            ));
        }
        add(fields::mapping(&mut self.fields, "commonAnnotations"), annotations, "annotation", true)
    }

    /// Removes labels from `commonLabels`.
    ///
    /// # Errors
    /// If one is not there and that may not be ignored.
    pub fn remove_labels(&mut self, keys: &[impl AsRef<str>], ignore_missing: bool) -> Result<()> {
        self.remove_metadata("commonLabels", "label", keys, ignore_missing)
    }

    /// Removes annotations from `commonAnnotations`.
    ///
    /// # Errors
    /// If one is not there and that may not be ignored.
    pub fn remove_annotations(&mut self, keys: &[impl AsRef<str>], ignore_missing: bool) -> Result<()> {
        self.remove_metadata("commonAnnotations", "annotation", keys, ignore_missing)
    }

    fn remove_metadata(
        &mut self,
        field: &str,
        kind: &str,
        keys: &[impl AsRef<str>],
        ignore_missing: bool,
    ) -> Result<()> {
        if fields::get(&self.fields, field).is_none() {
            let missing = || Err(Error::invalid(format!("{field} is not defined in kustomization file")));
            return if ignore_missing { Ok(()) } else { missing() };
        }
        let known = fields::mapping(&mut self.fields, field);
        for key in keys.iter().map(AsRef::as_ref) {
            let at = known.iter().position(|(known, _)| known == key);
            match at {
                Some(at) => drop(known.remove(at)),
                None if ignore_missing => {}
                None => {
                    return Err(Error::invalid(format!("{kind} {key} is not defined in kustomization file")));
                }
            }
        }
        fields::drop_empty(&mut self.fields, field);
        Ok(())
    }
}

/// Reads labels as `kustomize edit add label` takes them: `KEY:VALUE` or `KEY`; a value may stand in double quotes. Of
/// two for one key the last counts.
///
/// # Errors
/// If there is a value without a key.
pub fn parse_labels(arguments: &[impl AsRef<str>]) -> Result<Pairs> {
    parse_pairs(arguments, "label")
}

/// Reads annotations as [`parse_labels`] does labels.
///
/// # Errors
/// If there is a value without a key.
pub fn parse_annotations(arguments: &[impl AsRef<str>]) -> Result<Pairs> {
    parse_pairs(arguments, "annotation")
}

fn parse_pairs(arguments: &[impl AsRef<str>], kind: &str) -> Result<Pairs> {
    let mut pairs = Pairs::new();
    for argument in arguments.iter().map(AsRef::as_ref) {
        let (key, value) = argument.split_once(':').unwrap_or((argument, ""));
        if key.is_empty() && argument.starts_with(':') {
            return Err(Error::invalid(format!(
                "invalid {kind}: '{argument}' (need k:v pair where v may be quoted)"
            )));
        }
        let unquoted = value.strip_prefix('"').and_then(|value| value.strip_suffix('"'));
        let value = unquoted.unwrap_or(value).to_owned();
        match pairs.iter_mut().find(|(known, _)| known == key) {
            Some((_, known)) => *known = value,
            None => pairs.push((key.to_owned(), value)),
        }
    }
    Ok(pairs)
}

fn check_any(pairs: &Pairs, kind: &str) -> Result<()> {
    if pairs.is_empty() { Err(Error::invalid(format!("must specify {kind}"))) } else { Ok(()) }
}

fn add(known: &mut Fields, pairs: &Pairs, kind: &str, force: bool) -> Result<()> {
    for (key, value) in pairs {
        match known.iter_mut().find(|(known, _)| known == key) {
            Some((_, known)) if force => *known = Content::String(value.clone()),
            Some(_) => {
                let sentence =
                    format!("{kind} {key} already in kustomization file. Use --force to override.");
                return Err(Error::invalid(sentence));
            }
            None => known.push((key.clone(), Content::String(value.clone()))),
        }
    }
    Ok(())
}

/// The first entry of `labels` that leaves selectors alone and does the same to templates.
fn label_entry(labels: &mut Vec<Content>, include_templates: bool) -> &mut Fields {
    let is_alike = |item: &Content| {
        let entries = fields::entries(item);
        !fields::is_on(entries, "includeSelectors")
            && fields::is_on(entries, "includeTemplates") == include_templates
            && matches!(item, Content::Mapping(_))
    };
    let at = labels.iter().position(is_alike).unwrap_or_else(|| {
        let templates = include_templates.then(|| ("includeTemplates".to_owned(), Content::Bool(true)));
        labels.push(Content::Mapping(templates.into_iter().collect()));
        labels.len() - 1
    });
    fields::entries_mut(&mut labels[at]).expect("it was made, or found to be, a mapping")
}

/// Returns true if a key is one of Kubernetes': a name of 63 characters, behind a prefix and a slash or not.
fn is_key(key: &str) -> bool {
    let is_within = |text: &str, length: usize, inner: &[u8]| {
        let bytes = text.as_bytes();
        let is_inner = |byte: &u8| byte.is_ascii_alphanumeric() || inner.contains(byte);
        bytes.len() <= length
            && bytes.first().is_some_and(u8::is_ascii_alphanumeric)
            && bytes.last().is_some_and(u8::is_ascii_alphanumeric)
            && bytes.iter().all(is_inner)
    };
    match key.split_once('/') {
        Some((prefix, name)) => {
            prefix.starts_with(|first: char| first.is_ascii_alphabetic())
                && is_within(prefix, 253, b"-.")
                && is_within(name, 63, b"-_.")
        }
        None => is_within(key, 63, b"-_."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_split_at_the_first_colon() {
        let pairs = parse_pairs(&["a:b:c", "d", "e:\"f\"", "a:\"", "g:"], "label").unwrap();
        let wanted = [("a", "\""), ("d", ""), ("e", "f"), ("g", "")];
        assert_eq!(pairs, wanted.map(|(key, value)| (key.to_owned(), value.to_owned())));
        assert_eq!(
            parse_pairs(&[":a"], "label").unwrap_err().message(),
            "invalid label: ':a' (need k:v pair where v may be quoted)"
        );
    }

    #[test]
    fn keys_are_those_of_kubernetes() {
        for key in ["a", "a.b/c_d-e.f", "A0/0", "9"] {
            assert!(is_key(key), "{key}");
        }
        for key in ["", "/a", "a/", "-a", "a-", "9/a", "a/b/c", "a b", &"a".repeat(64)] {
            assert!(!is_key(key), "{key}");
        }
    }
}
