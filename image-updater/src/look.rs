//! Looks at a registry for what a decision needs, and for nothing else.
//!
//! In: an image, its rules, a client. Out: a decision on a complete view. A policy that goes by versions costs the list
//! of tags; only what the rules then find lacking is asked for, and where platforms or ages matter, about one tag after
//! the other from the best on, until one suits. Refused: to decide while anything of that is not known.

#[cfg(test)]
mod tests;

use diagnostic::{Error, Result};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use cosign::Verified;
use oci_registry::{Client, Digest, Platform, Repository, TagList, Wanted};

use crate::choose::{Question, Rules};
use crate::decision::{Decision, Outcome};
use crate::filter::{Gap, Lack};
use crate::tags::Tag;
use crate::trust::Keyring;
use crate::work::Verification;

/// Maximum number of tags of one image that are asked about at once; the client bounds what a host gets.
const AT_ONCE: usize = 8;

/// Registry answers of one reconcile: a list of tags is requested once, and so is a tag, however many images share
/// them.
#[derive(Debug)]
pub struct Look<'c> {
    /// Nothing where only what is recorded may be looked at.
    client: Option<&'c Client>,
    /// The names of tags, one in a line, which takes a tenth of the memory: all images are held until the end.
    lists: Mutex<HashMap<Repository, Shared<Box<str>>>>,
    recorded: HashMap<Repository, Vec<Tag>>,
    /// By repository and platforms: which of its images count for the time of a tag depends on these.
    known: Mutex<HashMap<View, Arc<Mutex<Known>>>>,
    digests: Mutex<HashMap<(Repository, String), Shared<Digest>>>,
    labels: Mutex<HashMap<String, Shared<BTreeMap<String, String>>>>,
    keyring: Keyring,
    verified: Mutex<HashMap<(String, Verification), Shared<Verified>>>,
    listener: Option<Listener<'c>>,
    /// True if what the cache knows is enough where nothing could come of asking.
    spares: bool,
}

/// Called for every decision.
struct Listener<'l>(&'l (dyn Fn(&Decision) + Sync));

impl fmt::Debug for Listener<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Listener")
    }
}

/// A value that one thread fills while the others that need it wait. A failure is one for all of them: who does not
/// answer is not asked again for each image.
type Shared<T> = Arc<Mutex<Option<Result<T>>>>;

/// A repository, seen for some platforms.
type View = (Repository, Vec<String>);

/// The known data of a repository's tags, and what was requested.
#[derive(Debug, Default)]
struct Known {
    tags: HashMap<String, Tag>,
    asked: BTreeSet<Gap>,
}

impl<'c> Look<'c> {
    /// Nothing is known yet.
    #[must_use]
    pub fn new(client: &'c Client) -> Self {
        Self {
            client: Some(client),
            lists: Mutex::default(),
            recorded: HashMap::new(),
            known: Mutex::default(),
            digests: Mutex::default(),
            labels: Mutex::default(),
            keyring: Keyring::default(),
            verified: Mutex::default(),
            listener: None,
            spares: false,
        }
    }

    /// Tags that were recorded, and no registry to ask.
    #[must_use]
    pub fn recorded(tags: HashMap<Repository, Vec<Tag>>) -> Self {
        Self {
            client: None,
            lists: Mutex::default(),
            recorded: tags,
            known: Mutex::default(),
            digests: Mutex::default(),
            labels: Mutex::default(),
            keyring: Keyring::default(),
            verified: Mutex::default(),
            listener: None,
            spares: false,
        }
    }

    /// Has somebody hear of every decision as it is made.
    #[must_use]
    pub fn heard_by(mut self, listener: &'c (dyn Fn(&Decision) + Sync)) -> Self {
        self.listener = Some(Listener(listener));
        self
    }

    /// Has signatures held against these keys.
    #[must_use]
    pub(crate) fn trusting(mut self, keyring: Keyring) -> Self {
        self.keyring = keyring;
        self
    }

