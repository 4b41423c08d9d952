//! Functions over lists. Their results are new lists, but for `sortAlpha`, which sorts a list of
//! strings in place, and for the items, which are shared.
//!
//! Each has a twin with `must` before its name, which in a template does the same: a failure stops it.

use super::args::int;
use super::convert::{made_length, nil_dereference, to_int64, to_strings, to_text, truncated};
use super::values::ValueSet;
use crate::Context;
use crate::error::CallError;
use crate::function::Function;
use crate::value::{Kind, List, Type, UintKind, Value};

const LISTS: Type = Type::Slice(&Type::LIST);

pub(super) const FUNCS: &[Function] = &[
    Function::new("append", &[Type::Any, Type::Any], append),
    Function::new("chunk", &[Type::INT, Type::Any], chunk),
    Function::new("compact", &[Type::Any], compact),
    Function::variadic("concat", &[Type::Any], concat),
    Function::new("first", &[Type::Any], first),
    Function::new("has", &[Type::Any, Type::Any], has),
    Function::new("initial", &[Type::Any], initial),
    Function::new("last", &[Type::Any], last),
    Function::variadic("list", &[Type::Any], list),
    Function::new("mustAppend", &[Type::Any, Type::Any], append),
    Function::new("mustChunk", &[Type::INT, Type::Any], chunk),
    Function::new("mustCompact", &[Type::Any], compact),
    Function::new("mustFirst", &[Type::Any], first),
    Function::new("mustHas", &[Type::Any, Type::Any], has),
    Function::new("mustInitial", &[Type::Any], initial),
    Function::new("mustLast", &[Type::Any], last),
    Function::new("mustPrepend", &[Type::Any, Type::Any], prepend),
    Function::new("mustPush", &[Type::Any, Type::Any], append),
    Function::new("mustRest", &[Type::Any], rest),
    Function::new("mustReverse", &[Type::Any], reverse),
    Function::variadic("mustSlice", &[Type::Any, Type::Any], slice),
    Function::new("mustUniq", &[Type::Any], uniq),
    Function::variadic("mustWithout", &[Type::Any, Type::Any], without),
    Function::new("prepend", &[Type::Any, Type::Any], prepend),
    Function::new("push", &[Type::Any, Type::Any], append),
    Function::new("rest", &[Type::Any], rest),
    Function::new("reverse", &[Type::Any], reverse),
    Function::variadic("slice", &[Type::Any, Type::Any], slice),
    Function::new("sortAlpha", &[Type::Any], sort_alpha),
    Function::variadic("tuple", &[Type::Any], list),
    Function::new("uniq", &[Type::Any], uniq),
    Function::variadic("without", &[Type::Any, Type::Any], without),
];

/// The value as a list, or what Go says of one that is none, after `complaint`.
fn list_of(value: &Value, complaint: &str) -> Result<List, CallError> {
    match value.plain() {
        Value::Nil => Err(nil_dereference()),
        Value::List(list) => Ok(list),
        Value::Bytes(bytes) => {
            let item = |byte: &u8| Value::Uint(UintKind::Uint8, u64::from(*byte));
            Ok(List::typed(Type::BYTES, bytes.iter().map(item).collect()))
        }
        other => Err(format!("{complaint} {}", other.kind()).into()),
    }
}

fn list(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    Ok(Value::list(args.to_vec()))
}

fn append(context: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let list = list_of(&args[0], "Cannot push on type")?;
    context.make_list(list.len() + 1)?;
    let mut items = Vec::with_capacity(list.len() + 1);
    items.extend_from_slice(&list.items());
    items.push(args[1].clone());
    Ok(Value::list(items))
}

fn prepend(context: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let list = list_of(&args[0], "Cannot prepend on type")?;
    context.make_list(list.len() + 1)?;
    let mut items = Vec::with_capacity(list.len() + 1);
    items.push(args[1].clone());
    items.extend_from_slice(&list.items());
    Ok(Value::list(items))
}

fn concat(context: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let mut items = Vec::new();
    for arg in args {
        let list = list_of(arg, "Cannot concat type").map_err(|error| match arg {
            Value::Nil => error,
            _ => CallError::new(format!("{error} as list")),
        })?;
        context.make_list(items.len() + list.len())?;
        items.extend_from_slice(&list.items());
    }
    Ok(if items.is_empty() { List::nil(Type::LIST).into() } else { Value::list(items) })
}

