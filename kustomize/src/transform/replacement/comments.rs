//! The comments of a YAML text that is written anew.
//!
//! In: the old text and its comments, the tree that was read from it and then changed, and the new text of that tree
//! without comments. Out: the new text with the comments where go-yaml puts them, which keeps them at what they stand
//! above, behind or below, and blank lines only where it needs them. A comment inside brackets is lost.

use yamltree::{Comment, Dialect, Kind, Node, ParseOptions, SourceId, Style, parse_first};

/// The number by which the nodes of the old text are known.
pub(super) const OLD_TEXT: SourceId = SourceId::MAX - 1;

/// The new text with the comments, and how many were lost.
pub(super) fn restored(old: &str, comments: &[Comment], root: &Node, new: &str) -> (String, usize) {
    let options = ParseOptions { dialect: Dialect::V3, ..ParseOptions::default() };
    let document =
        if comments.is_empty() { None } else { parse_first(new, OLD_TEXT, &options).ok().flatten() };
    let Some(document) = document else { return (new.to_owned(), comments.len()) };
    let mut restoration = Restoration {
        old: Lines::new(old),
        new: Lines::new(new),
        anchors: Vec::new(),
        levels: vec![Level { old_column: 0, new_column: 0, outer: None }],
        output: Vec::new(),
        lost: 0,
    };
    restoration.output = vec![Line::default(); restoration.new.starts.len()];
    restoration.anchor(root, &document.root);
    restoration.place(comments);
    (restoration.text(), restoration.lost)
}

struct Restoration<'t> {
    old: Lines<'t>,
    new: Lines<'t>,
    /// The keys and values of the old text, in its order.
    anchors: Vec<Anchor>,
    levels: Vec<Level>,
    /// The comments around each line of the new text.
    output: Vec<Line>,
    lost: usize,
}

/// A key or a value which is no block collection.
#[derive(Clone, Copy)]
struct Anchor {
    start: usize,
    end: usize,
    /// The lines that it takes in the new text.
    first: usize,
    last: usize,
    /// The block collection that it is in.
    level: usize,
    form: Form,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Plain,
    Block,
    /// In quotes or brackets.
    Delimited,
}

/// A block collection, by its columns in both texts.
struct Level {
    old_column: usize,
    new_column: usize,
    outer: Option<usize>,
}

#[derive(Clone, Default)]
struct Line {
    before: Vec<String>,
    /// Comments between a dash and what follows it.
    after_dash: Vec<String>,
    behind: Option<String>,
    after: Vec<String>,
}

/// Comments that stand alone, one below the other in the same column.
struct Run<'t> {
    column: usize,
    lines: Vec<&'t str>,
    blank_before: bool,
    blank_after: bool,
}

struct Lines<'t> {
    text: &'t str,
    starts: Vec<usize>,
}

impl<'t> Lines<'t> {
    fn new(text: &'t str) -> Self {
        let breaks = text.match_indices('\n').map(|(at, _)| at + 1).filter(|&at| at < text.len());
        Self { text, starts: [0].into_iter().chain(breaks).collect() }
    }

    fn number(&self, offset: usize) -> usize {
        self.starts.partition_point(|&start| start <= offset) - 1
    }

    fn line(&self, number: usize) -> &'t str {
        let end = self.starts.get(number + 1).copied().unwrap_or(self.text.len());
        self.text[self.starts[number]..end].trim_end_matches(['\n', '\r'])
    }

    fn between(&self, start: usize, end: usize) -> &'t str {
        self.text.get(start..end).unwrap_or_default()
    }

    fn column(&self, offset: usize) -> usize {
        offset - self.starts[self.number(offset)]
    }

    fn indent(&self, number: usize) -> usize {
        let line = self.line(number);
        line.len() - line.trim_start_matches(' ').len()
    }

    fn is_blank(&self, number: usize) -> bool {
        self.line(number).trim().is_empty()
    }
}

