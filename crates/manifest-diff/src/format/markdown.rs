//! A comment on a pull request: never longer than it may be, and what matters comes first.
//!
//! A diff that does not fit is replaced by one line: small diffs come before large ones, so that
//! most are there. Diffs are folded by target. Text of manifests is code, in fences longer than any of its own, or
//! is escaped, so that it makes no markup and calls nobody.

use std::fmt::Write as _;

use super::words::{self, number, visible};
use super::{Format, FormatOptions, unified};
use crate::lines::{Op, hunks};
use crate::model::{Level, ObjectReview, Review, Summary, TargetReview};

pub(super) const FORMAT: Format = Format {
    name: "markdown",
    about: "a comment for a pull request, within a limit",
    extension: "md",
    write,
};

/// Maximum length of a GitHub comment.
const GITHUB_COMMENT_LIMIT: usize = 65_536;

/// The maximum length of titles, commands and URLs.
const MAX_TITLE_LEN: usize = 300;

/// The maximum length of an error or a finding in a list.
const MAX_MESSAGE_LEN: usize = 600;

/// The room reserved for the closing sentence about omitted diffs.
const CLOSING_RESERVE: usize = 400;

/// The maximum number of lines of a target's diffs that are shown unfolded.
const FOLD_THRESHOLD: usize = 20;

fn write(review: &Review, options: &FormatOptions) -> String {
    let limit = options.limit.unwrap_or(GITHUB_COMMENT_LIMIT);
    let mut text = opening(review, options);
    if len(&text) + CLOSING_RESERVE > limit {
        return cut(&text, limit);
    }
    let mut left = limit - len(&text) - CLOSING_RESERVE;
    // Even where all lists are long there is room for diffs.
    for (section, share) in [(findings(&review.summary), 2), (changes(&review.summary), 3)] {
        let section = section.within(left / share);
        left -= len(&section);
        text += &section;
    }
    let (diffs, omitted) = Diffs::of(review).within(left);
    text += &diffs;
    text += &closing(&omitted, options);
    text
}

/// The title, what changes in numbers, and where to read more.
fn opening(review: &Review, options: &FormatOptions) -> String {
    let mut text = "## Rendered changes".to_owned();
    if let Some(title) = &options.title {
        let _ = write!(text, ": {}", code(&shortened(title, MAX_TITLE_LEN)));
    }
    let mut phrases = words::headline(review).into_iter();
    let _ = write!(text, "\n\n**{}**", phrases.next().unwrap_or_default());
    phrases.for_each(|phrase| text += &format!(" · {phrase}"));
    text.push('\n');
    if let Some(report) = &options.full_report {
        let _ = write!(text, "\nThe whole report: {}\n", link(&shortened(report, MAX_TITLE_LEN)));
    }
    if let Some(command) = &options.command {
        let _ = write!(text, "\nThe same by hand: {}\n", code(&shortened(command, MAX_TITLE_LEN)));
    }
    text
}

/// A heading with lines, of which only some may fit.
struct Section {
    lines: Vec<(Option<String>, String)>,
    what: &'static str,
}

impl Section {
    /// As many lines as fit, and how many do not. Each line brings its heading if it is the first below it.
    fn within(self, limit: usize) -> String {
        let count = self.lines.len();
        let mut text = String::new();
        let mut used = CLOSING_RESERVE / 4;
        let mut heading = None;
        for (at, (of, line)) in self.lines.into_iter().enumerate() {
            let mut block = String::new();
            if of.is_some() && of != heading {
                let _ = write!(block, "\n{}\n", of.as_deref().unwrap_or_default());
                heading = of;
            }
            block += &line;
            if used + len(&block) > limit {
                if used + CLOSING_RESERVE / 4 <= limit {
                    let _ = write!(text, "\n… and {} more {}\n", count - at, self.what);
                }
                break;
            }
            used += len(&block);
            text += &block;
        }
        text
    }
}

