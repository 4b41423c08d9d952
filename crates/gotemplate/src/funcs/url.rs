//! URLs as Go's net/url takes them apart and puts them together.
//!
//! In goes text, out come its parts without escapes, or Go's words about what is wrong with it. Of
//! an address in brackets that is none, less is said than Go says.

use std::net::Ipv6Addr;

use gostd::quoted;

/// The parts of a URL, without escapes but for those of the query.
#[derive(Debug, Default)]
pub(super) struct Url {
    pub(super) scheme: Vec<u8>,
    pub(super) opaque: Vec<u8>,
    pub(super) user: Option<User>,
    /// With its port.
    pub(super) host: Vec<u8>,
    pub(super) path: Vec<u8>,
    pub(super) query: Vec<u8>,
    pub(super) fragment: Vec<u8>,
}

#[derive(Debug)]
pub(super) struct User {
    name: Vec<u8>,
    password: Option<Vec<u8>>,
}

/// The part of a URL, which decides about escaping.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Path,
    Host,
    /// The zone of an address.
    Zone,
    User,
    Fragment,
}

impl Url {
    pub(super) fn parse(text: &[u8]) -> Result<Self, String> {
        let failed = |text: &[u8], reason: String| format!("parse {}: {reason}", quoted(text));
        let (rest, fragment) = cut(text, b'#');
        let mut url = Self::without_fragment(rest).map_err(|reason| failed(rest, reason))?;
        if let Some(fragment) = fragment {
            url.fragment = unescape(fragment, Part::Fragment).map_err(|reason| failed(text, reason))?;
        }
        Ok(url)
    }

    fn without_fragment(text: &[u8]) -> Result<Self, String> {
        if text.iter().any(u8::is_ascii_control) {
            return Err("net/url: invalid control character in URL".to_owned());
        }
        let mut url = Self::default();
        if text == b"*" {
            url.path = text.to_vec();
            return Ok(url);
        }
        let (scheme, rest) = split_scheme(text)?;
        url.scheme = scheme.to_ascii_lowercase();
        let (rest, query) = cut(rest, b'?');
        url.query = query.unwrap_or_default().to_vec();
        if !rest.starts_with(b"/") {
            if !scheme.is_empty() {
                url.opaque = rest.to_vec();
                return Ok(url);
            }
            if cut(rest, b'/').0.contains(&b':') {
                return Err("first path segment in URL cannot contain colon".to_owned());
            }
        }
        let mut path = rest;
        if let Some(after) = rest.strip_prefix(b"//")
            && (!scheme.is_empty() || !after.starts_with(b"/"))
        {
            let end = memchr::memchr(b'/', after).unwrap_or(after.len());
            let (authority, after) = after.split_at(end);
            url.set_authority(authority)?;
            path = after;
        }
        url.path = unescape(path, Part::Path)?;
        Ok(url)
    }

    fn set_authority(&mut self, authority: &[u8]) -> Result<(), String> {
        let at = memchr::memrchr(b'@', authority);
        self.host = parse_host(&self.scheme, at.map_or(authority, |at| &authority[at + 1..]))?;
        let Some(at) = at else { return Ok(()) };
        let user = &authority[..at];
        if !user.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-._:~!$&'()*+,;=%@".contains(byte)) {
            return Err("net/url: invalid userinfo".to_owned());
        }
        let (name, password) = cut(user, b':');
        let password = password.map(|password| unescape(password, Part::User));
        self.user = Some(User { name: unescape(name, Part::User)?, password: password.transpose()? });
        Ok(())
    }

    /// The host without its port and brackets.
    pub(super) fn host_name(&self) -> &[u8] {
        let host = self.host.as_slice();
        let colon = memchr::memrchr(b':', host).filter(|colon| is_port(&host[*colon..]));
        let host = &host[..colon.unwrap_or(host.len())];
        let bare = host.strip_prefix(b"[").and_then(|host| host.strip_suffix(b"]"));
        bare.unwrap_or(host)
    }

    /// The user as it is written, empty if there is none.
    pub(super) fn user_info(&self) -> Vec<u8> {
        let Some(user) = &self.user else { return Vec::new() };
        let mut out = escape(&user.name, Part::User);
        if let Some(password) = &user.password {
            out.push(b':');
            out.extend(escape(password, Part::User));
        }
        out
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut out = self.scheme.clone();
        if !out.is_empty() {
            out.push(b':');
        }
        if self.opaque.is_empty() {
            self.write_hierarchy(&mut out);
        } else {
            out.extend_from_slice(&self.opaque);
        }
        if !self.query.is_empty() {
            out.push(b'?');
            out.extend_from_slice(&self.query);
        }
        if !self.fragment.is_empty() {
            out.push(b'#');
            out.extend(escape(&self.fragment, Part::Fragment));
        }
        out
    }

    /// Writes user, host and path.
    fn write_hierarchy(&self, out: &mut Vec<u8>) {
        let has_authority = !self.host.is_empty() || self.user.is_some();
        if has_authority || !self.scheme.is_empty() && !self.path.is_empty() {
            out.extend_from_slice(b"//");
        }
        if self.user.is_some() {
            out.extend(self.user_info());
            out.push(b'@');
        }
        out.extend(escape(&self.host, Part::Host));
        let path = if self.path == b"*" { self.path.clone() } else { escape(&self.path, Part::Path) };
        if !path.is_empty() && !path.starts_with(b"/") && !self.host.is_empty() {
            out.push(b'/');
        }
        // A first segment with a colon would be taken for a scheme.
        if out.is_empty() && cut(&path, b'/').0.contains(&b':') {
            out.extend_from_slice(b"./");
        }
        out.extend(path);
    }
}

