//! The two template languages of ApplicationSets: Go's, and that of fasttemplate.
//!
//! In: a text and parameters. Out: the text that it makes of them. Refused, with the line in the text: what is no
//! template, and what cannot be executed.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt::Write as _;
use std::rc::Rc;

use gotemplate::{Error, MissingKey, Options, TemplateSet, Value};

use super::functions::functions;
use super::params::Params;

/// The name of a template that Go's messages mention.
const NAME: &str = "base";

/// Templates are parsed once for all sets of parameters; so many are kept.
const MOST_PARSED: usize = 4096;

/// A template language, with what it keeps between templates.
pub(crate) enum Language<'w> {
    Go(Box<GoTemplates<'w>>),
    Flat,
}

pub(crate) struct GoTemplates<'w> {
    functions: gotemplate::Functions,
    options: Options<'w>,
    parsed: RefCell<HashMap<String, Rc<TemplateSet>>>,
}

/// Why a template makes no text.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    pub(crate) message: String,
    /// The line of the text, from 1.
    pub(crate) line: usize,
    /// True if a parameter is missing, in Argo CD's eyes.
    pub(crate) is_missing: bool,
}

impl<'w> Language<'w> {
    /// Go's language, with the options of `goTemplateOptions`.
    ///
    /// # Errors
    /// With the number of the option that there is not.
    pub(crate) fn go(options: Options<'w>, given: &[&str]) -> Result<Self, usize> {
        let mut options = Options { missing_key: MissingKey::Default, ..options };
        for (at, option) in given.iter().enumerate() {
            options.missing_key = match *option {
                "missingkey=default" | "missingkey=invalid" => MissingKey::Default,
                "missingkey=zero" => MissingKey::Zero,
                "missingkey=error" => MissingKey::Error,
                _ => return Err(at),
            };
        }
        Ok(Self::Go(Box::new(GoTemplates { functions: functions(), options, parsed: RefCell::default() })))
    }

    /// Returns true if this is Go's language.
    pub(crate) fn is_go(&self) -> bool {
        matches!(self, Self::Go(_))
    }

    /// Returns what a template makes of parameters.
    pub(crate) fn render(&self, text: &str, params: &Params) -> Result<String, Fault> {
        match self {
            Self::Go(go) => go.render(text, params, go.options.missing_key),
            Self::Flat => flat(text, params),
        }
    }

    /// The same, where a parameter that is missing is always a fault.
    pub(crate) fn render_strictly(&self, text: &str, params: &Params) -> Result<String, Fault> {
        match self {
            Self::Go(go) => go.render(text, params, MissingKey::Error),
            Self::Flat => flat(text, params),
        }
    }
}

impl GoTemplates<'_> {
    fn render(&self, text: &str, params: &Params, missing_key: MissingKey) -> Result<String, Fault> {
        if !text.contains("{{") {
            return Ok(text.to_owned());
        }
        let template = self.parsed(text).map_err(|error| Fault::of(&error))?;
        let options = Options { missing_key, ..self.options };
        let out = template
            .execute(NAME, Value::Map(params.map().clone()), &options)
            .map_err(|error| Fault::of(&error))?;
        Ok(String::from_utf8_lossy(&out).into_owned())
    }

    fn parsed(&self, text: &str) -> Result<Rc<TemplateSet>, Error> {
        if let Some(template) = self.parsed.borrow().get(text) {
            return Ok(Rc::clone(template));
        }
        let mut template = TemplateSet::new(NAME, self.functions.clone());
        template.parse(NAME, text.as_bytes())?;
        let template = Rc::new(template);
        let mut parsed = self.parsed.borrow_mut();
        if parsed.len() == MOST_PARSED {
            parsed.clear();
        }
        parsed.insert(text.to_owned(), Rc::clone(&template));
        Ok(template)
    }
}

impl Fault {
    fn of(error: &Error) -> Self {
        let inner = error.innermost();
        let mut message = inner.reason().to_owned();
        if let Some(cause) = inner.function_error() {
            let _ = write!(message, ": {cause}");
        }
        if let Some(executing) = inner.place().and_then(|place| place.executing.as_ref()) {
            message = format!("`{}`: {message}", executing.context);
        }
        let whole = error.to_string();
        Self {
            message,
            line: error.place().map_or(1, |place| place.line as usize),
            // Argo CD decides by these words too, wherever in the message they are (utils.go `isMissingKeyError`).
            is_missing: whole.contains("map has no entry for key") || whole.contains("can't evaluate field"),
        }
    }
}

