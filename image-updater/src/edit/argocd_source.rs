//! `.argocd-source-<app>.yaml`, which overrides parts of an Application's source: without paths an entry of
//! `kustomize.images`, with paths Helm parameters. What is not there is added, the file included.

use diagnostic::{Error, Result};
use yamledit::{Content, File};
use yamltree::Node;

use super::argocd::Sources;
use super::helm_values::values;
use super::{Options, Outcome, Request, Source, Target};

pub(super) const TARGET: Target =
    Target { name: "argocd-source", options: Options::MaybePaths, renames: true, creates_file: true, edit };

fn edit(source: &Source<'_>, request: &Request) -> Result<Outcome> {
    if is_kustomization(source.path) {
        let message =
            format!("`{}` is a kustomization, and no override of an Application's source", source.path);
        return Err(Error::invalid(message).hint("its target is `kustomization`"));
    }
    let file = source.parse()?;
    let mut sources = Sources::new(source, &file, request);
    let is_there = match only_root(source, &file)? {
        Some(root) if request.paths.count() > 0 => edit_parameters(&mut sources, root)?,
        Some(root) => edit_images(&mut sources, root)?,
        None if request.insists => fill(&mut sources).map(|()| true)?,
        None => false,
    };
    if is_there { sources.apply() } else { Ok(Outcome::NotThere) }
}

/// The only document of a file, if that has any.
pub(super) fn only_root<'f>(source: &Source<'_>, file: &'f File<'f>) -> Result<Option<&'f Node>> {
    let mut roots = file.documents().iter().map(|document| &document.root).filter(|root| !is_empty(root));
    let root = roots.next();
    match roots.next() {
        None => Ok(root),
        Some(second) => {
            Err(source.refuse("the file is one document, and here is another", second.span.start as usize))
        }
    }
}

/// Returns true if a file is a kustomization, by the names that Kustomize knows.
fn is_kustomization(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    matches!(name, "kustomization.yaml" | "kustomization.yml" | "Kustomization")
}

fn is_empty(node: &Node) -> bool {
    node.span.start == node.span.end
}

fn edit_images<'f>(sources: &mut Sources<'f>, root: &'f Node) -> Result<bool> {
    let is_there = sources.edit_images(root)?;
    if is_there || !sources.request.insists {
        return Ok(is_there);
    }
    if !sources.add_image(root)? {
        let (key, content) = images(sources.request);
        checked(sources, |sources| sources.edits.insert(root, &key, content))?;
    }
    Ok(true)
}

fn edit_parameters<'f>(sources: &mut Sources<'f>, root: &'f Node) -> Result<bool> {
    let missing = sources.edit_values(root)?;
    if missing.is_empty() || !sources.request.insists {
        return Ok(missing.len() < sources.request.paths.count());
    }
    let parameters = parameters(&missing);
    let helm = sources.below(root, &["helm"])?;
    let list = sources.below(root, &["helm", "parameters"])?;
    checked(sources, |sources| match (helm, list) {
        (_, Some(list)) => {
            parameters.into_iter().try_for_each(|parameter| sources.edits.push(list, parameter))
        }
        (Some(helm), None) => sources.edits.insert(helm, "parameters", Content::Sequence(parameters)),
        (None, None) => {
            let helm = Content::Mapping(vec![("parameters".to_owned(), Content::Sequence(parameters))]);
            sources.edits.insert(root, "helm", helm)
        }
    })?;
    Ok(true)
}

fn fill(sources: &mut Sources<'_>) -> Result<()> {
    let content = if sources.request.paths.count() > 0 {
        let values = values(sources.request, |_| Ok(""))?;
        let parameters = Content::Sequence(parameters(&values));
        ("helm".to_owned(), Content::Mapping(vec![("parameters".to_owned(), parameters)]))
    } else {
        images(sources.request)
    };
    checked(sources, |sources| sources.edits.fill(vec![content]))
}

fn images(request: &Request) -> (String, Content) {
    let image = request.image_override().as_str().into();
    ("kustomize".to_owned(), Content::Mapping(vec![("images".to_owned(), Content::Sequence(vec![image]))]))
}

fn parameters(values: &[(&yamledit::Path, String)]) -> Vec<Content> {
    let parameter = |(path, value): &(&yamledit::Path, String)| {
        Content::Mapping(vec![
            ("name".to_owned(), path.as_str().into()),
            ("value".to_owned(), value.as_str().into()),
            ("forceString".to_owned(), Content::Bool(true)),
        ])
    };
    values.iter().map(parameter).collect()
}

pub(super) fn checked<'f>(
    sources: &mut Sources<'f>,
    edit: impl FnOnce(&mut Sources<'f>) -> Result<(), Error>,
) -> Result<()> {
    let source = sources.source;
    edit(sources).map_err(|error| source.error(&error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit::testing::{check, check_refused, request};

    #[test]
    fn an_override_is_edited_or_added() {
        check(
            "argocd-source",
            &[],
            &[
                ("a:v2", "", "kustomize:\n  images:\n  - a:v2\n"),
                (
                    "a:v2",
                    "kustomize:\n  images:\n  - a:v1\n  - b:1\n",
                    "kustomize:\n  images:\n  - a:v2\n  - b:1\n",
                ),
                ("a:v2", "kustomize:\n  images:\n  - b:1\n", "kustomize:\n  images:\n  - b:1\n  - a:v2\n"),
                ("a:v2", "helm: {}\n", "helm: {}\nkustomize:\n  images:\n  - a:v2\n"),
            ],
        );
        let called = "kustomize:\n  images:\n  - app=a:v2\n";
        check("argocd-source", &[("image-name", "app")], &[("a:v2", "", called)]);
        let parameter = "- name: image.tag\n    value: v2\n    forceString: true\n";
        check(
            "argocd-source",
            &[("tag", "image.tag")],
            &[
                ("a:v2", "# c\n", &format!("# c\nhelm:\n  parameters:\n  {parameter}")),
                ("a:v2", "kustomize: {}\n", &format!("kustomize: {{}}\nhelm:\n  parameters:\n  {parameter}")),
                (
                    "a:v2",
                    "helm:\n  parameters:\n  - name: x\n    value: y\n",
                    &format!("helm:\n  parameters:\n  - name: x\n    value: y\n  {parameter}"),
                ),
                (
                    "a:v2",
                    "helm: {parameters: [{name: image.tag, value: v1}]}\n",
                    "helm: {parameters: [{name: image.tag, value: v2}]}\n",
                ),
            ],
        );
    }

    /// Expected values: what Argo CD Image Updater's users took for the default target, and lost.
    #[test]
    fn a_kustomization_is_no_override() {
        for path in ["kustomization.yaml", "base/kustomization.yml", "a/Kustomization"] {
            let source = Source { path, text: "images: []\n" };
            let refusal = edit(&source, &request("a:v2", &[])).unwrap_err();
            assert!(refusal.message().contains("is a kustomization"), "{refusal}");
        }
        let source = Source { path: ".argocd-source-kustomization.yaml", text: "" };
        assert!(edit(&source, &request("a:v2", &[])).is_ok());
    }

    #[test]
    fn what_is_not_to_be_overwritten_is_refused() {
        check_refused(
            "argocd-source",
            &[],
            &[("a:v2", "{{ x }}\n  b: [", "not YAML"), ("a:v2", "a: 1\n---\nb: 1\n", "is one document")],
        );
    }
}
