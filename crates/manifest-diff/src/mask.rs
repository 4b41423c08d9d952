//! Replaces values of Secrets by tags: equal values have equal tags, and a tag reveals only the length of its value.
//!
//! Input: the tree of an object. Output: the same tree without values of Secrets, however deeply a Secret is nested, and
//! with `stringData` merged into `data`, as the API server does. A tag is an HMAC under a random key of the run; if two
//! values would get the same short tag, the later one gets a longer tag.

use std::collections::HashMap;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use yamltree::{Kind, Node, Tag};

use crate::input::SecretKey;

/// The annotation in which `kubectl apply` keeps the whole object, data included.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// The minimum number of hexadecimal digits of a tag.
const MIN_TAG_LEN: usize = 4;

const START: &str = "‹secret ";

/// Makes tags.
pub(crate) struct Masks<'k> {
    key: &'k SecretKey,
    /// The tag of each value so far, by its whole code.
    tags: HashMap<[u8; 32], String>,
    /// The values of the tags so far.
    taken: HashMap<String, [u8; 32]>,
}

impl<'k> Masks<'k> {
    pub(crate) fn new(key: &'k SecretKey) -> Self {
        Self { key, tags: HashMap::new(), taken: HashMap::new() }
    }

    /// Replaces secret values by tags.
    pub(crate) fn mask(&mut self, node: &mut Node) {
        match &mut node.kind {
            Kind::Mapping(_) => {
                if node.get("kind").and_then(Node::text) == Some("Secret") {
                    self.mask_secret(node);
                }
                self.mask_last_applied(node);
                for entry in node.entries_mut().into_iter().flatten() {
                    self.mask(&mut entry.value);
                }
            }
            Kind::Sequence(items) => items.iter_mut().for_each(|item| self.mask(item)),
            Kind::Scalar(_) | Kind::Alias(_) => {}
        }
    }

    fn mask_last_applied(&mut self, node: &mut Node) {
        let annotations = node.get_mut("metadata").and_then(|metadata| metadata.get_mut("annotations"));
        if let Some(value) = annotations.and_then(|annotations| annotations.get_mut(LAST_APPLIED)) {
            self.tag(value, false);
        }
    }

    fn mask_secret(&mut self, secret: &mut Node) {
        self.mask_values(secret.get_mut("data"), true);
        self.mask_values(secret.get_mut("stringData"), false);
        if !secret.get("data").is_none_or(|data| data.is_mapping() || data.tag == Tag::Null)
            || !secret.get("stringData").is_some_and(Node::is_mapping)
        {
            return;
        }
        let Some(Kind::Mapping(texts)) = secret.remove("stringData").map(|texts| texts.kind) else { return };
        if !secret.get("data").is_some_and(Node::is_mapping) {
            secret.set("data", Node::mapping(Vec::new()));
        }
        let Some(data) = secret.get_mut("data").and_then(Node::entries_mut) else { return };
        // Not one by one: a Secret may have very many keys.
        let written: HashMap<String, usize> = data
            .iter()
            .enumerate()
            .filter_map(|(at, entry)| Some((entry.key.text()?.to_owned(), at)))
            .collect();
        for entry in texts {
            match entry.key.text().and_then(|key| written.get(key)) {
                Some(&at) => data[at].value = entry.value,
                None => data.push(entry),
            }
        }
    }

    fn mask_values(&mut self, values: Option<&mut Node>, is_base64: bool) {
        let Some(values) = values else { return };
        match &mut values.kind {
            Kind::Mapping(entries) => {
                entries.iter_mut().for_each(|entry| self.tag(&mut entry.value, is_base64));
            }
            Kind::Scalar(_) if values.tag == Tag::Null => {}
            _ => self.tag(values, false),
        }
    }

    fn tag(&mut self, node: &mut Node, is_base64: bool) {
        let value = match &node.kind {
            // The API server takes a null for an empty value.
            Kind::Scalar(_) if node.tag == Tag::Null => Vec::new(),
            Kind::Scalar(text) if is_base64 => {
                gostd::base64::decode(text.as_bytes()).unwrap_or_else(|_| text.as_bytes().to_vec())
            }
            Kind::Scalar(text) => text.as_bytes().to_vec(),
            _ => crate::json_text::text_of(node).into_bytes(),
        };
        let tag = self.tag_of(&value);
        *node = Node::string(&tag).at(node.span);
    }

