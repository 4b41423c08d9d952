//! Stopping a template on purpose.

use super::args::lossy;
use crate::Context;
use crate::error::CallError;
use crate::function::Function;
use crate::value::{Type, Value};

pub(super) const FUNCS: &[Function] = &[Function::new("fail", &[Type::String], fail)];

fn fail(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    Err(lossy(args, 0).into())
}