/// Splits at a byte: the part before it, and the part behind it if the byte is present.
fn cut(text: &[u8], at: u8) -> (&[u8], Option<&[u8]>) {
    match memchr::memchr(at, text) {
        Some(index) => (&text[..index], Some(&text[index + 1..])),
        None => (text, None),
    }
}

fn split_scheme(text: &[u8]) -> Result<(&[u8], &[u8]), String> {
    let part = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
    let length = text.iter().take_while(|byte| part(byte)).count();
    match text.get(length) {
        Some(b':') if length == 0 => Err("missing protocol scheme".to_owned()),
        Some(b':') if text[0].is_ascii_alphabetic() => Ok((&text[..length], &text[length + 1..])),
        _ => Ok((b"", text)),
    }
}

fn parse_host(scheme: &[u8], host: &[u8]) -> Result<Vec<u8>, String> {
    let bad_port = |port: &[u8]| format!("invalid port {} after host", quoted(port));
    let Some(open) = memchr::memrchr(b'[', host) else {
        // Schemes of databases allow several hosts with ports.
        let strict = scheme == b"http" || scheme == b"https";
        let colon = if strict { memchr::memchr(b':', host) } else { memchr::memrchr(b':', host) };
        if let Some(port) = colon.map(|colon| &host[colon..]).filter(|port| !is_port(port)) {
            return Err(bad_port(port));
        }
        return unescape(host, Part::Host);
    };
    let close = memchr::memrchr(b']', host).ok_or("missing ']' in host")?;
    let port = &host[close + 1..];
    if !port.is_empty() && !is_port(port) {
        return Err(bad_port(port));
    }
    if open > 0 {
        return Err("invalid IP-literal".to_owned());
    }
    // Behind an escaped percent sign is the zone, in which all may be escaped.
    let address = &host[open + 1..close.max(open + 1)];
    let zone = memchr::memmem::find(address, b"%25").unwrap_or(address.len());
    let mut literal = unescape(&address[..zone], Part::Host)?;
    literal.extend(unescape(&address[zone..], Part::Zone)?);
    check_address(&literal)?;
    Ok([b"[", literal.as_slice(), b"]", port].concat())
}

fn is_port(text: &[u8]) -> bool {
    text.strip_prefix(b":").is_some_and(|port| port.iter().all(u8::is_ascii_digit))
}

/// Only an IPv6 address may be in brackets.
fn check_address(text: &[u8]) -> Result<(), String> {
    let invalid = |reason: &str| Err(format!("invalid host: ParseAddr({}): {reason}", quoted(text)));
    match text.iter().find(|byte| b".:%".contains(byte)) {
        Some(b'%') => return invalid("missing IPv6 address"),
        Some(b'.') => {
            let text = String::from_utf8_lossy(text);
            return match text.parse::<std::net::Ipv4Addr>() {
                Ok(_) => Err("invalid IP-literal".to_owned()),
                Err(_) => invalid("unable to parse IP"),
            };
        }
        _ => {}
    }
    let (address, zone) = cut(text, b'%');
    if zone.is_some_and(<[u8]>::is_empty) {
        return invalid("zone must be a non-empty string");
    }
    match String::from_utf8_lossy(address).parse::<Ipv6Addr>() {
        Ok(_) => Ok(()),
        Err(_) => invalid("unable to parse IP"),
    }
}

/// Returns true if Go escapes the byte in this part.
fn is_escaped(byte: u8, part: Part) -> bool {
    let kept: &[u8] = match part {
        Part::Path => b"-_.~$&+,/:;=@",
        Part::Host | Part::Zone => b"-_.~!$&'()*+,;=:[]<>\"",
        Part::User => b"-_.~$&+,;=",
        Part::Fragment => b"-_.~$&+,/:;=?@!()*",
    };
    !byte.is_ascii_alphanumeric() && !kept.contains(&byte)
}

fn escape(text: &[u8], part: Part) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for byte in text {
        if is_escaped(*byte, part) {
            out.extend(format!("%{byte:02X}").into_bytes());
        } else {
            out.push(*byte);
        }
    }
    out
}

fn unescape(text: &[u8], part: Part) -> Result<Vec<u8>, String> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let [first, after @ ..] = rest {
        if *first == b'%' {
            let sequence = &rest[..rest.len().min(3)];
            let byte = escaped_byte(sequence).filter(|byte| may_be_escaped(*byte, part));
            out.push(byte.ok_or_else(|| format!("invalid URL escape {}", quoted(sequence)))?);
            rest = &rest[3..];
            continue;
        }
        if matches!(part, Part::Host | Part::Zone) && first.is_ascii() && is_escaped(*first, part) {
            return Err(format!("invalid character {} in host name", quoted(&[*first])));
        }
        out.push(*first);
        rest = after;
    }
    Ok(out)
}

fn escaped_byte(sequence: &[u8]) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    match sequence {
        [_, high, low] => u8::try_from(digit(*high)? << 4 | digit(*low)?).ok(),
        _ => None,
    }
}

/// In a host only what is not ASCII may be escaped, and the percent sign before a zone; in a zone
/// also spaces and what hosts may have.
fn may_be_escaped(byte: u8, part: Part) -> bool {
    match part {
        Part::Host => !byte.is_ascii() || byte == b'%',
        Part::Zone => matches!(byte, b'%' | b' ') || !is_escaped(byte, Part::Host),
        _ => true,
    }
}