    /// Spares questions from whose answers no change could come: what the cache knows of a tag that runs is enough, and
    /// of one that is still too young. So a round in which nothing happens costs the lists.
    #[must_use]
    pub fn sparing(mut self) -> Self {
        self.spares = true;
        self
    }

    /// Decides about an image by what its registry says.
    ///
    /// # Errors
    /// If the rules are not for this image, or anything that they need cannot be had.
    pub fn decide(
        &self,
        repository: &Repository,
        rules: &Rules,
        question: &Question<'_>,
    ) -> Result<Decision> {
        let decision = self.consider(repository, rules, question)?;
        if let Some(Listener(listener)) = &self.listener {
            listener(&decision);
        }
        Ok(decision)
    }

    fn consider(&self, repository: &Repository, rules: &Rules, question: &Question<'_>) -> Result<Decision> {
        let platforms = rules.platforms().iter().map(ToString::to_string).collect();
        let shared = Arc::clone(lock(&self.known).entry((repository.clone(), platforms)).or_default());
        let mut known = lock(&shared);
        let known = RefCell::new(&mut *known);
        // Who watches one tag need not know of the others, as long as that one is there.
        let mut watched = rules.watched(question).filter(|_| self.client.is_some());
        let mut tags = match watched {
            Some(tag) => vec![Tag::named(tag)],
            None => self.list(repository)?,
        };
        for tag in &mut tags {
            if let Some(known) = known.borrow().tags.get(&tag.name) {
                tag.clone_from(known);
            }
        }
        // What was recorded is all there is to know.
        let Some(client) = self.client else { return rules.choose(question, &tags)?.decided(question.image) };
        let inquiry = Inquiry { client, repository, rules };
        let inquire = |gap: &Gap| {
            let mut known = known.borrow_mut();
            let remembered = self.spares.then(|| inquiry.remember(gap, &known)).flatten();
            match remembered.filter(|tag| rules.may_stand(question, tag)) {
                Some(tag) => Ok(tag),
                None => inquiry.learn(gap, &mut known),
            }
        };
        loop {
            let gaps = match rules.choose_by_asking(question, &tags, &inquire)? {
                Outcome::Incomplete(gaps) => gaps,
                decided @ Outcome::Decided(_) => return decided.decided(question.image),
            };
            let mut known = known.borrow_mut();
            // What a registry does not know of a tag, it does not know the second time either.
            if gaps.iter().any(|gap| known.asked.contains(gap)) {
                return Outcome::Incomplete(gaps).decided(question.image);
            }
            match (inquiry.fill(&mut tags, &gaps), watched.take()) {
                (Ok(filled), _) => {
                    known.tags.extend(filled.into_iter().map(|tag| (tag.name.clone(), tag)));
                    known.asked.extend(gaps);
                }
                (Err(error), Some(watched)) => {
                    tags = self.list(repository)?;
                    if tags.iter().any(|tag| tag.name == watched) {
                        return Err(error);
                    }
                }
                (Err(error), None) => return Err(error),
            }
        }
    }

    /// The digest of a tag.
    ///
    /// # Errors
    /// If it cannot be had.
    pub fn digest(&self, repository: &Repository, tag: &str) -> Result<Digest> {
        let recorded = self.recorded.get(repository).into_iter().flatten().find(|known| known.name == tag);
        match (recorded.and_then(|tag| tag.digest.clone()), self.client) {
            (Some(digest), _) => Ok(digest),
            (None, Some(client)) => {
                let key = (repository.clone(), tag.to_owned());
                let shared = Arc::clone(lock(&self.digests).entry(key).or_default());
                let ask = || -> Result<Digest> { client.digest(&repository.with_tag(tag)?) };
                lock(&shared).get_or_insert_with(ask).clone()
            }
            (None, None) => Err(Error::invalid(format!("no digest of `{repository}:{tag}` is recorded"))),
        }
    }

