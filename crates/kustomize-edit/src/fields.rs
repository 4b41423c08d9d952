//! Fields of a structure by their names, which Go's decoder of JSON compares without regard to case.

use yamledit::New;

/// A mapping's entries in their order.
pub(crate) type Fields = Vec<(String, New)>;

/// The value of a field; `None` where it is absent or null.
pub(crate) fn get<'f>(fields: &'f [(String, New)], name: &str) -> Option<&'f New> {
    let found = fields.iter().find(|(key, _)| key.eq_ignore_ascii_case(name));
    found.map(|(_, value)| value).filter(|value| !is_null(value))
}

/// The text of a field, empty where it is absent.
pub(crate) fn text<'f>(fields: &'f [(String, New)], name: &str) -> &'f str {
    match get(fields, name) {
        Some(New::String(text)) => text,
        _ => "",
    }
}

/// Whether a switch is on.
pub(crate) fn is_on(fields: &[(String, New)], name: &str) -> bool {
    get(fields, name) == Some(&New::Bool(true))
}

/// Gives a field a value, under the name that it has in the file.
pub(crate) fn set(fields: &mut Fields, name: &str, value: New) {
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
        set(fields, name, New::String(text.to_owned()));
    }
}

pub(crate) fn remove(fields: &mut Fields, name: &str) -> Option<New> {
    let at = fields.iter().position(|(key, _)| key.eq_ignore_ascii_case(name))?;
    Some(fields.remove(at).1)
}

/// A list, made where there is none.
pub(crate) fn list<'f>(fields: &'f mut Fields, name: &str) -> &'f mut Vec<New> {
    match slot(fields, name, || New::Sequence(Vec::new())) {
        New::Sequence(items) => items,
        _ => unreachable!("the schema was checked, and nulls are replaced"),
    }
}

/// A mapping, made where there is none.
pub(crate) fn mapping<'f>(fields: &'f mut Fields, name: &str) -> &'f mut Fields {
    match slot(fields, name, || New::Mapping(Vec::new())) {
        New::Mapping(entries) => entries,
        _ => unreachable!("the schema was checked, and nulls are replaced"),
    }
}

fn slot<'f>(fields: &'f mut Fields, name: &str, empty: fn() -> New) -> &'f mut New {
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
        Some(New::Sequence(items)) => items.is_empty(),
        Some(New::Mapping(entries)) => entries.is_empty(),
        _ => false,
    };
    if is_empty {
        remove(fields, name);
    }
}

/// An item of a list of structures.
pub(crate) fn entries(item: &New) -> &[(String, New)] {
    match item {
        New::Mapping(entries) => entries,
        _ => &[],
    }
}

/// The same, to change.
pub(crate) fn entries_mut(item: &mut New) -> Option<&mut Fields> {
    match item {
        New::Mapping(entries) => Some(entries),
        _ => None,
    }
}

pub(crate) fn is_null(value: &New) -> bool {
    matches!(value, New::Plain(text) if matches!(text.as_str(), "" | "~" | "null" | "Null" | "NULL"))
}
