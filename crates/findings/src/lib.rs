//! Findings of linters and validators, in formats for CI systems and code hosts.
//!
//! Input: [`Finding`]s. Output: a report in one of [`FORMATS`]. A report contains no more of a manifest than the messages do.

mod annotations;
mod gitlab;
mod json;
mod junit;
mod sarif;

use std::fmt;

use serde::Serialize;
use yamltree::Location;

/// A finding.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The rule that it breaks.
    pub rule: &'static Rule,
    /// The severity.
    pub severity: Severity,
    /// The message.
    pub message: String,
    /// The hint: what to do about it.
    pub hint: Option<String>,
    /// The location, if known.
    pub location: Option<Location>,
    /// The object concerned: `Deployment shop/web`.
    pub object: Option<String>,
    /// The field concerned: `spec.replicas`.
    pub field: Option<String>,
    /// The rendered target: an Application, a directory, a file.
    pub target: String,
}

/// A rule that objects can break.
#[derive(Debug, PartialEq, Eq)]
pub struct Rule {
    /// The stable code: `LINT001`.
    pub code: &'static str,
    /// The name: `replicas-under-autoscaler`.
    pub name: &'static str,
    /// The reason for the rule, in a sentence.
    pub meaning: &'static str,
}

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Information.
    Note,
    /// It is surely not meant.
    Warning,
    /// It will not work.
    Error,
}

impl Severity {
    /// The word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A format of findings.
#[derive(Debug)]
pub struct Format {
    /// Its name on a command line.
    pub name: &'static str,
    /// Writes findings about targets that were looked at.
    pub write: fn(&Report<'_>) -> String,
}

/// Findings, and what was looked at.
#[derive(Clone, Copy, Debug)]
pub struct Report<'f> {
    /// The program's version.
    pub version: &'f str,
    /// All that was looked at, also where nothing was found.
    pub targets: &'f [String],
    /// The findings.
    pub findings: &'f [Finding],
}

/// The formats for programs. What people read is the caller's.
pub const FORMATS: &[Format] = &[
    Format { name: "json", write: json::write },
    Format { name: "sarif", write: sarif::write },
    Format { name: "junit", write: junit::write },
    Format { name: "github", write: annotations::write },
    Format { name: "gitlab", write: gitlab::write },
];

/// Path, line and column of a finding.
fn position(finding: &Finding) -> Option<(&str, usize, usize)> {
    let place = finding.location.as_ref()?;
    let (line, column) = place.source.line_column(place.span.start);
    Some((&place.source.name, line, column))
}

/// The sentence with what it is about and what to do.
fn sentence(finding: &Finding) -> String {
    let mut text = String::new();
    for part in [&finding.object, &finding.field].into_iter().flatten() {
        text.push_str(part);
        text.push_str(": ");
    }
    text.push_str(&finding.message);
    if let Some(hint) = &finding.hint {
        text.push_str("; ");
        text.push_str(hint);
    }
    text
}

/// As JSON with an end of line.
fn to_json(value: &impl Serialize) -> String {
    // What is written has string keys only, which is all that could fail.
    let mut text = serde_json::to_string_pretty(value).unwrap_or_default();
    text.push('\n');
    text
}

#[cfg(test)]
mod testing {
    use std::sync::Arc;

    use yamltree::{Source, Span};

    use super::*;

    pub(crate) static RULE: Rule =
        Rule { code: "TEST001", name: "a-rule", meaning: "What the rule is about." };

    /// A finding with all it can have, and one with the least.
    pub(crate) fn findings() -> Vec<Finding> {
        let source = Arc::new(Source { name: "apps/web.yaml".to_owned(), text: "a: 1\nb: <2>\n".into() });
        let whole = Finding {
            rule: &RULE,
            severity: Severity::Error,
            message: "the <field> is 100% wrong".to_owned(),
            hint: Some("mend it".to_owned()),
            location: Some(Location { source, span: Span { source: 0, start: 8, end: 11 } }),
            object: Some("Deployment shop/web".to_owned()),
            field: Some("spec.b".to_owned()),
            target: "apps/web".to_owned(),
        };
        let least = Finding {
            rule: &RULE,
            severity: Severity::Note,
            message: "something".to_owned(),
            hint: None,
            location: None,
            object: None,
            field: None,
            target: "apps/db".to_owned(),
        };
        vec![whole, least]
    }

    pub(crate) fn written(write: fn(&Report<'_>) -> String) -> String {
        let targets = ["apps/db", "apps/fine", "apps/web"].map(str::to_owned);
        write(&Report { version: "1.2.3", targets: &targets, findings: &findings() })
    }
}