/// Returns how many lists there are and how long the last is, Go computes in floating point, which decides
/// what happens with sizes below 1.
fn chunk(context: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let list = list_of(&args[1], "Cannot chunk type")?;
    let items = list.items();
    let size = int(args, 0);
    let length = items.len() as f64;
    let chunks = made_length(truncated(((length - 1.0) / size as f64).floor()).wrapping_add(1))?;
    context.spend(chunks as u64)?;
    let mut out = Vec::with_capacity(chunks.min(items.len() + 1));
    let mut rest = items.as_slice();
    for index in 0..chunks {
        let remainder = truncated((length % size as f64).floor());
        let wanted = if index + 1 == chunks && remainder != 0 { remainder } else { size };
        let (chunk, after) = rest.split_at(made_length(wanted)?.min(rest.len()));
        out.push(Value::list(chunk.to_vec()));
        rest = after;
    }
    Ok(List::typed(LISTS, out).into())
}

fn first(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    Ok(list_of(&args[0], "Cannot find first on type")?.get(0).unwrap_or_default())
}

fn last(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    Ok(list_of(&args[0], "Cannot find last on type")?.items().last().cloned().unwrap_or_default())
}

fn rest(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let list = list_of(&args[0], "Cannot find rest on type")?;
    let items = list.items();
    Ok(items
        .split_first()
        .map_or_else(|| List::nil(Type::LIST).into(), |(_, rest)| Value::list(rest.to_vec())))
}

fn initial(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let list = list_of(&args[0], "Cannot find initial on type")?;
    let items = list.items();
    Ok(items
        .split_last()
        .map_or_else(|| List::nil(Type::LIST).into(), |(_, rest)| Value::list(rest.to_vec())))
}

fn reverse(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let list = list_of(&args[0], "Cannot find reverse on type")?;
    let items = list.items();
    Ok(Value::list(items.iter().rev().cloned().collect()))
}

fn compact(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let list = list_of(&args[0], "Cannot compact on type")?;
    let items = list.items();
    Ok(Value::list(items.iter().filter(|item| item.is_true()).cloned().collect()))
}

fn uniq(context: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let list = list_of(&args[0], "Cannot find uniq on type")?;
    let mut seen = ValueSet::default();
    let mut kept = Vec::new();
    for item in list.items().iter() {
        if !seen.contains(context, item)? {
            seen.insert(item);
            kept.push(item.clone());
        }
    }
    Ok(Value::list(kept))
}

fn without(context: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let list = list_of(&args[0], "Cannot find without on type")?;
    let mut left_out = ValueSet::default();
    args[1..].iter().for_each(|value| left_out.insert(value));
    let mut kept = Vec::new();
    for item in list.items().iter() {
        if !left_out.contains(context, item)? {
            kept.push(item.clone());
        }
    }
    Ok(Value::list(kept))
}

fn has(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    if matches!(args[1], Value::Nil) {
        return Ok(false.into());
    }
    let list = list_of(&args[1], "Cannot find has on type")?;
    let found = list.items().iter().any(|item| item.deep_equal(&args[0]));
    Ok(found.into())
}

fn slice(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let list = list_of(&args[0], "list should be type of slice or array but")?;
    let items = list.items();
    if items.is_empty() {
        return Ok(Value::Nil);
    }
    let bound = |index: usize, default: usize| match args.get(index) {
        Some(value) => usize::try_from(to_int64(value)).unwrap_or(usize::MAX),
        None => default,
    };
    let part = items
        .get(bound(1, 0)..bound(2, items.len()))
        .ok_or("reflect.Value.Slice: slice index out of bounds")?;
    Ok(List::typed(*list.go_type(), part.to_vec()).into())
}

fn sort_alpha(context: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    if args[0].kind() != Kind::Slice {
        return Ok(Value::strings([to_text(context, &args[0])?]));
    }
    let mut strings = to_strings(context, &args[0])?;
    strings.sort_unstable();
    match &args[0] {
        Value::List(list) if *list.go_type() == Type::STRINGS => {
            list.replace(strings.into_iter().map(Value::Str).collect());
            Ok(args[0].clone())
        }
        _ => Ok(Value::strings(strings)),
    }
}

#[cfg(test)]
mod tests {
    use crate::funcs::testing::{check, check_refusals};

