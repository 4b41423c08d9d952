//! Flags of the `--set` family that nothing in the chart can have been meant by.
//!
//! In: a chart and what a user gives. Out: a warning for each value at the root of the values that a flag sets and that
//! neither the values, schemas and dependencies of the chart know nor any template names.

use super::merge::UserValues;
use crate::chart::Chart;
use crate::warning::{Code, Warning};

/// Maximum distance between a name and its misspelling.
const MAX_DISTANCE: usize = 2;

/// Warns of flags that set values which the chart does not know.
pub(super) fn warn(chart: &Chart, user: &UserValues, warnings: &mut Vec<Warning>) {
    for (name, item) in user.table.iter() {
        let Some(place) = user.sources.place(item.span) else { continue };
        let flag = place.source.name.clone();
        if !flag.starts_with("--set") || is_known(chart, name) {
            continue;
        }
        let message = format!("`{flag}` sets `{name}`, which the chart does not know");
        let warning = Warning::new(Code::UnknownValue, message).at(Some(place));
        warnings.push(match nearest(chart, name) {
            Some(meant) => warning.hint(format!("did you mean `{meant}`?")),
            None => warning,
        });
    }
}

fn is_known(chart: &Chart, name: &str) -> bool {
    let of_dependency = || {
        chart.metadata.dependencies.iter().any(|dependency| {
            let mut conditions = dependency.condition.split(',');
            dependency.local_name() == name
                || conditions.any(|condition| condition.trim().split('.').next() == Some(name))
        })
    };
    let in_schema = || {
        let quoted = format!("\"{name}\"");
        chart.schema.as_ref().is_some_and(|schema| memchr::memmem::find(schema, quoted.as_bytes()).is_some())
    };
    matches!(name, "global" | "tags")
        || chart.values.get(name).is_some()
        || chart.dependencies.iter().any(|child| child.metadata.name == name)
        || of_dependency()
        || in_schema()
        || is_named(chart, name.as_bytes())
}

/// Returns true if a template of the chart, or of one in it that may be a library, holds a name.
fn is_named(chart: &Chart, name: &[u8]) -> bool {
    let is_word = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let holds = |data: &[u8]| {
        memchr::memmem::find_iter(data, name).any(|at| {
            let before = at.checked_sub(1).and_then(|before| data.get(before));
            !is_word(before) && !is_word(data.get(at + name.len()))
        })
    };
    chart.templates.iter().any(|file| holds(&file.data))
        || chart.dependencies.iter().any(|child| is_named(child, name))
}

/// The value of the chart whose name is nearest.
fn nearest<'c>(chart: &'c Chart, name: &str) -> Option<&'c str> {
    let distance = |known: &str| strsim::damerau_levenshtein(known, name);
    let known = chart.values.iter().map(|(known, _)| (distance(known), known));
    known.filter(|(distance, _)| *distance <= MAX_DISTANCE).min().map(|(_, known)| known)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::File;
    use crate::values::testing::chart;
    use crate::values::{Options, ValuesFile, merge};
    use crate::version::HelmVersion;

    #[test]
    fn flags_that_name_nothing_are_warned_of() {
        let mut root = chart("c", "replicas: 1\n", vec![chart("kid", "{}", vec![])]);
        root.templates = vec![File::new("templates/a.yaml", b"{{ .Values.extra.x }} {{ .Values.reps }}")];
        root.schema = Some(br#"{"properties": {"fromSchema": {}}}"#[..].into());
        let set = [
            "replicas=2",
            "replica=3",
            "extra.x=1",
            "rep=1",
            "kid.a=1",
            "global.b=1",
            "fromSchema=1",
            "zzz=1",
        ];
        let set = set.map(str::to_owned);
        let files = [ValuesFile { name: "u.yaml", data: b"unknown: 1\n" }];
        let options = Options { files: &files, set: &set, ..Options::default() };
        let user = merge(&options, HelmVersion::V4).expect("values");
        let mut warnings = Vec::new();
        warn(&root, &user, &mut warnings);
        let found: Vec<_> =
            warnings.iter().map(|warning| (warning.message.as_str(), warning.hint.as_deref())).collect();
        assert_eq!(
            found,
            [
                ("`--set` sets `rep`, which the chart does not know", None),
                ("`--set` sets `replica`, which the chart does not know", Some("did you mean `replicas`?")),
                ("`--set` sets `zzz`, which the chart does not know", None),
            ]
        );
    }
}
