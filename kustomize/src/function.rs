//! KRM functions: programs that read a `ResourceList` and print it changed. They are run by the world outside, and
//! only where the command line allows it.

use std::path::PathBuf;

use diagnostic::{Error, ErrorKind, Result};
use yamltree::{Entry, Node};

use crate::context::Context;
use crate::decode::Object;
use crate::generate::Generator;
use crate::read;
use crate::resid::ResId;
use crate::resmap::ResMap;
use crate::resource::{Behavior, Resource};
use crate::target::Target;
use crate::transform::Transformer;
use crate::world::Function;

const FUNCTION_ANNOTATIONS: &[&str] = &["config.kubernetes.io/function", "config.k8s.io/function"];
const CONTAINER_ANNOTATION: &str = "config.kubernetes.io/container";
const LOCAL_CONFIG: &str = "config.kubernetes.io/local-config";
const NEEDS_HASH: &str = "kustomize.config.k8s.io/needs-hash";
const BEHAVIOR: &str = "kustomize.config.k8s.io/behavior";
/// Annotation that tells a function's tools which output was which input; it is removed.
const ITEM_ID: &str = "internal.config.kubernetes.io/id";
const RESOURCE_LIST: (&str, &str) = ("config.kubernetes.io/v1", "ResourceList");

/// The specification of a function.
#[derive(Debug)]
pub(crate) enum Specification {
    /// As a program.
    Exec { path: String, arguments: Vec<String>, environment: Vec<String> },
    /// As a container with this image.
    Container { image: String },
}

/// Returns how a resource says that it is the configuration of a function; `None` where it does not.
pub(crate) fn specification(configuration: &Resource) -> Result<Option<Specification>> {
    for annotation in FUNCTION_ANNOTATIONS {
        let Some(node) =
            configuration.metadata("annotations").and_then(|annotations| annotations.get(annotation))
        else {
            continue;
        };
        if let Some(text) = node.text().filter(|text| !text.is_empty()) {
            let documents =
                read::documents(text, node.span.source).map_err(|error| error.moved_to(node.span))?;
            let root = documents.first().map(|document| &document.root);
            return root.map(decode).transpose().map_err(|error| error.moved_to(node.span));
        }
    }
    if let Some(node) = configuration.metadata("configFn") {
        return decode(node).map(Some);
    }
    let image = configuration.annotation(CONTAINER_ANNOTATION).filter(|image| !image.is_empty());
    Ok(image.map(|image| Specification::Container { image: image.to_owned() }))
}

fn decode(node: &Node) -> Result<Specification> {
    let object = Object::new(node, "the function's specification")?;
    object.flag("deferFailure")?;
    let (container, exec) = (object.field("container"), object.field("exec"));
    object.finish()?;
    if let Some(container) = container {
        let container = Object::new(container, "a container function")?;
        return Ok(Specification::Container { image: container.text("image")? });
    }
    let exec = Object::new(exec.unwrap_or(&Node::null()), "an exec function").and_then(|object| {
        let texts = |name| -> Result<Vec<String>> {
            Ok(object.strings(name)?.into_iter().map(|item| item.text).collect())
        };
        let exec = Specification::Exec {
            path: object.text("path")?,
            arguments: texts("args")?,
            environment: texts("envs")?,
        };
        object.finish()?;
        Ok(exec)
    })?;
    Ok(exec)
}

/// A function with its configuration, ready to run.
#[derive(Debug)]
pub(crate) struct FunctionPlugin {
    program: PathBuf,
    arguments: Vec<String>,
    environment: Vec<(String, String)>,
    directory: PathBuf,
    configuration: Resource,
}

impl FunctionPlugin {
    pub(crate) fn new(
        specification: Specification,
        configuration: &Resource,
        target: &Target<'_, '_>,
    ) -> Result<Self> {
        let span = configuration.span();
        let (path, arguments, environment) = match specification {
            Specification::Exec { path, arguments, environment } => (path, arguments, environment),
            Specification::Container { image } => {
                let sentence =
                    format!("the function runs in the container `{image}`; containers are not supported");
                return Err(Error::new(ErrorKind::Unsupported, sentence)
                    .at(span)
                    .hint("install the function as a program and name it by `exec: {path: …}`"));
            }
        };
        if !target.cx.options.enable_exec {
            let sentence = format!("the function runs the program `{path}`, which is not enabled");
            return Err(Error::new(ErrorKind::Denied, sentence).at(span).hint("pass --enable-exec"));
        }
        if path.is_empty() {
            return Err(Error::invalid("the function names no program")
                .at(span)
                .hint("set `exec: {path: …}`"));
        }
        let directory = target.loader.root().to_path_buf();
        let program =
            if path.contains('/') { vfs::clean(&directory.join(&path)) } else { PathBuf::from(&path) };
        let mut configuration = configuration.clone();
        annotate(&mut configuration.node, LOCAL_CONFIG, "true");
        // Later settings of a variable win, and what is no setting is passed over.
        let mut variables: Vec<(String, String)> = Vec::new();
        for setting in environment.iter().chain(&target.cx.options.function_environment) {
            let Some((name, value)) = setting.split_once('=').filter(|(_, value)| !value.contains('='))
            else {
                continue;
            };
            variables.retain(|(known, _)| known != name);
            variables.push((name.to_owned(), value.to_owned()));
        }
        Ok(Self { program, arguments, environment: variables, directory, configuration })
    }

