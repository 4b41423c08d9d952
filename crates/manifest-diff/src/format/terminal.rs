//! For people at a terminal: what matters first, then each field that differs, with the words that differ in colour.

use std::fmt::Write as _;
use std::ops::Range;

use super::words::{self, visible};
use super::{Format, FormatOptions};
use crate::lines::{Line, Op, hunks, marks};
use crate::model::{
    FieldChange, FieldStatus, Level, ObjectReview, ObjectStatus, Review, Summary, TargetReview, TargetStatus,
};

pub(super) const FORMAT: Format = Format {
    name: "terminal",
    about: "for people: what matters, then every field that differs",
    extension: "txt",
    write,
};

fn write(review: &Review, options: &FormatOptions) -> String {
    let mut page = Page { text: String::new(), color: options.color };
    if let Some(title) = &options.title {
        page.line(0, &page.styled(Style::Bold, &visible(title)));
    }
    page.line(0, &words::headline(review).join(" · "));
    page.summary(&review.summary);
    for target in review.targets.iter().filter(|target| words::is_told(target)) {
        page.target(target);
    }
    page.text
}

#[derive(Clone, Copy)]
enum Style {
    Bold,
    Dim,
    Old,
    New,
    OldWord,
    NewWord,
    Alert,
    Caution,
}

impl Style {
    fn code(self) -> &'static str {
        match self {
            Style::Bold => "1",
            Style::Dim => "2",
            Style::Old => "31",
            Style::New => "32",
            Style::OldWord => "1;4;31",
            Style::NewWord => "1;4;32",
            Style::Alert => "1;31",
            Style::Caution => "33",
        }
    }
}

struct Page {
    text: String,
    color: bool,
}

impl Page {
    fn styled(&self, style: Style, text: &str) -> String {
        if self.color && !text.is_empty() {
            format!("\u{1b}[{}m{text}\u{1b}[0m", style.code())
        } else {
            text.to_owned()
        }
    }

    fn line(&mut self, depth: usize, text: &str) {
        // Writing to a String does not fail.
        let _ = writeln!(self.text, "{:1$}{text}", "", depth * 2);
    }

    fn summary(&mut self, summary: &Summary) {
        let mut last = None;
        for finding in &summary.findings {
            if last != Some(finding.rule) {
                self.text.push('\n');
                self.line(0, &self.styled(Style::Bold, finding.rule.title()));
                last = Some(finding.rule);
            }
            let (style, sign) = match finding.level {
                Level::Error => (Style::Alert, "✗"),
                Level::Warning => (Style::Caution, "!"),
                Level::Note => (Style::Dim, "·"),
            };
            let object = finding.object.as_ref().map(|object| format!("{object}: ")).unwrap_or_default();
            let place = self.styled(Style::Dim, &visible(&finding.target));
            let mut lines = finding.message.lines().map(visible);
            let first = format!("{}{}", visible(&object), lines.next().unwrap_or_default());
            self.line(1, &format!("{} {first}  {place}", self.styled(style, sign)));
            lines.for_each(|line| self.line(2, &line));
        }
        let images = summary
            .images
            .iter()
            .map(|change| (format!("{}", change.object), change.old.clone(), change.new.clone()));
        self.changes("Images", images.collect());
        let number = |number: Option<i64>| number.map(|number| number.to_string());
        let replicas = summary.replicas.iter().map(|change| {
            let field = change.path.rsplit('.').next().unwrap_or_default();
            (format!("{} {field}", change.object), number(change.old), number(change.new))
        });
        self.changes("Replicas", replicas.collect());
    }

    fn changes(&mut self, heading: &str, changes: Vec<(String, Option<String>, Option<String>)>) {
        if changes.is_empty() {
            return;
        }
        self.text.push('\n');
        self.line(0, &self.styled(Style::Bold, heading));
        let none = || "–".to_owned();
        for (what, old, new) in changes {
            let old = self.styled(Style::Old, &old.map_or_else(none, |old| visible(&old)));
            let new = self.styled(Style::New, &new.map_or_else(none, |new| visible(&new)));
            self.line(1, &format!("{}  {old} → {new}", visible(&what)));
        }
    }

