//! Functions over maps. A map is passed on by reference: `set`, `unset` and the merging functions
//! write to the one that they are given.

use super::args::text;
use super::convert::to_text;
use super::copy::deep_copy;
use super::merge::{Overwrite, merge_maps};
use crate::Context;
use crate::error::CallError;
use crate::function::Function;
use crate::value::{Entries, List, Map, Str, Type, Value};

pub(super) const FUNCS: &[Function] = &[
    Function::new("deepCopy", &[Type::Any], copy),
    Function::variadic("dict", &[Type::Any], dict),
    Function::variadic("dig", &[Type::Any], dig),
    Function::new("get", &[Type::MAP, Type::String], get),
    Function::new("hasKey", &[Type::MAP, Type::String], has_key),
    Function::variadic("keys", &[Type::MAP], keys),
    Function::variadic("merge", &[Type::MAP, Type::MAP], merge),
    Function::variadic("mergeOverwrite", &[Type::MAP, Type::MAP], merge_overwrite),
    Function::new("mustDeepCopy", &[Type::Any], copy),
    Function::variadic("mustMerge", &[Type::MAP, Type::MAP], merge),
    Function::variadic("mustMergeOverwrite", &[Type::MAP, Type::MAP], merge_overwrite),
    Function::variadic("omit", &[Type::MAP, Type::String], omit),
    Function::variadic("pick", &[Type::MAP, Type::String], pick),
    Function::variadic("pluck", &[Type::String, Type::MAP], pluck),
    Function::new("set", &[Type::MAP, Type::String, Type::Any], set),
    Function::new("unset", &[Type::MAP, Type::String], unset),
    Function::new("values", &[Type::MAP], values),
];

/// The map at `index`: the executor has seen to it that there is one, if only a nil one.
fn map(args: &[Value], index: usize) -> Result<&Map, CallError> {
    args.get(index).and_then(Value::as_map).ok_or_else(|| CallError::new("not a map"))
}

fn dict(context: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let mut entries = Entries::new();
    for pair in args.chunks(2) {
        let value = pair.get(1).cloned().unwrap_or_else(|| "".into());
        entries.insert(to_text(context, &pair[0])?, value);
    }
    Ok(Map::typed(Type::MAP, entries).into())
}

fn get(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    Ok(map(args, 0)?.get(text(args, 1)).unwrap_or_else(|| "".into()))
}

fn set(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let map = map(args, 0)?;
    if map.is_nil() {
        return Err("assignment to entry in nil map".into());
    }
    map.insert(text(args, 1), args[2].clone());
    Ok(args[0].clone())
}

fn unset(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    map(args, 0)?.remove(text(args, 1));
    Ok(args[0].clone())
}

fn has_key(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    Ok(map(args, 0)?.contains(text(args, 1)).into())
}

fn keys(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let mut keys: Vec<Str> = Vec::new();
    for index in 0..args.len() {
        keys.extend(map(args, index)?.entries().keys().cloned());
    }
    Ok(Value::strings(keys))
}

fn values(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    Ok(Value::list(map(args, 0)?.entries().values().cloned().collect()))
}

fn pluck(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let key = text(args, 0);
    let mut found = Vec::new();
    for index in 1..args.len() {
        found.extend(map(args, index)?.get(key));
    }
    Ok(List::new(found).into())
}

fn pick(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let map = map(args, 0)?;
    let wanted = args[1..].iter().filter_map(Value::as_str);
    Ok(Value::map(wanted.filter_map(|key| Some((key.clone(), map.get(key)?)))))
}

fn omit(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let mut kept = map(args, 0)?.entries().clone();
    for key in args[1..].iter().filter_map(Value::as_str) {
        kept.remove(key);
    }
    Ok(Map::typed(Type::MAP, kept).into())
}

/// Follows keys into maps within maps; the last arguments are what to return if there is no such
/// entry, and the map.
fn dig(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let [keys @ .., default, root] = args else { return Err("dig needs at least three arguments".into()) };
    if keys.is_empty() {
        return Err("dig needs at least three arguments".into());
    }
    let mut value = root.clone();
    assert_plain_map(root)?;
    if let Some(key) = keys.iter().find(|key| key.as_str().is_none()) {
        return Err(conversion(key, &Type::String));
    }
    for key in keys.iter().filter_map(Value::as_str) {
        match assert_plain_map(&value)?.get(key) {
            Some(found) => value = found,
            None => return Ok(default.clone()),
        }
    }
    Ok(value)
}

/// A map of exactly the type that Sprig expects: not of a named one, such as that of a chart's values.
fn assert_plain_map(value: &Value) -> Result<&Map, CallError> {
    value.as_map().filter(|map| *map.go_type() == Type::MAP).ok_or_else(|| conversion(value, &Type::MAP))
}

