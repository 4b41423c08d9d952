//! Addresses of repositories and of the charts in them.

use diagnostic::{Error, ErrorKind, Result};
use reqwest::Url;

/// The start of an address in a registry.
pub(crate) const OCI: &str = "oci://";

/// An address in full.
pub(super) fn parse(text: &str) -> Result<Url> {
    Url::parse(text)
        .map_err(|error| Error::new(ErrorKind::Invalid, format!("invalid chart URL format: {text}: {error}")))
}

/// Returns true if a text is an address of a host and not the name of a chart.
pub(super) fn is_full(text: &str) -> bool {
    Url::parse(text).is_ok_and(|url| url.has_host() && url.path().len() > 1)
}

/// Returns where something in a repository is, which its index names relative to it or in full. A query that the repository's
/// address has is kept, as it may be what lets somebody in.
pub(super) fn in_repository(repository: &Url, name: &str) -> Result<Url> {
    if let Ok(full) = Url::parse(name) {
        return Ok(full);
    }
    let mut base = repository.clone();
    base.set_path(&format!("{}/", base.path().trim_end_matches('/')));
    let mut url = base
        .join(name)
        .map_err(|error| Error::new(ErrorKind::Invalid, format!("failed to parse {name} as URL: {error}")))?;
    url.set_query(repository.query());
    Ok(url)
}

/// Returns true if two addresses are of one repository: slashes at the end and dots in between do not count.
pub(crate) fn are_same(left: &str, right: &str) -> bool {
    let clean = |text: &str| {
        let mut url = Url::parse(text).ok()?;
        let parts: Vec<&str> = url.path().split('/').filter(|part| !part.is_empty()).collect();
        let path = format!("/{}", parts.join("/"));
        url.set_path(&path);
        Some(url)
    };
    match (clean(left), clean(right)) {
        (Some(left), Some(right)) => left == right,
        (None, None) => left.trim_end_matches('/') == right.trim_end_matches('/'),
        _ => false,
    }
}

/// The name of the file behind an address.
pub(super) fn file_name(url: &Url) -> Result<String> {
    let last = url.path().rsplit('/').next().unwrap_or_default();
    let name = percent_decoded(last);
    if matches!(name.as_str(), "" | "." | "..")
        || name.contains(['/', '\\'])
        || name.contains(char::is_control)
    {
        return Err(Error::new(ErrorKind::Invalid, format!("`{url}` does not end in the name of a file")));
    }
    Ok(name)
}

fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        let digit = |at: usize| after.get(at).and_then(|digit| char::from(*digit).to_digit(16));
        match (byte, digit(0), digit(1)) {
            (b'%', Some(high), Some(low)) => {
                bytes.push((high * 16 + low) as u8);
                rest = &after[2..];
            }
            _ => {
                bytes.push(*byte);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As `repo.ResolveReferenceURL` of Helm's tests has it.
    #[test]
    fn an_index_names_charts_relative_to_the_repository() {
        for (repository, name, want) in [
            ("http://localhost:8123", "/nginx-0.2.0.tgz", "http://localhost:8123/nginx-0.2.0.tgz"),
            (
                "http://localhost:8123/charts/",
                "nginx-0.2.0.tgz",
                "http://localhost:8123/charts/nginx-0.2.0.tgz",
            ),
            ("http://localhost:8123/charts", "charts/a.tgz", "http://localhost:8123/charts/charts/a.tgz"),
            ("http://localhost:8123/charts?token=x", "a.tgz", "http://localhost:8123/charts/a.tgz?token=x"),
            ("http://localhost:8123/charts", "https://other/a.tgz?y=1", "https://other/a.tgz?y=1"),
            ("http://localhost:8123/a", "oci://host/repo/web:1.0.0", "oci://host/repo/web:1.0.0"),
        ] {
            let url = in_repository(&parse(repository).unwrap(), name).unwrap();
            assert_eq!(url.as_str(), want);
        }
    }

    #[test]
    fn addresses_are_compared_without_slashes_and_dots() {
        for (left, right, same) in [
            ("http://example.com/", "http://example.com", true),
            ("http://example.com/foo//", "http://example.com/foo/", true),
            ("http://example.com/bar/../foo/", "http://example.com/foo", true),
            ("https://example.com", "http://example.com", false),
            ("http://example.com", "http://another.example.com", false),
            ("/foo", "/foo/", true),
            ("stable", "http://example.com", false),
        ] {
            assert_eq!(are_same(left, right), same, "{left} {right}");
        }
    }

    #[test]
    fn a_file_gets_its_name_from_its_address() {
        let name = |text: &str| file_name(&Url::parse(text).unwrap());
        assert_eq!(name("https://h/c/web-1.0.0+b.tgz?x=/y").unwrap(), "web-1.0.0+b.tgz");
        assert_eq!(name("https://h/c/web%2B1.tgz").unwrap(), "web+1.tgz");
        for bad in ["https://h/", "https://h/a/", "https://h/..%2f..%2fetc%2fpasswd", "https://h/a%00"] {
            assert!(name(bad).is_err(), "{bad}");
        }
    }
}
