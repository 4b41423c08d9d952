//! Opens or updates a request, for all forges. Input: the wanted request. Output: what was done; nothing is written
//! that is up to date.

use diagnostic::{Error, ErrorKind, Result};
use std::collections::BTreeSet;

use super::mark::Mark;
use super::{Client, MergeMethod, NewRequest, Request, State, Update};

/// Maximum length of a label's name.
const MAX_LABEL: usize = 255;

/// Title prefixes that mark a request as a draft.
const DRAFT_MARKS: &[&str] = &["draft:", "[draft]", "(draft)", "wip:", "[wip]"];

/// A request as it is to be.
#[derive(Clone, Copy, Debug)]
pub struct Proposal<'a> {
    /// The branch with the changes, which is there already.
    pub head: &'a str,
    /// The branch that they go into.
    pub base: &'a str,
    /// The title, on one line.
    pub title: &'a str,
    /// The text.
    pub body: &'a str,
    /// The key of [`target_key`](crate::message::target_key): requests of one target replace each other.
    pub target: &'a str,
    /// The [`fingerprint`](crate::message::fingerprint) of the changes.
    pub changes: &'a str,
    /// Labels to have. Others that it has, stay.
    pub labels: &'a [String],
    /// The reviewers to request when it is opened; `organisation/team` is a team.
    pub reviewers: &'a [String],
    /// True if it is opened as a draft. Whether it stays one, people decide.
    pub draft: bool,
    /// Tells whether it is merged when its checks allow it, and how. A draft is not.
    pub auto_merge: Option<MergeMethod>,
    /// True if older requests of the target, from other branches, are closed.
    pub supersede: bool,
}

/// The result.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The action on the request.
    pub action: Action,
    /// Its number.
    pub number: u64,
    /// The URL.
    pub url: String,
    /// The numbers of those that were closed for it.
    pub superseded: Vec<u64>,
    /// Errors of labels, reviewers, merging or closing, although the request exists.
    pub warnings: Vec<Error>,
}

/// The action on a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// It was opened.
    Created,
    /// It was there, and says other things now.
    Updated,
    /// It was there and said this.
    Unchanged,
    /// A person has closed it, and these are the same changes.
    Declined,
}

impl Action {
    /// The words for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Created => "opened the request",
            Self::Updated => "brought the request up to date",
            Self::Unchanged => "the request is as it should be",
            Self::Declined => "a person closed the request",
        }
    }
}

/// The state of a proposal before anything is pushed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// There is no request.
    Absent,
    /// One waits, at this address; whether for the same changes.
    Open { url: String, same_changes: bool },
    /// A person has closed one with the same changes, at this address.
    Declined { url: String },
}

impl Client {
    /// Returns how changes of a target stand. Only reads.
    ///
    /// # Errors
    /// If the forge does not say.
    pub fn standing(&self, head: &str, base: &str, target: &str, changes: &str) -> Result<Standing> {
        let Some(request) = self.forge.find(&self.repository(), head, base)? else {
            return Ok(Standing::Absent);
        };
        let same_changes = Mark::read(&request.body) == Some(Mark::new(target, changes));
        Ok(match request.state {
            State::Open => Standing::Open { url: request.url, same_changes },
            State::Closed if same_changes => Standing::Declined { url: request.url },
            _ => Standing::Absent,
        })
    }

    /// Has an open request say what is proposed.
    ///
    /// # Errors
    /// If it cannot be opened or changed. What is less than that is a warning of the outcome.
    pub fn propose(&self, proposal: &Proposal<'_>) -> Result<Outcome> {
        check(proposal)?;
        let mark = Mark::new(proposal.target, proposal.changes);
        let body = mark.write(proposal.body);
        let found = self.forge.find(&self.repository(), proposal.head, proposal.base)?;
        let (request, action) = match found {
            Some(request) if request.state == State::Open => {
                self.bring_up_to_date(request, proposal, &body)?
            }
            Some(request) if request.state == State::Closed && Mark::read(&request.body) == Some(mark) => {
                (request, Action::Declined)
            }
            _ => self.open(proposal, &body)?,
        };
        let mut outcome = Outcome {
            action,
            number: request.number,
            url: request.url.clone(),
            superseded: Vec::new(),
            warnings: Vec::new(),
        };
        if action != Action::Declined {
            self.complete(&request, proposal, &mut outcome);
            if proposal.supersede {
                self.supersede(proposal, &mut outcome);
            }
        }
        Ok(outcome)
    }

    /// Opens a request, or brings up to date the one that somebody has opened in between.
    fn open(&self, proposal: &Proposal<'_>, body: &str) -> Result<(Request, Action)> {
        let Proposal { head, base, draft, .. } = *proposal;
        let mark = self.forge.draft_mark().filter(|_| draft).unwrap_or_default();
        let title = format!("{mark}{}", proposal.title);
        let new = NewRequest { head, base, title: &title, body, draft };
        match self.forge.create(&self.repository(), &new) {
            Ok(request) => Ok((request, Action::Created)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                match self.forge.find(&self.repository(), head, base)? {
                    Some(request) if request.state == State::Open => {
                        self.bring_up_to_date(request, proposal, body)
                    }
                    _ => Err(error),
                }
            }
            Err(error) => Err(error),
        }
    }

