//! Helm values: the scalars at given paths.
//!
//! A path that is not there is an error, unless places may be made: then what is missing of it is added to the last
//! mapping on its way. An item of a list is never made.

use diagnostic::{Error, Result};
use yamledit::{Content, Edits, File, Path};
use yamltree::Node;

use super::{Options, Outcome, Request, Source, Target, Version};

pub(super) const TARGET: Target =
    Target { name: "helmvalues", options: Options::Paths, renames: false, creates_file: false, edit };

fn edit(source: &Source<'_>, request: &Request) -> Result<Outcome> {
    let file = source.parse()?;
    let mut edits = Edits::new(&file);
    let find = |path: &Path| match file.find(path) {
        Err(error) if error.kind() == diagnostic::ErrorKind::NotFound && request.insists => Ok(None),
        found => found.map(Some).map_err(|error| at_path(source, &error, path)),
    };
    let written = |path: &Path| Ok(find(path)?.and_then(Node::text).unwrap_or_default());
    let mut missing = Vec::new();
    for (path, value) in values(request, written)? {
        match find(path)? {
            Some(node) => edits.set(node, &value).map(drop).map_err(|error| at_path(source, &error, path))?,
            None => missing.push((path, value)),
        }
    }
    add(source, &file, &mut edits, &missing)?;
    edits.apply().map(Outcome::from).map_err(|error| source.error(&error))
}

/// A mapping with what it gets; the file itself where it has none.
type Addition<'f> = (Option<&'f Node>, Vec<(String, Content)>);

/// Adds what is missing, with what several paths lack together only once.
fn add<'f>(
    source: &Source<'_>,
    file: &'f File<'f>,
    edits: &mut Edits<'f>,
    missing: &'f [(&'f Path, String)],
) -> Result<()> {
    let mut added: Vec<Addition<'f>> = Vec::new();
    for (path, value) in missing {
        let gap = file.missing_path(path).map_err(|error| at_path(source, &error, path))?;
        let is_same = |node: Option<&Node>| node.map(|node| node.span) == gap.mapping.map(|node| node.span);
        match added.iter_mut().find(|(node, _)| is_same(*node)) {
            Some((_, entries)) => nest(entries, &gap.keys, value),
            None => {
                let mut entries = Vec::new();
                nest(&mut entries, &gap.keys, value);
                added.push((gap.mapping, entries));
            }
        }
    }
    for (mapping, entries) in added {
        let done = match mapping {
            None => edits.fill(entries),
            Some(mapping) => {
                entries.into_iter().try_for_each(|(key, value)| edits.insert(mapping, &key, value))
            }
        };
        done.map_err(|error| source.error(&error))?;
    }
    Ok(())
}

/// Puts a value below keys, of which some may be there.
fn nest(entries: &mut Vec<(String, Content)>, keys: &[&str], value: &str) {
    let Some((key, rest)) = keys.split_first() else { return };
    if rest.is_empty() {
        entries.push(((*key).to_owned(), value.into()));
    } else if let Some((_, Content::Mapping(inner))) = entries.iter_mut().find(|(known, _)| known == key) {
        nest(inner, rest, value);
    } else {
        let mut inner = Vec::new();
        nest(&mut inner, rest, value);
        entries.push(((*key).to_owned(), Content::Mapping(inner)));
    }
}

/// Returns what is to stand at each path, given what stands there.
pub(super) fn values<'f, 'r>(
    request: &'r Request,
    written: impl Fn(&Path) -> Result<&'f str>,
) -> Result<Vec<(&'r Path, String)>> {
    let Request { version, paths, .. } = request;
    let mut values = Vec::new();
    if let Some(path) = &paths.tag {
        let tag = if paths.digest.is_some() { version.tag.clone() } else { version.tag_and_digest() };
        values.push((path, tag));
    }
    if let Some(path) = &paths.digest {
        values.push((path, version.digest_for("`--digest-path`")?.to_owned()));
    }
    if let Some(path) = &paths.spec {
        values.push((path, version.reference(written(path)?)));
    }
    let registry = paths.registry.as_ref().map(&written).transpose()?;
    let name = paths.name.as_ref().map(&written).transpose()?;
    let [registry, name] = name_parts(version, registry, name);
    values.extend(paths.registry.as_ref().zip(registry));
    values.extend(paths.name.as_ref().zip(name));
    Ok(values)
}

/// The registry and the name to write where these stand now. The spelling of the same image stays.
fn name_parts(version: &Version, registry: Option<&str>, name: Option<&str>) -> [Option<String>; 2] {
    let joined = match (registry, name) {
        (Some(registry), Some(name)) => join(registry, name),
        (None, Some(name)) => name.to_owned(),
        _ => String::new(),
    };
    if version.is_of(&joined) {
        [registry.map(str::to_owned), name.map(str::to_owned)]
    } else if registry.is_none() {
        [None, Some(version.name.clone())]
    } else {
        [Some(version.repository.registry().to_owned()), Some(version.repository.name().to_owned())]
    }
}

