//! Prints an edit as a unified diff.

use std::fmt::Write as _;
use std::ops::Range;

use imara_diff::{Algorithm, Diff, Hunk, InternedInput};

/// Maximum number of lines of a file that are shown around those that change.
const CONTEXT: usize = 3;

/// The change of a file's text in the form that `patch` and `git apply` take.
pub(crate) fn unified(path: &str, old: &str, new: &str) -> String {
    let input = InternedInput::new(old, new);
    // Not the histogram, which takes quadratic time where a file has the same line again and again.
    let diff = Diff::compute(Algorithm::Myers, &input);
    let lines = Lines { old: old.split_inclusive('\n').collect(), new: new.split_inclusive('\n').collect() };
    let path = path.strip_prefix("./").unwrap_or(path).trim_start_matches('/');
    let mut text = format!("--- a/{path}\n+++ b/{path}\n");
    let changes: Vec<Change> = diff.hunks().map(Change::from).collect();
    // Changes whose context would touch are shown as one.
    for group in changes.chunk_by(|one, next| next.old.start - one.old.end <= 2 * CONTEXT) {
        lines.push_group(&mut text, group);
    }
    text
}

/// Lines in the place of others.
struct Change {
    old: Range<usize>,
    new: Range<usize>,
}

impl From<Hunk> for Change {
    fn from(hunk: Hunk) -> Self {
        let range = |range: Range<u32>| range.start as usize..range.end as usize;
        Self { old: range(hunk.before), new: range(hunk.after) }
    }
}

struct Lines<'t> {
    old: Vec<&'t str>,
    new: Vec<&'t str>,
}

impl Lines<'_> {
    fn push_group(&self, text: &mut String, group: &[Change]) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { return };
        let above = CONTEXT.min(first.old.start);
        let below = CONTEXT.min(self.old.len() - last.old.end);
        let old = extent(first.old.start - above, last.old.end + below);
        let new = extent(first.new.start - above, last.new.end + below);
        // Writing to a String does not fail.
        let _ = writeln!(text, "@@ -{old} +{new} @@");
        let mut done = first.old.start - above;
        for change in group {
            push(text, ' ', &self.old[done..change.old.start]);
            push(text, '-', &self.old[change.old.clone()]);
            push(text, '+', &self.new[change.new.clone()]);
            done = change.old.end;
        }
        push(text, ' ', &self.old[done..last.old.end + below]);
    }
}

/// Returns where lines are, counted from one; none are behind the line before them.
fn extent(start: usize, end: usize) -> String {
    match end - start {
        0 => format!("{start},0"),
        1 => format!("{}", start + 1),
        len => format!("{},{len}", start + 1),
    }
}

fn push(text: &mut String, sign: char, lines: &[&str]) {
    for line in lines {
        text.push(sign);
        text.push_str(line);
        if !line.ends_with('\n') {
            text.push_str("\n\\ No newline at end of file\n");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The forms are those of GNU diff.
    #[test]
    fn a_change_is_shown_with_its_surroundings() {
        let old = (1..=20).map(|line| format!("{line}\n")).collect::<String>();
        let new = old.replace("\n5\n", "\nfive\n").replace("\n19\n20\n", "\n19\nx\n20\n");
        let wanted = "--- a/f\n+++ b/f\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n\
                      @@ -17,4 +17,5 @@\n 17\n 18\n 19\n+x\n 20\n";
        assert_eq!(unified("f", &old, &new), wanted);
    }

    #[test]
    fn a_missing_end_of_line_is_shown() {
        assert_eq!(
            unified("f", "a", "b"),
            "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n"
        );
        assert_eq!(unified("f", "", "b\r\n"), "--- a/f\n+++ b/f\n@@ -0,0 +1 @@\n+b\r\n");
    }
}
