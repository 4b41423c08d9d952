//! Names of branches. In: a Go template and what is changed. Out: a name that git and the forges take, or why there is
//! none.

use diagnostic::{Error, Result};
use std::collections::BTreeMap;

use sha2::{Digest as _, Sha256};

use super::{Subject, data, template};

/// A ref of 255 bytes, which is the most that forges and file systems take, less `refs/heads/`.
const MAX_BRANCH: usize = 244;

/// Length of the hash that ends an overlong name, with its hyphen.
const HASH: usize = 16;

/// The template of a branch's name.
#[derive(Clone, Debug)]
pub struct BranchTemplate {
    name: String,
    text: String,
}

impl Default for BranchTemplate {
    /// One branch for each target, so that a pull request is brought up to date rather than replaced.
    fn default() -> Self {
        Self { name: "branch".to_owned(), text: "image-updater-{{ .TargetKey }}".to_owned() }
    }
}

impl BranchTemplate {
    /// Takes a template that stands in a file or field of this name.
    ///
    /// # Errors
    /// If it is no template, asks for what is not there, or makes a name that git refuses.
    pub fn parse(name: &str, text: &str) -> Result<Self> {
        let template = Self { name: name.to_owned(), text: text.to_owned() };
        let (changes, values) = ([template::example()], BTreeMap::new());
        let subject = Subject { name: "example", changes: &changes, automation: None, values: &values };
        template.render(&subject, "0123abcd")?;
        Ok(template)
    }

    /// Makes the name. One that is too long is cut and ends with a hash of the whole, so that two never are one.
    ///
    /// # Errors
    /// If the template cannot be executed with these changes, or makes a name that git refuses.
    pub fn render(&self, subject: &Subject<'_>, target_key: &str) -> Result<String> {
        let hint = "a branch has `.AppName`, `.AppNamespace`, `.Images`, `.SHA256` and `.TargetKey`";
        let name = template::execute(&self.name, &self.text, data::of_branch(subject, target_key), hint)?;
        let name = shortened(name.trim());
        check_branch(&name)
            .map_err(|error| error.hint(format!("it is made by the template `{}`", self.name)))?;
        Ok(name)
    }
}

fn shortened(name: &str) -> String {
    if name.len() <= MAX_BRANCH {
        return name.to_owned();
    }
    let mut end = MAX_BRANCH - HASH - 1;
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    let hash = Sha256::digest(name);
    let hash: String = hash.iter().take(HASH / 2).map(|byte| format!("{byte:02x}")).collect();
    format!("{}-{hash}", &name[..end])
}

/// Checks a branch's name by the rules of `git check-ref-format --branch`, and its length.
///
/// # Errors
/// With the rule that it breaks.
pub fn check_branch(name: &str) -> Result<()> {
    match broken_rule(name) {
        None => Ok(()),
        Some(rule) => Err(Error::invalid(format!("`{name}` cannot be the name of a branch: it {rule}"))),
    }
}

fn broken_rule(name: &str) -> Option<&'static str> {
    let forbidden = |character: char| character.is_ascii_control() || " ~^:?*[\\".contains(character);
    let rules: [(bool, &'static str); 11] = [
        (name.is_empty(), "is empty"),
        (name.len() > MAX_BRANCH, "is longer than 244 bytes"),
        (name == "HEAD" || name == "@", "has a meaning of its own"),
        (name.starts_with('-'), "begins with `-`"),
        (name.contains(forbidden), "has a blank, a control character or one of `~^:?*[\\`"),
        (name.contains(".."), "has `..`"),
        (name.contains("@{"), "has `@{`"),
        (name.ends_with('.'), "ends with `.`"),
        (name.split('/').any(str::is_empty), "has a `/` at an end or beside another"),
        (name.split('/').any(|part| part.starts_with('.')), "has a part that begins with `.`"),
        (name.split('/').any(|part| part.ends_with(".lock")), "has a part that ends with `.lock`"),
    ];
    rules.into_iter().find(|(broken, _)| *broken).map(|(_, rule)| rule)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::{Change, Version};

    fn render(text: &str, changes: &[Change]) -> Result<String> {
        let template = BranchTemplate { name: "branch".to_owned(), text: text.to_owned() };
        let subject = Subject { name: "r", changes, automation: None, values: &BTreeMap::new() };
        template.render(&subject, "0123abcd")
    }

    fn change(image: &str, old: &str, new: &str) -> Change {
        let (old, new) = (Version::of_tag(old), Version::of_tag(new));
        Change { image: image.to_owned(), old, new, ..template::example() }
    }

    /// Expected values: what Argo CD Image Updater's tests expect of these templates; the hash is that of `foo/bar-1.0-1.1,`.
    #[test]
    fn templates_of_argo_cd_image_updater_run() {
        let changes = [change("foo/bar", "1.0", "1.1"), change("quay.io/bar/baz", "2.0", "2.1")];
        let names = "image-updater{{range .Images}}-{{.Name}}-{{.NewTag}}{{end}}";
        assert_eq!(render(names, &changes).unwrap(), "image-updater-foo/bar-1.1-bar/baz-2.1");
        let hash = "image-updater-0fcc2782543e4bb067c174c21bf44eb947f3e55c0d62c403e359c1c209cbd041";
        assert_eq!(render("image-updater-{{.SHA256}}", &changes[..1]).unwrap(), hash);
        let rest = "{{.TargetKey}}/{{.AppNamespace}}/{{.AppName}}/{{range .Images}}{{.Alias}}{{end}}";
        assert_eq!(render(rest, &changes[..1]).unwrap(), "0123abcd/argocd/example/app");
    }

    /// `printf 'https://example.org/r.git|main|apps' | sha256sum`.
    #[test]
    fn a_target_has_a_key() {
        assert_eq!(data::target_key("https://example.org/r.git", "main", "apps"), "df374710");
    }

    #[test]
    fn a_digest_has_no_colon_in_a_branch() {
        let mut digest = change("a", "1", "1");
        digest.new.digest = Some("sha256:ab".to_owned());
        assert_eq!(render("{{range .Images}}{{.NewTag}}{{end}}", &[digest]).unwrap(), "sha256-ab");
    }

    #[test]
    fn long_names_stay_apart() {
        let (one, other) = (render(&"a".repeat(300), &[]).unwrap(), render(&"a".repeat(301), &[]).unwrap());
        assert_eq!((one.len(), other.len()), (MAX_BRANCH, MAX_BRANCH));
        assert_ne!(one, other);
        assert!(render(&"ä".repeat(150), &[]).unwrap().len() <= MAX_BRANCH);
    }

    /// Each asked of `git check-ref-format --branch`, which differs in two: it takes `@`, as another word for HEAD, and any
    /// length.
    #[test]
    fn names_are_what_git_takes() {
        for good in
            ["a", "a/b", "a.b", "a@b", "@a", "a-", "a.lockx", "ä", "lock", "a/HEAD", "{a}", "a/-b", "a.l/b"]
        {
            assert!(check_branch(good).is_ok(), "{good}");
        }
        let long = "a".repeat(245);
        for bad in [
            "", "@", "HEAD", "-a", "/a", "a/", "a//b", ".a", "a/.b", "a..b", "a.", "a.lock", "a.lock/b",
            "a b", "a~", "a^", "a:b", "a?", "a*", "a[", "a\\b", "a@{b", "a\u{7f}", "a\tb", &long,
        ] {
            assert!(check_branch(bad).is_err(), "{bad}");
        }
        assert!(render("{{range .Images}}{{.OldTag}}{{end}}.lock", &[change("a", "1", "2")]).is_err());
    }
}
