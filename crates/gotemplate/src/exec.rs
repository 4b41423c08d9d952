//! Execution: in go a template and its data, out comes text, or Go's error with its place.
//!
//! One [`Executor`] runs one template and those it calls with `{{template}}`; a function that
//! executes templates, as Helm's `include`, starts another. All of them count against the same
//! limits.

mod call;
mod eval;
mod site;

use crate::context::Context;
use crate::error::{Error, ErrorKind};
use crate::fmt::{print_plain, sprint};
use crate::set::Template;
use crate::syntax::{Branch, Node, Pipeline, TemplateCall};
use crate::value::{Type, Value};
use crate::watch::{Event, Trace, is_exponential};
pub(crate) use eval::zero;
use gostd::quoted;
use site::Site;

/// Executes a template, and returns what it writes.
pub(crate) fn execute<'t>(
    context: Context<'t>,
    template: Template<'t>,
    data: Value,
) -> Result<Vec<u8>, Error> {
    let mut executor = Executor {
        context,
        template,
        // What most templates need, so that nothing has to grow step by step.
        out: Vec::with_capacity(256),
        variables: Vec::with_capacity(template.tree.slots),
        base: 0,
        arguments: Vec::with_capacity(8),
        site: Site::None,
        trace: None,
    };
    if executor.context.is_outermost() {
        executor.trace = executor.context.options().trace;
    }
    executor.template(template, &Operand::concrete(data))?;
    Ok(executor.out)
}

/// A value, as Go's reflection holds it.
#[derive(Clone, Debug, Default)]
struct Operand {
    value: Value,
    /// True if it was taken out of an `interface {}` variable, such as an item of a list: such a nil
    /// is a nil of that type, other nils are no value at all, and messages name the type.
    boxed: bool,
}

impl Operand {
    fn concrete(value: Value) -> Self {
        Self { value, boxed: false }
    }

    /// Returns what was kept in a place of type `ty`.
    fn kept_as(ty: &Type, value: Value) -> Self {
        Self { value, boxed: *ty == Type::Any }
    }

    /// Returns true if Go would call it invalid: it is not even a nil of some type.
    fn is_invalid(&self) -> bool {
        !self.boxed && matches!(self.value, Value::Nil)
    }

    fn type_name(&self) -> String {
        if self.boxed { Type::Any.to_string() } else { self.value.type_name() }
    }
}

/// The control flow after a node.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flow {
    Next,
    Break,
    Continue,
}

/// Runs a template.
struct Executor<'t> {
    context: Context<'t>,
    template: Template<'t>,
    out: Vec<u8>,
    /// The variables of the templates that call each other, each from its base on.
    variables: Vec<Option<Operand>>,
    base: usize,
    /// The arguments of the calls that are being prepared.
    arguments: Vec<Value>,
    /// The node that Go would say an error is at: the last one it turned to.
    site: Site<'t>,
    /// Takes down what writes what.
    trace: Option<&'t Trace>,
}

impl<'t> Executor<'t> {
    /// Runs a template from its start, with variables of its own.
    fn template(&mut self, template: Template<'t>, dot: &Operand) -> Result<(), Error> {
        // The site is a part of the template's text, so it changes with it.
        let outer = (self.template, self.base, self.site);
        self.template = template;
        self.site = Site::None;
        self.base = self.variables.len();
        self.variables.resize(self.base + template.tree.slots, None);
        self.variables[self.base] = Some(dot.clone());
        self.nodes(dot, &template.tree.nodes)?;
        self.variables.truncate(self.base);
        (self.template, self.base, self.site) = outer;
        Ok(())
    }

    fn nodes(&mut self, dot: &Operand, nodes: &'t [Node]) -> Result<Flow, Error> {
        for node in nodes {
            let flow = match node {
                Node::Text(span) => {
                    self.mark(span.start, true);
                    self.out.extend_from_slice(self.template.source.slice(*span));
                    self.check_output()?;
                    Flow::Next
                }
                Node::Action(pipe) => self.action(dot, pipe)?,
                Node::If(branch) => self.choose(dot, branch, false)?,
                Node::With(branch) => self.choose(dot, branch, true)?,
                Node::Range(branch) => self.range(dot, branch)?,
                Node::Template(call) => self.call_template(dot, call)?,
                Node::Break => Flow::Break,
                Node::Continue => Flow::Continue,
            };
            if flow != Flow::Next {
                return Ok(flow);
            }
        }
        Ok(Flow::Next)
    }

    fn mark(&self, position: u32, is_text: bool) {
        if let Some(trace) = self.trace {
            trace.add(self.out.len(), position, is_text);
        }
    }

    fn action(&mut self, dot: &Operand, pipe: &'t Pipeline) -> Result<Flow, Error> {
        self.mark(pipe.position, false);
        let result = self.pipeline(dot, pipe)?;
        if pipe.declared.is_empty() {
            match &result.value {
                Value::Nil => self.out.extend_from_slice(b"<no value>"),
                value => {
                    if is_exponential(value) {
                        self.tell(Event::Exponent, Site::Pipeline(pipe));
                    }
                    let limit = self.context.options().limits.output;
                    if let Err(error) = print_plain(&mut self.out, value, limit) {
                        return Err(self.fail_with(ErrorKind::Limit, error.text()));
                    }
                }
            }
        }
        Ok(Flow::Next)
    }

    fn check_output(&self) -> Result<(), Error> {
        let limit = self.context.options().limits.output;
        if self.out.len() > limit {
            return Err(
                self.fail_with(ErrorKind::Limit, format!("template output is longer than {limit} bytes"))
            );
        }
        Ok(())
    }