impl<'t> Restoration<'t> {
    /// Notes where the nodes of the old text stand in the new one.
    fn anchor(&mut self, old: &Node, new: &Node) {
        let mut open = vec![(old, new, 0)];
        while let Some((old, new, level)) = open.pop() {
            let (start, end) = (new.span.start as usize, new.span.end as usize);
            let is_block = new.style != Style::Flow;
            match (&old.kind, &new.kind) {
                (Kind::Mapping(olds), Kind::Mapping(news)) if is_block && !news.is_empty() => {
                    let level = self.enter(old, start, level);
                    for (old, new) in olds.iter().zip(news) {
                        open.extend([(&old.key, &new.key, level), (&old.value, &new.value, level)]);
                    }
                }
                (Kind::Sequence(olds), Kind::Sequence(news)) if is_block && !news.is_empty() => {
                    let level = self.enter(old, start, level);
                    open.extend(olds.iter().zip(news).map(|(old, new)| (old, new, level)));
                }
                _ if old.span.source == OLD_TEXT => {
                    let form = match old.style {
                        Style::Literal | Style::Folded => Form::Block,
                        Style::Plain if old.is_scalar() => Form::Plain,
                        _ => Form::Delimited,
                    };
                    let first = self.new.number(start);
                    let last = self.new.number(end.saturating_sub(1).max(start));
                    let (start, end) = (old.span.start as usize, old.span.end as usize);
                    self.anchors.push(Anchor { start, end, first, last, level, form });
                }
                _ => {}
            }
        }
        self.anchors.sort_by_key(|anchor| anchor.start);
    }

    fn enter(&mut self, old: &Node, new_start: usize, outer: usize) -> usize {
        let new_column = self.new.column(new_start);
        let is_old = old.span.source == OLD_TEXT;
        let old_column = if is_old { self.old.column(old.span.start as usize) } else { new_column };
        self.levels.push(Level { old_column, new_column, outer: Some(outer) });
        self.levels.len() - 1
    }

    fn place(&mut self, comments: &[Comment]) {
        let mut from = 0;
        while let Some(first) = comments.get(from) {
            let start = first.span.start as usize;
            let next = self.anchors.partition_point(|anchor| anchor.start <= start);
            let until = self.anchors.get(next).map_or(usize::MAX, |anchor| anchor.start);
            let count =
                comments[from..].iter().take_while(|comment| (comment.span.start as usize) < until).count();
            self.place_between(next, &comments[from..from + count]);
            from += count;
        }
    }

    /// Places the comments between an anchor and the one before it.
    fn place_between(&mut self, next: usize, mut comments: &[Comment]) {
        let previous = next.checked_sub(1).map(|previous| self.anchors[previous]);
        let from = previous.map_or(0, |anchor| anchor.end);
        let mut after_dash = Vec::new();
        while let Some((comment, rest)) = comments.split_first() {
            let start = comment.span.start as usize;
            if start < from {
                let is_header = previous.is_some_and(|anchor| anchor.form == Form::Block);
                if let (true, Some(anchor)) = (is_header, previous) {
                    self.output[anchor.first].behind = Some(self.comment(comment).to_owned());
                } else {
                    self.lost += 1;
                }
            } else if !after_dash.is_empty() || self.old.between(from, start).trim_end().ends_with('-') {
                after_dash.push(self.comment(comment).to_owned());
            } else if let (false, Some(anchor)) = (comment.own_line, previous) {
                self.output[anchor.last].behind = Some(self.comment(comment).to_owned());
            } else {
                break;
            }
            comments = rest;
        }
        if !after_dash.is_empty() {
            match self.anchors.get(next) {
                Some(anchor) => self.output[anchor.first].after_dash.extend(after_dash),
                None => self.lost += after_dash.len(),
            }
        }
        let runs = self.runs(comments);
        self.place_runs(previous, self.anchors.get(next).copied(), runs);
    }

