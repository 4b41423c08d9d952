//! The words of a commit. In: what a template wrote. Out: it as git would keep it, and its first line.

/// Forges take 255 characters, of which some may go into a mark for drafts.
const MAX_TITLE: usize = 240;

/// The first line of a message, for a pull request.
#[must_use]
pub fn title(message: &str) -> String {
    let line = message.trim_start().lines().next().unwrap_or_default().trim_end();
    match line.char_indices().nth(MAX_TITLE) {
        None => line.to_owned(),
        Some(_) => line.chars().take(MAX_TITLE - 1).chain(['…']).collect(),
    }
}

/// Without blanks at the ends of lines, and of blank lines one at most and none at the ends: git's `whitespace`.
pub(super) fn cleaned(text: &str) -> String {
    let mut cleaned = String::with_capacity(text.len());
    let mut blank = false;
    for line in text.lines().map(|line| line.replace('\0', "")) {
        let line = line.trim_end();
        if line.is_empty() {
            blank = true;
            continue;
        }
        if blank && !cleaned.is_empty() {
            cleaned.push('\n');
        }
        blank = false;
        cleaned.push_str(line);
        cleaned.push('\n');
    }
    cleaned
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From `git commit --cleanup=whitespace`, which is what `git commit -F` does.
    #[test]
    fn a_message_is_cleaned_as_git_cleans_it() {
        assert_eq!(cleaned("\n\n a \t\r\n\n\n\nb\0\n# c\n\n"), " a\n\nb\n# c\n");
        assert_eq!(cleaned(" \n\t\n"), "");
    }

    #[test]
    fn a_title_is_the_first_line_and_not_too_long() {
        assert_eq!(title("\nupdate \n\nmore"), "update");
        let long = title(&"ä".repeat(300));
        assert_eq!((long.chars().count(), long.chars().last()), (240, Some('…')));
    }
}
