//! References to container images: their parts, and which names match them.

use std::fmt;

use diagnostic::{Error, Result};
use goregex::Regex;

/// `[[host[:port]/]component/]component[:tag][@digest]`, split. What is absent is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ImageReference<'a> {
    pub(crate) name: &'a str,
    pub(crate) tag: &'a str,
    pub(crate) digest: &'a str,
}

impl<'a> ImageReference<'a> {
    pub(crate) fn split(image: &'a str) -> Self {
        // A colon before the first slash belongs to a port.
        let from = image.find('/').unwrap_or(0);
        let find = |separator| image[from..].find(separator).map(|at| from + at);
        let (tag, digest) = (find(':'), find('@'));
        let after = |at: usize| &image[at + 1..];
        match (tag, digest) {
            (None, None) => Self { name: image, tag: "", digest: "" },
            (Some(tag), Some(digest)) if tag < digest => {
                Self { name: &image[..tag], tag: &image[tag + 1..digest], digest: after(digest) }
            }
            (_, Some(digest)) => Self { name: &image[..digest], tag: "", digest: after(digest) },
            (Some(tag), None) => Self { name: &image[..tag], tag: after(tag), digest: "" },
        }
    }
}

impl fmt::Display for ImageReference<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)?;
        for (separator, part) in [(':', self.tag), ('@', self.digest)] {
            if !part.is_empty() {
                write!(f, "{separator}{part}")?;
            }
        }
        Ok(())
    }
}

/// The name of an entry of `images`, which Kustomize puts into a regular expression unescaped: `my.app` is also
/// `my-app`, and `a+b` is not `a+b`.
#[derive(Debug)]
pub(crate) enum ImagePattern {
    /// A name whose only special characters are dots.
    Plain(String),
    Regex(Box<Regex>),
}

impl ImagePattern {
    pub(crate) fn new(name: &str) -> Result<Self> {
        if !name.contains(['\\', '+', '*', '?', '(', ')', '|', '[', ']', '{', '}', '^', '$']) {
            return Ok(Self::Plain(name.to_owned()));
        }
        let pattern = format!("^{name}(:[a-zA-Z0-9_.{{}}-]*)?(@sha256:[a-zA-Z0-9_.{{}}-]*)?$");
        match Regex::new(&pattern) {
            Ok(regex) => Ok(Self::Regex(Box::new(regex))),
            Err(error) => Err(Error::invalid(format!(
                "the image name `{name}` is not a valid regular expression: {error}"
            ))
            .hint("a name is read as a regular expression")),
        }
    }

    /// Returns true if a reference has the name, with or without tag and digest.
    pub(crate) fn matches(&self, image: &str) -> bool {
        match self {
            Self::Plain(name) => is_named(image, name),
            Self::Regex(regex) => regex.is_match(image),
        }
    }
}

/// Returns true if a reference begins with a name, where a dot stands for any character, and goes on with a tag and a digest.
fn is_named(image: &str, name: &str) -> bool {
    let mut rest = image.chars();
    let is_same = |wanted: char| match rest.next() {
        Some(found) => found == wanted || (wanted == '.' && found != '\n'),
        None => false,
    };
    if !name.chars().all(is_same) {
        return false;
    }
    let rest = rest.as_str();
    let is_of_tag = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '{' | '}' | '-');
    let rest = rest.strip_prefix(':').map_or(rest, |tag| tag.trim_start_matches(is_of_tag));
    let rest = rest.strip_prefix("@sha256:").map_or(rest, |digest| digest.trim_start_matches(is_of_tag));
    rest.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_has_a_name_a_tag_and_a_digest() {
        let cases = [
            ("nginx", "nginx", "", ""),
            ("nginx:1.2", "nginx", "1.2", ""),
            ("nginx@sha256:12", "nginx", "", "sha256:12"),
            ("nginx:1.2@sha256:12", "nginx", "1.2", "sha256:12"),
            ("foo.com:443/nginx", "foo.com:443/nginx", "", ""),
            ("foo.com:443/nginx:1.2@sha256:12", "foo.com:443/nginx", "1.2", "sha256:12"),
            ("/nginx:1", "/nginx", "1", ""),
        ];
        for (image, name, tag, digest) in cases {
            assert_eq!(ImageReference::split(image), ImageReference { name, tag, digest }, "{image}");
            assert_eq!(ImageReference { name, tag, digest }.to_string(), image);
        }
    }

    /// The short way must agree with the expression that Kustomize compiles.
    #[test]
    fn a_name_matches_as_the_regular_expression_would() {
        let names = ["nginx", "my.app", "ghcr.io/org/app", "a:b", "", "a\nb", "é.x"];
        let images = [
            "nginx",
            "nginx:",
            "nginx:1.2",
            "nginx:1.2@sha256:ab",
            "nginx@sha256:",
            "nginx@sha512:ab",
            "nginx:a:b",
            "nginx:1/2",
            "xnginx",
            "nginxx",
            "my.app",
            "my-app:1",
            "my\napp",
            "myapp",
            "ghcr.io/org/app:{T}",
            "a:b",
            "a:b:c",
            ":1",
            "",
            "@sha256:1",
            "a\nb",
            "é-x:1",
            "éxx",
            "nginx@sha256:ab:1",
        ];
        for name in names {
            let pattern = format!("^{name}(:[a-zA-Z0-9_.{{}}-]*)?(@sha256:[a-zA-Z0-9_.{{}}-]*)?$");
            let regex = Regex::new(&pattern).expect("a good pattern");
            let plain = ImagePattern::new(name).expect("a plain name");
            for image in images {
                assert_eq!(plain.matches(image), regex.is_match(image), "{name} and {image}");
            }
        }
    }

    #[test]
    fn a_name_is_a_regular_expression() {
        assert!(ImagePattern::new("a+b").expect("a pattern").matches("aab:1"));
        assert!(!ImagePattern::new("a+b").expect("a pattern").matches("a+b"));
        assert!(ImagePattern::new("foo|bar").expect("a pattern").matches("foolish"));
        assert!(ImagePattern::new("[").is_err());
    }
}
