//! Templates by name: in go texts, out come executions of what they define.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use gostd::quoted;

use crate::context::{Context, Options, Usage};
use crate::error::{Error, ErrorKind};
use crate::exec;
use crate::functions::Functions;
use crate::syntax::{File, Source, Tree, parse};
use crate::value::{Str, Value};

/// Maximum number of bytes of texts that functions had parsed that are kept, in case they come again.
const MOST_KEPT: usize = 16 << 20;

/// Templates that can call each other, and the functions they know.
#[derive(Debug)]
pub struct TemplateSet {
    name: String,
    functions: Functions,
    templates: HashMap<Str, (Rc<File>, usize), foldhash::fast::RandomState>,
    kept: RefCell<Kept>,
}

/// Texts that functions had parsed.
#[derive(Debug, Default)]
struct Kept {
    files: HashMap<Str, Rc<File>, foldhash::fast::RandomState>,
    bytes: usize,
}

impl TemplateSet {
    /// A set without templates. Its name is that of the template that errors mention when another is missing.
    #[must_use]
    pub fn new(name: impl Into<String>, functions: Functions) -> Self {
        Self { name: name.into(), functions, templates: HashMap::default(), kept: RefCell::default() }
    }

    /// Parses a text and adds the template that it is, called `name`, and those that it defines.
    /// A template takes the place of an older one of its name, unless it is blank.
    ///
    /// # Errors
    /// If the text is no template. Then nothing is added.
    pub fn parse(&mut self, name: &str, text: &[u8]) -> Result<(), Error> {
        let file = Rc::new(parse(name, text, &self.functions)?);
        for (index, tree) in file.trees.iter().enumerate() {
            if !tree.blank || !self.templates.contains_key(&tree.name) {
                self.templates.insert(tree.name.clone(), (file.clone(), index));
            }
        }
        Ok(())
    }

    /// Returns true if there is a template of that name.
    #[must_use]
    pub fn contains(&self, name: &str) -> bool {
        self.templates.contains_key(name.as_bytes())
    }

    /// Executes the template `name` and returns what it writes.
    ///
    /// # Errors
    /// If there is no such template, or it cannot be executed with this data.
    pub fn execute(&self, name: &str, data: Value, options: &Options<'_>) -> Result<Vec<u8>, Error> {
        let mut usage = Usage::new(options.limits.stack);
        Context::new(Scope { set: self, layer: None }, options, &mut usage).render(name.as_bytes(), data)
    }

    pub(crate) fn missing(&self, name: &[u8]) -> Error {
        let reason = format!(
            "template: no template {} associated with template {}",
            quoted(name),
            quoted(self.name.as_bytes())
        );
        Error::new(ErrorKind::NotFound, None, reason)
    }

    /// Parses a text that is executed once, or takes what became of it before.
    pub(crate) fn parse_text(&self, name: &str, text: &[u8]) -> Result<Rc<File>, Error> {
        if let Some(file) = self.kept.borrow().files.get(text)
            && file.source.name == name
        {
            return Ok(file.clone());
        }
        let file = Rc::new(parse(name, text, &self.functions)?);
        let mut kept = self.kept.borrow_mut();
        kept.bytes += text.len();
        if kept.bytes > MOST_KEPT {
            *kept = Kept { files: HashMap::default(), bytes: text.len() };
        }
        kept.files.insert(text.into(), file.clone());
        Ok(file)
    }
}

/// A template, and the text that it is in.
#[derive(Clone, Copy)]
pub(crate) struct Template<'a> {
    pub(crate) source: &'a Source,
    pub(crate) tree: &'a Tree,
}

/// The template lookup: texts that are executed once, innermost first, and then the set.
#[derive(Clone, Copy)]
pub(crate) struct Scope<'a> {
    pub(crate) set: &'a TemplateSet,
    layer: Option<&'a Layer<'a>>,
}

struct Layer<'a> {
    file: &'a File,
    below: Option<&'a Self>,
}

impl<'a> Scope<'a> {
    pub(crate) fn find(&self, name: &[u8]) -> Option<Template<'a>> {
        let mut blank = None;
        let mut layer = self.layer;
        while let Some(Layer { file, below }) = layer {
            if let Some(tree) = file.trees.iter().find(|tree| *tree.name == *name) {
                let template = Template { source: &file.source, tree };
                if !tree.blank {
                    return Some(template);
                }
                blank = Some(template);
            }
            layer = *below;
        }
        let found = self.set.templates.get(name);
        found.map(|(file, index)| Template { source: &file.source, tree: &file.trees[*index] }).or(blank)
    }
}

/// Executes a text as the template `name`. What it defines is there only as long as it runs.
pub(crate) fn execute_text(
    context: &mut Context<'_>,
    name: &str,
    text: &[u8],
    data: Value,
) -> Result<Vec<u8>, Error> {
    let scope = context.scope();
    let file = scope.set.parse_text(name, text)?;
    let Some(tree) = file.trees.last() else { return Ok(Vec::new()) };
    let layer = Layer { file: &file, below: scope.layer };
    let template = Template { source: &file.source, tree };
    let inner = context.within(Scope { set: scope.set, layer: Some(&layer) });
    exec::execute(inner, template, data)
}
