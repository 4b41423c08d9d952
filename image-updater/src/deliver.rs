//! Brings a round's changes to the branch of a repository on a server, and to a pull request where one is wanted.
//!
//! In: a batch, a round, and how the server is reached. Out: what was planned on the files that were there in the end, and
//! what was pushed. One fetch, one commit (or one for each application) and one push, however many images there are. What
//! a person has set back since we set it is held: it is not set again before another version is chosen.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use gitremote::{Authorship, Mirror, ObjectId, Publisher, Remote, Sign, Target, Tip, Tree, Waiting};

use crate::change::{Change, Named};
use crate::error::{Error, Result};
use crate::files::Files;
use crate::forge::{self, BodyTemplate, DEFAULT_BODY, Proposal};
use crate::gate::Gate;
use crate::message::{
    BranchTemplate, FLUX_MESSAGE, MessageTemplate, Set, Subject, fingerprint, read_sets, sets_of, target_key,
    title,
};
use crate::round::{Plan, Round, Text};
use crate::work::{Batch, Delivery, PullRequest, Words};

/// How many commits are looked at for what we set before.
const REMEMBERED: u32 = 100;

/// How a repository is reached, and who commits to it.
pub(crate) struct Server<'s> {
    pub(crate) remote: &'s Remote,
    pub(crate) branch: Option<&'s str>,
    pub(crate) mirror: &'s Mirror,
    pub(crate) authorship: &'s Authorship,
    pub(crate) signer: Option<&'s dyn Sign>,
    /// For pull requests.
    pub(crate) forge: Option<&'s forge::Settings>,
    /// What is passed before anything that others see. Whoever asked for the delivery says when it is over.
    pub(crate) gate: &'s Gate,
}

/// What came of a batch.
#[derive(Debug)]
pub(crate) struct Delivered {
    pub(crate) plan: Plan,
    /// The branch with the last of the commits; nothing where there was nothing to push.
    pub(crate) pushed: Option<Tip>,
    pub(crate) commits: Vec<ObjectId>,
    /// What was pushed, image by image.
    pub(crate) written: Vec<Written>,
    pub(crate) request: Option<forge::Outcome>,
}

/// A change with the commit that has it.
#[derive(Clone, Debug)]
pub(crate) struct Written {
    pub(crate) change: Change,
    pub(crate) commit: ObjectId,
}

impl Delivered {
    /// Nothing was pushed.
    pub(crate) fn nothing(plan: Plan) -> Self {
        Self { plan, pushed: None, commits: Vec::new(), written: Vec::new(), request: None }
    }
}

/// Plans on the branch's files, without a push.
///
/// # Errors
/// Where the repository cannot be read.
pub(crate) fn look(batch: &Batch, round: &Round<'_>, server: &Server<'_>) -> Result<Plan> {
    let delivery = Deliverer { batch, round, server };
    let tip = delivery.tip()?;
    let tree = server.mirror.tree(tip.commit)?;
    delivery.plan(&tree, Some(&tip)).map(|plans| Plan::joined(plans.into_iter().map(|part| part.plan)))
}

/// Plans, commits and pushes; and again where somebody else was faster.
///
/// # Errors
/// Where the repository cannot be read or written. That of single images is in the plan.
pub(crate) fn deliver(
    batch: &Batch,
    round: &Round<'_>,
    server: &Server<'_>,
    waiting: &mut Waiting<'_>,
    with_request: bool,
) -> Result<Delivered> {
    let delivery = Deliverer { batch, round, server };
    let request = batch.delivery.pull_request.as_ref().filter(|_| with_request);
    if batch.delivery.branch.is_none() && request.is_none() {
        return delivery.publish(None, waiting);
    }
    // The name of the branch depends on what changes.
    let tip = delivery.tip()?;
    let parts = delivery.plan(&server.mirror.tree(tip.commit)?, Some(&tip))?;
    let plan = Plan::joined(parts.into_iter().map(|part| part.plan));
    let changes: Vec<Change> = plan.changes().cloned().collect();
    if changes.is_empty() {
        return Ok(Delivered::nothing(plan));
    }
    let branch = delivery.branch(&tip, &changes)?;
    let mut delivered = delivery.publish(Some(branch.clone()), waiting)?;
    if let Some(request) = request {
        server.gate.begin()?;
        delivered.request = Some(delivery.propose(request, &branch, &tip, &changes)?);
    }
    Ok(delivered)
}

