//! Names out of any text: as a DNS name, and as a slug (gosimple/slug, with its English words).

/// Longest DNS name.
const MAX_NAME: usize = 253;

/// Maximum number of characters of a branch a slug keeps, so that 13 more fit into a DNS label.
pub(crate) const BRANCH_SLUG: i64 = 50;

/// Lower case, with a dash for each character that no DNS name has (template_functions.go `SanitizeName`).
pub(crate) fn normalize(name: &str) -> String {
    let allowed = |character: char| matches!(character, 'a'..='z' | '0'..='9' | '-' | '.');
    // Every character is one byte after this.
    let name: String = name
        .to_lowercase()
        .chars()
        .map(|character| if allowed(character) { character } else { '-' })
        .collect();
    name[..name.len().min(MAX_NAME)].trim_matches(['-', '.']).to_owned()
}

/// A slug of at most `length` characters where that is above zero, cut after a whole word where `by_word`.
///
/// # Errors
/// Go's words for a length that no text can be cut to.
pub(crate) fn slug(text: &str, length: i64, by_word: bool) -> Result<String, String> {
    let text = text.trim().replace('&', "and").replace('@', "at");
    let mut slug = transliterated(&text).to_lowercase();
    if !by_word && i64::try_from(slug.len()).unwrap_or(i64::MAX) >= length {
        let end = usize::try_from(length)
            .map_err(|_| format!("runtime error: slice bounds out of range [:{length}]"))?;
        slug.truncate(end);
    }
    let slug = dashed(&slug);
    let slug = slug.trim_matches(['-', '_']);
    Ok(match usize::try_from(length) {
        Ok(length) if length > 0 && by_word && slug.len() > length => cut_after_word(slug, length).to_owned(),
        _ => slug.to_owned(),
    })
}

/// A dash for each run of what a slug does not have.
fn dashed(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_ascii_alphanumeric() || character == '_' {
            out.push(character);
        } else if !out.ends_with('-') {
            out.push('-');
        }
    }
    out
}

/// Up to the last dash at or before a length; a first word that is longer is cut.
fn cut_after_word(slug: &str, length: usize) -> &str {
    let end = slug[..=length].rfind('-').unwrap_or(length);
    &slug[..end]
}

/// The letters of other scripts in ASCII.
fn transliterated(text: &str) -> String {
    deunicode::deunicode_with_tofu(text, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_a_dash_for_each_other_character() {
        assert_eq!(normalize("_Prod_US.1-"), "prod-us.1");
        assert_eq!(normalize("caf\u{e9} b"), "caf--b");
        assert_eq!(normalize(&"a".repeat(300)).len(), 253);
        assert_eq!(normalize(&format!("{}-b", "a".repeat(252))), "a".repeat(252));
    }

    #[test]
    fn a_slug_is_cut_after_a_word() {
        for (text, length, by_word, want) in [
            ("feat/Log_in  now!", 50, true, "feat-log_in-now"),
            ("This is a very long branch name", 14, true, "this-is-a-very"),
            ("This is a very long branch name", 13, true, "this-is-a"),
            ("This is a very long branch name", 13, false, "this-is-a-ver"),
            ("abcdefgh-ij", 4, true, "abcd"),
            ("a & b@c", 0, true, "a-and-batc"),
            ("a b", 0, false, ""),
            (" -_a_- ", 50, true, "a"),
            ("Gr\u{fc}\u{df}e", 50, true, "grusse"),
        ] {
            assert_eq!(slug(text, length, by_word).unwrap(), want, "{text}");
        }
        assert!(slug("a", -1, false).unwrap_err().contains("[:-1]"));
        assert_eq!(slug("abc", -1, true).unwrap(), "abc");
    }
}
