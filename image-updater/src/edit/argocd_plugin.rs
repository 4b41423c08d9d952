//! The variables of a plugin in what overrides an Application's source: `plugin.env`, where paths are names of variables.
//! Missing entries are added, the file included.

use diagnostic::Result;
use yamledit::{Content, Path};
use yamltree::Node;

use super::argocd::Sources;
use super::argocd_source::{checked, only_root};
use super::helm_values::values;
use super::{Options, Outcome, Request, Source, Target};

pub(super) const TARGET: Target =
    Target { name: "argocd-plugin", options: Options::Paths, renames: false, creates_file: true, edit };

fn edit(source: &Source<'_>, request: &Request) -> Result<Outcome> {
    let file = source.parse()?;
    let mut sources = Sources::new(source, &file, request);
    let Some(root) = only_root(source, &file)? else {
        if !request.insists {
            return Ok(Outcome::NotThere);
        }
        let variables = variables(&values(request, |_| Ok(""))?);
        let env = Content::Mapping(vec![("env".to_owned(), Content::Sequence(variables))]);
        checked(&mut sources, |sources| sources.edits.fill(vec![("plugin".to_owned(), env)]))?;
        return sources.apply();
    };
    let missing = set(&mut sources, root)?;
    if missing.len() == request.paths.count() && !request.insists {
        return Ok(Outcome::NotThere);
    }
    if !missing.is_empty() && request.insists {
        add(&mut sources, root, variables(&missing))?;
    }
    sources.apply()
}

/// Sets the variables that are there, and gives back the others with what should be in them.
fn set<'f>(sources: &mut Sources<'f>, root: &'f Node) -> Result<Vec<(&'f Path, String)>> {
    let written = |path: &Path| {
        let found = sources.named(root, &["plugin", "env"], "variable", path.as_str())?;
        Ok(found.and_then(|(_, value)| value.text()).unwrap_or_default())
    };
    let mut missing = Vec::new();
    for (path, value) in values(sources.request, written)? {
        match sources.named(root, &["plugin", "env"], "variable", path.as_str())? {
            Some((_, node)) => sources.set(node, &value)?,
            None => missing.push((path, value)),
        }
    }
    Ok(missing)
}

fn add<'f>(sources: &mut Sources<'f>, root: &'f Node, variables: Vec<Content>) -> Result<()> {
    let plugin = sources.below(root, &["plugin"])?;
    let list = sources.below(root, &["plugin", "env"])?;
    checked(sources, |sources| match (plugin, list) {
        (_, Some(list)) => variables.into_iter().try_for_each(|variable| sources.edits.push(list, variable)),
        (Some(plugin), None) => sources.edits.insert(plugin, "env", Content::Sequence(variables)),
        (None, None) => {
            let env = Content::Mapping(vec![("env".to_owned(), Content::Sequence(variables))]);
            sources.edits.insert(root, "plugin", env)
        }
    })
}

fn variables(values: &[(&Path, String)]) -> Vec<Content> {
    let variable = |(path, value): &(&Path, String)| {
        let (name, value) = (path.as_str().into(), value.as_str().into());
        Content::Mapping(vec![("name".to_owned(), name), ("value".to_owned(), value)])
    };
    values.iter().map(variable).collect()
}

#[cfg(test)]
mod tests {
    use crate::edit::testing::{check, check_refused};

    #[test]
    fn variables_are_set_or_added() {
        let env = |text: &str| format!("plugin:\n  env:\n{text}");
        let tag = |value: &str| env(&format!("  - name: IMAGE_TAG\n    value: {value}\n"));
        check(
            "argocd-plugin",
            &[("tag", "IMAGE_TAG")],
            &[
                ("a:v2", "", &tag("v2")),
                ("a:v2", &tag("v1"), &tag("v2")),
                ("a:12", &tag("v1"), &tag("\"12\"")),
                ("a:v2", "helm: {}\n", &format!("helm: {{}}\n{}", tag("v2"))),
                (
                    "a:v2",
                    &env("  - name: X\n    value: y # c\n"),
                    &env("  - name: X\n    value: y # c\n  - name: IMAGE_TAG\n    value: v2\n"),
                ),
            ],
        );
        let both = |name: &str, tag: &str| {
            env(&format!("  - {{name: IMAGE, value: {name}}}\n  - {{name: IMAGE_TAG, value: {tag}}}\n"))
        };
        let rows = [("r.test/a:v2", both("b", "v1"), both("r.test/a", "v2"))];
        let rows = rows.each_ref().map(|(image, before, after)| (*image, before.as_str(), after.as_str()));
        check("argocd-plugin", &[("name", "IMAGE"), ("tag", "IMAGE_TAG")], &rows);
        let whole = |value: &str| env(&format!("  - name: IMAGE\n    value: {value}\n"));
        check(
            "argocd-plugin",
            &[("spec", "IMAGE")],
            &[("r.test/a:v2", &whole("r.test/a:v1"), &whole("r.test/a:v2"))],
        );
    }

    #[test]
    fn what_is_not_to_be_overwritten_is_refused() {
        let twice = "plugin: {env: [{name: T, value: a}, {name: T, value: b}]}\n";
        check_refused(
            "argocd-plugin",
            &[("tag", "T")],
            &[("a:v2", twice, "there twice"), ("a:v2", "a: 1\n---\nb: 1\n", "is one document")],
        );
    }
}
