//! The addresses of remote repositories, as a kustomization writes them.
//!
//! `[git::][scheme://][user@]host(/|:)repository[//folder][?ref=…&version=…&timeout=…&submodules=…]`: in comes an entry
//! of `resources`, out go what git is given, the folder in the repository and the options. What is no such address is
//! none, and is tried as a local path; only an address whose folder leaves the repository is refused.

use std::borrow::Cow;
use std::path::{Component, Path};

use diagnostic::{Error, ErrorKind, Result};
use std::time::Duration;
use vfs::clean;

use crate::world::Repository;

/// An entry that names a folder of a remote repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RepositoryEntry {
    /// The repository and revision.
    pub(crate) repository: Repository,
    /// The folder in it; empty for the top.
    pub(crate) path: String,
    /// The entry as written, by which cycles are found.
    pub(crate) raw: String,
}

/// Time one git command may take where the address does not say.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(27);

/// Schemes in the order in which they are tried.
const SCHEMES: &[&str] = &["ssh://", "https://", "http://", FILE];
const FILE: &str = "file://";
const HTTPS: &str = "https://";

/// The mark of go-getter, which Kustomize once used; it has no effect.
const FORCED_GIT: &str = "git::";

/// Reads an entry; `None` where it is no address of a repository.
///
/// # Errors
/// If the folder that it names is outside of the repository.
pub(crate) fn parse(entry: &str) -> Result<Option<RepositoryEntry>> {
    if entry.starts_with('/') {
        return Ok(None);
    }
    let (address, query) = entry.split_once('?').unwrap_or((entry, ""));
    let Some((host, rest)) = split_host(address) else { return Ok(None) };
    let Some((repository, folder)) = split_repository(&rest, host == FILE) else { return Ok(None) };
    if repository.is_empty() {
        return Ok(None);
    }
    let folder = folder.trim_start_matches('/');
    if leaves_repository(folder) {
        let sentence = format!("the folder `{folder}` leads out of the repository `{host}{repository}`");
        return Err(Error::new(ErrorKind::Denied, sentence));
    }
    let options = Options::parse(query).unwrap_or_default();
    Ok(Some(RepositoryEntry {
        repository: Repository {
            url: format!("{host}{repository}"),
            revision: options.revision,
            timeout: options.timeout,
            submodules: options.submodules,
        },
        path: folder.to_owned(),
        raw: entry.to_owned(),
    }))
}

/// Returns true if an entry asks for git's own protocol, which has no effect.
pub(crate) fn asks_for_git_protocol(entry: &str) -> bool {
    strip_prefix_ignoring_case(entry, FORCED_GIT).is_some()
}

/// Splits scheme, user and host with the separator behind them from the path. An address of github.com comes out in
/// the one form for https or the one for ssh.
fn split_host(address: &str) -> Option<(String, Cow<'_, str>)> {
    let address = strip_prefix_ignoring_case(address, FORCED_GIT).unwrap_or(address);
    let (scheme, rest) = split_scheme(address);
    let (user, rest) = split_user(rest);
    let is_github =
        ["github.com/", "github.com:"].iter().any(|host| strip_prefix_ignoring_case(rest, host).is_some());
    let is_scp = scheme.is_empty() && (!user.is_empty() || is_github);
    if scheme.is_empty() && !is_scp {
        return None;
    }
    if scheme == FILE {
        // What looks like a user is the start of the path.
        return Some((FILE.to_owned(), Cow::Owned(format!("{user}{rest}"))));
    }
    let (host, path) = match path_separator(rest, is_scp) {
        Some(at) => rest.split_at(at + 1),
        None => (rest, ""),
    };
    if host.is_empty() {
        return None;
    }
    let host = if !is_github {
        format!("{scheme}{user}{host}")
    } else if scheme == "ssh://" || !user.is_empty() {
        format!("{user}github.com:")
    } else {
        format!("{HTTPS}github.com/")
    };
    Some((host, Cow::Borrowed(path)))
}

