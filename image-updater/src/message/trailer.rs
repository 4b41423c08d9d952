//! The lines of a commit that say what it set, in a form that is read back: `Image-Updater-Set: image=… old=… new=…
//! file=… alias=… application=…`. A later round compares them with the files to see what a person has set back.
//!
//! Values are percent-encoded, so that none has a space, a line's end or anything but ASCII. Lines are read wherever they
//! stand, for forges move trailers when they squash commits; one that is not well-formed is not ours and says nothing.

use crate::change::Change;

const TOKEN: &str = "Image-Updater-Set";

/// A version set by a commit in a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Set {
    /// The image with its registry.
    pub image: String,
    /// The alias, if it differs from the image.
    pub alias: String,
    /// `namespace/name` of the application, or its name alone; empty where there is none.
    pub application: String,
    /// The file, from the root of the repository.
    pub file: String,
    /// The version that was there: tag, `@digest`, or both.
    pub old: String,
    /// The version that is there now.
    pub new: String,
}

/// Returns what changes set: for each of them every file once.
#[must_use]
pub fn sets_of(changes: &[Change]) -> Vec<Set> {
    let mut sets = Vec::new();
    for change in changes {
        let mut files: Vec<&str> = change.edits.iter().map(|edit| edit.file.as_str()).collect();
        files.sort_unstable();
        files.dedup();
        let application = change.application.as_ref().map(|named| match named.namespace.as_str() {
            "" => named.name.clone(),
            namespace => format!("{namespace}/{}", named.name),
        });
        for file in files {
            sets.push(Set {
                image: change.image.clone(),
                alias: change.alias.clone().unwrap_or_default(),
                application: application.clone().unwrap_or_default(),
                file: file.to_owned(),
                old: change.old.full(),
                new: change.new.full(),
            });
        }
    }
    sets
}

/// Returns what the lines of a commit's message say that it set.
#[must_use]
pub fn read_sets(message: &str) -> Vec<Set> {
    let trailer = |line: &str| {
        let (token, value) = line.split_once(':')?;
        token.eq_ignore_ascii_case(TOKEN).then(|| Set::read(value)).flatten()
    };
    message.lines().filter_map(trailer).collect()
}

impl Set {
    /// The name and the value of its line.
    #[must_use]
    pub fn trailer(&self) -> (String, String) {
        let Self { image, alias, application, file, old, new } = self;
        let (image, old, new, file) = (encoded(image), encoded(old), encoded(new), encoded(file));
        let mut value = format!("image={image} old={old} new={new} file={file}");
        for (name, text) in [("alias", alias), ("application", application)] {
            if !text.is_empty() {
                value.push_str(&format!(" {name}={}", encoded(text)));
            }
        }
        (TOKEN.to_owned(), value)
    }

    /// Reads what stands after the colon. Names that are not known are of a later version and do not matter.
    fn read(text: &str) -> Option<Self> {
        let mut set = Self::default();
        let mut seen = Vec::new();
        for pair in text.split_ascii_whitespace() {
            let (name, value) = pair.split_once('=')?;
            if seen.contains(&name) {
                return None;
            }
            seen.push(name);
            let field = match name {
                "image" => &mut set.image,
                "alias" => &mut set.alias,
                "application" => &mut set.application,
                "file" => &mut set.file,
                "old" => &mut set.old,
                "new" => &mut set.new,
                _ => continue,
            };
            *field = decoded(value)?;
        }
        let whole = ["image", "file", "old", "new"].iter().all(|name| seen.contains(name));
        whole.then_some(set)
    }
}

fn encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_graphic() && byte != b'%' {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        if byte == b'%' {
            let (code, after) = after.split_at_checked(2)?;
            let code = std::str::from_utf8(code)
                .ok()
                .filter(|code| code.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
            bytes.push(u8::from_str_radix(code, 16).ok()?);
            rest = after;
        } else {
            bytes.push(byte);
            rest = after;
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::message::template::example;

    fn set() -> Set {
        let text = |text: &str| text.to_owned();
        Set {
            image: text("ghcr.io/org/app"),
            alias: text("web"),
            application: text("argocd/web"),
            file: text("apps/web/values.yaml"),
            old: text("1.2.3"),
            new: text("1.2.4@sha256:ab"),
        }
    }

    fn line(set: &Set) -> String {
        let (name, value) = set.trailer();
        format!("{name}: {value}")
    }

    #[test]
    fn a_set_is_one_line() {
        let wanted = "Image-Updater-Set: image=ghcr.io/org/app old=1.2.3 new=1.2.4@sha256:ab \
            file=apps/web/values.yaml alias=web application=argocd/web";
        assert_eq!(line(&set()), wanted);
        assert_eq!(read_sets(&format!("title\n\n{wanted}\r\nSigned-off-by: a <b>\n")), [set()]);
        // Where a forge has put more paragraphs behind it.
        assert_eq!(read_sets(&format!("title\n\n{wanted}\n\nCo-authored-by: a <b>\n")), [set()]);
    }

    #[test]
    fn a_file_is_named_once() {
        let mut change = example();
        change.edits.push(change.edits[0].clone());
        let sets = sets_of(&[change]);
        assert_eq!(sets.len(), 1);
        assert_eq!((sets[0].file.as_str(), sets[0].application.as_str()), ("app.yaml", "argocd/example"));
    }

    #[test]
    fn what_is_not_well_formed_says_nothing() {
        for line in [
            "Image-Updater-Set: image=a old=1 new=2",
            "Image-Updater-Set: image=a old=1 new=2 file=%4",
            "Image-Updater-Set: image=a old=1 new=2 file=%+1",
            "Image-Updater-Set: image=a old=1 new=2 file=%ff",
            "Image-Updater-Set: image=a image=b old=1 new=2 file=c",
            "Image-Updater-Set: image=a old=1 new=2 file",
            " Image-Updater-Set: image=a old=1 new=2 file=c",
            "* Image-Updater-Set: image=a old=1 new=2 file=c",
        ] {
            assert_eq!(read_sets(line), [], "{line}");
        }
        let later = "image-updater-set: image=a old= new=2 file=c more=x";
        assert_eq!(read_sets(later).len(), 1);
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(texts in prop::array::uniform6(any::<String>())) {
            let [image, alias, application, file, old, new] = texts;
            let set = Set { image, alias, application, file, old, new };
            let line = line(&set);
            prop_assert!(line.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic()));
            prop_assert_eq!(read_sets(&line), [set]);
        }

        #[test]
        fn no_message_is_too_odd_to_read(message in any::<String>()) {
            let _ = read_sets(&message);
        }
    }
}
