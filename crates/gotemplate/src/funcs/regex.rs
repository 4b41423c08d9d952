//! Regular expressions of Go's syntax. The functions named `must…` differ in the words with which
//! they refuse one that is wrong; `regexMatch` says that nothing matches it.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

use goregex::{Regex, quote_meta};

use super::args::{int, lossy, text};
use crate::Context;
use crate::error::CallError;
use crate::function::Function;
use crate::value::{List, Str, Type, Value};

const TEXT: Type = Type::String;

pub(super) const FUNCS: &[Function] = &[
    Function::new("mustRegexFind", &[TEXT, TEXT], |_, args| find(&*compiled(args)?, args)),
    Function::new("mustRegexFindAll", &[TEXT, TEXT, Type::INT], |_, args| find_all(&*compiled(args)?, args)),
    Function::new("mustRegexMatch", &[TEXT, TEXT], |_, args| {
        Ok(compiled(args)?.is_match(text(args, 1)).into())
    }),
    Function::new("mustRegexReplaceAll", &[TEXT, TEXT, TEXT], |context, args| {
        replace_all(context, &*compiled(args)?, args)
    }),
    Function::new("mustRegexReplaceAllLiteral", &[TEXT, TEXT, TEXT], |context, args| {
        replace_all_literal(context, &*compiled(args)?, args)
    }),
    Function::new("mustRegexSplit", &[TEXT, TEXT, Type::INT], |_, args| split(&*compiled(args)?, args)),
    Function::new("regexFind", &[TEXT, TEXT], |_, args| find(&*must_compile(args)?, args)),
    Function::new("regexFindAll", &[TEXT, TEXT, Type::INT], |_, args| find_all(&*must_compile(args)?, args)),
    Function::new("regexMatch", &[TEXT, TEXT], |_, args| {
        Ok(compiled(args).is_ok_and(|regex| regex.is_match(text(args, 1))).into())
    }),
    Function::new("regexQuoteMeta", &[TEXT], |_, args| Ok(quote_meta(text(args, 0)).into())),
    Function::new("regexReplaceAll", &[TEXT, TEXT, TEXT], |context, args| {
        replace_all(context, &*must_compile(args)?, args)
    }),
    Function::new("regexReplaceAllLiteral", &[TEXT, TEXT, TEXT], |context, args| {
        replace_all_literal(context, &*must_compile(args)?, args)
    }),
    Function::new("regexSplit", &[TEXT, TEXT, Type::INT], |_, args| split(&*must_compile(args)?, args)),
];

/// Maximum number of expressions that are kept compiled.
const MOST_KEPT: usize = 200;

thread_local! {
    /// Expressions that were compiled: templates use the same few over and over, and to compile one
    /// takes longer than to look for it.
    static KEPT: RefCell<HashMap<Box<[u8]>, Rc<Regex>>> = RefCell::default();
}

fn compiled(args: &[Value]) -> Result<Rc<Regex>, CallError> {
    let pattern = text(args, 0);
    if let Some(regex) = KEPT.with_borrow(|kept| kept.get(pattern).cloned()) {
        return Ok(regex);
    }
    let regex = Rc::new(Regex::new(pattern).map_err(|error| error.to_string())?);
    KEPT.with_borrow_mut(|kept| {
        if kept.len() == MOST_KEPT {
            kept.clear();
        }
        kept.insert(pattern.into(), regex.clone());
    });
    Ok(regex)
}

/// The same with the words of `regexp.MustCompile`, which quotes the expression like Go's source.
fn must_compile(args: &[Value]) -> Result<Rc<Regex>, CallError> {
    compiled(args).map_err(|error| {
        let pattern = text(args, 0);
        let quoted = if crate::fmt::can_backquote(pattern) {
            format!("`{}`", lossy(args, 0))
        } else {
            gostd::quoted(pattern)
        };
        CallError::new(format!("regexp: Compile({quoted}): {error}"))
    })
}

fn find(regex: &Regex, args: &[Value]) -> Result<Value, CallError> {
    let subject = text(args, 1);
    Ok(regex.find(subject).map_or_else(|| "".into(), |found| Str::from(&subject[found]).into()))
}

