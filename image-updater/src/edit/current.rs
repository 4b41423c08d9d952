//! Which versions stand in a file now. In: a target, a file and what would be asked of it. Out: what stands where it
//! would write.
//!
//! Each target knows its places only by editing them. So the file is edited, for nobody to see, to a version that stands
//! nowhere, and what stood where this stands now is the answer: no place is read that would not be written.

use diagnostic::Result;
use yamltree::{Kind, Node};

use super::flux::{self, Part};
use super::{FLUX, Options, Outcome, Parts, Request, Source, Target, Version};

/// A tag that no registry has: the longest, and of one letter.
const PROBE_TAG: &str = "zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz";

/// The digest of nothing that there is.
const PROBE_DIGEST: &str = "sha256:0000000000000000000000000000000000000000000000000000000000000000";

/// A version as it stands in a file; what is absent is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Standing {
    pub(crate) tag: String,
    pub(crate) digest: String,
}

/// Returns what to ask for to find an image's places, whatever version stands there.
pub(crate) fn sought(image: &str, with_digest: bool) -> Result<Version> {
    let digest = if with_digest { format!("@{PROBE_DIGEST}") } else { String::new() };
    Version::parse(&format!("{image}:{PROBE_TAG}{digest}"))
}

impl Standing {
    /// As it stands behind an image's name: `1.2.3`, `1.2.3@sha256:…`.
    pub(crate) fn full(&self) -> String {
        if self.digest.is_empty() { self.tag.clone() } else { format!("{}@{}", self.tag, self.digest) }
    }
}

/// Returns what stands in a file, each once and in the order of the text.
///
/// # Errors
/// If the file could not be edited either.
pub(crate) fn current(target: &Target, source: &Source<'_>, request: &Request) -> Result<Vec<Standing>> {
    let mut found = if target.name == FLUX.name {
        let Some(policy) = &request.policy else { return Ok(Vec::new()) };
        marked(&flux::values_of(source, policy))
    } else {
        probed(target, source, request)?
    };
    let mut seen = Vec::new();
    found.retain(|standing| {
        let is_new = *standing != Standing::default() && !seen.contains(standing);
        seen.push(standing.clone());
        is_new
    });
    Ok(found)
}

fn marked(values: &[(Part, String)]) -> Vec<Standing> {
    let read = |(part, text): &(Part, String)| match part {
        Part::Reference => of_parts(Parts::split(text)),
        Part::Tag | Part::TagAndDigest => of_tag(text),
        Part::Digest => Standing { tag: String::new(), digest: text.clone() },
        Part::Name => Standing::default(),
    };
    let (tags, digests): (Vec<_>, Vec<_>) =
        values.iter().map(read).partition(|standing| !standing.tag.is_empty());
    // A digest that is marked apart belongs to the tag that is.
    match (tags.as_slice(), digests.iter().find(|standing| !standing.digest.is_empty())) {
        ([one], Some(digest)) if one.digest.is_empty() => {
            vec![Standing { tag: one.tag.clone(), digest: digest.digest.clone() }]
        }
        ([], Some(digest)) => vec![digest.clone()],
        _ => tags,
    }
}

fn probed(target: &Target, source: &Source<'_>, request: &Request) -> Result<Vec<Standing>> {
    let digest = request.version.digest.as_ref().map(|_| PROBE_DIGEST.to_owned());
    let version = Version { tag: PROBE_TAG.to_owned(), digest, ..request.version.clone() };
    // Keys of values that would be made are no places, but no fault either.
    let insists = request.insists && target.options == Options::Paths;
    let request = Request { version, insists, ..request.clone() };
    let Outcome::Changed(text) = (target.edit)(source, &request)? else { return Ok(Vec::new()) };
    let (old, new) = (source.parse()?, Source { path: source.path, text: &text }.parse()?);
    let mut pairs = Vec::new();
    for (place, document) in new.documents().iter().enumerate() {
        compare(old.documents().get(place).map(|old| &old.root), &document.root, &mut pairs);
    }
    let mut found: Vec<Standing> = Vec::new();
    for (old, new) in pairs {
        if new == PROBE_DIGEST {
            // It is written beside the tag that it belongs to.
            match found.last_mut().filter(|standing| standing.digest.is_empty()) {
                Some(standing) => standing.digest = old.to_owned(),
                None => found.push(Standing { tag: String::new(), digest: old.to_owned() }),
            }
        } else if Parts::split(new).tag == PROBE_TAG {
            found.push(of_parts(Parts::split(old)));
        } else if new.split('@').next() == Some(PROBE_TAG) {
            let tagless = found.last_mut().filter(|standing| standing.tag.is_empty());
            match tagless {
                Some(standing) => standing.tag = of_tag(old).tag,
                None => found.push(of_tag(old)),
            }
        }
    }
    Ok(found)
}

