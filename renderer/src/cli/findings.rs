//! The output of `lint` and `validate`.

use clap::ValueEnum;
use clap::builder::PossibleValue;
use diagnostic::{ErrorKind, Result};
use findings::{FORMATS, Finding, Report, Severity};

use crate::output;
use crate::report::Reporter;

/// A format of findings: a number in [`FORMATS`], or the text for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FindingFormat {
    Text,
    Named(usize),
}

/// All formats, the one for people first.
const ALL: [FindingFormat; FORMATS.len() + 1] = {
    let mut all = [FindingFormat::Text; FORMATS.len() + 1];
    let mut number = 0;
    while number < FORMATS.len() {
        all[number + 1] = FindingFormat::Named(number);
        number += 1;
    }
    all
};

impl ValueEnum for FindingFormat {
    fn value_variants<'a>() -> &'a [Self] {
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(match self {
            Self::Text => "text",
            Self::Named(number) => FORMATS[*number].name,
        }))
    }
}

/// The checked targets and the findings.
#[derive(Debug, Default)]
pub(super) struct Verdict {
    targets: Vec<String>,
    findings: Vec<Finding>,
}

impl Verdict {
    /// Adds what was found of a target.
    pub(super) fn add(&mut self, target: &str, findings: Vec<Finding>) {
        self.targets.push(target.to_owned());
        self.findings.extend(findings);
    }

    /// Prints the findings, and for people how many there are.
    pub(super) fn print(&self, format: FindingFormat, reporter: &mut Reporter) -> Result<()> {
        let FindingFormat::Named(number) = format else {
            let texts = self.findings.iter().map(|finding| reporter.finding(finding));
            output::to_stdout_coloured(&texts.collect::<String>())?;
            reporter.say(&self.summary());
            return Ok(());
        };
        let report =
            Report { version: env!("CARGO_PKG_VERSION"), targets: &self.targets, findings: &self.findings };
        output::to_stdout(&(FORMATS[number].write)(&report))
    }

    /// Fails where there are findings of a severity or worse.
    pub(super) fn fail_from(&self, severity: Severity, reporter: &mut Reporter) {
        if self.findings.iter().any(|finding| finding.severity >= severity) {
            reporter.fail(ErrorKind::Invalid);
        }
    }

    fn summary(&self) -> String {
        let count = |severity| self.findings.iter().filter(|finding| finding.severity == severity).count();
        let words = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
        format!(
            "{} report: {}, {}, {}",
            words(self.targets.len(), "target"),
            words(count(Severity::Error), "error"),
            words(count(Severity::Warning), "warning"),
            words(count(Severity::Note), "note"),
        )
    }
}
