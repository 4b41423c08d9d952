//! The functions that templates know: in go tables, out comes the function of a name.

use std::collections::HashMap;
use std::fmt;

use crate::builtins;
use crate::function::Function;

/// Functions by name, Go's own among them.
#[derive(Clone)]
pub struct Functions(HashMap<&'static [u8], &'static Function, foldhash::fast::FixedState>);

impl Functions {
    /// Go's own functions and those of `tables`. Of two with one name the later counts.
    #[must_use]
    pub fn new(tables: &[&'static [Function]]) -> Self {
        let all = std::iter::once(builtins::FUNCS).chain(tables.iter().copied());
        Self(all.flatten().map(|function| (function.name.as_bytes(), function)).collect())
    }

    /// The names, in no order.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.0.values().map(|function| function.name)
    }

    pub(crate) fn get(&self, name: &[u8]) -> Option<&'static Function> {
        self.0.get(name).copied()
    }
}

impl fmt::Debug for Functions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} functions", self.0.len())
    }
}
