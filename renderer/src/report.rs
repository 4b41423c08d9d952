//! Prints errors and warnings to standard error, and turns them into the exit code. Nothing else does.

use std::collections::HashSet;
use std::io::Write as _;
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use diagnostic::{Error, ErrorKind, Renderer, Report, Severity, Warning, WarningCode};
use findings::Finding;

use crate::cli::program::Program;

const WARNING: Style = AnsiColor::Yellow.on_default().bold();

/// Reports to standard error and keeps in mind what was reported.
#[derive(Debug, Default)]
pub(crate) struct Reporter {
    program: Program,
    quiet: bool,
    failed: Option<ErrorKind>,
    /// The exit code of a command without errors.
    code: Option<u8>,
    shown: HashSet<String>,
    renderer: Renderer,
}

impl Reporter {
    /// Reports as a program does.
    pub(crate) fn of(program: Program) -> Self {
        Self { program, ..Self::default() }
    }

    /// Leaves out warnings from now on.
    pub(crate) fn set_quiet(&mut self, quiet: bool) {
        self.quiet = quiet;
    }

    /// Reports an error; `target` says which target failed where there are several.
    pub(crate) fn error(&mut self, error: &Error, target: Option<&str>) {
        self.failure(error, target.map(|target| format!("while building `{target}`")));
    }

    /// Reports what is wrong with an Application.
    pub(crate) fn application_error(&mut self, error: &Error, name: &str) {
        self.failure(error, Some(format!("in the Application `{name}`")));
    }

    /// Reports what is wrong with a Kustomization or HelmRelease of Flux, by its kind and name.
    pub(crate) fn flux_error(&mut self, error: &Error, name: &str) {
        self.failure(error, Some(format!("in the {name}")));
    }

    /// Reports what is wrong with an ApplicationSet.
    pub(crate) fn application_set_error(&mut self, error: &Error, name: &str) {
        self.failure(error, Some(format!("in the ApplicationSet `{name}`")));
    }

    /// Reports what is wrong in a line of its own, for a program that shows it as it is.
    pub(crate) fn line(&mut self, kind: ErrorKind, line: &str) {
        self.fail(kind);
        print(&format!("{line}\n"));
    }

    fn failure(&mut self, error: &Error, within: Option<String>) {
        self.fail(error.kind());
        let label = if self.program.is_stand_in() { "Error" } else { "error" };
        print(&self.renderer.error(label, error, within));
    }

    /// Reports the warnings of an engine, each once in a run.
    pub(crate) fn warnings<C: WarningCode>(&mut self, warnings: &[Warning<C>]) {
        if self.quiet {
            return;
        }
        for warning in warnings {
            let text = self.renderer.warning(warning);
            if self.shown.insert(text.clone()) {
                print(&text);
            }
        }
    }

    /// A finding as a person reads it.
    pub(crate) fn finding(&mut self, finding: &Finding) -> String {
        let severity = match finding.severity {
            findings::Severity::Error => Severity::Error,
            findings::Severity::Warning => Severity::Warning,
            findings::Severity::Note => Severity::Note,
        };
        let mut about = vec![finding.target.clone()];
        about.extend(finding.object.clone());
        about.extend(finding.field.clone());
        let report = Report {
            label: format!("{}[{}]", finding.severity, finding.rule.code),
            severity,
            message: &finding.message,
            location: finding.location.as_ref(),
            // A line of a manifest may be one of a Secret.
            excerpt: false,
            chain: vec![format!("in {}", about.join(", "))],
            hint: finding.hint.as_deref(),
        };
        self.renderer.report(&report)
    }

    /// Says what a command has come to.
    pub(crate) fn say(&self, message: &str) {
        if !self.quiet {
            print(&format!("{message}\n"));
        }
    }

    /// Ends with a code of the command's own, unless something fails.
    pub(crate) fn end_with(&mut self, code: u8) {
        self.code = Some(code);
    }

    /// Ends in failure, where all has been said.
    pub(crate) fn fail(&mut self, kind: ErrorKind) {
        self.failed = Some(self.failed.map_or(kind, |before| weightier(before, kind)));
    }

    /// Says something about the command line that is not wrong.
    pub(crate) fn notice(&mut self, message: &str) {
        if !self.quiet {
            print(&format!("{WARNING}warning{WARNING:#}: {message}\n"));
        }
    }

    /// Returns what the process ends with.
    pub(crate) fn exit_code(&self) -> ExitCode {
        match self.failed {
            None => self.code.map_or(ExitCode::SUCCESS, ExitCode::from),
            Some(_) if self.program.is_stand_in() => ExitCode::from(1),
            Some(kind) => ExitCode::from(kind.exit_code()),
        }
    }
}

/// Input that is wrong outweighs a machine that is, as the reader can act on it.
fn weightier(left: ErrorKind, right: ErrorKind) -> ErrorKind {
    if left == ErrorKind::Environment { right } else { left }
}

fn print(text: &str) {
    // Where nobody can be told, the exit code still says it.
    let _ = anstream::stderr().write_all(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_input_outweighs_a_failing_machine() {
        let mut reporter = Reporter::default();
        assert_eq!(reporter.exit_code(), ExitCode::SUCCESS);
        reporter.error(&Error::new(ErrorKind::Environment, "no network"), None);
        assert_eq!(reporter.exit_code(), ExitCode::from(3));
        reporter.error(&Error::new(ErrorKind::Invalid, "bad field"), Some("app"));
        reporter.error(&Error::new(ErrorKind::Environment, "no network"), None);
        assert_eq!(reporter.exit_code(), ExitCode::from(1));
    }
}
