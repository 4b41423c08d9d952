//! Versions and the constraints that they satisfy.

use super::args::lossy;
use crate::context::Context;
use crate::error::CallError;
use crate::function::Function;
use crate::semver::{Constraints, SharedVersion, Version};
use crate::value::{Type, Value};

pub(super) const FUNCS: &[Function] = &[
    Function::new("semver", &[Type::String], semver),
    Function::new("semverCompare", &[Type::String, Type::String], semver_compare),
];

fn semver(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let version = Version::parse(&lossy(args, 0)).map_err(|error| error.to_string())?;
    Ok(SharedVersion::pointer(version))
}

fn semver_compare(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let constraints = Constraints::parse(&lossy(args, 0)).map_err(|error| error.to_string())?;
    let version = Version::parse(&lossy(args, 1)).map_err(|error| error.to_string())?;
    Ok(constraints.check(&version).into())
}
