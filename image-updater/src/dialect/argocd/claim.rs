//! An image of an Application, and how a tag of it is chosen.

use diagnostic::{Error, ErrorKind, Result};
use oci_registry::{Platform, Repository};

use super::super::objects::Object;
use super::super::{Found, prefix_of};
use super::image_list;
use super::types::{ManifestTarget, Settings, WriteBack};
use crate::choose::Rules;
use crate::config::{Credentials, NamedSource, Registry};
use crate::criteria::{Criteria, TagPattern};
use crate::work::Verification;
use yamlserde::Spanned;

const REGEXP: &str = "regexp:";

/// An image of an Application with all that is said of it.
#[derive(Clone, Debug)]
pub(super) struct Claim<'o> {
    /// The object that says it.
    pub(super) said: &'o Object,
    pub(super) alias: Option<String>,
    /// `IMAGE[:CONSTRAINT]`
    pub(super) image: Spanned<String>,
    pub(super) settings: Settings,
    pub(super) target: Option<Spanned<ManifestTarget>>,
    pub(super) write_back: WriteBack,
    /// The signature verification.
    pub(super) verification: Option<Verification>,
    /// The offset of its first byte.
    pub(super) start: u32,
}

/// The policy of an image.
#[derive(Clone, Debug)]
pub(super) struct Choice {
    pub(super) image: String,
    pub(super) watched: Option<String>,
    pub(super) criteria: Criteria,
}

