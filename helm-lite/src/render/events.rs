//! Events in templates that become warnings.
//!
//! In: events with the template that they happened in. Out: a warning for each place, however often it was passed.

use std::cell::RefCell;
use std::collections::BTreeSet;

use gotemplate::Event;
use yamltree::Location;

use crate::warning::{Code, Warning};

/// The most places that one kind of event is told of: who has more has one cause for them.
const MOST_PLACES: usize = 50;

/// The events of a rendering.
#[derive(Debug, Default)]
pub(super) struct Events(RefCell<BTreeSet<Seen>>);

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Seen {
    code: Code,
    /// The function, where it is one.
    function: &'static str,
    file: String,
    offset: usize,
    /// The file that was rendered, if the place is in a text that `tpl` was given.
    within: Option<String>,
}

impl Events {
    /// Takes down an event; `rendered` is the file that is being rendered.
    pub(super) fn add(&self, event: Event, file: &str, offset: usize, rendered: &str, is_file: bool) {
        let (code, function) = match event {
            Event::Unstable("lookup") => (Code::LookupOffline, "lookup"),
            Event::Unstable(function) => (Code::Unstable, function),
            Event::Exponent => (Code::FloatNotation, ""),
        };
        let within = (!is_file).then(|| rendered.to_owned());
        let offset = if is_file { offset } else { 0 };
        let mut seen = self.0.borrow_mut();
        if seen.iter().filter(|seen| seen.code == code).count() < MOST_PLACES {
            seen.insert(Seen { code, function, file: file.to_owned(), offset, within });
        }
    }

    /// The warnings, by their codes and places.
    pub(super) fn warnings(self, place: impl Fn(&str, usize, usize) -> Option<Location>) -> Vec<Warning> {
        let warning = |seen: &Seen| seen.warning(place(&seen.file, seen.offset, seen.function.len()));
        self.0.borrow().iter().map(warning).collect()
    }
}

impl Seen {
    fn warning(&self, place: Option<Location>) -> Warning {
        let function = self.function;
        let (message, hint) = match self.code {
            Code::LookupOffline => ("`lookup` returns nothing without a cluster".to_owned(), None),
            Code::Unstable => {
                let message = format!("what `{function}` gives differs from one rendering to the next");
                (message, Some("set it in the values"))
            }
            _ => {
                let message = "an integer is printed with an exponent, such as `1e+06`, as values are floats";
                (message.to_owned(), Some("use `int64` to print an integer"))
            }
        };
        let message = match &self.within {
            Some(file) => format!("{message} (in a string that {file} passes to `tpl`)"),
            None => message,
        };
        let warning = Warning::new(self.code, message).at(place);
        match hint {
            Some(hint) => warning.hint(hint),
            None => warning,
        }
    }
}