fn findings(summary: &Summary) -> Section {
    let line = |finding: &crate::model::Finding| {
        let sign = match finding.level {
            Level::Error => "🛑",
            Level::Warning => "⚠️",
            Level::Note => "ℹ️",
        };
        let object = finding.object.as_ref().map(|object| format!("{}: ", code(&object.to_string())));
        let message = escaped(&shortened(&finding.message, MAX_MESSAGE_LEN));
        let heading = format!("**{}**\n", finding.rule.title());
        let object = object.unwrap_or_default();
        (Some(heading), format!("- {sign} {object}{message} ({})\n", code(&finding.target)))
    };
    Section { lines: summary.findings.iter().map(line).collect(), what: "findings" }
}

fn changes(summary: &Summary) -> Section {
    let row = |object: String, old: Option<String>, new: Option<String>| {
        let cell = |value: Option<String>| value.map_or_else(|| "–".to_owned(), |value| cell(&value));
        format!("| {} | {} | {} |\n", self::cell(&object), cell(old), cell(new))
    };
    let images = summary.images.iter().map(|change| {
        let heading = "| Image of | before | after |\n|---|---|---|".to_owned();
        (Some(heading), row(change.object.to_string(), change.old.clone(), change.new.clone()))
    });
    let number = |number: Option<i64>| number.map(|number| number.to_string());
    let replicas = summary.replicas.iter().map(|change| {
        let heading = "| Replicas of | before | after |\n|---|---|---|".to_owned();
        (Some(heading), row(change.object.to_string(), number(change.old), number(change.new)))
    });
    Section { lines: images.chain(replicas).collect(), what: "images and replicas" }
}

/// The diffs of all objects, by target.
struct Diffs<'r> {
    targets: Vec<&'r TargetReview>,
    blocks: Vec<Block>,
}

/// The shown part of one object.
struct Block {
    /// The number of its target.
    target: usize,
    text: String,
    len: usize,
    /// A line in its place.
    short: String,
    short_len: usize,
    lines: usize,
}

/// Part of a block is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shown {
    Nothing,
    Line,
    Diff,
}

/// The omitted parts.
#[derive(Default)]
struct Omitted {
    objects: usize,
    lines: usize,
}

impl<'r> Diffs<'r> {
    fn of(review: &'r Review) -> Self {
        // An error after the change is among the findings already.
        let has_more = |target: &&TargetReview| !target.objects.is_empty() || target.head_error.is_none();
        let targets: Vec<_> =
            review.targets.iter().filter(|target| words::is_told(target)).filter(has_more).collect();
        let mut blocks = Vec::new();
        for (at, target) in targets.iter().enumerate() {
            blocks.extend(target.objects.iter().map(|object| block(at, object)));
        }
        Self { targets, blocks }
    }

    /// The smallest diffs that fit together, in the order of the report.
    fn within(&self, limit: usize) -> (String, Omitted) {
        let mut order: Vec<usize> = (0..self.blocks.len()).collect();
        order.sort_by_key(|at| self.blocks[*at].len);
        let (mut shown, mut is_begun) =
            (vec![Shown::Nothing; self.blocks.len()], vec![false; self.targets.len()]);
        let mut left = limit;
        // Targets without objects have something to say as well: errors, warnings, hidden differences.
        for (at, target) in self.targets.iter().enumerate().filter(|(_, target)| target.objects.is_empty()) {
            let needed = len(&begun(target, true, 0)) + len(END);
            if needed <= left {
                left -= needed;
                is_begun[at] = true;
            }
        }
        let frame = |target: usize, is_begun: &[bool]| match is_begun[target] {
            true => 0,
            // What is said of those that are left out is counted from the start.
            false => len(&begun(self.targets[target], true, usize::MAX)) + len(END),
        };
        // First one line for each, then diffs replace lines.
        let mut left_for_lines = left / 3;
        for (at, block) in self.blocks.iter().enumerate() {
            let needed = block.short_len + frame(block.target, &is_begun);
            if needed <= left_for_lines {
                (left, left_for_lines) = (left - needed, left_for_lines - needed);
                (shown[at], is_begun[block.target]) = (Shown::Line, true);
            }
        }
        for at in order {
            let block = &self.blocks[at];
            let room = left + if shown[at] == Shown::Line { block.short_len } else { 0 };
            let needed = block.len + frame(block.target, &is_begun);
            if needed <= room {
                left = room - needed;
                (shown[at], is_begun[block.target]) = (Shown::Diff, true);
            }
        }
        self.assembled(&shown, &is_begun)
    }