fn split_scheme(address: &str) -> (&'static str, &str) {
    let found =
        SCHEMES.iter().find_map(|scheme| Some((*scheme, strip_prefix_ignoring_case(address, scheme)?)));
    found.unwrap_or(("", address))
}

/// Splits `name@` from what follows it; a name begins with a letter and has letters, digits and `-`.
fn split_user(text: &str) -> (&str, &str) {
    match text.find('@') {
        Some(at) if is_user(&text[..at]) => text.split_at(at + 1),
        _ => ("", text),
    }
}

fn is_user(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// Returns where the host ends: at the first slash, or in the style of scp at a colon before it.
fn path_separator(text: &str, is_scp: bool) -> Option<usize> {
    let slash = text.find('/');
    let colon = text.find(':').filter(|_| is_scp);
    match (slash, colon) {
        (Some(slash), Some(colon)) if colon == 0 || colon > slash => Some(slash),
        (None | Some(_), Some(colon)) => Some(colon),
        (slash, None) => slash,
    }
}

/// Splits the repository's path from the folder in it: behind the name that follows `_git/`, at `//`, behind `.git`,
/// or else behind two segments. A `file` address without such a mark is the repository's path.
fn split_repository(path: &str, is_file: bool) -> Option<(String, String)> {
    let owned = |(repository, folder): (&str, &str)| Some((repository.to_owned(), folder.to_owned()));
    if let Some(at) = path.find("_git/") {
        let name = at + "_git/".len();
        let end = path[name..].find('/').map_or(path.len(), |slash| name + slash);
        return owned((&path[..end], path.get(end + 1..).unwrap_or("")));
    }
    if let Some(parts) = path.split_once("//") {
        return owned(parts);
    }
    if let Some(at) = path.find(".git") {
        return owned(path.split_at(at + ".git".len()));
    }
    if is_file {
        return owned((path, ""));
    }
    let mut slashes = path.match_indices('/').map(|(at, _)| at);
    slashes.next()?;
    let end = slashes.next().unwrap_or(path.len());
    owned((&path[..end], path.get(end + 1..).unwrap_or("")))
}

fn leaves_repository(folder: &str) -> bool {
    clean(Path::new(folder)).components().next() == Some(Component::ParentDir)
}

/// The part behind `?`.
struct Options {
    revision: Option<String>,
    timeout: Duration,
    submodules: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { revision: None, timeout: DEFAULT_TIMEOUT, submodules: true }
    }
}

impl Options {
    /// `None` where any part of the query is malformed; then no part of it counts.
    fn parse(query: &str) -> Option<Self> {
        let values = parse_query(query)?;
        let value = |name: &str| {
            let first = values.iter().find(|(key, _)| key == name);
            first.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
        };
        Some(Self {
            revision: value("ref").or_else(|| value("version")).map(str::to_owned),
            timeout: value("timeout").and_then(parse_timeout).unwrap_or(DEFAULT_TIMEOUT),
            submodules: value("submodules").and_then(parse_bool).unwrap_or(true),
        })
    }
}

/// The pairs of a query string, as Go's `url.ParseQuery` reads them.
fn parse_query(query: &str) -> Option<Vec<(String, String)>> {
    let mut pairs = Vec::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        if pair.contains(';') {
            return None;
        }
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        pairs.push((unescape(key)?, unescape(value)?));
    }
    Some(pairs)
}

/// Undoes the escapes of a query string.
fn unescape(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => hex_digit(rest.next()?)? << 4 | hex_digit(rest.next()?)?,
            other => other,
        });
    }
    String::from_utf8(bytes).ok()
}

fn hex_digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

/// A positive number of seconds, or a positive duration in Go's notation.
fn parse_timeout(text: &str) -> Option<Duration> {
    if let Ok(seconds) = text.parse::<i64>()
        && seconds > 0
    {
        return Some(Duration::from_secs(seconds.unsigned_abs()));
    }
    parse_duration(text).filter(|duration| !duration.is_zero())
}