    fn target(&mut self, target: &TargetReview) {
        self.text.push('\n');
        let style = match target.status {
            TargetStatus::FailedAfter | TargetStatus::FailedBoth => Style::Alert,
            _ => Style::Caution,
        };
        let status = self.styled(style, &visible(&words::target_status(target)));
        let name = self.styled(Style::Bold, &visible(&target.to_string()));
        self.line(0, &format!("{name}  {status}"));
        for (side, error) in [("before", &target.base_error), ("after", &target.head_error)] {
            for (at, line) in error.iter().flat_map(|error| error.lines()).enumerate() {
                let side = if at == 0 { format!("{side}: ") } else { String::new() };
                self.line(1, &format!("{side}{}", visible(line)));
            }
        }
        for warning in target.warnings.iter().filter(|warning| warning.is_new) {
            self.line(
                1,
                &format!("{} {}", self.styled(Style::Caution, "new warning:"), visible(&warning.message)),
            );
        }
        target.objects.iter().for_each(|object| self.object(object));
        if let Some(hidden) = words::hidden(target.hidden) {
            self.line(1, &self.styled(Style::Dim, &hidden));
        }
    }

    fn object(&mut self, object: &ObjectReview) {
        let style = match object.status {
            ObjectStatus::Added => Style::New,
            ObjectStatus::Removed => Style::Old,
            ObjectStatus::Changed => Style::Caution,
        };
        let name = self.styled(Style::Bold, &visible(&object.id.to_string()));
        let status = self.styled(style, &visible(&words::object_status(object)));
        self.line(1, &format!("{name}  {status}"));
        match object.status {
            ObjectStatus::Added => self.text_lines(Op::New, object.after.as_deref().unwrap_or_default()),
            ObjectStatus::Removed => self.text_lines(Op::Old, object.before.as_deref().unwrap_or_default()),
            ObjectStatus::Changed => object.fields.iter().for_each(|field| self.field(field)),
        }
    }

    fn field(&mut self, field: &FieldChange) {
        let mut path = visible(&field.path);
        if field.is_volatile {
            path += "  (changes on every render)";
        }
        if field.status == FieldStatus::Reordered {
            path += "  (order)";
        }
        self.line(2, &self.styled(Style::Dim, &path));
        if let Some(tags) = words::tags(field) {
            return self.line(3, &format!("~ {tags}"));
        }
        let text = |value: &Option<serde_json::Value>| value.as_ref().map(words::lines);
        match (text(&field.old), text(&field.new)) {
            (Some(old), Some(new)) if old.contains('\n') || new.contains('\n') => {
                for (at, hunk) in hunks(&format!("{old}\n"), &format!("{new}\n")).into_iter().enumerate() {
                    if at > 0 {
                        self.line(3, &self.styled(Style::Dim, "…"));
                    }
                    hunk.lines.iter().for_each(|line| self.diff_line(line));
                }
            }
            (Some(old), Some(new)) => {
                let (removed, added) = marks(&old, &new);
                self.diff_line(&Line { op: Op::Old, text: &old, marks: removed });
                self.diff_line(&Line { op: Op::New, text: &new, marks: added });
            }
            (old, new) => {
                self.text_lines(Op::Old, old.as_deref().unwrap_or_default());
                self.text_lines(Op::New, new.as_deref().unwrap_or_default());
            }
        }
    }

    fn text_lines(&mut self, op: Op, text: &str) {
        for text in text.lines() {
            self.diff_line(&Line { op, text, marks: Vec::new() });
        }
    }

    fn diff_line(&mut self, line: &Line<'_>) {
        let (plain, marked) = match line.op {
            Op::Same => (None, Style::Dim),
            Op::Old => (Some(Style::Old), Style::OldWord),
            Op::New => (Some(Style::New), Style::NewWord),
        };
        let part = |style: Option<Style>, range: Range<usize>| {
            let text = visible(&line.text[range]);
            style.map_or_else(|| text.clone(), |style| self.styled(style, &text))
        };
        let sign = line.op.sign().to_string();
        let mut text = plain.map_or_else(|| sign.clone(), |style| self.styled(style, &sign)) + " ";
        let mut done = 0;
        for mark in &line.marks {
            text += &part(plain, done..mark.start);
            text += &part(Some(marked), mark.clone());
            done = mark.end;
        }
        text += &part(plain, done..line.text.len());
        self.line(3, text.trim_end());
    }
}
