//! Turns the parameters of a plugin into the sections that an Application would have.
//!
//! In: values as the lines of the table put them here. Out: a source. Refused: counts that are no numbers, patches that are
//! no YAML, engines that there are none of; no error has a value in it that could be a secret.

use std::collections::BTreeMap;
use std::sync::Arc;

use diagnostic::{Error, Result};
use yamltree::{Dialect, Node, ParseOptions};

use crate::application::fields::{At, place_of};
use crate::application::{
    Directory, Engine, Helm, HelmFileParameter, HelmParameter, Kustomize, Replica, Source,
};
use crate::objects::Sources;

/// The values of all parameters.
#[derive(Clone, Debug, Default)]
pub(super) struct Wanted {
    pub(super) engine: String,
    pub(super) chain: String,
    pub(super) allow_empty: bool,
    pub(super) kube_version: String,
    pub(super) api_versions: Vec<String>,
    pub(super) helm: Helm,
    pub(super) kustomize: Kustomize,
    pub(super) replicas: BTreeMap<String, String>,
    pub(super) patches: Vec<String>,
    pub(super) build_options: Vec<String>,
    pub(super) directory: Directory,
}

/// The sections of a source.
pub(super) struct Sections {
    pub(super) source: Source,
    /// The texts that places in it lead to.
    pub(super) texts: Sources,
}

impl Wanted {
    /// Sets values of a chart.
    pub(super) fn set(&mut self, values: BTreeMap<String, String>, force_string: bool) {
        let parameter = |(name, value)| HelmParameter { name: at(name), value, force_string };
        self.helm.parameters.extend(values.into_iter().map(parameter));
    }

    /// Sets values of a chart to the contents of files.
    pub(super) fn set_files(&mut self, files: BTreeMap<String, String>) {
        let parameter = |(name, path)| HelmFileParameter { name, path: at(path) };
        self.helm.file_parameters.extend(files.into_iter().map(parameter));
    }

    /// The engine, where a parameter names one.
    pub(super) fn engine(&self) -> Result<Option<Engine>> {
        match self.engine.to_ascii_lowercase().as_str() {
            "" => Ok(None),
            "helm" => Ok(Some(Engine::Helm)),
            "kustomize" => Ok(Some(Engine::Kustomize)),
            "directory" => Ok(Some(Engine::Directory)),
            _ => Err(Error::invalid("the parameter `engine` names none")
                .hint("expected `helm`, `kustomize` or `directory`; omit it to detect the engine")),
        }
    }

    /// The sections as a source.
    pub(super) fn sections(&self) -> Result<Sections> {
        let texts: Vec<Arc<yamltree::Source>> = self.patches.iter().enumerate().map(patch_text).collect();
        let texts: Sources = texts.into();
        let mut kustomize = self.kustomize.clone();
        kustomize.kube_version = at(self.kube_version.clone());
        kustomize.replicas = self.replicas.iter().map(replica).collect::<Result<_>>()?;
        kustomize.patches = (0..texts.len()).map(|number| patch(number, &texts)).collect::<Result<_>>()?;
        let mut helm = self.helm.clone();
        helm.kube_version = at(self.kube_version.clone());
        helm.api_versions.clone_from(&self.api_versions);
        let source = Source {
            helm: Some(helm),
            kustomize: Some(kustomize),
            directory: Some(self.directory.clone()),
            ..Source::unsaid()
        };
        Ok(Sections { source, texts })
    }
}

/// A value that is in no file.
pub(super) fn at(value: String) -> At<String> {
    At { value, ..At::default() }
}

/// Values that are in no file.
pub(super) fn all_at(values: Vec<String>) -> Vec<At<String>> {
    values.into_iter().map(at).collect()
}

fn replica((name, count): (&String, &String)) -> Result<Replica> {
    let count = count.parse::<u32>().ok().and_then(|count| i32::try_from(count).ok()).ok_or_else(|| {
        Error::invalid(format!("the parameter `kustomize-replicas` must have an integer for `{name}`"))
    })?;
    Ok(Replica { name: name.clone(), count: i64::from(count) })
}

fn patch_text((number, text): (usize, &String)) -> Arc<yamltree::Source> {
    let name = format!("kustomize-patches[{number}]");
    Arc::new(yamltree::Source { name, text: Arc::from(text.as_str()) })
}

/// A patch as it would be written into a kustomization: a mapping with `patch` or `path`, or else the patch itself.
fn patch(number: usize, texts: &Sources) -> Result<Node> {
    let text = &texts[number];
    let id = u32::try_from(number).unwrap_or(u32::MAX);
    let options = ParseOptions { dialect: Dialect::V2, ..ParseOptions::default() };
    let parsed = yamltree::parse_first(&text.text, id, &options)
        .map_err(|error| Error::invalid("the patch is not valid YAML").at(place_of(texts, error.span())))?;
    let root = parsed.map_or_else(Node::null, |document| document.root);
    if ["patch", "path"].iter().any(|field| root.get(field).is_some()) {
        return Ok(root);
    }
    if root.get("kind").is_some() || root.is_sequence() {
        return Ok(Node::mapping(vec![yamltree::Entry::new("patch", Node::string(&text.text))]));
    }
    Err(Error::invalid("this is not a patch").at(place_of(texts, root.span)).hint(
        "an item of `kustomize-patches` is `{path: …}`, `{patch: …, target: …}` or an object with a `kind`",
    ))
}
