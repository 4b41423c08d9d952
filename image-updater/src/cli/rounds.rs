//! The reconcile jobs of the daemon, for one document of a configuration or the resources found in one repository.
//!
//! In: where it is said what there is to do. Out: rounds, each of one fetch and one push for a repository and a branch.
//! The branch is read in each reconcile if it has moved. Rejected: local directories, as a daemon pushes.

use diagnostic::{Error, Result};
use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use gitremote::{ObjectId, Waiting};
use jiff::Timestamp;
use oci_registry::Traffic;

use super::discovery::{Discovered, discover};
use super::import;
use super::question::clock;
use super::reach::random;
use super::work::{Recorded, Work, cache};
use crate::checkout::Checkout;
use crate::cluster::{Cluster, Letter, Mailbox};
use crate::commits::BatchPlanner;
use crate::config::{Config, Registry};
use crate::daemon::{Call, Job, Remarks};
use crate::deliver::{self, Delivered, Failed};
use crate::dialect::Found;
use crate::files::NoFiles;
use crate::gate::Gate;
use crate::registries::{self, SharedClient};
use crate::round::Round;
use crate::trust::Keyring;
use crate::work::{Batch, Delivery, Files, Owner, OwnerKind, Update};

/// Maximum number of of the repositories that that are written for one document are at it at once.
const SIDE_BY_SIDE: usize = 4;

/// The source of the work.
pub(super) enum Source {
    /// In a document of the configuration, which is worked off as it is.
    Document(Option<Box<Config>>),
    /// In the files of a branch, beside what the document says itself; with the commit that was read.
    Branch(Box<Config>, Option<ObjectId>),
    /// In a folder that is mounted.
    Folder(PathBuf),
    /// In a cluster, which says what there is to do in one place.
    Cluster {
        /// The name.
        place: String,
        /// The latest job specification that was not taken yet.
        mailbox: Mailbox,
    },
}

impl Source {
    /// A document of a configuration, which names a repository.
    ///
    /// # Errors
    /// If it does not.
    pub(super) fn of_document(config: Config) -> Result<Self> {
        if !matches!(config.batch.files, Files::Remote { .. }) {
            return Err(no_repository());
        }
        Ok(match config.discover.is_empty() {
            true => Self::Document(Some(Box::new(config))),
            false => Self::Branch(Box::new(config), None),
        })
    }

    /// Folders and files of checkouts stand for the branch on the server that they follow; those of one are one.
    pub(super) fn of_paths(paths: &[PathBuf]) -> Result<Vec<Self>> {
        let mut checkouts: Vec<(PathBuf, Config)> = Vec::new();
        let mut sources = Vec::new();
        for path in paths {
            let real = fs::canonicalize(path).map_err(|error| Error::io("read", path, &error))?;
            let folder = if real.is_dir() { &*real } else { real.parent().unwrap_or(&real) };
            if !folder.ancestors().any(|folder| folder.join(".git").exists()) {
                sources.push(Self::Folder(real));
                continue;
            }
            let checkout = Checkout::around(folder)?;
            let name = real.file_name().filter(|_| folder != real).unwrap_or_default();
            let below = format!("{}{}", checkout.prefix, name.to_string_lossy());
            let below = below.trim_end_matches('/').to_owned();
            match checkouts.iter_mut().find(|(root, _)| *root == checkout.root) {
                Some((_, config)) => config.discover.push(below),
                None => {
                    let config = Config::of_branch(checkout.origin()?, checkout.branch()?, vec![below]);
                    checkouts.push((checkout.root, config));
                }
            }
        }
        sources.extend(checkouts.into_iter().map(|(_, config)| Self::Branch(Box::new(config), None)));
        Ok(sources)
    }

    /// The document, as long as it is not at work.
    pub(super) fn config(&self) -> Option<&Config> {
        match self {
            Self::Document(config) => config.as_deref(),
            Self::Branch(config, _) => Some(config),
            Self::Folder(_) | Self::Cluster { .. } => None,
        }
    }

