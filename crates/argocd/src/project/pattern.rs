//! The patterns of projects, which may deny: `!https://git.example.com/secret/*`.

use crate::repositories::is_ssh;
use glob::gobwas::Glob;

/// A pattern of an allowed value or, behind `!`, of a denied one.
#[derive(Clone, Debug)]
pub(super) struct Pattern {
    text: String,
    /// None where the text is no pattern: that matches nothing, as for Argo CD.
    glob: Option<Glob>,
    denies: bool,
}

impl Pattern {
    pub(super) fn new(text: &str, separators: &str) -> Self {
        let (denies, pattern) = match text.strip_prefix('!') {
            Some(pattern) => (true, pattern),
            None => (false, text),
        };
        // Alone, `*` is everything, separators too.
        let separators = if text == "*" { "" } else { separators };
        Self { text: text.to_owned(), glob: Glob::new(pattern, separators).ok(), denies }
    }

    /// Returns true if the pattern lets a value pass: one that denies lets all others.
    pub(super) fn passes(&self, value: &str) -> bool {
        self.glob.as_ref().is_some_and(|glob| glob.matches(value)) != self.denies
    }

    pub(super) fn denies(&self) -> bool {
        self.denies
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }
}

/// A pattern of addresses of repositories.
pub(super) fn repository_pattern(text: &str) -> Pattern {
    match text.strip_prefix('!') {
        Some(denied) => Pattern::new(&format!("!{}", normalized(denied)), "/"),
        None => Pattern::new(&normalized(text), "/"),
    }
}

/// The form in which addresses are compared (util/git/git.go `NormalizeGitURL`). Unlike where a checkout is looked for,
/// here a slash at the end counts.
pub(super) fn normalized(url: &str) -> String {
    let lower = url.trim().to_lowercase();
    let rest = lower.strip_prefix("ssh://").unwrap_or(&lower);
    let address = if !is_ssh(rest) {
        lower
    } else if rest.len() < lower.len() {
        rest.to_owned()
    } else {
        // Of `git@host:path` the colon is what a slash is elsewhere.
        rest.replacen(':', "/", 1)
    };
    address.strip_suffix(".git").unwrap_or(&address).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_one_form() {
        for (url, want) in [
            (" https://GIT.example.com/Org/App.git ", "https://git.example.com/org/app"),
            ("https://git.example.com/org/", "https://git.example.com/org/"),
            ("git@git.example.com:org/app.git", "git@git.example.com/org/app"),
            ("ssh://git@git.example.com/org/app", "git@git.example.com/org/app"),
            ("ssh://git.example.com/org/app", "ssh://git.example.com/org/app"),
            ("https://me@git.example.com/a", "https://me@git.example.com/a"),
            ("*", "*"),
        ] {
            assert_eq!(normalized(url), want);
        }
    }

    #[test]
    fn a_denial_lets_all_others_pass() {
        let pattern = Pattern::new("!kube-*", "");
        assert!(pattern.denies() && pattern.passes("shop") && !pattern.passes("kube-system"));
        assert!(Pattern::new("*", "/").passes("https://h/a/b"));
        assert!(!Pattern::new("https://h/*", "/").passes("https://h/a/b"));
        assert!(!Pattern::new("[", "").passes("["));
    }
}
