//! Executes an arbitrary template. Run with
//! `RUSTC_BOOTSTRAP=1 cargo fuzz run -s none template_execute -- -max_total_time=600`.
//!
//! Nothing may panic or run without end, two executions write the same, and an error is at a place of the text.

#![no_main]

use gotemplate::funcs::SPRIG;
use gotemplate::{CallError, Context, Error, Function, Functions, Limits, Options, TemplateSet, Type, Value};
use libfuzzer_sys::fuzz_target;

/// Functions that a chart adds to the language.
const HOST: &[Function] = &[
    Function::new("include", &[Type::String, Type::Any], include),
    Function::new("tpl", &[Type::String, Type::Any], tpl),
];

/// Enough for every template that a person would write in as many bytes.
const MAX_INPUT: usize = 4 << 10;

fuzz_target!(|bytes: &[u8]| {
    if bytes.len() > MAX_INPUT {
        return;
    }
    let functions = Functions::new(&[SPRIG, &[HOST]].concat());
    let mut set = TemplateSet::new("set", functions);
    if set.parse("file", bytes).is_err() {
        return;
    }
    match (run(&set), run(&set)) {
        (Ok(first), Ok(second)) => assert_eq!(first, second),
        (Err(first), Err(second)) => {
            assert_eq!(first.to_string(), second.to_string());
            let place = first.place().expect("an error in a template has a place");
            assert!(place.offset <= bytes.len() || place.file != "file");
        }
        (first, second) => panic!("{first:?}, then {second:?}"),
    }
});

fn run(set: &TemplateSet) -> Result<Vec<u8>, Error> {
    let limits = Limits { steps: 20_000, output: 1 << 18, ..Limits::default() };
    let random = |bytes: &mut [u8]| bytes.fill(7);
    set.execute("file", data(), &Options { limits, random: Some(&random), ..Options::default() })
}

fn data() -> Value {
    let map = Value::map([("b", 1.0.into()), ("a", Value::map([("x", "y".into())]))]);
    Value::map([
        ("s", "hello".into()),
        ("n", 5.0.into()),
        ("i", Value::int64(-3)),
        ("t", true.into()),
        ("e", "".into()),
        ("nil", Value::Nil),
        ("list", Value::list(vec!["a".into(), 2.5.into(), Value::Nil, map.clone()])),
        ("strings", Value::strings(["c", "a", "b"])),
        ("map", map),
        ("raw", Value::Bytes(b"\xff\x00a".as_slice().into())),
    ])
}

fn include(context: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let name = args[0].as_str().cloned().unwrap_or_default();
    let written = context.render(&name, args[1].clone());
    written.map(Value::from).map_err(|error| CallError::template("", error))
}

fn tpl(context: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let text = args[0].as_str().cloned().unwrap_or_default();
    let written = context.render_text("text", &text, args[1].clone());
    written.map(Value::from).map_err(|error| CallError::template("", error))
}
