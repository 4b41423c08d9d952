//! ImageUpdater resources: which Applications they are for, and what they say of these.

use diagnostic::Result;
use std::collections::HashSet;

use glob::path_match;

use super::super::Found;
use super::super::labels::LabelSelector;
use super::super::objects::Object;
use super::annotations;
use super::claim::Claim;
use super::image_list::is_alias;
use super::types::{ApplicationRef, ImageUpdater, Settings, Verification, WriteBack};
use crate::change::Named;
use crate::work::{self, KeyPlace};
use yamlserde::Spanned;

const NO_KEY: &str = "a verification that is enabled needs `cosignKey`";

/// A resource that was read and checked.
#[derive(Debug)]
pub(super) struct Resource {
    pub(super) object: Object,
    spec: ImageUpdater,
    /// The indices of its references, the most specific first.
    order: Vec<usize>,
}

impl Resource {
    /// Reads a resource as the API server and the controller check it.
    ///
    /// # Errors
    /// If it is not valid.
    pub(super) fn new(object: Object, found: &mut Found) -> Result<Self> {
        let Spanned { value: spec, start } = object.spec::<ImageUpdater>()?;
        if spec.application_refs.is_empty() {
            let list = object.get(&["spec", "applicationRefs"]).map_or(start, |list| list.span.start);
            return Err(object.refuse(list, "`applicationRefs` needs at least one item"));
        }
        let mut patterns = HashSet::new();
        for reference in &spec.application_refs {
            check_reference(&object, reference)?;
            let pattern = &reference.value.name_pattern;
            if !patterns.insert(pattern.value.as_str()) {
                return Err(object.refuse(pattern.start, format!("`{}` is there twice", pattern.value)));
            }
        }
        if let Some(verification) = &spec.images_verification {
            check_verification(&object, verification)?;
        }
        if let Some(namespace) = &spec.namespace {
            let message = "`namespace` is ignored since version 1.2: the namespace of the resource is used";
            found.warnings.push(object.refuse(namespace.start, message));
        }
        let mut order: Vec<usize> = (0..spec.application_refs.len()).collect();
        order.sort_by_key(|index| std::cmp::Reverse(specificity(&spec.application_refs[*index].value)));
        Ok(Self { object, spec, order })
    }

    /// The reference that is for an Application: of those that match it the most specific, and the first of these. One
    /// that goes by annotations is not for an Application that has none.
    pub(super) fn reference_for(&self, application: &Object) -> Option<usize> {
        let (own, other) = (&self.object.id.namespace, &application.id.namespace);
        // Without a namespace it is in whichever the manifest is applied to.
        if own != other && !own.is_empty() && !other.is_empty() {
            return None;
        }
        let labels = application.labels();
        self.order.iter().copied().find(|index| {
            let reference = &self.spec.application_refs[*index].value;
            let selects = reference.label_selectors.as_ref().is_none_or(|selector| selector.selects(&labels));
            let has_images = !reference.use_annotations || annotations::has_list(application);
            has_images
                && selects
                && path_match(&reference.name_pattern.value, &application.id.name).unwrap_or(false)
        })
    }