    /// Groups comments that stand alone.
    fn runs(&self, comments: &[Comment]) -> Vec<Run<'t>> {
        let mut runs: Vec<Run<'t>> = Vec::new();
        for comment in comments {
            let start = comment.span.start as usize;
            let (number, column) = (self.old.number(start), self.old.column(start));
            let is_blank = |number: Option<usize>| {
                number.is_some_and(|number| number < self.old.starts.len() && self.old.is_blank(number))
            };
            let blank_before = is_blank(number.checked_sub(1));
            let blank_after = is_blank(number.checked_add(1));
            let text = self.comment(comment);
            match runs.last_mut() {
                Some(run) if !blank_before && run.column == column => {
                    run.lines.push(text);
                    run.blank_after = blank_after;
                }
                _ => runs.push(Run { column, lines: vec![text], blank_before, blank_after }),
            }
        }
        runs
    }

    /// Places comments that stand alone between two anchors: below what is before them, or above what follows.
    fn place_runs(&mut self, previous: Option<Anchor>, next: Option<Anchor>, mut runs: Vec<Run<'t>>) {
        // On the first line go-yaml does not see that a comment is close, unless it has looked for more of a value there.
        if let (Some(previous), Some(run)) = (previous, runs.first_mut()) {
            let was_left = previous.form == Form::Delimited || self.output[previous.last].behind.is_some();
            run.blank_before |= was_left && self.old.number(previous.start) == 0;
        }
        let feet = match previous {
            Some(previous) => {
                let parted = runs.iter().position(|run| run.blank_before).unwrap_or(runs.len());
                let is_foot =
                    |&(at, run): &(usize, &Run<'_>)| self.is_foot(&previous, next.as_ref(), run, at < parted);
                runs.iter().enumerate().take_while(is_foot).count()
            }
            None => 0,
        };
        let (feet, heads) = runs.split_at(feet);
        let mut foot_indent = None;
        if let Some(previous) = previous {
            for run in feet {
                let indent = self.foot_indent(previous.level, run.column);
                let after = &mut self.output[previous.last].after;
                if foot_indent == Some(indent) || (next.is_none() && run.blank_before && indent == 0) {
                    after.push(String::new());
                }
                after.extend(run.lines.iter().map(|line| indented(indent, line)));
                foot_indent = Some(indent);
            }
        }
        let Some(next) = next else { return };
        let indent = self.new.indent(next.first);
        let before = &mut self.output[next.first].before;
        if foot_indent == Some(indent) {
            before.push(String::new());
        }
        for (at, run) in heads.iter().enumerate() {
            if at > 0 && run.blank_before {
                before.push(String::new());
            }
            before.extend(run.lines.iter().map(|line| indented(indent, line)));
        }
        if previous.is_none() && heads.last().is_some_and(|run| run.blank_after) {
            before.push(String::new());
        }
    }

    fn is_foot(&self, previous: &Anchor, next: Option<&Anchor>, run: &Run<'_>, is_close: bool) -> bool {
        let Some(next) = next else { return true };
        let indent = self.levels[previous.level].old_column;
        let next_column = self.old.indent(self.old.number(next.start));
        if next_column < indent && run.column != next_column {
            return true;
        }
        let is_opened = self.old.between(previous.end, next.start).trim_start().starts_with(':');
        is_close && run.blank_after && (!is_opened || run.column < indent)
    }

    /// The column of a comment below a block collection, or below one around it.
    fn foot_indent(&self, level: usize, column: usize) -> usize {
        let outward = std::iter::successors(Some(level), |&level| self.levels[level].outer);
        let mut levels = outward.map(|level| &self.levels[level]);
        levels.find(|level| level.old_column <= column).map_or(0, |level| level.new_column)
    }

    fn text(&self) -> String {
        let mut lines: Vec<String> = Vec::with_capacity(self.output.len());
        for (number, around) in self.output.iter().enumerate() {
            lines.extend(around.before.iter().cloned());
            let mut line = self.new.line(number).to_owned();
            if !around.after_dash.is_empty() {
                let inner = self.new.indent(number) + 2;
                let dash = line.get(..inner).unwrap_or_default().to_owned();
                for (at, comment) in around.after_dash.iter().enumerate() {
                    lines.push(if at == 0 {
                        format!("{dash}{comment}")
                    } else {
                        format!("{:inner$}{comment}", "")
                    });
                }
                line = indented(inner, line.get(inner..).unwrap_or_default());
            }
            if let Some(comment) = &around.behind {
                line = format!("{line} {comment}");
            }
            lines.push(line);
            lines.extend(around.after.iter().cloned());
        }
        lines.join("\n")
    }

    fn comment(&self, comment: &Comment) -> &'t str {
        self.old.between(comment.span.start as usize, comment.span.end as usize).trim_end()
    }
}

