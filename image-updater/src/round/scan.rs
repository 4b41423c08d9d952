//! Summarizes a repository as Flux does: the number of tags, the last by name, and a revision that changes with them.
//!
//! In: the names of all tags, and which of them do not count. Out: the sum.

use diagnostic::Result;
use std::fmt::Write as _;

use crate::criteria::{Criteria, TagPattern};
use crate::filter::Filters;

/// So many tags are named.
const LATEST: usize = 10;

/// The largest prime below 2^16, by which Adler-32 counts.
const MODULUS: u32 = 65_521;

/// All tags of a repository, summed up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scan {
    /// Another one when tags came or went: Flux' own number, so that nothing changes when this takes over.
    pub revision: String,
    /// Number of there are.
    pub count: usize,
    /// The last ones in the order of their names, from the very last on.
    pub latest: Vec<String>,
}

impl Scan {
    /// Sums up tags, but for those that a pattern leaves out.
    pub(super) fn of(mut tags: Vec<String>, excluded: &[TagPattern]) -> Result<Self> {
        let filters = Filters::new(&Criteria { ignore_tags: excluded.to_vec(), ..Criteria::default() })?;
        tags.retain(|tag| filters.names(tag).is_ok());
        tags.sort_unstable_by(|first, second| second.cmp(first));
        let revision = adler32(json(&tags).as_bytes()).to_string();
        let count = tags.len();
        tags.truncate(LATEST);
        Ok(Self { revision, count, latest: tags })
    }
}

/// A list as JSON, as Go writes it: tags have no character that would need more than quotes.
fn json(tags: &[String]) -> String {
    let mut text = String::from("[");
    for (place, tag) in tags.iter().enumerate() {
        let comma = if place > 0 { "," } else { "" };
        // Writing to a String does not fail.
        let _ = write!(text, "{comma}\"{tag}\"");
    }
    text.push(']');
    text
}

fn adler32(bytes: &[u8]) -> u32 {
    let (mut low, mut high) = (1, 0);
    for byte in bytes {
        low = (low + u32::from(*byte)) % MODULUS;
        high = (high + low) % MODULUS;
    }
    high << 16 | low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_the_one_of_rfc_1950() {
        // Known values of zlib's documentation and of the article that names the sum.
        assert_eq!(adler32(b""), 1);
        assert_eq!(adler32(b"Wikipedia"), 0x11E6_0398);
    }

    #[test]
    fn tags_are_summed_up_without_those_that_are_left_out() {
        let tags = ["1.0.0", "1.0.0.sig", "2.0.0", "10.0.0"].map(str::to_owned).to_vec();
        let excluded = [TagPattern::Expression(r"^.*\.sig$".to_owned())];
        let scan = Scan::of(tags.clone(), &excluded).unwrap();
        assert_eq!((scan.count, scan.latest.join(" ").as_str()), (3, "2.0.0 10.0.0 1.0.0"));
        let mut other = tags.clone();
        other.reverse();
        assert_eq!(Scan::of(other, &excluded).unwrap(), scan, "the registry's order does not matter");
        assert_ne!(Scan::of(tags, &[]).unwrap().revision, scan.revision);
        assert_eq!(Scan::of(Vec::new(), &[]).unwrap().count, 0);
        let many = (0..100).map(|tag| tag.to_string()).collect();
        assert_eq!(Scan::of(many, &[]).unwrap().latest.len(), LATEST);
    }
}
