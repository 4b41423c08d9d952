//! `newest-build`: the tag whose image was made last. The time is that of the build, so that an old image under a new tag
//! stays old.

use diagnostic::Result;
use std::cmp::Ordering;

use jiff::Timestamp;

use super::{Candidate, Policy, Ranked, Words};
use crate::criteria::Criteria;
use crate::filter::{Lack, Refusal};

#[derive(Clone, Debug)]
pub(super) struct NewestBuild;

impl Policy for NewestBuild {
    const NAME: &'static str = "newest-build";
    const READS_METADATA: bool = true;
    type Rank = Timestamp;

    fn new(_criteria: &Criteria) -> Result<Self> {
        Ok(Self)
    }

    fn rank(&self, candidate: &Candidate<'_>) -> Result<Timestamp, Refusal> {
        let created = candidate.tag.created_for(candidate.platforms);
        created.ok_or_else(|| Refusal::unknown(candidate.tag, Lack::Created))
    }

    fn compare(&self, first: &Timestamp, second: &Timestamp) -> Ordering {
        first.cmp(second)
    }

    fn words(&self) -> Words {
        Words { best: "the newest build", below: "older than" }
    }

    /// Reproducible builds may all have the same time.
    fn warning(&self, candidates: &[Ranked<'_, Timestamp>]) -> Option<String> {
        let (best, rest) = candidates.split_first()?;
        let same = !rest.is_empty() && rest.iter().all(|other| other.rank == best.rank);
        same.then(|| {
            format!("all candidates were created at {}, so that the time decides nothing", best.rank)
        })
    }
}
