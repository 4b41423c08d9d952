//! Brings planned changes to the branch of a repository on a server, and to a pull request where one is wanted.
//!
//! In: who plans, and how the server is reached. Out: what was planned on the files that were there in the end, and what
//! was pushed. One fetch, one commit (or one for each application) and one push, however many images there are; where
//! somebody else pushed first, all is planned anew on what they left. What a person has set back is held.

use diagnostic::{Error, Result};
use gitremote::{
    Authorship, Consent, Mirror, ObjectId, Published, Publisher, Remote, Sign, Target, Tip, Tree, Waiting,
};

use crate::change::Change;
use crate::commits::{heading, message, subject};
use crate::files::Files;
use crate::forge::{self, Action, BodyTemplate, DEFAULT_BODY, Proposal, Standing};
use crate::gate::Gate;
use crate::hold::Memory;
use crate::message::{BranchTemplate, Set, fingerprint, sets_of, target_key, title};
use crate::round::{Outcome, Plan};
use crate::work::{Delivery, PullRequest};

/// Says what is to become of a repository's files.
pub(crate) trait Planner {
    /// The commits to be, in order. It is asked again when the files have changed in between.
    ///
    /// # Errors
    /// If nothing can be planned at all. That of single images is in the plans.
    fn plan(&self, files: &dyn Files, is_held: &dyn Fn(&Change) -> bool) -> Result<Vec<Part>>;
}

/// The changes of one commit.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) plan: Plan,
    /// The application that it is for, where commits are told apart by that.
    pub(crate) application: Option<String>,
}

/// The access to a repository, and the author of commits.
pub(crate) struct Server<'s> {
    pub(crate) remote: &'s Remote,
    /// The branch that is read; the server's own choice where absent.
    pub(crate) branch: Option<&'s str>,
    pub(crate) mirror: &'s Mirror,
    pub(crate) authorship: &'s Authorship,
    pub(crate) signer: Option<&'s dyn Sign>,
    /// For pull requests.
    pub(crate) forge: Option<&'s forge::Settings>,
    /// The guard that is passed before any visible change.
    pub(crate) gate: &'s Gate,
}

/// The result of a delivery.
#[derive(Debug)]
pub(crate) struct Delivered {
    pub(crate) plan: Plan,
    /// The branch that was read, as it is now; nothing where it could not be, or there is none.
    pub(crate) read: Option<Tip>,
    /// The branch with the last of the commits; nothing where there was nothing to push, and for Applications of a cluster.
    pub(crate) pushed: Option<Tip>,
    pub(crate) commits: Vec<ObjectId>,
    /// The accepted changes, by image.
    pub(crate) written: Vec<Written>,
    pub(crate) request: Option<Requested>,
}

/// A change with the commit that has it.
#[derive(Clone, Debug)]
pub(crate) struct Written {
    pub(crate) change: Change,
    /// Nothing where the change is in an Application of the cluster itself.
    pub(crate) commit: Option<ObjectId>,
}

impl Delivered {
    /// Nothing was pushed.
    pub(crate) fn nothing(plan: Plan) -> Self {
        Self { plan, read: None, pushed: None, commits: Vec::new(), written: Vec::new(), request: None }
    }

    /// This branch was read.
    fn with_read(self, tip: &Tip) -> Self {
        Self { read: Some(tip.clone()), ..self }
    }
}

/// A delivery that failed, and what came of it before: a push may be done, and images may have failed on their own.
#[derive(Debug)]
pub(crate) struct Failed {
    pub(crate) error: Error,
    pub(crate) before: Box<Delivered>,
}

impl Failed {
    /// An error with what came of it before.
    pub(crate) fn after(error: impl Into<Error>, before: Delivered) -> Self {
        Self { error: error.into(), before: Box::new(before) }
    }

    /// The images that failed on their own or, where something was written, all of them.
    pub(crate) fn into_parts(self) -> (Error, Plan) {
        let Self { error, before } = self;
        let Delivered { mut plan, written, .. } = *before;
        if written.is_empty() {
            plan.reports.retain(|report| matches!(report.outcome, Outcome::Failed(_)));
            plan.texts.clear();
        }
        (error, plan)
    }
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Self::after(error, Delivered::nothing(Plan::joined([])))
    }
}

/// The result of a pull request.
#[derive(Debug)]
pub(crate) struct Requested {
    pub(crate) action: Action,
    pub(crate) url: String,
    pub(crate) warnings: Vec<Error>,
}

/// Plans on the branch's files, without a push.
///
/// # Errors
/// If the repository cannot be read.
pub(crate) fn preview(planner: &dyn Planner, delivery: &Delivery, server: &Server<'_>) -> Result<Plan> {
    let deliverer = Deliverer { planner, delivery, server };
    let tip = tip(server)?;
    let parts = deliverer.plan(&server.mirror.tree(tip.commit)?, &tip)?;
    Ok(joined(parts))
}

