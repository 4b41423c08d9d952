//! Passing failures: which they are, how long a server asks to be left alone, and how long is waited before the next
//! attempt.

use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use diagnostic::{Error, ErrorKind, Result};
use jiff::Timestamp;
use jiff::fmt::rfc2822;
use reqwest::StatusCode;
use reqwest::header::{DATE, HeaderMap, RETRY_AFTER};

use crate::settings::Retry;

/// The failure of an attempt.
pub(crate) enum Failure {
    /// Trying again would not help.
    Final(Error),
    /// It may go another time, after as long as the server asks for.
    Passing { error: Error, wait: Option<Duration> },
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Final(error)
    }
}

/// Does something until it succeeds, fails for good, or was tried and waited for long enough.
pub(crate) fn with_retries<T>(retry: Retry, mut attempt: impl FnMut() -> Result<T, Failure>) -> Result<T> {
    let mut pause = retry.pause;
    let mut patience = retry.patience;
    let mut left = retry.attempts.max(1);
    loop {
        let (error, asked) = match attempt() {
            Ok(value) => return Ok(value),
            Err(Failure::Final(error)) => return Err(error),
            Err(Failure::Passing { error, wait }) => (error, wait),
        };
        left -= 1;
        let wait = asked.map_or_else(|| spread(pause), |asked| asked.max(spread(pause)));
        if left == 0 || wait > patience {
            return Err(give_up(error, asked, retry.attempts.max(1) - left));
        }
        thread::sleep(wait);
        patience -= wait;
        pause *= 3;
    }
}

fn give_up(error: Error, asked: Option<Duration>, attempts: u32) -> Error {
    match asked {
        Some(wait) if error.kind() == ErrorKind::RateLimited => error.with_retry_after(Some(wait)),
        _ if attempts > 1 => error.hint(format!("it was tried {attempts} times; try again later")),
        _ => error,
    }
}

/// Between three and five quarters, so that those who failed together do not come back together.
fn spread(wait: Duration) -> Duration {
    let random = getrandom::u32().unwrap_or(u32::MAX / 2);
    wait.mul_f64(0.75 + 0.5 * f64::from(random) / f64::from(u32::MAX))
}

/// Returns true if a server may answer otherwise another time.
pub(crate) fn is_passing(status: StatusCode) -> bool {
    matches!(status.as_u16(), 408 | 425 | 429 | 499 | 500 | 502 | 503 | 504 | 520..=524)
}

/// Returns how long a server asks to be left alone: `Retry-After`, in seconds or until a date.
pub(crate) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        // More digits than fit are a wait that nobody waits.
        return Some(Duration::from_secs(text.parse().unwrap_or(u64::from(u32::MAX))));
    }
    let until = date(text)?;
    // By the server's clock, where it shows it: ours may be wrong.
    let now = headers.get(DATE).and_then(|date_header| date(date_header.to_str().ok()?)).or_else(|| {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
        Timestamp::from_second(i64::try_from(since.as_secs()).ok()?).ok()
    })?;
    let seconds = until.as_second().saturating_sub(now.as_second());
    Some(Duration::from_secs(u64::try_from(seconds).unwrap_or(0)))
}

fn date(text: &str) -> Option<Timestamp> {
    rfc2822::DateTimeParser::new().parse_timestamp(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.insert(*name, value.parse().unwrap());
        }
        headers
    }

    #[test]
    fn servers_ask_in_seconds_or_until_a_date() {
        let date = ("date", "Sun, 06 Nov 1994 08:49:37 GMT");
        let seconds = |wait| Some(Duration::from_secs(wait));
        for (given, want) in [
            (&[("retry-after", "120")][..], seconds(120)),
            (&[("retry-after", " 0 ")], seconds(0)),
            (&[date, ("retry-after", "Sun, 06 Nov 1994 08:51:37 GMT")], seconds(120)),
            (&[date, ("retry-after", "Sun, 06 Nov 1994 08:00:00 GMT")], seconds(0)),
            (&[("retry-after", "Sun, 06 Nov 1994 08:51:37 GMT")], seconds(0)),
            (&[("retry-after", "99999999999999999999999")], seconds(u64::from(u32::MAX))),
            (&[("retry-after", "soon")], None),
            (&[("retry-after", "-1")], None),
            (&[], None),
        ] {
            assert_eq!(retry_after(&headers(given)), want, "{given:?}");
        }
    }

    fn failing(kind: ErrorKind, wait: Option<Duration>, retry: Retry) -> (u32, Error) {
        let mut attempts = 0;
        let outcome = with_retries::<()>(retry, || {
            attempts += 1;
            Err(Failure::Passing { error: Error::new(kind, "no"), wait })
        });
        (attempts, outcome.unwrap_err())
    }

    #[test]
    fn attempts_and_waits_have_an_end() {
        let retry = Retry { attempts: 4, pause: Duration::from_millis(1), patience: Duration::from_secs(10) };
        let (attempts, error) = failing(ErrorKind::Unavailable, None, retry);
        assert_eq!((attempts, error.get_hint()), (4, Some("it was tried 4 times; try again later")));
        let hour = Duration::from_secs(3600);
        let (attempts, error) = failing(ErrorKind::RateLimited, Some(hour), retry);
        assert_eq!((attempts, error.retry_after()), (1, Some(hour)));
        let none = Retry { attempts: 0, ..retry };
        assert_eq!(failing(ErrorKind::Unavailable, None, none).0, 1);
    }
}
