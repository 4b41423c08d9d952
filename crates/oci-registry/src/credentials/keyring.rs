//! Which of many credentials are for a repository, as the kubelet chooses among pull secrets.
//!
//! In: the names under which credentials are kept, such as `https://index.docker.io/v1/`, `quay.io/team` or
//! `*.example.com:5000`. Out: which of them a repository is under, and how well each fits. A star stands for a part of a
//! host's name, and for no more than one.

use diagnostic::Result;

use super::docker::DockerConfig;
use super::{Credential, CredentialSource};
use crate::reference::normal_host;

/// The specificity of a match; greater is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Fit {
    /// Its path ends where a part of the repository's name does. The kubelet takes others as well, so that these are
    /// tried last.
    is_whole: bool,
    /// Its host has no stars.
    is_exact: bool,
    path: usize,
}

/// Several pull secrets: all that fit a repository, best first, as if they were one.
#[derive(Debug)]
pub struct PullSecrets(pub Vec<DockerConfig>);

impl CredentialSource for PullSecrets {
    fn find(&self, registry: &str, repository: &str) -> Result<Option<Credential>> {
        Ok(self.find_all(registry, repository)?.into_iter().next())
    }

    fn find_all(&self, registry: &str, repository: &str) -> Result<Vec<Credential>> {
        let mut fitting = Vec::new();
        for secret in &self.0 {
            fitting.extend(secret.fitting(registry, repository)?);
        }
        Ok(best_first(fitting))
    }
}

/// Credentials by how well they fit, each once.
pub(super) fn best_first(mut fitting: Vec<(Fit, Credential)>) -> Vec<Credential> {
    // Of those that fit alike, the first counts most.
    fitting.sort_by(|(first, _), (second, _)| second.cmp(first));
    let mut all = Vec::with_capacity(fitting.len());
    for (_, credential) in fitting {
        if !all.contains(&credential) {
            all.push(credential);
        }
    }
    all
}

/// Returns how well a name fits a repository; nothing where it does not. Docker's Hub is known by all its names.
pub(super) fn fit(key: &str, registry: &str, repository: &str) -> Option<Fit> {
    let (host, path) = parts(key);
    let is_exact = is_host(host, registry);
    if !is_exact && !matches_host(host, registry) {
        return None;
    }
    let rest = repository.strip_prefix(path)?;
    let is_whole = path.is_empty() || rest.is_empty() || rest.starts_with('/');
    Some(Fit { is_whole, is_exact, path: path.len() })
}

/// Returns true if a name is for all of a host.
pub(super) fn is_for_host(key: &str, registry: &str) -> bool {
    let (host, path) = parts(key);
    path.is_empty() && is_host(host, registry)
}

/// Host and path without what older clients wrote around them: a scheme, and the version of the API.
fn parts(key: &str) -> (&str, &str) {
    let key = key.trim();
    let key = key.split_once("://").map_or(key, |(_, rest)| rest).trim_end_matches('/');
    let (host, path) = key.split_once('/').unwrap_or((key, ""));
    let path = match path {
        "v1" | "v2" => "",
        path => path.strip_prefix("v1/").or_else(|| path.strip_prefix("v2/")).unwrap_or(path),
    };
    (host, path)
}

fn is_host(host: &str, registry: &str) -> bool {
    normal_host(host).is_ok_and(|host| host == registry)
}

/// Returns true if the parts of a host's name are like those of a pattern; ports must be the same.
fn matches_host(pattern: &str, registry: &str) -> bool {
    let (pattern, pattern_port) = pattern.rsplit_once(':').unwrap_or((pattern, ""));
    let (host, port) = registry.rsplit_once(':').unwrap_or((registry, ""));
    let (patterns, labels) = (pattern.split('.'), host.split('.'));
    pattern_port == port
        && patterns.clone().count() == labels.clone().count()
        && patterns.zip(labels).all(|(pattern, label)| matches(pattern.as_bytes(), label.as_bytes()))
}

