//! From targets to a review, step by step: pair the targets, pair their objects, compare, and look at what matters.

use std::collections::{BTreeSet, HashMap};

use argocd::objects::{Key, Object};
use yamltree::{Location, Node};

use crate::compare::{Change, Compared, Definitions, compare};
use crate::input::{ApplyOptions, SecretKey, Target, VolatileField};
use crate::locate::Lines;
use crate::mask::Masks;
use crate::model::{
    FieldChange, FileLocation, Moved, ObjectReview, ObjectStatus, Review, Summary, TargetReview,
    TargetStatus, VERSION, WarningReview,
};
use crate::objects::{id, is_hook, is_same, key, prepared, value_of, yaml};
use crate::pair::{Pair, pair};
use crate::summary::{self, Difference};
use crate::targets::{self, TargetPair};

/// The options of a review.
#[derive(Clone, Debug)]
pub struct Options {
    /// The key of the tags of Secrets.
    pub secret_key: SecretKey,
}

/// Says what a change does: from what a repository rendered to before, to what it renders to after.
#[must_use]
pub fn review(base: &[Target], head: &[Target], options: &Options) -> Review {
    let mut definitions = Definitions::default();
    base.iter().chain(head).for_each(|target| definitions.add(target.objects()));
    let mut reviewer = Reviewer {
        masks: Masks::new(&options.secret_key),
        definitions,
        owners: owners(head),
        lines: Lines::default(),
        summary: Summary::default(),
    };
    let targets: Vec<TargetReview> =
        targets::pair(base, head).into_iter().filter_map(|pair| reviewer.target(pair)).collect();
    let mut summary = reviewer.summary;
    summary::finish(&mut summary);
    Review { version: VERSION, summary, targets }
}

struct Reviewer<'r> {
    masks: Masks<'r>,
    definitions: Definitions<'r>,
    /// Which target has an object after the change.
    owners: HashMap<Key, &'r Target>,
    lines: Lines,
    summary: Summary,
}

/// The current target.
struct At<'t> {
    name: String,
    apply: &'t ApplyOptions,
    status: TargetStatus,
    volatile: Vec<&'t VolatileField>,
    origin: Option<&'t Location>,
}

impl<'r> Reviewer<'r> {
    fn target(&mut self, pair: TargetPair<'r>) -> Option<TargetReview> {
        let latest = pair.latest()?;
        let was = pair.base.filter(|base| base.name != latest.name).map(|base| base.name.clone());
        let mut review = TargetReview {
            kind: latest.kind,
            name: latest.name.clone(),
            was,
            status: status(pair),
            origin: latest.origin.as_ref().map(FileLocation::of),
            base_error: pair.base.and_then(Target::error).map(str::to_owned),
            head_error: pair.head.and_then(Target::error).map(str::to_owned),
            warnings: warnings(pair),
            objects: Vec::new(),
            unchanged: 0,
            hidden: Default::default(),
            plan: pair.head.and_then(|head| head.plan.clone()),
        };
        if review.base_error.is_none() && review.head_error.is_none() {
            self.objects(pair, &mut review);
        }
        let is_kept = pair.base.is_some() && pair.head.is_some();
        if is_kept
            && review.status == TargetStatus::Changed
            && review.objects.is_empty()
            && review.was.is_none()
        {
            review.status = TargetStatus::Unchanged;
        }
        summary::count(&review, latest, &mut self.summary);
        Some(review)
    }

    fn objects(&mut self, targets: TargetPair<'r>, review: &mut TargetReview) {
        let Some(latest) = targets.latest() else { return };
        let sides = || [targets.base, targets.head].into_iter().flatten();
        let at = At {
            name: review.to_string(),
            apply: &latest.apply,
            status: review.status,
            volatile: sides().flat_map(|target| &target.volatile).collect(),
            origin: latest.origin.as_ref(),
        };
        let side = |target: Option<&'r Target>| target.map_or(&[][..], Target::objects);
        let mut not_ignored = BTreeSet::new();
        for pair in pair(side(targets.base), side(targets.head)) {
            match self.object(&pair, &at) {
                Ok(changed) => {
                    let ignored = at.apply.normalizer.iter().zip(pair.head);
                    not_ignored.extend(ignored.flat_map(|(normalizer, object)| normalizer.not_done(object)));
                    review.hidden.add(changed.hidden);
                    review.objects.push(changed);
                }
                Err(hidden) => {
                    review.hidden.add(hidden);
                    review.unchanged += 1;
                }
            }
        }
        review.warnings.extend(not_ignored.into_iter().map(|rule| WarningReview {
            message: format!("Argo CD ignores `{rule}`, which is not known here: what it hides is shown"),
            is_new: false,
        }));
    }

