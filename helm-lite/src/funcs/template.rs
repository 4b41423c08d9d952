//! Templates that call templates, and how they give up.

use gostd::quoted;
use gotemplate::{CallError, Context, Function, Str, Type, Value};

use super::Host;

pub(super) const FUNCS: &[Function] = &[
    Function::new("fail", &[Type::String], fail),
    Function::new("include", &[Type::String, Type::Any], include),
    Function::new("lookup", &[Type::String, Type::String, Type::String, Type::String], lookup),
    Function::new("required", &[Type::String, Type::Any], required),
    Function::new("tpl", &[Type::String, Type::Any], tpl),
];

/// The mark of errors that a chart's author wrote.
pub(crate) const FAILURE: &str = "failure";

/// Maximum number of times a template can be in the course of being included, beside the first time.
const MOST_INCLUDED: u32 = 1000;

/// The name under which `tpl` parses.
const TPL_NAME: &str = "gotpl";

/// The text that Go prints for a missing value. Helm removes it from every rendered text.
pub(crate) const NO_VALUE: &[u8] = b"<no value>";

fn text(args: &[Value], index: usize) -> Str {
    args.get(index).and_then(Value::as_str).cloned().unwrap_or_default()
}

fn include(context: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let name = text(args, 0);
    let data = args.get(1).cloned().unwrap_or_default();
    let Some(host) = context.host::<Host>() else { return Err("no templates".into()) };
    let depth = host.included.borrow().get(&name).copied().unwrap_or(0);
    if depth > MOST_INCLUDED {
        let name = name.to_text();
        let reason =
            format!("rendering template has a nested reference name: {name}: unable to execute template");
        return Err(CallError::limit(reason));
    }
    host.included.borrow_mut().insert(name.clone(), depth + 1);
    let rendered = context.render(&name, data);
    host.included.borrow_mut().insert(name, depth);
    rendered.map(Value::from).map_err(|error| CallError::template("", error))
}

fn tpl(context: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let source = text(args, 0);
    let data = args.get(1).cloned().unwrap_or_default();
    let rendered = context.render_text(TPL_NAME, &source, data).map_err(|error| {
        let source = quoted(&source);
        let prefix = if error.kind() == gotemplate::ErrorKind::Parse && error.function_error().is_none() {
            format!("cannot parse template {source}: ")
        } else {
            format!("error during tpl function execution for {source}: ")
        };
        CallError::template(prefix, error)
    })?;
    Ok(without_no_value(rendered).into())
}

/// Returns where Go's words for the lack of a value stood, in the text without them.
pub(crate) fn no_values(text: &[u8]) -> Vec<usize> {
    let found = memchr::memmem::find_iter(text, NO_VALUE).enumerate();
    found.map(|(before, at)| at - before * NO_VALUE.len()).collect()
}

/// A rendered text without Go's words for the lack of a value.
pub(crate) fn without_no_value(text: Vec<u8>) -> Vec<u8> {
    let finder = memchr::memmem::Finder::new(NO_VALUE);
    if finder.find(&text).is_none() {
        return text;
    }
    let mut kept = Vec::with_capacity(text.len());
    let mut from = 0;
    for at in finder.find_iter(&text) {
        kept.extend_from_slice(&text[from..at]);
        from = at + NO_VALUE.len();
    }
    kept.extend_from_slice(&text[from..]);
    kept
}

fn fail(context: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    give_up(context, args)
}

fn required(context: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    match args.get(1) {
        None | Some(Value::Nil) => give_up(context, args),
        Some(Value::Str(text)) if text.is_empty() => give_up(context, args),
        Some(value) => Ok(value.clone()),
    }
}

/// An error in the words of the first argument, or an empty text for a linter.
fn give_up(context: &Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    if context.host::<Host>().is_some_and(|host| host.lint) {
        return Ok("".into());
    }
    Err(CallError::new(text(args, 0).to_text()).marked(FAILURE))
}

/// Returns where there is no cluster, nothing is found.
fn lookup(context: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    if let Some(cluster) = context.host::<Host>().and_then(|host| host.cluster.as_ref()) {
        let argument = |number| text(args, number).to_text().into_owned();
        return Ok(cluster.lookup(&argument(0), &argument(1), &argument(2), &argument(3)));
    }
    context.mark_unstable();
    Ok(Value::map::<&str>([]))
}