    /// The labels of an image; of one with several platforms, those of the first that is asked for.
    ///
    /// # Errors
    /// If they cannot be had, or only what was recorded may be looked at.
    pub(crate) fn labels(
        &self,
        repository: &Repository,
        platforms: &[Platform],
        tag: Option<&str>,
        digest: Option<&str>,
    ) -> Result<BTreeMap<String, String>> {
        let Some(client) = self.client else { return Ok(BTreeMap::new()) };
        let mut reference = match (digest, tag) {
            (Some(digest), _) => repository.with_digest(digest.parse()?),
            (None, Some(tag)) => repository.with_tag(tag)?,
            (None, None) => return Ok(BTreeMap::new()),
        };
        // That the tag still is what it was when it was read last is not worth a request.
        if let Some(digest) = client.last_digest(&reference)? {
            reference = repository.with_digest(digest);
        }
        let shared = Arc::clone(lock(&self.labels).entry(reference.to_string()).or_default());
        let wanted = Wanted { platforms: platforms.to_vec(), created: false, labels: true };
        let ask = || Ok(client.image(&reference, &wanted)?.labels);
        lock(&shared).get_or_insert_with(ask).clone()
    }

    /// The names of all tags of a repository, which are asked for once in a round.
    ///
    /// # Errors
    /// If they cannot be had.
    pub(crate) fn names(&self, repository: &Repository) -> Result<Vec<String>> {
        Ok(self.list(repository)?.into_iter().map(|tag| tag.name).collect())
    }

    /// By which key a version is signed. Of one without a digest, what its tag is at present has to be.
    ///
    /// # Errors
    /// If it does not count as signed, or that cannot be found out.
    pub(crate) fn verify(
        &self,
        repository: &Repository,
        tag: &str,
        digest: Option<&str>,
        verification: &Verification,
    ) -> Result<Verified> {
        let Some(client) = self.client else {
            let message = format!("`{repository}:{tag}` must be signed, which a list of tags does not show");
            return Err(Error::invalid(message).hint("have registries asked instead"));
        };
        let keys = self.keyring.keys(verification)?;
        let digest = digest.map_or_else(|| self.digest(repository, tag), str::parse)?;
        let key = (repository.with_digest(digest.clone()).to_string(), verification.clone());
        let shared = Arc::clone(lock(&self.verified).entry(key).or_default());
        let ask = || cosign::verify(client, repository, &digest, &keys);
        lock(&shared).get_or_insert_with(ask).clone()
    }

    fn list(&self, repository: &Repository) -> Result<Vec<Tag>> {
        if let Some(tags) = self.recorded.get(repository) {
            return Ok(tags.clone());
        }
        let Some(client) = self.client else {
            return Err(Error::invalid(format!("no tags of `{repository}` are recorded")));
        };
        let shared = Arc::clone(lock(&self.lists).entry(repository.clone()).or_default());
        let mut shared = lock(&shared);
        let list = shared.get_or_insert_with(|| Ok(lines(&client.tags(repository)?)));
        let list = list.as_ref().map_err(Error::clone)?;
        Ok(list.lines().map(Tag::named).collect())
    }
}

/// Requests for single tags.
struct Inquiry<'i> {
    client: &'i Client,
    repository: &'i Repository,
    rules: &'i Rules,
}

