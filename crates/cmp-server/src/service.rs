//! The methods of the services, and what becomes of a request: receive, look for a result, render, answer.

use std::fmt;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Request as HttpRequest, Response};
use http_body::Body as HttpBody;
use prost::Message;
use tokio::time::{Instant, timeout_at};
use tonic::body::Body;
use tonic::{Code, Status, Streaming};
use vfs::{FileKind, Files as _, Recorder};

use crate::archive::Limits;
use crate::contents::Digest;
use crate::generator::{Failure, Generator, Request, value};
use crate::grpc::{self, Answer, MAX_MESSAGE, Messages};
use crate::messages::{
    AppStreamRequest, CheckPluginConfigurationResponse, Empty, HealthCheckRequest, HealthCheckResponse,
    Metadata, ParametersAnnouncementResponse, RepositoryResponse, VersionMessage,
};
use crate::metered::Metered;
use crate::record::{Cached, Record};
use crate::request::{Incoming, Received};
use crate::results::{self, Dependencies, Made};
use crate::store::Store;
use crate::trees::Tree;
use crate::workers::Workers;

const SERVING: i32 = 1;
const NOT_SERVING: i32 = 2;

/// The services that are asked for by name in a check of health.
const SERVICES: [&str; 2] = ["", "plugin.ConfigManagementPluginService"];

/// Hears of each request when it is over.
pub(crate) type Observe = dyn Fn(&Record) + Send + Sync;

pub(crate) struct Service {
    pub(crate) generator: Arc<dyn Generator>,
    pub(crate) store: Arc<Store>,
    pub(crate) workers: Workers,
    pub(crate) limits: Limits,
    pub(crate) observe: Arc<Observe>,
    pub(crate) is_stopping: AtomicBool,
}

/// The method that is called for an application.
#[derive(Clone, Copy, Debug)]
enum Question {
    Manifests,
    Support,
    Parameters,
}

/// A request on its way, as far as it has come: for the log, and for a client whose patience ends.
struct Visit {
    begun: Instant,
    stage: AtomicU8,
    record: Mutex<Record>,
}

#[derive(Clone, Copy)]
#[repr(u8)]
enum Stage {
    Receiving,
    Waiting,
    Rendering,
}

impl fmt::Debug for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Service").field("store", &self.store).finish_non_exhaustive()
    }
}

impl Service {
    /// Answers a request.
    pub(crate) async fn handle<B>(self: Arc<Self>, request: HttpRequest<B>) -> Response<Body>
    where
        B: HttpBody<Data = Bytes> + Send + Unpin + 'static,
        B::Error: std::error::Error + Send + Sync + 'static,
    {
        let (head, body) = request.into_parts();
        let answer = match head.uri.path() {
            "/plugin.ConfigManagementPluginService/GenerateManifest" => {
                self.stream(Question::Manifests, &head.headers, body).await
            }
            "/plugin.ConfigManagementPluginService/MatchRepository" => {
                self.stream(Question::Support, &head.headers, body).await
            }
            "/plugin.ConfigManagementPluginService/GetParametersAnnouncement" => {
                self.stream(Question::Parameters, &head.headers, body).await
            }
            "/plugin.ConfigManagementPluginService/CheckPluginConfiguration" => {
                // Discovery would have the whole repository sent once more.
                self.unary(body, |_: Empty| Ok(CheckPluginConfigurationResponse::default())).await
            }
            "/grpc.health.v1.Health/Check" => self.unary(body, |check| self.health(&check)).await,
            "/version.VersionService/Version" => {
                let version = self.generator.version().to_owned();
                self.unary(body, |_: Empty| Ok(VersionMessage { version })).await
            }
            path => Err(Status::unimplemented(format!("unknown method `{}`", &path[..path.len().min(100)]))),
        };
        answer.map_or_else(Status::into_http, grpc::response)
    }

    fn messages<B, M>(&self, body: B) -> Streaming<M>
    where
        B: HttpBody<Data = Bytes> + Send + Unpin + 'static,
        B::Error: std::error::Error + Send + Sync + 'static,
        M: Message + Default + 'static,
    {
        let body = Metered::new(body, Arc::clone(&self.store));
        Streaming::new_request(Messages::new(), body, None, Some(MAX_MESSAGE as usize))
    }

    async fn unary<B, M, A>(
        &self,
        body: B,
        answer: impl FnOnce(M) -> Result<A, Status>,
    ) -> Result<Answer, Status>
    where
        B: HttpBody<Data = Bytes> + Send + Unpin + 'static,
        B::Error: std::error::Error + Send + Sync + 'static,
        M: Message + Default + 'static,
        A: Message,
    {
        let mut messages = self.messages::<B, M>(body);
        let message = messages.message().await?;
        while messages.message().await?.is_some() {}
        answer(message.unwrap_or_default()).map(|answer| Answer::of(&answer))
    }

