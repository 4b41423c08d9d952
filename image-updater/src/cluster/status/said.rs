//! The Events that accompany a new status.

use serde_json::Value;

use super::conditions::{ERROR, READY};
use super::ledger::Told;
use crate::cluster::events::{Notice, Severity};
use crate::dialect::status::{Condition, Truth};
use crate::work::{Owner, OwnerKind};

/// Returns what is new in a status; nothing where people know it already.
pub(super) fn announced(owner: &Owner, before: &Value, after: &Value, told: &Told) -> Option<Notice> {
    let (before, after) = (conditions(before), conditions(after));
    let (severity, reason, message) = match owner.kind {
        OwnerKind::Application => return None,
        OwnerKind::ImageUpdater => of_image_updater(&before, &after)?,
        _ => of_flux(&before, &after, told)?,
    };
    Some(Notice { owner: owner.clone(), severity, reason, message, annotations: Vec::new() })
}

type Words = (Severity, String, String);

/// Returns the event about errors and recovery; updates have their own events.
fn of_image_updater(before: &[Condition], after: &[Condition]) -> Option<Words> {
    let (was, is) = (find(before, ERROR), find(after, ERROR)?);
    match is.status {
        Truth::True if is_news(was, is) => Some((Severity::Warning, is.reason.clone(), is.message.clone())),
        Truth::False if was.is_some_and(|was| was.status == Truth::True) => {
            let ready = find(after, READY)?;
            Some((Severity::Normal, ready.reason.clone(), ready.message.clone()))
        }
        _ => None,
    }
}

/// Flux says it when something failed, when it is well again, and when there is something new.
fn of_flux(before: &[Condition], after: &[Condition], told: &Told) -> Option<Words> {
    let (was, is) = (find(before, READY), find(after, READY)?);
    match (is.status, &told.push) {
        (Truth::True, Some(push)) => Some((Severity::Normal, is.reason.clone(), push.clone())),
        (Truth::True, None) if is_news(was, is) => {
            Some((Severity::Normal, is.reason.clone(), is.message.clone()))
        }
        (Truth::False, _) if is_news(was, is) => {
            Some((Severity::Warning, is.reason.clone(), is.message.clone()))
        }
        _ => None,
    }
}

fn is_news(was: Option<&Condition>, is: &Condition) -> bool {
    was.is_none_or(|was| (was.status, &was.reason, &was.message) != (is.status, &is.reason, &is.message))
}

fn find<'c>(conditions: &'c [Condition], kind: &str) -> Option<&'c Condition> {
    conditions.iter().find(|condition| condition.kind == kind)
}

fn conditions(status: &Value) -> Vec<Condition> {
    serde_json::from_value(status["conditions"].clone()).unwrap_or_default()
}