    fn assembled(&self, shown: &[Shown], is_begun: &[bool]) -> (String, Omitted) {
        let mut omitted = Omitted::default();
        let mut omitted_of = vec![0; self.targets.len()];
        let mut lines_of = vec![0; self.targets.len()];
        for (block, shown) in self.blocks.iter().zip(shown) {
            lines_of[block.target] += block.lines;
            if *shown != Shown::Diff {
                omitted.objects += 1;
                omitted.lines += block.lines;
                omitted_of[block.target] += usize::from(*shown == Shown::Nothing);
            }
        }
        let mut text = String::new();
        let mut blocks = self.blocks.iter().zip(shown).peekable();
        for (at, target) in self.targets.iter().enumerate() {
            if is_begun[at] {
                text += &begun(target, lines_of[at] <= FOLD_THRESHOLD, omitted_of[at]);
            }
            while let Some((block, shown)) = blocks.next_if(|(block, _)| block.target == at) {
                match shown {
                    Shown::Nothing => {}
                    Shown::Line => text += &block.short,
                    Shown::Diff => text += &block.text,
                }
            }
            if is_begun[at] {
                text += END;
            }
        }
        (text, omitted)
    }
}

const END: &str = "\n</details>\n";

/// The beginning of a target's diffs.
fn begun(target: &TargetReview, is_open: bool, omitted: usize) -> String {
    let open = if is_open { " open" } else { "" };
    let name = html(&shortened(&target.to_string(), MAX_TITLE_LEN));
    let status = html(&shortened(&words::target_status(target), MAX_TITLE_LEN));
    let mut text = format!("\n<details{open}><summary><b><code>{name}</code></b> {status}</summary>\n");
    if omitted > 0 {
        let objects = number(omitted, "object is", "objects are");
        let _ = write!(text, "\n_{objects} not shown here._\n");
    }
    if let Some(error) = &target.base_error {
        let _ = write!(text, "\nBefore: {}\n", escaped(&shortened(error, MAX_MESSAGE_LEN)));
    }
    for warning in target.warnings.iter().filter(|warning| warning.is_new).take(5) {
        let _ = write!(text, "\nNew warning: {}\n", escaped(&shortened(&warning.message, MAX_MESSAGE_LEN)));
    }
    if let Some(hidden) = words::hidden(target.hidden) {
        let _ = write!(text, "\n{hidden}\n");
    }
    text
}

fn block(target: usize, object: &ObjectReview) -> Block {
    let side = |text: &'_ Option<String>| text.clone().unwrap_or_default();
    let (before, after) = (side(&object.before), side(&object.after));
    let (mut diff, mut lines) = (String::new(), 0);
    for hunk in hunks(&before, &after) {
        unified::push_hunk(&mut diff, &hunk);
        lines += hunk.lines.iter().filter(|line| line.op != Op::Same).count();
    }
    let fence = "`".repeat(3.max(longest_run(&diff) + 1));
    let name = code(&shortened(&object.id.to_string(), MAX_TITLE_LEN));
    let status = escaped(&shortened(&words::object_status(object), MAX_TITLE_LEN));
    let text = format!("\n{name} {status}\n\n{fence}diff\n{diff}{fence}\n");
    let short = format!("\n{name} {status} – {}\n", number(lines, "changed line", "changed lines"));
    Block { target, len: len(&text), text, short_len: len(&short), short, lines }
}

/// Returns the closing note: what the comment omits, and where to find it.
fn closing(omitted: &Omitted, options: &FormatOptions) -> String {
    if omitted.objects == 0 {
        return String::new();
    }
    let objects = number(omitted.objects, "object", "objects");
    let lines = number(omitted.lines, "changed line", "changed lines");
    let place = if options.full_report.is_some() {
        "the whole report has them"
    } else {
        "`renderer diff` on your machine shows them"
    };
    format!("\n_{objects} with {lines} did not fit here; {place}._\n")
}

