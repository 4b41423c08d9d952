//! Which of several replicas leads: each tries to hold a Lease, and the gate is open for who does.
//!
//! In: an API server, the name of a Lease and a gate. Out: a gate that lets through while this replica leads, and shuts by
//! itself before another one can, even if nothing here goes on any more. Refused: to give the Lease back while a push is
//! under way.
//!
//! A push that was sent may still arrive when another replica leads already: no Lease can call it back. It does no harm, as
//! a server takes it only onto the commit that it was made for: who comes second is refused, and plans anew on what is
//! there, if it still leads. For the same reason nothing is asked of the API server at each push.

mod rules;

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::jiff::Timestamp;
use kube::api::PostParams;
use kube::{Api, Client};
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tracing::{info, warn};

use super::client::explain;
use crate::change::Named;
use crate::daemon::Pulse;
use crate::gate::{Gate, Hold};
use rules::{Answer, Request, Rules, Times};

/// In one try: a renewal that collides with somebody else's change, a look, a renewal; and a Lease that is gone meanwhile.
const MOST_REQUESTS: usize = 4;

/// Time it may take to give the Lease back. After that others wait for its end, which is no harm.
const FAREWELL: Duration = Duration::from_secs(2);

/// A candidate in the leader election.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    pub(crate) lease: Named,
    /// Different from that of all others.
    pub(crate) identity: String,
    /// Chance, for pauses.
    pub(crate) random: fn() -> u64,
}

/// A candidate that is at it.
pub(crate) struct Campaign {
    runtime: Handle,
    resign: oneshot::Sender<()>,
    task: JoinHandle<()>,
    /// Should it end by a fault, it is missed.
    _pulse: Arc<Pulse>,
}

impl Campaign {
    /// Shuts the gate, and opens it as soon as the candidate leads. It gives a sign of life at each try.
    pub(crate) fn begin(
        runtime: &Handle,
        client: &Client,
        candidate: Candidate,
        gate: &Gate,
        pulse: Pulse,
    ) -> Self {
        gate.hold(Hold::Standby);
        let Candidate { lease, identity, random } = candidate;
        let (times, pulse) = (Times::default(), Arc::new(pulse));
        let elector = Elector {
            api: Api::namespaced(client.clone(), &lease.namespace),
            rules: Rules::new(lease.name.clone(), identity, times),
            times,
            lease,
            gate: gate.sibling(),
            random,
            pulse: Arc::clone(&pulse),
            said: Said::default(),
        };
        let (resign, resigned) = oneshot::channel();
        let task = runtime.spawn(elector.run(resigned));
        Self { runtime: runtime.clone(), resign, task, _pulse: pulse }
    }

    /// Ends it, and gives the Lease back unless something is still under way: then others wait until it is over for sure.
    pub(crate) fn end(self, is_under_way: bool) {
        if is_under_way {
            self.task.abort();
            return;
        }
        // One that has ended by itself has no Lease to give back.
        let _ = self.resign.send(());
        let farewell = async { tokio::time::timeout(FAREWELL, self.task).await };
        if self.runtime.block_on(farewell).is_err() {
            warn!("the Lease could not be given back in time; others wait for its end");
        }
    }
}

impl fmt::Debug for Campaign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Campaign").finish_non_exhaustive()
    }
}

struct Elector {
    api: Api<Lease>,
    rules: Rules,
    times: Times,
    lease: Named,
    gate: Gate,
    random: fn() -> u64,
    pulse: Arc<Pulse>,
    said: Said,
}

/// The state that was last logged.
#[derive(Debug, Default, PartialEq)]
struct Said {
    leads: bool,
    holder: Option<String>,
    trouble: Option<String>,
}

impl Elector {
    async fn run(mut self, mut resigned: oneshot::Receiver<()>) {
        loop {
            let attempt = async {
                self.attempt().await;
                tokio::time::sleep(self.pause()).await;
            };
            tokio::select! {
                _ = &mut resigned => break,
                () = attempt => {}
            }
        }
        self.release().await;
    }

    async fn attempt(&mut self) {
        self.pulse.beat(Instant::now());
        let mut request = self.rules.open(Instant::now(), Timestamp::now());
        let mut trouble = None;
        for _ in 0..MOST_REQUESTS {
            let sent = Instant::now();
            let answer = self.ask(&request).await.unwrap_or_else(|why| {
                trouble = Some(why);
                Answer::Silence
            });
            let next = self.rules.hear(&request, answer, (sent, Instant::now()), Timestamp::now());
            let Some(next) = next else { break };
            request = next;
        }
        self.tell(trouble);
    }

    /// Opens or shuts the gate, and says so where it is news.
    fn tell(&mut self, trouble: Option<String>) {
        let end = self.rules.end(Instant::now());
        match end {
            Some(end) => self.gate.open_until(Hold::Standby, end),
            None => self.gate.hold(Hold::Standby),
        }
        let holder = self.rules.holder().map(str::to_owned);
        let said = std::mem::replace(&mut self.said, Said { leads: end.is_some(), holder, trouble });
        let (lease, now) = (&self.lease, &self.said);
        if let Some(trouble) = now.trouble.as_ref().filter(|_| now.trouble != said.trouble) {
            warn!(%lease, "cannot hold the Lease: {trouble}");
        }
        match (said.leads, now.leads) {
            (false, true) => info!(%lease, "leads"),
            (true, false) => warn!(%lease, holder = now.holder, "leads no more, and begins no push"),
            (false, false) if now.holder != said.holder => {
                info!(%lease, holder = now.holder, "is a standby");
            }
            _ => {}
        }
    }

    /// As long as by client-go: two seconds for who leads, and for others by chance up to 2.4 more.
    fn pause(&self) -> Duration {
        let chance = if self.said.leads { 0.0 } else { 1.2 * (self.random)() as f64 / u64::MAX as f64 };
        self.times.retry.mul_f64(1.0 + chance)
    }

    async fn release(&mut self) {
        self.gate.hold(Hold::Standby);
        for _ in 0..MOST_REQUESTS {
            let Some(request) = self.rules.release(Timestamp::now()) else { return };
            let answer = self.ask(&request).await.unwrap_or(Answer::Silence);
            if !self.rules.released(answer, Instant::now()) {
                return;
            }
            // Perhaps with a renewal of our own that was broken off.
            let answer = self.ask(&Request::Read).await.unwrap_or(Answer::Silence);
            self.rules.released(answer, Instant::now());
        }
    }

    /// Returns what the API server says, or why it says nothing.
    async fn ask(&self, request: &Request) -> Result<Answer, String> {
        let (name, params) = (&*self.lease.name, PostParams::default());
        let asked = async {
            match request {
                Request::Read => self.api.get(name).await,
                Request::Create(lease) => self.api.create(&params, lease).await,
                Request::Replace(lease) => self.api.replace(name, &params, lease).await,
            }
        };
        // Twice in the time that there is.
        let answered = tokio::time::timeout(self.times.deadline / 2, asked).await;
        let answered = answered.map_err(|_| "the API server does not answer".to_owned())?;
        match answered {
            Ok(lease) => Ok(Answer::Is(Box::new(lease))),
            Err(kube::Error::Api(status)) if status.code == 409 => Ok(Answer::Conflict),
            // It is the namespace that is missing where none can be made.
            Err(kube::Error::Api(status)) if status.code == 404 && !matches!(request, Request::Create(_)) => {
                Ok(Answer::Absent)
            }
            Err(error) => Err(explain(&error)),
        }
    }
}
