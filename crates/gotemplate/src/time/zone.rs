//! Time zones: in goes a name, out come the offset and abbreviation at a point in time.

use std::rc::Rc;

use jiff::Timestamp;
use jiff::tz::{TimeZone, TimeZoneDatabase};

/// Maximum number of changes of offset around a point in time that are looked at for an abbreviation.
const CHANGES: usize = 4;

/// A `*time.Location`.
#[derive(Clone, Debug)]
pub enum Zone {
    /// UTC.
    Utc,
    /// The one that options give as local.
    Local(TimeZone),
    /// One of the database.
    Named(TimeZone),
    /// An offset from UTC in seconds, with an abbreviation that may be empty.
    Fixed(Rc<str>, i32),
}

/// The offset of a zone at some point in time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Offset {
    pub(super) seconds: i32,
    pub(super) abbreviation: Rc<str>,
    pub(super) daylight_saving: bool,
}

impl Zone {
    /// `time.LoadLocation`, with `local` as the zone that `Local` is. None for one that there is not.
    #[must_use]
    pub fn load(name: &str, local: &str) -> Option<Self> {
        match name {
            "" | "UTC" => Some(Self::Utc),
            "Local" => Some(Self::local(local)),
            _ => find(name).map(Self::Named),
        }
    }

    /// The local zone of that name, UTC if there is none.
    #[must_use]
    pub fn local(name: &str) -> Self {
        if name.is_empty() || name == "UTC" { Self::Utc } else { find(name).map_or(Self::Utc, Self::Local) }
    }

    /// The name of the location.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Utc => "UTC",
            Self::Local(_) => "Local",
            Self::Named(zone) => zone.iana_name().unwrap_or_default(),
            Self::Fixed(name, _) => name,
        }
    }

    /// Returns what holds so many seconds after 1970.
    pub(super) fn at(&self, seconds: i64) -> Offset {
        match self {
            Self::Utc => Offset { seconds: 0, abbreviation: "UTC".into(), daylight_saving: false },
            Self::Fixed(name, offset) => {
                Offset { seconds: *offset, abbreviation: name.clone(), daylight_saving: false }
            }
            Self::Local(zone) | Self::Named(zone) => {
                let info = zone.to_offset_info(timestamp(seconds));
                Offset {
                    seconds: info.offset().seconds(),
                    abbreviation: info.abbreviation().into(),
                    daylight_saving: info.dst().is_dst(),
                }
            }
        }
    }

    /// The offset that an abbreviation means in this zone, at about so many seconds after 1970.
    pub(super) fn offset_of(&self, abbreviation: &str, seconds: i64) -> Option<i32> {
        let (Self::Local(zone) | Self::Named(zone)) = self else {
            return Some(self.at(seconds))
                .filter(|offset| &*offset.abbreviation == abbreviation)
                .map(|o| o.seconds);
        };
        let around = timestamp(seconds);
        let before = zone.preceding(around).take(CHANGES);
        let changes = before.chain(zone.following(around).take(CHANGES));
        let offsets: Vec<i32> = changes
            .filter(|change| change.abbreviation() == abbreviation)
            .map(|change| change.offset().seconds())
            .collect();
        // Best is one that was in force at that time; some zones had one abbreviation for two offsets.
        let in_force = offsets.iter().find(|offset| {
            let now = self.at(seconds - i64::from(**offset));
            now.seconds == **offset && &*now.abbreviation == abbreviation
        });
        let current = self.at(seconds);
        let current = (&*current.abbreviation == abbreviation).then_some(current.seconds);
        in_force.copied().or(current).or_else(|| offsets.first().copied())
    }
}

fn find(name: &str) -> Option<TimeZone> {
    // The database does not look at the case of letters, but file systems do.
    let zone = TimeZoneDatabase::bundled().get(name).ok()?;
    (zone.iana_name() == Some(name)).then_some(zone)
}

/// The point in time, or the nearest that the database knows of.
fn timestamp(seconds: i64) -> Timestamp {
    let (least, greatest) = (Timestamp::MIN.as_second(), Timestamp::MAX.as_second());
    Timestamp::from_second(seconds.clamp(least, greatest)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offset(zone: &str, seconds: i64) -> (i32, String) {
        let offset = Zone::load(zone, "UTC").unwrap().at(seconds);
        (offset.seconds, offset.abbreviation.to_string())
    }

    #[test]
    fn offsets_and_abbreviations_are_those_of_the_database() {
        assert_eq!(offset("America/New_York", 1_600_000_000), (-4 * 3600, "EDT".to_owned()));
        assert_eq!(offset("America/New_York", 1_610_000_000), (-5 * 3600, "EST".to_owned()));
        assert_eq!(offset("Asia/Kolkata", 0), (19_800, "IST".to_owned()));
        assert_eq!(offset("America/Sao_Paulo", 1_610_000_000), (-3 * 3600, "-03".to_owned()));
    }

    #[test]
    fn a_zone_that_there_is_not_is_none() {
        for name in ["Nope/Zone", "america/new_york", "../etc/passwd", "/UTC"] {
            assert!(Zone::load(name, "UTC").is_none(), "{name}");
        }
        assert_eq!(Zone::local("Nope/Zone").name(), "UTC");
    }

    #[test]
    fn an_abbreviation_is_looked_for_around_its_time() {
        let zone = Zone::local("America/New_York");
        assert_eq!(zone.offset_of("EST", 1_600_000_000), Some(-5 * 3600));
        assert_eq!(zone.offset_of("EDT", 1_600_000_000), Some(-4 * 3600));
        assert_eq!(zone.offset_of("CET", 1_600_000_000), None);
    }
}
