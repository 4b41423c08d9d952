//! One page with everything, which needs nothing else: summary, findings, and every diff, opened when it is wanted.
//!
//! All text goes through tera's escaping, diffs as JSON that closes no element; the page's own script and style are the
//! only ones that its policy lets run, by their hashes.

use std::collections::BTreeSet;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tera::{Context, Tera};

use super::words::{self, number, visible};
use super::{Format, FormatOptions};
use crate::lines::{Hunk, Line, Op, hunks};
use crate::model::{
    Finding, Hidden, Level, ObjectReview, ObjectStatus, Plan, Review, TargetReview, TargetStatus,
};

pub(super) const FORMAT: Format =
    Format { name: "html", about: "one page with everything, for a browser", extension: "html", write };

const PAGE: &str = include_str!("html/page.html");
const STYLE: &str = include_str!("html/style.css");
const SCRIPT: &str = include_str!("html/page.js");

/// The number of findings above which a group is folded.
const FOLD_THRESHOLD: usize = 12;

/// The maximum number of fields named above the diff of an object.
const MAX_NAMED_FIELDS: usize = 6;

fn write(review: &Review, options: &FormatOptions) -> String {
    let mut tera = Tera::new();
    tera.autoescape_on([".html"]);
    tera.add_raw_template("page.html", PAGE).expect("a test renders the page");
    let mut context = Context::new();
    let page = Page::of(review, options);
    context.insert("title", &page.title);
    context.insert("headline", &words::headline(review));
    context.insert("command", &options.command.as_deref().map(visible));
    context.insert("findings", &page.findings);
    context.insert("images", &page.images);
    context.insert("replicas", &page.replicas);
    context.insert("targets", &page.targets);
    context.insert("kinds", &page.kinds);
    context.insert("unchanged", &page.unchanged);
    context.insert("style", STYLE);
    context.insert("style_hash", &hash(STYLE));
    context.insert("script", SCRIPT);
    context.insert("script_hash", &hash(SCRIPT));
    tera.render("page.html", &context).expect("a test renders the page")
}

/// Returns the hash of a script for the content security policy.
fn hash(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text)))
}

/// All texts of a page, as they are shown.
struct Page {
    title: String,
    findings: Vec<FindingGroup>,
    images: Vec<ChangeRow>,
    replicas: Vec<ChangeRow>,
    targets: Vec<TargetSection>,
    kinds: BTreeSet<String>,
    unchanged: Option<String>,
}

#[derive(Serialize)]
struct FindingGroup {
    title: &'static str,
    level: &'static str,
    is_open: bool,
    findings: Vec<FindingRow>,
}

#[derive(Serialize)]
struct FindingRow {
    level: &'static str,
    object: Option<String>,
    message: Vec<MessagePart>,
    target: String,
    path: Option<String>,
    location: Option<String>,
}

/// A part of a message: code in backticks, or text.
#[derive(Serialize)]
struct MessagePart {
    text: String,
    is_code: bool,
}

#[derive(Serialize)]
struct ChangeRow {
    object: String,
    field: String,
    target: String,
    old: String,
    new: String,
}

#[derive(Serialize)]
struct TargetSection {
    name: String,
    kind: &'static str,
    own_name: String,
    status: String,
    class: &'static str,
    origin: Option<String>,
    errors: Vec<ErrorRow>,
    warnings: Vec<WarningRow>,
    plan: Option<Value>,
    objects: Vec<ObjectSection>,
    changed: usize,
    added: usize,
    removed: usize,
    hidden: Option<String>,
    hidden_count: usize,
}

#[derive(Serialize)]
struct WarningRow {
    message: Vec<MessagePart>,
    is_new: bool,
}

#[derive(Serialize)]
struct ErrorRow {
    side: &'static str,
    text: String,
}

#[derive(Serialize)]
struct ObjectSection {
    kind: String,
    name: String,
    class: &'static str,
    status: String,
    search: String,
    plus: usize,
    minus: usize,
    fields: Vec<String>,
    more_fields: usize,
    diff: String,
}

