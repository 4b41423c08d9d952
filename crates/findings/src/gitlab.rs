//! GitLab's code quality report, which merge requests show.

use std::fmt::Write as _;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::{Finding, Report, Severity, position, sentence, to_json};

pub(crate) fn write(report: &Report<'_>) -> String {
    to_json(&report.findings.iter().map(entry).collect::<Vec<_>>())
}

fn entry(finding: &Finding) -> Value {
    let severity = match finding.severity {
        Severity::Error => "major",
        Severity::Warning => "minor",
        Severity::Note => "info",
    };
    // GitLab requires a file and a line.
    let (file, line) = position(finding).map_or((finding.target.as_str(), 1), |(file, line, _)| (file, line));
    json!({
        "check_name": finding.rule.code,
        "description": sentence(finding),
        "fingerprint": fingerprint(finding, file),
        "severity": severity,
        "location": {"path": file, "lines": {"begin": line}},
    })
}

/// The same for the same finding, wherever its line has gone.
fn fingerprint(finding: &Finding, file: &str) -> String {
    let parts = [finding.rule.code, file, &finding.target, &sentence(finding)].join("\0");
    let mut text = String::new();
    for byte in Sha256::digest(parts).iter().take(16) {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use crate::testing::written;

    #[test]
    fn each_finding_has_a_file_and_a_line() {
        let report: Value = serde_json::from_str(&written(super::write)).unwrap();
        assert_eq!(report[0]["location"]["path"], "apps/web.yaml");
        assert_eq!(report[0]["location"]["lines"]["begin"], 2);
        assert_eq!(report[1]["location"]["path"], "apps/db");
        assert_eq!(report[1]["severity"], "info");
        assert_ne!(report[0]["fingerprint"], report[1]["fingerprint"]);
    }
}
