//! Commands of GitHub's workflows, which show findings beside the lines of a change.

use std::fmt::Write as _;

use crate::{Report, Severity, position, sentence};

pub(crate) fn write(report: &Report<'_>) -> String {
    let mut text = String::new();
    for finding in report.findings {
        let command = match finding.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "notice",
        };
        let _ = write!(text, "::{command} ");
        if let Some((file, line, column)) = position(finding) {
            let _ = write!(text, "file={},line={line},col={column},", property(file));
        }
        let title = format!("{} {}", finding.rule.code, finding.rule.name);
        let _ = writeln!(text, "title={}::{}", property(&title), data(&sentence(finding)));
    }
    text
}

/// Escapes the message, which follows the second `::`.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes a property, in which commas and colons are separators.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use crate::testing::written;

    #[test]
    fn no_text_is_taken_for_a_command() {
        let wanted = "::error file=apps/web.yaml,line=2,col=4,title=TEST001 a-rule::Deployment shop/web: spec.b: \
                      the <field> is 100%25 wrong; mend it\n::notice title=TEST001 a-rule::something\n";
        assert_eq!(written(super::write), wanted);
        assert_eq!(super::property("a,b:c\n::error::"), "a%2Cb%3Ac%0A%3A%3Aerror%3A%3A");
    }
}