impl Page {
    fn of(review: &Review, options: &FormatOptions) -> Self {
        let told = || review.targets.iter().filter(|target| words::is_told(target));
        let unchanged = review.targets.len() - told().count();
        let objects = told().flat_map(|target| &target.objects);
        Self {
            title: options.title.as_deref().map_or_else(|| "Review".to_owned(), visible),
            findings: finding_groups(&review.summary.findings),
            images: images(review),
            replicas: replicas(review),
            targets: told().map(target_section).collect(),
            kinds: objects.map(|object| visible(&object.id.kind)).collect(),
            unchanged: (unchanged > 0)
                .then(|| format!("{} as before.", number(unchanged, "other is", "others are"))),
        }
    }
}

fn finding_groups(findings: &[Finding]) -> Vec<FindingGroup> {
    let groups = findings.chunk_by(|one, next| one.rule == next.rule);
    let row = |finding: &Finding| FindingRow {
        level: level(finding.level),
        object: finding.object.as_ref().map(|object| visible(&object.to_string())),
        message: message(&finding.message),
        target: visible(&finding.target),
        path: finding.path.as_deref().map(visible),
        location: finding.location.as_ref().map(|location| visible(&location.to_string())),
    };
    let group = |group: &[Finding]| FindingGroup {
        title: group[0].rule.title(),
        level: level(group[0].level),
        is_open: group.len() <= FOLD_THRESHOLD,
        findings: group.iter().map(row).collect(),
    };
    groups.map(group).collect()
}

fn message(text: &str) -> Vec<MessagePart> {
    let text = text.lines().map(visible).collect::<Vec<_>>().join("\n");
    // A backtick without another one is only a backtick.
    let marks = text.matches('`').count() / 2 * 2;
    let parts = text.splitn(marks + 1, '`').enumerate();
    parts.map(|(at, text)| MessagePart { text: text.to_owned(), is_code: at % 2 == 1 }).collect()
}

fn level(level: Level) -> &'static str {
    match level {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Note => "note",
    }
}

fn images(review: &Review) -> Vec<ChangeRow> {
    let shown = |image: &Option<String>| image.as_deref().map_or_else(|| "–".to_owned(), visible);
    let row = |change: &crate::model::ImageChange| ChangeRow {
        object: visible(&change.object.to_string()),
        field: visible(&change.path),
        target: visible(&change.target),
        old: shown(&change.old),
        new: shown(&change.new),
    };
    review.summary.images.iter().map(row).collect()
}

fn replicas(review: &Review) -> Vec<ChangeRow> {
    let shown = |number: Option<i64>| number.map_or_else(|| "–".to_owned(), |number| number.to_string());
    let row = |change: &crate::model::ReplicaChange| ChangeRow {
        object: visible(&change.object.to_string()),
        field: visible(change.path.rsplit('.').next().unwrap_or_default()),
        target: visible(&change.target),
        old: shown(change.old),
        new: shown(change.new),
    };
    review.summary.replicas.iter().map(row).collect()
}

fn target_section(target: &TargetReview) -> TargetSection {
    let count = |status| target.objects.iter().filter(|object| object.status == status).count();
    let errors = [
        ("Not rendered before the change", &target.base_error),
        ("Not rendered after the change", &target.head_error),
    ];
    let error = |(side, error): (&'static str, &Option<String>)| {
        let text = error.as_ref()?.lines().map(visible).collect::<Vec<_>>().join("\n");
        Some(ErrorRow { side, text })
    };
    let Hidden { noise, ignored, reordered } = target.hidden;
    TargetSection {
        name: visible(&target.to_string()),
        kind: target.kind.as_str(),
        own_name: visible(&target.name),
        status: visible(&words::target_status(target)),
        class: match target.status {
            TargetStatus::Added => "added",
            TargetStatus::Removed => "removed",
            TargetStatus::Changed | TargetStatus::Unchanged => "changed",
            TargetStatus::FailedBefore | TargetStatus::FailedAfter | TargetStatus::FailedBoth => "failed",
        },
        origin: target.origin.as_ref().map(|origin| visible(&origin.to_string())),
        errors: errors.into_iter().filter_map(error).collect(),
        warnings: target
            .warnings
            .iter()
            .map(|warning| WarningRow { message: message(&warning.message), is_new: warning.is_new })
            .collect(),
        plan: target.plan.as_ref().map(plan),
        objects: target.objects.iter().map(object_section).collect(),
        changed: count(ObjectStatus::Changed),
        added: count(ObjectStatus::Added),
        removed: count(ObjectStatus::Removed),
        hidden: words::hidden(target.hidden),
        hidden_count: noise + ignored + reordered,
    }
}

