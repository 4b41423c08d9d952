//! SARIF 2.1.0, which code hosts show beside the lines of a change.

use serde_json::{Value, json};

use crate::{Finding, Report, Rule, Severity, position, sentence, to_json};

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

pub(crate) fn write(report: &Report<'_>) -> String {
    let mut rules: Vec<&Rule> = Vec::new();
    for finding in report.findings {
        if !rules.contains(&finding.rule) {
            rules.push(finding.rule);
        }
    }
    rules.sort_by_key(|rule| rule.code);
    let described = |rule: &&Rule| json!({"id": rule.code, "name": rule.name, "shortDescription": {"text": rule.meaning}});
    let driver = json!({
        "name": "renderer",
        "version": report.version,
        "rules": rules.iter().map(described).collect::<Vec<_>>(),
    });
    let results: Vec<Value> = report.findings.iter().map(result).collect();
    to_json(&json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": results, "columnKind": "unicodeCodePoints"}],
    }))
}

fn result(finding: &Finding) -> Value {
    let level = match finding.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    };
    let mut result = json!({
        "ruleId": finding.rule.code,
        "level": level,
        "message": {"text": sentence(finding)},
    });
    let mut location = json!({});
    if let Some((file, line, column)) = position(finding) {
        location["physicalLocation"] = json!({
            "artifactLocation": {"uri": uri(file)},
            "region": {"startLine": line, "startColumn": column},
        });
    }
    let logical = finding.object.as_ref().unwrap_or(&finding.target);
    location["logicalLocations"] = json!([{"fullyQualifiedName": logical}]);
    result["locations"] = json!([location]);
    result
}

/// A path as a relative reference: what has a meaning in addresses is escaped.
fn uri(path: &str) -> String {
    let mut uri = String::new();
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(char::from(byte));
            }
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::testing::written;

    #[test]
    fn a_result_leads_to_its_rule_and_line() {
        let log: Value = serde_json::from_str(&written(super::write)).unwrap();
        assert_eq!(log["version"], "2.1.0");
        let run = &log["runs"][0];
        assert_eq!(run["tool"]["driver"]["version"], "1.2.3");
        assert_eq!(run["tool"]["driver"]["rules"].as_array().unwrap().len(), 1);
        let result = &run["results"][0];
        assert_eq!(result["ruleId"], run["tool"]["driver"]["rules"][0]["id"]);
        assert_eq!(result["level"], "error");
        let wanted = json!([{
            "physicalLocation": {
                "artifactLocation": {"uri": "apps/web.yaml"},
                "region": {"startLine": 2, "startColumn": 4},
            },
            "logicalLocations": [{"fullyQualifiedName": "Deployment shop/web"}],
        }]);
        assert_eq!(result["locations"], wanted);
        assert_eq!(
            result["message"]["text"],
            "Deployment shop/web: spec.b: the <field> is 100% wrong; mend it"
        );
    }

    #[test]
    fn a_path_is_no_address() {
        assert_eq!(super::uri("a b/c#d?e%.yaml"), "a%20b/c%23d%3Fe%25.yaml");
    }
}
