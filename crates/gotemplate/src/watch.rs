//! Observes an execution. Input: positions. Output: events and a source map.
//!
//! Both cost next to nothing where nobody asks for them.

use std::cell::RefCell;

use crate::value::Value;

/// Something that is no error and yet worth a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// This function gave something that the next execution may not give: it is random, or depends on the time or on
    /// what is outside.
    Unstable(&'static str),
    /// A whole number was written with an exponent, such as `1e+06`, because it is a float.
    Exponent,
}

/// Hears of events, each with the file and the offset in it where it happened.
pub type Watch<'a> = dyn Fn(Event, &str, usize) + 'a;

/// Which part of a template wrote which part of its output. A mark holds up to the next one.
#[derive(Debug, Default)]
pub struct Trace(RefCell<Vec<Mark>>);

/// From this offset of the output on it was written by what stands at that offset of the template.
#[derive(Clone, Copy, Debug)]
struct Mark {
    output: usize,
    template: u32,
    /// Text goes over byte by byte.
    is_text: bool,
}

/// No template that anyone looks into writes in more pieces.
const MOST_MARKS: usize = 1 << 20;

/// The recorded source map of a [`Trace`].
#[derive(Debug, Default)]
pub struct Marks(Vec<Mark>);

impl Marks {
    /// The offset in the template of what wrote the output at `offset`.
    #[must_use]
    pub fn origin(&self, offset: usize) -> Option<usize> {
        let index = self.0.partition_point(|mark| mark.output <= offset).checked_sub(1)?;
        let mark = self.0.get(index)?;
        let into = if mark.is_text { offset - mark.output } else { 0 };
        Some(mark.template as usize + into)
    }
}

impl Trace {
    /// Returns the recorded source map.
    #[must_use]
    pub fn into_marks(self) -> Marks {
        Marks(self.0.into_inner())
    }

    pub(crate) fn add(&self, output: usize, template: u32, is_text: bool) {
        let mut marks = self.0.borrow_mut();
        let mark = Mark { output, template, is_text };
        // What wrote nothing needs no mark.
        if marks.last().is_some_and(|last| last.output == output) {
            marks.pop();
        }
        if marks.len() < MOST_MARKS {
            marks.push(mark);
        }
    }
}

/// Returns true if it is a whole number that Go writes with an exponent.
pub(crate) fn is_exponential(value: &Value) -> bool {
    const FROM: f64 = 1e6;
    matches!(value, Value::Float(number) if number.abs() >= FROM && number.is_finite() && number.fract() == 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Functions, Options, TemplateSet};

    #[test]
    fn output_is_led_back_to_what_wrote_it() {
        let text =
            "ab\n{{ range .list }}- {{ . }}\n{{ end }}{{ template \"t\" }}z{{ define \"t\" }}tt{{ end }}";
        let mut set = TemplateSet::new("set", Functions::new(&[crate::funcs::DURATIONS]));
        set.parse("file", text.as_bytes()).expect("a template");
        let trace = Trace::default();
        let options = Options { trace: Some(&trace), ..Options::default() };
        let data = Value::map([("list", Value::list(vec!["x".into(), "y".into()]))]);
        let out = set.execute("file", data, &options).expect("it executes");
        let out = String::from_utf8(out).expect("text");
        let marks = trace.into_marks();
        assert_eq!(out, "ab\n- x\n- y\nttz");
        let origin = |wanted: &str| {
            let at = marks.origin(out.find(wanted).expect("it is there")).expect("a mark");
            &text[at..at + 2]
        };
        assert_eq!(origin("b\n"), "b\n");
        assert_eq!(origin("- y"), "- ");
        assert_eq!(origin("y\n"), ". ");
        assert_eq!(origin("tt"), "\"t");
        assert_eq!(origin("z"), "z{");
    }

    #[test]
    fn what_is_not_the_same_each_time_is_told_with_its_place() {
        let text = "{{ 1000000.0 }} {{ 1e7 | print }} {{ 999999.0 }} {{ 1.5e7 | print 1 }}\n{{ randAlpha 3 | len }}{{ now | kindOf }}{{ 1234567.5 }}{{ 1000000 }}";
        let mut set = TemplateSet::new("set", Functions::new(crate::funcs::SPRIG));
        set.parse("file", text.as_bytes()).expect("a template");
        let events = RefCell::new(Vec::new());
        let watch = |event: Event, file: &str, offset: usize| {
            assert_eq!(file, "file");
            events.borrow_mut().push((event, text[offset..].chars().take(4).collect::<String>()));
        };
        let random = |bytes: &mut [u8]| bytes.fill(1);
        let options = Options { watch: Some(&watch), random: Some(&random), ..Options::default() };
        set.execute("file", Value::Nil, &options).expect("it executes");
        let found = events.into_inner();
        let found: Vec<_> = found.iter().map(|(event, at)| (*event, at.as_str())).collect();
        assert_eq!(
            found,
            [
                (Event::Exponent, "1000"),
                (Event::Exponent, "prin"),
                (Event::Exponent, "prin"),
                (Event::Unstable("randAlpha"), "rand"),
                (Event::Unstable("now"), "now "),
            ]
        );
    }
}
