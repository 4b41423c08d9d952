//! `alphabetical`: the last tag in byte order, or the first.

use std::cmp::Ordering;

use super::{Candidate, Policy, Ranked, Words, natural};
use crate::criteria::{Criteria, Order, option};
use crate::error::Result;
use crate::filter::Refusal;

#[derive(Clone, Debug)]
pub(super) struct Alphabetical {
    order: Order,
}

impl Policy for Alphabetical {
    const NAME: &'static str = "alphabetical";
    const USES: &'static [&'static str] = &[option::ORDER];
    type Rank = String;

    fn new(criteria: &Criteria) -> Result<Self> {
        Ok(Self { order: criteria.order.unwrap_or_default() })
    }

    fn rank(&self, candidate: &Candidate<'_>) -> Result<String, Refusal> {
        Ok(candidate.value.clone().into_owned())
    }

    fn compare(&self, first: &String, second: &String) -> Ordering {
        self.order.apply(first.cmp(second))
    }

    fn words(&self) -> Words {
        match self.order {
            Order::Ascending => Words { best: "the last in byte order", below: "sorts before" },
            Order::Descending => Words { best: "the first in byte order", below: "sorts after" },
        }
    }

    fn warning(&self, candidates: &[Ranked<'_, String>]) -> Option<String> {
        let (best, rest) = candidates.split_first()?;
        let beats =
            |other: &&Ranked<'_, String>| self.order.apply(natural::compare(&other.rank, &best.rank)).is_gt();
        let other = rest.iter().find(beats)?;
        Some(format!(
            "by the numbers in it `{}` would come before `{}`, which is chosen as text; `filter-tags` with `extract` can \
             pick out a version or number",
            other.tag.name, best.tag.name
        ))
    }
}
