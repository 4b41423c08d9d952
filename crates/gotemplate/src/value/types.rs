//! Go's types and kinds, and their names.

use std::fmt;

/// A Go type, as far as templates can meet it. Its text is that of `%T` and of Go's error messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// `interface {}`, which takes every value.
    Any,
    /// `reflect.Value`: as `Any`, for a function that wants to see what kind of nil it gets.
    Reflect,
    Bool,
    Int(IntKind),
    Uint(UintKind),
    Float64,
    Complex128,
    String,
    /// A slice of such elements.
    Slice(&'static Self),
    /// A map from `string` to such elements.
    Map(&'static Self),
    /// A struct without a name.
    Struct,
    /// A pointer to such a value.
    Pointer(&'static Self),
    /// A named type, as `time.Duration`, and the type it was defined as.
    Named(&'static str, &'static Self),
}

impl Type {
    /// `int`.
    pub const INT: Self = Self::Int(IntKind::Int);
    /// `int64`.
    pub const INT64: Self = Self::Int(IntKind::Int64);
    /// `[]uint8`.
    pub const BYTES: Self = Self::Slice(&Self::Uint(UintKind::Uint8));
    /// `[]interface {}`.
    pub const LIST: Self = Self::Slice(&Self::Any);
    /// `[]string`.
    pub const STRINGS: Self = Self::Slice(&Self::String);
    /// `map[string]interface {}`.
    pub const MAP: Self = Self::Map(&Self::Any);
    /// `map[string]string`.
    pub const STRING_MAP: Self = Self::Map(&Self::String);

    /// The kind that Go's reflection gives for it.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self {
            Self::Any => Kind::Interface,
            Self::Reflect | Self::Struct => Kind::Struct,
            Self::Bool => Kind::Bool,
            Self::Int(kind) => Kind::Int(*kind),
            Self::Uint(kind) => Kind::Uint(*kind),
            Self::Float64 => Kind::Float64,
            Self::Complex128 => Kind::Complex128,
            Self::String => Kind::String,
            Self::Slice(_) => Kind::Slice,
            Self::Map(_) => Kind::Map,
            Self::Pointer(_) => Kind::Ptr,
            Self::Named(_, underlying) => underlying.kind(),
        }
    }

    /// The type that a named type was defined as, and every other type itself.
    #[must_use]
    pub fn underlying(&self) -> &Self {
        match self {
            Self::Named(_, underlying) => underlying.underlying(),
            _ => self,
        }
    }

    /// Returns what a slice or map holds, `Any` for other types.
    #[must_use]
    pub fn element(&self) -> Self {
        match self.underlying() {
            Self::Slice(element) | Self::Map(element) => **element,
            _ => Self::Any,
        }
    }

    /// Returns true if Go assigns a value of this type to a variable of type `to`.
    #[must_use]
    pub fn assignable_to(&self, to: &Self) -> bool {
        match to {
            Self::Any => true,
            _ if self == to => true,
            Self::Named(..) if matches!(self, Self::Named(..)) => false,
            // A type literal and a type defined by it are assignable, but `int` has a name itself.
            Self::Slice(_) | Self::Map(_) | Self::Named(..) => {
                let plain = to.underlying();
                matches!(plain, Self::Slice(_) | Self::Map(_)) && self.underlying() == plain
            }
            _ => false,
        }
    }

    /// Returns true if nil is a value of this type.
    #[must_use]
    pub fn can_be_nil(&self) -> bool {
        matches!(self, Self::Reflect)
            || matches!(self.kind(), Kind::Interface | Kind::Map | Kind::Ptr | Kind::Slice)
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("interface {}"),
            Self::Reflect => f.write_str("reflect.Value"),
            Self::Slice(element) => write!(f, "[]{element}"),
            Self::Map(element) => write!(f, "map[string]{element}"),
            Self::Struct => f.write_str("struct {}"),
            Self::Pointer(element) => write!(f, "*{element}"),
            Self::Named(name, _) => f.write_str(name),
            Self::Bool | Self::Int(_) | Self::Uint(_) | Self::Float64 | Self::Complex128 | Self::String => {
                self.kind().fmt(f)
            }
        }
    }
}

/// The kinds of Go's reflection, as `kindOf` prints them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Invalid,
    Bool,
    Int(IntKind),
    Uint(UintKind),
    Float64,
    Complex128,
    String,
    Slice,
    Map,
    Struct,
    Ptr,
    Interface,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Invalid => "invalid",
            Self::Bool => "bool",
            Self::Int(kind) => kind.name(),
            Self::Uint(kind) => kind.name(),
            Self::Float64 => "float64",
            Self::Complex128 => "complex128",
            Self::String => "string",
            Self::Slice => "slice",
            Self::Map => "map",
            Self::Struct => "struct",
            Self::Ptr => "ptr",
            Self::Interface => "interface",
        })
    }
}

/// The sizes of signed integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IntKind {
    Int,
    Int8,
    Int16,
    Int32,
    Int64,
}

impl IntKind {
    fn name(self) -> &'static str {
        match self {
            Self::Int => "int",
            Self::Int8 => "int8",
            Self::Int16 => "int16",
            Self::Int32 => "int32",
            Self::Int64 => "int64",
        }
    }
}

/// The sizes of unsigned integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UintKind {
    Uint,
    Uint8,
    Uint16,
    Uint32,
    Uint64,
}

impl UintKind {
    fn name(self) -> &'static str {
        match self {
            Self::Uint => "uint",
            Self::Uint8 => "uint8",
            Self::Uint16 => "uint16",
            Self::Uint32 => "uint32",
            Self::Uint64 => "uint64",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALUES: Type = Type::Named("common.Values", &Type::MAP);
    const OTHER: Type = Type::Named("chart.Values", &Type::MAP);
    const DURATION: Type = Type::Named("time.Duration", &Type::INT64);

    #[test]
    fn assignability_is_that_of_the_go_specification() {
        assert!(VALUES.assignable_to(&Type::MAP));
        assert!(Type::MAP.assignable_to(&VALUES));
        assert!(VALUES.assignable_to(&VALUES));
        assert!(!VALUES.assignable_to(&OTHER));
        assert!(!DURATION.assignable_to(&Type::INT64));
        assert!(!Type::INT64.assignable_to(&DURATION));
        assert!(!Type::INT.assignable_to(&Type::INT64));
        assert!(!Type::STRINGS.assignable_to(&Type::LIST));
        assert!(Type::STRINGS.assignable_to(&Type::Any));
    }

    #[test]
    fn a_named_type_prints_its_name() {
        assert_eq!(VALUES.to_string(), "common.Values");
        assert_eq!(
            Type::Pointer(&Type::Named("semver.Version", &Type::Struct)).to_string(),
            "*semver.Version"
        );
        assert_eq!(Type::Slice(&Type::MAP).to_string(), "[]map[string]interface {}");
    }
}