#[derive(Clone, Copy)]
struct Deliverer<'d> {
    batch: &'d Batch,
    round: &'d Round<'d>,
    server: &'d Server<'d>,
}

/// What becomes one commit.
struct Part {
    plan: Plan,
    name: String,
}

impl Deliverer<'_> {
    fn tip(&self) -> Result<Tip> {
        let branch = self.server.branch.unwrap_or(gitremote::HEAD);
        let tips = self.server.mirror.fetch(self.server.remote, &[branch])?;
        tips.into_iter().next().flatten().ok_or_else(|| {
            Error::input(format!("the repository has no branch `{branch}`"))
                .hint("push a first commit to it, or name another with `branch`")
        })
    }

    /// The plans of the commits, each on the files that the one before it leaves.
    fn plan(&self, tree: &Tree, tip: Option<&Tip>) -> Result<Vec<Part>> {
        let mut parts: Vec<Part> = Vec::new();
        let mut texts: BTreeMap<String, Text> = BTreeMap::new();
        for (name, batch) in self.parts() {
            let files = Overlay { below: tree, texts: &texts };
            let mut plan = self.round.plan(&batch, &files);
            if let Some(tip) = tip.filter(|_| plan.changes().next().is_some()) {
                let held = self.held(tip)?;
                if plan.changes().any(|change| is_held(change, &held)) {
                    plan = self.round.plan_without(&batch, &files, &|change| is_held(change, &held));
                }
            }
            for (path, text) in &plan.texts {
                texts.insert(path.clone(), text.clone());
            }
            parts.push(Part { plan, name });
        }
        Ok(parts)
    }

    /// The batch, or for each application what is its own.
    fn parts(&self) -> Vec<(String, Batch)> {
        let whole = self.name();
        if !self.batch.delivery.commit_per_application {
            return vec![(whole, self.batch.clone())];
        }
        let mut parts: Vec<(Option<Named>, Batch)> = Vec::new();
        for update in &self.batch.updates {
            let known = parts.iter_mut().find(|(application, _)| *application == update.application);
            match known {
                Some((_, batch)) => batch.updates.push(update.clone()),
                None => {
                    let batch = Batch { updates: vec![update.clone()], ..self.batch.clone() };
                    parts.push((update.application.clone(), batch));
                }
            }
        }
        let named =
            |application: Option<Named>| application.map_or_else(|| whole.clone(), |named| named.name);
        parts.into_iter().map(|(application, batch)| (named(application), batch)).collect()
    }

    /// What the repository is called where no application says more.
    fn name(&self) -> String {
        let url = self.server.remote.url.trim_end_matches('/').trim_end_matches(".git");
        url.rsplit(['/', ':']).next().unwrap_or_default().to_owned()
    }

    /// What our last commits on the branch set.
    fn held(&self, tip: &Tip) -> Result<BTreeSet<(String, String, String)>> {
        let past = self.server.mirror.history(self.server.remote, tip, REMEMBERED)?;
        let sets = past.iter().flat_map(|past| read_sets(&past.message));
        Ok(sets.map(|Set { image, file, new, .. }| (image, file, new)).collect())
    }

    fn publish(&self, branch: Option<String>, waiting: &mut Waiting<'_>) -> Result<Delivered> {
        let Server { remote, mirror, authorship, signer, .. } = *self.server;
        let target = Target {
            base: self.server.branch.map(str::to_owned),
            branch,
            options: self.batch.delivery.options.clone(),
        };
        let publisher = Publisher { mirror, remote, target: &target, authorship, signer };
        let (mut last, mut changes) = (Plan::joined([]), Vec::new());
        let published = publisher.publish(waiting, |tree| -> Result<Vec<gitremote::Change>> {
            // An earlier try that was lost is over.
            self.server.gate.end();
            let tip = Tip { branch: String::new(), commit: tree.commit() };
            let parts = self.plan(tree, Some(&tip))?;
            let commits = parts.iter().map(|part| self.commit(part)).collect::<Result<Vec<_>>>()?;
            let commits: Vec<gitremote::Change> = commits.into_iter().flatten().collect();
            let of_part = |part: &Part| part.plan.changes().cloned().collect::<Vec<Change>>();
            changes = parts.iter().map(of_part).filter(|changes| !changes.is_empty()).collect();
            last = Plan::joined(parts.into_iter().map(|part| part.plan));
            if !commits.is_empty() {
                self.server.gate.begin()?;
            }
            Ok(commits)
        })?;
        let gitremote::Published::Pushed { tip, commits, .. } = published else {
            return Ok(Delivered::nothing(last));
        };
        let of_commit = |(changes, commit): (Vec<Change>, &ObjectId)| {
            let commit = *commit;
            changes.into_iter().map(move |change| Written { change, commit })
        };
        let written = changes.into_iter().zip(&commits).flat_map(of_commit).collect();
        Ok(Delivered { plan: last, pushed: Some(tip), commits, written, request: None })
    }

    fn commit(&self, part: &Part) -> Result<Option<gitremote::Change>> {
        let changes: Vec<Change> = part.plan.changes().cloned().collect();
        if changes.is_empty() {
            return Ok(None);
        }
        let message = message(&self.batch.delivery, &part.name, &changes)?;
        let files = part.plan.texts.iter().map(|(path, text)| (path.clone(), text.new.clone().into_bytes()));
        Ok(Some(gitremote::Change {
            files: files.collect(),
            message,
            trailers: sets_of(&changes).iter().map(Set::trailer).collect(),
        }))
    }

    fn branch(&self, tip: &Tip, changes: &[Change]) -> Result<String> {
        let template = match &self.batch.delivery.branch {
            Some(text) => BranchTemplate::parse("pushBranch", text)?,
            None => BranchTemplate::default(),
        };
        let name = self.name();
        template.render(&subject(&self.batch.delivery, &name, changes), &self.key(tip))
    }

    fn key(&self, tip: &Tip) -> String {
        target_key(&self.server.remote.url, &tip.branch, "")
    }

    fn propose(
        &self,
        request: &PullRequest,
        branch: &str,
        tip: &Tip,
        changes: &[Change],
    ) -> Result<forge::Outcome> {
        let settings = self.server.forge.ok_or_else(|| {
            Error::input("pull requests need a token of the forge, and there is none")
                .hint("give `git.credentials`, or set GITHUB_TOKEN, GITLAB_TOKEN or GITEA_TOKEN")
        })?;
        let settings = forge::Settings { forge: request.forge.clone(), ..settings.clone() };
        let client = forge::Client::new(&self.server.remote.url, &settings)?;
        let name = self.name();
        let heading = match &request.title {
            Some(text) => rendered(&self.batch.delivery, "pullRequest.title", text, &name, changes)?,
            None => message(&self.batch.delivery, &name, changes)?,
        };
        let body = BodyTemplate::parse("body.md", DEFAULT_BODY)?.render(&name, changes)?;
        Ok(client.propose(&Proposal {
            head: branch,
            base: &tip.branch,
            title: &title(&heading),
            body: &body,
            target: &self.key(tip),
            changes: &fingerprint(changes),
            labels: &request.labels,
            reviewers: &request.reviewers,
            draft: request.draft,
            auto_merge: None,
            supersede: true,
        })?)
    }
}

