//! Addresses in `Chart.yaml`: of people and of pages, as far as their form goes.
//!
//! In: a text. Out: whether it has the form. What the form is, govalidator says, which Helm uses.

/// The longest address of a page, in characters.
const MAX_URL: usize = 2083;

/// The protocols of a page.
const PROTOCOLS: [&str; 7] = ["ftp", "tcp", "udp", "ws", "wss", "http", "https"];

/// Returns true if a text is `name@example.com`.
pub(super) fn is_email(text: &str) -> bool {
    let Some((name, host)) = text.rsplit_once('@') else { return false };
    let is_quoted = name.len() > 2 && name.starts_with('"') && name.ends_with('"');
    let is_atom = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-/=?^_`{|}~".contains(c) || c >= '\u{a0}';
    let is_name = is_quoted || name.split('.').all(|part| !part.is_empty() && part.chars().all(is_atom));
    let host = host.strip_suffix('.').unwrap_or(host);
    let mut labels = host.split('.');
    let is_top = |label: &str| is_label(label, char::is_alphabetic);
    is_name
        && host.contains('.')
        && labels.next_back().is_some_and(is_top)
        && labels.all(|label| is_label(label, char::is_alphanumeric))
}

/// Returns true if a text is an address with a protocol, as a request needs it.
pub(super) fn is_request_url(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    let is_clean = !text.chars().any(|c| c.is_ascii_control()) && has_sound_escapes(rest);
    let host = rest.strip_prefix("//").map(|rest| rest.split(['/', '?', '#']).next().unwrap_or_default());
    is_scheme && is_clean && host.is_none_or(is_authority)
}

/// Returns true if a text is the address of a page, with or without a protocol.
pub(super) fn is_url(text: &str) -> bool {
    if text.len() <= 3 || text.chars().count() >= MAX_URL || text.starts_with('.') {
        return false;
    }
    let rest = match text.split_once("://") {
        Some((protocol, rest)) if PROTOCOLS.contains(&protocol) => rest,
        Some(_) => return false,
        None => text,
    };
    if text.chars().any(|c| c.is_ascii_control() || c.is_whitespace()) || !has_sound_escapes(rest) {
        return false;
    }
    let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let host = authority.rsplit('@').next().unwrap_or_default();
    let (host, port) = host.rsplit_once(':').unwrap_or((host, "1"));
    let is_port = (1..=5).contains(&port.len()) && port.chars().all(|c| c.is_ascii_digit());
    let is_host = host.contains('.') || (text.contains("://") && !host.is_empty());
    is_port && is_host && host.split('.').all(|label| is_label(label, char::is_alphanumeric)) && path != "//"
}

/// A part of a host's name: its ends are more than its middle may be.
fn is_label(label: &str, may_end: impl Fn(char) -> bool) -> bool {
    let ends = label.chars().next().zip(label.chars().next_back());
    ends.is_some_and(|(first, last)| may_end(first) && may_end(last))
        && label.chars().all(|c| c.is_alphanumeric() || "-_~".contains(c))
}

/// Each `%` has two digits behind it.
fn has_sound_escapes(text: &str) -> bool {
    text.split('%').skip(1).all(|rest| {
        let digits = rest.as_bytes().get(..2);
        digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    })
}

fn is_authority(text: &str) -> bool {
    let host = text.rsplit('@').next().unwrap_or_default();
    let port = if host.ends_with(']') { None } else { host.rsplit_once(':').map(|(_, port)| port) };
    !host.contains([' ', '<', '>', '"', '\\', '^', '`', '{', '|', '}'])
        && port.is_none_or(|port| port.chars().all(|c| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As `helm lint` takes them.
    #[test]
    fn addresses_have_a_form() {
        for text in ["a@b.co", "first.last+tag@mail.example.com", "x@sub-domain.example.org"] {
            assert!(is_email(text), "{text}");
        }
        for text in ["", "b", "a@b", "a@@b.co", "@b.co", "a b@c.de", "a@b.c1", "a..b@c.de", "a@-b.co"] {
            assert!(!is_email(text), "{text}");
        }
        for text in ["https://example.com/a.png", "http://x", "oci://h:5000/c", "file:///a", "mailto:a@b"] {
            assert!(is_request_url(text), "{text}");
        }
        for text in
            ["", "x", "example.com/a.png", "/a.png", "http://a b", "http://h:x/", "https://h/%zz", "1a://b"]
        {
            assert!(!is_request_url(text), "{text}");
        }
        for text in ["https://example.com", "example.com", "example.com:80/a?b#c", "http://localhost:8080"] {
            assert!(is_url(text), "{text}");
        }
        for text in [
            "d",
            "abc",
            "localhost",
            ".example.com",
            "nothing",
            "gopher://example.com",
            "http://a b.com",
            "example.com:port",
        ] {
            assert!(!is_url(text), "{text}");
        }
    }
}
