//! Calls: in go a function or method and the nodes of its arguments, out comes its result.

use super::eval::zero;
use super::site::Site;
use super::{Executor, Operand};
use crate::error::{CallError, Error};
use crate::function::{Form, Function};
use crate::syntax::{Show, Term};
use crate::value::{IntKind, Kind, Type, UintKind, Value};
use crate::watch::{Event, is_exponential};

impl<'t> Executor<'t> {
    /// Calls `function` with `args` and, after them, the result of the command before in the
    /// pipeline. An error that the function returns is at `site`.
    pub(super) fn call(
        &mut self,
        dot: &Operand,
        function: &'static Function,
        receiver: Option<Value>,
        site: Site<'t>,
        args: &'t [Term],
        last: Option<Operand>,
    ) -> Result<Operand, Error> {
        self.check_count(function, args.len(), last.is_some())?;
        if matches!(function.form, Form::And | Form::Or) {
            return self.call_logic(dot, function, args, last);
        }
        if function.form == Form::Call {
            return self.call_value(dot, function, site, args, last);
        }
        let base = self.arguments.len();
        self.arguments.extend(receiver);
        let mut nil_in_interface = false;
        for (index, arg) in args.iter().enumerate() {
            let operand = self.argument(dot, function.param(index), arg)?;
            nil_in_interface |= operand.boxed && matches!(operand.value, Value::Nil);
            self.arguments.push(passed(operand.value));
        }
        if let Some(last) = last {
            let operand = self.checked(last, function.param(args.len()))?;
            self.arguments.push(passed(operand.value));
        }
        if function.form == Form::Length && nil_in_interface {
            return Err(self.call_failed(function, site, "len of nil pointer".into()));
        }
        let result = (function.call)(&mut self.context, &self.arguments[base..]);
        self.watch_call(function, site, base, result.as_ref().ok());
        self.arguments.truncate(base);
        result.map(Operand::concrete).map_err(|error| self.call_failed(function, site, error))
    }

    /// Tells the host of a result that the next execution may not have, or that is a number with an exponent.
    fn watch_call(&self, function: &Function, site: Site<'t>, base: usize, result: Option<&Value>) {
        if self.context.take_unstable() {
            self.tell(Event::Unstable(function.name), site);
        }
        if let Some(Value::Str(text)) = result
            && self.arguments[base..].iter().any(is_exponential)
            && memchr::memmem::find(text, b"e+").is_some()
        {
            self.tell(Event::Exponent, site);
        }
    }

    fn call_failed(&mut self, function: &Function, site: Site<'t>, error: CallError) -> Error {
        self.site = site;
        Error::calling(self.place(), format!("error calling {}", function.name), error)
    }

    fn check_count(&self, function: &Function, args: usize, has_last: bool) -> Result<(), Error> {
        let name = function.name;
        let given = args + usize::from(has_last);
        let params = function.params.len();
        if function.variadic {
            let fixed = params - 1;
            if given < fixed {
                return Err(
                    self.fail(format!("wrong number of args for {name}: want at least {fixed} got {args}"))
                );
            }
        } else if given != params {
            return Err(self.fail(format!("wrong number of args for {name}: want {params} got {given}")));
        }
        Ok(())
    }

    /// `and` and `or`: the first value that decides, or the last. The others are not looked at.
    fn call_logic(
        &mut self,
        dot: &Operand,
        function: &'static Function,
        args: &'t [Term],
        last: Option<Operand>,
    ) -> Result<Operand, Error> {
        let mut value = Operand::default();
        for arg in args {
            value = self.argument(dot, &Type::Reflect, arg)?;
            if value.value.is_true() == (function.form == Form::Or) {
                return Ok(value);
            }
        }
        Ok(last.unwrap_or(value))
    }

    /// `call`. There are no values here that can be called, so it is a matter of saying so.
    fn call_value(
        &mut self,
        dot: &Operand,
        function: &'static Function,
        site: Site<'t>,
        args: &'t [Term],
        last: Option<Operand>,
    ) -> Result<Operand, Error> {
        let source = self.template.source;
        let name = match (args.first(), &last) {
            (Some(Term::Pipe(pipe)), _) => Show::Pipeline(source, pipe).to_string(),
            (Some(first), _) => Show::Term(source, first).to_string(),
            (None, Some(Operand { value: Value::Str(text), .. })) => text.to_string(),
            (None, Some(last)) if last.is_invalid() => "<invalid Value>".to_owned(),
            (None, last) => format!("<{} Value>", last.as_ref().map(Operand::type_name).unwrap_or_default()),
        };
        let mut callee = last;
        for (index, arg) in args.iter().enumerate() {
            let value = self.argument(dot, &Type::Reflect, arg)?;
            if index == 0 {
                callee = Some(value);
            }
        }
        let reason = match callee.map(|callee| callee.value) {
            None | Some(Value::Nil) => "call of nil".to_owned(),
            Some(value) => format!("non-function {name} of type {}", value.type_name()),
        };
        Err(self.call_failed(function, site, reason.into()))
    }

