//! The `status` of objects: the parts that all tools share.
//!
//! Every field is there that the originals have, so that nothing is lost of what others look at. What is read may be
//! from a newer controller: fields that are not known are passed over, and gone with the next write.

use std::fmt;

use jiff::Timestamp;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Maximum length of a condition's message, in characters.
pub(crate) const MAX_MESSAGE: usize = 32_768;

/// Pattern of a condition's reason.
const REASON: &str = "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$";

/// Pattern of a condition's type.
const TYPE: &str = "^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?\
                    (([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$";

/// A moment, in whole seconds, as the API keeps it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Time(Timestamp);

/// One side of an object's state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Condition {
    /// Which side it is.
    #[serde(rename = "type")]
    #[schemars(length(max = 316), extend("pattern" = TYPE))]
    pub(crate) kind: String,
    /// Tells whether it is so.
    pub(crate) status: Truth,
    /// The generation of the object that it is said of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub(crate) observed_generation: Option<i64>,
    /// Since when it is so, or is not.
    pub(crate) last_transition_time: Time,
    /// Why, in a word for programs.
    #[schemars(length(min = 1, max = 1024), extend("pattern" = REASON))]
    pub(crate) reason: String,
    /// Why, in a sentence for people.
    #[schemars(length(max = MAX_MESSAGE))]
    pub(crate) message: String,
}

/// Tells whether something is so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) enum Truth {
    True,
    False,
    Unknown,
}

#[cfg(any(feature = "kube", test))]
impl Condition {
    /// Puts the condition among those of an object, in the place of the one of its type. What is as true as before is
    /// so since before.
    pub(crate) fn set(mut self, conditions: &mut Vec<Self>) {
        match conditions.iter_mut().find(|condition| condition.kind == self.kind) {
            Some(before) => {
                if before.status == self.status {
                    self.last_transition_time = before.last_transition_time;
                }
                *before = self;
            }
            None => conditions.push(self),
        }
    }
}

impl From<Timestamp> for Time {
    fn from(timestamp: Timestamp) -> Self {
        Self(Timestamp::from_second(timestamp.as_second()).unwrap_or(timestamp))
    }
}

impl From<Time> for Timestamp {
    fn from(time: Time) -> Self {
        time.0
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse::<Timestamp>().map(Self::from).map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for Time {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Time".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "date-time" })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn condition(status: Truth, time: &str, message: &str) -> Condition {
        Condition {
            kind: "Ready".to_owned(),
            status,
            observed_generation: Some(3),
            last_transition_time: time.parse::<Timestamp>().unwrap().into(),
            reason: "Succeeded".to_owned(),
            message: message.to_owned(),
        }
    }

    #[test]
    fn times_are_in_whole_seconds_of_utc() {
        let written = |text: &str| serde_json::to_value(serde_json::from_value::<Time>(json!(text)).unwrap());
        for text in ["2026-11-30T18:33:59Z", "2026-11-30T18:33:59.987Z", "2026-11-30T20:33:59+02:00"] {
            assert_eq!(written(text).unwrap(), json!("2026-11-30T18:33:59Z"), "{text}");
        }
        assert!(serde_json::from_value::<Time>(json!("yesterday")).is_err());
    }

    #[test]
    fn a_condition_is_written_as_the_api_has_it() {
        let value = serde_json::to_value(condition(Truth::False, "2026-11-30T18:33:59Z", "no")).unwrap();
        let wanted = json!({
            "type": "Ready", "status": "False", "observedGeneration": 3, "reason": "Succeeded", "message": "no",
            "lastTransitionTime": "2026-11-30T18:33:59Z",
        });
        assert_eq!(value, wanted);
    }

    #[test]
    fn only_a_change_of_status_moves_the_time() {
        let mut conditions = Vec::new();
        let mut seen = Vec::new();
        for (status, time, message) in [
            (Truth::True, "2026-01-01T00:00:01Z", "a"),
            (Truth::True, "2026-01-01T00:00:02Z", "b"),
            (Truth::False, "2026-01-01T00:00:03Z", "c"),
        ] {
            condition(status, time, message).set(&mut conditions);
            assert_eq!(conditions.len(), 1);
            seen.push((conditions[0].last_transition_time.to_string(), conditions[0].message.clone()));
        }
        let wanted =
            [("2026-01-01T00:00:01Z", "a"), ("2026-01-01T00:00:01Z", "b"), ("2026-01-01T00:00:03Z", "c")];
        assert_eq!(seen, wanted.map(|(time, message)| (time.to_owned(), message.to_owned())));
    }
}
