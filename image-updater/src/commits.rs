//! Which commits a batch becomes, and what they say.
//!
//! In: a batch, a round, and the files as they are. Out: a plan for each commit, made on the files that the one before it
//! leaves, and messages from templates.

use diagnostic::Result;
use std::collections::BTreeMap;

use crate::change::{Change, Named};
use crate::deliver::{Part, Planner};
use crate::files::Files;
use crate::message::{FLUX_MESSAGE, MessageTemplate, Subject};
use crate::round::{Round, Text};
use crate::work::{Batch, Delivery, Words};

/// A batch that is worked off in one round.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BatchPlanner<'b> {
    pub(crate) batch: &'b Batch,
    pub(crate) round: &'b Round<'b>,
}

impl Planner for BatchPlanner<'_> {
    fn plan(&self, files: &dyn Files, is_held: &dyn Fn(&Change) -> bool) -> Result<Vec<Part>> {
        let mut parts: Vec<Part> = Vec::new();
        let mut texts: BTreeMap<String, Text> = BTreeMap::new();
        for (application, batch) in self.split() {
            let plan = self.round.plan_unless(&batch, &Overlay { below: files, texts: &texts }, is_held);
            texts.extend(plan.texts.iter().map(|(path, text)| (path.clone(), text.clone())));
            parts.push(Part { plan, application });
        }
        Ok(parts)
    }
}

impl BatchPlanner<'_> {
    /// The batch, or for each application what is its own.
    fn split(&self) -> Vec<(Option<String>, Batch)> {
        if !self.batch.delivery.commit_per_application {
            return vec![(None, self.batch.clone())];
        }
        let parts = self.by_application().into_iter();
        parts.map(|(application, batch)| (application.map(|named| named.name.clone()), batch)).collect()
    }

    /// For each application what is its own, in the order in which they come first.
    pub(crate) fn by_application(&self) -> Vec<(Option<&Named>, Batch)> {
        let Batch { files, delivery, updates } = self.batch;
        let mut parts: Vec<(Option<&Named>, Batch)> = Vec::new();
        let mut places: BTreeMap<Option<&Named>, usize> = BTreeMap::new();
        for update in updates {
            let application = update.application.as_ref();
            let place = *places.entry(application).or_insert_with(|| {
                let (files, delivery) = (files.clone(), delivery.clone());
                parts.push((application, Batch { files, delivery, updates: Vec::new() }));
                parts.len() - 1
            });
            parts[place].1.updates.push(update.clone());
        }
        parts
    }
}

/// The message of a commit, without trailers.
///
/// # Errors
/// If its template cannot be executed with these changes.
pub(crate) fn message(delivery: &Delivery, name: &str, changes: &[Change]) -> Result<String> {
    match (&delivery.message, delivery.words) {
        (Some(text), _) => rendered(delivery, "message", text, name, changes),
        (None, Words::Flux) => rendered(delivery, "message", FLUX_MESSAGE, name, changes),
        (None, Words::ArgoCd) => MessageTemplate::default().render(&subject(delivery, name, changes)),
    }
}

/// The title of a request: that of its template, or the message.
///
/// # Errors
/// If its template cannot be executed with these changes.
pub(crate) fn heading(
    delivery: &Delivery,
    title: Option<&str>,
    name: &str,
    changes: &[Change],
) -> Result<String> {
    match title {
        Some(text) => rendered(delivery, "title", text, name, changes),
        None => message(delivery, name, changes),
    }
}

/// Returns what templates are told, with what the configuration hands to them.
pub(crate) fn subject<'s>(delivery: &'s Delivery, name: &'s str, changes: &'s [Change]) -> Subject<'s> {
    Subject { name, changes, automation: delivery.automation.as_ref(), values: &delivery.values }
}

fn rendered(delivery: &Delivery, field: &str, text: &str, name: &str, changes: &[Change]) -> Result<String> {
    MessageTemplate::parse(field, text, &delivery.values)?.render(&subject(delivery, name, changes))
}

/// Files with some of them changed.
struct Overlay<'o> {
    below: &'o dyn Files,
    texts: &'o BTreeMap<String, Text>,
}

impl Files for Overlay<'_> {
    fn bytes(&self, path: &str) -> Result<Option<Vec<u8>>> {
        match self.texts.get(path) {
            Some(text) => Ok(Some(text.new.clone().into_bytes())),
            None => self.below.bytes(path),
        }
    }

    fn glob(&self, pattern: &str) -> Result<Vec<String>> {
        self.below.glob(pattern)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::{Named, Version};

    #[test]
    fn a_message_has_what_the_configuration_hands_to_it() {
        let delivery = Delivery {
            message: Some("{{ .AutomationObject }} in {{ .Values.cluster }}".to_owned()),
            words: Words::Flux,
            values: BTreeMap::from([("cluster".to_owned(), "prod".to_owned())]),
            automation: Some(Named { namespace: "flux-system".to_owned(), name: "all".to_owned() }),
            ..Delivery::default()
        };
        let change = Change { old: Version::of_tag("1"), new: Version::of_tag("2"), ..Change::default() };
        assert_eq!(message(&delivery, "x", &[change]).unwrap(), "flux-system/all in prod\n");
    }
}
