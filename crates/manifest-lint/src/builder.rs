//! A finding under construction. It still holds its object, by which it can be suppressed.

use argocd::objects::Object;
use findings::{Finding, Rule, Severity};
use yamltree::{Location, Node};

use crate::index::Index;

/// A finding of a rule.
#[derive(Debug)]
pub(crate) struct FindingBuilder<'s> {
    /// The number of the target.
    pub(crate) target: usize,
    pub(crate) target_name: &'s str,
    pub(crate) severity: Severity,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
    pub(crate) location: Option<Location>,
    pub(crate) object: Option<&'s Object>,
    pub(crate) field: Option<String>,
}

impl<'s> FindingBuilder<'s> {
    /// Starts a finding about an object.
    pub(crate) fn new(index: &Index<'s>, target: usize, object: &'s Object, severity: Severity) -> Self {
        Self {
            target,
            target_name: &index.set.targets[target].name,
            severity,
            message: String::new(),
            hint: None,
            location: object.place(),
            object: Some(object),
            field: None,
        }
    }

    /// Sets the message.
    pub(crate) fn message(mut self, message: impl Into<String>) -> Self {
        self.message = message.into();
        self
    }

    /// Sets a hint that replaces the rule's own.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Sets the field, with the location of its node.
    pub(crate) fn field(mut self, path: impl Into<String>, node: &Node) -> Self {
        self.location = self.object.and_then(|object| object.place_of(node)).or(self.location);
        self.field = Some(path.into());
        self
    }

    /// Sets the location.
    pub(crate) fn at(mut self, location: Option<Location>) -> Self {
        self.location = location.or(self.location);
        self
    }

    pub(crate) fn finding(self, rule: &'static Rule, fix: &str) -> Finding {
        Finding {
            rule,
            severity: self.severity,
            message: self.message,
            hint: Some(self.hint.unwrap_or_else(|| fix.to_owned())),
            location: self.location,
            object: self.object.map(titled),
            field: self.field,
            target: self.target_name.to_owned(),
        }
    }
}

/// Returns the title of an object: `Deployment shop/web`.
pub(crate) fn titled(object: &Object) -> String {
    let name = match object.name() {
        "" => format!("{}*", object.generate_name()),
        name => name.to_owned(),
    };
    match object.namespace() {
        "" => format!("{} {name}", object.kind()),
        namespace => format!("{} {namespace}/{name}", object.kind()),
    }
}
