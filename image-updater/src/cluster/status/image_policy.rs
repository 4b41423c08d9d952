//! The status of an ImagePolicy, in Flux' words: which version it has chosen, whether or not that could be written.

use diagnostic::ErrorKind;
use std::collections::BTreeSet;

use super::conditions::Conditions;
use super::frame::Frame;
use super::news::{ImageId, News};
use super::subject::Fault;
use super::words::{joined, of_error};
use crate::dialect::flux::status::{ImagePolicyStatus, ImageReference};
use crate::round::Report;

/// The chosen tag.
#[derive(Debug, Default)]
pub(super) struct ImagePolicy {
    choice: Option<Choice>,
}

#[derive(Clone, Debug)]
enum Choice {
    Chosen(ImageReference),
    /// No tag may be.
    None(String),
    /// The registry cannot be asked.
    Unscanned(String),
    /// It is not known which.
    Failed(String),
}

impl ImagePolicy {
    pub(super) fn hear(&mut self, news: &News<'_>) {
        let mut choices = news.images.iter().filter_map(|heard| choice_of(heard.image, heard.report?));
        if let Some(choice) = choices.next_back() {
            self.choice = Some(choice);
        }
    }

    /// One image it has at most, and which one its generation says.
    #[expect(clippy::unused_self, reason = "as the other kinds")]
    pub(super) fn renew(&mut self, _images: &BTreeSet<ImageId>) -> bool {
        false
    }

    /// Nothing as long as nothing is known.
    pub(super) fn status(&self, before: ImagePolicyStatus, frame: &Frame<'_>) -> Option<ImagePolicyStatus> {
        let Frame { subject, handled, now, .. } = *frame;
        let mut conditions = Conditions::of(before.conditions.clone(), subject.generation, now);
        let mut status = before;
        let mut is_settled = true;
        match (subject.faults.first(), &self.choice) {
            (Some(fault), _) => {
                let message = joined(subject.faults.iter().map(Fault::message));
                is_settled = say_fault(&mut conditions, fault.kind(), &message);
            }
            (None, Some(Choice::Chosen(latest))) => {
                if status.latest_ref.as_ref() != Some(latest) {
                    status.observed_previous_ref = status.latest_ref.replace(latest.clone());
                }
                conditions.succeed(&in_words(latest, status.observed_previous_ref.as_ref()));
            }
            (None, Some(Choice::None(why) | Choice::Failed(why))) => {
                conditions.fail("Failure", why);
                is_settled = false;
            }
            (None, Some(Choice::Unscanned(why))) => {
                conditions.fail("DependencyNotReady", why);
                is_settled = false;
            }
            (None, None) => return None,
        }
        if is_settled {
            status.observed_generation = Some(subject.generation);
        }
        status.conditions = conditions.into_all();
        status.last_handled_reconcile_at = handled.map(str::to_owned).or(status.last_handled_reconcile_at);
        Some(status)
    }
}

fn choice_of(image: &str, report: &Report) -> Option<Choice> {
    if let Some(Err(error)) = &report.scan {
        return Some(Choice::Unscanned(of_error(error)));
    }
    Some(match report.decided.as_ref()? {
        Ok(decided) => match reference(image, report) {
            Some(latest) => Choice::Chosen(latest),
            None => Choice::None(decided.reason.clone()),
        },
        Err(error) => Choice::Failed(of_error(error)),
    })
}

/// The version that was chosen for an image.
pub(super) fn reference(image: &str, report: &Report) -> Option<ImageReference> {
    let version = report.decided.as_ref()?.as_ref().ok()?.version.as_ref()?;
    Some(ImageReference {
        name: image.to_owned(),
        tag: version.tag.clone().unwrap_or_default(),
        digest: version.digest.clone(),
    })
}

/// As people read it in a list of policies.
fn in_words(latest: &ImageReference, previous: Option<&ImageReference>) -> String {
    let mut text = format!("Latest image tag for {} resolved to {}", latest.name, latest.tag);
    if let Some(digest) = &latest.digest {
        text.push_str(" with digest ");
        text.push_str(digest);
    }
    if let Some(ImageReference { name, tag, digest }) = previous.filter(|previous| *previous != latest) {
        let digest = digest.as_ref().map(|digest| format!("@{digest}")).unwrap_or_default();
        text.push_str(&format!(" (previously {name}:{tag}{digest})"));
    }
    text
}

/// Returns true if it cannot go on until somebody mends the object.
fn say_fault(conditions: &mut Conditions, cause: ErrorKind, message: &str) -> bool {
    match cause {
        ErrorKind::NotFound | ErrorKind::Credentials => conditions.fail("DependencyNotReady", message),
        ErrorKind::Denied => conditions.fail("AccessDenied", message),
        _ => {
            conditions.stall("InvalidPolicy", message);
            return true;
        }
    }
    false
}