    /// The value of an argument for a parameter of type `ty`.
    fn argument(&mut self, dot: &Operand, ty: &'static Type, term: &'t Term) -> Result<Operand, Error> {
        self.site = Site::Term(term);
        let value = match term {
            Term::Dot(_) => dot.clone(),
            Term::Nil(_) => {
                if ty.can_be_nil() {
                    return Ok(Operand::concrete(zero(ty)));
                }
                return Err(self.fail(format!("cannot assign nil to {ty}")));
            }
            Term::Field { names, .. } => self.fields(dot, dot, names, term, &[], None)?,
            Term::Variable { .. } => self.variable(dot, term, &[], None)?,
            Term::Pipe(pipe) => self.pipeline(dot, pipe)?,
            Term::Function(_, function) => self.call(dot, function, None, Site::Term(term), &[], None)?,
            Term::Chain { .. } => self.chain(dot, term, &[], None)?,
            Term::Bool(..) | Term::Number(..) | Term::String(..) => {
                return self.literal_as(dot, ty, term).map(Operand::concrete);
            }
        };
        self.checked(value, ty)
    }

    /// A literal for a parameter of type `ty`.
    fn literal_as(&self, dot: &Operand, ty: &Type, term: &Term) -> Result<Value, Error> {
        let expected = match (ty.kind(), term) {
            (Kind::Interface, _) => return self.literal(dot, term).map(|operand| operand.value),
            (Kind::Struct, _) if *ty == Type::Reflect => {
                return self.literal(dot, term).map(|operand| operand.value);
            }
            (Kind::String, Term::String(_, text)) => return Ok(Value::Str(text.clone())),
            (Kind::Bool, Term::Bool(_, truth)) => return Ok(Value::Bool(*truth)),
            (Kind::Int(kind), Term::Number(_, number)) if number.int.is_some() => {
                return Ok(Value::Int(kind, fitted(kind, number.int.unwrap_or(0))));
            }
            (Kind::Uint(kind), Term::Number(_, number)) if number.uint.is_some() => {
                return Ok(Value::Uint(kind, fitted_unsigned(kind, number.uint.unwrap_or(0))));
            }
            (Kind::Float64, Term::Number(_, number)) if number.float.is_some() => {
                return Ok(Value::Float(number.float.unwrap_or(0.0)));
            }
            (Kind::Complex128, Term::Number(_, number)) if number.complex.is_some() => {
                let (real, imaginary) = number.complex.unwrap_or((0.0, 0.0));
                return Ok(Value::Complex(real, imaginary));
            }
            (Kind::String, _) => "string",
            (Kind::Bool, _) => "bool",
            (Kind::Int(_), _) => "integer",
            (Kind::Uint(_), _) => "unsigned integer",
            (Kind::Float64, _) => "float",
            (Kind::Complex128, _) => "complex",
            _ => {
                let shown = Show::Term(self.template.source, term);
                return Err(self.fail(format!("can't handle {shown} for arg of type {ty}")));
            }
        };
        let shown = Show::Term(self.template.source, term);
        Err(self.fail(format!("expected {expected}; found {shown}")))
    }

    /// The value, if Go would assign it to a variable of type `ty`.
    fn checked(&self, operand: Operand, ty: &Type) -> Result<Operand, Error> {
        match (&operand.value, ty) {
            (_, Type::Any | Type::Reflect)
            | (Value::Str(_), Type::String)
            | (Value::Bool(_), Type::Bool)
            | (Value::Float(_), Type::Float64) => return Ok(operand),
            (Value::Nil, _) if operand.is_invalid() => {
                if ty.can_be_nil() {
                    return Ok(Operand::concrete(zero(ty)));
                }
                return Err(self.fail(format!("invalid value; expected {ty}")));
            }
            (value, _) if value.type_of().is_some_and(|from| from.assignable_to(ty)) => return Ok(operand),
            _ => {}
        }
        let got = if matches!(operand.value, Value::Nil) {
            Type::Any.to_string()
        } else {
            operand.value.type_name()
        };
        Err(self.fail(format!("wrong type for value; expected {ty}; got {got}")))
    }
}

/// A value as a function gets it.
fn passed(value: Value) -> Value {
    match &value {
        Value::Object(object) => object.passed().unwrap_or(value),
        _ => value,
    }
}

/// A number cut to the size of its kind.
fn fitted(kind: IntKind, number: i64) -> i64 {
    match kind {
        IntKind::Int | IntKind::Int64 => number,
        IntKind::Int8 => i64::from(number as i8),
        IntKind::Int16 => i64::from(number as i16),
        IntKind::Int32 => i64::from(number as i32),
    }
}

/// The same without a sign.
fn fitted_unsigned(kind: UintKind, number: u64) -> u64 {
    match kind {
        UintKind::Uint | UintKind::Uint64 => number,
        UintKind::Uint8 => u64::from(number as u8),
        UintKind::Uint16 => u64::from(number as u16),
        UintKind::Uint32 => u64::from(number as u32),
    }
}