    fn health(&self, check: &HealthCheckRequest) -> Result<HealthCheckResponse, Status> {
        if !SERVICES.contains(&check.service.as_str()) {
            return Err(Status::not_found("unknown service"));
        }
        let status = if self.is_stopping.load(Ordering::Relaxed) { NOT_SERVING } else { SERVING };
        Ok(HealthCheckResponse { status })
    }

    /// Answers a question about an application in time, and has it said how that went.
    async fn stream<B>(
        self: &Arc<Self>,
        question: Question,
        headers: &HeaderMap,
        body: B,
    ) -> Result<Answer, Status>
    where
        B: HttpBody<Data = Bytes> + Send + Unpin + 'static,
        B::Error: std::error::Error + Send + Sync + 'static,
    {
        let visit = Arc::new(Visit::new(question));
        let reporting = Reporting { visit: &visit, observe: &*self.observe, is_over: false };
        let incoming = Incoming::new(self.messages::<B, AppStreamRequest>(body), &self.store, self.limits);
        let work = self.answer(question, incoming, &visit);
        let answer = match grpc::deadline(headers) {
            None => work.await,
            Some((due, patience)) => match timeout_at(due, work).await {
                Ok(answer) => answer,
                Err(_) => Err(visit.late(patience)),
            },
        };
        // Whoever waits for memory may have that of the tree now.
        self.store.budget.announce();
        reporting.end(&answer);
        answer
    }

    async fn answer(
        self: &Arc<Self>,
        question: Question,
        mut incoming: Incoming<'_>,
        visit: &Arc<Visit>,
    ) -> Result<Answer, Status> {
        let received = incoming.receive().await;
        visit.note(|record| {
            record.receiving = visit.begun.elapsed();
            record.received_bytes = incoming.bytes;
            if let Some(metadata) =
                incoming.metadata.as_ref().or(received.as_ref().ok().map(|it| &it.metadata))
            {
                record.application = value(metadata, "ARGOCD_APP_NAME").map(str::to_owned);
                record.path.clone_from(&metadata.app_rel_path);
                record.checksum.clone_from(&metadata.checksum);
            }
        });
        let Received { metadata, tree, cached } = received?;
        visit.note(|record| (record.tree, record.files) = (Some(cached), tree.files()));
        visit.enter(Stage::Waiting);
        let path = application_folder(&tree, &metadata.app_rel_path)?;
        match question {
            Question::Manifests => self.manifests(path, metadata, tree, visit).await.map(Answer::Made),
            Question::Support | Question::Parameters => {
                self.about(question, path, metadata, tree, visit).await
            }
        }
    }

    async fn manifests(
        self: &Arc<Self>,
        path: PathBuf,
        metadata: Metadata,
        tree: Arc<Tree>,
        visit: &Arc<Visit>,
    ) -> Result<Arc<Made>, Status> {
        let key = results::key(&path, &metadata, self.generator.version());
        if let Some(made) = self.store.results.find(&key, &tree, &metadata) {
            visit.note(|record| record.result = Some(Cached::Hit));
            return Ok(made);
        }
        visit.note(|record| record.result = Some(Cached::Miss));
        let (service, visit) = (Arc::clone(self), Arc::clone(visit));
        let rendering = self.workers.run(move || {
            visit.enter(Stage::Rendering);
            let made = service.render(key, path, &metadata, &tree);
            drop(tree);
            service.store.budget.announce();
            made
        });
        rendering.await.map_err(|_| fault())?
    }

    /// Renders an application and keeps what comes of it, whether or not its client still waits.
    fn render(
        &self,
        key: Digest,
        path: PathBuf,
        metadata: &Metadata,
        tree: &Arc<Tree>,
    ) -> Result<Arc<Made>, Status> {
        let request = Request::new(path, metadata, tree);
        let recorder = Recorder::new(&**tree);
        let generated = self.generator.generate(&request, &recorder)?;
        if generated.manifests.is_empty() && !generated.may_be_empty {
            return Err(Failure::empty(request.path()).into());
        }
        let size = results::response_size(&generated);
        if size > MAX_MESSAGE {
            let sentence = format!(
                "{}: the manifests are {} MiB together, and Argo CD takes {} MiB",
                metadata.app_rel_path,
                size >> 20,
                MAX_MESSAGE >> 20
            );
            return Err(Status::resource_exhausted(sentence));
        }
        let keeps = generated.is_reproducible;
        let dependencies = Dependencies::new(recorder.into_read_set(), tree, &request, metadata);
        let reservation = self.store.reserve(Made::memory(size, &dependencies));
        let reservation = reservation.ok_or_else(|| self.store.exhausted("the manifests"))?;
        let made = Arc::new(Made::new(generated, dependencies, reservation));
        if keeps {
            self.store.results.keep(key, Arc::clone(&made));
            self.store.bound_results();
        }
        Ok(made)
    }

