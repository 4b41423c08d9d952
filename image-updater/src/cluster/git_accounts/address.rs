//! Addresses of repositories, compared as Argo CD compares them.
//!
//! In: addresses. Out: whether two are of one repository, and which of several beginnings is the longest. What is
//! stricter: a beginning has the whole host, so that what is kept for `https://git.example` is not shown to
//! `https://git.example.org`.

use diagnostic::{Error, Result};

/// The protocol of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Ssh,
    Http,
}

impl Way {
    /// The way that an address says.
    ///
    /// # Errors
    /// If it is another one, for which no credentials are known.
    pub(super) fn of(url: &str) -> Result<Self> {
        let url = url.trim();
        let starts_with =
            |scheme: &str| url.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme));
        match () {
            () if starts_with("http://") || starts_with("https://") => Ok(Self::Http),
            () if starts_with("ssh://") || is_ssh(url) => Ok(Self::Ssh),
            () => Err(Error::invalid(format!(
                "`{}` is neither an address of https nor one of ssh, and credentials are for these",
                diagnostic::redact(url)
            ))),
        }
    }
}

/// Returns true if two addresses are of one repository.
pub(super) fn is_same(one: &str, other: &str) -> bool {
    let normal = |url: &str| normalized(url).unwrap_or_else(|| url.to_owned());
    let one = normal(one);
    !one.is_empty() && one == normal(other)
}

/// Returns how much of an address a beginning is; nothing where it is none of it.
pub(super) fn matched(beginning: &str, url: &str) -> Option<usize> {
    let (beginning, url) = (normalized(beginning)?, normalized(url)?);
    let is_whole_host = beginning.len() >= host_end(&url);
    (is_whole_host && url.starts_with(&beginning)).then_some(beginning.len())
}

/// The host of an address, without its port.
pub(super) fn host(url: &str) -> Option<String> {
    let normal = normalized(url)?;
    let authority = &normal[authority_start(&normal)..host_end(&normal)];
    let host = authority.rsplit('@').next().unwrap_or(authority);
    let host = host.split(':').next().unwrap_or(host);
    (!host.is_empty()).then(|| host.to_owned())
}

/// An address in lower case, without `ssh://`, `.git` and the colon of `git@host:path`.
fn normalized(url: &str) -> Option<String> {
    let mut url = url.trim().to_lowercase();
    if is_ssh(&url) && !url.starts_with("ssh://") {
        url = format!("ssh://{}", url.replacen(':', "/", 1));
    }
    let url = url.strip_suffix(".git").unwrap_or(&url);
    if url.chars().any(char::is_control) {
        return None;
    }
    let authority = &url[authority_start(url)..host_end(url)];
    let port = authority.rsplit_once(']').map_or(authority, |(_, rest)| rest);
    let port = port.rsplit('@').next().and_then(|host| host.split_once(':')).map_or("", |(_, port)| port);
    if !port.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some(url.strip_prefix("ssh://").unwrap_or(url).to_owned())
}

/// `USER@HOST:PATH`, also with `ssh://` before it.
fn is_ssh(url: &str) -> bool {
    let rest = url.strip_prefix("ssh://").unwrap_or(url);
    rest.split_once('@')
        .is_some_and(|(user, host)| !user.contains(['/', ':']) && !host.is_empty() && !host.contains('@'))
}

fn authority_start(url: &str) -> usize {
    url.find("://").map_or(0, |at| at + 3)
}

fn host_end(url: &str) -> usize {
    let start = authority_start(url);
    url[start..].find(['/', '?', '#']).map_or(url.len(), |at| start + at)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// After `TestSameURL` and `NormalizeGitURL` of Argo CD's `util/git`.
    #[test]
    fn addresses_are_compared_as_argo_cd_does() {
        for (one, other, expected) in [
            ("https://GITHUB.com/argoproj/test", "https://github.com/argoproj/test.git", true),
            ("https://github.com/argoproj/test", "https://github.com/argoproj/test/", false),
            ("git@GITHUB.com:argoproj/test", "git@github.com:argoproj/test.git", true),
            ("git@github.com:test", "ssh://git@github.com/test.git", true),
            (" https://github.com/a ", "https://github.com/a", true),
            ("ssh://git@github.com:22/test", "git@github.com:test", false),
            ("https://user@github.com/a", "https://github.com/a", false),
            ("http://github.com/a", "https://github.com/a", false),
            ("", "", false),
        ] {
            assert_eq!(is_same(one, other), expected, "{one} {other}");
        }
    }

    #[test]
    fn a_beginning_has_the_whole_host() {
        let url = "https://git.example.org/platform/deploy.git";
        for (beginning, expected) in [
            ("https://git.example.org", true),
            ("https://git.example.org/", true),
            ("https://git.example.org/plat", true),
            ("https://git.example.org/platform/deploy.git", true),
            ("https://git.example", false),
            ("https://git", false),
            ("https://", false),
            ("", false),
            ("git@git.example.org", false),
            ("https://git.example.org/other", false),
        ] {
            assert_eq!(matched(beginning, url).is_some(), expected, "{beginning}");
        }
        for (beginning, url, expected) in [
            ("git@github.com:org", "ssh://git@github.com/org/repo", true),
            ("ssh://git@github.com", "git@github.com:org/repo.git", true),
            ("https://github.com", "https://github.com@evil.test/x", false),
            ("https://github.com", "https://github.com:8443/x", false),
            ("https://github.com/org", "https://github.com/org:x", true),
        ] {
            assert_eq!(matched(beginning, url).is_some(), expected, "{beginning} {url}");
        }
    }

    #[test]
    fn hosts_are_found_without_users_and_ports() {
        for (url, expected) in [
            ("https://me:pw@Git.test:8443/x", Some("git.test")),
            ("git@git.test:org/x", Some("git.test")),
            ("ssh://git@git.test:2222/x", Some("git.test")),
            ("https:///x", None),
        ] {
            assert_eq!(host(url).as_deref(), expected, "{url}");
        }
    }

    #[test]
    fn credentials_are_for_https_and_ssh() {
        for url in ["https://h/x", "HTTP://h/x"] {
            assert_eq!(Way::of(url).unwrap(), Way::Http, "{url}");
        }
        for url in ["git@h:x", "ssh://h/x", "ssh://git@h:22/x"] {
            assert_eq!(Way::of(url).unwrap(), Way::Ssh, "{url}");
        }
        for url in ["/srv/git/x", "git://h/x", "file:///x"] {
            assert!(Way::of(url).is_err(), "{url}");
        }
    }
}
