//! JSON: a list of findings, for scripts.

use serde::Serialize;

use crate::{Report, Severity, position, to_json};

#[derive(Serialize)]
struct Line<'f> {
    code: &'static str,
    rule: &'static str,
    severity: Severity,
    message: &'f str,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'f str>,
    target: &'f str,
    #[serde(skip_serializing_if = "Option::is_none")]
    object: Option<&'f str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    field: Option<&'f str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'f str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<usize>,
}

pub(crate) fn write(report: &Report<'_>) -> String {
    let line = |finding| {
        let place = position(finding);
        Line {
            code: finding.rule.code,
            rule: finding.rule.name,
            severity: finding.severity,
            message: &finding.message,
            hint: finding.hint.as_deref(),
            target: &finding.target,
            object: finding.object.as_deref(),
            field: finding.field.as_deref(),
            file: place.map(|(file, _, _)| file),
            line: place.map(|(_, line, _)| line),
            column: place.map(|(_, _, column)| column),
        }
    };
    to_json(&report.findings.iter().map(line).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use crate::testing::written;

    #[test]
    fn what_is_not_known_is_not_there() {
        let wanted = r#"[
  {
    "code": "TEST001",
    "rule": "a-rule",
    "severity": "error",
    "message": "the <field> is 100% wrong",
    "hint": "mend it",
    "target": "apps/web",
    "object": "Deployment shop/web",
    "field": "spec.b",
    "file": "apps/web.yaml",
    "line": 2,
    "column": 4
  },
  {
    "code": "TEST001",
    "rule": "a-rule",
    "severity": "note",
    "message": "something",
    "target": "apps/db"
  }
]
"#;
        assert_eq!(written(super::write), wanted);
    }
}