/// A duration as Go's `time.ParseDuration` reads it, where it is not negative: `1m1s`, `1.5h`.
fn parse_duration(text: &str) -> Option<Duration> {
    let mut rest = text.strip_prefix('+').unwrap_or(text);
    if rest.is_empty() {
        return None;
    }
    let mut nanoseconds: u128 = 0;
    while !rest.is_empty() {
        let number_end = rest.find(|next: char| !next.is_ascii_digit() && next != '.').unwrap_or(rest.len());
        let (number, behind) = rest.split_at(number_end);
        let unit_end = behind.find(|next: char| next.is_ascii_digit() || next == '.').unwrap_or(behind.len());
        let (unit, behind) = behind.split_at(unit_end);
        nanoseconds = nanoseconds.checked_add(parse_quantity(number, unit_length(unit)?)?)?;
        rest = behind;
    }
    // Go counts in 64 bits.
    i64::try_from(nanoseconds).ok().map(|count| Duration::from_nanos(count.unsigned_abs()))
}

/// A decimal number of units, in nanoseconds.
fn parse_quantity(number: &str, unit: u128) -> Option<u128> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() && fraction.is_empty() || fraction.contains('.') {
        return None;
    }
    let whole: u128 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    // More digits than this are below a nanosecond of every unit.
    let digits = &fraction[..fraction.len().min(18)];
    let part = digits.parse::<u128>().unwrap_or(0) * unit / 10_u128.pow(u32::try_from(digits.len()).ok()?);
    whole.checked_mul(unit)?.checked_add(part)
}

fn unit_length(unit: &str) -> Option<u128> {
    Some(match unit {
        "ns" => 1,
        // The micro sign and the Greek letter.
        "us" | "\u{b5}s" | "\u{3bc}s" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        _ => return None,
    })
}

fn parse_bool(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(false),
        _ => None,
    }
}