/// Plans, commits and pushes; and again where somebody else was faster.
///
/// # Errors
/// If the repository cannot be read or written. That of single images is in the plan.
pub(crate) fn deliver(
    planner: &dyn Planner,
    delivery: &Delivery,
    server: &Server<'_>,
    waiting: &mut Waiting<'_>,
    with_request: bool,
) -> Result<Delivered, Failed> {
    let deliverer = Deliverer { planner, delivery, server };
    let request = with_request.then(|| delivery.pull_request.clone().unwrap_or_default());
    if delivery.branch.is_none() && request.is_none() {
        let (delivered, tip) = deliverer.publish(None, waiting)?;
        return Ok(delivered.with_read(&tip));
    }
    // The name of the branch depends on what changes.
    let tip = tip(server)?;
    let tree = server.mirror.tree(tip.commit)?;
    let plan = joined(deliverer.plan(&tree, &tip)?);
    let changes: Vec<Change> = plan.changes().cloned().collect();
    if changes.is_empty() {
        return Ok(Delivered::nothing(plan).with_read(&tip));
    }
    let branch = match deliverer.branch(&tip, &changes) {
        Ok(branch) => branch,
        Err(error) => return Err(Failed::after(error, Delivered::nothing(plan))),
    };
    match request {
        None => Ok(deliverer.publish(Some(branch), waiting)?.0.with_read(&tip)),
        Some(request) => {
            let delivered = deliverer.deliver_request(&request, &branch, &tip, plan, waiting)?;
            Ok(delivered.with_read(&tip))
        }
    }
}

/// Returns the error of a push that the guard does not allow.
fn held(error: &Error) -> Error {
    Error::new(diagnostic::ErrorKind::Unavailable, error.message())
}

fn joined(parts: Vec<Part>) -> Plan {
    Plan::joined(parts.into_iter().map(|part| part.plan))
}

/// The branch that is read, as the server has it.
///
/// # Errors
/// If it cannot be reached, or has no such branch.
pub(crate) fn tip(server: &Server<'_>) -> Result<Tip> {
    let branch = server.branch.unwrap_or(gitremote::HEAD);
    let tips = server.mirror.fetch(server.remote, &[branch])?;
    tips.into_iter().next().flatten().ok_or_else(|| match server.branch {
        Some(branch) => Error::invalid(format!("no branch `{branch}` in the repository"))
            .hint("push a first commit to it, or name another with `git.branch`"),
        None => Error::invalid("the repository is empty").hint("push a first commit to it"),
    })
}

#[derive(Clone, Copy)]
struct Deliverer<'d> {
    planner: &'d dyn Planner,
    delivery: &'d Delivery,
    server: &'d Server<'d>,
}