    /// The images that a reference names for an Application.
    ///
    /// # Errors
    /// If the Application's annotations are wrong where these count.
    pub(super) fn claims<'o>(
        &'o self,
        index: usize,
        application: &'o Object,
        found: &mut Found,
    ) -> Result<Vec<Claim<'o>>> {
        let reference = &self.spec.application_refs[index].value;
        if reference.use_annotations {
            // Other than with the controller, what the resource says of all images counts for these too.
            let verified = reference.images_verification.as_ref().or(self.spec.images_verification.as_ref());
            let verification = self.verification(verified, found)?;
            let claims = annotations::claims(application, found)?;
            let verified = |claim| Claim { verification: verification.clone(), ..claim };
            return Ok(claims.into_iter().map(verified).collect());
        }
        let of = |settings: &Option<Settings>| settings.clone().unwrap_or_default();
        let settings = of(&reference.common_update_settings).over(&of(&self.spec.common_update_settings));
        let own = reference.write_back_config.clone().unwrap_or_default();
        let general = self.spec.write_back_config.clone().unwrap_or_default();
        let write_back: WriteBack = own.over(&general);
        let mut claims = Vec::new();
        for Spanned { value: image, start } in &reference.images {
            let verified = image.images_verification.as_ref().or(reference.images_verification.as_ref());
            match self.verification(verified.or(self.spec.images_verification.as_ref()), found) {
                Ok(verification) => claims.push(Claim {
                    said: &self.object,
                    alias: Some(image.alias.value.clone()),
                    image: image.image_name.clone(),
                    settings: image.common_update_settings.over(&settings),
                    target: image.manifest_targets.clone(),
                    write_back: write_back.clone(),
                    verification,
                    start: *start,
                }),
                Err(error) => found.fault_once(error),
            }
        }
        Ok(claims)
    }

    /// Says which references are for no Application.
    pub(super) fn warn_of_idle(&self, used: &[usize], found: &mut Found) {
        for (index, reference) in self.spec.application_refs.iter().enumerate() {
            if !used.contains(&index) {
                let pattern = &reference.value.name_pattern;
                let message = format!("`{}` is for no Application in these files", pattern.value);
                found.warnings.push(self.object.refuse(pattern.start, message));
            }
        }
    }

    /// Returns what has to have signed images: the nearest block says it, as each that is enabled has a key. Files have no
    /// Secrets, and so nothing is done by them where signatures should be verified.
    fn verification(
        &self,
        verification: Option<&Spanned<Verification>>,
        found: &Found,
    ) -> Result<Option<work::Verification>> {
        let Some(Spanned { value, start }) = verification else { return Ok(None) };
        if value.enabled == Some(false) {
            return Ok(None);
        }
        let key = value.cosign_key.as_ref().ok_or_else(|| self.object.refuse(*start, NO_KEY))?;
        if !found.is_live() {
            let error =
                self.object.refuse(*start, "signatures cannot be verified without the cluster's Secrets");
            return Err(error.hint(
                "`verify` in `image-updater.yaml` takes keys from files; `enabled: false` does without",
            ));
        }
        let namespace = self.object.id.namespace.clone();
        let secret = Named { namespace, name: key.secret_name.clone() };
        Ok(Some(work::Verification { keys: vec![KeyPlace::Secret { secret, key: key.key.clone() }] }))
    }
}

fn check_reference(object: &Object, reference: &Spanned<ApplicationRef>) -> Result<()> {
    let Spanned { value: reference, start } = reference;
    let pattern = &reference.name_pattern;
    if path_match(&pattern.value, "").is_err() {
        let error = object.refuse(pattern.start, format!("invalid name pattern `{}`", pattern.value));
        return Err(error.hint("a `[` needs its `]`, and a `\\` something after it"));
    }
    if let Some((start, why)) = reference.label_selectors.as_ref().and_then(LabelSelector::fault) {
        return Err(object.refuse(start, why));
    }
    if !reference.use_annotations && reference.images.is_empty() {
        return Err(object.refuse(*start, "there are neither `images` nor `useAnnotations: true`"));
    }
    let mut aliases = HashSet::new();
    for image in &reference.images {
        let alias = &image.value.alias;
        if !is_alias(&alias.value) {
            let error = object.refuse(alias.start, format!("invalid alias `{}`", alias.value));
            return Err(
                error.hint("an alias has letters, digits and `-._`, and begins with a letter or digit")
            );
        }
        if !aliases.insert(alias.value.as_str()) {
            return Err(object.refuse(alias.start, format!("the alias `{}` is there twice", alias.value)));
        }
        check_target(object, &image.value)?;
        if let Some(verification) = &image.value.images_verification {
            check_verification(object, verification)?;
        }
    }
    reference.images_verification.as_ref().map_or(Ok(()), |it| check_verification(object, it))
}

fn check_target(object: &Object, image: &super::types::Image) -> Result<()> {
    let Some(Spanned { value: target, start }) = &image.manifest_targets else { return Ok(()) };
    let count = [target.helm.is_some(), target.kustomize.is_some(), target.plugin.is_some()];
    if count.iter().filter(|is_there| **is_there).count() != 1 {
        return Err(object.refuse(*start, "expected exactly one of `helm`, `kustomize` and `plugin`"));
    }
    if let Some(Spanned { value: plugin, start }) = &target.plugin {
        if plugin.name.is_none() && plugin.spec.is_none() {
            return Err(object.refuse(*start, "a plugin needs `spec` or `name`"));
        }
        let names = [&plugin.name, &plugin.tag, &plugin.spec].into_iter().flatten();
        let is_name = |name: &str| (1..=253).contains(&name.chars().count());
        if let Some(name) = names.into_iter().find(|name| !is_name(&name.value)) {
            return Err(object.refuse(name.start, "a variable's name has 1 to 253 characters"));
        }
    }
    Ok(())
}

