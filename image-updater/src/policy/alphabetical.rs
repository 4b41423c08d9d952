//! `alphabetical`: the last tag in byte order, or the first. With `natural_order` the numbers in a tag count by their value.

use diagnostic::Result;
use std::cmp::Ordering;

use super::{Candidate, Policy, Ranked, Words, natural};
use crate::criteria::{Criteria, Order, option};
use crate::filter::Refusal;

#[derive(Clone, Debug)]
pub(super) struct Alphabetical {
    order: Order,
    natural_order: bool,
}

impl Policy for Alphabetical {
    const NAME: &'static str = "alphabetical";
    const USES: &'static [&'static str] = &[option::ORDER, option::NATURAL_ORDER];
    type Rank = String;

    fn new(criteria: &Criteria) -> Result<Self> {
        Ok(Self { order: criteria.order.unwrap_or_default(), natural_order: criteria.natural_order })
    }

    fn rank(&self, candidate: &Candidate<'_>) -> Result<String, Refusal> {
        Ok(candidate.value.clone().into_owned())
    }

    fn compare(&self, first: &String, second: &String) -> Ordering {
        let ascending = if self.natural_order { natural::compare(first, second) } else { first.cmp(second) };
        self.order.apply(ascending)
    }

    fn words(&self) -> Words {
        let (last, first) = if self.natural_order {
            ("the last in natural order", "the first in natural order")
        } else {
            ("the last in byte order", "the first in byte order")
        };
        match self.order {
            Order::Ascending => Words { best: last, below: "sorts before" },
            Order::Descending => Words { best: first, below: "sorts after" },
        }
    }

    fn warning(&self, candidates: &[Ranked<'_, String>]) -> Option<String> {
        if self.natural_order {
            return None;
        }
        let (best, rest) = candidates.split_first()?;
        let beats =
            |other: &&Ranked<'_, String>| self.order.apply(natural::compare(&other.rank, &best.rank)).is_gt();
        let other = rest.iter().find(beats)?;
        Some(format!(
            "by the numbers in it `{}` would come before `{}`, which is chosen as text; `natural-order` goes by \
             numbers, and `filter-tags` with `extract` can pick out a version",
            other.tag.name, best.tag.name
        ))
    }
}