/// Returns how much of a limit a text takes: forges count as JavaScript does.
fn len(text: &str) -> usize {
    text.encode_utf16().count()
}

/// Returns the start of a text without splitting code that spans lines.
fn cut(text: &str, limit: usize) -> String {
    let mut left = limit;
    let keep = text.chars().take_while(|character| {
        let needed = character.len_utf16();
        let fits = needed <= left;
        left -= needed.min(left);
        fits
    });
    keep.collect()
}

fn shortened(text: &str, max: usize) -> String {
    if text.chars().nth(max).is_none() {
        return text.to_owned();
    }
    text.chars().take(max - 1).chain(['…']).collect()
}

fn longest_run(text: &str) -> usize {
    text.split(|character| character != '`').map(str::len).max().unwrap_or(0)
}

/// A text as code in a line.
fn code(text: &str) -> String {
    let text = visible(text).replace('\t', " ");
    let text = text.trim();
    if text.is_empty() {
        return "–".to_owned();
    }
    let fence = "`".repeat(longest_run(text) + 1);
    let space = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{space}{text}{space}{fence}")
}

/// The same in a table, where `|` ends a cell even in code.
fn cell(text: &str) -> String {
    code(&shortened(text, MAX_TITLE_LEN)).replace('|', "\\|")
}

/// Returns the place of the full report, as a link if it is a URL that is safe in one.
fn link(report: &str) -> String {
    let is_address = (report.starts_with("https://") || report.starts_with("http://"))
        && report.chars().all(|character| character.is_ascii_graphic() && !"<>|\\`\"".contains(character));
    if is_address { format!("<{report}>") } else { code(report) }
}

/// Escapes a text to one line without markup. Text in backticks becomes code.
fn escaped(text: &str) -> String {
    let text = words::one_line(text);
    let mut parts = text.split('`');
    let mut escaped = plain(parts.next().unwrap_or_default());
    let mut is_code = true;
    let rest: Vec<&str> = parts.collect();
    for (at, part) in rest.iter().enumerate() {
        // A backtick without a closing one is text.
        let is_closed = at + 1 < rest.len();
        match is_code {
            true if is_closed => escaped += &code(part),
            true => escaped += &format!("\\`{}", plain(part)),
            // Two codes side by side would be one.
            false if part.is_empty() && is_closed => escaped.push(' '),
            false => escaped += &plain(part),
        }
        is_code = !is_code;
    }
    escaped
}

fn plain(text: &str) -> String {
    let mut escaped = String::new();
    for character in visible(text).chars() {
        if character.is_ascii_punctuation() && !",.:;".contains(character) {
            escaped.push('\\');
        }
        escaped.push(character);
        if "@#!$&~%^".contains(character) {
            // Forges look for references in what Markdown leaves; a character of no width keeps them apart.
            escaped.push_str("&#8203;");
        }
    }
    // What begins with a scheme becomes a link by itself.
    escaped.replace("://", ":&#8203;//").replace(":\\/\\/", ":&#8203;\\/\\/").replace("www.", "www&#8203;.")
}

fn html(text: &str) -> String {
    visible(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_no_markup() {
        assert_eq!(
            escaped("a <b> [c](http://d) @all `e|f` *g*"),
            "a \\<b\\> \\[c\\]\\(http:&#8203;\\/\\/d\\) \\@&#8203;all `e|f` \\*g\\*"
        );
        assert_eq!(escaped("x ` y\n# z"), "x \\` y · \\#&#8203; z");
        assert_eq!(code("a`b"), "``a`b``");
        assert_eq!(cell("a|b"), "`a\\|b`");
        assert_eq!(html("</summary>&"), "&lt;/summary&gt;&amp;");
        assert_eq!(link("https://ci.example/1"), "<https://ci.example/1>");
        assert_eq!(link("https://ci.example/> x"), "`https://ci.example/> x`");
    }

    #[test]
    fn a_limit_counts_as_forges_count() {
        assert_eq!((len("a"), len("→"), len("😀")), (1, 1, 2));
        assert_eq!(cut("a😀b", 2), "a");
        assert_eq!(shortened("abc", 3), "abc");
        assert_eq!(shortened("abcd", 3), "ab…");
    }
}
