//! Points in time as services write them. A time that cannot be is none.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use jiff::Timestamp;

/// As RFC 3339 writes it.
pub(super) fn parse(text: &str) -> Option<SystemTime> {
    let time: Timestamp = text.trim().parse().ok()?;
    after_epoch(time.as_second() as f64)
}

/// So many seconds after the epoch.
pub(super) fn after_epoch(seconds: f64) -> Option<SystemTime> {
    UNIX_EPOCH.checked_add(Duration::try_from_secs_f64(seconds).ok()?)
}

/// So many seconds from now.
pub(super) fn after(now: SystemTime, seconds: f64) -> Option<SystemTime> {
    now.checked_add(Duration::try_from_secs_f64(seconds).ok()?)
}

/// Whole seconds since the epoch; a clock before it stands at it.
pub(super) fn seconds(time: SystemTime) -> i64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}

/// For the calendar.
pub(super) fn timestamp(time: SystemTime) -> Timestamp {
    Timestamp::from_second(seconds(time)).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_that_cannot_be_are_none() {
        let at = |seconds| Some(UNIX_EPOCH + Duration::from_secs(seconds));
        assert_eq!(parse(" 1970-01-02T00:00:00Z\n"), at(86400));
        assert_eq!(parse("1970-01-01T00:00:01.7+00:00"), at(1));
        assert_eq!((parse("1960-01-01T00:00:00Z"), parse("soon")), (None, None));
        assert_eq!((after_epoch(1e300), after_epoch(f64::NAN), after(UNIX_EPOCH, -1.0)), (None, None, None));
        assert_eq!(timestamp(UNIX_EPOCH + Duration::from_secs(1)).to_string(), "1970-01-01T00:00:01Z");
        assert_eq!(seconds(UNIX_EPOCH - Duration::from_secs(1)), 0);
    }
}