fn strip_prefix_ignoring_case<'t>(text: &'t str, prefix: &str) -> Option<&'t str> {
    text.get(..prefix.len()).filter(|start| start.eq_ignore_ascii_case(prefix)).map(|_| &text[prefix.len()..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(entry: &str) -> Option<(String, String, String)> {
        let parsed = parse(entry).unwrap()?;
        let Repository { url, revision, .. } = parsed.repository;
        Some((url, parsed.path, revision.unwrap_or_default()))
    }

    /// Address, what git is given, folder, revision: the facts that upstream's own tests state.
    const ADDRESSES: &[(&str, &str, &str, &str)] = &[
        ("https://git.example.com/org/repo", "https://git.example.com/org/repo", "", ""),
        ("https://git.example.com/org/repo/a/b?ref=t", "https://git.example.com/org/repo", "a/b", "t"),
        ("ssh://git.example.com:7999/org/repo", "ssh://git.example.com:7999/org/repo", "", ""),
        ("ssh://git.example.com/org/repo/a", "ssh://git.example.com/org/repo", "a", ""),
        // Where a mark says so, the repository's path has any number of segments.
        ("https://example.org/a/b/c//x/y", "https://example.org/a/b/c", "x/y", ""),
        ("https://example.org/a/b/c.git/x/y", "https://example.org/a/b/c.git", "x/y", ""),
        ("https://example.org/a/b/c.git", "https://example.org/a/b/c.git", "", ""),
        ("https://gist.github.com/bc79.git", "https://gist.github.com/bc79.git", "", ""),
        ("ssh://alice@example.com/a/b/c//x", "ssh://alice@example.com/a/b/c", "x", ""),
        ("ssh://git@ssh.github.com:443/NAME/REPO.git", "ssh://git@ssh.github.com:443/NAME/REPO.git", "", ""),
        ("http://git@home.com/a/b/c.git//x?ref=t", "http://git@home.com/a/b/c.git", "x", "t"),
        ("https://git@home.com/a/b/c.git//x?ref=t", "https://git@home.com/a/b/c.git", "x", "t"),
        // Azure.
        ("https://tfs.example.com/c/p/_git/repo", "https://tfs.example.com/c/p/_git/repo", "", ""),
        (
            "https://tfs.example.com/c/p/_git/repo/x/y?version=v1",
            "https://tfs.example.com/c/p/_git/repo",
            "x/y",
            "v1",
        ),
        ("https://me@dev.azure.com/o/p/_git/repo//x/y", "https://me@dev.azure.com/o/p/_git/repo", "x/y", ""),
        ("git::https://tfs.example.com/c/p/_git/repo", "https://tfs.example.com/c/p/_git/repo", "", ""),
        // The style of scp.
        (
            "git@gitlab.example.com:g/sub/repo.git?ref=v0.1.0",
            "git@gitlab.example.com:g/sub/repo.git",
            "",
            "v0.1.0",
        ),
        ("git@gitlab.com:group/repo", "git@gitlab.com:group/repo", "", ""),
        ("git@bitbucket.org:c/repo.git//x?ref=t", "git@bitbucket.org:c/repo.git", "x", "t"),
        ("git@gist.github.com:bc79.git", "git@gist.github.com:bc79.git", "", ""),
        // A slash instead of the colon is handed on, and a colon behind it is part of the path.
        ("git@bitbucket.org/c/repo.git//x", "git@bitbucket.org/c/repo.git", "x", ""),
        ("git@gitlab.com/user:name/repo.git/x", "git@gitlab.com/user:name/repo.git", "x", ""),
        // GitHub comes out in one of two forms.
        ("gitHub.com/org/repo/x?ref=group/version", "https://github.com/org/repo", "x", "group/version"),
        ("github.com:org/repo", "https://github.com/org/repo", "", ""),
        ("http://github.com/org/repo/x", "https://github.com/org/repo", "x", ""),
        ("hTTps://github.com/org/repo.git/x", "https://github.com/org/repo.git", "x", ""),
        ("https://github.com/org/repo//x/y/?ref=v1", "https://github.com/org/repo", "x/y/", "v1"),
        ("git@github.com:org/repo/x", "git@github.com:org/repo", "x", ""),
        ("git@github.com/org/repo.git/x", "git@github.com:org/repo.git", "x", ""),
        ("git::git@github.com:org/repo", "git@github.com:org/repo", "", ""),
        ("org-12345@github.com/org/repo", "org-12345@github.com:org/repo", "", ""),
        ("ssh://git@github.com/org/repo//x/y?ref=v1", "git@github.com:org/repo", "x/y", "v1"),
        ("ssh://org-12345@github.com/org/repo", "org-12345@github.com:org/repo", "", ""),
        // Files.
        ("file:///a/b/repo?ref=t", "file:///a/b/repo", "", "t"),
        ("file:///", "file:///", "", ""),
        ("file://a/b/repo.git/x?ref=t", "file://a/b/repo.git", "x", "t"),
        ("file://a/b/repo//x?ref=t", "file://a/b/repo", "x", "t"),
        ("file://git@home/a/repo.git//x", "file://git@home/a/repo.git", "x", ""),
        // A query is no part of the path, and a path need not be a valid one of the web.
        ("https://host/org/repo/?ref=has_git/in_it", "https://host/org/repo", "", "has_git/in_it"),
        ("https://host/org/repo/?ref=has.git/in_it", "https://host/org/repo", "", "has.git/in_it"),
        ("https://host/org/repo/%-x/url.Parse", "https://host/org/repo", "%-x/url.Parse", ""),
    ];

    #[test]
    fn addresses_split_as_upstream_splits_them() {
        for (entry, url, path, revision) in ADDRESSES {
            let want = ((*url).to_owned(), (*path).to_owned(), (*revision).to_owned());
            assert_eq!(read(entry), Some(want), "{entry}");
        }
    }

    #[test]
    fn what_is_no_address_is_none() {
        let local = [
            "",
            "/tmp",
            "../../tmp",
            "src/github.com/org/repo/path",
            "name",
            "htxxxtp://github.com/",
            "ssh://git.example.com",
            "git::___",
            "https://host?ref=group/version/minor",
            "github.com!org/repo.git//path",
            "gh:org/repo",
            "https://github.com/thisisa404.yaml",
            "file:////tmp//path/to/whatever",
            "git@scp://github.com/org/repo.git//path",
            "git@ssh://github.com/org/repo.git//path",
        ];
        for entry in local {
            assert_eq!(read(entry), None, "{entry}");
        }
    }

    #[test]
    fn a_folder_outside_of_the_repository_is_refused() {
        for entry in ["https://github.com/org/repo.git//path/../../exits/repo", "git@host:org/repo/.."] {
            assert_eq!(parse(entry).unwrap_err().kind(), ErrorKind::Denied, "{entry}");
        }
        assert_eq!(read("https://github.com/org/repo//a/../b").unwrap().1, "a/../b");
    }

    #[test]
    fn a_folder_is_never_an_absolute_path() {
        assert_eq!(read("https://github.com/org/repo////etc").unwrap().1, "etc");
    }

    /// Query, revision, timeout in milliseconds, submodules.
    const QUERIES: &[(&str, &str, u64, bool)] = &[
        ("", "", 27_000, true),
        ("ref=kustomize/v4.5.7", "kustomize/v4.5.7", 27_000, true),
        ("version=master", "master", 27_000, true),
        ("version=master&ref=v1.0.0", "v1.0.0", 27_000, true),
        ("version=master&submodules=", "master", 27_000, true),
        ("version=master&submodules=maybe", "master", 27_000, true),
        ("version=master&submodules=false&timeout=1m1s", "master", 61_000, false),
        ("submodules=0", "", 27_000, false),
        ("timeout=", "", 27_000, true),
        ("timeout=jiffy", "", 27_000, true),
        ("timeout=0", "", 27_000, true),
        ("timeout=0s", "", 27_000, true),
        ("timeout=-5", "", 27_000, true),
        ("timeout=61", "", 61_000, true),
        ("timeout=1.5m", "", 90_000, true),
        ("timeout=.5s", "", 500, true),
        ("timeout=1h2m3.5s4ms", "", 3_723_504, true),
        ("timeout=1.s", "", 1_000, true),
        ("timeout=1s2", "", 27_000, true),
        ("timeout=1..5s", "", 27_000, true),
        ("timeout=9999999999h", "", 27_000, true),
        // Escapes as in a form.
        ("ref=a%2Fb+c", "a/b c", 27_000, true),
        // Anything malformed voids the whole query.
        ("ref=v1&x=%zz", "", 27_000, true),
        ("ref=v1;timeout=3", "", 27_000, true),
        ("ref=v1&ref=v2", "v1", 27_000, true),
    ];

    #[test]
    fn the_query_says_revision_timeout_and_submodules() {
        for (query, revision, timeout, submodules) in QUERIES {
            let repository = parse(&format!("https://host/org/repo?{query}")).unwrap().unwrap().repository;
            let want = Repository {
                url: "https://host/org/repo".to_owned(),
                revision: Some(*revision).filter(|revision| !revision.is_empty()).map(str::to_owned),
                timeout: Duration::from_millis(*timeout),
                submodules: *submodules,
            };
            assert_eq!(repository, want, "{query}");
        }
    }

    #[test]
    fn hostile_addresses_do_not_panic() {
        for entry in [
            "é@",
            "git::é",
            "httpé://",
            "@:/",
            ":",
            "a@",
            "a@:",
            "a@/",
            "ssh://:",
            "file://",
            "?",
            "%",
            "a@b:c?%",
        ] {
            let _ = parse(entry);
        }
    }
}
