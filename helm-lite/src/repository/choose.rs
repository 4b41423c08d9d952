//! Which version of a chart is meant by a version, a range of versions or by nothing.

use std::fmt;

use gotemplate::semver::{Constraints, InvalidVersion, Version};

use super::{Index, IndexedChart};

/// A version that was chosen.
#[derive(Clone, Copy, Debug)]
pub struct Choice<'i> {
    /// It.
    pub chart: &'i IndexedChart,
    /// True if one version was asked for and this is another spelling of it, or one that begins like it.
    pub is_fallback: bool,
}

/// Why there is no version to choose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoVersion {
    /// The repository has no such chart.
    Chart,
    /// It has none of its versions that fits.
    Version(String),
    /// An invalid version constraint.
    Constraint(InvalidVersion),
}

impl fmt::Display for NoVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Chart => f.write_str("no chart name found"),
            Self::Version(wanted) => write!(f, "no chart version found{wanted}"),
            Self::Constraint(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for NoVersion {}

impl Index {
    /// The version of a chart that is meant: by its exact spelling, else the newest that fits; without a wish the
    /// newest release.
    ///
    /// # Errors
    /// If there is none.
    pub fn choose(&self, chart: &str, wanted: Option<&str>) -> Result<Choice<'_>, NoVersion> {
        let versions = self.versions(chart).ok_or(NoVersion::Chart)?;
        if versions.is_empty() {
            return Err(NoVersion::Version(String::new()));
        }
        let constraints = Constraints::parse(wanted.unwrap_or("*")).map_err(NoVersion::Constraint)?;
        if let Some(exact) = versions.iter().find(|one| Some(one.version.as_str()) == wanted) {
            return Ok(Choice { chart: exact, is_fallback: false });
        }
        let fits = versions.iter().find(|one| constraints.check(&one.parsed));
        let chart =
            fits.ok_or_else(|| NoVersion::Version(format!(" for {chart}-{}", wanted.unwrap_or_default())))?;
        Ok(Choice { chart, is_fallback: wanted.is_some_and(|wanted| !is_range(wanted)) })
    }

    /// The newest version that fits and can be had somewhere.
    #[must_use]
    pub fn newest(&self, chart: &str, constraints: &Constraints) -> Option<&IndexedChart> {
        let can_be_had = |one: &&IndexedChart| !one.urls.is_empty() && constraints.check(&one.parsed);
        self.versions(chart)?.iter().find(can_be_had)
    }

    /// The version that a lock names, which can be had somewhere. Metadata behind a `+` does not count.
    #[must_use]
    pub fn locked(&self, chart: &str, version: &str) -> Option<&IndexedChart> {
        let wanted = Version::parse(version);
        let is_it = |one: &&IndexedChart| {
            !one.urls.is_empty()
                && match &wanted {
                    Ok(wanted) => wanted.compare(&one.parsed).is_eq(),
                    Err(_) => one.version == version,
                }
        };
        self.versions(chart)?.iter().find(is_it)
    }
}

/// Of tags that are versions, the one that is meant: by its exact spelling, else the newest that fits. `+` is written
/// as `_` in tags; what comes out has a `+`.
///
/// # Errors
/// If what is wanted is no range of versions.
pub fn newest_matching(tags: &[String], wanted: Option<&str>) -> Result<Option<String>, InvalidVersion> {
    let plain = tags.iter().map(|tag| tag.replace('_', "+"));
    let mut versions: Vec<Version> = plain.filter_map(|tag| Version::parse_strict(&tag).ok()).collect();
    versions.sort_by(|left, right| right.compare(left));
    if let Some(exact) = versions.iter().find(|version| Some(version.original()) == wanted) {
        return Ok(Some(exact.original().to_owned()));
    }
    let constraints = Constraints::parse(wanted.unwrap_or("*"))?;
    let fits = versions.iter().find(|version| constraints.check(version));
    Ok(fits.map(|version| version.original().to_owned()))
}

/// Returns true if a wish is for any of several versions (`^1`, `1.x`) and not for one.
fn is_range(wanted: &str) -> bool {
    let core = wanted.split(['-', '+']).next().unwrap_or_default();
    wanted.contains(['^', '~', '<', '>', '=', '!', '*'])
        || wanted.contains("||")
        || wanted.contains(" - ")
        || core.contains(['x', 'X'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index() -> Index {
        let versions = ["0.1.0", "0.2.0", "1.0.0", "1.1.0-rc.1", "2.0.0+build.5"];
        let entries: Vec<String> = versions
            .iter()
            .map(|version| format!("  - {{name: web, version: {version}, urls: [web-{version}.tgz]}}\n"))
            .collect();
        let text = format!("apiVersion: v1\nentries:\n  none: []\n  web:\n{}", entries.concat());
        Index::parse(text.as_bytes()).expect("an index")
    }

    /// As `helm pull` 4.3.1 chooses in a repository with these versions.
    #[test]
    fn a_version_is_chosen_as_helm_does() {
        for (wanted, want, is_fallback) in [
            (None, "2.0.0+build.5", false),
            (Some(">0.0.0-0"), "2.0.0+build.5", false),
            (Some("1.0"), "1.0.0", true),
            (Some("0.x"), "0.2.0", false),
            (Some("v0.2.0"), "0.2.0", true),
            (Some("2.0.0"), "2.0.0+build.5", true),
            (Some("1.1.0-rc.1"), "1.1.0-rc.1", false),
            (Some("^1.0.0-0"), "1.1.0-rc.1", false),
            (Some("<2"), "1.0.0", false),
        ] {
            let index = index();
            let choice = index.choose("web", wanted).expect("a version");
            assert_eq!(
                (choice.chart.version.as_str(), choice.is_fallback),
                (want, is_fallback),
                "{wanted:?}"
            );
        }
    }

    #[test]
    fn what_does_not_exist_is_told_in_helms_words() {
        for (chart, wanted, want) in [
            ("nope", None, "no chart name found"),
            ("none", None, "no chart version found"),
            ("web", Some("9.9.9"), "no chart version found for web-9.9.9"),
            ("web", Some("not a version"), "improper constraint: \"not a version\""),
        ] {
            assert_eq!(index().choose(chart, wanted).expect_err(want).to_string(), want);
        }
    }

    #[test]
    fn a_locked_version_is_found_whatever_its_spelling() {
        let index = index();
        let found = |version| index.locked("web", version).map(|chart| chart.version.as_str());
        assert_eq!(found("1.0"), Some("1.0.0"));
        assert_eq!(found("2.0.0+other"), Some("2.0.0+build.5"));
        assert_eq!(found("1.x"), None);
    }

    #[test]
    fn tags_are_versions_with_an_underscore_for_a_plus() {
        let tags: Vec<String> =
            ["latest", "1.0.0", "1.2", "2.0.0_b.1", "2.1.0-rc.1", "sha256-ab.sig"].map(str::to_owned).into();
        for (wanted, want) in [
            (None, Some("2.0.0+b.1")),
            (Some("^1"), Some("1.0.0")),
            (Some(">0.0.0-0"), Some("2.1.0-rc.1")),
            (Some("2.0.0+b.1"), Some("2.0.0+b.1")),
            (Some("3"), None),
        ] {
            assert_eq!(newest_matching(&tags, wanted).expect("a range").as_deref(), want, "{wanted:?}");
        }
        assert!(newest_matching(&tags, Some("a b")).is_err());
    }
}
