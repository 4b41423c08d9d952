//! Findings that somebody has said are meant.
//!
//! In: comments (`# renderer-lint: ignore LINT004 why`, on the line or the lines right above) and annotations of objects
//! (`renderer/lint-ignore: LINT004, LINT005`). Out: whether a finding is suppressed, and which of them suppress nothing.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use argocd::objects::Object;
use findings::{Finding, Severity};
use yamltree::{Location, Source, Span};

use crate::builder::{FindingBuilder, titled};
use crate::input::Manifests;
use crate::rules::{self, Check, UNUSED_SUPPRESSION};

/// The annotation by which an object suppresses findings about it.
const ANNOTATION: &str = "renderer/lint-ignore";

/// Prefix of a suppressing comment.
const MARK: &str = "renderer-lint: ignore";

/// All of a set.
pub(crate) struct Suppressions<'s> {
    all: Vec<Suppression<'s>>,
    /// Comments by file and the line that they are for.
    by_line: HashMap<(String, usize), Vec<usize>>,
    /// Annotations by where their object is in memory.
    by_object: HashMap<*const Object, Vec<usize>>,
}

/// One code that is suppressed at one place.
struct Suppression<'s> {
    code: String,
    location: Option<Location>,
    object: Option<&'s Object>,
    target: usize,
    target_name: &'s str,
    is_used: bool,
}

impl<'s> Suppressions<'s> {
    pub(crate) fn of(set: &'s Manifests) -> Self {
        let mut found = Self { all: Vec::new(), by_line: HashMap::new(), by_object: HashMap::new() };
        let mut seen_lists = HashSet::new();
        let mut seen_files = HashSet::new();
        for (target, it) in set.targets.iter().enumerate() {
            let own = it.deployment.as_ref().map(|deployment| &deployment.object);
            for object in it.objects.iter().chain(own) {
                found.annotation(object, target, &it.name);
                // All objects of a target may share one long list.
                if seen_lists.insert(Arc::as_ptr(object.sources()).cast::<()>()) {
                    for source in object.sources().iter() {
                        if source.text.contains(MARK) && seen_files.insert(source.name.clone()) {
                            found.comments(source, target, &it.name);
                        }
                    }
                }
            }
        }
        found
    }

    /// Returns true if a finding is suppressed, and marks the suppression as used.
    pub(crate) fn cover(&mut self, check: &Check, draft: &FindingBuilder<'_>) -> bool {
        let of_object = draft.object.and_then(|object| self.by_object.get(&std::ptr::from_ref(object)));
        let of_line = draft.location.as_ref().and_then(|place| {
            let (line, _) = place.source.line_column(place.span.start);
            self.by_line.get(&(place.source.name.clone(), line))
        });
        let candidates: Vec<usize> = of_object.into_iter().chain(of_line).flatten().copied().collect();
        let mut is_covered = false;
        for at in candidates {
            if check.is_called(&self.all[at].code) {
                self.all[at].is_used = true;
                is_covered = true;
            }
        }
        is_covered
    }

    /// A note for each that suppresses nothing, but for those of rules that are off.
    pub(crate) fn unused(self, is_enabled: &impl Fn(&Check) -> bool) -> Vec<(usize, Finding)> {
        let unused = self.all.into_iter().filter(|suppression| !suppression.is_used);
        let finding = |suppression: Suppression<'_>| {
            let code = &suppression.code;
            let message = match rules::find(code) {
                Some(check) if !is_enabled(check) => return None,
                Some(_) => format!("`{code}` is suppressed here without effect"),
                None => format!("unknown rule `{code}` is suppressed here"),
            };
            let finding = Finding {
                rule: UNUSED_SUPPRESSION.rule,
                severity: Severity::Note,
                message,
                hint: Some(UNUSED_SUPPRESSION.fix.to_owned()),
                location: suppression.location,
                object: suppression.object.map(titled),
                field: None,
                target: suppression.target_name.to_owned(),
            };
            Some((suppression.target, finding))
        };
        unused.filter_map(finding).collect()
    }

    fn annotation(&mut self, object: &'s Object, target: usize, target_name: &'s str) {
        for code in object.annotation(ANNOTATION).map(codes).unwrap_or_default() {
            let location = object.annotation_place(ANNOTATION);
            self.by_object.entry(std::ptr::from_ref(object)).or_default().push(self.all.len());
            self.all.push(Suppression {
                code,
                location,
                object: Some(object),
                target,
                target_name,
                is_used: false,
            });
        }
    }

    fn comments(&mut self, source: &Arc<Source>, target: usize, target_name: &'s str) {
        let lines: Vec<&str> = source.text.split('\n').collect();
        let mut offset = 0;
        for (at, line) in lines.iter().enumerate() {
            let start = offset;
            offset += line.len() + 1;
            let Some((before, rest)) = line.split_once(MARK) else { continue };
            let Some(content) = before.trim_end().strip_suffix('#') else { continue };
            let covered = if content.trim().is_empty() { next_content(&lines, at + 1) } else { Some(at) };
            let begin = u32::try_from(start + content.len()).unwrap_or(u32::MAX);
            let end = u32::try_from(start + line.len()).unwrap_or(u32::MAX);
            for code in codes(rest) {
                if let Some(covered) = covered {
                    let key = (source.name.clone(), covered + 1);
                    self.by_line.entry(key).or_default().push(self.all.len());
                }
                let span = Span { source: 0, start: begin, end };
                let location = Some(Location { source: Arc::clone(source), span });
                self.all.push(Suppression {
                    code,
                    location,
                    object: None,
                    target,
                    target_name,
                    is_used: false,
                });
            }
        }
    }
}

/// Returns the first line at or after a line that is not a comment.
fn next_content(lines: &[&str], from: usize) -> Option<usize> {
    (from..lines.len()).find(|at| !lines[*at].trim_start().starts_with('#'))
}

/// The codes that a text begins with, between commas or blanks; what follows is the reason.
fn codes(text: &str) -> Vec<String> {
    let words = text.split([',', ' ', '\t', '\r']).filter(|word| !word.is_empty());
    let is_code = |word: &&str| rules::find(word).is_some() || word.starts_with("LINT");
    words.take_while(is_code).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_end_where_the_reason_begins() {
        assert_eq!(codes(" LINT004 seen by LINT005"), ["LINT004"]);
        assert_eq!(codes(" LINT004, literal-secret,LINT999 why"), ["LINT004", "literal-secret", "LINT999"]);
        assert!(codes(" because").is_empty());
    }

    #[test]
    fn a_comment_is_for_the_next_line_that_is_none() {
        assert_eq!(next_content(&["# a", "  # b", "c: 1"], 0), Some(2));
        assert_eq!(next_content(&["# a"], 0), None);
    }
}
