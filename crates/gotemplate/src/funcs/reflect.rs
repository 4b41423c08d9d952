//! The types and kinds of values, and whether values are equal.

use super::args::text;
use crate::Context;
use crate::error::CallError;
use crate::function::Function;
use crate::value::{Type, Value};

pub(super) const FUNCS: &[Function] = &[
    Function::new("deepEqual", &[Type::Any, Type::Any], deep_equal),
    Function::new("kindIs", &[Type::String, Type::Any], kind_is),
    Function::new("kindOf", &[Type::Any], kind_of),
    Function::new("typeIs", &[Type::String, Type::Any], type_is),
    Function::new("typeIsLike", &[Type::String, Type::Any], type_is_like),
    Function::new("typeOf", &[Type::Any], type_of),
];

fn deep_equal(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    Ok(args[0].deep_equal(&args[1]).into())
}

fn kind_is(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    Ok((text(args, 0) == args[1].kind().to_string().as_bytes()).into())
}

fn kind_of(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    Ok(args[0].kind().to_string().into())
}

fn type_is(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    Ok((text(args, 0) == args[1].type_name().as_bytes()).into())
}

/// The type, or a pointer to it.
fn type_is_like(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let name = args[1].type_name();
    let pointed_to = name.strip_prefix('*').unwrap_or(&name);
    Ok((text(args, 0) == name.as_bytes() || text(args, 0) == pointed_to.as_bytes()).into())
}

fn type_of(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    Ok(args[0].type_name().into())
}

#[cfg(test)]
mod tests {
    use crate::funcs::testing::check;

    // What Helm 4.3.1 makes of these.
    const CASES: &[(&str, &str)] = &[
        (
            r#"{{ typeOf nil }}|{{ typeOf 1 }}|{{ typeOf 1.0 }}|{{ typeOf (list) }}|{{ typeOf (dict) }}|{{ typeOf (semver "1.0.0") }}|{{ typeOf (now) }}|{{ typeOf (int64 1) }}"#,
            "<nil>|int|float64|[]interface {}|map[string]interface {}|*semver.Version|time.Time|int64",
        ),
        (
            r#"{{ kindOf nil }}|{{ kindOf (semver "1.0.0") }}|{{ kindOf (now) }}|{{ kindOf (list) }}|{{ kindIs "map" (dict) }}|{{ kindIs "invalid" nil }}"#,
            "invalid|ptr|struct|slice|true|true",
        ),
        (
            r#"{{ typeIs "string" "a" }}|{{ typeIsLike "semver.Version" (semver "1.0.0") }}|{{ typeIsLike "*semver.Version" (semver "1.0.0") }}|{{ typeIs "semver.Version" (semver "1.0.0") }}"#,
            "true|true|true|false",
        ),
        (
            r#"{{ deepEqual (list 1 2) (list 1 2) }}|{{ deepEqual 1 1.0 }}|{{ deepEqual (dict "a" nil) (dict "a" nil) }}|{{ deepEqual (splitList "," "a") (list "a") }}|{{ deepEqual nil nil }}"#,
            "true|false|true|false|true",
        ),
    ];

    #[test]
    fn answers_are_those_of_helm() {
        check(CASES);
    }
}
