//! Fields of a structure by their names, which Go's decoder of JSON compares without regard to case.

use yamledit::Content;

/// A mapping's entries in their order.
pub(crate) type Fields = Vec<(String, Content)>;

/// The value of a field; `None` where it is absent or null.
pub(crate) fn get<'f>(fields: &'f [(String, Content)], name: &str) -> Option<&'f Content> {
    let found = fields.iter().find(|(key, _)| key.eq_ignore_ascii_case(name));
    found.map(|(_, value)| value).filter(|value| !is_null(value))
}

/// The text of a field, empty where it is absent.
pub(crate) fn text<'f>(fields: &'f [(String, Content)], name: &str) -> &'f str {
    match get(fields, name) {
        Some(Content::String(text)) => text,
        _ => "",
    }
}

/// Returns true if a switch is on.
pub(crate) fn is_on(fields: &[(String, Content)], name: &str) -> bool {
    get(fields, name) == Some(&Content::Bool(true))
}

/// Gives a field a value, under the name that it has in the file.
pub(crate) fn set(fields: &mut Fields, name: &str, value: Content) {
    match fields.iter_mut().find(|(key, _)| key.eq_ignore_ascii_case(name)) {
        Some((_, known)) => *known = value,
        None => fields.push((name.to_owned(), value)),
    }
}

/// The same for a text; an empty one is none.
pub(crate) fn set_text(fields: &mut Fields, name: &str, text: &str) {
    if text.is_empty() {
        remove(fields, name);
    } else {
        set(fields, name, Content::String(text.to_owned()));
    }
}

pub(crate) fn remove(fields: &mut Fields, name: &str) -> Option<Content> {
    let at = fields.iter().position(|(key, _)| key.eq_ignore_ascii_case(name))?;
    Some(fields.remove(at).1)
}

/// A list, made where there is none.
pub(crate) fn list<'f>(fields: &'f mut Fields, name: &str) -> &'f mut Vec<Content> {
    match slot(fields, name, || Content::Sequence(Vec::new())) {
        Content::Sequence(items) => items,
        _ => unreachable!("the schema was checked, and nulls are replaced"),
    }
}

/// A mapping, made where there is none.
pub(crate) fn mapping<'f>(fields: &'f mut Fields, name: &str) -> &'f mut Fields {
    match slot(fields, name, || Content::Mapping(Vec::new())) {
        Content::Mapping(entries) => entries,
        _ => unreachable!("the schema was checked, and nulls are replaced"),
    }
}

fn slot<'f>(fields: &'f mut Fields, name: &str, empty: fn() -> Content) -> &'f mut Content {
    let at = fields.iter().position(|(key, _)| key.eq_ignore_ascii_case(name)).unwrap_or_else(|| {
        fields.push((name.to_owned(), empty()));
        fields.len() - 1
    });
    let value = &mut fields[at].1;
    if is_null(value) {
        *value = empty();
    }
    value
}

/// Drops a field that has come to hold nothing, as nothing is written of such.
pub(crate) fn drop_empty(fields: &mut Fields, name: &str) {
    let is_empty = match get(fields, name) {
        Some(Content::Sequence(items)) => items.is_empty(),
        Some(Content::Mapping(entries)) => entries.is_empty(),
        _ => false,
    };
    if is_empty {
        remove(fields, name);
    }
}

/// An item of a list of structures.
pub(crate) fn entries(item: &Content) -> &[(String, Content)] {
    match item {
        Content::Mapping(entries) => entries,
        _ => &[],
    }
}

/// The same, to change.
pub(crate) fn entries_mut(item: &mut Content) -> Option<&mut Fields> {
    match item {
        Content::Mapping(entries) => Some(entries),
        _ => None,
    }
}

pub(crate) fn is_null(value: &Content) -> bool {
    matches!(value, Content::Plain(text) if matches!(text.as_str(), "" | "~" | "null" | "Null" | "NULL"))
}