/// The message of a commit, without trailers.
pub(crate) fn message(delivery: &Delivery, name: &str, changes: &[Change]) -> Result<String> {
    match (&delivery.message, delivery.words) {
        (Some(text), _) => rendered(delivery, "message", text, name, changes),
        (None, Words::Flux) => rendered(delivery, "message", FLUX_MESSAGE, name, changes),
        (None, Words::ArgoCd) => MessageTemplate::default().render(&subject(delivery, name, changes)),
    }
}

/// What templates are told, with what the configuration hands to them.
fn subject<'s>(delivery: &'s Delivery, name: &'s str, changes: &'s [Change]) -> Subject<'s> {
    Subject { name, changes, automation: delivery.automation.as_ref(), values: &delivery.values }
}

fn rendered(delivery: &Delivery, field: &str, text: &str, name: &str, changes: &[Change]) -> Result<String> {
    MessageTemplate::parse(field, text, &delivery.values)?.render(&subject(delivery, name, changes))
}

/// Whether we set this before, so that a person has set it back since.
fn is_held(change: &Change, held: &BTreeSet<(String, String, String)>) -> bool {
    let new = change.new.full();
    let set = |file: &str| held.contains(&(change.image.clone(), file.to_owned(), new.clone()));
    change.edits.iter().any(|edit| set(&edit.file))
}

