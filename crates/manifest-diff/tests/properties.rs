//! Properties of every review, whatever the objects are.

use std::fmt::Write as _;
use std::sync::Arc;

use argocd::objects::{Object, read};
use manifest_diff::{
    FORMATS, Format, FormatOptions, Options, Review, SecretKey, Target, TargetKind, TargetStatus, review,
};
use proptest::prelude::*;
use pulldown_cmark::{Event, Options as MarkdownOptions, Parser, Tag, TagEnd};
use yamltree::Source;

fn objects(text: &str) -> Vec<Object> {
    let source = Source { name: "a.yaml".to_owned(), text: text.into() };
    read(&Arc::new(source)).expect("objects")
}

fn reviewed(base: &str, head: &str) -> Review {
    let target = |text: &str| vec![Target::rendered(TargetKind::Application, "a", objects(text))];
    review(&target(base), &target(head), &Options { secret_key: SecretKey::new([3; 32]) })
}

fn markdown(review: &Review, limit: usize) -> String {
    let options = FormatOptions {
        limit: Some(limit),
        full_report: Some("report.html".to_owned()),
        ..Default::default()
    };
    (Format::named("markdown").expect("a format").write)(review, &options)
}

/// As many characters as a forge counts.
fn len(text: &str) -> usize {
    text.encode_utf16().count()
}

/// Returns true if all code that begins ends, and nothing is markup that was text.
fn is_whole(markdown: &str) -> bool {
    let mut open = 0;
    for event in Parser::new_ext(markdown, MarkdownOptions::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::CodeBlock(_)) => open += 1,
            Event::End(TagEnd::CodeBlock) => open -= 1,
            Event::Start(Tag::Image { .. }) => return false,
            _ => {}
        }
    }
    // A block that nothing closes would take the end of its details along.
    let tags = |tag: &str| markdown.lines().filter(|line| line.starts_with(tag)).count();
    open == 0 && tags("<details") == tags("</details>")
}

/// A JSON text of a value that is hard to show.
fn value() -> impl Strategy<Value = String> {
    prop_oneof![
        "[ -~]{0,40}",
        "(```|~~~|</details>|<script>|\\| ){1,4}",
        "\\PC{0,20}",
        "([a-z`<>@#|\\\\\n]{0,12}\n){0,6}",
    ]
    .prop_map(|text| serde_json::Value::String(text).to_string())
}

fn maps(values: &[(u8, String)]) -> String {
    let mut text = String::new();
    for (name, value) in values {
        let _ = writeln!(
            text,
            "---\n{{apiVersion: v1, kind: ConfigMap, metadata: {{name: m{name}}}, data: {{a: {value}}}}}"
        );
    }
    text
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_comment_keeps_its_limit_and_is_whole(
        base in prop::collection::vec((0_u8..8, value()), 0..12),
        head in prop::collection::vec((0_u8..8, value()), 0..12),
        limit in prop_oneof![0_usize..600, 600_usize..4000, Just(65_536)],
    ) {
        let text = markdown(&reviewed(&maps(&base), &maps(&head)), limit);
        prop_assert!(len(&text) <= limit, "{} > {limit}", len(&text));
        prop_assert!(is_whole(&text), "{text}");
    }

    #[test]
    fn equal_sets_are_no_difference(values in prop::collection::vec((0_u8..8, value()), 0..12)) {
        let mut reversed = values.clone();
        // Objects that are there twice are paired in order.
        reversed.dedup_by_key(|(name, _)| *name);
        reversed.sort_by_key(|(name, _)| *name);
        reversed.dedup_by_key(|(name, _)| *name);
        let text = maps(&reversed);
        reversed.reverse();
        prop_assert!(reviewed(&text, &maps(&reversed)).is_empty());
        let review = reviewed(&maps(&values), &maps(&values));
        prop_assert!(review.is_empty());
        let unified = Format::named("unified").expect("a format");
        prop_assert_eq!((unified.write)(&review, &FormatOptions::default()), "");
    }

    #[test]
    fn no_format_has_a_secret(
        old in "[A-Za-z0-9]{12,40}",
        new in "[A-Za-z0-9]{12,40}",
        field in prop_oneof![Just("stringData"), Just("data")],
    ) {
        let secret = |value: &str| format!(
            "{{apiVersion: v1, kind: Secret, metadata: {{name: s}}, {field}: {{a: \"{value}\", b: [\"{value}\"]}}}}\n---\n{{kind: W, spec: {{kind: Secret, {field}: \"{value}\"}}}}\n"
        );
        for (base, head) in [(secret(&old), secret(&new)), (String::new(), secret(&new)), (secret(&old), String::new())] {
            let review = reviewed(&base, &head);
            for format in FORMATS {
                let text = (format.write)(&review, &FormatOptions::default());
                prop_assert!(!text.contains(&old) && !text.contains(&new), "{}", format.name);
            }
        }
    }

    #[test]
    fn what_is_there_twice_is_reviewed_both_ways(
        base in prop::collection::vec((0_u8..4, value()), 0..8),
        head in prop::collection::vec((0_u8..4, value()), 0..8),
    ) {
        let (there, back) = (reviewed(&maps(&base), &maps(&head)), reviewed(&maps(&head), &maps(&base)));
        prop_assert_eq!(there.summary.objects.added, back.summary.objects.removed);
        prop_assert_eq!(there.summary.objects.changed, back.summary.objects.changed);
    }
}

