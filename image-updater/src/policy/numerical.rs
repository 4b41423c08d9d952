//! `numerical`: the largest number, or the smallest. Numbers are exact decimals of any length.

use diagnostic::Result;
use std::cmp::Ordering;

use super::number::Decimal;
use super::{Candidate, Policy, Words};
use crate::criteria::{Criteria, Order, option};
use crate::filter::Refusal;

#[derive(Clone, Debug)]
pub(super) struct Numerical {
    order: Order,
}

impl Policy for Numerical {
    const NAME: &'static str = "numerical";
    const USES: &'static [&'static str] = &[option::ORDER];
    type Rank = Decimal;

    fn new(criteria: &Criteria) -> Result<Self> {
        Ok(Self { order: criteria.order.unwrap_or_default() })
    }

    fn rank(&self, candidate: &Candidate<'_>) -> Result<Decimal, Refusal> {
        Decimal::parse(&candidate.value).map_or_else(|| candidate.is_no("number", "decimal number"), Ok)
    }

    fn compare(&self, first: &Decimal, second: &Decimal) -> Ordering {
        self.order.apply(first.cmp(second))
    }

    fn words(&self) -> Words {
        match self.order {
            Order::Ascending => Words { best: "the largest number", below: "smaller than" },
            Order::Descending => Words { best: "the smallest number", below: "larger than" },
        }
    }
}