    /// Runs the function over resources and reads what it prints.
    fn run(&self, items: Vec<Node>, cx: &Context<'_>) -> Result<Vec<Node>> {
        let span = self.configuration.span();
        let Some(runner) = cx.world.functions else {
            return Err(Error::new(ErrorKind::Unsupported, "functions cannot be run here").at(span));
        };
        let list = Node::mapping(vec![
            Entry::new("apiVersion", Node::string(RESOURCE_LIST.0)),
            Entry::new("kind", Node::string(RESOURCE_LIST.1)),
            Entry::new("items", Node::sequence(items)),
            Entry::new("functionConfig", self.configuration.node.clone()),
        ]);
        let mut input = String::new();
        yamltree::to_sigs_yaml(&list, &mut input).map_err(Error::from)?;
        let function = Function {
            program: &self.program,
            arguments: &self.arguments,
            environment: &self.environment,
            directory: &self.directory,
            input: &input,
        };
        let output = runner.run(&function).map_err(|sentence| Error::invalid(sentence).at(span))?;
        let name = format!("the output of `{}`", self.program.display());
        let file = cx.sources.file(name, output.into());
        let mut nodes = read::resources(&file.text, file.source)?.nodes;
        for node in &mut nodes {
            remove_annotation(node, ITEM_ID);
        }
        Ok(nodes)
    }
}

impl Generator for FunctionPlugin {
    fn generate(&self, cx: &Context<'_>) -> Result<Vec<Resource>> {
        let schema = cx.schema();
        let mut resources = Vec::new();
        for node in self.run(Vec::new(), cx)? {
            let mut resource = Resource::new(node, &schema);
            if resource.annotation(LOCAL_CONFIG).is_some_and(|value| value != "false") {
                continue;
            }
            resource.behavior = behavior(resource.annotation(BEHAVIOR).unwrap_or_default());
            resource.needs_hash = needs_hash(&resource)?;
            remove_annotation(&mut resource.node, BEHAVIOR);
            remove_annotation(&mut resource.node, NEEDS_HASH);
            resources.push(resource);
        }
        Ok(resources)
    }
}

/// Returns what `behavior` in a generator's arguments or on a generated resource means; anything else counts as unspecified.
pub(crate) fn behavior(text: &str) -> Behavior {
    match text {
        "create" => Behavior::Create,
        "replace" => Behavior::Replace,
        "merge" => Behavior::Merge,
        _ => Behavior::Unspecified,
    }
}

fn needs_hash(resource: &Resource) -> Result<bool> {
    match resource.annotation(NEEDS_HASH) {
        None | Some("0" | "f" | "F" | "false" | "FALSE" | "False") => Ok(false),
        Some("1" | "t" | "T" | "true" | "TRUE" | "True") => Ok(true),
        Some(other) => {
            Err(Error::invalid(format!("the annotation `{NEEDS_HASH}` must be a boolean, not `{other}`"))
                .at(resource.span()))
        }
    }
}

impl Transformer for FunctionPlugin {
    /// The output replaces the resources of the same id, adds others, and drops those that it lacks.
    fn transform(&self, map: &mut ResMap, cx: &Context<'_>) -> Result<()> {
        let items = map.iter().zip(1..).map(|(resource, number): (_, usize)| {
            let mut node = resource.node.clone();
            annotate(&mut node, ITEM_ID, &number.to_string());
            node
        });
        let nodes = self.run(items.collect(), cx)?;
        let schema = cx.schema();
        let mut emitted = std::collections::HashSet::<ResId>::new();
        for node in nodes {
            let resource = Resource::new(node, &schema);
            if !emitted.insert(resource.id().clone()) {
                let sentence = format!("the function printed {} twice", resource.id().described());
                return Err(Error::invalid(sentence).at(resource.span()));
            }
            match map.with_current_id(resource.id()) {
                [] => map.append(resource)?,
                &[position, ..] => map.modify(position, |old| {
                    old.node = resource.node;
                    Ok(())
                })?,
            }
        }
        map.retain(|resource| emitted.contains(resource.id()));
        Ok(())
    }
}

/// Sets an annotation.
fn annotate(node: &mut Node, key: &str, value: &str) {
    let mut metadata = node.remove("metadata").unwrap_or_else(|| Node::mapping(Vec::new()));
    let mut annotations =
        metadata.remove("annotations").filter(Node::is_mapping).unwrap_or_else(|| Node::mapping(Vec::new()));
    annotations.set(key, Node::string(value));
    metadata.set("annotations", annotations);
    node.set("metadata", metadata);
}

/// Removes an annotation, and the annotations when none is left.
fn remove_annotation(node: &mut Node, key: &str) {
    let Some(metadata) = node.get_mut("metadata") else { return };
    let Some(annotations) = metadata.get_mut("annotations") else { return };
    annotations.remove(key);
    if annotations.entries().is_some_and(Vec::is_empty) {
        metadata.remove("annotations");
    }
}