/// Ten megabytes in 65,536 characters: the numbers, the findings and the small diffs are there.
#[test]
fn a_comment_about_ten_megabytes_says_what_matters() {
    let side = |value: &str| {
        let mut text = String::from(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: small}\nspec: {replicas: REPLICAS, selector: {matchLabels: {a: VALUE}}, template: {spec: {containers: [{name: c, image: 'i:VALUE'}]}}}\n",
        )
        .replace("VALUE", value)
        .replace("REPLICAS", if value == "one" { "1" } else { "3" });
        for object in 0..100 {
            let _ = write!(
                text,
                "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: large-{object}}}\ndata:\n"
            );
            for line in 0..1000 {
                let _ = writeln!(text, "  key-{line}: some text before {value} and after it in line {line}");
            }
        }
        text
    };
    let (base, head) = (side("one"), side("two"));
    // Every line differs.
    assert!(base.len() + head.len() > 10_000_000);
    let review = reviewed(&base, &head);
    let text = markdown(&review, 65_536);
    assert!(len(&text) <= 65_536 && is_whole(&text));
    for want in [
        "1 Application changed",
        "101 objects changed",
        "`i:one` | `i:two`",
        "| `1` | `3` |",
        "the field `spec.selector` of a Deployment cannot change",
        "`Deployment small` changed",
        "+  replicas: 3",
        "`ConfigMap large-0` changed – 2000 changed lines",
        "`ConfigMap large-99` changed – 2000 changed lines",
        "did not fit here; the whole report has them",
        "The whole report: `report.html`",
    ] {
        assert!(text.contains(want), "{want}");
    }
}

#[test]
fn a_target_that_fails_on_one_side_is_shown_as_such() {
    let failed = || vec![Target::failed(TargetKind::Chart, "a", "it is broken")];
    let fine = || vec![Target::rendered(TargetKind::Chart, "a", objects("kind: A\nmetadata: {name: a}\n"))];
    let options = Options { secret_key: SecretKey::new([0; 32]) };
    for (base, head, status, has_failed) in [
        (fine(), failed(), TargetStatus::FailedAfter, true),
        (failed(), fine(), TargetStatus::FailedBefore, false),
        (failed(), failed(), TargetStatus::FailedBoth, true),
    ] {
        let review = review(&base, &head, &options);
        assert_eq!((review.targets[0].status, review.has_failed()), (status, has_failed));
        // What did not change is not shown as gone or new.
        assert_eq!(review.targets[0].objects.len(), 0);
        let terminal =
            (Format::named("terminal").expect("a format").write)(&review, &FormatOptions::default());
        assert!(terminal.contains("it is broken"), "{terminal}");
    }
}

/// As deep as YAML may be, on the stack of a thread.
#[test]
fn depth_is_no_danger() {
    const DEPTH: usize = 245;
    let deep = |value: &str| {
        format!(
            "kind: A\nmetadata: {{name: a}}\nspec: {}{value}{}\n",
            "{a: [".repeat(DEPTH),
            "]}".repeat(DEPTH)
        )
    };
    let review = reviewed(&deep("1"), &deep("2"));
    assert_eq!(review.summary.objects.changed, 1);
    for format in FORMATS {
        let text = (format.write)(&review, &FormatOptions::default());
        let has_findings_only = ["github", "gitlab", "sarif", "junit"].contains(&format.name);
        assert!(has_findings_only || text.len() > 4 * DEPTH, "{}", format.name);
    }
    let added = reviewed("kind: B\nmetadata: {name: b}\n", &deep("1"));
    assert_eq!(added.summary.objects.added, 1);
    assert!(
        !(Format::named("json").expect("a format").write)(&added, &FormatOptions::default())
            .contains("\"new\": null\n")
    );
}