    fn bring_up_to_date(
        &self,
        mut request: Request,
        proposal: &Proposal<'_>,
        body: &str,
    ) -> Result<(Request, Action)> {
        let (mark, title) = match self.forge.draft_mark() {
            Some(_) => split_draft_mark(&request.title),
            None => ("", request.title.as_str()),
        };
        // Whether it still is a draft is for people to say.
        let wanted_title = format!("{mark}{}", proposal.title);
        let update = Update {
            title: (title.trim() != proposal.title.trim()).then_some(wanted_title.as_str()),
            body: (normal(&request.body) != normal(body)).then_some(body),
            close: false,
        };
        if update == Update::default() {
            return Ok((request, Action::Unchanged));
        }
        self.forge.update(&self.repository(), request.number, &update)?;
        request.title = wanted_title;
        body.clone_into(&mut request.body);
        Ok((request, Action::Updated))
    }

    /// Sets the labels, reviewers and merging of a request.
    fn complete(&self, request: &Request, proposal: &Proposal<'_>, outcome: &mut Outcome) {
        let at = self.repository();
        let wanted: BTreeSet<&str> = proposal.labels.iter().map(|label| label.trim()).collect();
        let lacking: Vec<&str> = wanted
            .into_iter()
            .filter(|label| !request.labels.iter().any(|had| had.eq_ignore_ascii_case(label)))
            .collect();
        let mut done = Vec::new();
        if !lacking.is_empty() {
            done.push(self.forge.label(&at, request.number, &lacking));
        }
        // Who has reviewed is no longer asked, so that asking again would never end.
        if outcome.action == Action::Created && !proposal.reviewers.is_empty() {
            done.push(self.forge.ask_reviewers(&at, request.number, proposal.reviewers));
        }
        if let Some(method) = proposal.auto_merge
            && self.lacks_merging(request, outcome.action)
        {
            done.push(self.forge.merge_when_ready(&at, request, method));
        }
        outcome.warnings.extend(done.into_iter().filter_map(Result::err));
    }

    /// Returns true if a request is to be told again to be merged. GitLab refuses that until it has looked at a new request, so
    /// that a later run does it; a forge that does not say whether it was told is told once for each change.
    fn lacks_merging(&self, request: &Request, action: Action) -> bool {
        let marked = self.forge.draft_mark().is_some() && !split_draft_mark(&request.title).0.is_empty();
        let is_told = request.auto_merge.unwrap_or(action == Action::Unchanged);
        !is_told && !request.draft && !marked
    }

    /// Closes what others of the target have proposed from branches of this repository.
    fn supersede(&self, proposal: &Proposal<'_>, outcome: &mut Outcome) {
        let at = self.repository();
        let requests = match self.forge.list(&at, proposal.base) {
            Ok(requests) => requests,
            Err(error) => return outcome.warnings.push(error),
        };
        let by = self.forge.reference(outcome.number);
        for request in requests {
            let Some(mark) = Mark::read(&request.body).filter(|mark| mark.target == proposal.target) else {
                continue;
            };
            let is_ours =
                request.is_own_branch && request.head != proposal.head && request.number != outcome.number;
            if !is_ours {
                continue;
            }
            // The mark says that no person has closed it, so that the same changes may be proposed again.
            let body = mark.superseded().write(&request.body);
            let update = Update { title: None, body: Some(&body), close: true };
            let closed = self.forge.update(&at, request.number, &update);
            let closed = closed.and_then(|()| {
                outcome.superseded.push(request.number);
                self.forge.comment(&at, request.number, &format!("Superseded by {by}."))
            });
            outcome.warnings.extend(closed.err());
        }
    }
}

fn check(proposal: &Proposal<'_>) -> Result<()> {
    let invalid = |wrong: String| Err(Error::new(ErrorKind::Invalid, wrong));
    if proposal.title.trim().is_empty() || proposal.title.contains(char::is_control) {
        return invalid("the title of a pull request is not one line".to_owned());
    }
    if proposal.head == proposal.base {
        return invalid(format!("a pull request cannot go from `{}` into itself", proposal.head));
    }
    let is_label = |label: &str| {
        let label = label.trim();
        !label.is_empty()
            && label.len() <= MAX_LABEL
            && !label.contains(|character: char| character.is_control() || character == ',')
    };
    match proposal.labels.iter().find(|label| !is_label(label)) {
        Some(label) => invalid(format!("`{label}` cannot be a label: it is empty, too long or has a comma")),
        None => Ok(()),
    }
}

/// Returns what makes a title a draft's, and the rest of it.
fn split_draft_mark(title: &str) -> (&str, &str) {
    for mark in DRAFT_MARKS {
        let begins = title.get(..mark.len()).is_some_and(|start| start.eq_ignore_ascii_case(mark));
        if begins {
            let rest = title[mark.len()..].trim_start();
            return title.split_at(title.len() - rest.len());
        }
    }
    ("", title)
}

/// A text without what forges change of it.
fn normal(text: &str) -> String {
    text.replace("\r\n", "\n").trim().to_owned()
}