    /// Answers what is asked beside manifests.
    async fn about(
        self: &Arc<Self>,
        question: Question,
        path: PathBuf,
        metadata: Metadata,
        tree: Arc<Tree>,
        visit: &Arc<Visit>,
    ) -> Result<Answer, Status> {
        let (service, visit) = (Arc::clone(self), Arc::clone(visit));
        let answering = self.workers.run(move || {
            visit.enter(Stage::Rendering);
            let request = Request::new(path, &metadata, &tree);
            if let Question::Parameters = question {
                let announced = service.generator.parameters(&request, &*tree)?;
                let parameter_announcements = announced.into_iter().map(Into::into).collect();
                return Ok(Answer::of(&ParametersAnnouncementResponse { parameter_announcements }));
            }
            let is_supported = service.generator.supports(&request, &*tree)?;
            Ok(Answer::of(&RepositoryResponse { is_supported, is_discovery_enabled: false }))
        });
        answering.await.map_err(|_| fault())?
    }
}

fn fault() -> Status {
    Status::internal("the renderer has a fault, your files may be fine")
}

/// The real path of the application's folder, which has to be one in the tree.
fn application_folder(tree: &Tree, path: &str) -> Result<PathBuf, Status> {
    let is_below =
        Path::new(path).components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if !is_below {
        return Err(Status::invalid_argument("the path of the application leads out of the repository"));
    }
    let shown = if path.is_empty() { "." } else { path };
    match tree.resolve(&Path::new("/").join(path)) {
        Ok((real, FileKind::Directory)) => Ok(real),
        Ok((_, FileKind::File)) => Err(Status::invalid_argument(format!("{shown}: not a directory"))),
        Err(error) => Err(Status::invalid_argument(format!("{shown}: cannot read the directory: {error}"))),
    }
}

impl Visit {
    fn new(question: Question) -> Self {
        let method = match question {
            Question::Manifests => "GenerateManifest",
            Question::Support => "MatchRepository",
            Question::Parameters => "GetParametersAnnouncement",
        };
        Self {
            begun: Instant::now(),
            stage: AtomicU8::new(Stage::Receiving as u8),
            record: Mutex::new(Record::new(method)),
        }
    }

    fn enter(&self, stage: Stage) {
        self.stage.store(stage as u8, Ordering::Relaxed);
    }

    fn note(&self, note: impl FnOnce(&mut Record)) {
        note(&mut self.record.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Returns what a client is told whose patience has ended.
    fn late(&self, patience: Duration) -> Status {
        let stage = self.stage.load(Ordering::Relaxed);
        let doing = if stage == Stage::Rendering as u8 {
            "it is being rendered, and will be at hand if it is asked for again"
        } else if stage == Stage::Waiting as u8 {
            "it waits for others that are being rendered"
        } else {
            "the repository has not come in yet"
        };
        Status::deadline_exceeded(format!("no manifests within {} ms: {doing}", patience.as_millis()))
    }
}

/// Has it said how a request ended, also where its client went away and nobody waits for the answer.
struct Reporting<'v> {
    visit: &'v Visit,
    observe: &'v Observe,
    is_over: bool,
}

impl Reporting<'_> {
    fn end(mut self, answer: &Result<Answer, Status>) {
        self.is_over = true;
        self.visit.note(|record| match answer {
            Ok(Answer::Made(made)) => {
                (record.manifests, record.sent_bytes) = (made.manifests, made.response.len());
            }
            Ok(Answer::Message(message)) => record.sent_bytes = message.len(),
            Err(status) => {
                (record.code, record.message) = (status.code(), Some(status.message().to_owned()));
            }
        });
        self.report();
    }

    fn report(&self) {
        self.visit.note(|record| {
            let spent = self.visit.begun.elapsed();
            if record.receiving.is_zero() {
                record.receiving = spent;
            }
            record.serving = spent.saturating_sub(record.receiving);
            (self.observe)(record);
        });
    }
}

impl Drop for Reporting<'_> {
    fn drop(&mut self) {
        if !self.is_over {
            self.visit.note(|record| {
                record.code = Code::Cancelled;
                record.message = Some("the client went away".to_owned());
            });
            self.report();
        }
    }
}