    /// Returns what it is for.
    pub(super) fn repository(&self) -> String {
        match self {
            Self::Folder(folder) => folder.display().to_string(),
            Self::Cluster { place, .. } => place.clone(),
            Self::Document(_) | Self::Branch(..) => {
                self.config().map(|config| config.batch.files.to_string()).unwrap_or_default()
            }
        }
    }
}

fn no_repository() -> Error {
    Error::invalid("the configuration names no repository to push to")
        .hint("name one with `git.url`, or write the files here with `update --write`")
}

/// A document that is worked off again and again, with what is found by it.
pub(super) struct Rounds {
    repository: String,
    source: Source,
    works: Vec<Work>,
    /// The notices that were already logged.
    said: Vec<String>,
    client: Arc<SharedClient>,
    recorded: Option<Recorded>,
    fresh_for: Duration,
    is_dry: bool,
    /// The cluster, where there is one.
    cluster: Option<Cluster>,
}

/// Images of one repository that are due, batch by batch.
type Due<'w> = Vec<(&'w Work, Vec<Update>)>;

impl Rounds {
    pub(super) fn new(
        source: Source,
        client: Arc<SharedClient>,
        recorded: Option<Recorded>,
        fresh_for: Duration,
        is_dry: bool,
        cluster: Option<Cluster>,
    ) -> Self {
        let (repository, works, said) = (source.repository(), Vec::new(), Vec::new());
        let mut rounds =
            Self { repository, source, works, said, client, recorded, fresh_for, is_dry, cluster };
        if let Source::Document(config) = &mut rounds.source
            && let Some(config) = config.take()
        {
            rounds.works = vec![rounds.work_of(*config, Arc::clone(&rounds.client))];
        }
        rounds
    }

    fn work_of(&self, config: Config, client: Arc<SharedClient>) -> Work {
        Work { config, client, recorded: self.recorded.clone(), now: Timestamp::UNIX_EPOCH }
    }

    /// Takes over what was found; whether it is other than before.
    fn take(&mut self, mut found: Found) -> Result<Option<Remarks>> {
        let mut configs: Vec<Config> = Vec::new();
        for batch in std::mem::take(&mut found.batches) {
            if !matches!(batch.files, Files::Remote { .. }) {
                let at = |error: Error| match batch.updates.first() {
                    Some(update) => error.at(update.place.clone()),
                    None => error,
                };
                found.faults.push(at(Error::invalid("missing write-back repository")));
                continue;
            }
            configs.push(match self.source.config() {
                Some(config) => config.with_found(batch, &found.registries),
                None => Config::of_dialect(batch, found.registries.clone()),
            });
        }
        if let Some(own) = self.source.config().filter(|config| !config.batch.updates.is_empty()) {
            configs.push(Config { discover: Vec::new(), ..own.clone() });
        }
        let Found { faults, warnings, .. } = found;
        let said: Vec<String> = faults.iter().chain(&warnings).map(ToString::to_string).collect();
        let documents: Vec<&[Registry]> = configs.iter().map(|config| &*config.registries).collect();
        let clients = match documents.iter().all(|registries| self.client.serves(registries)) {
            true => vec![Arc::clone(&self.client); configs.len()],
            false => {
                let vault = self.cluster.as_ref().map(|cluster| &cluster.vault);
                registries::shared_clients(&documents, cache().as_deref(), self.fresh_for, vault)?
            }
        };
        let is_same = self.put(configs.into_iter().zip(clients).collect());
        if is_same && said == self.said {
            return Ok(None);
        }
        self.said = said;
        Ok(Some(Remarks { faults, warnings }))
    }

