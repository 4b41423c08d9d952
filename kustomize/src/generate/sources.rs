//! Reads the data of a generated ConfigMap or Secret: literals, files, and environment files.
//!
//! Out: the values by key. It refuses a key that comes from two sources, and what it cannot read.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use diagnostic::{Error, Result};
use yamltree::Span;

use crate::context::Context;
use crate::decode::{Located, Object};
use crate::loader::{self, Loader};
use crate::warning::{Code, Warning};

/// Kustomize reads an environment file through a buffer of this size, and stops without a word at a longer line.
const KUSTOMIZE_LINE: usize = 64 << 10;

/// The sources of one generator.
#[derive(Debug)]
pub(super) struct PairSources {
    literals: Vec<Located>,
    files: Vec<Located>,
    envs: Vec<Located>,
    env: Option<Located>,
}

/// One value with the place that it came from.
#[derive(Debug)]
pub(super) struct Value {
    pub(super) bytes: Arc<[u8]>,
    pub(super) span: Span,
}

impl PairSources {
    pub(super) fn decode(object: &Object<'_>) -> Result<Self> {
        let env = object.string("env")?.map(|text| {
            let span = object.field("env").map_or(object.span(), |node| node.span);
            Located { text, span }
        });
        Ok(Self {
            literals: object.strings("literals")?,
            files: object.strings("files")?,
            envs: object.strings("envs")?,
            env: env.filter(|env| !env.text.is_empty()),
        })
    }

    /// In a kustomization `env` is an older spelling of `envs`.
    pub(super) fn use_deprecated_env(&mut self) {
        self.envs.extend(self.env.take());
    }

    /// In a plugin's configuration nobody reads `env`.
    pub(super) fn warn_about_deprecated_env(&self, cx: &Context<'_>) {
        if let Some(env) = &self.env {
            let message = "`env` is ignored in the configuration of a plugin";
            let warning = Warning::new(Code::OptionWithoutEffect, message).at(env.span);
            cx.push_warning(warning.hint("use `envs`"));
        }
    }

    /// Reads all values.
    pub(super) fn load(&self, loader: &Loader, cx: &Context<'_>) -> Result<BTreeMap<String, Value>> {
        let mut data = Data { values: BTreeMap::new(), cx };
        for env in &self.envs {
            data.add_env_file(env, loader)?;
        }
        for literal in &self.literals {
            let (key, value) = parse_literal(literal)?;
            data.add(key, value.as_bytes().into(), literal.span)?;
        }
        for file in &self.files {
            let (key, path) = parse_file_source(file)?;
            data.add(key, loader.read(&path, cx)?, file.span)?;
        }
        Ok(data.values)
    }
}

struct Data<'d, 'cx> {
    values: BTreeMap<String, Value>,
    cx: &'d Context<'cx>,
}

impl Data<'_, '_> {
    fn add(&mut self, key: &str, bytes: Arc<[u8]>, span: Span) -> Result<()> {
        if !is_kubernetes_key(key) {
            let message = format!("Kubernetes rejects the key `{key}`");
            let warning = Warning::new(Code::GeneratedKey, message).at(span);
            self.cx.push_warning(warning.hint("a key consists of letters, digits, `-`, `_` and `.`"));
        }
        match self.values.entry(key.to_owned()) {
            Entry::Vacant(slot) => {
                slot.insert(Value { bytes, span });
                Ok(())
            }
            Entry::Occupied(first) => Err(Error::invalid(format!("the key `{key}` comes from two sources"))
                .at(span)
                .via("the first one is here", first.get().span)),
        }
    }