fn plan(plan: &Plan) -> Value {
    let steps = plan.steps.iter().map(|step| {
        let objects = step.objects.iter().map(|object| {
            let note = object.note.as_deref().map(visible);
            json!({"action": visible(&object.action), "object": visible(&object.object), "note": note})
        });
        json!({"title": visible(&step.title), "objects": objects.collect::<Vec<_>>()})
    });
    steps.collect()
}

fn object_section(object: &ObjectReview) -> ObjectSection {
    let side = |text: &'_ Option<String>| text.clone().unwrap_or_default();
    let (before, after) = (side(&object.before), side(&object.after));
    let hunks = hunks(&before, &after);
    let count = |op| hunks.iter().flat_map(|hunk| &hunk.lines).filter(|line| line.op == op).count();
    let name = match object.id.namespace.as_str() {
        "" => visible(&object.id.name),
        namespace => visible(&format!("{namespace}/{}", object.id.name)),
    };
    let fields: Vec<String> =
        object.fields.iter().map(|field| visible(&field.path)).filter(|path| !path.is_empty()).collect();
    ObjectSection {
        kind: visible(&object.id.kind),
        search: visible(&format!("{} {}", object.id, object.id.api_version)).to_lowercase(),
        name,
        class: object.status.as_str(),
        status: visible(&words::object_status(object)),
        plus: count(Op::New),
        minus: count(Op::Old),
        more_fields: fields.len().saturating_sub(MAX_NAMED_FIELDS),
        fields: fields.into_iter().take(MAX_NAMED_FIELDS).collect(),
        diff: data(&hunks),
    }
}

/// Returns hunks as JSON that is safe inside an HTML element: `[[old line, new line, [[sign, text, start, end, …], …]], …]`.
fn data(hunks: &[Hunk<'_>]) -> String {
    let hunk = |hunk: &Hunk<'_>| {
        let lines: Vec<Value> = hunk.lines.iter().map(line).collect();
        json!([hunk.old.start + 1, hunk.new.start + 1, lines])
    };
    let json = Value::from_iter(hunks.iter().map(hunk)).to_string();
    json.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

fn line(line: &Line<'_>) -> Value {
    // Scripts count in units of UTF-16, and in the text as it is shown.
    let units = |at: usize| visible(&line.text[..at]).encode_utf16().count();
    let mut parts = vec![json!(line.op.sign().to_string()), json!(visible(line.text))];
    parts.extend(line.marks.iter().flat_map(|mark| [json!(units(mark.start)), json!(units(mark.end))]));
    Value::Array(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_closes_no_element_and_counts_as_scripts_do() {
        let text = data(&hunks("a: 😀</script> one\n", "a: 😀</script> two\n"));
        assert!(!text.contains('<'));
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(
            value,
            json!([[1, 1, [["-", "a: 😀</script> one", 15, 18], ["+", "a: 😀</script> two", 15, 18]]]])
        );
    }

    #[test]
    fn only_the_own_script_may_run() {
        let html = hash("alert(1)");
        assert_eq!(html, "sha256-bhHHL3z2vDgxUt0W3dWQOrprscmda2Y5pLsLg4GF+pI=");
    }
}