impl Claim<'_> {
    /// The image, without its constraint, and that.
    fn parts(&self) -> Result<(&str, Repository, Option<&str>)> {
        let at = |error: Error| error.at(self.said.at(self.image.start));
        let (name, constraint) = image_list::split(&self.image.value).map_err(at)?;
        let repository = name.parse().map_err(|error: Error| at(error))?;
        Ok((name, repository, constraint))
    }

    /// Which image it is, however that is spelled.
    pub(super) fn repository(&self) -> Result<Repository> {
        self.parts().map(|(_, repository, _)| repository)
    }

    /// Reads the settings.
    pub(super) fn choice(&self, found: &mut Found) -> Result<Choice> {
        found.begin_image();
        let (image, _, constraint) = self.parts()?;
        let strategy = self.strategy(found);
        let mut criteria = Criteria {
            strategy: strategy.clone(),
            allow_tags: self.settings.allow_tags.as_ref().map(|text| allowed(&text.value)),
            ..Criteria::default()
        };
        let place = |start: u32| move |error: Error| error.at(self.said.at(start));
        if let Some(named) = &self.settings.update_strategy {
            let alone = Criteria { strategy, ..Criteria::default() };
            Rules::new(&alone).map_err(place(named.start))?;
        }
        if let Some(allow) = &self.settings.allow_tags {
            Rules::new(&criteria).map_err(place(allow.start))?;
        }
        if let Some(ignore) = &self.settings.ignore_tags {
            // No tag is empty.
            let globs = ignore.value.iter().filter(|glob| !glob.is_empty());
            criteria.ignore_tags = globs.map(|glob| TagPattern::read(glob)).collect();
            Rules::new(&criteria).map_err(place(ignore.start))?;
        }
        if let Some(platforms) = &self.settings.platforms {
            let read = platforms.value.iter().map(|text| text.trim().parse::<Platform>());
            let read: Result<_, Error> = read.collect();
            criteria.platforms = read.map_err(|error| place(platforms.start)(error))?;
        }
        let watched = self.constrain(&mut criteria, constraint)?;
        Rules::new(&criteria).map_err(place(self.image.start))?;
        self.warn_of_force(found);
        match found.is_live() {
            true => self.take_credentials(image, found)?,
            false => self.note_credentials(image, found),
        }
        Ok(Choice { image: image.to_owned(), watched, criteria })
    }

    /// The strategy by the name that it has here.
    fn strategy(&self, found: &mut Found) -> String {
        let Some(Spanned { value, start }) = &self.settings.update_strategy else {
            return crate::criteria::DEFAULT_STRATEGY.to_owned();
        };
        let name = value.to_ascii_lowercase();
        let now = match name.as_str() {
            "latest" => "newest-build",
            "name" => "alphabetical",
            _ => return name,
        };
        found.warnings.push(self.said.refuse(*start, format!("the strategy `{name}` is called `{now}` now")));
        now.to_owned()
    }

    /// Applies the part behind the colon: a version constraint, or the tag that is followed.
    fn constrain(&self, criteria: &mut Criteria, constraint: Option<&str>) -> Result<Option<String>> {
        let refuse = |message: String| self.said.refuse(self.image.start, message);
        match (criteria.strategy.as_str(), constraint) {
            ("digest", Some(tag)) if oci_registry::is_tag(tag) => Ok(Some(tag.to_owned())),
            ("digest", tag) => {
                let error = match tag {
                    Some(tag) => refuse(format!("`digest` follows a tag: invalid tag `{tag}`")),
                    None => refuse(format!(
                        "`digest` follows a tag, and `{}` does not name one",
                        self.image.value
                    )),
                };
                Err(error.hint("name the image with its tag: `IMAGE:TAG`"))
            }
            ("semver", constraint) => {
                criteria.semver_constraint = constraint.map(str::to_owned);
                Ok(None)
            }
            (_, None) => Ok(None),
            (strategy, Some(constraint)) => {
                let message = format!("the strategy `{strategy}` does not use the constraint `{constraint}`");
                Err(refuse(message).hint("leave it out, or restrict tags by `allow-tags`"))
            }
        }
    }

    fn warn_of_force(&self, found: &mut Found) {
        if let Some(Spanned { value: true, start }) = self.settings.force_update {
            let message = "`force-update` is ignored: versions are read from files, not from running images";
            found.warn_once(self.said.refuse(start, message));
        }
    }

    /// Credentials in a cluster, which are of the namespace of who names them.
    fn take_credentials(&self, image: &str, found: &mut Found) -> Result<()> {
        let Some(Spanned { value, start }) = &self.settings.pull_secret else { return Ok(()) };
        let place = |error: Error| error.at(self.said.at(*start));
        let NamedSource { registry, credentials } = NamedSource::parse(value).map_err(place)?;
        let own = &self.said.id.namespace;
        // A variable may hold anything of ours, and a program runs with our rights.
        if credentials.is_local() && found.live.as_ref() != Some(own) {
            let message =
                format!("`{value}` is of the image updater itself, and not for the namespace `{own}`");
            let error = self.said.refuse(*start, message).with_kind(ErrorKind::Denied);
            return Err(
                error.hint("name a Secret of that namespace: only Argo CD's own may use what is ours")
            );
        }
        if let Some(secret) = credentials.in_cluster().filter(|secret| secret.namespace != *own) {
            let message = format!("the Secret `{secret}` is not in the namespace `{own}`");
            let error = self.said.refuse(*start, message).with_kind(ErrorKind::Denied);
            return Err(error.hint("copy it there: Secrets of other namespaces are not read"));
        }
        let is_for = |registry: &String| self.repository().is_ok_and(|image| image.is_below(registry));
        if let Some(registry) = registry.filter(|registry| !is_for(registry)) {
            let message = format!("the credentials are for `{registry}`, and `{image}` is elsewhere");
            found.warn_once(self.said.refuse(*start, message));
            return Ok(());
        }
        let credentials = Some(credentials);
        found.note_registry(Registry { prefix: prefix_of(image), credentials, ..Registry::default() });
        Ok(())
    }

    /// Credentials in variables and from programs are carried over; those in Secrets are not.
    fn note_credentials(&self, image: &str, found: &mut Found) {
        let Some(Spanned { value, start }) = &self.settings.pull_secret else { return };
        let credentials = match value.split_once(':') {
            Some(("env", variable)) => Credentials::Env(variable.to_owned()),
            Some(("ext", program)) => Credentials::Command(vec![program.to_owned()]),
            _ => {
                let message = format!("`{value}` is not carried over: no Secret is read");
                let warning = self.said.refuse(*start, message);
                found.warn_once(warning.hint("give `registries` its `credentials`"));
                return;
            }
        };
        let registry =
            Registry { prefix: prefix_of(image), credentials: Some(credentials), ..Registry::default() };
        if !found.note_registry(registry) {
            let message = format!("other credentials for `{image}` are named elsewhere, and count");
            found.warn_once(self.said.refuse(*start, message));
        }
    }
}

/// Returns what is allowed, with its first word in lower case.
fn allowed(text: &str) -> String {
    if text.eq_ignore_ascii_case("any") {
        return "any".to_owned();
    }
    match text.split_at_checked(REGEXP.len()) {
        Some((word, expression)) if word.eq_ignore_ascii_case(REGEXP) => format!("{REGEXP}{expression}"),
        _ => text.to_owned(),
    }
}
