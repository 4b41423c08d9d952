//! A cluster that is reached: its API, what is watched of it, and what rounds need of it.
//!
//! In: settings. Out: [`Site`], which makes the cluster that rounds see and the controller that gives them work. Refused:
//! settings that name no cluster.

use diagnostic::{Error, ErrorKind, Result};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Handle, Runtime};

use super::client::{Connection, connect, identity};
use super::controller::{Controller, MakeJob};
use super::counted::counted;
use super::deliver::{Known, LiveApplications};
use super::lease::{Campaign, Candidate};
use super::resolve::Resolver;
use super::secrets::Secrets;
use super::settings::{Election, Settings, Source};
use super::watch::{Store, watch};
use super::witness::Reporter;
use super::{Cluster, Vault};
use crate::change::Named;
use crate::config::{Config, RegistriesConf};
use crate::daemon::{Health, Metrics, Roster, Switchboard};
use crate::gate::{Gate, Hold};
use crate::registries::ClientPool;
use crate::work::{Batch, Files};

/// Watches, leases and states are for few threads.
const THREADS: usize = 2;

/// Time the API server may be silent before we are of no use: it may be started anew meanwhile.
const PATIENCE: Duration = Duration::from_secs(60);

/// The parts of the program that the controller uses.
pub(crate) struct Surroundings<'s> {
    pub(crate) gate: &'s Gate,
    pub(crate) switchboard: &'s Switchboard,
    pub(crate) roster: &'s Roster,
    pub(crate) health: &'s Arc<Health>,
    pub(crate) metrics: &'s Arc<Metrics>,
    /// The cache directory of registry answers.
    pub(crate) cache: Option<PathBuf>,
    /// Time a list of tags is good for others that look at the same time.
    pub(crate) fresh_for: Duration,
    /// Chance, for pauses.
    pub(crate) random: fn() -> u64,
}

/// Our part in a cluster, for as long as the process lives: what runs there, and whether it leads.
pub(crate) struct Presence {
    runtime: Runtime,
    reporter: Reporter,
    campaign: Option<Campaign>,
}

impl Presence {
    /// Tells the objects what there is to tell, and leaves the cluster to others. Where a push is under way they wait until
    /// it is over for sure.
    pub(crate) fn end(self, is_under_way: bool) {
        self.reporter.settle();
        if let Some(campaign) = self.campaign {
            campaign.end(is_under_way);
        }
        // Nobody waits for what is asked of the API meanwhile.
        self.runtime.shutdown_background();
    }
}

/// A cluster that is reached.
pub(crate) struct Site {
    runtime: Handle,
    client: kube::Client,
    store: Arc<Store>,
    reporter: Reporter,
    own_namespace: String,
    settings: Settings,
}

impl Site {
    /// Reaches a cluster, begins to watch it and stands for election.
    ///
    /// # Errors
    /// If there is none to be reached.
    pub(crate) fn connect(settings: Settings, around: &Surroundings<'_>) -> Result<(Self, Presence)> {
        let refused = |error| Error::new(ErrorKind::Environment, format!("cannot start threads: {error}"));
        let runtime =
            Builder::new_multi_thread().worker_threads(THREADS).enable_all().build().map_err(refused)?;
        let Connection { client, namespace: own_namespace } = runtime.block_on(connect(&settings.access))?;
        // What a client is made of, and watches, are tasks.
        let entered = runtime.enter();
        let client = counted(client, around.metrics);
        let campaign = settings.election.clone().map(|Election { namespace, lease: name }| {
            let namespace = namespace.unwrap_or_else(|| own_namespace.clone());
            let candidate = Candidate {
                lease: Named { namespace, name },
                identity: identity(around.random),
                random: around.random,
            };
            let pulse = around.health.pulse(Instant::now());
            Campaign::begin(runtime.handle(), &client, candidate, around.gate, pulse)
        });
        let namespaces = settings.scope.namespaces(&own_namespace);
        let store = watch(&client, &namespaces, settings.sources.as_ref());
        let reporter = Reporter::new(around.gate, Arc::clone(around.metrics), settings.with_events);
        runtime.spawn(reporter.clone().run(client.clone()));
        drop(entered);
        depend(around, &store, campaign.is_some());
        let site =
            Self { runtime: runtime.handle().clone(), client, store, reporter, own_namespace, settings };
        let presence = Presence { runtime, reporter: site.reporter.clone(), campaign };
        Ok((site, presence))
    }

    /// The cluster as rounds see it.
    pub(crate) fn cluster(&self) -> Cluster {
        let store = Arc::clone(&self.store);
        let ring = move || store.ground_moved();
        let secrets = Secrets::new(self.client.clone(), self.runtime.clone(), Box::new(ring));
        let known: Arc<dyn Known> = Arc::clone(&self.store) as _;
        let applications = LiveApplications::new(self.runtime.clone(), self.client.clone(), known);
        Cluster {
            vault: Arc::new(secrets),
            applications: Arc::new(applications),
            witness: Arc::new(self.reporter.clone()),
            accounts: Arc::default(),
        }
    }

    /// Returns what gives jobs their work.
    ///
    /// # Errors
    /// If what is said of registries is wrong.
    pub(crate) fn controller(
        self,
        around: &Surroundings<'_>,
        vault: Arc<dyn Vault>,
        make_job: Box<MakeJob>,
    ) -> Result<Controller> {
        let Settings { shard, sources, argocd_namespace, delivery, signing_key, registries_conf, .. } =
            self.settings;
        let registries = match &registries_conf {
            Some(path) => RegistriesConf::load(path)?.registries(),
            None => Vec::new(),
        };
        let batch = Batch { files: Files::Nowhere, delivery, updates: Vec::new() };
        let signing_keys = signing_key.into_iter().collect();
        Ok(Controller {
            store: self.store,
            resolver: Resolver {
                argocd_namespace: argocd_namespace.unwrap_or(self.own_namespace),
                shard,
                has_annotations: sources.is_none_or(|sources| sources.contains(&Source::Annotations)),
            },
            reporter: self.reporter,
            registries,
            clients: ClientPool::new(around.cache.clone(), around.fresh_for).with_vault(vault),
            defaults: Config { signing_keys, ..Config::of_dialect(batch, Vec::new()) },
            make_job,
            gate: around.gate.sibling(),
            switchboard: around.switchboard.clone(),
            roster: around.roster.clone(),
            posts: std::collections::BTreeMap::new(),
            is_renewing: false,
            warned: std::collections::BTreeSet::new(),
            client: self.client,
            runtime: self.runtime,
        })
    }
}

/// Has it be ready while what is in the cluster has been seen, and not too long ago. Who stands by is ready to take over.
fn depend(around: &Surroundings<'_>, store: &Arc<Store>, is_candidate: bool) {
    let (store, gate) = (Arc::clone(store), around.gate.sibling());
    around.health.depend_on(move || match (store.is_synced(), store.away()) {
        (_, Some(away)) if away > PATIENCE => {
            Err(format!("the API server has not answered for {} s", away.as_secs()))
        }
        (false, _) => Err("not all of what is in the cluster has been seen yet".to_owned()),
        (true, _) if !is_candidate => Ok("works".to_owned()),
        (true, _) if gate.is_held_for(Hold::Standby) => Ok("is a standby".to_owned()),
        (true, _) => Ok("leads".to_owned()),
    });
}