    /// Takes the lines of an environment file, `NAME=value` each.
    fn add_env_file(&mut self, entry: &Located, loader: &Loader) -> Result<()> {
        let bytes = loader.read(entry, self.cx)?;
        let text =
            std::str::from_utf8(&bytes).map_err(|error| not_utf8(entry, &bytes[..error.valid_up_to()]))?;
        let name = if loader::is_remote_file(&entry.text) {
            entry.text.clone()
        } else {
            self.cx.world.files.display(&loader.locate(entry, self.cx)?)
        };
        let source = self.cx.sources.file(name, text.into()).source;
        let mut start = 0;
        for (number, line) in text.split_inclusive('\n').enumerate() {
            let content = line.strip_suffix('\n').unwrap_or(line);
            let line_start = start;
            start += line.len();
            let length = content.len();
            let content = content.strip_suffix('\r').unwrap_or(content);
            let content =
                if number == 0 { content.strip_prefix('\u{FEFF}').unwrap_or(content) } else { content };
            let trimmed = content.trim_start();
            if trimmed.is_empty() || trimmed.starts_with('#') {
                continue;
            }
            let at = |offset: usize| u32::try_from(offset).unwrap_or(u32::MAX);
            let end = line_start + line.trim_end().len();
            let span = Span { source, start: at(end - trimmed.trim_end().len()), end: at(end) };
            self.add_env_line(trimmed, length, span)?;
        }
        Ok(())
    }

    fn add_env_line(&mut self, line: &str, length: usize, span: Span) -> Result<()> {
        if length >= KUSTOMIZE_LINE {
            let message =
                "Kustomize drops this line, which is longer than 64 KiB, and all that follow; they were kept";
            self.cx.warn(Code::Ignored, message, span);
        }
        match line.split_once('=') {
            Some(("", _)) => {
                self.cx.warn(Code::Ignored, "the line lacks a name before its `=`; ignored", span);
                Ok(())
            }
            Some((name, value)) => self.add(name, value.as_bytes().into(), span),
            None => {
                let message = format!("`{line}` lacks `=` and becomes an empty value");
                let warning = Warning::new(Code::GeneratedKey, message).at(span);
                self.cx
                    .push_warning(warning.hint("it is not taken from the environment; write `NAME=value`"));
                self.add(line, Arc::default(), span)
            }
        }
    }
}

fn not_utf8(entry: &Located, valid: &[u8]) -> Error {
    let line = valid.iter().filter(|byte| **byte == b'\n').count() + 1;
    Error::invalid(format!("line {line} of `{}` is not UTF-8", entry.text)).at(entry.span)
}

/// Splits `key=value` at its first `=`, and takes a pair of quotes off the value.
fn parse_literal(literal: &Located) -> Result<(&str, &str)> {
    match literal.text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key, unquoted(value))),
        _ => Err(Error::invalid(format!("invalid literal `{}`: expected `key=value`", literal.text))
            .at(literal.span)),
    }
}

fn unquoted(value: &str) -> &str {
    let inner = |quote: char| value.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
    inner('"').or_else(|| inner('\'')).unwrap_or(value)
}

/// Splits `key=path`; without a key the file's name is the key.
fn parse_file_source(source: &Located) -> Result<(&str, Located)> {
    let text = source.text.as_str();
    let refuse =
        |sentence: String| Err(Error::invalid(sentence).at(source.span).hint("write `key=path` or `path`"));
    let (key, path) = match text.split_once('=') {
        None => (base_name(text), text),
        Some((_, path)) if path.contains('=') => {
            return refuse(format!("the key or the path of the file `{text}` contains a `=`"));
        }
        Some(("", _)) => return refuse(format!("the file `{text}` lacks a key before its `=`")),
        Some((_, "")) => return refuse(format!("the file `{text}` lacks a path after its `=`")),
        Some(pair) => pair,
    };
    Ok((key, Located { text: path.to_owned(), span: source.span }))
}

/// The last part of a path, as Go's `path.Base` finds it.
fn base_name(path: &str) -> &str {
    match path.trim_end_matches('/') {
        "" if path.is_empty() => ".",
        "" => "/",
        trimmed => trimmed.rsplit('/').next().unwrap_or(trimmed),
    }
}

