//! A hidden mark at the end of a request's text: its target and changes. A later run recognizes a request that it
//! replaces, or that a person closed.

const START: &str = "<!-- image-updater: ";
const END: &str = " -->";
const SUPERSEDED: &str = "superseded";

/// The content of a mark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    /// The key of the target.
    pub(super) target: String,
    /// The fingerprint of the changes, or that others have come.
    pub(super) changes: String,
}

impl Mark {
    pub(super) fn new(target: &str, changes: &str) -> Self {
        Self { target: target.to_owned(), changes: changes.to_owned() }
    }

    /// The mark of a request that others have replaced.
    pub(super) fn superseded(&self) -> Self {
        Self::new(&self.target, SUPERSEDED)
    }

    /// The last mark of a text, for ours is at its end.
    pub(super) fn read(body: &str) -> Option<Self> {
        let (_, rest) = body.rsplit_once(START)?;
        let (mark, _) = rest.split_once(END)?;
        let (target, changes) = mark.split_once(' ')?;
        Some(Self::new(target.strip_prefix("target=")?, changes.strip_prefix("changes=")?))
    }

    /// A text with this mark instead of any that it has.
    pub(super) fn write(&self, body: &str) -> String {
        let body = match body.rsplit_once(START) {
            Some((before, rest)) if rest.trim_end().ends_with(END.trim_start()) => before,
            _ => body,
        };
        format!("{}\n\n{START}target={} changes={}{END}\n", body.trim_end(), self.target, self.changes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_read_and_replaced() {
        let mark = Mark::new("0123abcd", "ff");
        let body = mark.write("text");
        assert_eq!(body, "text\n\n<!-- image-updater: target=0123abcd changes=ff -->\n");
        assert_eq!(Mark::read(&body), Some(mark.clone()));
        let closed = mark.superseded().write(&body);
        assert_eq!(closed, "text\n\n<!-- image-updater: target=0123abcd changes=superseded -->\n");
        // Forges may take away what is at the end of a text.
        assert_eq!(Mark::read(closed.trim_end()), Some(mark.superseded()));
        assert_eq!(Mark::read("text <!-- image-updater: x -->"), None);
    }
}
