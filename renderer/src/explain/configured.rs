//! Which line of a kustomization asked for what a step did to a field.
//!
//! In: the fields that configure the step, and the value before and after. Out: the span of the text in them that the
//! value has got, or else of the entry that the value is of.

use kustomize::BuildStep;
use yamltree::{Kind, Location, Node, Span};

/// Fields whose entries name a file that holds the change.
const BY_FILE: &[&str] = &["patches", "patchesStrategicMerge", "patchesJson6902"];

/// Fields whose entries make objects, of which each field is the entry's.
const GENERATORS: &[&str] =
    &["configMapGenerator", "secretGenerator", "helmCharts", "helmChartInflationGenerator"];

/// Fields whose entries are for images of a name.
const IMAGES: &[&str] = &["images", "imageTags"];

/// Returns where a step was asked for that made a value another one; `written` is where the new value is written.
pub(super) fn span(step: &BuildStep, before: Option<&str>, after: &str, written: Option<&Location>) -> Span {
    let is_any = |names: &[&str]| step.fields.iter().any(|field| names.contains(&field.name));
    if is_any(GENERATORS) {
        return step.span;
    }
    let entries: Vec<&Node> = step
        .fields
        .iter()
        .flat_map(|field| match field.value.items() {
            Some(items) => items.iter().collect::<Vec<_>>(),
            None => vec![&field.value],
        })
        .collect();
    if is_any(BY_FILE) {
        let Some(place) = written else { return step.span };
        let named = |entry: &&Node| names_file(entry, &place.source.name);
        // What stands in the kustomization itself is in the last entry that begins before it.
        let holds =
            |entry: &&Node| entry.span.source == place.span.source && entry.span.start <= place.span.start;
        let found = entries.iter().copied().find(named).or(entries.iter().copied().rfind(holds));
        return found.map_or(step.span, |entry| entry.span);
    }
    let fits = |entry: &&Node| match (entry.get("name").and_then(Node::text), before) {
        (Some(name), Some(before)) if is_any(IMAGES) => before.contains(name),
        _ => true,
    };
    let fitting: Vec<&Node> = entries.into_iter().filter(fits).collect();
    let is_new = |text: &str| {
        !text.is_empty() && after.contains(text) && before.is_none_or(|before| !before.contains(text))
    };
    let mut leaves = Vec::new();
    fitting.iter().for_each(|entry| add_leaves(entry, &mut leaves));
    leaves.retain(|leaf| leaf.text().is_some_and(is_new));
    let best = leaves.into_iter().max_by_key(|leaf| leaf.text().map_or(0, str::len));
    best.or(fitting.first().copied()).map_or(step.span, |node| node.span)
}

/// Returns true if an entry names a file, by a path from the folder of the kustomization.
fn names_file(entry: &Node, file: &str) -> bool {
    let mut leaves = Vec::new();
    add_leaves(entry, &mut leaves);
    leaves.iter().filter_map(|leaf| leaf.text()).any(|text| {
        let path = text.trim_start_matches("./").trim_start_matches("../");
        !path.is_empty() && file.strip_suffix(path).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
    })
}

/// The values in a tree that are texts.
fn add_leaves<'n>(node: &'n Node, leaves: &mut Vec<&'n Node>) {
    match &node.kind {
        Kind::Mapping(entries) => entries.iter().for_each(|entry| add_leaves(&entry.value, leaves)),
        Kind::Sequence(items) => items.iter().for_each(|item| add_leaves(item, leaves)),
        Kind::Scalar(_) => leaves.push(node),
        Kind::Alias(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;
    use std::sync::Arc;

    use kustomize::Field;
    use yamltree::Source;

    use super::*;

    /// Returns what in the text of a field a change leads to.
    fn found(
        name: &'static str,
        text: &str,
        before: Option<&str>,
        after: &str,
        written: Option<(&str, u32)>,
    ) -> String {
        let options = yamltree::ParseOptions::default();
        let value = yamltree::parse_first(text, 0, &options).expect("YAML").expect("a document").root;
        let step =
            BuildStep { name: Cow::Borrowed(name), span: value.span, fields: vec![Field { name, value }] };
        let written = written.map(|(name, start)| {
            let source = Arc::new(Source { name: name.to_owned(), text: text.into() });
            let source_number = if name == "kustomization.yaml" { 0 } else { 1 };
            Location { source, span: Span { source: source_number, start, end: start } }
        });
        let start = span(&step, before, after, written.as_ref()).start as usize;
        text[start..].chars().take(8).collect::<String>().trim_end().to_owned()
    }

    #[test]
    fn the_text_that_the_value_got_is_what_counts() {
        let images = "- {name: db, newTag: '2'}\n- {name: web, newTag: '2'}\n";
        assert_eq!(found("images", images, Some("web:1"), "web:2", None), "'2'}");
        let names = "- {name: web, newName: r/web}\n- {name: x}\n";
        assert_eq!(found("images", names, Some("web:1"), "r/web:1", None), "r/web}\n-");
        assert_eq!(found("namePrefix", "prod-", Some("web"), "prod-web", None), "prod-");
        assert_eq!(found("labels", "- pairs: {a: b, c: dd}\n", None, "dd", None), "dd}");
        // Nothing of the value is written there.
        let replacements = "- source: {kind: A, fieldPath: x}\n";
        assert_eq!(found("replacements", replacements, Some("y"), "z", None), "source:");
    }

    #[test]
    fn a_patch_is_known_by_its_file() {
        let patches = "- path: a.yaml\n- path: ../p/b.yaml\n";
        let file = Some(("overlays/p/b.yaml", 0));
        assert_eq!(found("patches", patches, Some("1"), "2", file), "path: ..");
        let inline = "- patch: x\n- patch: y\n";
        assert_eq!(found("patches", inline, Some("1"), "2", Some(("kustomization.yaml", 20))), "patch: y");
    }
}
