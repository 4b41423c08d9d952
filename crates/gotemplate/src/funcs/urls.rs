//! URLs as maps of their parts, and maps as URLs.

use super::args::text;
use super::convert::nil_dereference;
use super::url::Url;
use crate::context::Context;
use crate::error::CallError;
use crate::function::Function;
use crate::value::{Kind, Map, Str, Type, Value};

pub(super) const FUNCS: &[Function] = &[
    Function::new("urlJoin", &[Type::MAP], url_join),
    Function::new("urlParse", &[Type::String], url_parse),
];

fn url_parse(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let url = Url::parse(text(args, 0)).map_err(|error| format!("unable to parse url: {error}"))?;
    let host_name = Str::from(url.host_name());
    let user_info = url.user_info();
    Ok(Value::map([
        ("scheme", Value::from(url.scheme)),
        ("host", url.host.into()),
        ("hostname", host_name.into()),
        ("path", url.path.into()),
        ("query", url.query.into()),
        ("opaque", url.opaque.into()),
        ("fragment", url.fragment.into()),
        ("userinfo", user_info.into()),
    ]))
}

fn url_join(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let parts = args[0].as_map().ok_or("not a map")?;
    let mut url = Url {
        scheme: part(parts, "scheme")?,
        host: part(parts, "host")?,
        path: part(parts, "path")?,
        query: part(parts, "query")?,
        opaque: part(parts, "opaque")?,
        fragment: part(parts, "fragment")?,
        user: None,
    };
    let user_info = part(parts, "userinfo")?;
    if !user_info.is_empty() {
        let whole = [b"proto://", user_info.as_slice(), b"@host"].concat();
        let parsed =
            Url::parse(&whole).map_err(|error| format!("unable to parse userinfo in dict: {error}"))?;
        url.user = parsed.user;
    }
    Ok(url.to_bytes().into())
}

