//! A value that is nil though something in it was wanted: which one it is, and where it was looked for.
//!
//! In: the failure of a template. Out: a sentence, where the template names the value from `.Values` on.

use gotemplate::Error as GoError;

use super::Plan;
use crate::chart::Chart;

/// Says which value is not set.
pub(super) fn explain(error: &GoError, plan: &Plan<'_>) -> Option<String> {
    let path = values_path(error.innermost().missing_value()?)?;
    let way = &plan.templates.get(&error.place()?.file)?.way;
    let path = way.iter().map(String::as_str).chain([path]).collect::<Vec<_>>().join(".");
    let mut read = Vec::new();
    read_for(plan.chart, &plan.chart.metadata.name, way, &mut read);
    read.extend(plan.user.sources.names().map(str::to_owned));
    read.dedup();
    Some(match read.as_slice() {
        [] => format!("the value `{path}` is not set, and no values are given"),
        read => format!("the value `{path}` is not set; it was looked for in {}", read.join(", ")),
    })
}

/// The part behind `.Values` of what a template has.
fn values_path(written: &str) -> Option<&str> {
    let (before, path) = written.rsplit_once(".Values.")?;
    // What stands before is a variable or the fields of one, and no call.
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '.' | '$' | '_');
    (before.chars().all(is_plain) && !path.is_empty()).then_some(path)
}

/// The values files of a chart and of those around it, the innermost first, named as templates are.
fn read_for(chart: &Chart, path: &str, way: &[String], read: &mut Vec<String>) {
    if let Some((name, rest)) = way.split_first()
        && let Some(child) = chart.dependencies.iter().find(|child| child.metadata.name == *name)
    {
        read_for(child, &format!("{path}/charts/{name}"), rest, read);
    }
    if chart.sources.names().any(|name| name.ends_with("/values.yaml")) {
        read.push(format!("{path}/values.yaml"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_is_what_stands_behind_values() {
        for (written, wanted) in [
            (".Values.image", Some("image")),
            ("$.Values.a.b", Some("a.b")),
            (".root.Values.a", Some("a")),
            ("$ctx.Values.a", Some("a")),
            (".Values", None),
            (".image", None),
            ("(include \"x\" .Values.a).b", None),
        ] {
            assert_eq!(values_path(written), wanted, "{written}");
        }
    }
}
