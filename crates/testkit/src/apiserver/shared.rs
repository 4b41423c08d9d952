//! The state that connections, watches and the test share: the cluster, and the faults ordered by the test.

use std::fmt;
use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use tokio::sync::watch;

use super::Asked;
use super::access::{Requester, User};
use super::call::{Call, Query, ResourcePath, Subresource, Verb};
use super::cluster::{Answer, Cluster};
use super::discovery;
use super::failure::Failure;
use super::resource::Resource;
use super::selector::Selector;
use super::view::View;

/// The state of a server.
#[derive(Debug)]
pub(super) struct Shared {
    cluster: Mutex<Cluster>,
    controls: Mutex<Controls>,
    /// Counts what a test may wait for.
    happened: Mutex<u64>,
    news: Condvar,
    /// The revision of the cluster, for watches.
    pub(super) revisions: watch::Sender<u64>,
    /// Counts how often all watches were cut off.
    pub(super) cuts: watch::Sender<u64>,
    /// Tells whether requests are left without an answer.
    silent: watch::Sender<bool>,
    pub(super) bookmark_interval: Duration,
}

/// The behaviour that the test orders.
#[derive(Debug, Default)]
struct Controls {
    users: Vec<User>,
    log: Vec<Asked>,
    delay: Duration,
    faults: Vec<Fault>,
}

/// Requests that fail, as long as there are some left to.
struct Fault {
    left: usize,
    code: u16,
    matches: Box<dyn Fn(&Asked) -> bool + Send>,
}

impl fmt::Debug for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fault").field("left", &self.left).field("code", &self.code).finish_non_exhaustive()
    }
}

/// A request as it comes over the wire.
#[derive(Debug, Default)]
pub(super) struct Request {
    pub(super) method: String,
    pub(super) path: String,
    pub(super) query: String,
    pub(super) accept: String,
    pub(super) content_type: String,
    pub(super) agent: String,
    pub(super) authorization: String,
    pub(super) body: Vec<u8>,
}

impl Shared {
    pub(super) fn new(cluster: Cluster, bookmark_interval: Duration) -> Self {
        let revision = cluster.store.revision();
        Self {
            cluster: Mutex::new(cluster),
            controls: Mutex::default(),
            happened: Mutex::new(0),
            news: Condvar::new(),
            revisions: watch::Sender::new(revision),
            cuts: watch::Sender::new(0),
            silent: watch::Sender::new(false),
            bookmark_interval,
        }
    }

    /// Does something with the cluster that nobody sees half done.
    pub(super) fn with<T>(&self, work: impl FnOnce(&mut Cluster) -> T) -> T {
        let mut cluster = self.cluster.lock().expect("no thread panics");
        let result = work(&mut cluster);
        let revision = cluster.store.revision();
        drop(cluster);
        if self.revisions.send_if_modified(|known| std::mem::replace(known, revision) < revision) {
            self.tell();
        }
        result
    }

