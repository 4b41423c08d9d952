//! Annotations of an Application, from before there were ImageUpdater resources, and since then where a resource says so.

use super::super::Found;
use super::super::objects::Object;
use super::claim::Claim;
use super::image_list;
use super::types::{GitConfig, KustomizeTarget, ManifestTarget, Parts, Settings, WriteBack};
use diagnostic::Result;
use yamlserde::Spanned;

pub(super) const PREFIX: &str = "argocd-image-updater.argoproj.io/";
const LIST: &str = "image-list";

/// Annotations for all images of an Application.
const OF_APPLICATION: &[&str] = &[
    LIST,
    "update-strategy",
    "force-update",
    "allow-tags",
    "ignore-tags",
    "pull-secret",
    "write-back-method",
    "write-back-target",
    "git-branch",
    "git-repository",
];

/// Annotations for one image, behind its alias and a dot.
const OF_IMAGE: &[&str] = &[
    "update-strategy",
    "force-update",
    "allow-tags",
    "ignore-tags",
    "pull-secret",
    "platforms",
    "helm.image-name",
    "helm.image-tag",
    "helm.image-spec",
    "kustomize.image-name",
];

/// Words of old versions, and what they are now.
const OLD: &[(&str, &str)] = &[("tag-match", "allow-tags"), ("sort", "update-strategy")];

/// Returns true if an Application has a list of images.
pub(super) fn has_list(application: &Object) -> bool {
    Annotations(application).get(LIST).is_some()
}

/// The images that an Application's annotations list.
///
/// # Errors
/// If an annotation is not what it should be.
pub(super) fn claims<'o>(application: &'o Object, found: &mut Found) -> Result<Vec<Claim<'o>>> {
    let annotations = Annotations(application);
    let Some(list) = annotations.get(LIST) else { return Ok(Vec::new()) };
    let items = image_list::parse(list.value).map_err(|error| error.at(application.at(list.start)))?;
    let aliases: Vec<String> = items.iter().filter_map(|item| item.alias).map(key_of).collect();
    annotations.warn_of_unknown(&aliases, found);
    let general = annotations.settings("")?;
    let write_back = annotations.write_back();
    let mut claims = Vec::new();
    for item in items {
        let (mut settings, mut target) = (general.clone(), None);
        if let Some(alias) = item.alias.map(key_of) {
            settings = annotations.settings(&format!("{alias}."))?.over(&general);
            target = annotations.target(&alias)?;
        }
        claims.push(Claim {
            said: application,
            alias: item.alias.map(str::to_owned),
            image: Spanned { value: item.image.to_owned(), start: list.start },
            settings,
            target,
            write_back: write_back.clone(),
            verification: None,
            start: list.start,
        });
    }
    Ok(claims)
}

/// Returns how an alias stands in keys, which have but one slash.
fn key_of(alias: &str) -> String {
    alias.replace('/', "_")
}

struct Annotations<'o>(&'o Object);

