//! Pipelines, commands, variables and fields: in goes a node and dot, out comes the value.

use gostd::quoted;

use super::site::Site;
use super::{Executor, Operand};
use crate::context::MissingKey;
use crate::error::Error;
use crate::syntax::{Command, Ideal, Number, Pipeline, Show, Span, Term};
use crate::value::{Kind, List, Map, Object, Str, Type, Value};

impl<'t> Executor<'t> {
    /// The value of a pipeline. What it declares is set on the way.
    pub(super) fn pipeline(&mut self, dot: &Operand, pipe: &'t Pipeline) -> Result<Operand, Error> {
        self.site = Site::Pipeline(pipe);
        self.step()?;
        let mut result = None;
        for command in &pipe.commands {
            let mut value = self.command(dot, command, result)?;
            value.boxed = false;
            result = Some(value);
        }
        let result = result.unwrap_or_default();
        for declared in &pipe.declared {
            if declared.slot.is_none() {
                return Err(self.undefined(declared.name));
            }
            self.set_variable(declared.slot, result.clone());
        }
        Ok(result)
    }

    pub(super) fn set_variable(&mut self, slot: Option<u32>, value: Operand) {
        if let Some(slot) = slot {
            self.variables[self.base + slot as usize] = Some(value);
        }
    }

    fn undefined(&self, name: Span) -> Error {
        let name = String::from_utf8_lossy(self.template.source.slice(name));
        self.fail(format!("undefined variable: {name}"))
    }

    fn command(
        &mut self,
        dot: &Operand,
        command: &'t Command,
        last: Option<Operand>,
    ) -> Result<Operand, Error> {
        let [first, args @ ..] = &command.terms[..] else { return Ok(Operand::default()) };
        match first {
            Term::Field { names, .. } => {
                self.site = Site::Term(first);
                self.fields(dot, dot, names, first, args, last)
            }
            Term::Variable { .. } => self.variable(dot, first, args, last),
            Term::Chain { .. } => self.chain(dot, first, args, last),
            Term::Function(_, function) => {
                self.site = Site::Term(first);
                self.call(dot, function, None, Site::Command(command), args, last)
            }
            Term::Pipe(pipe) => {
                self.refuse_arguments(first, args, last.as_ref())?;
                self.pipeline(dot, pipe)
            }
            Term::Dot(_) | Term::Nil(_) | Term::Bool(..) | Term::Number(..) | Term::String(..) => {
                self.site = Site::Term(first);
                self.refuse_arguments(first, args, last.as_ref())?;
                self.literal(dot, first)
            }
        }
    }

    /// Go's complaint about a first word that is no function but has arguments.
    fn refuse_arguments(&self, first: &Term, args: &[Term], last: Option<&Operand>) -> Result<(), Error> {
        if args.is_empty() && last.is_none() {
            return Ok(());
        }
        let shown = Show::Term(self.template.source, first);
        Err(self.fail(format!("can't give argument to non-function {shown}")))
    }

    /// The value of a literal where nothing asks for a type.
    pub(super) fn literal(&self, dot: &Operand, term: &Term) -> Result<Operand, Error> {
        Ok(match term {
            Term::Dot(_) => dot.clone(),
            Term::Bool(_, truth) => Operand::concrete(Value::Bool(*truth)),
            Term::String(_, text) => Operand::concrete(Value::Str(text.clone())),
            Term::Number(span, number) => Operand::concrete(self.ideal(*span, number)?),
            _ => return Err(self.fail("nil is not a command")),
        })
    }

    fn ideal(&self, span: Span, number: &Number) -> Result<Value, Error> {
        let value = match number.ideal {
            Ideal::Complex => number.complex.map(|(real, imaginary)| Value::Complex(real, imaginary)),
            Ideal::Float => number.float.map(Value::Float),
            Ideal::Int => number.int.map(Value::int),
            Ideal::Overflow => None,
        };
        value.ok_or_else(|| {
            let text = String::from_utf8_lossy(self.template.source.slice(span));
            self.fail(format!("{text} overflows int"))
        })
    }

    /// `$x`, with its fields.
    pub(super) fn variable(
        &mut self,
        dot: &Operand,
        term: &'t Term,
        args: &'t [Term],
        last: Option<Operand>,
    ) -> Result<Operand, Error> {
        let Term::Variable { name, slot, fields, .. } = term else { return Ok(Operand::default()) };
        self.site = Site::Term(term);
        let value = slot.and_then(|slot| self.variables[self.base + slot as usize].clone());
        let Some(value) = value else { return Err(self.undefined(*name)) };
        if fields.is_empty() {
            self.refuse_arguments(term, args, last.as_ref())?;
            return Ok(value);
        }
        self.fields(dot, &value, fields, term, args, last)
    }

    /// `(pipe).field`.
    pub(super) fn chain(
        &mut self,
        dot: &Operand,
        term: &'t Term,
        args: &'t [Term],
        last: Option<Operand>,
    ) -> Result<Operand, Error> {
        let Term::Chain { base, fields, .. } = term else { return Ok(Operand::default()) };
        self.site = Site::Term(term);
        let value = match &**base {
            Term::Pipe(pipe) => {
                self.site = Site::Term(base);
                self.pipeline(dot, pipe)?
            }
            Term::Function(_, function) => {
                self.site = Site::Term(base);
                self.call(dot, function, None, Site::Term(base), &[], None)?
            }
            _ => return Err(self.fail("nil is not a command")),
        };
        self.fields(dot, &value, fields, term, args, last)
    }

