//! Paths with slashes: their parts and their shortest form. Those of the operating system are the
//! same, for Sprig's are those of the machine it runs on.

use super::args::text;
use crate::Context;
use crate::error::CallError;
use crate::function::Function;
use crate::value::{Str, Type, Value};

pub(super) const FUNCS: &[Function] = &[
    Function::new("base", &[Type::String], base),
    Function::new("clean", &[Type::String], clean),
    Function::new("dir", &[Type::String], dir),
    Function::new("ext", &[Type::String], ext),
    Function::new("isAbs", &[Type::String], is_abs),
    Function::new("osBase", &[Type::String], base),
    Function::new("osClean", &[Type::String], clean),
    Function::new("osDir", &[Type::String], dir),
    Function::new("osExt", &[Type::String], ext),
    Function::new("osIsAbs", &[Type::String], is_abs),
];

/// The last element, `.` for the empty path and `/` for one of slashes only.
fn base(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let path = text(args, 0);
    if path.is_empty() {
        return Ok(".".into());
    }
    let last = path.split(|byte| *byte == b'/').rfind(|element| !element.is_empty());
    Ok(Str::from(last.unwrap_or(b"/")).into())
}

fn dir(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let path = text(args, 0);
    let directory = memchr::memrchr(b'/', path).map_or(&b""[..], |slash| &path[..=slash]);
    Ok(cleaned(directory).into())
}

fn clean(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    Ok(cleaned(text(args, 0)).into())
}

/// The shortest path that is the same: no `.`, no element before `..`, one slash between elements.
fn cleaned(path: &[u8]) -> Vec<u8> {
    let rooted = path.starts_with(b"/");
    let mut kept: Vec<&[u8]> = Vec::new();
    for element in path.split(|byte| *byte == b'/') {
        match element {
            b"" | b"." => {}
            b".." => match kept.last() {
                Some(last) if *last != b".." => {
                    kept.pop();
                }
                // Above the root there is nothing.
                _ if rooted => {}
                _ => kept.push(element),
            },
            _ => kept.push(element),
        }
    }
    let joined = kept.join(&b'/');
    match (rooted, joined.is_empty()) {
        (true, _) => [b"/", joined.as_slice()].concat(),
        (false, true) => b".".to_vec(),
        (false, false) => joined,
    }
}

/// Returns what follows the last dot of the last element, with the dot.
fn ext(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let path = text(args, 0);
    let name = memchr::memrchr(b'/', path).map_or(path, |slash| &path[slash + 1..]);
    let extension = memchr::memrchr(b'.', name).map_or(&b""[..], |dot| &name[dot..]);
    Ok(Str::from(extension).into())
}

fn is_abs(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    Ok(text(args, 0).starts_with(b"/").into())
}

#[cfg(test)]
mod tests {
    use crate::funcs::testing::check;

    // What Helm 4.3.1 makes of these.
    const CASES: &[(&str, &str)] = &[
        (
            r#"{{ base "" }}|{{ base "/" }}|{{ base "/a/b/" }}|{{ base "a" }}|{{ dir "" }}|{{ dir "/a" }}|{{ dir "a/b/" }}|{{ dir "/" }}|{{ dir "a" }}"#,
            ".|/|b|a|.|/|a/b|/|.",
        ),
        (
            r#"{{ clean "" }}|{{ clean "a//b/./c/../d" }}|{{ clean "/../a" }}|{{ clean "../../a/.." }}|{{ clean "/" }}|{{ clean "a/../.." }}"#,
            ".|a/b/d|/a|../..|/|..",
        ),
        (
            r#"{{ ext "a.tar.gz" }}|{{ ext "a.b/c" }}|{{ ext ".x" }}|{{ ext "a." }}|{{ isAbs "/a" }}|{{ isAbs "a" }}|{{ osBase "/a/b" }}|{{ osDir "/a/b" }}|{{ osExt "a.b" }}|{{ osClean "a/./b" }}|{{ osIsAbs "/" }}"#,
            ".gz||.x|.|true|false|b|/a|.b|a/b|true",
        ),
    ];

    #[test]
    fn answers_are_those_of_helm() {
        check(CASES);
    }
}
