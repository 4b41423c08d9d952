//! `.helmignore`: which files of a chart's folder are no part of the chart.

use glob::path_match;

/// The rules of a chart's folder.
#[derive(Clone, Debug)]
pub struct IgnoreRules(Vec<Rule>);

#[derive(Clone, Debug)]
struct Rule {
    pattern: String,
    /// `!`: everything that does not match is ignored. There is no taking back of what another rule ignores.
    is_negated: bool,
    /// `name/`: only folders.
    is_for_folders: bool,
    /// A pattern without a slash is matched with names, any other with whole paths.
    takes_path: bool,
}

impl IgnoreRules {
    /// Reads the rules of a file; those that hold without one are added.
    ///
    /// # Errors
    /// In Helm's words.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut rules = Vec::new();
        for line in text.lines().chain(["templates/.?*"]) {
            rules.extend(Rule::parse(line)?);
        }
        Ok(Self(rules))
    }

    /// Returns true if a file or folder is no part of the chart. What is in an ignored folder is not asked for.
    #[must_use]
    pub fn ignores(&self, path: &str, is_folder: bool) -> bool {
        self.0.iter().any(|rule| {
            let matched = rule.matches(path);
            if rule.is_negated {
                (rule.is_for_folders && !is_folder) || !matched
            } else {
                matched && (is_folder || !rule.is_for_folders)
            }
        })
    }
}

impl Rule {
    fn parse(line: &str) -> Result<Option<Self>, String> {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            return Ok(None);
        }
        if line.contains("**") {
            return Err("double-star (**) syntax is not supported".to_owned());
        }
        path_match(line, "abc").map_err(|error| error.to_string())?;
        let (is_negated, pattern) = line.strip_prefix('!').map_or((false, line), |rest| (true, rest));
        let (is_for_folders, pattern) =
            pattern.strip_suffix('/').map_or((false, pattern), |rest| (true, rest));
        let takes_path = pattern.contains('/');
        let pattern = pattern.strip_prefix('/').unwrap_or(pattern).to_owned();
        Ok(Some(Self { pattern, is_negated, is_for_folders, takes_path }))
    }

    fn matches(&self, path: &str) -> bool {
        let subject = if self.takes_path { path } else { path.rsplit('/').next().unwrap_or(path) };
        path_match(&self.pattern, subject).unwrap_or(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_match_names_paths_and_folders() {
        let rules =
            IgnoreRules::parse("# comment\n*.bak\n/top.txt\ndocs/*.md\nbuild/\n").expect("good rules");
        for (path, is_folder, ignored) in [
            ("a.bak", false, true),
            ("deep/er/a.bak", false, true),
            ("top.txt", false, true),
            ("sub/top.txt", false, false),
            ("docs/a.md", false, true),
            ("docs/sub/a.md", false, false),
            ("build", true, true),
            ("build", false, false),
            ("templates/.hidden", false, true),
            ("templates/a.yaml", false, false),
        ] {
            assert_eq!(rules.ignores(path, is_folder), ignored, "{path}");
        }
    }

    #[test]
    fn a_negated_rule_ignores_all_the_rest() {
        let rules = IgnoreRules::parse("!keep.yaml\n").expect("good rules");
        assert!(rules.ignores("Chart.yaml", false));
        assert!(!rules.ignores("keep.yaml", false));
    }

    #[test]
    fn double_stars_are_refused() {
        assert!(IgnoreRules::parse("a/**\n").is_err());
    }
}
