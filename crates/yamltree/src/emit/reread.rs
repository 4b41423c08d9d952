//! The value of a string after go-yaml v3 has written and read it.
//!
//! In: a scalar of a tree. Out: the text that Kustomize gets when it turns the tree into JSON, for which it writes the
//! tree as YAML and reads that. It is nearly always the same text; only folded blocks change, and only a block that
//! starts with a tab is refused.

use std::borrow::Cow;

use super::analysis::{Analysis, classes, is_break};
use super::emitter::{EmitOptions, Emitter, Properties};
use crate::dialect::Dialect;
use crate::document::ParseOptions;
use crate::error::{Error, ErrorKind};
use crate::node::{Kind, Node, Style};
use crate::parse::parse_first;
use diagnostic::SourceId;

/// The text of a string node after one round through go-yaml v3.
pub(super) fn reread<'n>(node: &'n Node, text: &'n str) -> Result<Cow<'n, str>, Error> {
    let block = match node.style {
        Style::Literal | Style::Folded => true,
        Style::Plain | Style::Flow => text.starts_with('\t') && text.contains('\n'),
        Style::SingleQuoted | Style::DoubleQuoted => false,
    };
    if block && text.starts_with('\t') && Analysis::of(text, classes(text), Dialect::V3).block {
        let message = "found a tab character where an indentation space is expected";
        return Err(Error::new(ErrorKind::Invalid, message, node.span));
    }
    if node.style == Style::Folded && text.contains(is_break) {
        return refold(node, text).map(Cow::Owned);
    }
    Ok(Cow::Borrowed(text))
}

/// go-yaml doubles line breaks beside indented lines of a folded block, which are not folded when read.
fn refold(node: &Node, text: &str) -> Result<String, Error> {
    let mut written = String::new();
    let mut emitter = Emitter::new(&mut written, EmitOptions::KYAML);
    emitter.scalar(text, Style::Folded, Properties::default());
    emitter.document_end();
    let read = parse_first(&written, SourceId::MAX, &ParseOptions::default());
    match read.map(|document| document.map(|document| document.root.kind)) {
        Ok(Some(Kind::Scalar(text))) => Ok(text.into()),
        Ok(_) => Ok(String::new()),
        Err(error) => Err(Error::new(error.kind(), error.message(), node.span)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str, style: Style) -> Result<String, String> {
        let node = Node { style, ..Node::string(text) };
        reread(&node, text).map(Cow::into_owned).map_err(|error| error.message().to_owned())
    }

    /// Kustomize's answers for such blocks in a resource.
    #[test]
    fn a_folded_block_gains_a_line_beside_an_indented_one() {
        assert_eq!(written("foo\n  bar\nbaz\n", Style::Folded).as_deref(), Ok("foo\n\n  bar\nbaz\n"));
        assert_eq!(written("foo\nbar\n", Style::Folded).as_deref(), Ok("foo\nbar\n"));
        assert_eq!(written("foo\n  bar\n", Style::Literal).as_deref(), Ok("foo\n  bar\n"));
    }

    #[test]
    fn a_block_that_starts_with_a_tab_is_refused() {
        let refusal = Err("found a tab character where an indentation space is expected".to_owned());
        assert_eq!(written("\tfoo\nbar", Style::Plain), refusal);
        assert_eq!(written("\tfoo", Style::Literal), refusal);
        // Neither of these is written as a block.
        assert_eq!(written("\tfoo", Style::Plain).as_deref(), Ok("\tfoo"));
        assert_eq!(written("\tfoo\nbar ", Style::Plain).as_deref(), Ok("\tfoo\nbar "));
        assert_eq!(written("\tfoo\nbar", Style::DoubleQuoted).as_deref(), Ok("\tfoo\nbar"));
    }
}