fn check_verification(object: &Object, verification: &Spanned<Verification>) -> Result<()> {
    let Spanned { value, start } = verification;
    if value.enabled != Some(false) && value.cosign_key.is_none() {
        return Err(object.refuse(*start, NO_KEY));
    }
    Ok(())
}

/// Returns how specific a reference is: a name before patterns, then selectors of labels, then literal characters.
fn specificity(reference: &ApplicationRef) -> usize {
    let pattern = reference.name_pattern.value.as_str();
    let name = if pattern.contains(['*', '?', '[', ']']) { 0 } else { 1_000_000 };
    let selector = reference.label_selectors.as_ref();
    let labels = selector.map_or(0, |selector| {
        10_000 + 100 * (selector.match_labels.len() + selector.match_expressions.len())
    });
    name + labels + literals(pattern)
}

/// Returns how many bytes of a pattern stand for themselves.
fn literals(pattern: &str) -> usize {
    let (mut count, mut rest) = (0, pattern);
    while let Some(first) = rest.chars().next() {
        if first == '['
            && let Some(end) = rest.find(']')
        {
            rest = &rest[end + 1..];
            continue;
        }
        count += if matches!(first, '*' | '?') { 0 } else { first.len_utf8() };
        rest = &rest[first.len_utf8()..];
    }
    count
}

#[cfg(test)]
mod tests {
    use super::super::super::objects::collect;
    use super::*;
    use crate::dialect::read_live;
    use yamlserde::YamlFile;

    fn application(name: &str, annotations: &str) -> (String, String) {
        let text = format!(
            "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata:\n  namespace: argocd\n  name: {name}\n{annotations}\
             spec:\n  source: {{repoURL: https://git.example/a.git, path: x}}\nstatus:\n  sourceType: Kustomize\n\
             \x20 summary: {{images: ['r.test/a:1', 'r.test/b:1', 'r.test/c:1']}}\n"
        );
        (format!("Application/argocd/{name}"), text)
    }

    /// The keys of the Secrets that images have to be signed with, by their names.
    fn verified(spec: &str) -> Vec<(String, Option<String>)> {
        let head = "apiVersion: argocd-image-updater.argoproj.io/v1alpha1\nkind: ImageUpdater\n";
        let text = format!("{head}metadata: {{namespace: argocd, name: all}}\nspec:\n{spec}");
        let list = "  annotations: {argocd-image-updater.argoproj.io/image-list: 'a=r.test/a'}\n";
        let objects = [
            application("web", ""),
            application("noted", list),
            ("ImageUpdater/argocd/all".to_owned(), text),
        ];
        let found = read_live(&objects, "argocd");
        assert!(found.faults.is_empty(), "{:?}", found.faults);
        let updates = found.batches.into_iter().flat_map(|batch| batch.updates);
        let key = |verification: work::Verification| match verification.keys.as_slice() {
            [KeyPlace::Secret { secret, key }] => format!("{}/{}#{key}", secret.namespace, secret.name),
            other => panic!("{other:?}"),
        };
        updates.map(|update| (update.name, update.verification.map(key))).collect()
    }

    #[test]
    fn the_nearest_block_says_what_has_to_have_signed_an_image() {
        let spec = "  imagesVerification: {cosignKey: {secretName: all, key: k}}
  applicationRefs:
  - namePattern: web
    images:
    - {alias: a, imageName: r.test/a}
    - {alias: b, imageName: r.test/b, imagesVerification: {enabled: false}}
    - {alias: c, imageName: r.test/c, imagesVerification: {enabled: true, cosignKey: {secretName: own, key: k}}}
  - {namePattern: noted, useAnnotations: true}
";
        let wanted = |name: &str, key: Option<&str>| (name.to_owned(), key.map(str::to_owned));
        assert_eq!(
            verified(spec),
            [
                wanted("a", Some("argocd/all#k")),
                wanted("b", None),
                wanted("c", Some("argocd/own#k")),
                // By annotations, which the controller does not verify by this.
                wanted("a", Some("argocd/all#k")),
            ]
        );
        let of_reference = spec
            .replace("useAnnotations: true", "useAnnotations: true, imagesVerification: {enabled: false}");
        assert_eq!(verified(&of_reference)[3], wanted("a", None));
    }