    fn tag_of(&mut self, value: &[u8]) -> String {
        let code = self.code(value);
        if let Some(tag) = self.tags.get(&code) {
            return tag.clone();
        }
        let digits: String = code.iter().map(|byte| format!("{byte:02x}")).collect();
        let len = value.len();
        let mut tag = format!("{START}{digits}, {len} B›");
        for short in MIN_TAG_LEN..digits.len() {
            if !self.taken.contains_key(&digits[..short]) {
                tag = format!("{START}{}, {len} B›", &digits[..short]);
                self.taken.insert(digits[..short].to_owned(), code);
                break;
            }
        }
        self.tags.insert(code, tag.clone());
        tag
    }

    fn code(&self, value: &[u8]) -> [u8; 32] {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.key.0).expect("HMAC takes keys of any length");
        mac.update(value);
        mac.finalize().into_bytes().into()
    }
}

/// Two tags as one, where both texts are tags: `‹secret 4f2a → 9c01, 24 B›`.
pub(crate) fn joined(old: &str, new: &str) -> Option<String> {
    let parts = |text: &'_ str| {
        let (digits, rest) = text.strip_prefix(START)?.split_once(", ")?;
        let len = rest.strip_suffix(" B›")?;
        let is_tag = digits.bytes().all(|byte| byte.is_ascii_hexdigit())
            && len.bytes().all(|byte| byte.is_ascii_digit());
        is_tag.then(|| (digits.to_owned(), len.to_owned()))
    };
    let ((old, old_len), (new, new_len)) = (parts(old)?, parts(new)?);
    let len = if old_len == new_len { old_len } else { format!("{old_len} → {new_len}") };
    Some(format!("{START}{old} → {new}, {len} B›"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objects::testing::object;
    use crate::objects::yaml;

    fn masked(text: &str) -> String {
        let key = SecretKey::new([7; 32]);
        let mut node = object(text).node().clone();
        Masks::new(&key).mask(&mut node);
        yaml(&node)
    }

    #[test]
    fn a_value_is_the_same_in_data_and_in_text() {
        let data = masked("kind: Secret\ndata: {a: aHVudGVyMg==, b: bm90}\n");
        assert_eq!(data, masked("kind: Secret\nstringData: {a: hunter2}\ndata: {b: bm90, a: b2xk}\n"));
        assert!(data.contains(", 7 B›") && !data.contains("aHVudGVyMg"), "{data}");
    }

    #[test]
    fn secrets_are_found_at_any_depth_and_whatever_their_form() {
        for text in [
            "kind: Bundle\nitems: [{kind: Secret, data: {a: hunter2}}]\n",
            "kind: Object\nspec: {manifest: {kind: Secret, stringData: {a: hunter2}}}\n",
            "kind: Secret\ndata: hunter2\n",
            "kind: Secret\ndata: [hunter2]\nstringData: {a: hunter2}\n",
            "kind: Secret\nstringData: {a: {b: hunter2}}\n",
            "kind: Secret\ndata: hunter2\nstringData: hunter2\n",
            "kind: Secret\nmetadata: {annotations: {kubectl.kubernetes.io/last-applied-configuration: '{\"data\":{\"a\":\"hunter2\"}}'}}\n",
            "kind: Other\nmetadata: {annotations: {kubectl.kubernetes.io/last-applied-configuration: hunter2}}\n",
        ] {
            let masked = masked(text);
            assert!(masked.contains("‹secret ") && !masked.contains("hunter2"), "{masked}");
        }
        assert_eq!(masked("kind: Secret\ndata: null\n"), "data: null\nkind: Secret\n");
    }

    #[test]
    fn tags_that_would_be_the_same_grow() {
        let key = SecretKey::new([1; 32]);
        let mut masks = Masks::new(&key);
        // Of 2,000 values some surely share their first four digits.
        let tags: std::collections::HashSet<_> =
            (0..2000).map(|n| masks.tag_of(&[n as u8, (n >> 8) as u8])).collect();
        assert_eq!(tags.len(), 2000);
        assert!(tags.iter().any(|tag| tag.len() > "‹secret 0000, 2 B›".len()));
        assert_eq!(masks.tag_of(&[0, 0]), masks.tag_of(&[0, 0]));
    }

    #[test]
    fn two_tags_are_shown_as_one() {
        let (old, new) = ("‹secret 4f2a, 24 B›", "‹secret 9c01, 24 B›");
        assert_eq!(joined(old, new).as_deref(), Some("‹secret 4f2a → 9c01, 24 B›"));
        assert_eq!(joined(old, "‹secret 9c012, 3 B›").as_deref(), Some("‹secret 4f2a → 9c012, 24 → 3 B›"));
        assert_eq!(joined(old, "‹secret of mine, 3 B›"), None);
    }
}
