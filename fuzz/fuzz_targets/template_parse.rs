//! Parses arbitrary bytes as a template. Run with
//! `RUSTC_BOOTSTRAP=1 cargo fuzz run -s none template_parse -- -max_total_time=600`.
//!
//! Nothing may panic; a refusal is in Go's form and at a line of the text; parsing again says the same.

#![no_main]

use gotemplate::funcs::SPRIG;
use gotemplate::{Functions, TemplateSet};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let functions = Functions::new(SPRIG);
    let parse = || {
        let mut set = TemplateSet::new("set", functions.clone());
        set.parse("file", bytes).map(|()| set.contains("file"))
    };
    let (first, second) = (parse(), parse());
    match (first, second) {
        (Ok(there), Ok(_)) => assert!(there),
        (Err(first), Err(second)) => {
            assert_eq!(first.to_string(), second.to_string());
            let place = first.place().expect("a refusal has a place");
            let lines = bytes.iter().filter(|byte| **byte == b'\n').count() + 1;
            assert!((1..=lines).contains(&(place.line as usize)), "{first}");
            assert!(first.to_string().starts_with("template: file:"), "{first}");
        }
        (first, second) => panic!("{first:?}, then {second:?}"),
    }
});