impl Deliverer<'_> {
    fn plan(&self, tree: &Tree, tip: &Tip) -> Result<Vec<Part>> {
        let memory = Memory::of(self.server.mirror, self.server.remote, tip);
        let parts = self.planner.plan(tree, &|change| memory.is_held(change))?;
        match memory.failure() {
            Some(error) => Err(error),
            None => Ok(parts),
        }
    }

    /// Returns what the repository is called where no application says more.
    fn name(&self) -> String {
        let url = self.server.remote.url.trim_end_matches('/').trim_end_matches(".git");
        url.rsplit(['/', ':']).next().unwrap_or_default().to_owned()
    }

    /// Pushes and returns the branch with the changes.
    fn publish(&self, branch: Option<String>, waiting: &mut Waiting<'_>) -> Result<(Delivered, Tip), Failed> {
        let Server { remote, mirror, authorship, signer, .. } = *self.server;
        let target = Target {
            base: self.server.branch.map(str::to_owned),
            branch,
            options: self.delivery.options.clone(),
        };
        let wall = self.server.gate.sibling();
        let consent = Consent::new(move || wall.confirm().map_err(|error| held(&error)));
        let consent = Some(&consent);
        let publisher = Publisher { mirror, remote, target: &target, authorship, signer, consent };
        let (mut last, mut changes) = (Plan::joined([]), Vec::new());
        let published = publisher.publish(waiting, |tree| -> Result<Vec<gitremote::Change>> {
            // An earlier try that was lost is over.
            self.server.gate.end();
            let parts = self.plan(tree, &Tip { branch: String::new(), commit: tree.commit() })?;
            let commits = parts.iter().map(|part| self.commit(part)).collect::<Result<Vec<_>>>()?;
            let commits: Vec<gitremote::Change> = commits.into_iter().flatten().collect();
            let of_part = |part: &Part| part.plan.changes().cloned().collect::<Vec<Change>>();
            changes = parts.iter().map(of_part).filter(|changes| !changes.is_empty()).collect();
            last = joined(parts);
            if !commits.is_empty() {
                self.server.gate.begin()?;
            }
            Ok(commits)
        });
        let (tip, commits) = match published {
            Ok(Published::Unchanged { tip }) => return Ok((Delivered::nothing(last), tip)),
            Ok(Published::Pushed { tip, commits, .. }) => (tip, commits),
            Err(error) => return Err(Failed::after(error, Delivered::nothing(last))),
        };
        let of_commit = |(changes, commit): (Vec<Change>, &ObjectId)| {
            let commit = Some(*commit);
            changes.into_iter().map(move |change| Written { change, commit })
        };
        let written = changes.into_iter().zip(&commits).flat_map(of_commit).collect();
        let pushed = Some(tip.clone());
        Ok((Delivered { plan: last, read: None, pushed, commits, written, request: None }, tip))
    }

    fn commit(&self, part: &Part) -> Result<Option<gitremote::Change>> {
        let changes: Vec<Change> = part.plan.changes().cloned().collect();
        if changes.is_empty() {
            return Ok(None);
        }
        let name = part.application.clone().unwrap_or_else(|| self.name());
        let files = part.plan.texts.iter().map(|(path, text)| (path.clone(), text.new.clone().into_bytes()));
        Ok(Some(gitremote::Change {
            files: files.collect(),
            message: message(self.delivery, &name, &changes)?,
            trailers: sets_of(&changes).iter().map(Set::trailer).collect(),
        }))
    }

    fn branch(&self, tip: &Tip, changes: &[Change]) -> Result<String> {
        let template = match &self.delivery.branch {
            Some(text) => BranchTemplate::parse("pushBranch", text)?,
            None => BranchTemplate::default(),
        };
        let name = self.name();
        template.render(&subject(self.delivery, &name, changes), &self.key(tip))
    }

    fn key(&self, tip: &Tip) -> String {
        target_key(&self.server.remote.url, &tip.branch, "")
    }

    /// Pushes the branch of a request, unless a person has turned these changes down, and brings the request up to date.
    fn deliver_request(
        &self,
        request: &PullRequest,
        branch: &str,
        base: &Tip,
        plan: Plan,
        waiting: &mut Waiting<'_>,
    ) -> Result<Delivered, Failed> {
        let changes: Vec<Change> = plan.changes().cloned().collect();
        let (client, standing) = match self.standing(branch, base, &changes) {
            Ok(standing) => standing,
            Err(error) => return Err(Failed::after(error, Delivered::nothing(plan))),
        };
        if let Standing::Declined { url } = standing {
            let request = Requested { action: Action::Declined, url, warnings: Vec::new() };
            return Ok(Delivered { request: Some(request), ..Delivered::nothing(plan) });
        }
        let (mut delivered, at) = self.publish(Some(branch.to_owned()), waiting)?;
        if at.branch != branch {
            // In between all of it came to the base by another way.
            return Ok(delivered);
        }
        let made: Vec<Change> = delivered.plan.changes().cloned().collect();
        // Where others go on with the branch it has the changes already.
        let proposed = if made.is_empty() { &changes } else { &made };
        let gate = self.server.gate;
        let requested = gate.begin().and_then(|()| gate.confirm());
        match requested.and_then(|()| self.propose(&client, request, branch, base, proposed)) {
            Ok(requested) => delivered.request = Some(requested),
            Err(error) => return Err(Failed::after(error, delivered)),
        }
        if made.is_empty() {
            delivered.plan = plan;
        }
        Ok(delivered)
    }

    /// The forge, and what stands there for these changes.
    fn standing(&self, branch: &str, base: &Tip, changes: &[Change]) -> Result<(forge::Client, Standing)> {
        let settings = self.server.forge.ok_or_else(|| {
            Error::invalid("pull requests require a token of the forge").hint(
                "name its place with `git.pullRequest.tokenFrom`, or set GITHUB_TOKEN, GITLAB_TOKEN or GITEA_TOKEN",
            )
        })?;
        let client = forge::Client::new(&self.server.remote.url, settings)?;
        let standing = client.standing(branch, &base.branch, &self.key(base), &fingerprint(changes))?;
        Ok((client, standing))
    }

    fn propose(
        &self,
        client: &forge::Client,
        request: &PullRequest,
        branch: &str,
        base: &Tip,
        changes: &[Change],
    ) -> Result<Requested> {
        let name = self.name();
        let heading = heading(self.delivery, request.title.as_deref(), &name, changes)?;
        let body = request.body.as_deref().unwrap_or(DEFAULT_BODY);
        let outcome = client.propose(&Proposal {
            head: branch,
            base: &base.branch,
            title: &title(&heading),
            body: &BodyTemplate::parse("body", body)?.render(&name, changes)?,
            target: &self.key(base),
            changes: &fingerprint(changes),
            labels: &request.labels,
            reviewers: &request.reviewers,
            draft: request.draft,
            auto_merge: request.auto_merge,
            supersede: true,
        })?;
        Ok(Requested { action: outcome.action, url: outcome.url, warnings: outcome.warnings })
    }
}
