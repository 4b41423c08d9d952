//! Helm values: the scalars at given paths.
//!
//! A path that is not there is an error, never a new key.

use yamledit::{Edits, Path};

use super::{Options, Outcome, Request, Source, Target, Version};
use crate::error::{Error, Result};

pub(super) const TARGET: Target =
    Target { name: "helmvalues", options: Options::Paths, renames: false, creates_file: false, edit };

fn edit(source: &Source<'_>, request: &Request) -> Result<Outcome> {
    let file = source.parse()?;
    let mut edits = Edits::new(&file);
    let find = |path: &Path| file.find(path).map_err(|error| at_path(source, &error, path));
    let written = |path: &Path| Ok(find(path)?.text().unwrap_or_default());
    for (path, value) in values(request, written)? {
        edits.set(find(path)?, &value).map_err(|error| at_path(source, &error, path))?;
    }
    edits.apply().map(Outcome::from).map_err(|error| source.error(&error))
}

/// What is to stand at each path, given what stands there.
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
pub(super) fn at_path(source: &Source<'_>, error: &yamledit::Error, path: &Path) -> Error {
    let refusal = source.error(error);
    let named = Error::input(format!("`{}`: {}", path.as_str(), refusal.message()));
    let named = match refusal.place() {
        Some(place) => named.at(place.clone()),
        None => named,
    };
    match refusal.help() {
        Some(hint) => named.hint(hint),
        None => named,
    }
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
    fn a_refusal_names_the_path() {
        check_refused(
            "helmvalues",
            &[("tag", "i.t")],
            &[
                ("a:v2", "i: {r: x}\n", "`i.t`: there is no key `t`"),
                ("a:v2", "i: {t: |\n x\n}", "not YAML"),
                ("a:v2", "i:\n  t: |\n    v2\n", "`i.t`: the value is a block scalar"),
                ("a:v2", "x: &x v2\ni: {t: *x}\n", "`i.t`: the value is the alias `*x`"),
                ("a:v2", "", "`i.t`: the file is empty"),
            ],
        );
    }
}
