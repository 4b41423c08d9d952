//! Pull requests, which GitLab calls merge requests. In: a branch that was pushed and what its request is to say. Out:
//! an open request that says so, and what was done for it.
//!
//! A request that is there is brought up to date in place; what already is as wanted is not written, so that a second
//! run only reads. A request that a person closed stays closed until other changes are proposed.
//!
//! A forge is a file of this folder and a line of [`FORGES`].

mod address;
mod api;
mod app;
mod body;
mod gitea;
mod github;
mod gitlab;
mod links;
mod mark;
mod markdown;
mod propose;
mod pulls;

#[cfg(test)]
mod stand_in;
#[cfg(test)]
mod tests;

use diagnostic::{Error, ErrorKind, Result};
use std::fmt::Debug;

use oci_registry::Secret;
use reqwest::{StatusCode, Url};

pub use address::Address;
pub(crate) use address::is_same_repository;
pub use api::Api;
pub use app::{App, AppToken};
pub use body::{BodyTemplate, DEFAULT_BODY};
pub use propose::{Action, Outcome, Proposal, Standing};

/// The forges that are known.
pub const FORGES: &[&dyn Forge] = &[&github::GitHub, &gitlab::GitLab, &gitea::Gitea];

/// One kind of forge.
pub trait Forge: Debug + Sync {
    /// Its name, which messages and the configuration have.
    fn name(&self) -> &'static str;

    /// Hosts that are known to be one.
    fn hosts(&self) -> &'static [&'static str];

    /// Returns what the name of a host begins with where somebody runs one.
    fn words(&self) -> &'static [&'static str];

    /// Returns where the API of a host is.
    fn api(&self, host: &str) -> String;

    /// Returns what a request carries: the token, and which version of the API it means.
    fn headers(&self, token: &str) -> Vec<(&'static str, String)>;

    /// Returns true if an answer says that there is such a request already.
    fn says_duplicate(&self, status: StatusCode, body: &[u8]) -> bool;

    /// Returns what a title begins with that makes a request a draft, where the API has no other way.
    fn draft_mark(&self) -> Option<&'static str>;

    /// Returns how a text refers to a request.
    fn reference(&self, number: u64) -> String;

    /// Returns where two revisions of a repository are compared, and where one is shown.
    fn compare(&self, web: &str, old: &str, new: &str) -> String;

    /// Returns where a revision of a repository is shown.
    fn commit(&self, web: &str, revision: &str) -> String;

    /// The open request from one branch into another, or else the last one that was closed.
    ///
    /// # Errors
    /// If the forge does not say.
    fn find(&self, at: &Repository<'_>, head: &str, base: &str) -> Result<Option<Request>>;

    /// The open requests into a branch, as many as are read.
    ///
    /// # Errors
    /// If the forge does not say.
    fn list(&self, at: &Repository<'_>, base: &str) -> Result<Vec<Request>>;

    /// Opens a request.
    ///
    /// # Errors
    /// If the forge refuses.
    fn create(&self, at: &Repository<'_>, new: &NewRequest<'_>) -> Result<Request>;

    /// Changes what a request says.
    ///
    /// # Errors
    /// If the forge refuses.
    fn update(&self, at: &Repository<'_>, number: u64, update: &Update<'_>) -> Result<()>;

    /// Gives a request more labels.
    ///
    /// # Errors
    /// If the forge refuses.
    fn label(&self, at: &Repository<'_>, number: u64, labels: &[&str]) -> Result<()>;

    /// Asks people to look at a request.
    ///
    /// # Errors
    /// If the forge refuses.
    fn ask_reviewers(&self, at: &Repository<'_>, number: u64, reviewers: &[String]) -> Result<()>;

    /// Has a request merged as soon as its checks allow it.
    ///
    /// # Errors
    /// If the forge refuses.
    fn merge_when_ready(&self, at: &Repository<'_>, request: &Request, method: MergeMethod) -> Result<()>;

    /// Writes a comment.
    ///
    /// # Errors
    /// If the forge refuses.
    fn comment(&self, at: &Repository<'_>, number: u64, text: &str) -> Result<()>;
}

/// The merge method of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MergeMethod {
    /// By a commit with two parents.
    Merge,
    /// As one commit.
    Squash,
    /// By commits on top of the branch.
    Rebase,
}

/// A repository whose forge can be asked.
#[derive(Clone, Copy, Debug)]
pub struct Repository<'a> {
    api: &'a Api,
    /// `owner/name`, for GitLab with more groups.
    path: &'a str,
}

/// A request as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// The number.
    pub number: u64,
    /// The id in the API.
    pub id: String,
    /// The URL.
    pub url: String,
    /// Its title, with a mark where it is a draft.
    pub title: String,
    /// The text.
    pub body: String,
    /// Its labels.
    pub labels: Vec<String>,
    /// The branch it is from.
    pub head: String,
    /// True if that is a branch of the same repository.
    pub is_own_branch: bool,
    /// True if it is a draft, where the API says so besides the title.
    pub draft: bool,
    /// True if it will be merged when its checks allow it, where the API says so.
    pub auto_merge: Option<bool>,
    /// Tells whether it waits for somebody.
    pub state: State,
}

/// The state of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// It waits.
    #[default]
    Open,
    /// It was turned down.
    Closed,
    /// It is in.
    Merged,
}

/// A request to be opened.
#[derive(Clone, Copy, Debug)]
pub struct NewRequest<'a> {
    /// The branch it is from.
    pub head: &'a str,
    /// The branch it goes into.
    pub base: &'a str,
    /// Its title, with a mark where that makes it a draft.
    pub title: &'a str,
    /// The text.
    pub body: &'a str,
    /// True if it is a draft.
    pub draft: bool,
}

/// The changes of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Update<'a> {
    /// Another title.
    pub title: Option<&'a str>,
    /// Another text.
    pub body: Option<&'a str>,
    /// To close it.
    pub close: bool,
}

