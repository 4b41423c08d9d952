//! Defaults for empty values: nil, zero, false, and empty strings, lists and maps. Structs are never empty.

use crate::Context;
use crate::error::CallError;
use crate::function::Function;
use crate::value::{Type, Value};

pub(super) const FUNCS: &[Function] = &[
    Function::variadic("all", &[Type::Any], all),
    Function::variadic("any", &[Type::Any], any),
    Function::variadic("coalesce", &[Type::Any], coalesce),
    Function::variadic("default", &[Type::Any, Type::Any], default),
    Function::new("empty", &[Type::Any], empty),
    Function::new("ternary", &[Type::Any, Type::Any, Type::Bool], ternary),
];

fn default(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let given = args.get(1).filter(|given| given.is_true());
    Ok(given.unwrap_or(&args[0]).clone())
}

fn empty(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    Ok((!args[0].is_true()).into())
}

fn coalesce(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    Ok(args.iter().find(|value| value.is_true()).cloned().unwrap_or_default())
}

fn all(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    Ok(args.iter().all(Value::is_true).into())
}

fn any(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    Ok(args.iter().any(Value::is_true).into())
}

fn ternary(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    Ok(args[usize::from(args[2].as_bool() == Some(false))].clone())
}

#[cfg(test)]
mod tests {
    use crate::funcs::testing::check;

    // What Helm 4.3.1 makes of these.
    const CASES: &[(&str, &str)] = &[
        (
            r#"{{ default "d" "" }}|{{ default "d" 0 }}|{{ default "d" "0" }}|{{ default "d" (list nil) }}|{{ default "d" }}|{{ default "d" false }}|{{ default "d" (dict) }}|{{ default 1 0.0 }}"#,
            "d|d|0|[<nil>]|d|d|d|1",
        ),
        (
            r#"{{ empty nil }}|{{ empty " " }}|{{ empty 0i }}|{{ empty (list) }}|{{ empty (now) }}|{{ coalesce 0 "" nil "a" "b" }}|{{ coalesce | toJson }}"#,
            "true|false|true|true|false|a|null",
        ),
        (
            r#"{{ all }}|{{ all 1 0 }}|{{ any }}|{{ any 0 1 }}|{{ ternary "t" "f" true }}|{{ ternary "t" "f" false }}"#,
            "true|false|false|true|t|f",
        ),
    ];

    #[test]
    fn answers_are_those_of_helm() {
        check(CASES);
    }
}
