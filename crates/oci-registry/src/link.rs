//! Reads the next page of a list from `Link` headers (RFC 8288).

/// The target of the first link to the next page, as it is written.
pub(crate) fn next<'h>(headers: impl IntoIterator<Item = &'h str>) -> Option<&'h str> {
    headers.into_iter().find_map(next_in)
}

fn next_in(mut header: &str) -> Option<&str> {
    loop {
        let (_, rest) = header.split_once('<')?;
        let (target, rest) = rest.split_once('>')?;
        let end = end_of_parameters(rest);
        if is_next(&rest[..end]) {
            return Some(target.trim());
        }
        header = &rest[end..];
    }
}

/// The next comma that is not in quotes.
fn end_of_parameters(text: &str) -> usize {
    let mut quoted = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'"' => quoted = !quoted,
            b',' if !quoted => return at,
            _ => {}
        }
    }
    text.len()
}

fn is_next(parameters: &str) -> bool {
    parameters.split(';').filter_map(|parameter| parameter.split_once('=')).any(|(name, value)| {
        let mut relations = value.trim().trim_matches('"').split_ascii_whitespace();
        name.trim().eq_ignore_ascii_case("rel")
            && relations.any(|relation| relation.eq_ignore_ascii_case("next"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_page_is_found_among_other_links() {
        for (headers, want) in [
            (&[r#"</v2/a/tags/list?last=b&n=2>; rel="next""#][..], Some("/v2/a/tags/list?last=b&n=2")),
            (&["<https://h/x>;rel=next"], Some("https://h/x")),
            (&[r#"<a>; rel="prev", <b,c>; title="x, <y>"; REL="last NEXT""#], Some("b,c")),
            (&["<a>; rel=first", "<b>; rel=next"], Some("b")),
            (&["<a>; rel=nextest"], None),
            (&["<a"], None),
            (&["a; rel=next"], None),
            (&[], None),
        ] {
            assert_eq!(next(headers.iter().copied()), want, "{headers:?}");
        }
    }
}
