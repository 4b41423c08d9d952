//! `git.files`: a set for each object in the files that a pathspec of git names (reposerver's `GetGitFiles`, git.go
//! `generateParamsForGitFiles`).
//!
//! A file holds an object or a list of objects, in YAML or JSON; an empty one is an object without keys. Refused, with
//! its place: a file that holds anything else.

use std::collections::BTreeMap;
use std::sync::Arc;

use gotemplate::Value;
use helm_lite::yaml;
use vfs::FileKind;
use yamlserde::YamlFile;
use yamltree::{Dialect, DuplicateKeys, Expansion, ParseOptions, Source};

use super::Run;
use super::git_tree::{Found, Repository, add_path};
use crate::appset::params::Params;
use crate::appset::tree::Tree;
use diagnostic::{Error, Result};
use glob::pathspec::Pathspec;

pub(super) fn generate(run: &Run<'_>, config: &Tree, repository: &Repository<'_>) -> Result<Vec<Params>> {
    let items = config.items_of("files");
    let (excluded, included): (Vec<&Tree>, Vec<&Tree>) =
        items.iter().partition(|item| item.is_set("exclude"));
    let mut chosen = BTreeMap::new();
    for item in included {
        chosen.extend(files(run, repository, item)?.into_iter().map(|file| (file.path.clone(), file)));
    }
    for item in excluded {
        for file in files(run, repository, item)? {
            chosen.remove(&file.path);
        }
    }
    let mut sets = Vec::new();
    for file in chosen.values() {
        for object in objects(repository, file)? {
            sets.push(parameters(run, config, &object, &file.path)?);
        }
    }
    Ok(sets)
}

/// The files that an item's pathspec names.
fn files(run: &Run<'_>, repository: &Repository<'_>, item: &Tree) -> Result<Vec<Found>> {
    let path = item.text_of("path");
    let place = item.get("path").map_or(item.span, |path| path.span);
    // No path is the whole repository to the repo-server.
    let spec = Pathspec::parse(if path.is_empty() { "." } else { path })
        .map_err(|message| Error::invalid(message).at(run.place(place)))?;
    let mut found = Vec::new();
    if repository.has_folder(spec.folder()) {
        walk(repository, &spec, spec.folder(), &mut found)?;
    }
    Ok(found)
}

fn walk(repository: &Repository<'_>, spec: &Pathspec, folder: &str, found: &mut Vec<Found>) -> Result<()> {
    for each in repository.list(folder)? {
        if each.path == ".git" || each.path.ends_with("/.git") {
            continue;
        }
        if each.kind == FileKind::Directory && !each.is_link {
            if spec.leads_into(&each.path) {
                walk(repository, spec, &each.path, found)?;
            }
        } else if spec.matches(&each.path) {
            found.push(each);
        }
    }
    Ok(())
}

/// The objects of a file.
fn objects(repository: &Repository<'_>, file: &Found) -> Result<Vec<Params>> {
    let text = repository.read(file)?;
    let source = Source { name: repository.display(&file.path), text: Arc::from(text) };
    let text = YamlFile::with_id(Arc::new(source), 0);
    let refuse = |error: &yamltree::Error| text.error(error.message(), error.span());
    let options = ParseOptions {
        dialect: Dialect::V2,
        duplicate_keys: DuplicateKeys::KeepLast,
        ..ParseOptions::default()
    };
    let document = yamltree::parse_first(&text.source().text, 0, &options).map_err(|error| refuse(&error))?;
    let Some(mut root) = document.map(|document| document.root) else { return Ok(vec![Params::default()]) };
    root.expand_aliases(Expansion::Decoded(Dialect::V2)).map_err(|error| refuse(&error))?;
    let unfit = |span| text.error("a file of a git generator is an object or a list of objects", span);
    match yaml::node_value(&root).map_err(|error| refuse(&error))? {
        Value::List(items) => {
            let places = root.items().map(Vec::as_slice).unwrap_or_default();
            let object = |(at, item): (usize, Value)| {
                Params::of_value(&item).ok_or_else(|| unfit(places.get(at).unwrap_or(&root).span))
            };
            items.to_vec().into_iter().enumerate().map(object).collect()
        }
        value => Ok(vec![Params::of_value(&value).ok_or_else(|| unfit(root.span))?]),
    }
}

fn parameters(run: &Run<'_>, config: &Tree, object: &Params, path: &str) -> Result<Params> {
    let (folder, name) = path.rsplit_once('/').unwrap_or((".", path));
    let params = if run.language.is_go() { object.clone() } else { Params::flat(object.map()) };
    add_path(run, config, &params, folder, Some(name));
    run.add_values(config, &params)?;
    Ok(params)
}