/// Files with some of them changed.
struct Overlay<'o> {
    below: &'o dyn Files,
    texts: &'o BTreeMap<String, Text>,
}

impl Files for Overlay<'_> {
    fn read(&self, path: &str) -> Result<Option<String>> {
        match self.texts.get(path) {
            Some(text) => Ok(Some(text.new.clone())),
            None => self.below.read(path),
        }
    }

    fn glob(&self, pattern: &str) -> Result<Vec<String>> {
        self.below.glob(pattern)
    }
}

/// Commits files of a work tree as `git commit` does, with hooks and configuration of whoever runs this.
///
/// # Errors
/// What git says.
pub(crate) fn commit_in_place(folder: &Path, plan: &Plan, delivery: &Delivery) -> Result<()> {
    let changes: Vec<Change> = plan.changes().cloned().collect();
    let name = std::fs::canonicalize(folder).ok();
    let name = name.as_deref().and_then(Path::file_name).and_then(|name| name.to_str()).unwrap_or("config");
    let mut text = message(delivery, name, &changes)?;
    text.push_str("\n\n");
    for (token, value) in sets_of(&changes).iter().map(Set::trailer) {
        text.push_str(&format!("{token}: {value}\n"));
    }
    let mut command = std::process::Command::new("git");
    command.arg("-C").arg(folder).args(["commit", "--quiet", "--message", &text]);
    if delivery.sign_off {
        command.arg("--signoff");
    }
    command.args(["--only", "--"]).args(plan.texts.keys());
    let output = command.output().map_err(|error| {
        Error::new(crate::error::ErrorKind::Environment, format!("`git` cannot be run: {error}"))
    })?;
    if output.status.success() {
        return Ok(());
    }
    let complaint = String::from_utf8_lossy(&output.stderr);
    let line = complaint.lines().find(|line| !line.trim().is_empty()).unwrap_or("it failed");
    Err(Error::input(format!("git does not commit: {}", gitremote::redact(line)))
        .hint("the files are written; commit them by hand"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::{Named, Version};

    #[test]
    fn a_message_has_what_the_configuration_hands_to_it() {
        let delivery = Delivery {
            message: Some("{{ .AutomationObject }} in {{ .Values.cluster }}".to_owned()),
            words: Words::Flux,
            values: BTreeMap::from([("cluster".to_owned(), "prod".to_owned())]),
            automation: Some(Named { namespace: "flux-system".to_owned(), name: "all".to_owned() }),
            ..Delivery::default()
        };
        let change = Change { old: Version::of_tag("1"), new: Version::of_tag("2"), ..Change::default() };
        assert_eq!(message(&delivery, "x", &[change]).unwrap(), "flux-system/all in prod\n");
    }
}
