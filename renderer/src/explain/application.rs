//! Finds where an Application sets a value of a chart.
//!
//! In: what the engine calls the place, which are flags of helm and fields of the Application, and the path of the value.
//! Out: the line in the Application's file.

use argocd::objects::Object;
use yamltree::{Location, Node};

/// Returns where one of some Applications gives a value.
pub(super) fn place(applications: &[Object], given_in: &str, path: &str) -> Option<Location> {
    applications.iter().find_map(|application| {
        let node =
            sources(application.node()).find_map(|source| given(source.get("helm")?, given_in, path))?;
        application.place_of(node)
    })
}

fn sources(application: &Node) -> impl Iterator<Item = &Node> {
    let one = application.lookup(&["spec", "source"]);
    let several = application.lookup(&["spec", "sources"]).and_then(Node::items);
    one.into_iter().chain(several.into_iter().flatten())
}

fn given<'n>(helm: &'n Node, given_in: &str, path: &str) -> Option<&'n Node> {
    // Of two parameters with one name the last counts.
    let parameter = |field: &str| {
        let is_it = |item: &&Node| item.get("name").and_then(Node::text) == Some(path);
        helm.get(field)?.items()?.iter().rfind(is_it)
    };
    match given_in {
        "--set" | "--set-string" => parameter("parameters")?.get("value"),
        "--set-file" => parameter("fileParameters")?.get("path"),
        "helm.valuesObject" => path.split('.').try_fold(helm.get("valuesObject")?, |node, key| node.get(key)),
        "helm.values" => helm.get("values"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use yamltree::Source;

    use super::*;

    #[test]
    fn values_are_found_in_the_source_that_gives_them() {
        let text = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nspec:\n  sources:\n  - {ref: values}\n  - helm:\n      parameters:\n      - {name: a.b, value: '1'}\n      - {name: a.b, value: '2'}\n      fileParameters:\n      - {name: f, path: x.txt}\n      valuesObject: {c: {d: 3}}\n      values: 'e: 4'\n";
        let source = Arc::new(Source { name: "app.yaml".to_owned(), text: text.into() });
        let applications = argocd::objects::read(&source).expect("an Application");
        for (given_in, path, line) in [
            ("--set", "a.b", Some(9)),
            ("--set-string", "a.b", Some(9)),
            ("--set", "f", None),
            ("--set-file", "f", Some(11)),
            ("helm.valuesObject", "c.d", Some(12)),
            ("helm.valuesObject", "c.x", None),
            ("helm.values", "e", Some(13)),
            ("values.yaml", "a.b", None),
        ] {
            let found = place(&applications, given_in, path);
            let found = found.map(|place| place.source.line_column(place.span.start).0);
            assert_eq!(found, line, "{given_in} {path}");
        }
    }
}
