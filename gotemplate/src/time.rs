//! Go's `time`: points in time, durations, and the layouts that they are written and read by.
//!
//! In go seconds since 1970, texts and names of time zones; out come texts as Go writes them.
//! Zones are those of the IANA database that is built in; one that it lacks is UTC.

mod calendar;

pub use calendar::{Month, Weekday};
