//! A unified diff of the objects as YAML, for tools that read patches. What counts as equal is equal in it.

use std::fmt::Write as _;

use super::words::{self, visible};
use super::{Format, FormatOptions};
use crate::lines::{Hunk, hunks};
use crate::model::{ObjectId, Review, TargetReview};

pub(super) const FORMAT: Format =
    Format { name: "unified", about: "a unified diff of the objects as YAML", extension: "diff", write };

fn write(review: &Review, _options: &FormatOptions) -> String {
    let mut text = String::new();
    for target in &review.targets {
        for (side, error) in [("before", &target.base_error), ("after", &target.head_error)] {
            if let Some(error) = error {
                // Writing to a String does not fail. Readers of diffs skip lines that are not part of one.
                let _ = writeln!(
                    text,
                    "# {} is not rendered {side}: {}",
                    visible(&target.to_string()),
                    visible(&words::one_line(error))
                );
            }
        }
        for object in &target.objects {
            let was = object.was.as_ref().map_or(&object.id, |was| &was.id);
            let name = |side: &str, id: &ObjectId, is_there: bool| {
                if is_there { format!("{side}/{}", path(target, id)) } else { "/dev/null".to_owned() }
            };
            let _ = writeln!(text, "--- {}", name("a", was, object.before.is_some()));
            let _ = writeln!(text, "+++ {}", name("b", &object.id, object.after.is_some()));
            let side = |text: &'_ Option<String>| text.clone().unwrap_or_default();
            let (before, after) = (side(&object.before), side(&object.after));
            hunks(&before, &after).iter().for_each(|hunk| push_hunk(&mut text, hunk));
        }
    }
    text
}

/// Writes a hunk with its head.
pub(super) fn push_hunk(text: &mut String, hunk: &Hunk<'_>) {
    let extent = |range: &std::ops::Range<usize>| match range.len() {
        // Of no lines the one before is named.
        0 => format!("{},0", range.start),
        1 => format!("{}", range.start + 1),
        len => format!("{},{len}", range.start + 1),
    };
    let _ = writeln!(text, "@@ -{} +{} @@", extent(&hunk.old), extent(&hunk.new));
    for line in &hunk.lines {
        let _ = writeln!(text, "{}{}", line.op.sign(), visible(line.text));
    }
}

/// A name for an object that looks like a path.
fn path(target: &TargetReview, id: &ObjectId) -> String {
    let ObjectId { kind, namespace, name, .. } = id;
    let parts = [target.kind.as_str(), &target.name, namespace, &format!("{kind}-{name}.yaml")];
    let parts = parts
        .into_iter()
        .filter(|part| !part.is_empty())
        .map(|part| part.replace(|character: char| character.is_control() || character.is_whitespace(), "_"));
    parts.collect::<Vec<_>>().join("/")
}