/// The access to a forge.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Which forge it is, by name in any case, where its host does not say.
    pub forge: Option<String>,
    /// The URL of its API, if not the default.
    pub api: Option<String>,
    /// The token.
    pub token: Secret<String>,
    /// Authorities in PEM to trust beside the machine's.
    pub certificates: Option<Vec<u8>>,
}

/// A forge and a repository on it.
#[derive(Debug)]
pub struct Client {
    forge: &'static dyn Forge,
    api: Api,
    path: String,
}

impl Client {
    /// Finds out which forge a repository is on and where its API is. Nothing is asked yet.
    ///
    /// # Errors
    /// If that is not clear, or the token would go over the network without TLS though nobody said so.
    pub fn new(repository: &str, settings: &Settings) -> Result<Self> {
        let address = Address::parse(repository)?;
        let forge = forge(&address, settings.forge.as_deref())?;
        let base = base(forge, &address, settings.api.as_deref())?;
        if settings.token.expose().is_empty() {
            let wrong = format!("there is no token for {}", forge.name());
            return Err(Error::new(ErrorKind::Unauthorized, wrong)
                .hint("pull requests need one, also where git uses ssh"));
        }
        let path = below(&base, address.path()).to_owned();
        let api = Api::new(forge, base, settings.token.clone(), settings.certificates.as_deref())?;
        Ok(Self { forge, api, path })
    }

    fn repository(&self) -> Repository<'_> {
        Repository { api: &self.api, path: &self.path }
    }
}

fn forge(address: &Address, wanted: Option<&str>) -> Result<&'static dyn Forge> {
    let names: Vec<&str> = FORGES.iter().map(|forge| forge.name()).collect();
    let hint = format!("say which it is: {}", names.join(", "));
    match wanted {
        Some(name) => {
            // Forgejo's API is Gitea's.
            let name = if name.eq_ignore_ascii_case("forgejo") { "gitea" } else { name };
            let found = FORGES.iter().find(|forge| forge.name().eq_ignore_ascii_case(name));
            found.copied().ok_or_else(|| {
                Error::new(ErrorKind::Invalid, format!("no forge is called `{name}`")).hint(hint)
            })
        }
        None => address.forge().ok_or_else(|| {
            let wrong = format!("it is not clear which forge `{}` is", address.host());
            Error::new(ErrorKind::Invalid, wrong).hint(hint)
        }),
    }
}

fn base(forge: &'static dyn Forge, address: &Address, configured: Option<&str>) -> Result<Url> {
    if configured.is_none() && address.is_plain() {
        let wrong = format!("the token for `{}` would go over the network without TLS", address.host());
        return Err(
            Error::new(ErrorKind::Invalid, wrong).hint("where that is meant, set the address of the API")
        );
    }
    let text = configured.map_or_else(|| forge.api(address.host()), str::to_owned);
    let url = Url::parse(&text).ok().filter(|url| {
        let plain = url.username().is_empty() && url.password().is_none() && url.query().is_none();
        matches!(url.scheme(), "http" | "https") && url.has_host() && plain
    });
    url.ok_or_else(|| {
        let wrong = format!("the address of the API of {} is not one of http", forge.name());
        Error::new(ErrorKind::Invalid, wrong)
            .hint(format!("it looks like `{}`", forge.api("git.example.org")))
    })
}

/// The path of a repository without the folder that the whole forge is in, where it has one.
fn below<'p>(base: &Url, path: &'p str) -> &'p str {
    let Some((folder, _)) = base.path().trim_start_matches('/').split_once("api/") else { return path };
    path.strip_prefix(folder).filter(|rest| rest.contains('/')).unwrap_or(path)
}

/// The newest that is open, or else the newest.
fn latest(requests: impl Iterator<Item = Request>) -> Option<Request> {
    requests.max_by_key(|request| (request.state == State::Open, request.number))
}

/// Reviewers that are people, and those that are teams, without their organisation.
fn people_and_teams(reviewers: &[String]) -> (Vec<&str>, Vec<&str>) {
    let (teams, people): (Vec<&str>, Vec<&str>) =
        reviewers.iter().map(String::as_str).partition(|name| name.contains('/'));
    (people, teams.into_iter().filter_map(|team| team.rsplit('/').next()).collect())
}
