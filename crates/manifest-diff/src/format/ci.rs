//! Formats of CI systems and code hosts: what a reviewer should look at, beside the lines that are to blame.
//!
//! They are those of the `findings` crate, which linters write too.

use findings::{Report, Severity};

use super::words::visible;
use super::{Format, FormatOptions};
use crate::model::{Finding, Level, Review};

pub(super) const SARIF: Format =
    Format { name: "sarif", about: "SARIF 2.1.0, for code scanning", extension: "sarif", write: sarif };

pub(super) const JUNIT: Format =
    Format { name: "junit", about: "JUnit's XML, a case for each target", extension: "xml", write: junit };

pub(super) const GITHUB: Format = Format {
    name: "github",
    about: "GitHub workflow commands, shown at lines",
    extension: "txt",
    write: github,
};

pub(super) const GITLAB: Format =
    Format { name: "gitlab", about: "GitLab's code quality report", extension: "json", write: gitlab };

fn sarif(review: &Review, _options: &FormatOptions) -> String {
    written("sarif", review)
}

fn junit(review: &Review, _options: &FormatOptions) -> String {
    written("junit", review)
}

fn github(review: &Review, _options: &FormatOptions) -> String {
    written("github", review)
}

fn gitlab(review: &Review, _options: &FormatOptions) -> String {
    written("gitlab", review)
}

fn written(name: &str, review: &Review) -> String {
    let format = findings::FORMATS.iter().find(|format| format.name == name);
    let targets: Vec<String> = review.targets.iter().map(|target| visible(&target.to_string())).collect();
    let found: Vec<_> = review.summary.findings.iter().map(translated).collect();
    let report = Report { version: env!("CARGO_PKG_VERSION"), targets: &targets, findings: &found };
    format.map(|format| (format.write)(&report)).unwrap_or_default()
}

fn translated(finding: &Finding) -> findings::Finding {
    let severity = match finding.level {
        Level::Error => Severity::Error,
        Level::Warning => Severity::Warning,
        Level::Note => Severity::Note,
    };
    findings::Finding {
        rule: finding.rule.described(),
        severity,
        message: finding.message.lines().map(visible).collect::<Vec<_>>().join("\n"),
        hint: None,
        location: finding.place.clone(),
        object: finding.object.as_ref().map(|object| visible(&object.to_string())),
        field: finding.path.as_deref().map(visible),
        target: visible(&finding.target),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_is_one_of_findings() {
        for format in [SARIF, JUNIT, GITHUB, GITLAB] {
            assert!(findings::FORMATS.iter().any(|known| known.name == format.name), "{}", format.name);
        }
    }
}