fn find_all(regex: &Regex, args: &[Value]) -> Result<Value, CallError> {
    Ok(strings(text(args, 1), regex.find_all(text(args, 1), int(args, 2))))
}

fn split(regex: &Regex, args: &[Value]) -> Result<Value, CallError> {
    Ok(strings(text(args, 1), regex.split(text(args, 1), int(args, 2))))
}

/// The parts of a text; where there are none, Go has no list.
fn strings(text: &[u8], parts: Vec<Range<usize>>) -> Value {
    if parts.is_empty() {
        return List::nil(Type::STRINGS).into();
    }
    Value::strings(parts.into_iter().map(|part| &text[part]))
}

fn replace_all(context: &Context<'_>, regex: &Regex, args: &[Value]) -> Result<Value, CallError> {
    let limit = context.max_length();
    let replaced = regex.replace_all_within(text(args, 1), text(args, 2), limit);
    replaced.map_or_else(|| too_long(context), |replaced| Ok(replaced.into()))
}

fn replace_all_literal(context: &Context<'_>, regex: &Regex, args: &[Value]) -> Result<Value, CallError> {
    let limit = context.max_length();
    let replaced = regex.replace_all_literal_within(text(args, 1), text(args, 2), limit);
    replaced.map_or_else(|| too_long(context), |replaced| Ok(replaced.into()))
}

fn too_long(context: &Context<'_>) -> Result<Value, CallError> {
    context.check_length(usize::MAX).map(|()| Value::Nil)
}

#[cfg(test)]
mod tests {
    use crate::funcs::testing::{check, check_refusals};

    // What Helm 4.3.1 makes of these.
    const CASES: &[(&str, &str)] = &[
        (
            r#"{{ regexMatch "^[a-z]+$" "abc" }}|{{ regexMatch "(" "abc" }}|{{ regexMatch `\bfoo` "éfoo" }}|{{ mustRegexMatch `\w+` "é" }}"#,
            "true|false|true|false",
        ),
        (
            r#"{{ regexFind "a(x*)b" "-axxb-ab" }}|{{ regexFind "z" "a" | quote }}|{{ regexFindAll "[2,4]" "1234" -1 }}|{{ regexFindAll "x" "a" -1 | toJson }}|{{ regexFindAll "." "abc" 2 }}"#,
            r#"axxb|""|[2 4]|null|[a b]"#,
        ),
        (
            r#"{{ regexReplaceAll "a(x*)b" "-ab-axxb-" "${1}W" }}|{{ regexReplaceAll "a(x*)b" "-ab-axxb-" "$1W" }}|{{ regexReplaceAllLiteral "a(x*)b" "-ab-" "${1}" }}|{{ regexQuoteMeta "1.2.3*" }}"#,
            r#"-W-xxW-|---|-${1}-|1\.2\.3\*"#,
        ),
        (
            r#"{{ regexSplit "z+" "pizza" -1 }}|{{ regexSplit "z" "pizza" 2 }}|{{ regexSplit "" "abc" -1 }}|{{ regexSplit "z" "" -1 | len }}|{{ regexSplit "z" "a" 0 | toJson }}"#,
            "[pi a]|[pi za]|[a b c]|1|null",
        ),
    ];
    const REFUSALS: &[(&str, &str)] = &[
        // Our own: Helm goes on until memory ends.
        (
            r#"{{ $s := repeat 100000 "a" }}{{ regexReplaceAllLiteral "a" $s $s }}"#,
            "template output is longer than 268435456 bytes",
        ),
        (
            r#"{{ $s := repeat 100000 "a" }}{{ regexReplaceAll "a" $s (cat $s "${0}") }}"#,
            "template output is longer than 268435456 bytes",
        ),
        (r#"{{ mustRegexMatch "(" "a" }}"#, "error parsing regexp: missing closing ): `(`"),
        (r#"{{ regexFind "(" "a" }}"#, "regexp: Compile(`(`): error parsing regexp: missing closing ): `(`"),
        (
            r#"{{ regexFind "`(" "a" }}"#,
            r#"regexp: Compile("`("): error parsing regexp: missing closing ): ``(`"#,
        ),
        (
            r#"{{ regexSplit "a**" "a" -1 }}"#,
            "regexp: Compile(`a**`): error parsing regexp: invalid nested repetition operator: `**`",
        ),
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