/// Returns what the API server takes as a key of a ConfigMap or Secret.
fn is_kubernetes_key(key: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    !key.is_empty() && key.len() <= 253 && key.bytes().all(allowed) && key != "." && !key.starts_with("..")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{built, warned};

    fn located(text: &str) -> Located {
        Located { text: text.to_owned(), span: Span::NONE }
    }

    #[test]
    fn a_literal_loses_one_pair_of_quotes() {
        let value = |text: &str| parse_literal(&located(text)).unwrap().1.to_owned();
        assert_eq!(value("a=\"b c\""), "b c");
        assert_eq!(value("a='b'"), "b");
        assert_eq!(value("a='b\""), "'b\"");
        assert_eq!(value("a=\""), "\"");
        assert_eq!(value("a=\"\"b\"\""), "\"b\"");
        assert_eq!(value("a=b=c"), "b=c");
        assert_eq!(value("a="), "");
    }

    #[test]
    fn a_literal_needs_a_key() {
        assert!(parse_literal(&located("=b")).is_err());
        assert!(parse_literal(&located("b")).is_err());
    }

    #[test]
    fn a_file_has_its_name_as_its_key() {
        let pair = |text: &str| {
            let source = located(text);
            let (key, path) = parse_file_source(&source).unwrap();
            (key.to_owned(), path.text)
        };
        assert_eq!(pair("./conf/app.ini"), ("app.ini".to_owned(), "./conf/app.ini".to_owned()));
        assert_eq!(pair("a.ini=conf/b.ini"), ("a.ini".to_owned(), "conf/b.ini".to_owned()));
        for wrong in ["a==b", "=b", "a=", "="] {
            assert!(parse_file_source(&located(wrong)).is_err(), "{wrong}");
        }
    }

    const ENVS: &str = "configMapGenerator: [{name: a, envs: [a.env]}]\n";

    /// Kustomize 5.8.1 gives a bare name an empty value and does not look into the environment.
    #[test]
    fn an_environment_file_is_read_by_lines() {
        let env = "\u{FEFF}FOO\r\nexport G=1\n =x\n\tA=b=c\n#no\n\nX= \"q\" \n\u{FEFF}Y=1";
        let files = [("kustomization.yaml", ENVS), ("a.env", env)];
        let data =
            "data:\n  \"\\uFEFF\\x59\": \"1\"\n  A: b=c\n  FOO: \"\"\n  X: ' \"q\" '\n  export G: \"1\"\n";
        let text = built(&files);
        assert!(text.contains(data), "{text}");
        let warnings = warned(&files);
        let wanted = [
            "KUST-W018 a.env:1:1 `FOO` lacks `=` and becomes an empty value",
            "KUST-W018 a.env:2:1 Kubernetes rejects the key `export G`",
            "KUST-W017 a.env:3:2 the line lacks a name before its `=`; ignored",
            "KUST-W018 a.env:8:1 Kubernetes rejects the key `\u{FEFF}Y`",
        ];
        assert_eq!(warnings, wanted);
    }

    /// Kustomize's scanner has a buffer of 64 KiB and its error is never looked at.
    #[test]
    fn a_long_line_does_not_end_an_environment_file() {
        for (length, warns) in [(KUSTOMIZE_LINE - 1, false), (KUSTOMIZE_LINE, true)] {
            let env = format!("A={}\nB=1\n", "x".repeat(length - 2));
            let files = [("kustomization.yaml", ENVS), ("a.env", env.as_str())];
            assert!(built(&files).contains("\n  B: \"1\"\n"));
            assert_eq!(warned(&files).len(), usize::from(warns));
        }
    }

    #[test]
    fn kubernetes_takes_few_keys() {
        assert!(["a", "A_b-c.d", ".a", "1"].into_iter().all(is_kubernetes_key));
        assert!(!["", ".", "..", "..a", "export A", "a/b", "ä"].into_iter().any(is_kubernetes_key));
    }
}
