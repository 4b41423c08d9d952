//! The jobs of `run --cluster`.
//!
//! In: settings. Out: jobs that come and go with what is in the cluster, or those of one round.

use diagnostic::Result;
use std::sync::Arc;
use std::time::Duration;

use super::reach::random;
use super::rounds::{Rounds, Source};
use super::run::Begun;
use super::work::{Recorded, cache};
use crate::cluster::settings::Settings;
use crate::cluster::{Mailbox, Site, Surroundings};
use crate::daemon::{Health, Job, Metrics, Roster, Switchboard};
use crate::gate::Gate;
use crate::registries::ClientPool;

/// The options of cluster jobs.
pub(super) struct Manner<'m> {
    pub(super) gate: &'m Gate,
    pub(super) switchboard: &'m Switchboard,
    pub(super) roster: &'m Roster,
    pub(super) health: &'m Arc<Health>,
    pub(super) metrics: &'m Arc<Metrics>,
    pub(super) recorded: Option<Recorded>,
    pub(super) fresh_for: Duration,
    pub(super) once: bool,
    pub(super) is_dry: bool,
}

/// Begins to work off a cluster. For one round these are all jobs; else they come as what is in it is seen. What is only
/// tried stands for no election, so that it keeps nobody from working.
///
/// # Errors
/// If it cannot be reached, or for one round not be seen.
pub(super) fn begin(mut settings: Settings, manner: Manner<'_>) -> Result<Begun> {
    let Manner { gate, switchboard, roster, health, metrics, recorded, fresh_for, once, is_dry } = manner;
    let cache = cache();
    settings.election = settings.election.filter(|_| !is_dry);
    let cached = cache.clone();
    let around =
        Surroundings { gate, switchboard, roster, health, metrics, cache: cached, fresh_for, random };
    let (site, presence) = Site::connect(settings, &around)?;
    let cluster = site.cluster();
    let vault = Arc::clone(&cluster.vault);
    let client = ClientPool::new(cache, fresh_for).client_for(&[])?;
    let make_job = move |place: String, mailbox: Mailbox| -> Box<dyn Job> {
        let source = Source::Cluster { place, mailbox };
        let (client, recorded) = (Arc::clone(&client), recorded.clone());
        Box::new(Rounds::new(source, client, recorded, fresh_for, is_dry, Some(cluster.clone())))
    };
    let mut controller = site.controller(&around, Arc::clone(&vault), Box::new(make_job))?;
    let jobs = if once { controller.jobs()? } else { Vec::new() };
    controller.run()?;
    Ok(Begun { jobs, vault: Some(vault), presence: Some(presence) })
}
