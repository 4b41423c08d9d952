//! Compares the lines of two texts, and the words in them.
//!
//! Input: two texts. Output: hunks of lines with some context; for replaced lines, the words that
//! differ. Linear but for a bounded search within what differs.

use std::ops::Range;

use imara_diff::{Algorithm, Diff, InternedInput};

/// The number of unchanged lines shown around a change.
const CONTEXT_LINES: usize = 3;

/// The maximum length of a line in which changed words are marked.
const MAX_MARKED_LINE: usize = 4000;

/// Lines that change, with those around.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Hunk<'t> {
    /// The lines of the old text, counted from zero.
    pub(crate) old: Range<usize>,
    /// The lines of the new text.
    pub(crate) new: Range<usize>,
    pub(crate) lines: Vec<Line<'t>>,
}

/// A line, and the bytes of it that its counterpart has not.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Line<'t> {
    pub(crate) op: Op,
    pub(crate) text: &'t str,
    pub(crate) marks: Vec<Range<usize>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    Same,
    Old,
    New,
}

impl Op {
    pub(crate) fn sign(self) -> char {
        match self {
            Op::Same => ' ',
            Op::Old => '-',
            Op::New => '+',
        }
    }
}

/// The hunks that lead from one text to another.
pub(crate) fn hunks<'t>(old: &'t str, new: &'t str) -> Vec<Hunk<'t>> {
    let input = InternedInput::new(old, new);
    // Not the histogram, which takes quadratic time where a text has the same line again and again.
    let mut diff = Diff::compute(Algorithm::Myers, &input);
    diff.postprocess_lines(&input);
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let range = |range: Range<u32>| range.start as usize..range.end as usize;
    let changes: Vec<_> = diff.hunks().map(|hunk| (range(hunk.before), range(hunk.after))).collect();
    // Changes whose context would touch are shown as one.
    changes
        .chunk_by(|(one, _), (next, _)| next.start - one.end <= 2 * CONTEXT_LINES)
        .map(|group| hunk(&old, &new, group))
        .collect()
}

fn hunk<'t>(old: &[&'t str], new: &[&'t str], group: &[(Range<usize>, Range<usize>)]) -> Hunk<'t> {
    let (first, last) = (&group[0], &group[group.len() - 1]);
    let above = CONTEXT_LINES.min(first.0.start);
    let below = CONTEXT_LINES.min(old.len() - last.0.end);
    let mut lines = Vec::new();
    let mut done = first.0.start - above;
    for (removed, added) in group {
        lines.extend(old[done..removed.start].iter().map(|text| Line::plain(Op::Same, text)));
        lines.extend(replaced(&old[removed.clone()], &new[added.clone()]));
        done = removed.end;
    }
    lines.extend(old[done..done + below].iter().map(|text| Line::plain(Op::Same, text)));
    Hunk {
        old: first.0.start - above..last.0.end + below,
        new: first.1.start - above..last.1.end + below,
        lines,
    }
}

/// Replaced lines: the nth old line is compared with the nth new line.
fn replaced<'t>(old: &[&'t str], new: &[&'t str]) -> Vec<Line<'t>> {
    let mut removed: Vec<_> = old.iter().map(|text| Line::plain(Op::Old, text)).collect();
    let mut added: Vec<_> = new.iter().map(|text| Line::plain(Op::New, text)).collect();
    for (one, other) in removed.iter_mut().zip(&mut added) {
        (one.marks, other.marks) = marks(one.text, other.text);
    }
    removed.append(&mut added);
    removed
}

impl<'t> Line<'t> {
    fn plain(op: Op, text: &'t str) -> Self {
        Self { op, text, marks: Vec::new() }
    }
}

/// Returns the byte ranges of the words in which two lines differ; empty if they share no word.
pub(crate) fn marks(old: &str, new: &str) -> (Vec<Range<usize>>, Vec<Range<usize>>) {
    if old.len().max(new.len()) > MAX_MARKED_LINE {
        return Default::default();
    }
    let (old_words, new_words) = (words(old), words(new));
    let mut input = InternedInput::default();
    input.update_before(old_words.iter().map(|word| &old[word.clone()]));
    input.update_after(new_words.iter().map(|word| &new[word.clone()]));
    let diff = Diff::compute(Algorithm::Myers, &input);
    let (mut removed, mut added) = (Vec::new(), Vec::new());
    for hunk in diff.hunks() {
        push(&mut removed, &old_words, hunk.before);
        push(&mut added, &new_words, hunk.after);
    }
    let is_alike = |text: &str, marks: &[Range<usize>]| {
        let marked: usize = marks.iter().map(|mark| text[mark.clone()].trim().len()).sum();
        marked < text.trim().len()
    };
    if is_alike(old, &removed) && is_alike(new, &added) { (removed, added) } else { Default::default() }
}

fn push(marks: &mut Vec<Range<usize>>, words: &[Range<usize>], range: Range<u32>) {
    if range.is_empty() {
        return;
    }
    let mark = words[range.start as usize].start..words[range.end as usize - 1].end;
    match marks.last_mut() {
        Some(last) if last.end == mark.start => last.end = mark.end,
        _ => marks.push(mark),
    }
}

/// Runs of letters and digits, and every other character.
fn words(line: &str) -> Vec<Range<usize>> {
    let mut words: Vec<Range<usize>> = Vec::new();
    let mut in_word = false;
    for (at, character) in line.char_indices() {
        let is_word = character.is_alphanumeric() || character == '_';
        let end = at + character.len_utf8();
        match words.last_mut() {
            Some(last) if in_word && is_word => last.end = end,
            _ => words.push(at..end),
        }
        in_word = is_word;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(old: &str, new: &str) -> String {
        let mut shown = String::new();
        for hunk in hunks(old, new) {
            shown += &format!("@{:?}{:?}\n", hunk.old, hunk.new);
            for line in hunk.lines {
                shown += &format!("{}{}\n", line.op.sign(), line.text);
            }
        }
        shown
    }

    #[test]
    fn changes_far_apart_are_hunks_of_their_own() {
        let old: String = (0..20).map(|n| format!("{n}\n")).collect();
        let new = old.replace("3\n", "x\n").replacen("18\n", "", 1);
        assert_eq!(
            shown(&old, &new.replacen("1x\n", "13\n", 1)),
            "@0..7 0..7\n 0\n 1\n 2\n-3\n+x\n 4\n 5\n 6\n@15..20 15..19\n 15\n 16\n 17\n-18\n 19\n"
                .replace("7 0", "70")
                .replace("20 15", "2015")
        );
        assert_eq!(shown(&old, &old), "");
        assert_eq!(shown("", "a\n"), "@0..00..1\n+a\n");
    }

    #[test]
    fn words_that_differ_are_marked() {
        let marked = |old: &str, new: &str| {
            let (removed, added) = marks(old, new);
            let text = |of: &str, marks: Vec<Range<usize>>| {
                marks.into_iter().map(|mark| of[mark].to_owned()).collect::<Vec<_>>()
            };
            (text(old, removed), text(new, added))
        };
        let pair = |a: &[&str], b: &[&str]| {
            let own = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
            (own(a), own(b))
        };
        assert_eq!(marked("  image: web:1.2.3", "  image: web:1.3.3"), pair(&["2"], &["3"]));
        assert_eq!(marked("ä: ö", "ä: ü"), pair(&["ö"], &["ü"]));
        assert_eq!(marked("  a", "  b"), pair(&[], &[]));
        assert_eq!(marked("a b", "a b c"), pair(&[], &[" c"]));
        assert_eq!(marked(&"x".repeat(5000), "x"), pair(&[], &[]));
    }
}