impl<'o> Annotations<'o> {
    /// The annotation of a name behind the prefix, as it is written.
    fn get(&self, name: &str) -> Option<Spanned<&'o str>> {
        let mut all = self.0.annotations();
        all.find(|(key, _)| key.strip_prefix(PREFIX) == Some(name)).map(|(_, value)| value)
    }

    /// The same without blanks around it, where it is not empty.
    fn text(&self, name: &str) -> Option<Spanned<String>> {
        let Spanned { value, start } = self.get(name)?;
        let value = value.trim();
        (!value.is_empty()).then(|| Spanned { value: value.to_owned(), start })
    }

    fn list(&self, name: &str) -> Option<Spanned<Vec<String>>> {
        let Spanned { value, start } = self.get(name)?;
        let items = value.split(',').map(str::trim).filter(|item| !item.is_empty());
        Some(Spanned { value: items.map(str::to_owned).collect(), start })
    }

    /// Returns what is said of all images, or behind `ALIAS.` of one.
    fn settings(&self, before: &str) -> Result<Settings> {
        let name = |field: &str| format!("{before}{field}");
        Ok(Settings {
            update_strategy: self.text(&name("update-strategy")),
            force_update: self.bool(&name("force-update"))?,
            allow_tags: self.text(&name("allow-tags")),
            ignore_tags: self.list(&name("ignore-tags")),
            pull_secret: self.text(&name("pull-secret")),
            platforms: self
                .list(&name("platforms"))
                .filter(|list| !before.is_empty() && !list.value.is_empty()),
        })
    }

    /// A truth value in any of the forms that Go takes for one.
    fn bool(&self, name: &str) -> Result<Option<Spanned<bool>>> {
        let Some(Spanned { value, start }) = self.get(name) else { return Ok(None) };
        let value = match value.trim() {
            "1" | "t" | "T" | "TRUE" | "true" | "True" => true,
            "0" | "f" | "F" | "FALSE" | "false" | "False" => false,
            other => {
                let message = format!("`{PREFIX}{name}` is `true` or `false`, not `{other}`");
                return Err(self.0.refuse(start, message));
            }
        };
        Ok(Some(Spanned { value, start }))
    }

    fn target(&self, alias: &str) -> Result<Option<Spanned<ManifestTarget>>> {
        let text = |field: &str| self.text(&format!("{alias}.{field}"));
        let kustomize = text("kustomize.image-name");
        let helm = ["helm.image-name", "helm.image-tag", "helm.image-spec"].map(text);
        let first = kustomize.iter().chain(helm.iter().flatten()).map(|text| text.start).min();
        let Some(start) = first else { return Ok(None) };
        let is_helm = helm.iter().any(Option::is_some);
        if is_helm && kustomize.is_some() {
            let message = format!("the image `{alias}` is of both Helm and Kustomize");
            return Err(self.0.refuse(start, message));
        }
        let [name, tag, spec] = helm.map(|text| text.map(|text| text.value));
        let value = ManifestTarget {
            helm: is_helm.then_some(Parts { name, tag, spec }),
            kustomize: kustomize.map(|name| KustomizeTarget { name: name.value }),
            plugin: None,
        };
        Ok(Some(Spanned { value, start }))
    }

    fn write_back(&self) -> WriteBack {
        WriteBack {
            method: self.text("write-back-method"),
            git_config: GitConfig {
                repository: self.text("git-repository"),
                branch: self.text("git-branch"),
                write_back_target: self.text("write-back-target"),
                pull_request: None,
            },
        }
    }

    /// Says which annotations mean nothing.
    fn warn_of_unknown(&self, aliases: &[String], found: &mut Found) {
        for (key, Spanned { start, .. }) in self.0.annotations() {
            let Some(name) = key.strip_prefix(PREFIX) else { continue };
            let of_image = aliases.iter().find_map(|alias| name.strip_prefix(alias)?.strip_prefix('.'));
            if OF_APPLICATION.contains(&name) || of_image.is_some_and(|field| OF_IMAGE.contains(&field)) {
                continue;
            }
            let warning = self.0.refuse(start, format!("the annotation `{key}` means nothing"));
            found.warnings.push(match hint(name, of_image) {
                Some(hint) => warning.hint(hint),
                None => warning,
            });
        }
    }
}

/// Returns what may have been meant.
fn hint(name: &str, of_image: Option<&str>) -> Option<String> {
    let field = of_image.or_else(|| name.split_once('.').map(|(_, field)| field)).unwrap_or(name);
    if let Some((old, new)) = OLD.iter().find(|(old, _)| *old == field) {
        return Some(format!("`{old}` is `{new}` now"));
    }
    if of_image.is_some() && OF_APPLICATION.contains(&field) {
        return Some(format!("`{field}` is for the whole Application: leave out the alias"));
    }
    if of_image.is_none() && OF_IMAGE.contains(&field) {
        let only = if name == field {
            "needs the alias of an image"
        } else {
            "is of an alias that is not in the list"
        };
        return Some(format!("it {only}"));
    }
    None
}
