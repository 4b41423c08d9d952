//! JUnit's XML: a case for each target, which fails where errors or warnings were found.

use std::collections::HashMap;
use std::fmt::Write as _;

use crate::{Finding, Report, Severity, position, sentence};

pub(crate) fn write(report: &Report<'_>) -> String {
    let mut found: HashMap<&str, Vec<&Finding>> = HashMap::new();
    for finding in report.findings.iter().filter(|finding| finding.severity > Severity::Note) {
        found.entry(&finding.target).or_default().push(finding);
    }
    let of = |target: &String| found.get(target.as_str()).map_or(&[][..], Vec::as_slice);
    let cases: Vec<(&String, &[&Finding])> =
        report.targets.iter().map(|target| (target, of(target))).collect();
    let failures = cases.iter().filter(|(_, findings)| !findings.is_empty()).count();
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let count = cases.len();
    let _ = writeln!(text, "<testsuites name=\"renderer\" tests=\"{count}\" failures=\"{failures}\">");
    let _ = writeln!(text, "  <testsuite name=\"renderer\" tests=\"{count}\" failures=\"{failures}\">");
    for (target, findings) in cases {
        let name = escaped(target);
        if findings.is_empty() {
            let _ = writeln!(text, "    <testcase name=\"{name}\" classname=\"renderer\"/>");
            continue;
        }
        let _ = writeln!(text, "    <testcase name=\"{name}\" classname=\"renderer\">");
        let (first, severity) = (escaped(&sentence(findings[0])), findings[0].severity);
        let _ = write!(text, "      <failure message=\"{first}\" type=\"{severity}\">");
        for finding in findings {
            if let Some((file, line, column)) = position(finding) {
                let _ = write!(text, "{}:{line}:{column}: ", escaped(file));
            }
            let code = finding.rule.code;
            let _ = writeln!(text, "{}[{code}]: {}", finding.severity, escaped(&sentence(finding)));
        }
        text.push_str("</failure>\n    </testcase>\n");
    }
    text.push_str("  </testsuite>\n</testsuites>\n");
    text
}

/// A text that XML takes for one; characters that it cannot have at all are replaced.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            '\t' => out.push_str("&#9;"),
            character if character.is_control() || matches!(character, '\u{fffe}' | '\u{ffff}') => {
                out.push('\u{fffd}');
            }
            character => out.push(character),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use crate::testing::written;

    /// A note does not fail a build.
    #[test]
    fn each_target_is_a_case() {
        let wanted = r#"<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="renderer" tests="3" failures="1">
  <testsuite name="renderer" tests="3" failures="1">
    <testcase name="apps/db" classname="renderer"/>
    <testcase name="apps/fine" classname="renderer"/>
    <testcase name="apps/web" classname="renderer">
      <failure message="Deployment shop/web: spec.b: the &lt;field&gt; is 100% wrong; mend it" type="error">apps/web.yaml:2:4: error[TEST001]: Deployment shop/web: spec.b: the &lt;field&gt; is 100% wrong; mend it
</failure>
    </testcase>
  </testsuite>
</testsuites>
"#;
        assert_eq!(written(super::write), wanted);
    }
}