    /// `.a.b.c` from `receiver` on. Arguments are for the last of them, if that is a method.
    pub(super) fn fields(
        &mut self,
        dot: &Operand,
        receiver: &Operand,
        names: &'t [Span],
        term: &'t Term,
        args: &'t [Term],
        last: Option<Operand>,
    ) -> Result<Operand, Error> {
        let [inner @ .., name] = names else { return Ok(receiver.clone()) };
        let Some((first, rest)) = inner.split_first() else {
            return self.field(dot, receiver, *name, term, args, last);
        };
        let mut value = self.field(dot, receiver, *first, term, &[], None)?;
        for name in rest {
            value = self.field(dot, &value, *name, term, &[], None)?;
        }
        self.field(dot, &value, *name, term, args, last)
    }

    fn field(
        &mut self,
        dot: &Operand,
        receiver: &Operand,
        name: Span,
        term: &'t Term,
        args: &'t [Term],
        last: Option<Operand>,
    ) -> Result<Operand, Error> {
        let span = name;
        let name = self.template.source.slice(span);
        let has_args = !args.is_empty() || last.is_some();
        match &receiver.value {
            Value::Nil => self.field_of_nil(receiver, name).map_err(|error| {
                error.missing(Show::Before(self.template.source, term, span.start).to_string())
            }),
            Value::Map(map) => self.entry(map, name, has_args),
            Value::Object(object) => {
                let text = std::str::from_utf8(name).unwrap_or_default();
                if let Some(method) = object.method(text) {
                    let bound = Some(receiver.value.clone());
                    return self.call(dot, method, bound, Site::Term(term), args, last);
                }
                if let Some(Value::Map(map)) = object.underlying() {
                    return self.entry(&map, name, has_args);
                }
                self.struct_field(receiver, &**object, text, has_args)
            }
            _ => Err(self.no_field(receiver, name)),
        }
    }

    fn field_of_nil(&self, receiver: &Operand, name: &[u8]) -> Result<Operand, Error> {
        if receiver.boxed {
            let name = String::from_utf8_lossy(name);
            return Err(self.fail(format!("nil pointer evaluating interface {{}}.{name}")));
        }
        if self.context.options().missing_key == MissingKey::Error {
            return Err(self.fail(format!("nil data; no entry for key {}", quoted(name))));
        }
        Ok(Operand::default())
    }

    fn no_field(&self, receiver: &Operand, name: &[u8]) -> Error {
        let name = String::from_utf8_lossy(name);
        self.fail(format!("can't evaluate field {name} in type {}", receiver.type_name()))
    }

    /// The entry of a map.
    fn entry(&self, map: &Map, name: &[u8], has_args: bool) -> Result<Operand, Error> {
        if has_args {
            let name = String::from_utf8_lossy(name);
            return Err(self.fail(format!("{name} is not a method but has arguments")));
        }
        let element = map.go_type().element();
        if let Some(value) = map.get(name) {
            return Ok(Operand::kept_as(&element, value));
        }
        match self.context.options().missing_key {
            MissingKey::Default => Ok(Operand::default()),
            MissingKey::Zero => Ok(Operand::kept_as(&element, zero(&element))),
            MissingKey::Error => Err(self.fail(format!("map has no entry for key {}", quoted(name)))),
        }
    }

    fn struct_field(
        &self,
        receiver: &Operand,
        object: &dyn Object,
        name: &str,
        has_args: bool,
    ) -> Result<Operand, Error> {
        let field = if object.is_nil() { None } else { object.field(name) };
        let Some(value) = field else {
            if object.is_nil() && object.go_type().kind() == Kind::Ptr {
                return Err(self.fail(format!("nil pointer evaluating {}.{name}", receiver.type_name())));
            }
            return Err(self.no_field(receiver, name.as_bytes()));
        };
        if has_args {
            return Err(self.fail(format!("{name} has arguments but cannot be invoked as function")));
        }
        let boxed = matches!(value, Value::Nil);
        Ok(Operand { value, boxed })
    }
}

/// The value that a variable of type `ty` has before anything is put in it.
pub(crate) fn zero(ty: &Type) -> Value {
    match ty.underlying() {
        Type::Bool => Value::Bool(false),
        Type::Int(kind) => Value::Int(*kind, 0),
        Type::Uint(kind) => Value::Uint(*kind, 0),
        Type::Float64 => Value::Float(0.0),
        Type::Complex128 => Value::Complex(0.0, 0.0),
        Type::String => Value::Str(Str::default()),
        Type::Slice(_) => Value::List(List::nil(*ty)),
        Type::Map(_) => Value::Map(Map::nil(*ty)),
        Type::Any | Type::Reflect | Type::Struct | Type::Pointer(_) | Type::Named(..) => Value::Nil,
    }
}