/// A name of a registry and a repository that stand apart.
pub(super) fn join(registry: &str, name: &str) -> String {
    if registry.is_empty() { name.to_owned() } else { format!("{}/{name}", registry.trim_end_matches('/')) }
}

/// A refusal that names the path.
pub(super) fn at_path(source: &Source<'_>, error: &Error, path: &Path) -> Error {
    let refusal = source.error(error);
    let message = format!("`{}`: {}", path.as_str(), refusal.message());
    refusal.with_message(message)
}

#[cfg(test)]
mod tests {
    use crate::edit::testing::{check, check_refused};

    #[test]
    fn each_path_gets_its_part() {
        let all = [("name", "i.r"), ("tag", "i.t"), ("digest", "i.d")];
        check(
            "helmvalues",
            &all,
            &[(
                "r.test/a:1.20@NEW",
                "i:\n  r: r.test/b # c\n  t: 1.19\n  d: ''\n",
                "i:\n  r: r.test/a # c\n  t: \"1.20\"\n  d: 'NEW'\n",
            )],
        );
        check(
            "helmvalues",
            &[("tag", "t")],
            &[("a:1.20@NEW", "t: 1.19", "t: 1.20@NEW"), ("a:v2", "t: v1@OLD", "t: v2")],
        );
        check(
            "helmvalues",
            &[("spec", "i")],
            &[
                ("docker.io/library/nginx:2", "i: nginx\n", "i: nginx:2\n"),
                ("r.test/a:2", "i: nginx:1@OLD\n", "i: r.test/a:2\n"),
                ("r.test/a:2", "i:\n", "i: r.test/a:2\n"),
            ],
        );
    }

    #[test]
    fn a_registry_may_stand_apart() {
        let apart = [("registry", "i.h"), ("name", "i.r"), ("tag", "i.t")];
        check(
            "helmvalues",
            &apart,
            &[
                (
                    "nginx:v2",
                    "i: {h: docker.io, r: library/nginx, t: v1}\n",
                    "i: {h: docker.io, r: library/nginx, t: v2}\n",
                ),
                ("r.test/a/b:v2", "i: {h: docker.io, r: nginx, t: v1}\n", "i: {h: r.test, r: a/b, t: v2}\n"),
            ],
        );
    }

    #[test]
    fn keys_are_made_where_places_may_be() {
        let both = [("name", "i.repository"), ("tag", "i.tag")];
        check(
            "helmvalues",
            &both,
            &[
                ("r.test/a:v2", "\n", "\ni:\n  tag: v2\n  repository: r.test/a\n"),
                ("r.test/a:v2", "# c\n", "# c\ni:\n  tag: v2\n  repository: r.test/a\n"),
                (
                    "r.test/a:v2",
                    "i:\n    repository: r.test/a # c\n\nz: 1\n",
                    "i:\n    repository: r.test/a # c\n    tag: v2\n\nz: 1\n",
                ),
                ("r.test/a:v2", "i: {}\n", "i: {tag: v2, repository: r.test/a}\n"),
                ("r.test/a:1.20", "z: 1", "z: 1\ni:\n  tag: \"1.20\"\n  repository: r.test/a"),
            ],
        );
        check(
            "helmvalues",
            &[("name", "repository"), ("tag", "tag")],
            &[("r.test/a:v2", "z: 1", "z: 1\ntag: v2\nrepository: r.test/a")],
        );
        check(
            "helmvalues",
            &[("tag", "a.b.tag"), ("digest", "a.b.digest")],
            &[("x:1.0@NEW", "a:\n  c: 1\n", "a:\n  c: 1\n  b:\n    tag: \"1.0\"\n    digest: NEW\n")],
        );
    }

    /// As Argo CD Image Updater's `extraInitContainers[0]` at the end of the file.
    #[test]
    fn items_are_never_made_nor_values_made_mappings() {
        check_refused(
            "helmvalues",
            &[("spec", "extra[1].image")],
            &[
                ("a:v2", "extra:\n- image: a:v1\n", "no item `[1]`"),
                ("a:v2", "other: 1\n", "missing key `extra`"),
                ("a:v2", "extra: text\n", "cannot find `[1]`: its parent is not a list"),
            ],
        );
        let tag = [("tag", "i.tag")];
        check_refused(
            "helmvalues",
            &tag,
            &[
                ("a:v2", "i: text\n", "its parent is not a mapping"),
                ("a:v2", "a: 1\n---\nb: 1\n", "several documents"),
                ("a:v2", "x: &x {}\ni: *x\n", "goes through the alias `*x`"),
            ],
        );
    }

    #[test]
    fn a_refusal_names_the_path() {
        check_refused(
            "helmvalues",
            &[("tag", "i.t"), ("create", "no")],
            &[
                ("a:v2", "i: {r: x}\n", "`i.t`: missing key `t`"),
                ("a:v2", "i: {t: |\n x\n}", "not YAML"),
                ("a:v2", "i:\n  t: |\n    v2\n", "`i.t`: the value is a block scalar"),
                ("a:v2", "x: &x v2\ni: {t: *x}\n", "`i.t`: the value is the alias `*x`"),
                ("a:v2", "", "`i.t`: the file is empty"),
            ],
        );
    }
}
