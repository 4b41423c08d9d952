//! The expression that tags match, and what of a match is put in order, as Flux has it.

use diagnostic::{Error, Result};
use std::borrow::Cow;

use goregex::Regex;

use super::Refusal;
use super::names::compile;

/// An expression with what is taken from its matches.
#[derive(Debug)]
pub(super) struct Pattern {
    text: String,
    expression: Regex,
    /// In the syntax of Go's `Expand`; the whole tag where there is none.
    extract: Option<String>,
}

impl Pattern {
    pub(super) fn new(filter: Option<&str>, extract: Option<&str>) -> Result<Option<Self>> {
        let Some(text) = filter else {
            return match extract {
                None => Ok(None),
                Some(_) => {
                    Err(Error::invalid("`extract` takes from what `filter-tags` matches, which is missing"))
                }
            };
        };
        let extract = extract.filter(|template| !template.is_empty()).map(str::to_owned);
        Ok(Some(Self { text: text.to_owned(), expression: compile(text)?, extract }))
    }

    /// Returns what of a tag is put in order.
    pub(super) fn value<'t>(&self, tag: &'t str) -> Result<Cow<'t, str>, Refusal> {
        let refuse = || Refusal::dropped("filter-tags", format!("does not match the filter `{}`", self.text));
        let Some(template) = &self.extract else {
            return if self.expression.is_match(tag) { Ok(Cow::Borrowed(tag)) } else { refuse() };
        };
        let Some(groups) = self.expression.captures(tag) else { return refuse() };
        let mut value = Vec::new();
        self.expression.expand(tag.as_bytes(), &groups, template.as_bytes(), &mut value);
        Ok(Cow::Owned(String::from_utf8_lossy(&value).into_owned()))
    }

    pub(super) fn extracts(&self) -> bool {
        self.extract.is_some()
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // By the documentation of Go's Regexp.Expand.
    #[test]
    fn an_extract_is_expanded_as_in_go() {
        for (extract, value) in [
            (Some("$n"), "5"),
            (Some("${n}"), "5"),
            (Some("$1"), "5"),
            (Some("$1x"), ""),
            (Some("${1}x"), "5x"),
            (Some("$2.$1"), "6.5"),
            (Some("$$n"), "$n"),
            (Some("$0"), "app-5-6"),
            (Some("$9"), ""),
            (Some(""), "my-app-5-6"),
            (None, "my-app-5-6"),
        ] {
            let pattern = Pattern::new(Some(r"app-(?P<n>\d)-(\d)$"), extract).unwrap().unwrap();
            assert_eq!(pattern.value("my-app-5-6").unwrap(), value, "{extract:?}");
            assert!(pattern.value("web-5-6").is_err());
        }
    }

    #[test]
    fn an_extract_needs_an_expression() {
        assert!(Pattern::new(None, Some("$1")).is_err());
        assert!(Pattern::new(None, None).unwrap().is_none());
        assert!(Pattern::new(Some("("), None).is_err());
    }
}
