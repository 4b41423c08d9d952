//! The `metadata` of objects: what the server fills in, and what it refuses of what others write there.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value, json};

use super::failure::Cause;

/// All annotations of an object together.
const MOST_ANNOTATIONS: usize = 256 << 10;

/// The server cuts what a name is generated from, so that five letters fit.
const LONGEST_GENERATE_NAME: usize = 58;

/// Letters of generated names: no vowels, and nothing that is taken for something else.
const LETTERS: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";

/// The naming rules of a resource.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Naming {
    /// `a.b-c`, at most 253 bytes.
    Subdomain,
    /// `a-b`, at most 63 bytes.
    Label,
}

/// A field of an object's metadata that is a text.
pub(super) fn text<'o>(object: &'o Value, field: &str) -> &'o str {
    object["metadata"][field].as_str().unwrap_or_default()
}

/// The finalizers of an object.
pub(super) fn finalizers(object: &Value) -> Vec<&str> {
    object["metadata"]["finalizers"].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

/// Returns true if a deletion waits for finalizers.
pub(super) fn is_going(object: &Value) -> bool {
    object["metadata"]["deletionTimestamp"].is_string()
}

/// The metadata of an object, which is made where there is none.
pub(super) fn of(object: &mut Value) -> &mut Map<String, Value> {
    if !object["metadata"].is_object() {
        object["metadata"] = json!({});
    }
    object["metadata"].as_object_mut().expect("it is made above")
}

/// The time as `metav1.Time` writes it: whole seconds.
pub(super) fn now() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).expect("it is after 1970").as_secs();
    let seconds = i64::try_from(seconds).expect("it is before the end of time");
    jiff::Timestamp::from_second(seconds).expect("it is before the end of time").to_string()
}

/// Fills in what a new object gets from the server.
pub(super) fn begin(object: &mut Value) {
    let metadata = of(object);
    for field in ["deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "generation"] {
        metadata.remove(field);
    }
    metadata.insert("uid".to_owned(), uid().into());
    metadata.insert("creationTimestamp".to_owned(), now().into());
}

/// Gives an object its name where it only says what that begins with.
pub(super) fn generate_name(object: &mut Value) {
    let start = text(object, "generateName").to_owned();
    if !text(object, "name").is_empty() || start.is_empty() {
        return;
    }
    let start: String = start.chars().take(LONGEST_GENERATE_NAME).collect();
    let letters: String =
        random::<5>().iter().map(|byte| char::from(LETTERS[usize::from(*byte) % LETTERS.len()])).collect();
    of(object).insert("name".to_owned(), format!("{start}{letters}").into());
}

/// A random UUID.
fn uid() -> String {
    let mut bytes = random::<16>();
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}

fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("the system has random bytes");
    bytes
}

/// Returns what is wrong with the metadata of an object.
pub(super) fn check(object: &Value, naming: Naming) -> Vec<Cause> {
    let metadata = &object["metadata"];
    let mut causes = Vec::new();
    check_name(text(object, "name"), naming, &mut causes);
    for (key, value) in metadata["labels"].as_object().into_iter().flatten() {
        let value = value.as_str().unwrap_or_default();
        if !is_qualified_name(key) {
            causes.push(Cause::invalid("metadata.labels", &json!(key), NO_QUALIFIED_NAME));
        }
        if !is_label_value(value) {
            causes.push(Cause::invalid("metadata.labels", &json!(value), NO_LABEL_VALUE));
        }
    }
    let mut size = 0;
    for (key, value) in metadata["annotations"].as_object().into_iter().flatten() {
        size += key.len() + value.as_str().map_or(0, str::len);
        if !is_qualified_name(&key.to_lowercase()) {
            causes.push(Cause::invalid("metadata.annotations", &json!(key), NO_QUALIFIED_NAME));
        }
    }
    if size > MOST_ANNOTATIONS {
        causes.push(Cause::too_long("metadata.annotations", MOST_ANNOTATIONS as u64));
    }
    for finalizer in finalizers(object) {
        if !is_qualified_name(finalizer) {
            causes.push(Cause::invalid("metadata.finalizers", &json!(finalizer), NO_QUALIFIED_NAME));
        }
    }
    check_owners(&metadata["ownerReferences"], &mut causes);
    causes
}

fn check_name(name: &str, naming: Naming, causes: &mut Vec<Cause>) {
    if name.is_empty() {
        causes.push(Cause::required("metadata.name", "name or generateName is required"));
        return;
    }
    match naming {
        Naming::Subdomain if !is_subdomain(name) => {
            causes.push(Cause::invalid("metadata.name", &json!(name), NO_SUBDOMAIN));
        }
        Naming::Label if !is_dns_label(name) => {
            causes.push(Cause::invalid("metadata.name", &json!(name), NO_DNS_LABEL));
        }
        _ => {}
    }
}