/// A pattern of Go's `filepath.Match`: stars, question marks and classes.
fn matches(mut pattern: &[u8], mut text: &[u8]) -> bool {
    // What follows the last star, and the text that it may still give up.
    let mut star: Option<(&[u8], &[u8])> = None;
    loop {
        if let [b'*', rest @ ..] = pattern {
            (star, pattern) = (Some((rest, text)), rest);
        } else if let Some(after) = step(pattern, text) {
            (pattern, text) = after;
        } else if pattern.is_empty() && text.is_empty() {
            return true;
        } else if let Some((rest, [_, left @ ..])) = star {
            (star, pattern, text) = (Some((rest, left)), rest, left);
        } else {
            return false;
        }
    }
}

/// Returns the rest of the pattern part and text after one step.
fn step<'p, 't>(pattern: &'p [u8], text: &'t [u8]) -> Option<(&'p [u8], &'t [u8])> {
    let ([part, rest @ ..], [byte, text @ ..]) = (pattern, text) else { return None };
    let (is_like, rest) = match part {
        b'?' => (true, rest),
        b'[' => {
            let end = rest.iter().position(|byte| *byte == b']')?;
            (in_class(&rest[..end], *byte), &rest[end + 1..])
        }
        part => (part.eq_ignore_ascii_case(byte), rest),
    };
    is_like.then_some((rest, text))
}

fn in_class(class: &[u8], byte: u8) -> bool {
    let (class, is_negated) = match class {
        [b'^', rest @ ..] => (rest, true),
        class => (class, false),
    };
    let is_range = |place: usize| class.get(place + 1) == Some(&b'-') && place + 2 < class.len();
    let mut place = 0;
    let mut is_in = false;
    while place < class.len() {
        let (end, next) =
            if is_range(place) { (class[place + 2], place + 3) } else { (class[place], place + 1) };
        is_in |= (class[place]..=end).contains(&byte);
        place = next;
    }
    is_in != is_negated
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From the kubelet's own documentation of `imagePullSecrets`, and its tests of hosts with stars.
    #[test]
    fn hosts_may_have_stars_for_their_parts() {
        let is_fit = |key: &str, registry: &str| fit(key, registry, "images/my-image").is_some();
        for (key, registry) in [
            ("*.kubernetes.io", "abc.kubernetes.io"),
            ("https://*.kubernetes.io/images/", "abc.kubernetes.io"),
            ("prefix.*.io", "prefix.kubernetes.io"),
            ("*-good.kubernetes.io", "prefix-good.kubernetes.io"),
            ("my[0-9a].io:5000", "my7.io:5000"),
            ("my[^0-9].io", "myx.io"),
            ("*.*.*.io", "a.b.c.io"),
            ("?.io", "a.io"),
        ] {
            assert!(is_fit(key, registry), "{key} {registry}");
        }
        for (key, registry) in [
            ("*.kubernetes.io", "kubernetes.io"),
            ("*.kubernetes.io", "a.b.kubernetes.io"),
            ("*.kubernetes.io:5000", "abc.kubernetes.io"),
            ("*.kubernetes.io", "abc.kubernetes.io:5000"),
            ("*.io", "kubernetes.io.evil"),
            ("*kubernetes.io", "evil.example"),
            ("my[0-9.io", "my7.io"),
            ("*.kubernetes.io/other", "abc.kubernetes.io"),
            ("*", "abc.kubernetes.io"),
        ] {
            assert!(!is_fit(key, registry), "{key} {registry}");
        }
    }

    #[test]
    fn what_says_more_fits_better() {
        let fit = |key: &str| fit(key, "quay.io", "team/app").unwrap();
        let order =
            ["quay.io/team/app", "quay.io/v2/team", "https://quay.io/v1/", "*.io/team", "*.io", "quay.io/te"];
        let fits: Vec<Fit> = order.into_iter().map(fit).collect();
        assert!(fits.is_sorted_by(|first, second| first > second), "{fits:?}");
        assert!(super::fit("quay.io/team/app/x", "quay.io", "team/app").is_none());
        assert!(is_for_host("http://QUAY.io/v2/", "quay.io") && !is_for_host("quay.io/team", "quay.io"));
    }
}
