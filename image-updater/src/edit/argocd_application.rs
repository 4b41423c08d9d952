//! Argo CD Applications and the templates of ApplicationSets: `kustomize.images` of their sources, and with paths Helm
//! parameters and `valuesObject`.

use diagnostic::{Error, Result};
use yamltree::Node;

use super::argocd::Sources;
use super::{Options, Outcome, Request, Source, Target};

pub(super) const TARGET: Target =
    Target { name: "application", options: Options::MaybePaths, renames: true, creates_file: false, edit };

fn edit(source: &Source<'_>, request: &Request) -> Result<Outcome> {
    let file = source.parse()?;
    let mut sources = Sources::new(source, &file, request);
    let mut nodes = Vec::new();
    for document in file.documents() {
        nodes.extend(sources_of(&sources, &document.root)?);
    }
    if nodes.is_empty() && request.insists {
        return Err(source.refuse("no Application with a source found", 0));
    }
    let has_paths = request.paths.count() > 0;
    let is_edited =
        if has_paths { edit_values(&mut sources, &nodes)? } else { edit_images(&mut sources, &nodes)? };
    if !is_edited {
        return if request.insists {
            Err(no_place(source, request, has_paths))
        } else {
            Ok(Outcome::NotThere)
        };
    }
    sources.apply()
}

/// The sources of an Application, or of the one that an ApplicationSet makes.
fn sources_of<'f>(sources: &Sources<'f>, root: &'f Node) -> Result<Vec<&'f Node>> {
    let kind = root.get("kind").and_then(Node::text);
    let group = root.get("apiVersion").and_then(Node::text).and_then(|version| version.split('/').next());
    let spec: &[&str] = match (group, kind) {
        (Some("argoproj.io"), Some("Application")) => &["spec"],
        (Some("argoproj.io"), Some("ApplicationSet")) => &["spec", "template", "spec"],
        _ => return Ok(Vec::new()),
    };
    let Some(spec) = sources.below(root, spec)? else { return Ok(Vec::new()) };
    let many = sources.below(spec, &["sources"])?.and_then(Node::items).into_iter().flatten();
    Ok(sources.below(spec, &["source"])?.into_iter().chain(many).collect())
}

/// Edits the entries of the image; where there are none, adds one to the only source that is Kustomize's.
fn edit_images<'f>(sources: &mut Sources<'f>, nodes: &[&'f Node]) -> Result<bool> {
    let mut is_edited = false;
    for node in nodes {
        is_edited |= sources.edit_images(node)?;
        if !sources.request.insists {
            is_edited |= sources.edit_conventional(node)?;
        }
    }
    match nodes {
        [node] if !is_edited && sources.request.insists => sources.add_image(node),
        _ => Ok(is_edited),
    }
}

/// Edits the values of the first source that has one of the paths.
fn edit_values<'f>(sources: &mut Sources<'f>, nodes: &[&'f Node]) -> Result<bool> {
    let wanted = sources.request.paths.count();
    for node in nodes {
        let missing = sources.edit_values(node)?;
        match missing.first() {
            None => return Ok(true),
            Some(_) if missing.len() == wanted => {}
            Some((path, _)) => {
                let message =
                    format!("`{}` is neither a Helm parameter nor in `valuesObject`", path.as_str());
                return Err(sources.source.refuse(message, node.span.start as usize));
            }
        }
    }
    Ok(false)
}

fn no_place(source: &Source<'_>, request: &Request, has_paths: bool) -> Error {
    if has_paths {
        return source.refuse("no source has the paths as Helm parameters or in `valuesObject`", 0);
    }
    let message = format!("no `kustomize.images` has the image `{}`", request.version.name);
    source.refuse(message, 0).hint("name Helm parameters with `--tag-path`, as in `--tag-path image.tag`")
}

#[cfg(test)]
mod tests {
    use crate::edit::testing::{check, check_refused};

    fn app(source: &str) -> String {
        format!("apiVersion: argoproj.io/v1alpha1\nkind: Application\nspec:\n  source:\n{source}")
    }

    #[test]
    fn images_of_kustomize_are_matched_by_either_name() {
        for (before, after) in [
            ("- r.test/a:v1\n", "- r.test/a:v2\n"),
            ("- b=r.test/a:v1@OLD # c\n", "- b=r.test/a:v2 # c\n"),
            ("- r.test/a=r.test/b:v1\n", "- r.test/a=r.test/b:v2\n"),
            ("- 'r.test/a'\n      - x:1\n", "- 'r.test/a:v2'\n      - x:1\n"),
            ("- x:1\n", "- x:1\n      - r.test/a:v2\n"),
        ] {
            let text = |item: &str| app(&format!("    kustomize:\n      images:\n      {item}"));
            check("application", &[], &[("r.test/a:v2", &text(before), &text(after))]);
        }
    }

    #[test]
    fn what_manifests_call_the_image_leads_to_it() {
        for (before, after) in [
            ("- app=r.test/old:v1\n", "- app=r.test/a:v2\n"),
            ("- app:v1\n", "- app=r.test/a:v2\n"),
            ("- b=r.test/a:v1\n", "- b=r.test/a:v1\n      - app=r.test/a:v2\n"),
        ] {
            let text = |item: &str| app(&format!("    kustomize:\n      images:\n      {item}"));
            let rows = [("r.test/a:v2", text(before), text(after))];
            let rows =
                rows.each_ref().map(|(image, before, after)| (*image, before.as_str(), after.as_str()));
            check("application", &[("image-name", "app")], &rows);
        }
    }

    #[test]
    fn values_are_parameters_or_an_object() {
        let paths = [("name", "image.repository"), ("tag", "image.tag")];
        let parameters = |name: &str, tag: &str| {
            app(&format!(
                "    helm:\n      parameters:\n      - name: image.repository\n        value: {name}\n      - name: image.tag\n        value: {tag}\n"
            ))
        };
        check(
            "application",
            &paths,
            &[
                ("r.test/a:v2", &parameters("r.test/a", "v1"), &parameters("r.test/a", "v2")),
                // Helm would make a number of it.
                (
                    "r.test/a:12",
                    &parameters("b", "'11'"),
                    &parameters("r.test/a", "'12'\n        forceString: true"),
                ),
            ],
        );
        let object = |tag: &str| {
            app(&format!(
                "    helm:\n      valuesObject:\n        image: {{repository: r.test/a, tag: {tag}}}\n"
            ))
        };
        check("application", &paths, &[("r.test/a:1.20", &object("v1"), &object("\"1.20\""))]);
    }

    #[test]
    fn what_has_no_place_is_refused() {
        check_refused(
            "application",
            &[],
            &[
                ("a:v2", "kind: Deployment\n", "no Application"),
                ("a:v2", &app("    path: x\n"), "no `kustomize.images`"),
            ],
        );
        check_refused(
            "application",
            &[("tag", "image.tag")],
            &[
                ("a:v2", &app("    helm: {parameters: [{name: x, value: y}]}\n"), "no source has the paths"),
                (
                    "a:v2",
                    &app(
                        "    helm: {parameters: [{name: image.tag, value: y}, {name: image.tag, value: z}]}\n",
                    ),
                    "there twice",
                ),
                ("a:v2", &app("    helm: {valuesObject: {x: &x {tag: v1}, image: *x}}\n"), "alias"),
            ],
        );
        let paths = [("name", "image.repository"), ("tag", "image.tag")];
        check_refused(
            "application",
            &paths,
            &[(
                "a:v2",
                &app("    helm: {parameters: [{name: image.tag, value: y}]}\n"),
                "`image.repository` is neither a Helm parameter",
            )],
        );
    }
}