    // What Helm 4.3.1 makes of these.
    const CASES: &[(&str, &str)] = &[
        (
            r#"{{ append (list 1) 2 }}|{{ prepend (list 1) 2 }}|{{ concat (list 1) (splitList "," "a,b") (list) }}|{{ concat | toJson }}|{{ concat (list) | toJson }}"#,
            "[1 2]|[2 1]|[1 a b]|null|null",
        ),
        (
            "{{ first (list) | toJson }}|{{ last (list 1 2) }}|{{ rest (list) | toJson }}|{{ rest (list 1) | toJson }}|{{ initial (list 1 2) }}|{{ mustInitial (list) | toJson }}",
            "null|2|null|[]|[1]|null",
        ),
        (
            "{{ chunk 2 (list 1 2 3) }}|{{ chunk 2 (list) | toJson }}|{{ chunk 9 (list 1 2) }}|{{ chunk -5 (list 1) }}|{{ chunk -1 (list 1 2) | toJson }}|{{ typeOf (chunk 1 (list 1)) }}",
            "[[1 2] [3]]|[]|[[1 2]]|[[1]]|[]|[][]interface {}",
        ),
        (
            r#"{{ uniq (list 1 1.0 "1" 1 nil nil (list 1) (list 1) (dict) (dict "a" 1) (dict)) | toJson }}|{{ without (list 1 2 nil (list 1)) 2 nil (list 1) }}|{{ without (list 1 1.0) 1 }}"#,
            r#"[1,1,"1",null,[1],{},{"a":1}]|[1]|[1]"#,
        ),
        (
            r#"{{ has 1 (list 1) }}|{{ has 1 (list 1.0) }}|{{ has nil (list nil) }}|{{ has 1 nil }}|{{ has "a" (splitList "," "a") }}|{{ has (list 1) (list (list 1)) }}"#,
            "true|false|true|false|true|true",
        ),
        (
            r#"{{ compact (list 0 1 "" "a" nil false (list) (dict) 0.0) }}|{{ reverse (list 1 2 3) }}|{{ slice (list 1 2 3) }}|{{ slice (list 1 2 3) 1 }}|{{ slice (list 1 2 3) 1 2 }}|{{ slice (list) 5 | toJson }}|{{ slice (splitList "," "a,b") "1" | typeOf }}"#,
            "[1 a]|[3 2 1]|[1 2 3]|[2 3]|[2]|null|[]string",
        ),
        (
            r#"{{ sortAlpha (list 10 9 nil "a") }}|{{ sortAlpha 5 }}|{{ sortAlpha nil }}|{{ $l := splitList "," "b,a" }}{{ $s := sortAlpha $l }}{{ $l }}|{{ $l := list "b" "a" }}{{ $s := sortAlpha $l }}{{ $l }}"#,
            "[10 9 a]|[5]|[<nil>]|[a b]|[b a]",
        ),
        (
            r#"{{ $l := list 1 }}{{ $m := append $l 2 }}{{ $l }}{{ $m }}|{{ tuple 1 2 }}|{{ $d := dict "a" 1 }}{{ $l := append (list) $d }}{{ $_ := set $d "a" 2 }}{{ $l }}"#,
            "[1][1 2]|[1 2]|[map[a:2]]",
        ),
    ];
    const REFUSALS: &[(&str, &str)] = &[
        ("{{ append nil 1 }}", "runtime error: invalid memory address or nil pointer dereference"),
        (r#"{{ append "a" 1 }}"#, "Cannot push on type string"),
        ("{{ prepend (dict) 1 }}", "Cannot prepend on type map"),
        (r#"{{ concat (list) "a" }}"#, "Cannot concat type string as list"),
        ("{{ concat nil }}", "runtime error: invalid memory address or nil pointer dereference"),
        // Our own: Helm goes on until memory ends.
        (
            "{{ $l := list 1 }}{{ range until 60 }}{{ $l = concat $l $l }}{{ end }}",
            "a list takes more than 268435456 bytes",
        ),
        (r#"{{ first "a" }}"#, "Cannot find first on type string"),
        ("{{ last 1 }}", "Cannot find last on type int"),
        ("{{ rest nil }}", "runtime error: invalid memory address or nil pointer dereference"),
        ("{{ initial (dict) }}", "Cannot find initial on type map"),
        ("{{ reverse 1.5 }}", "Cannot find reverse on type float64"),
        ("{{ compact true }}", "Cannot compact on type bool"),
        (r#"{{ uniq "a" }}"#, "Cannot find uniq on type string"),
        (r#"{{ without "a" "b" }}"#, "Cannot find without on type string"),
        ("{{ has 1 (dict) }}", "Cannot find has on type map"),
        (r#"{{ chunk 2 "a" }}"#, "Cannot chunk type string"),
        ("{{ chunk 0 (list 1 2) }}", "runtime error: makeslice: len out of range"),
        ("{{ chunk -3 (list) }}", "runtime error: makeslice: len out of range"),
        (r#"{{ slice "a" }}"#, "list should be type of slice or array but string"),
        ("{{ slice (list 1 2) 3 }}", "reflect.Value.Slice: slice index out of bounds"),
        ("{{ slice (list 1 2) 2 1 }}", "reflect.Value.Slice: slice index out of bounds"),
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