    /// By the rules of the controller: sets count for nothing, and what they leave over does.
    #[test]
    fn literal_characters_count() {
        for (pattern, count) in [
            ("web", 3),
            ("web-*", 4),
            ("w?b", 2),
            ("[a-z]eb-[0-9]*", 3),
            ("a[b", 3),
            ("[*]", 0),
            ("[]]", 1),
            ("a]", 2),
            ("ä*", 2),
        ] {
            assert_eq!(literals(pattern), count, "{pattern}");
        }
    }

    /// A name has a million, a selector ten thousand and a hundred for each of its conditions, a character one.
    #[test]
    fn the_most_specific_has_the_most_points() {
        for (reference, points) in [
            ("{namePattern: web}", 1_000_003),
            ("{namePattern: 'a\\b'}", 1_000_003),
            ("{namePattern: web-*}", 4),
            ("{namePattern: '*'}", 0),
            ("{namePattern: 'web]'}", 4),
            ("{namePattern: web-*, labelSelectors: {}}", 10_004),
            ("{namePattern: web, labelSelectors: {}}", 1_010_003),
            ("{namePattern: '*', labelSelectors: {matchLabels: {a: b, c: d}}}", 10_200),
            (
                "{namePattern: '*', labelSelectors: {matchLabels: {a: b}, matchExpressions: [{key: a, operator: Exists}]}}",
                10_200,
            ),
        ] {
            let read: ApplicationRef = YamlFile::new("f", reference).read().unwrap();
            assert_eq!(specificity(&read), points, "{reference}");
        }
    }

    fn object(text: &str) -> Object {
        let files = [("f".to_owned(), text.to_owned())];
        collect(&files, &["kind"], &mut Found::default()).remove(0)
    }

    #[test]
    fn the_first_of_the_most_specific_references_counts() {
        let of_team_a = "namePattern: we*, labelSelectors: {matchLabels: {team: a}}";
        let of_any_team = "namePattern: '*', labelSelectors: {}";
        let by_annotations = "namePattern: web, useAnnotations: true";
        let list = "name: web, annotations: {argocd-image-updater.argoproj.io/image-list: x}";
        for (metadata, references, chosen) in [
            ("name: web", ["namePattern: '*'", "namePattern: w*", "namePattern: web"], Some(2)),
            ("name: api", ["namePattern: w*", "namePattern: web", "namePattern: webs"], None),
            // Of those with as many points it is the one that is written first.
            ("name: aa", ["namePattern: '*'", "namePattern: a*", "namePattern: '*a'"], Some(1)),
            ("name: aa", ["namePattern: '*'", "namePattern: '*a'", "namePattern: a*"], Some(1)),
            ("name: web", ["namePattern: w*", "namePattern: 'w?b'", "namePattern: '[w]eb'"], Some(1)),
            // A selector is more than any pattern, and a name is more than any selector.
            ("name: web", ["namePattern: we*", of_any_team, "namePattern: w*"], Some(1)),
            ("name: web", ["namePattern: web", of_any_team, "namePattern: w*"], Some(0)),
            ("name: web, labels: {team: a}", [of_any_team, of_team_a, "namePattern: w*"], Some(1)),
            // What does not select is passed over, however specific it is.
            ("name: web, labels: {team: b}", ["namePattern: w*", of_team_a, "namePattern: '*'"], Some(0)),
            // Who goes by annotations is not for an Application that has none.
            ("name: web", ["namePattern: '*'", by_annotations, "namePattern: w*"], Some(2)),
            (list, ["namePattern: '*'", by_annotations, "namePattern: w*"], Some(1)),
        ] {
            let item = |of: &str| format!("  - {{{of}, images: [{{alias: a, imageName: x}}]}}\n");
            let items: String = references.iter().map(|reference| item(reference)).collect();
            let resource = format!("apiVersion: g/v1\nkind: R\nspec:\n  applicationRefs:\n{items}");
            let resource = Resource::new(object(&resource), &mut Found::default()).unwrap();
            let application = object(&format!("apiVersion: g/v1\nkind: A\nmetadata: {{{metadata}}}\n"));
            assert_eq!(resource.reference_for(&application), chosen, "{references:?} for {metadata}");
        }
    }
}