impl Inquiry<'_> {
    /// A tag as it was when it was last asked about, where the cache has all of that. It is not noted as known: for
    /// another image it may have to be asked for.
    fn remember(&self, gap: &Gap, known: &Known) -> Option<Tag> {
        // What was asked for in this round is newer, and a digest that is known is in the cache anyway.
        if known.tags.get(&gap.tag).is_some_and(|tag| tag.digest.is_some()) {
            return None;
        }
        let digest = self.client.last_digest(&self.repository.with_tag(&gap.tag).ok()?).ok()??;
        let image =
            self.client.image(&self.repository.with_digest(digest), &self.wanted(&[gap.lacks])).ok()?;
        // That it still is this digest is not known.
        Some(Tag { created: image.created, platforms: Some(image.platforms), ..Tag::named(&gap.tag) })
    }

    fn wanted(&self, lacks: &[Lack]) -> Wanted {
        let created = lacks.contains(&Lack::Created) || self.rules.wants_age();
        Wanted { platforms: self.rules.platforms().to_vec(), created, labels: false }
    }

    /// A tag with a gap filled, as far as the registry fills it.
    fn learn(&self, gap: &Gap, known: &mut Known) -> Result<Tag> {
        let before = known.tags.remove(&gap.tag).unwrap_or_else(|| Tag::named(&gap.tag));
        let tag = if known.asked.insert(gap.clone()) {
            let answer = self.ask(&before, &[gap.lacks])?;
            joined(before, answer)
        } else {
            before
        };
        known.tags.insert(tag.name.clone(), tag.clone());
        Ok(tag)
    }

    /// Fills gaps, several at once, and gives what is filled; the first failure ends it, as there is no decision then.
    fn fill(&self, tags: &mut [Tag], gaps: &[Gap]) -> Result<Vec<Tag>> {
        let mut places: HashMap<String, usize> = HashMap::with_capacity(tags.len());
        for (place, tag) in tags.iter().enumerate() {
            places.insert(tag.name.clone(), place);
        }
        let mut wanted: HashMap<&str, Vec<Lack>> = HashMap::new();
        for gap in gaps {
            wanted.entry(&gap.tag).or_default().push(gap.lacks);
        }
        let tag = |(name, lacks)| Some((places.get(name).and_then(|place| tags.get(*place))?.clone(), lacks));
        let wanted: Vec<(Tag, Vec<Lack>)> = wanted.into_iter().filter_map(tag).collect();
        let answers = self.ask_all(&wanted)?;
        let mut filled = Vec::with_capacity(answers.len());
        for answer in answers {
            if let Some(place) = places.get(&answer.name) {
                let tag = &mut tags[*place];
                *tag = joined(std::mem::take(tag), answer);
                filled.push(tag.clone());
            }
        }
        Ok(filled)
    }

    fn ask_all(&self, wanted: &[(Tag, Vec<Lack>)]) -> Result<Vec<Tag>> {
        let next = AtomicUsize::new(0);
        let answers = Mutex::new(Vec::with_capacity(wanted.len()));
        let failure: Mutex<Option<Error>> = Mutex::new(None);
        let work = || {
            while let Some((tag, lacks)) = wanted.get(next.fetch_add(1, Ordering::Relaxed)) {
                match self.ask(tag, lacks) {
                    Ok(tag) => lock(&answers).push(tag),
                    Err(error) => {
                        lock(&failure).get_or_insert(error);
                        next.store(wanted.len(), Ordering::Relaxed);
                    }
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..AT_ONCE.min(wanted.len()) {
                scope.spawn(work);
            }
            work();
        });
        match lock(&failure).take() {
            Some(error) => Err(error),
            None => Ok(std::mem::take(&mut *lock(&answers))),
        }
    }

    /// Returns what the registry says of a tag. What its digest is known of is asked for by that: it may be in the cache, and is
    /// still what the tag was when the digest was read.
    fn ask(&self, tag: &Tag, lacks: &[Lack]) -> Result<Tag> {
        let name = &tag.name;
        let reference = match &tag.digest {
            Some(digest) => self.repository.with_digest(digest.clone()),
            None => self.repository.with_tag(name)?,
        };
        if lacks.iter().all(|lack| *lack == Lack::Digest) {
            // Registries do not count this as a download.
            let digest = self.client.digest(&reference)?;
            return Ok(Tag { digest: Some(digest), ..Tag::named(name) });
        }
        let image = self.client.image(&reference, &self.wanted(lacks))?;
        Ok(Tag {
            created: image.created,
            digest: Some(image.digest),
            platforms: Some(image.platforms),
            ..Tag::named(name)
        })
    }
}

/// A tag with what an answer adds to it.
fn joined(tag: Tag, answer: Tag) -> Tag {
    Tag {
        created: answer.created.or(tag.created),
        digest: answer.digest.or(tag.digest),
        platforms: answer.platforms.or(tag.platforms),
        ..tag
    }
}

/// The names of tags, which have no line ends.
fn lines(list: &TagList) -> Box<str> {
    list.tags().collect::<Vec<_>>().join("\n").into()
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
