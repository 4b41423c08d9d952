//! Reading YAML: text to trees.
//!
//! In: a text whose encoding is already undone (see [`decode`](crate::decode)). Out: its documents, or the first fault in
//! it, as go-yaml would find them.

use crate::compose::Composer;
use crate::dialect::Dialect;
use crate::duplicate::{Duplicate, DuplicateKeys};
use crate::error::{Error, ErrorKind};
use crate::limits::MAX_TEXT_LEN;
use crate::node::Node;
use crate::scan::Scanner;
use crate::source::{SourceId, Span};
use crate::text;

/// How to read.
#[derive(Clone, Copy, Debug, Default)]
pub struct ParseOptions {
    /// Whose reading counts where the two generations of go-yaml differ.
    pub dialect: Dialect,
    /// Whether to keep comments.
    pub comments: bool,
    /// What becomes of keys that a mapping has twice.
    pub duplicate_keys: DuplicateKeys,
    /// Where the text begins in its file, when it is only a part of one.
    pub offset: u32,
}

/// One document of a text.
#[derive(Clone, Debug)]
pub struct Document {
    /// Its node; a null without text where nothing is written.
    pub root: Node,
    /// Whether it has a `---`.
    pub is_explicit: bool,
    /// The comments in it and before it, if they were asked for. Those after the last document are in that one.
    pub comments: Vec<Comment>,
    /// The keys that a mapping has twice, in the order of the text.
    pub duplicates: Vec<Duplicate>,
}

/// A comment, from its `#` to the end of its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comment {
    /// Where it stands.
    pub span: Span,
    /// Whether nothing else is on its line.
    pub own_line: bool,
}

/// Reads every document of a text: as many as a loop over go-yaml's `Decoder` yields.
///
/// A text without content has none; after a `---` there is one even if it is empty.
pub fn parse(text: &str, source: SourceId, options: &ParseOptions) -> Result<Vec<Document>, Error> {
    let mut composer = composer(text, source, options)?;
    let mut documents = Vec::new();
    while let Some(document) = composer.document()? {
        documents.push(document);
    }
    Ok(documents)
}

/// Reads the first document as go-yaml's `Unmarshal` does, which never looks at what follows it; `None` where a text
/// has no content.
pub fn parse_first(text: &str, source: SourceId, options: &ParseOptions) -> Result<Option<Document>, Error> {
    composer(text, source, options)?.document()
}

fn composer<'t>(text: &'t str, source: SourceId, options: &ParseOptions) -> Result<Composer<'t>, Error> {
    if text.len() > MAX_TEXT_LEN {
        let message = format!("exceeded max size of {MAX_TEXT_LEN} bytes");
        return Err(Error::new(ErrorKind::Limit, message, Span { source, start: 0, end: 0 }));
    }
    let traits = text::check(text, source, options.offset)?;
    let scanner = Scanner::new(text, traits, options.dialect, source, options.offset);
    Ok(Composer::new(scanner, *options))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str, dialect: Dialect) -> String {
        let options = ParseOptions { dialect, ..ParseOptions::default() };
        parse(text, 0, &options).unwrap_err().go_text()
    }

    /// What `kustomize build` says of such a resource.
    #[test]
    fn faults_read_as_in_go() {
        for (text, message) in [
            ("a: b: c\n", "yaml: mapping values are not allowed in this context"),
            ("a: 1\nb: @x\n", "yaml: line 2: found character that cannot start any token"),
            ("a: *x\n", "yaml: unknown anchor 'x' referenced"),
        ] {
            assert_eq!(refusal(text, Dialect::V3), message);
        }
    }
}
