//! Decisions for people: what is chosen, and a table of all tags.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};

use crate::decision::{Decision, Standing};

const HEADING: Style = Style::new().bold();
const CHOSEN: Style = AnsiColor::Green.on_default().bold();
const DROPPED: Style = Style::new().dimmed();

/// A decision as text with colours.
#[must_use]
pub(crate) fn decision(decision: &Decision) -> String {
    let mut text = String::new();
    let nothing = "none";
    let mut fact = |name: &str, value: Option<&str>| {
        // Writing to a String does not fail.
        let _ = writeln!(text, "{HEADING}{name:<8}{HEADING:#} {}", value.unwrap_or(nothing));
    };
    fact("IMAGE", Some(&decision.image));
    fact("CURRENT", decision.current.as_deref());
    fact("CHOSEN", decision.chosen.as_deref());
    if decision.digest.is_some() {
        fact("DIGEST", decision.digest.as_deref());
    }
    if decision.decisions.is_empty() {
        return text;
    }
    let width =
        decision.decisions.iter().map(|verdict| verdict.tag.len()).chain(["TAG".len()]).max().unwrap_or(0);
    let _ = writeln!(text, "\n{HEADING}{:<width$}  {:<7}  REASON{HEADING:#}", "TAG", "VERDICT");
    for verdict in &decision.decisions {
        let style = match verdict.verdict {
            Standing::Chosen => CHOSEN,
            Standing::Kept => Style::new(),
            Standing::Dropped => DROPPED,
        };
        let (tag, word) = (&verdict.tag, verdict.verdict.as_str());
        let _ = writeln!(text, "{style}{tag:<width$}  {word:<7}  {}{style:#}", verdict.reason);
    }
    text
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
            reason: reason.to_owned(),
        };
        let shown = decision(&Decision {
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
            "IMAGE    r.test/shop\nCURRENT  none\nCHOSEN   1.10.0\n\n\
             TAG     VERDICT  REASON\n\
             1.10.0  chosen   the highest version\n\
             1.9     dropped  too short\n"
        );
    }
}
