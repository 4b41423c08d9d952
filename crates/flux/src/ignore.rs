//! `.sourceignore`: what is in a repository and in none of Flux' artifacts (fluxcd/pkg, `sourceignore`).
//!
//! In: lines of patterns, and the folder that they are for. Out: whether a file is left out. The last pattern that says
//! anything of a file decides.

use glob::{BadPattern, envsubst};

/// Patterns that source-controller excludes by default.
const DEFAULTS: &[&str] = &[
    ".git/",
    ".gitignore",
    ".gitmodules",
    ".gitattributes",
    "*.jpg",
    "*.jpeg",
    "*.gif",
    "*.png",
    "*.wmv",
    "*.flv",
    "*.tar.gz",
    "*.zip",
    ".github/",
    ".circleci/",
    ".travis.yml",
    ".gitlab-ci.yml",
    "appveyor.yml",
    ".drone.yml",
    "cloudbuild.yaml",
    "codeship-services.yml",
    "codeship-steps.yml",
    "**/.goreleaser.yml",
    "**/.sops.yaml",
    "**/.flux.yaml",
];

/// One pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pattern {
    parts: Vec<String>,
    takes_in: bool,
    is_for_folders: bool,
}

/// Returns what source-controller leaves out anyway.
pub(crate) fn defaults() -> Vec<Pattern> {
    DEFAULTS.iter().map(|text| Pattern::new(text)).collect()
}

/// The patterns of a text, one a line.
pub(crate) fn read(text: &str) -> Vec<Pattern> {
    let says = |line: &&str| !line.starts_with('#') && !line.trim().is_empty();
    text.lines().filter(says).map(Pattern::new).collect()
}

impl Pattern {
    fn new(text: &str) -> Self {
        let (takes_in, text) = text.strip_prefix('!').map_or((false, text), |rest| (true, rest));
        let text = if text.ends_with("\\ ") { text } else { text.trim_end_matches(' ') };
        let (is_for_folders, text) = text.strip_suffix('/').map_or((false, text), |rest| (true, rest));
        Self { parts: text.split('/').map(str::to_owned).collect(), takes_in, is_for_folders }
    }

    /// Returns whether a file is left out or taken in; `None` where the pattern says nothing of it. The path is that from the
    /// folder of the pattern.
    pub(crate) fn leaves_out(&self, file: &[&str]) -> Option<bool> {
        let matches = if self.parts.len() == 1 { self.matches_name(file) } else { self.matches_path(file) };
        matches.then_some(!self.takes_in)
    }

    /// Any part of the path may have the name, the last one only where files count.
    fn matches_name(&self, file: &[&str]) -> bool {
        for (at, name) in file.iter().enumerate() {
            match envsubst::matches(self.parts[0].as_bytes(), name.as_bytes()) {
                Err(BadPattern) => return false,
                Ok(true) => return !(self.is_for_folders && at + 1 == file.len()),
                Ok(false) => {}
            }
        }
        false
    }

    fn matches_path(&self, file: &[&str]) -> bool {
        let (mut rest, mut matched, mut skips) = (file, false, false);
        for (at, part) in self.parts.iter().enumerate() {
            match part.as_str() {
                "" => skips = false,
                "**" if at + 1 == self.parts.len() => break,
                "**" => skips = true,
                part if part.contains("**") || rest.is_empty() => return false,
                part if skips => {
                    skips = false;
                    loop {
                        let Some((name, behind)) = rest.split_first() else {
                            matched = false;
                            break;
                        };
                        rest = behind;
                        match envsubst::matches(part.as_bytes(), name.as_bytes()) {
                            Err(BadPattern) => return false,
                            Ok(true) => {
                                matched = true;
                                break;
                            }
                            Ok(false) => {}
                        }
                    }
                }
                part => {
                    if envsubst::matches(part.as_bytes(), rest[0].as_bytes()) != Ok(true) {
                        return false;
                    }
                    matched = true;
                    rest = &rest[1..];
                }
            }
        }
        matched && !(self.is_for_folders && rest.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By `globMatch` and `simpleNameMatch` of sourceignore/gitignore/pattern.go.
    #[test]
    fn patterns_are_those_of_git() {
        for (text, file, want) in [
            ("*.md", "docs/a.md", Some(true)),
            ("docs", "a/docs/b", Some(true)),
            ("docs/", "a/docs", None),
            ("docs/", "a/docs/b", Some(true)),
            ("/docs", "docs/a", Some(true)),
            ("/docs", "a/docs", None),
            ("!a.md", "x/a.md", Some(false)),
            ("a/*.yaml", "a/b.yaml", Some(true)),
            ("a/*.yaml", "a/b/c.yaml", None),
            ("**/c.yaml", "a/b/c.yaml", Some(true)),
            ("a/**", "a/b/c.yaml", Some(true)),
            ("a/**/c.yaml", "a/b/d/c.yaml", Some(true)),
            ("a/**/c.yaml", "a/b/d.yaml", None),
            ("a/b**/c", "a/bb/c", None),
            ("[", "a", None),
        ] {
            let file: Vec<&str> = file.split('/').collect();
            assert_eq!(Pattern::new(text).leaves_out(&file), want, "{text} {file:?}");
        }
        assert_eq!(read("# no\n\n *.md\n").len(), 1);
    }
}
