//! Renders the text of a request. Input: a tera template and the changes. Output: Markdown of a length that forges
//! accept.
//!
//! Whatever a template prints is escaped for Markdown, unless it passes one of the filters `code` and `link`, or is
//! called `safe`. A template finds `name`, `changes` and `omitted`, how many changes are left out for want of room; a
//! change has `image`, `alias`, `application`, `old`, `new` (short), `old_tag`, `old_digest`, `new_tag`, `new_digest`,
//! `old_labels`, `new_labels`, `files`, `reason`, `source`, `commit` and `compare`.

use diagnostic::{Error, Location, Result};
use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;
use tera::{Context, ErrorKind, Kwargs, State, Tera};

use super::links::Links;
use super::markdown;
use crate::change::{Change, Version};

/// The template where there is no other.
pub const DEFAULT_BODY: &str = include_str!("body.md");

/// GitHub takes 65,536 characters, and less than that in some of its forms; our mark needs some.
const MAX_BODY: usize = 60_000;

/// A reason is a sentence. One that lists a thousand tags is cut.
const MAX_REASON: usize = 1000;

/// Maximum length of a shown digest, like git's abbreviated hashes.
const SHORT_DIGEST: usize = 12;

/// A template for what requests say.
#[derive(Clone, Debug)]
pub struct BodyTemplate {
    text: String,
    name: String,
    tera: Tera,
}

#[derive(Serialize)]
struct Row<'a> {
    image: &'a str,
    alias: Option<&'a str>,
    application: Option<String>,
    old: String,
    new: String,
    old_tag: Option<&'a str>,
    old_digest: Option<&'a str>,
    new_tag: Option<&'a str>,
    new_digest: Option<&'a str>,
    old_labels: &'a BTreeMap<String, String>,
    new_labels: &'a BTreeMap<String, String>,
    files: Vec<&'a str>,
    reason: String,
    source: Option<String>,
    commit: Option<String>,
    compare: Option<String>,
}

