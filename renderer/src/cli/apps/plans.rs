//! The order in which the objects of each Application are applied.

use std::fmt::Write as _;

use argocd::application::Rendered;
use argocd::sync::{Options, Plan};
use diagnostic::Result;

use super::Format;
use crate::argocd::Member;
use crate::report::Reporter;

/// The plans of Applications, as a table for each or as one list.
pub(super) fn of(good: &[(&Member, &Rendered)], format: Format, reporter: &mut Reporter) -> Result<String> {
    let mut texts = Vec::with_capacity(good.len());
    for (member, rendered) in good {
        let application = &member.application;
        let has = |option: &str| application.sync_policy.sync_options.iter().any(|given| given == option);
        let options = Options {
            namespace: &application.destination.namespace,
            create_namespace: has("CreateNamespace=true"),
            old: &[],
            prune_last: has("PruneLast=true"),
            excluded: &[],
        };
        let plan = Plan::new(&rendered.objects, &options);
        reporter.warnings(&plan.warnings);
        let name = application.instance_name();
        texts.push(match format {
            Format::Json => {
                let name = serde_json::Value::from(name);
                format!("{{\"application\":{name},\"plan\":{}}}", plan.to_json()?.trim_end())
            }
            Format::Yaml | Format::Table => {
                let mut text = String::new();
                let _ = writeln!(text, "# Application: {name}\n{}", plan.to_table());
                text
            }
        });
    }
    Ok(match format {
        Format::Json => format!("[\n{}\n]\n", texts.join(",\n")),
        Format::Yaml | Format::Table => texts.concat(),
    })
}