fn check_owners(owners: &Value, causes: &mut Vec<Cause>) {
    let mut controllers = 0;
    for (index, owner) in owners.as_array().into_iter().flatten().enumerate() {
        for field in ["apiVersion", "kind", "name", "uid"] {
            if owner[field].as_str().is_none_or(str::is_empty) {
                let place = format!("metadata.ownerReferences[{index}].{field}");
                causes.push(Cause::invalid(place, &json!(""), "must not be empty"));
            }
        }
        controllers += usize::from(owner["controller"] == true);
    }
    if controllers > 1 {
        let why = "Only one reference can have Controller set to true";
        causes.push(Cause::invalid("metadata.ownerReferences", owners, why));
    }
}

/// Takes from the object before what an update cannot change, and gives what it may not.
pub(super) fn carry_over(old: &Value, new: &mut Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    let before = &old["metadata"];
    let metadata = of(new);
    for field in ["creationTimestamp", "generation", "selfLink"] {
        match before.get(field) {
            Some(value) => metadata.insert(field.to_owned(), value.clone()),
            None => metadata.remove(field),
        };
    }
    for field in ["uid", "deletionTimestamp", "deletionGracePeriodSeconds", "namespace"] {
        let empty = metadata.get(field).is_none_or(|value| value.is_null() || value == "");
        match before.get(field) {
            Some(value) if empty => {
                metadata.insert(field.to_owned(), value.clone());
            }
            value if !empty && value != metadata.get(field) => {
                causes.push(Cause::immutable(format!("metadata.{field}"), &metadata[field]));
            }
            _ => {}
        }
    }
    if is_going(old) {
        let known = finalizers(old);
        let added: Vec<&str> = finalizers(new).into_iter().filter(|one| !known.contains(one)).collect();
        if !added.is_empty() {
            let why = format!(
                "no new finalizers can be added if the object is being deleted, found new finalizers []string{added:?}"
            );
            causes.push(Cause::forbidden("metadata.finalizers", &why));
        }
    }
    causes
}

const NO_SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or \
     '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is \
     '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

const NO_DNS_LABEL: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and \
     must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is \
     '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

const NO_QUALIFIED_NAME: &str = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start \
     and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is \
     '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

const NO_LABEL_VALUE: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or \
     '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex \
     used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

/// `a-b`.
pub(super) fn is_dns_label(text: &str) -> bool {
    text.len() <= 63 && is_label_of(text, |byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
}

/// `a-b.c`.
pub(super) fn is_subdomain(text: &str) -> bool {
    let is_part = |part: &str| is_label_of(part, |byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    text.len() <= 253 && text.split('.').all(is_part)
}

fn is_label_of(text: &str, is_letter: impl Fn(u8) -> bool) -> bool {
    let bytes = text.as_bytes();
    bytes.first().is_some_and(|byte| is_letter(*byte))
        && bytes.last().is_some_and(|byte| is_letter(*byte))
        && bytes.iter().all(|byte| is_letter(*byte) || *byte == b'-')
}

/// `[prefix/]name`, as keys of labels are.
pub(super) fn is_qualified_name(text: &str) -> bool {
    let (prefix, name) = text.split_once('/').map_or((None, text), |(prefix, name)| (Some(prefix), name));
    prefix.is_none_or(is_subdomain) && !name.is_empty() && is_label_value(name)
}

/// As values of labels are.
pub(super) fn is_label_value(text: &str) -> bool {
    let is_edge = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let bytes = text.as_bytes();
    text.is_empty()
        || text.len() <= 63
            && is_edge(bytes.first())
            && is_edge(bytes.last())
            && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_dns() {
        for good in ["a", "a-b", "a.b", "1", "web.17f3"] {
            assert!(is_subdomain(good), "{good}");
        }
        for bad in ["", "A", "a_b", "-a", "a-", "a..b", ".a"] {
            assert!(!is_subdomain(bad), "{bad}");
        }
        assert!(!is_dns_label("a.b"));
        assert!(is_qualified_name("argocd-image-updater.argoproj.io/web.helm_x"));
        assert!(!is_qualified_name("a/b/c"));
    }

    /// Expected values: what the documentation of `generateName` promises: the prefix, and five letters more.
    #[test]
    fn a_generated_name_is_the_prefix_and_five_letters() {
        let mut object = json!({"metadata": {"generateName": "web-"}});
        generate_name(&mut object);
        let name = text(&object, "name");
        assert!(name.starts_with("web-") && name.len() == 9 && is_subdomain(name), "{name}");
    }

    #[test]
    fn what_goes_takes_no_new_finalizers() {
        let old =
            json!({"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["a.io/x"]}});
        let mut new = json!({"metadata": {"finalizers": ["a.io/x", "a.io/y"]}});
        let causes = carry_over(&old, &mut new);
        assert_eq!(causes.len(), 1);
        assert!(causes[0].message.contains("no new finalizers"), "{causes:?}");
        assert_eq!(text(&new, "deletionTimestamp"), "2026-01-01T00:00:00Z");
    }
}
