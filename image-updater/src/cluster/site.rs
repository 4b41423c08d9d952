//! A cluster that is reached: its API, what is watched of it, and what rounds need of it.
//!
//! In: settings. Out: [`Site`], which makes the cluster that rounds see and the controller that gives them work. Refused:
//! settings that name no cluster.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};

use super::Cluster;
use super::client::{Connection, connect};
use super::controller::{Controller, MakeJob};
use super::counted::counted;
use super::deliver::{Known, LiveApplications};
use super::resolve::Resolver;
use super::secrets::Secrets;
use super::settings::{Settings, Source};
use super::watch::{Store, watch};
use super::witness::Reporter;
use crate::config::{Config, RegistriesConf};
use crate::daemon::{Metrics, Roster, Switchboard};
use crate::error::{Error, ErrorKind, Result};
use crate::gate::Gate;
use crate::registries::ClientPool;
use crate::work::{Batch, Files};

/// Watches, leases and states are for few threads.
const THREADS: usize = 2;

/// What the controller shares with the rest of the program.
pub(crate) struct Surroundings<'s> {
    pub(crate) gate: &'s Gate,
    pub(crate) switchboard: &'s Switchboard,
    pub(crate) roster: &'s Roster,
    pub(crate) metrics: &'s Arc<Metrics>,
    /// Where what registries say is kept.
    pub(crate) cache: Option<PathBuf>,
    /// How long a list of tags is good for others that look at the same time.
    pub(crate) fresh_for: Duration,
}

/// A cluster that is reached.
pub(crate) struct Site {
    runtime: Runtime,
    client: kube::Client,
    store: Arc<Store>,
    reporter: Reporter,
    own_namespace: String,
    settings: Settings,
}

impl Site {
    /// Reaches a cluster and begins to watch it.
    ///
    /// # Errors
    /// If there is none to be reached.
    pub(crate) fn connect(settings: Settings, around: &Surroundings<'_>) -> Result<Self> {
        let refused = |error| Error::new(ErrorKind::Environment, format!("cannot start threads: {error}"));
        let runtime =
            Builder::new_multi_thread().worker_threads(THREADS).enable_all().build().map_err(refused)?;
        let Connection { client, namespace: own_namespace } = runtime.block_on(connect(&settings.access))?;
        // What a client is made of, and watches, are tasks.
        let entered = runtime.enter();
        let client = counted(client, around.metrics);
        let namespaces = settings.scope.namespaces(&own_namespace);
        let sources = settings.sources.clone();
        let store =
            watch(&client, &namespaces, |source| sources.as_ref().is_none_or(|some| some.contains(&source)));
        let reporter = Reporter::new(around.gate, Arc::clone(around.metrics), settings.with_events);
        runtime.spawn(reporter.clone().run(client.clone()));
        drop(entered);
        Ok(Self { runtime, client, store, reporter, own_namespace, settings })
    }

    /// The cluster as rounds see it.
    pub(crate) fn cluster(&self, around: &Surroundings<'_>) -> Cluster {
        let switchboard = around.switchboard.clone();
        // Who depends on what has changed is not known, and a look that finds nothing new costs little.
        let ring = move || switchboard.ring_for_ground();
        let secrets = Secrets::new(self.client.clone(), self.runtime.handle().clone(), Box::new(ring));
        let known: Arc<dyn Known> = Arc::clone(&self.store) as _;
        let applications = LiveApplications::new(self.runtime.handle().clone(), self.client.clone(), known);
        Cluster {
            vault: Arc::new(secrets),
            applications: Arc::new(applications),
            witness: Arc::new(self.reporter.clone()),
            accounts: Arc::default(),
        }
    }

    /// What gives jobs their work.
    ///
    /// # Errors
    /// If what is said of registries is wrong.
    pub(crate) fn controller(self, around: &Surroundings<'_>, make_job: Box<MakeJob>) -> Result<Controller> {
        let Settings { shard, sources, argocd_namespace, delivery, signing_key, registries_conf, .. } =
            self.settings;
        let registries = match &registries_conf {
            Some(path) => RegistriesConf::load(path)?.registries()?,
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
            clients: ClientPool::new(around.cache.clone(), around.fresh_for),
            defaults: Config { signing_keys, ..Config::of_dialect(batch, Vec::new()) },
            make_job,
            gate: around.gate.sibling(),
            switchboard: around.switchboard.clone(),
            roster: around.roster.clone(),
            posts: std::collections::BTreeMap::new(),
            warned: std::collections::BTreeSet::new(),
            _runtime: self.runtime,
        })
    }
}
