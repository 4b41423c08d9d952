//! The review as data, by the schema that [`schema`](crate::schema) gives.

use super::{Format, FormatOptions};
use crate::model::Review;

pub(super) const FORMAT: Format =
    Format { name: "json", about: "the review as data", extension: "json", write };

fn write(review: &Review, _options: &FormatOptions) -> String {
    let json = serde_json::to_string_pretty(review).expect("keys are texts");
    json + "\n"
}
