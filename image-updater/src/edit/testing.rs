//! Edits for tests: made twice, as a second run must change nothing.

use super::{Outcome, Paths, Policy, Request, Source, TARGETS, Target, Version};
use diagnostic::Result;

pub(super) const OLD: &str = "sha256:1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f";
pub(super) const NEW: &str = "sha256:2e2e2e2e2e2e2e2e2e2e2e2e2e2e2e2e2e2e2e2e2e2e2e2e2e2e2e2e2e2e2e2e";

/// A request of what is typed: options of `set` without their dashes, each with its value.
pub(super) fn request(image: &str, options: &[(&str, &str)]) -> Request {
    let path = |name: &str| {
        let option = options.iter().find(|(option, _)| *option == name);
        option.map(|(_, path)| yamledit::Path::parse(path).unwrap())
    };
    let policy = options.iter().find(|(option, _)| *option == "policy");
    Request {
        version: Version::parse(&image.replace("OLD", OLD).replace("NEW", NEW)).unwrap(),
        paths: Paths {
            tag: path("tag"),
            name: path("name"),
            registry: path("registry"),
            spec: path("spec"),
            digest: path("digest"),
        },
        image_name: options.iter().find(|(key, _)| *key == "image-name").map(|(_, name)| (*name).to_owned()),
        policy: policy.map(|(_, policy)| Policy::parse(policy).unwrap()),
        insists: !options.contains(&("create", "no")),
    }
}

/// The new text of a file, or the old one where nothing is to change; `OLD` and `NEW` stand for digests.
pub(super) fn edit(kind: &str, text: &str, request: &Request) -> Result<String> {
    let target = TARGETS.iter().find(|target| target.name == kind).unwrap();
    edit_by(target, text, request)
}

pub(super) fn edit_by(target: &Target, text: &str, request: &Request) -> Result<String> {
    let text = text.replace("OLD", OLD).replace("NEW", NEW);
    let run = |text: &str| (target.edit)(&Source { path: "file.yaml", text }, request);
    match run(&text)? {
        Outcome::Changed(new) => {
            assert_ne!(new, text);
            assert_eq!(run(&new)?, Outcome::Right, "{new}");
            Ok(new.replace(OLD, "OLD").replace(NEW, "NEW"))
        }
        Outcome::Right | Outcome::NotThere => Ok(text.replace(OLD, "OLD").replace(NEW, "NEW")),
    }
}

/// Rows of an image, the text before and the text after.
#[track_caller]
pub(super) fn check(kind: &str, options: &[(&str, &str)], rows: &[(&str, &str, &str)]) {
    for (image, before, after) in rows {
        assert_eq!(edit(kind, before, &request(image, options)).unwrap(), *after, "{image}\n{before}");
    }
}

/// Rows of an image, a text that is refused, and what the refusal says.
#[track_caller]
pub(super) fn check_refused(kind: &str, options: &[(&str, &str)], rows: &[(&str, &str, &str)]) {
    for (image, text, said) in rows {
        let refusal = edit(kind, text, &request(image, options)).expect_err(text);
        assert!(refusal.message().contains(said), "{refusal}\n{text}");
        assert!(refusal.location().is_some(), "{refusal}");
    }
}
