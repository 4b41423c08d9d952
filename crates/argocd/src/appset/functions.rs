//! The functions that Go templates of an ApplicationSet know beside Sprig's (applicationset/utils/utils.go `init`).

use gotemplate::funcs::SPRIG;
use gotemplate::{CallError, Context, Function, Functions, List, Map, Str, Type, Value};
use helm_lite::yaml;

use super::slug;

const FUNCS: &[Function] = &[
    Function::new("fromYaml", &[Type::String], from_yaml),
    Function::new("fromYamlArray", &[Type::String], from_yaml_array),
    Function::new("normalize", &[Type::String], normalize),
    Function::variadic("slugify", &[Type::Any], slugify),
    Function::new("toYaml", &[Type::Any], to_yaml),
];

/// Taken out of Sprig, beside those that read the environment, which are not there anyway.
const ABSENT: &str = "getHostByName";

/// All functions of Go templates.
pub(crate) fn functions() -> Functions {
    let mut tables: Vec<&'static [Function]> = Vec::new();
    for table in SPRIG {
        match table {
            [only] if only.name() == ABSENT => {}
            table => tables.push(table),
        }
    }
    tables.push(FUNCS);
    Functions::new(&tables)
}

fn text(value: &Value) -> String {
    value.as_str().map(|text| text.to_text().into_owned()).unwrap_or_default()
}

fn normalize(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    Ok(slug::normalize(&text(&args[0])).into())
}

/// `slugify [LENGTH [BY_WORD]] NAME`. What Go panics on is an error of the template.
fn slugify(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let unfit = |value: &Value, wanted: &str| {
        CallError::new(format!(
            "interface conversion: interface {{}} is {}, not {wanted}",
            value.type_name().replace("<nil>", "nil")
        ))
    };
    let Some((name, options)) = args.split_last() else { return Ok("".into()) };
    let name = name.as_str().ok_or_else(|| unfit(name, "string"))?.to_text().into_owned();
    let length = match options.first() {
        None => slug::BRANCH_SLUG,
        Some(Value::Int(gotemplate::IntKind::Int, length)) => *length,
        Some(other) => return Err(unfit(other, "int")),
    };
    let by_word = match options.get(1) {
        None => true,
        Some(given) => given.as_bool().ok_or_else(|| unfit(given, "bool"))?,
    };
    Ok(slug::slug(&slug::normalize(&name), length, by_word)?.into())
}

fn to_yaml(context: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    Ok(yaml::to_yaml(&args[0], context.options().limits.output)?.into())
}

fn from_yaml(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    match read(&args[0])? {
        value @ Value::Map(_) => Ok(value),
        Value::Nil => Ok(Map::nil(Type::MAP).into()),
        other => Err(unreadable(&other, "map[string]interface {}")),
    }
}

fn from_yaml_array(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    match read(&args[0])? {
        value @ Value::List(_) => Ok(value),
        Value::Nil => Ok(List::nil(Type::LIST).into()),
        other => Err(unreadable(&other, "[]interface {}")),
    }
}

fn read(value: &Value) -> Result<Value, CallError> {
    Ok(yaml::read(value.as_str().map(Str::as_bytes).unwrap_or_default())?)
}

/// Helm's functions of these names give such an error as their value; here it ends the template.
fn unreadable(value: &Value, wanted: &str) -> CallError {
    let found = match value {
        Value::Map(_) => "object",
        Value::List(_) => "array",
        Value::Str(_) => "string",
        Value::Bool(_) => "bool",
        _ => "number",
    };
    CallError::new(format!(
        "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal {found} into Go value of type {wanted}"
    ))
}
