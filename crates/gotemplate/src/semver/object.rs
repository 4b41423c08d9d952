//! Versions as values of templates, with the methods that the Go type has.

use std::any::Any;
use std::cmp::Ordering;
use std::rc::Rc;

use super::{InvalidVersion, Version};
use crate::context::Context;
use crate::error::CallError;
use crate::function::Function;
use crate::value::{Object, Str, Type, UintKind, Value};

const STRUCT: Type = Type::Named("semver.Version", &Type::Struct);
const POINTER: Type = Type::Pointer(&STRUCT);

/// A `*semver.Version`, or a `semver.Version`, which lacks some methods.
#[derive(Clone, Debug)]
pub(crate) struct SharedVersion {
    version: Rc<Version>,
    pointer: bool,
}

impl SharedVersion {
    /// A `*semver.Version`.
    pub(crate) fn pointer(version: Version) -> Value {
        Value::object(Self { version: Rc::new(version), pointer: true })
    }

    fn plain(version: Version) -> Value {
        Value::object(Self { version: Rc::new(version), pointer: false })
    }
}

impl Object for SharedVersion {
    fn go_type(&self) -> Type {
        if self.pointer { POINTER } else { STRUCT }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn method(&self, name: &str) -> Option<&'static Function> {
        let pointer_only = POINTER_METHODS.iter().filter(|_| self.pointer);
        METHODS.iter().chain(pointer_only).find(|function| function.name() == name)
    }

    fn text(&self) -> Option<Str> {
        Some(self.version.to_string().into())
    }

    fn marshalled(&self) -> Option<Value> {
        Some(self.version.to_string().into())
    }

    fn fields(&self) -> Vec<(&'static str, Value)> {
        let number = |number| Value::Uint(UintKind::Uint64, number);
        let version = &self.version;
        vec![
            ("major", number(version.major)),
            ("minor", number(version.minor)),
            ("patch", number(version.patch)),
            ("pre", version.prerelease.as_str().into()),
            ("metadata", version.metadata.as_str().into()),
            ("original", version.original.as_str().into()),
        ]
    }

    fn equals(&self, other: &dyn Object) -> bool {
        other.as_any().downcast_ref::<Self>().is_some_and(|other| {
            self.version.to_string() == other.version.to_string()
                && self.version.original == other.version.original
        })
    }
}

const METHODS: &[Function] = &[
    Function::new("IncMajor", &[], |_, args| increased(args, "major", Version::next_major)),
    Function::new("IncMinor", &[], |_, args| increased(args, "minor", Version::next_minor)),
    Function::new("IncPatch", &[], |_, args| increased(args, "patch", Version::next_patch)),
    Function::new("Major", &[], |_, args| number(args, Version::major)),
    Function::new("Metadata", &[], |_, args| Ok(receiver(args)?.metadata().into())),
    Function::new("Minor", &[], |_, args| number(args, Version::minor)),
    Function::new("Patch", &[], |_, args| number(args, Version::patch)),
    Function::new("Prerelease", &[], |_, args| Ok(receiver(args)?.prerelease().into())),
    Function::new("SetMetadata", &[Type::String], |_, args| changed(args, Version::with_metadata)),
    Function::new("SetPrerelease", &[Type::String], |_, args| changed(args, Version::with_prerelease)),
    Function::new("String", &[], |_, args| Ok(receiver(args)?.to_string().into())),
];

const POINTER_METHODS: &[Function] = &[
    Function::new("Compare", &[POINTER], |_, args| Ok(Value::int(compared(args)? as i64))),
    Function::new("Equal", &[POINTER], equal),
    Function::new("GreaterThan", &[POINTER], |_, args| Ok(compared(args)?.is_gt().into())),
    Function::new("GreaterThanEqual", &[POINTER], |_, args| Ok(compared(args)?.is_ge().into())),
    Function::new("LessThan", &[POINTER], |_, args| Ok(compared(args)?.is_lt().into())),
    Function::new("LessThanEqual", &[POINTER], |_, args| Ok(compared(args)?.is_le().into())),
    Function::new("Original", &[], |_, args| Ok(receiver(args)?.original().into())),
];

fn version_at(args: &[Value], index: usize) -> Result<&Version, CallError> {
    let shared = args.get(index).and_then(Value::as_object::<SharedVersion>);
    shared
        .map(|shared| &*shared.version)
        .ok_or_else(|| CallError::new("runtime error: invalid memory address or nil pointer dereference"))
}

fn receiver(args: &[Value]) -> Result<&Version, CallError> {
    version_at(args, 0)
}

fn number(args: &[Value], part: impl Fn(&Version) -> u64) -> Result<Value, CallError> {
    Ok(Value::Uint(UintKind::Uint64, part(receiver(args)?)))
}

fn increased(
    args: &[Value],
    part: &str,
    next: impl Fn(&Version) -> Option<Version>,
) -> Result<Value, CallError> {
    let next =
        next(receiver(args)?).ok_or_else(|| format!("{part} version increment would overflow uint64"))?;
    Ok(SharedVersion::plain(next))
}

fn changed(
    args: &[Value],
    change: impl Fn(&Version, &str) -> Result<Version, InvalidVersion>,
) -> Result<Value, CallError> {
    let text = args[1].as_str().map(Str::to_string).unwrap_or_default();
    Ok(SharedVersion::plain(change(receiver(args)?, &text).map_err(|error| error.to_string())?))
}

fn compared(args: &[Value]) -> Result<Ordering, CallError> {
    Ok(receiver(args)?.compare(version_at(args, 1)?))
}

fn equal(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    Ok(compared(args).is_ok_and(Ordering::is_eq).into())
}
