//! The language against the answers of Helm 4.3.1, which is Go 1.27's text/template with Sprig.
//!
//! A file of `language/` holds cases: `>` and `+` are the lines of a template, `=` those of its
//! output, `!` its error as Go prints it. Of parse errors (`?`) Helm shows the line, and the reason
//! from its last colon on. All see the same data and `helpers.tpl`.

use gotemplate::funcs::SPRIG;
use gotemplate::{
    CallError, Context, Error, ErrorKind, Function, Functions, Options, TemplateSet, Type, Value,
};

/// Functions that a chart adds to the language.
const HOST: &[Function] = &[
    Function::new("include", &[Type::String, Type::Any], include),
    Function::new("tpl", &[Type::String, Type::Any], tpl),
];

fn include(context: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let name = args[0].as_str().cloned().unwrap_or_default();
    let written = context.render(&name, args[1].clone());
    written.map(Value::from).map_err(|error| CallError::template("", error))
}

fn tpl(context: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let text = args[0].as_str().cloned().unwrap_or_default();
    context.render_text("gotpl", &text, args[1].clone()).map(Value::from).map_err(|error| {
        let parsing = error.kind() == ErrorKind::Parse && error.function_error().is_none();
        let what = if parsing { "cannot parse template" } else { "error during tpl function execution for" };
        CallError::template(format!("{what} {}: ", gostd::quoted(&text)), error)
    })
}

fn data() -> Value {
    let user = |name: &str, age: Option<f64>| {
        let age = age.map(|age| ("age", age.into()));
        Value::map([("name", name.into())].into_iter().chain(age))
    };
    Value::map([
        ("s", "hello".into()),
        ("n", 5.0.into()),
        ("z", 0.0.into()),
        ("f", 1.5.into()),
        ("big", 12_345_678.0.into()),
        ("t", true.into()),
        ("e", "".into()),
        ("list", Value::list(vec!["a".into(), "b".into(), "c".into()])),
        ("nums", Value::list(vec![3.0.into(), 1.0.into(), 2.0.into()])),
        ("map", Value::map([("b", 1.0.into()), ("a", Value::map([("x", "y".into())]))])),
        ("users", Value::list(vec![user("bob", Some(30.0)), user("al", None)])),
        ("el", Value::list(vec![])),
        ("em", Value::map::<&str>([])),
    ])
}

fn render(template: &str) -> Result<Vec<u8>, Error> {
    let functions = Functions::new(&[SPRIG, &[HOST]].concat());
    let mut set = TemplateSet::new("gotpl", functions);
    set.parse("_help.tpl", include_bytes!("language/helpers.tpl"))?;
    set.parse("_case.tpl", format!("{{{{ define \"case\" }}}}{template}{{{{ end }}}}").as_bytes())?;
    set.execute("case", data(), &Options::default())
}

/// Returns why the answer of a case is wrong, if it is.
fn judge(template: &str, wanted: &[(char, &str)]) -> Option<String> {
    let kind = wanted.first().map_or(' ', |(kind, _)| *kind);
    let wanted = wanted.iter().map(|(_, line)| *line).collect::<Vec<_>>().join("\n");
    let (good, got) = match render(template) {
        Ok(text) => {
            let text = String::from_utf8_lossy(&text).into_owned();
            (kind == '=' && text == wanted, text)
        }
        Err(error) => {
            let good = match kind {
                '!' => error.to_string() == wanted,
                '?' => is_parse_error(&error, &wanted),
                _ => false,
            };
            (good, error.to_string())
        }
    };
    (!good).then(|| format!("{template}\n  wanted {kind} {wanted}\n  got      {got}"))
}

fn is_parse_error(error: &Error, wanted: &str) -> bool {
    let Some((place, reason)) = wanted.split_once(": ") else { return false };
    let at = error.place().map(|place| format!("{}:{}", place.file, place.line));
    at.as_deref() == Some(place) && error.to_string().ends_with(reason)
}

fn check(cases: &str) {
    let mut failures = Vec::new();
    let mut template = String::new();
    let mut wanted = Vec::new();
    let mut count = 0;
    for line in cases.lines().chain(["> "]) {
        let (mark, text) = (line.chars().next().unwrap_or(' '), line.get(2..).unwrap_or_default());
        match mark {
            '>' => {
                if !template.is_empty() {
                    count += 1;
                    failures.extend(judge(&template, &wanted));
                }
                text.clone_into(&mut template);
                wanted.clear();
            }
            '+' => {
                template.push('\n');
                template.push_str(text);
            }
            '=' | '!' | '?' => wanted.push((mark, text)),
            _ => {}
        }
    }
    assert!(count > 0, "no cases");
    assert!(failures.is_empty(), "{} of {count} cases:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn values() {
    check(include_str!("language/values.txt"));
}

#[test]
fn control() {
    check(include_str!("language/control.txt"));
}

#[test]
fn literals() {
    check(include_str!("language/literals.txt"));
}

#[test]
fn comparisons() {
    check(include_str!("language/compare.txt"));
}

#[test]
fn formats() {
    check(include_str!("language/printf.txt"));
}

#[test]
fn escapes() {
    check(include_str!("language/escape.txt"));
}

#[test]
fn templates() {
    check(include_str!("language/templates.txt"));
}

#[test]
fn errors() {
    check(include_str!("language/errors.txt"));
}

#[test]
fn an_error_names_the_value_that_is_nil() {
    let missing = |template| {
        let error = render(template).expect_err("a field of nil");
        error.innermost().missing_value().map(str::to_owned)
    };
    assert_eq!(missing("{{ .map.nope.x.y }}").as_deref(), Some(".map.nope"));
    assert_eq!(missing("{{ $x := .map }}{{ $x.nope.x }}").as_deref(), Some("$x.nope"));
    assert_eq!(missing("{{ print (.map).nope.x }}").as_deref(), Some("(.map).nope"));
    assert_eq!(missing("{{ include \"inner\" . }}").as_deref(), Some(".nope"));
    assert_eq!(missing("{{ .n.x }}"), None);
}
