//! Variables while parsing: in go declarations and uses in the order of the text, out comes the
//! slot that execution keeps the variable in.
//!
//! Go looks variables up by name when it executes. Its parser lets a variable be used within its
//! own declaration, where execution finds an older one or none, so two lists are kept: the names
//! that the parser knows, and those that execution will have.

use std::collections::HashMap;

use super::node::Slot;

/// The variables of one template.
pub(super) struct Scope<'t> {
    names: HashMap<&'t [u8], Variable, foldhash::fast::RandomState>,
    /// Names in the order in which the parser met their declarations.
    known: Vec<&'t [u8]>,
    /// Names in the order in which execution declares them: the slot is the place in here.
    live: Vec<&'t [u8]>,
    most: usize,
}

#[derive(Default)]
struct Variable {
    known: usize,
    slots: Vec<u32>,
}

/// Number of variables.
#[derive(Clone, Copy)]
pub(super) struct Mark {
    known: usize,
    live: usize,
}

impl<'t> Scope<'t> {
    /// A scope with `$` in slot 0.
    pub(super) fn new() -> Self {
        let mut scope = Self { names: HashMap::default(), known: Vec::new(), live: Vec::new(), most: 0 };
        scope.know(b"$");
        scope.declare(b"$");
        scope
    }

    pub(super) fn mark(&self) -> Mark {
        Mark { known: self.known.len(), live: self.live.len() }
    }

    /// Forgets what was declared since.
    pub(super) fn reset(&mut self, mark: Mark) {
        for name in self.known.drain(mark.known..) {
            if let Some(variable) = self.names.get_mut(name) {
                variable.known -= 1;
            }
        }
        self.leave(mark);
    }

    /// Takes back the slots given since, where execution does not come by: the parser goes on to know the names, as
    /// those of a body in the `else` after it.
    pub(super) fn leave(&mut self, mark: Mark) {
        for name in self.live.drain(mark.live..) {
            if let Some(variable) = self.names.get_mut(name) {
                variable.slots.pop();
            }
        }
    }

    /// Notes that the text declares `name`, before its value is parsed.
    pub(super) fn know(&mut self, name: &'t [u8]) {
        self.names.entry(name).or_default().known += 1;
        self.known.push(name);
    }

    pub(super) fn is_known(&self, name: &[u8]) -> bool {
        self.names.get(name).is_some_and(|variable| variable.known > 0)
    }

    /// Gives `name` a slot, after its value has been parsed.
    pub(super) fn declare(&mut self, name: &'t [u8]) -> Slot {
        let slot = u32::try_from(self.live.len()).ok()?;
        self.names.entry(name).or_default().slots.push(slot);
        self.live.push(name);
        self.most = self.most.max(self.live.len());
        Some(slot)
    }

    /// The slot that `name` has now.
    pub(super) fn slot(&self, name: &[u8]) -> Slot {
        self.names.get(name)?.slots.last().copied()
    }

    /// Returns how many slots were in use at once.
    pub(super) fn most(&self) -> usize {
        self.most
    }
}