/// Returns what Go says of a value that does not have the type that it is said to have.
fn conversion(value: &Value, to: &Type) -> CallError {
    let from = value.type_of().map_or_else(|| "nil".to_owned(), |ty| ty.to_string());
    CallError::new(format!("interface conversion: interface {{}} is {from}, not {to}"))
}

fn merge(context: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    merge_all(context, args, Overwrite::Empty)
}

fn merge_overwrite(context: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    merge_all(context, args, Overwrite::All)
}

/// Merges the maps after the first into it.
fn merge_all(context: &mut Context<'_>, args: &[Value], overwrite: Overwrite) -> Result<Value, CallError> {
    let mut target = map(args, 0)?.clone();
    for index in 1..args.len() {
        let source = map(args, index)?;
        if target.is_nil() && !source.is_nil() {
            target = Map::typed(Type::MAP, Entries::new());
        }
        merge_maps(context, &target, source, overwrite)?;
    }
    Ok(target.into())
}

fn copy(context: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    if matches!(args[0], Value::Nil) {
        return Err("reflect: call of reflect.Value.Type on zero Value".into());
    }
    deep_copy(context, &args[0])
}

#[cfg(test)]
mod tests {
    use crate::funcs::testing::{check, check_refusals};

    // What Helm 4.3.1 makes of these.
    const CASES: &[(&str, &str)] = &[
        (
            r#"{{ dict "a" 1 2 }}|{{ dict "a" 1 "a" 2 }}|{{ dict nil 1 }}|{{ dict }}"#,
            "map[2: a:1]|map[a:2]|map[<nil>:1]|map[]",
        ),
        (
            r#"{{ get (dict "a" nil) "a" | toJson }}|{{ get (dict) "a" | toJson }}|{{ get nil "a" | toJson }}|{{ hasKey (dict "a" nil) "a" }}|{{ keys (dict "b" 1 "a" 2) (dict "c" 1) | sortAlpha }}|{{ keys nil | toJson }}|{{ values (dict "a" 1) }}"#,
            r#"null|""|""|true|[a b c]|[]|[1]"#,
        ),
        (
            r#"{{ pluck "a" (dict "a" 1) (dict) (dict "a" nil) }}|{{ pick (dict "a" 1 "b" 2) "a" "z" }}|{{ omit (dict "a" 1 "b" 2) "a" "z" }}"#,
            "[1 <nil>]|map[a:1]|map[b:2]",
        ),
        (
            r#"{{ $d := dict "a" 1 }}{{ $e := set $d "b" 2 }}{{ $d }}{{ $_ := unset $e "a" }}{{ $d }}|{{ unset nil "a" }}"#,
            "map[a:1 b:2]map[b:2]|map[]",
        ),
        (
            r#"{{ dig "a" "b" 0 (dict "a" (dict "b" 1)) }}|{{ dig "a" "x" 0 (dict "a" (dict "b" 1)) }}|{{ dig "a" "d" (dict "a" nil) | toJson }}"#,
            "1|0|null",
        ),
        (
            r#"{{ $d := dict "a" (dict "b" 1) }}{{ $c := deepCopy $d }}{{ $_ := set $d.a "b" 2 }}{{ $c }}|{{ deepCopy (list (list 1) nil) }}|{{ deepCopy "a" }}|{{ deepCopy (until 2) | typeOf }}"#,
            "map[a:map[b:1]]|[[1] <nil>]|a|[]int",
        ),
        (
            r#"{{ $d := dict "x" (dict "y" 1) }}{{ $e := pick $d "x" }}{{ $_ := set $e.x "y" 2 }}{{ $d }}"#,
            "map[x:map[y:2]]",
        ),
    ];
    const REFUSALS: &[(&str, &str)] = &[
        (r#"{{ set nil "a" 1 }}"#, "assignment to entry in nil map"),
        (r#"{{ dig "a" (dict) }}"#, "dig needs at least three arguments"),
        (
            r#"{{ dig "a" "b" nil }}"#,
            "interface conversion: interface {} is nil, not map[string]interface {}",
        ),
        (r#"{{ dig 1 "b" (dict) }}"#, "interface conversion: interface {} is int, not string"),
        (
            r#"{{ dig "a" "b" "c" "d" (dict "a" 1) }}"#,
            "interface conversion: interface {} is int, not map[string]interface {}",
        ),
        ("{{ deepCopy nil }}", "reflect: call of reflect.Value.Type on zero Value"),
    ];

    #[test]
    fn answers_are_those_of_helm() {
        check(CASES);
    }

    #[test]
    fn refusals_are_in_the_words_of_helm() {
        check_refusals(REFUSALS);
    }
}
