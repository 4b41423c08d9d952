//! The status of an ImageRepository, in Flux' words: what its registry has.

use diagnostic::{ErrorKind, Result};
use std::collections::BTreeSet;

use jiff::Timestamp;
use oci_registry::Repository;
use serde_json::Value;

use super::conditions::Conditions;
use super::frame::Frame;
use super::news::{ImageId, News};
use super::subject::Fault;
use super::words::{joined, of_error};
use crate::dialect::flux::status::{ImageRepositoryStatus, ScanResult};
use crate::round::Scan;

/// Flux' default exclusion.
const EXCLUDED: &str = r"^.*\.sig$";

/// The scan result of a registry.
#[derive(Debug, Default)]
pub(super) struct ImageRepository {
    scan: Option<(Timestamp, Result<Scan>)>,
    is_used: bool,
}

impl ImageRepository {
    pub(super) fn hear(&mut self, news: &News<'_>) {
        let mut scans = news.images.iter().filter_map(|heard| heard.report?.scan.as_ref());
        if let Some(scan) = scans.next_back() {
            self.scan = Some((news.now, scan.clone()));
        }
    }

    pub(super) fn renew(&mut self, images: &BTreeSet<ImageId>) -> bool {
        std::mem::replace(&mut self.is_used, !images.is_empty()) == images.is_empty()
    }

    /// Nothing as long as nothing is known.
    pub(super) fn status(
        &self,
        before: ImageRepositoryStatus,
        frame: &Frame<'_>,
    ) -> Option<ImageRepositoryStatus> {
        let Frame { subject, spec, handled, now } = *frame;
        let mut conditions = Conditions::of(before.conditions.clone(), subject.generation, now);
        let mut status = before;
        let observed = Some(subject.generation);
        match (subject.faults.first(), &self.scan) {
            (Some(fault), _) => {
                let message = joined(subject.faults.iter().map(Fault::message));
                let is_settled = say_fault(&mut conditions, fault, &message);
                status.observed_generation = observed.filter(|_| is_settled).or(status.observed_generation);
            }
            (None, Some((at, Ok(scan)))) => {
                let Scan { revision, count, latest } = scan;
                conditions.succeed(&format!("successful scan: found {count} tags with checksum {revision}"));
                status.observed_generation = observed;
                status.canonical_image_name = spec["image"].as_str().map(canonical);
                status.observed_exclusion_list = excluded(spec);
                status.last_scan_result = Some(ScanResult {
                    revision: revision.clone(),
                    tag_count: *count as u64,
                    scan_time: Some((*at).into()),
                    latest_tags: latest.clone(),
                });
            }
            (None, Some((_, Err(error)))) if error.kind() == ErrorKind::Credentials => {
                conditions.fail("AuthenticationFailed", &of_error(error));
            }
            (None, Some((_, Err(error)))) => {
                conditions.fail("ReadOperationFailed", &format!("scan failed: {}", of_error(error)));
            }
            (None, None) if !self.is_used => {
                conditions.succeed("no ImagePolicy is for this repository, so that it is not scanned");
                status.observed_generation = observed;
            }
            (None, None) => return None,
        }
        status.conditions = conditions.into_all();
        status.last_handled_reconcile_at = handled.map(str::to_owned).or(status.last_handled_reconcile_at);
        Some(status)
    }
}

/// Returns true if it cannot go on until somebody mends the object.
fn say_fault(conditions: &mut Conditions, fault: &Fault, message: &str) -> bool {
    let is_of_image = fault.field.as_deref().is_some_and(|field| field.starts_with("spec.image"));
    match fault.kind() {
        ErrorKind::Credentials | ErrorKind::NotFound => {
            conditions.fail("AuthenticationFailed", message);
            return false;
        }
        ErrorKind::Denied => conditions.stall("AccessDenied", message),
        ErrorKind::Invalid if is_of_image => conditions.stall("ImageURLInvalid", message),
        _ => conditions.stall("ReadOperationFailed", message),
    }
    true
}

/// The image with all that its name leaves to be understood. Docker Hub is called as Flux calls it.
fn canonical(image: &str) -> String {
    match image.parse::<Repository>() {
        Ok(repository) => {
            let full = repository.to_string();
            full.strip_prefix("docker.io/")
                .map_or_else(|| full.clone(), |path| format!("index.docker.io/{path}"))
        }
        Err(_) => image.to_owned(),
    }
}

fn excluded(spec: &Value) -> Vec<String> {
    let list = spec["exclusionList"].as_array().into_iter().flatten();
    let list: Vec<String> = list.filter_map(|pattern| pattern.as_str().map(str::to_owned)).collect();
    if list.is_empty() { vec![EXCLUDED.to_owned()] } else { list }
}
