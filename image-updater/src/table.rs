//! Decisions for people: facts in lines, and tables of tags.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};

use crate::decision::{Decision, Standing};

const HEADING: Style = Style::new().bold();
const CHOSEN: Style = AnsiColor::Green.on_default().bold();
const DROPPED: Style = Style::new().dimmed();

/// A decision as text with colours.
#[must_use]
pub(crate) fn decision(decision: &Decision) -> String {
    let mut text = facts(&[
        ("IMAGE", Some(decision.image.as_str())),
        ("CURRENT", decision.current.as_deref()),
        ("CHOSEN", decision.chosen.as_deref()),
        ("DIGEST", decision.digest.as_deref()),
    ]);
    let rows = decision.decisions.iter().map(|verdict| {
        let words = [verdict.tag.as_str(), verdict.verdict.as_str(), &verdict.reason];
        (verdict.verdict, words.map(str::to_owned))
    });
    text.push_str(&columns(["TAG", "VERDICT", "REASON"], rows));
    text
}

/// Names with what they stand for.
#[must_use]
pub(crate) fn facts(facts: &[(&str, Option<&str>)]) -> String {
    let mut text = String::new();
    for (name, value) in facts {
        // Writing to a String does not fail.
        let _ = writeln!(text, "{HEADING}{name:<8}{HEADING:#} {}", value.unwrap_or("-"));
    }
    text
}

/// Returns what became of images; nothing where there are none.
#[must_use]
pub(crate) fn reports(rows: impl IntoIterator<Item = [String; 5]>) -> String {
    let standing = |cells: [String; 5]| {
        let standing = match cells[1].as_str() {
            "changed" => Standing::Chosen,
            "current" | "suspended" => Standing::Dropped,
            _ => Standing::Kept,
        };
        (standing, cells)
    };
    let text = columns(["NAME", "OUTCOME", "FROM", "TO", "REASON"], rows.into_iter().map(standing));
    text.trim_start_matches('\n').to_owned()
}

/// A table behind an empty line; nothing where it has no rows.
#[must_use]
pub(crate) fn columns<const N: usize>(
    headings: [&str; N],
    rows: impl IntoIterator<Item = (Standing, [String; N])>,
) -> String {
    let rows: Vec<(Standing, [String; N])> = rows.into_iter().collect();
    if rows.is_empty() {
        return String::new();
    }
    let widths: [usize; N] = std::array::from_fn(|at| {
        let cells = rows.iter().map(|(_, cells)| cells[at].chars().count());
        cells.chain([headings[at].len()]).max().unwrap_or(0)
    });
    let mut text = "\n".to_owned();
    line(&mut text, HEADING, &headings, &widths);
    for (standing, cells) in &rows {
        let style = match standing {
            Standing::Chosen => CHOSEN,
            Standing::Kept => Style::new(),
            Standing::Dropped => DROPPED,
        };
        line(&mut text, style, cells, &widths);
    }
    text
}

fn line(text: &mut String, style: Style, cells: &[impl AsRef<str>], widths: &[usize]) {
    let mut row = String::new();
    for (cell, width) in cells.iter().zip(widths) {
        let _ = write!(row, "{:<width$}  ", cell.as_ref());
    }
    let _ = writeln!(text, "{style}{}{style:#}", row.trim_end());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decision::Verdict;

    #[test]
    fn all_tags_stand_in_columns() {
        let verdict = |tag: &str, verdict, reason: &str| Verdict {
            tag: tag.to_owned(),
            verdict,
            rule: "order",
            reason: reason.to_owned(),
        };
        let shown = decision(&Decision {
            created: None,
            image: "r.test/shop".to_owned(),
            current: None,
            chosen: Some("1.10.0".to_owned()),
            digest: None,
            decisions: vec![
                verdict("1.10.0", Standing::Chosen, "the highest version"),
                verdict("1.9", Standing::Dropped, "too short"),
            ],
            warnings: Vec::new(),
        });
        assert_eq!(
            anstream::adapter::strip_str(&shown).to_string(),
            "IMAGE    r.test/shop\nCURRENT  -\nCHOSEN   1.10.0\nDIGEST   -\n\n\
             TAG     VERDICT  REASON\n\
             1.10.0  chosen   the highest version\n\
             1.9     dropped  too short\n"
        );
    }
}