/// The string under a key, empty if there is none.
fn part(parts: &Map, key: &str) -> Result<Vec<u8>, CallError> {
    match parts.get(key).map(|value| value.plain()) {
        None => Ok(Vec::new()),
        Some(Value::Nil) => Err(nil_dereference()),
        Some(Value::Str(text)) => Ok(text.to_vec()),
        Some(other) => {
            let kind: Kind = other.kind();
            Err(format!("unable to parse {key} key, must be of type string, but {kind} found").into())
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::funcs::testing::{check, check_refusals};

    // What Helm 4.3.1 makes of these.
    const CASES: &[(&str, &str)] = &[
        (
            r#"{{ urlParse "http://user:p%40ss@host.com:8080/p%2Fath/x%20y?a=b&c=d#fr%20ag" }}"#,
            "map[fragment:fr ag host:host.com:8080 hostname:host.com opaque: path:/p/ath/x y query:a=b&c=d scheme:http userinfo:user:p%40ss]",
        ),
        (
            r#"{{ urlParse "mailto:a@b.c" }}|{{ urlParse "" }}|{{ urlParse "/a/b?x" }}|{{ urlParse "//h/p" }}|{{ urlParse "HTTP://h" }}|{{ urlParse "a/b:c" }}|{{ urlParse "http://[::1]:80/" }}|{{ urlParse "http://[fe80::1%25en0]/" }}"#,
            "map[fragment: host: hostname: opaque:a@b.c path: query: scheme:mailto userinfo:]|map[fragment: host: hostname: opaque: path: query: scheme: userinfo:]|map[fragment: host: hostname: opaque: path:/a/b query:x scheme: userinfo:]|map[fragment: host:h hostname:h opaque: path:/p query: scheme: userinfo:]|map[fragment: host:h hostname:h opaque: path: query: scheme:http userinfo:]|map[fragment: host: hostname: opaque: path:a/b:c query: scheme: userinfo:]|map[fragment: host:[::1]:80 hostname:::1 opaque: path:/ query: scheme:http userinfo:]|map[fragment: host:[fe80::1%en0] hostname:fe80::1%en0 opaque: path:/ query: scheme:http userinfo:]",
        ),
        (
            r#"{{ urlParse "http://h?" }}|{{ urlParse "http://h#" }}|{{ urlParse "?a#b" }}|{{ urlParse "http://u@h" }}|{{ urlParse "http://u:@h" }}|{{ urlParse "*" }}|{{ urlParse "x:y?z#w" }}|{{ urlParse "http://é/é?é#é" }}|{{ urlParse "http://h/a b" }}"#,
            "map[fragment: host:h hostname:h opaque: path: query: scheme:http userinfo:]|map[fragment: host:h hostname:h opaque: path: query: scheme:http userinfo:]|map[fragment:b host: hostname: opaque: path: query:a scheme: userinfo:]|map[fragment: host:h hostname:h opaque: path: query: scheme:http userinfo:u]|map[fragment: host:h hostname:h opaque: path: query: scheme:http userinfo:u:]|map[fragment: host: hostname: opaque: path:* query: scheme: userinfo:]|map[fragment:w host: hostname: opaque:y path: query:z scheme:x userinfo:]|map[fragment:é host:é hostname:é opaque: path:/é query:é scheme:http userinfo:]|map[fragment: host:h hostname:h opaque: path:/a b query: scheme:http userinfo:]",
        ),
        (
            r#"{{ urlJoin (dict) | quote }}|{{ urlJoin (dict "host" "h") }}|{{ urlJoin (dict "scheme" "http" "host" "h" "path" "a b" "query" "q q" "fragment" "a b#é" "userinfo" "u:p@x") }}|{{ urlJoin (dict "scheme" "mailto" "opaque" "a@b") }}"#,
            r#"""|//h|http://u:p%40x@h/a%20b?q q#a%20b%23%C3%A9|mailto:a@b"#,
        ),
        (
            r#"{{ urlJoin (dict "path" "//a") }}|{{ urlJoin (dict "path" "a:b") }}|{{ urlJoin (dict "host" "h" "path" "a") }}|{{ urlJoin (dict "scheme" "x" "path" "/a" "query" "") }}|{{ urlJoin (dict "scheme" "http" "host" "[::1]:80") }}|{{ urlJoin (dict "host" "a b" "path" "/*?") }}"#,
            "//a|./a:b|//h/a|x:///a|http://[::1]:80|//a%20b/%2A%3F",
        ),
        (
            r#"{{ urlJoin (dict "fragment" "" "path" "/p") }}|{{ urlJoin (dict "scheme" "file" "path" "/a") }}|{{ urlJoin (dict "userinfo" "u" "host" "h") }}|{{ urlJoin (dict "host" "h" "opaque" "o" "scheme" "s") }}|{{ urlJoin (urlParse "http://user:p%40ss@host.com:8080/p%2Fath?a=b#fr") }}"#,
            "/p|file:///a|//u@h|s:o|http://user:p%40ss@host.com:8080/p/ath?a=b#fr",
        ),
    ];
    const REFUSALS: &[(&str, &str)] = &[
        (
            r#"{{ urlParse "http://h:port" }}"#,
            r#"unable to parse url: parse "http://h:port": invalid port ":port" after host"#,
        ),
        (r#"{{ urlParse "%zz" }}"#, r#"unable to parse url: parse "%zz": invalid URL escape "%zz""#),
        (r#"{{ urlParse ":x" }}"#, r#"unable to parse url: parse ":x": missing protocol scheme"#),
        (
            r#"{{ urlParse "http://a b/" }}"#,
            r#"unable to parse url: parse "http://a b/": invalid character " " in host name"#,
        ),
        (
            r#"{{ urlParse "1http://h" }}"#,
            r#"unable to parse url: parse "1http://h": first path segment in URL cannot contain colon"#,
        ),
        (
            r#"{{ urlParse "http://[::1" }}"#,
            r#"unable to parse url: parse "http://[::1": missing ']' in host"#,
        ),
        (
            r#"{{ urlParse "http://h/%2" }}"#,
            r#"unable to parse url: parse "http://h/%2": invalid URL escape "%2""#,
        ),
        (
            r#"{{ urlParse "http://h\u0001" }}"#,
            r#"unable to parse url: parse "http://h\x01": net/url: invalid control character in URL"#,
        ),
        (
            r#"{{ urlParse "http://u u@h" }}"#,
            r#"unable to parse url: parse "http://u u@h": net/url: invalid userinfo"#,
        ),
        (
            r#"{{ urlParse "http://h%41" }}"#,
            r#"unable to parse url: parse "http://h%41": invalid URL escape "%41""#,
        ),
        (
            r#"{{ urlParse "http://[h%zz]/" }}"#,
            r#"unable to parse url: parse "http://[h%zz]/": invalid URL escape "%zz""#,
        ),
        (
            r#"{{ urlParse "http://[foo]/" }}"#,
            r#"unable to parse url: parse "http://[foo]/": invalid host: ParseAddr("foo"): unable to parse IP"#,
        ),
        (
            r#"{{ urlParse "http://[::1]x/" }}"#,
            r#"unable to parse url: parse "http://[::1]x/": invalid port "x" after host"#,
        ),
        (
            r#"{{ urlParse "http://[fe80::1%25zz%]/" }}"#,
            r#"unable to parse url: parse "http://[fe80::1%25zz%]/": invalid URL escape "%""#,
        ),
        (
            r#"{{ urlParse "a b:c" }}"#,
            r#"unable to parse url: parse "a b:c": first path segment in URL cannot contain colon"#,
        ),
        (
            r#"{{ urlParse "http://h/#%zz" }}"#,
            r#"unable to parse url: parse "http://h/#%zz": invalid URL escape "%zz""#,
        ),
        (
            r#"{{ urlParse "http://u:%zz@h" }}"#,
            r#"unable to parse url: parse "http://u:%zz@h": invalid URL escape "%zz""#,
        ),
        (
            r#"{{ urlJoin (dict "path" 5) }}"#,
            "unable to parse path key, must be of type string, but int found",
        ),
        (
            r#"{{ urlJoin (dict "host" nil) }}"#,
            "runtime error: invalid memory address or nil pointer dereference",
        ),
        (
            r#"{{ urlJoin (dict "userinfo" "a b") }}"#,
            r#"unable to parse userinfo in dict: parse "proto://a b@host": net/url: invalid userinfo"#,
        ),
        (
            r#"{{ urlJoin (dict "userinfo" "%zz") }}"#,
            r#"unable to parse userinfo in dict: parse "proto://%zz@host": invalid URL escape "%zz""#,
        ),
        (
            r#"{{ urlParse "http://::1/" }}"#,
            r#"unable to parse url: parse "http://::1/": invalid port "::1" after host"#,
        ),
        (
            r#"{{ urlParse "http://a:b:c/" }}"#,
            r#"unable to parse url: parse "http://a:b:c/": invalid port ":b:c" after host"#,
        ),
        (
            r#"{{ urlParse "http://[1.2.3.4]/" }}"#,
            r#"unable to parse url: parse "http://[1.2.3.4]/": invalid IP-literal"#,
        ),
        (
            r#"{{ urlParse "http://h[1]/" }}"#,
            r#"unable to parse url: parse "http://h[1]/": invalid IP-literal"#,
        ),
    ];

    #[test]
    fn answers_are_those_of_helm() {
        check(CASES);
    }

    #[test]
    fn refusals_are_in_the_words_of_helm() {
        check_refusals(REFUSALS);
    }
}
