//! The text of a commit. In: what a template wrote, what was set, who signs off. Out: the message as git would keep it,
//! with the trailers at its end.

use std::fmt;

use super::trailer::Set;
use crate::error::{Error, Result};

/// Forges take 255 characters, of which some may go into a mark for drafts.
const MAX_TITLE: usize = 240;

/// Somebody by name and address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Person {
    name: String,
    email: String,
}

impl Person {
    /// Takes a name and an address.
    ///
    /// # Errors
    /// Where git could not keep them apart in a commit.
    pub fn new(name: &str, email: &str) -> Result<Self> {
        let (name, email) = (name.trim(), email.trim());
        for (what, text) in [("name", name), ("address", email)] {
            if text.is_empty()
                || text.contains(|character: char| character.is_control() || "<>".contains(character))
            {
                let wrong = format!("the {what} `{text}` of a commit's author cannot be used");
                return Err(Error::input(wrong).hint("it is not empty, on one line, and without `<` and `>`"));
            }
        }
        Ok(Self { name: name.to_owned(), email: email.to_owned() })
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The address.
    #[must_use]
    pub fn email(&self) -> &str {
        &self.email
    }
}

impl fmt::Display for Person {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} <{}>", self.name, self.email)
    }
}

/// The message of a commit: what was written, cleaned as `git commit` does, and trailers.
///
/// # Errors
/// Where nothing was written, which git refuses.
pub fn commit_message(written: &str, sets: &[Set], sign_off: Option<&Person>) -> Result<String> {
    let mut message = cleaned(written);
    if message.is_empty() {
        let hint = "a template of messages has to write something whatever is updated";
        return Err(Error::input("the message of the commit is empty").hint(hint));
    }
    let mut trailers: Vec<String> = sets.iter().map(ToString::to_string).collect();
    trailers.extend(sign_off.map(|person| format!("Signed-off-by: {person}")));
    if trailers.is_empty() {
        return Ok(message);
    }
    if !ends_with_trailers(&message) {
        message.push('\n');
    }
    for trailer in trailers {
        message.push_str(&trailer);
        message.push('\n');
    }
    Ok(message)
}

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
fn cleaned(text: &str) -> String {
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

/// Whether the last paragraph is one of trailers already, such as a template's `Change-Id`. The first never is.
fn ends_with_trailers(message: &str) -> bool {
    let Some((_, last)) = message.trim_end().rsplit_once("\n\n") else { return false };
    let is_trailer = |line: &str| {
        line.split_once(':').is_some_and(|(token, value)| {
            let in_token = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
            !token.is_empty() && token.bytes().all(in_token) && value.starts_with(' ')
        })
    };
    let mut lines = last.lines();
    lines.next().is_some_and(is_trailer)
        && lines.all(|line| line.starts_with([' ', '\t']) || is_trailer(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set() -> Set {
        let text = |text: &str| text.to_owned();
        Set { image: text("app"), file: text("a.yaml"), old: text("1"), new: text("2"), ..Set::default() }
    }

    const LINE: &str = "Image-Updater-Set: image=app old=1 new=2 file=a.yaml\n";

    #[test]
    fn trailers_are_a_paragraph_of_their_own_or_join_one() {
        let person = Person::new("Bot", "bot@example.org").unwrap();
        let message = |text: &str| commit_message(text, &[set()], Some(&person)).unwrap();
        let signed = "Signed-off-by: Bot <bot@example.org>\n";
        assert_eq!(message("build: update"), format!("build: update\n\n{LINE}{signed}"));
        assert_eq!(
            message("a\n\nbody: is\nno trailer\n\n\n"),
            format!("a\n\nbody: is\nno trailer\n\n{LINE}{signed}")
        );
        assert_eq!(
            message("a\n\nChange-Id: I1\n  more\n"),
            format!("a\n\nChange-Id: I1\n  more\n{LINE}{signed}")
        );
        assert_eq!(commit_message("a", &[], None).unwrap(), "a\n");
    }

    /// From `git commit --cleanup=whitespace`, which is what `git commit -F` does.
    #[test]
    fn a_message_is_cleaned_as_git_cleans_it() {
        assert_eq!(cleaned("\n\n a \t\r\n\n\n\nb\0\n# c\n\n"), " a\n\nb\n# c\n");
        assert_eq!(cleaned(" \n\t\n"), "");
        assert!(commit_message(" \n", &[set()], None).is_err());
    }

    #[test]
    fn a_title_is_the_first_line_and_not_too_long() {
        assert_eq!(title("\nupdate \n\nmore"), "update");
        let long = title(&"ä".repeat(300));
        assert_eq!((long.chars().count(), long.chars().last()), (240, Some('…')));
    }

    #[test]
    fn a_person_cannot_write_other_lines() {
        assert!(Person::new("A\nSigned-off-by: B", "a@b").is_err());
        assert!(Person::new("A", "a@b>").is_err());
        assert!(Person::new(" ", "a@b").is_err());
    }
}
