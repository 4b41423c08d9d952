//! The functions that Go's text/template has itself.

mod compare;
mod escape;
mod index;

use crate::context::Context;
use crate::error::CallError;
use crate::fmt;
use crate::function::{Form, Function};
use crate::value::{Type, Value};

pub(crate) const FUNCS: &[Function] = &[
    Function::variadic("and", &[Type::Reflect, Type::Reflect], evaluated).of_form(Form::And),
    Function::variadic("call", &[Type::Reflect, Type::Reflect], evaluated).of_form(Form::Call),
    Function::variadic("eq", &[Type::Reflect, Type::Reflect], compare::eq),
    Function::new("ge", &[Type::Reflect, Type::Reflect], compare::ge),
    Function::new("gt", &[Type::Reflect, Type::Reflect], compare::gt),
    Function::variadic("html", &[Type::Any], escape::html),
    Function::variadic("index", &[Type::Reflect, Type::Reflect], index::index),
    Function::variadic("js", &[Type::Any], escape::js),
    Function::new("le", &[Type::Reflect, Type::Reflect], compare::le),
    Function::new("len", &[Type::Reflect], index::len).of_form(Form::Length),
    Function::new("lt", &[Type::Reflect, Type::Reflect], compare::lt),
    Function::new("ne", &[Type::Reflect, Type::Reflect], compare::ne),
    Function::new("not", &[Type::Reflect], not),
    Function::variadic("or", &[Type::Reflect, Type::Reflect], evaluated).of_form(Form::Or),
    Function::variadic("print", &[Type::Any], print),
    Function::variadic("printf", &[Type::String, Type::Any], printf),
    Function::variadic("println", &[Type::Any], println),
    Function::variadic("slice", &[Type::Reflect, Type::Reflect], index::slice),
    Function::variadic("urlquery", &[Type::Any], escape::urlquery),
];

/// The last argument: what is left of functions that the executor evaluates itself.
fn evaluated(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    Ok(args.last().cloned().unwrap_or_default())
}

fn not(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    Ok((!args[0].is_true()).into())
}

fn print(context: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    Ok(fmt::sprint(args, context.options().limits.output)?.into())
}

fn println(context: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    Ok(fmt::sprintln(args, context.options().limits.output)?.into())
}

fn printf(context: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let Some((Value::Str(format), args)) = args.split_first() else { return Ok(Value::Nil) };
    Ok(fmt::sprintf(format, args, context.options().limits.output)?.into())
}