    fn controls(&self) -> MutexGuard<'_, Controls> {
        self.controls.lock().expect("no thread panics")
    }

    fn tell(&self) {
        *self.happened.lock().expect("no thread panics") += 1;
        self.news.notify_all();
    }

    /// Looks whenever something has happened, until there is something to see or the time is up.
    pub(super) fn wait_until<T>(&self, timeout: Duration, look: impl Fn() -> Option<T>) -> Option<T> {
        let end = Instant::now() + timeout;
        loop {
            let seen = *self.happened.lock().expect("no thread panics");
            if let Some(found) = look() {
                return Some(found);
            }
            let left = end.checked_duration_since(Instant::now())?;
            let happened = self.happened.lock().expect("no thread panics");
            let waited = self.news.wait_timeout_while(happened, left, |happened| *happened == seen);
            drop(waited.expect("no thread panics"));
        }
    }

    pub(super) fn admit(&self, user: User) {
        let users = &mut self.controls().users;
        users.retain(|known| known.token != user.token);
        users.push(user);
    }

    pub(super) fn log(&self) -> Vec<Asked> {
        self.controls().log.clone()
    }

    pub(super) fn forget_log(&self) {
        self.controls().log.clear();
    }

    pub(super) fn set_delay(&self, delay: Duration) {
        self.controls().delay = delay;
    }

    pub(super) fn fail(&self, left: usize, code: u16, matches: Box<dyn Fn(&Asked) -> bool + Send>) {
        self.controls().faults.push(Fault { left, code, matches });
    }

    pub(super) fn set_silent(&self, silent: bool) {
        self.silent.send_replace(silent);
    }

    /// Returns when the server is to answer.
    pub(super) async fn open(&self) {
        let mut silent = self.silent.subscribe();
        let _ = silent.wait_for(|silent| !silent).await;
    }

    /// Returns how long an answer takes.
    pub(super) fn delay(&self) -> Duration {
        self.controls().delay
    }

    /// Notes a request, before anything is known of what it comes to.
    pub(super) fn note(&self, request: &Request) {
        let asked = Asked::of(request);
        self.controls().log.push(asked);
        self.tell();
    }

    /// The answer to a request.
    pub(super) fn answer(&self, request: &Request) -> Result<Answer, Failure> {
        let requester = {
            let mut controls = self.controls();
            controls.check_faults(&Asked::of(request))?;
            Requester::of(&controls.users, &request.authorization)?
        };
        self.answer_to(&requester, request)
    }

    /// The answer to a request of somebody.
    pub(super) fn answer_to(&self, requester: &Requester, request: &Request) -> Result<Answer, Failure> {
        let view = View::read(&request.accept)?;
        if request.method == "GET" {
            let about = self.with(|cluster| discovery::answer(cluster, &request.path));
            if let Some(about) = about {
                requester.check_path(&request.path)?;
                return Ok(Answer::Object(super::cluster::Reply::ok(about)));
            }
        }
        let Some(path) = ResourcePath::read(&request.path) else {
            requester.check_path(&request.path)?;
            return Err(Failure::no_such_path());
        };
        let query = Query::read(&request.query);
        let is_collection = path.name.is_empty() || path.subresource == "token";
        let verb =
            Verb::of(&request.method, is_collection, &query).ok_or_else(Failure::method_not_allowed)?;
        let name = asked_name(&path, &query);
        requester.check(verb, &path, &name)?;
        self.with(|cluster| {
            let call = call(cluster, request, &path, verb, query)?;
            let is_new = cluster.store.get(&call.resource.table, &call.key(&call.name)).is_none();
            let makes = verb == Verb::Update && call.resource.habits.create_on_update
                || verb == Verb::Patch && call.content_type.starts_with("application/apply-patch");
            if makes && is_new {
                requester.check(Verb::Create, &path, &name)?;
            }
            cluster.answer(&call, view)
        })
    }
}

impl Controls {
    fn check_faults(&mut self, asked: &Asked) -> Result<(), Failure> {
        let Some(fault) = self.faults.iter_mut().find(|fault| (fault.matches)(asked)) else { return Ok(()) };
        let code = fault.code;
        fault.left -= 1;
        self.faults.retain(|fault| fault.left > 0);
        Err(Failure::by_code(code))
    }
}

/// The name that a request is about: that of its path, or the only one that its selector lets through.
fn asked_name(path: &ResourcePath, query: &Query) -> String {
    if !path.name.is_empty() {
        return path.name.clone();
    }
    let selectable = ["metadata.name".to_owned(), "metadata.namespace".to_owned()];
    let selector = Selector::read("", query.text("fieldSelector"), &selectable).unwrap_or_default();
    selector.name().unwrap_or_default().to_owned()
}

fn call(
    cluster: &Cluster,
    request: &Request,
    path: &ResourcePath,
    verb: Verb,
    query: Query,
) -> Result<Call, Failure> {
    let resource = cluster.resource(&path.group, &path.plural).ok_or_else(Failure::no_such_path)?;
    let version = resource.version(&path.version).ok_or_else(Failure::no_such_path)?.clone();
    let is_placed = resource.namespaced || path.namespace.is_empty();
    let needs_place = resource.namespaced && path.namespace.is_empty();
    if !is_placed || needs_place && ![Verb::List, Verb::Watch].contains(&verb) {
        let is_object = !path.name.is_empty();
        return Err(if is_object { Failure::no_such_path() } else { Failure::method_not_allowed() });
    }
    let subresource = subresource(&resource, version.status, path)?;
    if subresource == Some(Subresource::Status) && verb == Verb::Delete {
        return Err(Failure::method_not_allowed());
    }
    Ok(Call {
        verb,
        resource,
        version,
        namespace: path.namespace.clone(),
        name: path.name.clone(),
        subresource,
        query,
        content_type: request.content_type.clone(),
        agent: request.agent.clone(),
        body: request.body.clone(),
    })
}

fn subresource(
    resource: &Resource,
    has_status: bool,
    path: &ResourcePath,
) -> Result<Option<Subresource>, Failure> {
    match path.subresource.as_str() {
        "" => Ok(None),
        "status" if has_status => Ok(Some(Subresource::Status)),
        "token" if resource.table == "serviceaccounts" => Ok(Some(Subresource::Token)),
        // The handler of custom resources says this of an object, not of the path.
        _ if resource.habits.custom => Err(resource.not_found(&path.name)),
        _ => Err(Failure::no_such_path()),
    }
}
