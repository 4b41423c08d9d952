//! Addresses of schemas: as much of RFC 3986, as Go's `net/url` has it, as references between schemas need.

use gostd::quoted;

/// An address in its parts, without a fragment.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Url<'u> {
    pub(super) scheme: &'u str,
    /// The rest after the scheme if it is not a path: `x:y` of `urn:x:y`.
    opaque: &'u str,
    pub(super) authority: Option<&'u str>,
    pub(super) path: &'u str,
    query: Option<&'u str>,
}

/// Splits a reference into the address and the fragment, which is decoded.
///
/// # Errors
/// If the fragment has an escape that is none.
pub(super) fn split_fragment(reference: &str) -> Result<(&str, String), String> {
    let (address, fragment) = reference.split_once('#').unwrap_or((reference, ""));
    let fragment = unescape(fragment)
        .map_err(|escape| format!("error in parsing {}: {escape}", quoted(reference.as_bytes())))?;
    Ok((address, fragment))
}

/// The address that another, relative to a base, stands for; with the decoded fragment.
///
/// # Errors
/// If the reference is no address.
pub(super) fn join(base: &str, reference: &str) -> Result<(String, String), String> {
    let (address, fragment) = split_fragment(reference)?;
    let parsed = parse(address)
        .map_err(|reason| format!("error in parsing {}: {reason}", quoted(address.as_bytes())))?;
    let base = parse(base).unwrap_or_default();
    Ok((resolve(&base, &parsed), fragment))
}

/// Reads an address as Go's `url.Parse` does.
///
/// # Errors
/// In Go's words.
pub(super) fn parse(text: &str) -> Result<Url<'_>, String> {
    let refuse = |reason: &str| Err(format!("parse {}: {reason}", quoted(text.as_bytes())));
    if text.bytes().any(|byte| byte < b' ' || byte == 0x7F) {
        return refuse("net/url: invalid control character in URL");
    }
    let (scheme, rest) = match scheme(text) {
        Some("") => return refuse("missing protocol scheme"),
        Some(scheme) => (scheme, &text[scheme.len() + 1..]),
        None => ("", text),
    };
    let (rest, query) = rest.split_once('?').map_or((rest, None), |(rest, query)| (rest, Some(query)));
    if !rest.starts_with('/') {
        if !scheme.is_empty() {
            return Ok(Url { scheme, opaque: rest, query, ..Url::default() });
        }
        if rest.split('/').next().is_some_and(|segment| segment.contains(':')) {
            return refuse("first path segment in URL cannot contain colon");
        }
    }
    let (authority, path) = match rest.strip_prefix("//") {
        Some(rest) if !rest.starts_with('/') || !scheme.is_empty() => {
            let end = rest.find('/').unwrap_or(rest.len());
            (Some(&rest[..end]), &rest[end..])
        }
        _ => (None, rest),
    };
    if let Err(reason) = check_host(authority.unwrap_or_default()).and_then(|()| unescape(path).map(drop)) {
        return refuse(&reason);
    }
    Ok(Url { scheme, opaque: "", authority, path, query })
}

/// The scheme in front of a colon: none where there is no colon behind letters, empty where nothing is before it.
fn scheme(text: &str) -> Option<&str> {
    let end = text.find(|char: char| !(char.is_ascii_alphanumeric() || "+-.".contains(char)))?;
    let scheme = &text[..end];
    let is_scheme = scheme.is_empty() || scheme.starts_with(|char: char| char.is_ascii_alphabetic());
    (text[end..].starts_with(':') && is_scheme).then_some(scheme)
}

fn check_host(authority: &str) -> Result<(), String> {
    let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
    let is_good = |char: char| char.is_ascii_alphanumeric() || "-._:~!$&'()*+,;=%@".contains(char);
    if !user.chars().all(is_good) {
        return Err("net/url: invalid userinfo".to_owned());
    }
    let (name, port) = match (host.starts_with('['), host.rfind(']')) {
        (true, None) => return Err("missing ']' in host".to_owned()),
        (true, Some(end)) => host.split_at(end + 1),
        _ => host.split_at(host.rfind(':').unwrap_or(host.len())),
    };
    if let Some(bad) = name.chars().find(|char| " \"<>\\^`{|}".contains(*char)) {
        return Err(format!("invalid character {} in host name", quoted(bad.to_string().as_bytes())));
    }
    unescape(name)?;
    let digits = port.strip_prefix(':').unwrap_or(port);
    if port.is_empty() || (port.starts_with(':') && digits.bytes().all(|byte| byte.is_ascii_digit())) {
        return Ok(());
    }
    Err(format!("invalid port {} after host", quoted(port.as_bytes())))
}

impl Url<'_> {
    /// Returns true if it stands for itself without a base.
    pub(super) fn is_absolute(&self) -> bool {
        !self.scheme.is_empty()
    }
}