/// The texts of scalars that differ, old and new, in the order of the new text.
fn compare<'f>(old: Option<&'f Node>, new: &'f Node, pairs: &mut Vec<(&'f str, &'f str)>) {
    match &new.kind {
        Kind::Scalar(_) => {
            let (old, new) = (old.and_then(Node::text).unwrap_or_default(), new.text().unwrap_or_default());
            if old != new {
                pairs.push((old, new));
            }
        }
        Kind::Mapping(entries) => {
            // An edit adds entries or takes some away; the others stay in their order.
            let mut rest: &[yamltree::Entry] = old.and_then(Node::entries).map_or(&[], Vec::as_slice);
            for entry in entries {
                let same = rest.iter().position(|old| old.key.text() == entry.key.text());
                compare(same.map(|place| &rest[place].value), &entry.value, pairs);
                rest = &rest[same.map_or(0, |place| place + 1)..];
            }
        }
        Kind::Sequence(items) => {
            for (place, item) in items.iter().enumerate() {
                compare(old.and_then(Node::items).and_then(|items| items.get(place)), item, pairs);
            }
        }
        Kind::Alias(_) => {}
    }
}

/// Returns what stands as `tag` or `tag@digest`.
fn of_tag(text: &str) -> Standing {
    let (tag, digest) = text.split_once('@').unwrap_or((text, ""));
    Standing { tag: tag.to_owned(), digest: digest.to_owned() }
}

fn of_parts(parts: Parts<'_>) -> Standing {
    Standing { tag: parts.tag.to_owned(), digest: parts.digest.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::super::{Paths, Policy, TARGETS};
    use super::*;

    fn standing(kind: &str, text: &str, request: &Request) -> Vec<(String, String)> {
        let target = TARGETS.iter().find(|target| target.name == kind).unwrap();
        let found = current(target, &Source { path: "f.yaml", text }, request).unwrap();
        found.into_iter().map(|standing| (standing.tag, standing.digest)).collect()
    }

    fn request(version: &str) -> Request {
        Request {
            image_name: None,
            version: Version::parse(version).unwrap(),
            paths: Paths::default(),
            policy: None,
            insists: true,
        }
    }

    fn pair(tag: &str, digest: &str) -> (String, String) {
        (tag.to_owned(), digest.to_owned())
    }

    #[test]
    fn a_kustomization_has_a_tag_or_none_yet() {
        let text = "images:\n- name: other\n  newTag: v9\n- name: nginx\n  newTag: \"1.25\"\n";
        assert_eq!(standing("kustomization", text, &request("nginx:1")), [pair("1.25", "")]);
        assert_eq!(standing("kustomization", "resources: []\n", &request("nginx:1")), []);
        assert_eq!(standing("kustomization", "images:\n- name: nginx\n", &request("nginx:1")), []);
    }

    #[test]
    fn each_version_of_a_manifest_is_found_once() {
        let text = "spec:\n  containers:\n  - image: nginx:1.25\n  - image: docker.io/library/nginx:1.24@sha256:ab\n  \
                    - image: nginx:1.25\n  - image: redis:7\n";
        let found = standing("manifest", text, &request("nginx:1"));
        assert_eq!(found, [pair("1.25", ""), pair("1.24", "sha256:ab")]);
    }

    #[test]
    fn values_have_tag_and_digest_where_the_paths_say() {
        let text = "image:\n  repository: nginx\n  tag: '1.25'\n  digest: sha256:ab\n";
        let path = |text| Some(yamledit::Path::parse(text).unwrap());
        let mut request = request(&format!("nginx:1@{PROBE_DIGEST}"));
        request.paths = Paths { tag: path("image.tag"), digest: path("image.digest"), ..Paths::default() };
        assert_eq!(standing("helmvalues", text, &request), [pair("1.25", "sha256:ab")]);
    }

    #[test]
    fn markers_of_the_policy_are_read_in_templates_too() {
        let mut request = request("nginx:1");
        request.policy = Some(Policy::parse("a:b").unwrap());
        let text = "{{ if x }}\ntag: 1.25 # {\"$imagepolicy\": \"a:b:tag\"}\nother: 2 # {\"$imagepolicy\": \"a:c:tag\"}\n";
        assert_eq!(standing("flux", text, &request), [pair("1.25", "")]);
        let text = "image: nginx:1.24 # {\"$imagepolicy\": \"a:b\"}\n";
        assert_eq!(standing("flux", text, &request), [pair("1.24", "")]);
    }
}