    /// Has other documents worked off from now on; whether they are those that are.
    fn put(&mut self, works: Vec<(Config, Arc<SharedClient>)>) -> bool {
        let is_known = |(work, (config, client)): (&Work, &(Config, Arc<SharedClient>))| {
            work.config.batch == config.batch && Arc::ptr_eq(&work.client, client)
        };
        if works.len() == self.works.len() && self.works.iter().zip(&works).all(is_known) {
            return true;
        }
        self.forget_requested(&works);
        if let Some((_, client)) = works.first() {
            self.client = Arc::clone(client);
        }
        self.works = works.into_iter().map(|(config, client)| self.work_of(config, client)).collect();
        false
    }

    /// Makes registries be asked for requested images, however recently they were.
    fn forget_requested(&self, works: &[(Config, Arc<SharedClient>)]) {
        let requests = |config: &'_ Config| {
            let requested = config.batch.updates.iter().filter(|update| update.requested.is_some());
            requested.map(|update| (update.image.clone(), update.requested.clone())).collect::<Vec<_>>()
        };
        let known: HashSet<_> = self.works.iter().flat_map(|work| requests(&work.config)).collect();
        let asked: HashSet<_> = works.iter().flat_map(|(config, _)| requests(config)).collect();
        asked.difference(&known).for_each(|(image, _)| self.forget(image));
    }

    /// Returns the registry clients, each once.
    fn clients(&self) -> impl Iterator<Item = &Arc<SharedClient>> {
        let mut seen = HashSet::new();
        let all = [&self.client].into_iter().chain(self.works.iter().map(|work| &work.client));
        all.filter(move |client| seen.insert(Arc::as_ptr(client)))
    }

    /// Groups what is due by the repository that it is written to.
    fn by_repository(&self, due: &[usize]) -> Vec<Due<'_>> {
        let mut groups: Vec<(&Files, Due<'_>)> = Vec::new();
        let mut first = 0;
        for work in &self.works {
            let batch = &work.config.batch;
            let end = first + batch.updates.len();
            let places = due.iter().filter(|place| (first..end).contains(*place));
            let updates: Vec<Update> = places.map(|place| batch.updates[place - first].clone()).collect();
            first = end;
            if updates.is_empty() {
                continue;
            }
            match groups.iter_mut().find(|(files, _)| **files == batch.files) {
                Some((_, group)) => group.push((work, updates)),
                None => groups.push((&batch.files, vec![(work, updates)])),
            }
        }
        groups.into_iter().map(|(_, group)| group).collect()
    }

    fn round(&self, work: &Work, updates: &[Update], call: &Call<'_>) {
        let started = Instant::now();
        let gate = call.gate.sibling();
        let outcome = self.deliver(work, updates, &gate, call);
        if let Some(cluster) = &self.cluster {
            cluster.witness.delivered(updates, outcome.as_ref());
        }
        (call.record)(&work.repository_name(), outcome, started.elapsed());
        // Only now: what was pushed is noted.
        gate.end();
    }

    fn deliver(
        &self,
        work: &Work,
        updates: &[Update],
        gate: &Gate,
        call: &Call<'_>,
    ) -> Result<Delivered, Failed> {
        let now = clock()?;
        let vault = self.cluster.as_ref().map(|cluster| Arc::clone(&cluster.vault));
        let look = work.look().trusting(Keyring::with(vault)).heard_by(call.listener);
        let Batch { files, delivery, .. } = &work.config.batch;
        let with_request = delivery.pull_request.is_some() && !self.is_dry;
        let with_labels = !self.is_dry && (with_request || delivery.names_labels());
        let round = Round { look: &look, now, with_labels };
        let batch = Batch { files: files.clone(), delivery: delivery.clone(), updates: updates.to_vec() };
        let mut random = random;
        let mut sleep = |pause| {
            // A push that was lost is over, and the next one has not begun.
            gate.end();
            gate.pause(pause);
        };
        let mut waiting = Waiting { random: &mut random, sleep: &mut sleep };
        let planner = BatchPlanner { batch: &batch, round: &round };
        match (files, &self.cluster) {
            (Files::Applications, Some(cluster)) => {
                return cluster.applications.deliver(&planner, gate, self.is_dry);
            }
            (Files::Nowhere, _) => return Ok(Delivered::nothing(round.plan(&batch, &NoFiles))),
            _ => {}
        }
        let reach = work.reach(self.cluster.as_ref(), with_request, gate, now).map_err(Failed::from);
        let delivered = reach.and_then(|reach| {
            reach.on_server(|server| match self.is_dry {
                true => Ok(Delivered::nothing(deliver::preview(&planner, delivery, server)?)),
                false => deliver::deliver(&planner, delivery, server, &mut waiting, with_request),
            })
        });
        if let (Err(_), Some(cluster)) = (&delivered, &self.cluster) {
            tell_policies(cluster, &round, updates);
        }
        delivered
    }
}