/// The language of fasttemplate: `{{key}}` is the text of the parameter of that name, and stays where there is no such
/// text (utils.go `Replace`).
fn flat(text: &str, params: &Params) -> Result<String, Fault> {
    if !has_tag_in_line(text) {
        return Ok(text.to_owned());
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("{{") {
        out.push_str(&rest[..start]);
        let inside = &rest[start + 2..];
        let Some(end) = inside.find("}}") else {
            let line = text[..text.len() - inside.len()].matches('\n').count() + 1;
            let message = "`{{` is without its `}}`".to_owned();
            return Err(Fault { message, line, is_missing: false });
        };
        let tag = &inside[..end];
        match params.text(tag.trim()) {
            Some(value) if !tag.trim().is_empty() => out.push_str(&value),
            _ => {
                let _ = write!(out, "{{{{{tag}}}}}");
            }
        }
        rest = &inside[end + 2..];
    }
    out.push_str(rest);
    Ok(out)
}

/// Returns true if a line has a whole tag: only then is a text a template, whose tags may then cross lines.
fn has_tag_in_line(text: &str) -> bool {
    text.lines().any(|line| line.find("{{").is_some_and(|start| line[start + 2..].contains("}}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn params() -> Params {
        let params = Params::default();
        params.insert("a", "x".into());
        params.insert("n", Value::Float(2_000_000.0));
        params
    }

    #[test]
    fn a_flat_tag_is_a_key() {
        for (text, want) in [
            ("{{a}}-{{ a }}", "x-x"),
            ("{{n}} {{b }} {{}} {{ . }}", "{{n}} {{b }} {{}} {{ . }}"),
            ("{{a", "{{a"),
            ("{{\na}} {{\nb}}", "{{\na}} {{\nb}}"),
            ("{{a}} {{\na}}", "x x"),
            ("{{x {{a}}", "{{x {{a}}"),
        ] {
            assert_eq!(flat(text, &params()).unwrap(), want);
        }
        let fault = flat("{{a}}\n {{b", &params()).unwrap_err();
        assert_eq!(fault.line, 2);
    }

    fn go(text: &str, options: &[&str]) -> Result<String, Fault> {
        Language::go(Options::default(), options).unwrap().render(text, &params())
    }

    #[test]
    fn go_templates_have_sprig_without_the_world() {
        for (text, want) in [
            ("{{.a}} {{.n}} {{.none}}", "x 2e+06 <no value>"),
            ("{{ toYaml (dict \"b\" 1.0) }}", "b: 1"),
            (
                "{{ (fromYaml \"b: [1]\").b }} {{ fromYaml \"\" }} {{ len (fromYamlArray \"[1, 2]\") }}",
                "[1] map[] 2",
            ),
            (
                "{{ normalize \"A_b.\" }} {{ slugify 6 \"ab cd ef\" }} {{ slugify 7 false \"ab cd ef\" }}",
                "a-b ab-cd ab-cd-e",
            ),
            ("{{ slugify }}|{{ slugify 3 false \"abcd\" }}", "|abc"),
        ] {
            assert_eq!(go(text, &[]).unwrap(), want, "{text}");
        }
        for (text, want) in [
            ("{{ env \"HOME\" }}", "function \"env\" not defined"),
            ("{{ expandenv \"a\" }}", "function \"expandenv\" not defined"),
            ("{{ getHostByName \"a\" }}", "function \"getHostByName\" not defined"),
            ("{{ fromYaml \"[1]\" }}", "cannot unmarshal array"),
            ("{{ fromYamlArray \"a: b: c\" }}", "error converting YAML to JSON"),
            ("{{ slugify 3.5 \"a\" }}", "interface {} is float64, not int"),
            ("{{ slugify 3 1 \"a\" }}", "interface {} is int, not bool"),
            ("{{ slugify 1 }}", "interface {} is int, not string"),
        ] {
            let fault = go(text, &[]).unwrap_err();
            assert!(fault.message.contains(want), "{text}: {}", fault.message);
        }
    }

    #[test]
    fn options_say_what_a_missing_key_is() {
        let fault = go("a\n{{.none}}", &["missingkey=error"]).unwrap_err();
        assert_eq!((fault.line, fault.is_missing), (2, true));
        assert!(fault.message.contains("map has no entry for key"), "{}", fault.message);
        assert_eq!(go("{{.none}}", &["missingkey=error", "missingkey=zero"]).unwrap(), "<no value>");
        assert_eq!(Language::go(Options::default(), &["missingkey=error", "x"]).err(), Some(1));
    }
}