    /// Returns the review of an object, or the hidden differences if there are no others.
    fn object(&mut self, pair: &Pair<'_>, at: &At<'_>) -> Result<ObjectReview, crate::model::Hidden> {
        if let (Some(base), Some(head)) = (pair.base, pair.head)
            && is_same(base.node(), head.node())
        {
            return Err(Default::default());
        }
        let normalizer = at.apply.normalizer.as_ref();
        let mut side =
            |object: Option<&Object>| object.map(|object| prepared(object, normalizer, &mut self.masks));
        let (base, head) = (side(pair.base), side(pair.head));
        let mut compared = self.compared(pair, base.as_ref(), head.as_ref());
        compared.hidden.ignored = self.ignored(pair, at, compared.changes.len());
        if compared.changes.is_empty() {
            return Err(compared.hidden);
        }
        let review = self.written(pair, at, &compared);
        summary::look(
            &Difference {
                target: &at.name,
                target_status: at.status,
                apply: at.apply,
                id: &review.id,
                was: review.was.as_ref(),
                is_hook: review.is_hook,
                base: base.as_ref(),
                head: head.as_ref(),
                changes: &compared.changes,
                object: pair.head.filter(|_| at.apply.objects_in_files),
                origin: at.origin,
                owner: pair.base.and_then(|object| self.owners.get(&key(object))).copied(),
            },
            &mut self.summary,
        );
        Ok(review)
    }

    fn compared(&self, pair: &Pair<'_>, base: Option<&Node>, head: Option<&Node>) -> Compared {
        match (pair.head, base, head) {
            (Some(object), Some(base), Some(head)) => {
                compare(base, head, object.kind(), self.definitions.shape(object))
            }
            (_, base, head) => Compared::whole(base.cloned(), head.cloned()),
        }
    }

    /// Returns how many fields would differ as well if Argo CD ignored nothing.
    fn ignored(&mut self, pair: &Pair<'_>, at: &At<'_>, shown: usize) -> usize {
        let (Some(_), Some(old), Some(new)) = (&at.apply.normalizer, pair.base, pair.head) else { return 0 };
        let (base, head) = (prepared(old, None, &mut self.masks), prepared(new, None, &mut self.masks));
        self.compared(pair, Some(&base), Some(&head)).changes.len().saturating_sub(shown)
    }

    fn written(&mut self, pair: &Pair<'_>, at: &At<'_>, compared: &Compared) -> ObjectReview {
        let (before, after) = (pair.base.map(id), pair.head.map(id));
        let status = match (pair.base, pair.head) {
            (None, _) => ObjectStatus::Added,
            (_, None) => ObjectStatus::Removed,
            _ => ObjectStatus::Changed,
        };
        let was = match (&before, &after) {
            (Some(before), Some(after)) if before != after => {
                let is_renamed = (&before.name, &before.namespace) != (&after.name, &after.namespace);
                Some(Moved { id: before.clone(), is_renamed })
            }
            _ => None,
        };
        let located = pair.head.filter(|_| at.apply.objects_in_files);
        let volatile = volatile(pair, at);
        let fields = compared.changes.iter().map(|change| self.field(change, located, &volatile)).collect();
        ObjectReview {
            id: after.or(before).unwrap_or_default(),
            status,
            was,
            is_hook: pair.head.or(pair.base).is_some_and(is_hook),
            fields,
            hidden: compared.hidden,
            location: located.and_then(|object| self.lines.of_object(object)),
            before: compared.base.as_ref().map(yaml),
            after: compared.head.as_ref().map(yaml),
        }
    }

    fn field(&mut self, change: &Change, located: Option<&Object>, volatile: &[&str]) -> FieldChange {
        let pointer = change.path.pointer();
        let is_below = |of: &&str| {
            pointer.strip_prefix(*of).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let location = located.and_then(|object| self.lines.of(change.new.as_ref()?, object));
        FieldChange {
            path: change.path.to_string(),
            is_volatile: volatile.iter().any(is_below),
            pointer,
            status: change.status,
            old: change.old.as_ref().map(value_of),
            new: change.new.as_ref().map(value_of),
            location,
        }
    }
}

fn owners(head: &[Target]) -> HashMap<Key, &Target> {
    let objects = head.iter().flat_map(|target| target.objects().iter().map(move |object| (object, target)));
    objects.map(|(object, target)| (key(object), target)).collect()
}

fn volatile<'t>(pair: &Pair<'_>, at: &At<'t>) -> Vec<&'t str> {
    if at.volatile.is_empty() {
        return Vec::new();
    }
    let keys: Vec<_> = [pair.base, pair.head].into_iter().flatten().map(key).collect();
    at.volatile.iter().filter(|it| keys.contains(&it.object)).map(|it| it.pointer.as_str()).collect()
}

fn status(pair: TargetPair<'_>) -> TargetStatus {
    let failed = |target: Option<&Target>| target.is_some_and(|target| target.error().is_some());
    match (failed(pair.base), failed(pair.head)) {
        (true, true) => TargetStatus::FailedBoth,
        (true, false) => TargetStatus::FailedBefore,
        (false, true) => TargetStatus::FailedAfter,
        (false, false) if pair.base.is_none() => TargetStatus::Added,
        (false, false) if pair.head.is_none() => TargetStatus::Removed,
        (false, false) => TargetStatus::Changed,
    }
}

fn warnings(pair: TargetPair<'_>) -> Vec<WarningReview> {
    let old = pair.base.map_or(&[][..], |target| &target.warnings);
    let new = pair.head.map_or(&[][..], |target| &target.warnings);
    new.iter()
        .map(|message| WarningReview { message: message.clone(), is_new: !old.contains(message) })
        .collect()
}
