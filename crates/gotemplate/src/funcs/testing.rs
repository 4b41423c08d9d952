//! Tables of templates and what Helm makes of them, for the tests of each family.

use super::{DURATIONS, SPRIG};
use crate::{Functions, Now, Options, TemplateSet, Value};

/// Returns what a template writes, or what the function that failed in it says.
pub(in crate::funcs) fn rendered(template: &str) -> Result<String, String> {
    let tables: Vec<_> = SPRIG.iter().copied().chain([DURATIONS]).collect();
    let mut set = TemplateSet::new("test", Functions::new(&tables));
    set.parse("test", template.as_bytes()).map_err(|error| error.to_string())?;
    // Bytes that are random enough to find primes with.
    let state = std::cell::Cell::new(0x9e37_79b9_7f4a_7c15_u64);
    let random = |bytes: &mut [u8]| {
        for byte in bytes {
            let mut next = state.get();
            next ^= next << 13;
            next ^= next >> 7;
            next ^= next << 17;
            state.set(next);
            *byte = (next >> 32) as u8;
        }
    };
    let now = Now { seconds: 1_800_000_000, nanoseconds: 0 };
    let options = Options { random: Some(&random), now, ..Options::default() };
    match set.execute("test", Value::Nil, &options) {
        Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        Err(error) => {
            Err(error.function_error().map_or_else(|| error.to_string(), |error| error.text().to_owned()))
        }
    }
}

/// Checks what templates write.
pub(in crate::funcs) fn check(cases: &[(&str, &str)]) {
    for (template, text) in cases {
        assert_eq!(rendered(template).as_deref(), Ok(*text), "{template}");
    }
}

/// Checks what functions say about arguments that they do not take.
pub(in crate::funcs) fn check_refusals(cases: &[(&str, &str)]) {
    for (template, words) in cases {
        assert_eq!(rendered(template).as_ref().map_err(String::as_str), Err(*words), "{template}");
    }
}