    /// `if` or `with`.
    fn choose(&mut self, dot: &Operand, branch: &'t Branch, with: bool) -> Result<Flow, Error> {
        self.step()?;
        let result = self.pipeline(dot, &branch.pipe)?;
        if result.value.is_true() {
            self.nodes(if with { &result } else { dot }, &branch.body)
        } else if let Some(otherwise) = &branch.otherwise {
            self.nodes(dot, otherwise)
        } else {
            Ok(Flow::Next)
        }
    }

    fn range(&mut self, dot: &Operand, branch: &'t Branch) -> Result<Flow, Error> {
        self.step()?;
        let value = self.pipeline(dot, &branch.pipe)?.value;
        let entries = match &value {
            Value::Object(object) => object.entries(),
            _ => None,
        };
        if let Some(entries) = entries {
            let entries = entries.into_iter().map(|(key, value)| (key, Operand::concrete(value)));
            let ran = self.iterate(branch, entries)?;
            return self.unless(ran, dot, branch);
        }
        let ranged = value.plain();
        let ran = match &ranged {
            Value::Nil => false,
            Value::Int(kind, count) => {
                self.refuse_two_variables(branch, &ranged)?;
                self.iterate(
                    branch,
                    (0..*count).map(|number| (Value::Nil, Operand::concrete(Value::Int(*kind, number)))),
                )?
            }
            Value::Uint(kind, count) => {
                self.refuse_two_variables(branch, &ranged)?;
                self.iterate(
                    branch,
                    (0..*count).map(|number| (Value::Nil, Operand::concrete(Value::Uint(*kind, number)))),
                )?
            }
            Value::List(list) => {
                let element = list.go_type().element();
                let items = (0..list.len()).map_while(|index| list.get(index)).enumerate();
                self.iterate(
                    branch,
                    items.map(|(index, item)| {
                        (
                            Value::int(i64::try_from(index).unwrap_or(i64::MAX)),
                            Operand::kept_as(&element, item),
                        )
                    }),
                )?
            }
            Value::Bytes(bytes) => self.iterate(
                branch,
                bytes.iter().enumerate().map(|(index, byte)| {
                    let item = Value::Uint(crate::value::UintKind::Uint8, u64::from(*byte));
                    (Value::int(i64::try_from(index).unwrap_or(i64::MAX)), Operand::concrete(item))
                }),
            )?,
            Value::Map(map) => {
                let element = map.go_type().element();
                self.iterate(
                    branch,
                    map.to_vec()
                        .into_iter()
                        .map(|(key, value)| (Value::Str(key), Operand::kept_as(&element, value))),
                )?
            }
            _ => return Err(self.fail(format!("range can't iterate over {}", self.show(&ranged)))),
        };
        self.unless(ran, dot, branch)
    }

    /// The `else` of a range that had nothing to walk.
    fn unless(&mut self, ran: bool, dot: &Operand, branch: &'t Branch) -> Result<Flow, Error> {
        match &branch.otherwise {
            Some(otherwise) if !ran => self.nodes(dot, otherwise),
            _ => Ok(Flow::Next),
        }
    }

    fn refuse_two_variables(&self, branch: &Branch, ranged: &Value) -> Result<(), Error> {
        if branch.pipe.declared.len() > 1 {
            let shown = self.show(ranged);
            return Err(self.fail(format!("can't use {shown} to iterate over more than one variable")));
        }
        Ok(())
    }

    /// Runs the body for each key and element; whether there was one.
    fn iterate(
        &mut self,
        branch: &'t Branch,
        elements: impl Iterator<Item = (Value, Operand)>,
    ) -> Result<bool, Error> {
        let mut ran = false;
        for (key, element) in elements {
            ran = true;
            self.step()?;
            match &branch.pipe.declared[..] {
                [] => {}
                [variable] => self.set_variable(variable.slot, element.clone()),
                [first, second, ..] => {
                    self.set_variable(first.slot, Operand::concrete(key));
                    self.set_variable(second.slot, element.clone());
                }
            }
            if self.nodes(&element, &branch.body)? == Flow::Break {
                break;
            }
        }
        Ok(ran)
    }

    fn call_template(&mut self, dot: &Operand, call: &'t TemplateCall) -> Result<Flow, Error> {
        self.site = Site::Template(call);
        let Some(template) = self.context.template(&call.name) else {
            return Err(self.fail(format!("template {} not defined", quoted(&call.name))));
        };
        self.step()?;
        let dot = match &call.pipe {
            Some(pipe) => self.pipeline(dot, pipe)?,
            None => Operand::default(),
        };
        self.site = Site::Template(call);
        if let Err(reason) = self.context.enter() {
            return Err(self.fail_with(ErrorKind::Limit, reason));
        }
        self.mark(call.position, false);
        let trace = self.trace.take();
        self.template(template, &dot)?;
        self.trace = trace;
        self.context.leave();
        Ok(Flow::Next)
    }

    /// Counts a step against the limits.
    fn step(&mut self) -> Result<(), Error> {
        if self.context.is_too_deep() {
            return Err(self.fail_with(ErrorKind::Limit, "template is nested too deep"));
        }
        self.context.spend(1).map_err(|error| self.fail_with(ErrorKind::Limit, error.text()))
    }

    /// A value as `%v` prints it, for a message.
    fn show(&self, value: &Value) -> String {
        let text = sprint(std::slice::from_ref(value), self.context.options().limits.output);
        text.map_or_else(|error| error.to_string(), |text| String::from_utf8_lossy(&text).into_owned())
    }
}