/// Policies of Flux say what they choose whether or not that can be written.
fn tell_policies(cluster: &Cluster, round: &Round<'_>, updates: &[Update]) {
    let chooses = |owner: &Owner| matches!(owner.kind, OwnerKind::ImagePolicy | OwnerKind::ImageRepository);
    let mut updates = updates.to_vec();
    for update in &mut updates {
        update.owners.retain(chooses);
        update.spots.clear();
    }
    updates.retain(|update| !update.owners.is_empty());
    if updates.is_empty() {
        return;
    }
    let batch = Batch { files: Files::Nowhere, delivery: Delivery::default(), updates };
    let plan = round.plan(&batch, &NoFiles);
    cluster.witness.delivered(&batch.updates, Ok(&Delivered::nothing(plan)));
}

impl Job for Rounds {
    fn repository(&self) -> &str {
        &self.repository
    }

    fn looks_for_more(&self) -> bool {
        !matches!(self.source, Source::Document(_))
    }

    fn refresh(&mut self) -> Result<Option<Remarks>> {
        let found = match &mut self.source {
            Source::Document(_) => return Ok(None),
            Source::Cluster { mailbox, .. } => {
                let letter = mailbox.lock().unwrap_or_else(PoisonError::into_inner).take();
                let Some(Letter { works, remarks }) = letter else { return Ok(None) };
                return Ok(match self.put(works) {
                    true if remarks.faults.is_empty() && remarks.warnings.is_empty() => None,
                    _ => Some(remarks),
                });
            }
            Source::Folder(folder) => import::search(std::slice::from_ref(folder), Path::to_owned)?,
            Source::Branch(config, seen) => match discover(config, *seen, clock()?)? {
                None => return Ok(None),
                Some(Discovered { tip, found }) => {
                    *seen = tip;
                    found
                }
            },
        };
        self.take(found)
    }

    fn updates(&self) -> Vec<&Update> {
        self.works.iter().flat_map(|work| &work.config.batch.updates).collect()
    }

    fn files(&self) -> Vec<&Files> {
        let own = self.source.config().into_iter().chain(self.works.iter().map(|work| &work.config));
        own.map(|config| &config.batch.files).collect()
    }

    fn work(&self, due: &[usize], call: &Call<'_>) {
        let groups = self.by_repository(due);
        let threads = groups.len().min(SIDE_BY_SIDE);
        let groups = Mutex::new(groups.into_iter());
        let next = || groups.lock().unwrap_or_else(PoisonError::into_inner).next();
        let work = || {
            while let Some(group) = next() {
                group.into_iter().for_each(|(work, updates)| self.round(work, &updates, call));
            }
        };
        thread::scope(|scope| {
            for _ in 1..threads {
                scope.spawn(work);
            }
            work();
        });
    }

    fn forget(&self, image: &str) {
        if let Ok(repository) = image.parse() {
            self.clients().for_each(|client| client.client.forget_tags(&repository));
        }
    }

    fn traffic(&self) -> BTreeMap<String, Traffic> {
        let mut all: BTreeMap<String, Traffic> = BTreeMap::new();
        for (registry, more) in self.clients().flat_map(|client| client.traffic()) {
            let known = all.entry(registry).or_default();
            known.requests += more.requests;
            known.failed += more.failed;
            known.unchanged += more.unchanged;
        }
        all
    }
}