fn resolve(base: &Url<'_>, reference: &Url<'_>) -> String {
    if reference.is_absolute() {
        if !reference.opaque.is_empty() {
            return write(reference.scheme, reference.opaque, None, "", reference.query);
        }
        let path = without_dots(reference.path);
        return write(reference.scheme, "", reference.authority, &path, reference.query);
    }
    if !base.opaque.is_empty() {
        return write(base.scheme, base.opaque, None, "", reference.query.or(base.query));
    }
    if reference.authority.is_some() {
        return write(base.scheme, "", reference.authority, &without_dots(reference.path), reference.query);
    }
    if reference.path.is_empty() {
        return write(base.scheme, "", base.authority, base.path, reference.query.or(base.query));
    }
    let path = if reference.path.starts_with('/') {
        reference.path.to_owned()
    } else {
        let folder = base.path.rfind('/').map_or("", |slash| &base.path[..=slash]);
        format!("{folder}{}", reference.path)
    };
    write(base.scheme, "", base.authority, &without_dots(&path), reference.query)
}

fn write(scheme: &str, opaque: &str, authority: Option<&str>, path: &str, query: Option<&str>) -> String {
    let mut text = String::new();
    if !scheme.is_empty() {
        text.push_str(scheme);
        text.push(':');
    }
    text.push_str(opaque);
    if let Some(authority) = authority {
        text.push_str("//");
        text.push_str(authority);
    }
    text.push_str(path);
    if let Some(query) = query {
        text.push('?');
        text.push_str(query);
    }
    text
}

/// A path without `.` and `..`.
fn without_dots(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    for segment in path.split('/').skip(usize::from(path.starts_with('/'))) {
        match segment {
            "." => {}
            ".." => {
                kept.pop();
            }
            segment => kept.push(segment),
        }
    }
    let ends_in_folder = matches!(path.rsplit('/').next(), Some("." | ".."));
    if ends_in_folder {
        kept.push("");
    }
    if path.is_empty() { String::new() } else { format!("/{}", kept.join("/")) }
}

/// Undoes percent escapes; an error is Go's word for the first that is none.
pub(super) fn unescape(text: &str) -> Result<String, String> {
    if !text.contains('%') {
        return Ok(text.to_owned());
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        if byte != b'%' {
            bytes.push(byte);
            rest = after;
            continue;
        }
        let digits = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let code = digits
            .filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        let Some(code) = code else {
            return Err(format!("invalid URL escape {}", quoted(&rest[..rest.len().min(3)])));
        };
        bytes.push(code);
        rest = &after[2..];
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Escapes a JSON pointer for a fragment, slashes excepted.
pub(super) fn escape_pointer(pointer: &str) -> String {
    let mut escaped = String::with_capacity(pointer.len());
    for byte in pointer.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~$&+=:@/".contains(&byte) {
            escaped.push(char::from(byte));
        } else {
            escaped.push_str(&format!("%{byte:02X}"));
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mostly the examples of RFC 3986, section 5.4.
    #[test]
    fn references_are_resolved() {
        let base = "http://a/b/c/d;p?q";
        for (reference, wanted) in [
            ("g:h", "g:h"),
            ("g", "http://a/b/c/g"),
            ("./g/", "http://a/b/c/g/"),
            ("/g", "http://a/g"),
            ("//g", "http://g"),
            ("?y", "http://a/b/c/d;p?y"),
            ("", "http://a/b/c/d;p?q"),
            ("..", "http://a/b/"),
            ("../../g", "http://a/g"),
            ("../../../g", "http://a/g"),
        ] {
            assert_eq!(join(base, reference).expect("an address").0, wanted, "{reference}");
        }
        assert_eq!(
            join("file:///values.schema.json", "x/y.json#/a%20b"),
            Ok(("file:///x/y.json".into(), "/a b".into()))
        );
        assert_eq!(join("urn:x:y", "#z"), Ok(("urn:x:y".into(), "z".into())));
    }

    #[test]
    fn what_is_no_address_is_refused() {
        assert_eq!(
            join("http://a/", "#%zz"),
            Err("error in parsing \"#%zz\": invalid URL escape \"%zz\"".to_owned())
        );
        assert_eq!(parse(":x").map(|_| ()), Err("parse \":x\": missing protocol scheme".to_owned()));
        assert_eq!(
            parse("1:x").map(|_| ()),
            Err("parse \"1:x\": first path segment in URL cannot contain colon".to_owned())
        );
        assert_eq!(
            parse("http://a:b/").map(|_| ()),
            Err("parse \"http://a:b/\": invalid port \":b\" after host".to_owned())
        );
    }

    #[test]
    fn pointers_are_escaped() {
        assert_eq!(escape_pointer("/a b/$x~1/é"), "/a%20b/$x~1/%C3%A9");
    }
}
