//! Text that comes from outside, as Markdown that shows it and does nothing else. Names, tags and labels are what others
//! have chosen: they must not make links, tables or headings, call people or issues, or give the forge commands.

use std::io::{self, Write};

use reqwest::Url;

/// A character of no width, which keeps a sign and a name from being a reference.
const APART: &str = "&#8203;";

/// Signs with which forges refer to people, issues, merge requests, snippets, epics, labels, milestones and alerts. They
/// look for them in what Markdown leaves, so that a backslash does not help.
const REFERENCES: &str = "@#!$&~%^";

/// Writes a text on one line, with every sign that Markdown could know escaped: what tera calls for `{{ … }}`.
pub(super) fn escape(text: &str, to: &mut dyn Write) -> io::Result<()> {
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        if character.is_control() || matches!(character, '\u{2028}' | '\u{2029}') {
            write!(to, " ")?;
        } else if character.is_ascii_punctuation() {
            write!(to, "\\{character}")?;
        } else {
            write!(to, "{character}")?;
        }
        let is_named =
            characters.peek().is_some_and(|next| next.is_alphanumeric() || *next == '"' || *next == '_');
        if REFERENCES.contains(character) && is_named {
            write!(to, "{APART}")?;
        }
    }
    Ok(())
}

/// A text as code, in which forges see no references. It stands in a table too, where `|` ends a cell even in code.
pub(super) fn code(text: &str) -> String {
    let is_unseen = |character: char| character.is_control() || matches!(character, '\u{2028}' | '\u{2029}');
    let text = text.replace(is_unseen, " ");
    let text = text.trim().replace('|', "\\|");
    if text.is_empty() {
        return String::new();
    }
    let longest = text.split(|character| character != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let space = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{space}{text}{space}{fence}")
}

/// A link, or just its text where the address is not one of the web.
pub(super) fn link(address: &str, text: &str) -> String {
    let mut shown = Vec::new();
    // Writing to a Vec does not fail.
    let _ = escape(text, &mut shown);
    let shown = String::from_utf8_lossy(&shown).into_owned();
    let url =
        Url::parse(address).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    match url {
        // What Url leaves as it is and Markdown would not.
        Some(url) => {
            let url =
                url.as_str().replace('\\', "%5C").replace('|', "%7C").replace('<', "%3C").replace('>', "%3E");
            format!("[{shown}](<{url}>)")
        }
        None => shown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn escaped(text: &str) -> String {
        let mut escaped = Vec::new();
        escape(text, &mut escaped).unwrap();
        String::from_utf8(escaped).unwrap()
    }

    #[test]
    fn text_does_nothing() {
        assert_eq!(escaped("[a](http://x) | *b*"), "\\[a\\]\\(http\\:\\/\\/x\\) \\| \\*b\\*");
        // A line that GitLab would take for a command, and a heading.
        assert_eq!(escaped("x\n/merge\r\n# y"), "x \\/merge  \\# y");
        assert_eq!(escaped("<!-- image-updater: -->"), "\\<\\!\\-\\- image\\-updater\\: \\-\\-\\>");
        assert_eq!(
            escaped("@all #1 !2 ~\"a\" a@b"),
            "\\@&#8203;all \\#&#8203;1 \\!&#8203;2 \\~&#8203;\\\"a\\\" a\\@&#8203;b"
        );
        assert_eq!(escaped("&lt; ü"), "\\&&#8203;lt\\; ü");
    }

    #[test]
    fn code_has_a_fence_that_its_text_has_not() {
        assert_eq!(code("1.2.3"), "`1.2.3`");
        assert_eq!(code("a|b"), "`a\\|b`");
        assert_eq!(code("a`b``c"), "```a`b``c```");
        assert_eq!(code("`@all`"), "`` `@all` ``");
        assert_eq!(code(" a\nb "), "`a b`");
        assert_eq!(code(" \n"), "");
    }

    #[test]
    fn only_addresses_of_the_web_are_links() {
        assert_eq!(link("https://a.example/b|c d>(e)", "x]"), "[x\\]](<https://a.example/b%7Cc%20d%3E(e)>)");
        assert_eq!(link("javascript:alert(1)", "x"), "x");
        assert_eq!(link("https://a.example/?q=\\>", "x"), "[x](<https://a.example/?q=%5C%3E>)");
    }
}
