//! Parses the URL of a repository on a forge. Input: the URL that git uses. Output: host, path, and forge.

use diagnostic::{Error, ErrorKind, Result};
use reqwest::Url;

use super::{FORGES, Forge};

/// A repository on a forge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// `https`, or `http` where git itself goes without TLS.
    scheme: &'static str,
    /// The host, with a port where the web has one.
    host: String,
    /// The path without `/` at its ends and without `.git`.
    path: String,
}

impl Address {
    /// Reads what git takes: `https://host/path.git`, `ssh://git@host:22/path.git`, `git@host:path.git`.
    ///
    /// # Errors
    /// If it is none of them.
    pub fn parse(text: &str) -> Result<Self> {
        Self::read(text).ok_or_else(|| {
            // The address may hold a password, so it is not shown.
            let wrong = "the address of the repository is not one of a repository on a forge";
            Error::new(ErrorKind::Invalid, wrong)
                .hint("write it as `https://host/owner/name.git` or `git@host:owner/name.git`")
        })
    }

    fn read(text: &str) -> Option<Self> {
        // What is left out of addresses without a word could hide in one.
        if text.contains(char::is_control) {
            return None;
        }
        let text = text.strip_prefix("git+").unwrap_or(text);
        let (scheme, host, path) = match Url::parse(text) {
            Ok(url) if matches!(url.scheme(), "http" | "https") => {
                let scheme = if url.scheme() == "http" { "http" } else { "https" };
                let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
                (scheme, format!("{}{port}", url.host_str()?), url.path().to_owned())
            }
            // The port is that of ssh and says nothing of the web.
            Ok(url) if matches!(url.scheme(), "ssh" | "git") => {
                ("https", url.host_str()?.to_ascii_lowercase(), url.path().to_owned())
            }
            _ => {
                let (host, path) = text
                    .split_once(':')
                    .filter(|(host, path)| !host.contains('/') && !path.starts_with("//"))?;
                let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
                ("https", host.to_ascii_lowercase(), path.to_owned())
            }
        };
        let path = path.trim_matches('/');
        let path = path.strip_suffix(".git").unwrap_or(path).to_owned();
        let is_host = |character: char| character.is_ascii_alphanumeric() || ".-:[]".contains(character);
        let parts = || path.split('/');
        let is_whole =
            parts().count() >= 2 && parts().all(|part| !part.is_empty() && part != "." && part != "..");
        let is_plain =
            !path.contains(|character: char| character.is_control() || " ?#\\%".contains(character));
        let is_host = !host.is_empty() && host.chars().all(is_host);
        (is_host && is_whole && is_plain).then_some(Self { scheme, host, path })
    }

    /// The host, with a port where the web has one.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Returns true if two name one repository, whichever way git goes to it. Forges take names in any case, and only the web has
    /// a port that is known.
    fn is_same(&self, other: &Self) -> bool {
        let port = |address: &Self| address.host.rsplit_once(':').map(|(_, port)| port.to_owned());
        let name = |address: &Self| address.host.split(':').next().unwrap_or_default().to_owned();
        let (own, others) = (port(self), port(other));
        name(self) == name(other)
            && (own == others || own.is_none() || others.is_none())
            && self.path.eq_ignore_ascii_case(&other.path)
    }

    /// The path, such as `owner/name`.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns true if git itself goes without TLS.
    pub(super) fn is_plain(&self) -> bool {
        self.scheme == "http"
    }

    /// Returns where people look at it.
    #[must_use]
    pub fn web(&self) -> String {
        format!("{}://{}/{}", self.scheme, self.host, self.path)
    }

    /// The forge that the host is known to be or says to be by its name: `gitlab.com`, `gitea.example.org`.
    #[must_use]
    pub fn forge(&self) -> Option<&'static dyn Forge> {
        let host = self.host.split(':').next().unwrap_or_default();
        let first = host.split('.').next().unwrap_or_default();
        let named = |forge: &&&dyn Forge| forge.hosts().contains(&host) || forge.words().contains(&first);
        FORGES.iter().find(named).copied()
    }
}

/// Returns true if two addresses name one repository, which is so for none that is not on a forge.
pub(crate) fn is_same_repository(one: &str, other: &str) -> bool {
    match (Address::read(one), Address::read(other)) {
        (Some(one), Some(other)) => one.is_same(&other),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_repository_has_many_addresses() {
        let one = "https://git.example:8443/Shop/Config.git";
        for other in [
            "https://bot:secret@git.example:8443/shop/config",
            "git@git.example:shop/config.git",
            "ssh://git@git.example:2222/shop/config.git/",
        ] {
            assert!(is_same_repository(one, other), "{other}");
        }
        for other in [
            "https://git.example:9443/shop/config",
            "https://git2.example:8443/shop/config",
            "https://git.example:8443/shop/config2",
            "https://git.example:8443/x/shop/config",
            "",
        ] {
            assert!(!is_same_repository(one, other), "{other}");
        }
        assert!(!is_same_repository("", ""));
    }

    fn parts(text: &str) -> Option<(String, String)> {
        Address::parse(text).ok().map(|address| (address.host, address.path))
    }

    #[test]
    fn addresses_of_git_are_read() {
        let some = |host: &str, path: &str| Some((host.to_owned(), path.to_owned()));
        assert_eq!(parts("https://github.com/org/repo.git"), some("github.com", "org/repo"));
        assert_eq!(parts("https://bot:secret@Git.Example:8443/a/b/c/"), some("git.example:8443", "a/b/c"));
        assert_eq!(parts("ssh://git@git.example:2222/a/b.git"), some("git.example", "a/b"));
        assert_eq!(parts("git@GitLab.com:group/sub/repo.git"), some("gitlab.com", "group/sub/repo"));
        assert_eq!(parts("git+https://github.com/org/repo"), some("github.com", "org/repo"));
    }

    #[test]
    fn what_is_no_address_is_refused_and_not_shown() {
        for text in [
            "",
            "repo",
            "../repo",
            "/srv/git/a/b",
            "file:///a/b",
            "https://host/only",
            "https://host/a/../..",
            "host:a",
            "https://host/a/b%2fc",
            "javascript:a/b c",
            "https://h/a/b\nc",
            "a b:c/d",
        ] {
            assert_eq!(parts(text), None, "{text}");
        }
        let error = Address::parse("https://bot:secret@host/").unwrap_err();
        assert!(!error.to_string().contains("secret"));
    }

    #[test]
    fn a_forge_is_known_by_its_host() {
        let forge = |text: &str| Address::parse(text).unwrap().forge().map(Forge::name);
        assert_eq!(forge("https://github.com/a/b"), Some("GitHub"));
        assert_eq!(forge("git@gitlab.com:a/b"), Some("GitLab"));
        assert_eq!(forge("https://gitlab.corp.example:8443/a/b"), Some("GitLab"));
        assert_eq!(forge("https://codeberg.org/a/b"), Some("Gitea"));
        assert_eq!(forge("https://forgejo.corp.example/a/b"), Some("Gitea"));
        assert_eq!(forge("https://git.corp.example/a/b"), None);
        // The name of another does not make it one.
        assert_eq!(forge("https://evilgithub.com/a/b"), None);
        assert_eq!(forge("https://github.com.evil.example/a/b"), Some("GitHub"));
    }
}