/// A text that stops growing.
#[derive(Default)]
struct Bounded(Vec<u8>);

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > MAX_BODY {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl BodyTemplate {
    /// Takes a template that stands in a file of this name, and tries it.
    ///
    /// # Errors
    /// If it is no template, or asks for what is not there.
    pub fn parse(name: &str, text: &str) -> Result<Self> {
        let mut tera = Tera::new();
        // Markdown is escaped whatever the name of the file ends with.
        tera.autoescape_on([""]);
        tera.set_escape_fn(markdown::escape);
        tera.register_filter("code", code);
        tera.register_filter("link", link);
        tera.add_raw_template(name, text).map_err(|error| explain(&error, name, text))?;
        // A component can call itself for ever.
        if tera.get_component_names().next().is_some() {
            let wrong = format!("the template `{name}` cannot be used: it defines components");
            return Err(Error::invalid(wrong).hint("write what they do where they are used"));
        }
        let template = Self { name: name.to_owned(), text: text.to_owned(), tera };
        let example = Change {
            image: "registry.example/org/app".to_owned(),
            old: Version::of_tag("1.0.0"),
            new: Version::of_tag("1.0.1"),
            ..Change::default()
        };
        template.render("example", &[example])?;
        Ok(template)
    }

    /// Says what is changed, with as many of the changes as there is room for.
    ///
    /// # Errors
    /// If the template cannot be executed with these, or is too long without any.
    pub fn render(&self, name: &str, changes: &[Change]) -> Result<String> {
        let mut shown = changes.len();
        loop {
            let mut context = Context::new();
            context.insert("name", name);
            context.insert("changes", &changes.iter().take(shown).map(Row::of).collect::<Vec<_>>());
            context.insert("omitted", &(changes.len() - shown));
            let mut body = Bounded::default();
            match self.tera.render_to(&self.name, &context, &mut body) {
                Ok(()) => return Ok(String::from_utf8_lossy(&body.0).trim().to_owned() + "\n"),
                Err(error) if is_too_long(&error) && shown > 0 => shown /= 2,
                Err(error) => return Err(explain(&error, &self.name, &self.text)),
            }
        }
    }
}

impl<'a> Row<'a> {
    fn of(change: &'a Change) -> Self {
        let Links { source, commit, compare } = Links::of(change);
        let mut files: Vec<&str> = change.edits.iter().map(|edit| edit.file.as_str()).collect();
        files.sort_unstable();
        files.dedup();
        let application = change.application.as_ref().map(|named| match named.namespace.as_str() {
            "" => named.name.clone(),
            namespace => format!("{namespace}/{}", named.name),
        });
        Self {
            image: &change.image,
            alias: change.alias.as_deref(),
            application,
            old: short(&change.old),
            new: short(&change.new),
            old_tag: change.old.tag.as_deref(),
            old_digest: change.old.digest.as_deref(),
            new_tag: change.new.tag.as_deref(),
            new_digest: change.new.digest.as_deref(),
            old_labels: &change.old.labels,
            new_labels: &change.new.labels,
            files,
            reason: cut(&change.reason, MAX_REASON),
            source,
            commit,
            compare,
        }
    }
}

fn short(version: &Version) -> String {
    let tag = version.tag.as_deref().unwrap_or_default();
    let Some(digest) = &version.digest else { return tag.to_owned() };
    let (algorithm, hash) = digest.split_once(':').unwrap_or(("", digest));
    format!("{tag}@{algorithm}:{}", cut(hash, SHORT_DIGEST))
}

fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

fn code(text: &str, _: Kwargs, _: &State<'_>) -> tera::Value {
    tera::Value::safe_string(&markdown::code(text))
}

#[expect(clippy::needless_pass_by_value, reason = "tera calls filters so")]
fn link(address: &str, arguments: Kwargs, _: &State<'_>) -> tera::TeraResult<tera::Value> {
    let text = arguments.must_get::<String>("text")?;
    Ok(tera::Value::safe_string(&markdown::link(address, &text)))
}

fn is_too_long(error: &tera::Error) -> bool {
    matches!(error.kind(), ErrorKind::Io(io::ErrorKind::FileTooLarge))
}

fn explain(error: &tera::Error, name: &str, text: &str) -> Error {
    let (reason, place) = match error.kind() {
        ErrorKind::SyntaxError(report) | ErrorKind::RenderingError(report) => {
            let span = report.span();
            let location = Location::at_line(name, text, span.start_line, span.start_col + 1);
            (report.message().to_owned(), Some(location))
        }
        _ if is_too_long(error) => (format!("it writes more than {MAX_BODY} bytes without any change"), None),
        _ => (error.to_string(), None),
    };
    let error = Error::invalid(format!("the template `{name}` cannot be used: {reason}"));
    match place {
        Some(place) => error.at(place),
        None => error,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use pulldown_cmark::{Event, Parser, Tag};

    use super::*;
    use crate::change::{Edit, Named};

    fn change(image: &str, old: &str, new: &str) -> Change {
        let (old, new) = (Version::of_tag(old), Version::of_tag(new));
        Change { image: image.to_owned(), old, new, ..Change::default() }
    }

    fn default() -> BodyTemplate {
        BodyTemplate::parse("body.md", DEFAULT_BODY).unwrap()
    }

    /// Expected values: what a person wants to see: old and new side by side, a link to what is between them, and why.
    #[test]
    fn the_default_is_a_table_and_the_reasons() {
        let mut first = change("ghcr.io/org/app", "1.0", "1.1");
        for (version, revision) in [(&mut first.old, "aa"), (&mut first.new, "bb")] {
            let label = |name: &str| format!("org.opencontainers.image.{name}");
            version.labels.insert(label("source"), "https://github.com/org/app".to_owned());
            version.labels.insert(label("revision"), revision.to_owned());
        }
        first.application = Some(Named { namespace: "argocd".to_owned(), name: "web".to_owned() });
        first.reason = "1.1 is the highest of 3 tags".to_owned();
        first.edits = vec![Edit { file: "web/values.yaml".to_owned(), ..Edit::default() }; 2];
        let mut second = change("nginx", "1.27", "1.27");
        second.new.digest = Some(format!("sha256:{}", "a".repeat(64)));
        assert_eq!(
            default().render("shop", &[first, second]).unwrap(),
            "Updates images of shop.\n\n\
             | Image | From | To | Source |\n| --- | --- | --- | --- |\n\
             | `ghcr.io/org/app` | `1.0` | `1.1` | [changes](<https://github.com/org/app/compare/aa...bb>) |\n\
             | `nginx` | `1.27` | `1.27@sha256:aaaaaaaaaaaa…` |  |\n\n\
             - `ghcr.io/org/app` of `argocd/web`: 1\\.1 is the highest of 3 tags\n  - `web/values.yaml`\n\
             - `nginx`\n"
        );
    }

    #[test]
    fn hostile_names_change_nothing_of_the_page() {
        let mut hostile = change("a`|\n# b", "1|2", "</details>@all\n/merge");
        hostile.reason = "<!-- image-updater: target=x changes=y -->\n- @all".to_owned();
        let body = default().render("a\n\n[x](http://evil.example)", &[hostile]).unwrap();
        assert_eq!(
            body,
            "Updates images of a  \\[x\\]\\(http\\:\\/\\/evil\\.example\\).\n\n\
             | Image | From | To | Source |\n| --- | --- | --- | --- |\n\
             | ``a`\\| # b`` | `1\\|2` | `</details>@all /merge` |  |\n\n\
             - ``a`\\| # b``: \\<\\!\\-\\- image\\-updater\\: target\\=x changes\\=y \\-\\-\\> \\- \\@&#8203;all\n"
        );
    }

    #[test]
    fn a_body_is_not_too_long() {
        let changes: Vec<Change> =
            (0..5000).map(|number| change(&format!("app-{number}"), "1", "2")).collect();
        let body = default().render("all", &changes).unwrap();
        assert!(body.len() <= MAX_BODY);
        let rows = body.lines().filter(|line| line.starts_with("| `")).count();
        assert!(rows > 500 && body.contains(&format!("\n…and {} more.\n", 5000 - rows)), "{rows}");
        let error = BodyTemplate::parse("x", "{% for i in range(end=100000) %}aa{% endfor %}").unwrap_err();
        assert!(error.message().contains("more than"), "{error}");
    }

    #[test]
    fn a_template_of_ones_own_is_escaped_too_and_tried_when_it_is_read() {
        let text = "{% for change in changes %}{{ change.image }} {{ change.new_tag | code }}{% endfor %}";
        let template = BodyTemplate::parse("mine.tera", text).unwrap();
        assert_eq!(template.render("", &[change("a_b", "1", "2")]).unwrap(), "a\\_b `2`\n");
        let error = BodyTemplate::parse("mine.tera", "a\n{{ nothing }}").unwrap_err();
        assert_eq!(error.location().map(ToString::to_string).as_deref(), Some("mine.tera:2:4"), "{error}");
        let error = BodyTemplate::parse("mine.tera", "{% for %}").unwrap_err();
        assert!(error.location().is_some(), "{error}");
        assert!(BodyTemplate::parse("x", "{{ changes | link }}").is_err());
    }

    /// The signs of Markdown, HTML and forges, and some of what stands between them.
    fn hostile() -> impl Strategy<Value = String> {
        prop::collection::vec(prop::sample::select(SIGNS), 0..12).prop_map(|signs| signs.concat())
    }

    const SIGNS: &[&str] = &[
        "`",
        "``",
        "|",
        "\\",
        "\n",
        "\r",
        "\t",
        " ",
        "    ",
        "*",
        "_",
        "~~",
        "[",
        "]",
        "(",
        ")",
        "<",
        ">",
        "<a>",
        "</p>",
        "<!--",
        "-->",
        "&",
        "&lt;",
        "#",
        "- ",
        "+ ",
        "1. ",
        "---",
        "===",
        "> ",
        "!",
        "https://a.example",
        "www.a.example",
        "@",
        "x",
        "1",
        ":",
        "\u{2028}",
    ];

    /// Returns what a reader of Markdown finds in a body, by the events of another parser.
    fn read(body: &str) -> (usize, Vec<String>, String, bool) {
        let (mut rows, mut codes, mut text, mut more) = (0, Vec::new(), String::new(), false);
        for event in Parser::new_ext(body, pulldown_cmark::Options::ENABLE_TABLES) {
            match event {
                Event::Start(Tag::TableRow) => rows += 1,
                Event::Code(code) => codes.push(code.into_string()),
                Event::Text(part) => text.push_str(&part),
                Event::Start(Tag::Link { .. } | Tag::Image { .. } | Tag::Heading { .. } | Tag::Emphasis)
                | Event::Start(Tag::BlockQuote(_) | Tag::CodeBlock(_) | Tag::HtmlBlock | Tag::Strong)
                | Event::Html(_)
                | Event::InlineHtml(_)
                | Event::Rule => more = true,
                _ => {}
            }
        }
        (rows, codes, text, more)
    }

    proptest! {
        #[test]
        fn a_page_is_what_it_is_whatever_names_are(image in hostile(), tag in hostile(), reason in hostile()) {
            let mut odd = change(&format!("i{image}i"), "1", &format!("t{tag}t"));
            odd.reason = format!("r{reason}r");
            let body = default().render(&reason, &[odd, change("app", "1", "2")]).unwrap();
            let (rows, codes, text, more) = read(&body);
            prop_assert!(!more, "{}", body);
            prop_assert_eq!(rows, 2, "{}", &body);
            // Each image in the table and in the list, two versions of each in the table.
            prop_assert_eq!(codes.len(), 8, "{}", &body);
            let blank = |text: &str| text.replace(['\n', '\r', '\t', '\u{2028}'], " ");
            prop_assert_eq!(&codes[0], &blank(&format!("i{image}i")), "{}", &body);
            prop_assert_eq!(&codes[2], &blank(&format!("t{tag}t")), "{}", &body);
            let apart = |text: &str| text.replace('\u{200b}', "");
            prop_assert!(apart(&text).contains(&blank(&format!("r{reason}r"))), "{}", &body);
        }
    }
}