fn indented(indent: usize, text: &str) -> String {
    format!("{}{text}", " ".repeat(indent))
}

#[cfg(test)]
mod tests {
    use yamltree::{EmitOptions, to_kyaml};

    use super::*;

    /// The text after a way through the tree. What is wanted is what `kustomize build` makes of such texts when it
    /// replaces a field in them.
    #[track_caller]
    fn check(old: &str, wanted: &str) {
        let options = ParseOptions { dialect: Dialect::V3, comments: true, ..ParseOptions::default() };
        let document = parse_first(old, OLD_TEXT, &options).unwrap().unwrap();
        let mut new = String::new();
        to_kyaml(&document.root, EmitOptions::KYAML, &mut new);
        let (text, lost) = restored(old, &document.comments, &document.root, &new);
        assert_eq!((text.trim(), lost), (wanted, 0));
    }

    #[test]
    fn comments_above() {
        check("# a\na: 1\n", "# a\na: 1");
        check("# a\n\n# b\n\na: 1\n", "# a\n\n# b\n\na: 1");
        check("a: 1\n\n# b\n\nb: 2\n", "a: 1\n# b\nb: 2");
        check("a:\n    # b\n    b: 1\n", "a:\n  # b\n  b: 1");
        check(
            "l:\n  # x\n  - x\n  # y\n  - y: 1\n    # z\n    z: 2\n",
            "l:\n# x\n- x\n# y\n- y: 1\n  # z\n  z: 2",
        );
    }

    #[test]
    fn comments_behind() {
        check("a: 1   # a\nb: # b\n  c: 'x' # c\n", "a: 1 # a\nb: # b\n  c: 'x' # c");
        check("a: | # a\n  # text\n", "a: | # a\n  # text");
        check("- # a\n  # b\n  a: 1\n-\n  # c\n  b: 2\n", "- # a\n  # b\n  a: 1\n- # c\n  b: 2");
    }

    #[test]
    fn comments_below() {
        check("a: 1\n# a\n\nb: 2\n", "a: 1\n# a\n\nb: 2");
        check("a:\n    b: 1\n    # b\nc: 2\n", "a:\n  b: 1\n  # b\nc: 2");
        check("a:\n  b: 1\n# a\n\nc: 2\n", "a:\n  b: 1\n# a\n\nc: 2");
        check("a:\n    b:\n        - x\n        # x\n# a\n", "a:\n  b:\n  - x\n  # x\n# a");
    }

    #[test]
    fn comments_at_the_end() {
        check("a: 1\n# a\n\n# b\n", "a: 1\n# a\n\n# b");
        check("a: 1\n\n\n# a\n", "a: 1\n\n# a");
        check("a: 1\nb: 2 # b\n# c\n", "a: 1\nb: 2 # b\n# c");
        // On the first line the comment behind counts as a blank line.
        check("a: 1 # a\n# b\n", "a: 1 # a\n\n# b");
    }

    /// go-yaml moves this comment behind the next item.
    #[test]
    fn a_comment_below_an_item_stays_there() {
        check("- a: 1\n# a\n\n- b: 2\n", "- a: 1\n# a\n\n- b: 2");
    }

    #[test]
    fn a_comment_in_brackets_is_lost() {
        let old = "a: [1, # x\n  2]\n";
        let options = ParseOptions { dialect: Dialect::V3, comments: true, ..ParseOptions::default() };
        let document = parse_first(old, OLD_TEXT, &options).unwrap().unwrap();
        let (text, lost) = restored(old, &document.comments, &document.root, "a: [1, 2]\n");
        assert_eq!((text.as_str(), lost), ("a: [1, 2]", 1));
    }
}
