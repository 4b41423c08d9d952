//! Go structs as templates see them: a name, fields in their order, and what printing gives.

use std::any::Any;

use gotemplate::{Object, Str, Type, Value};

/// A struct that has fields and no methods.
#[derive(Debug)]
pub(super) struct Record {
    name: &'static str,
    fields: Vec<(&'static str, Value)>,
    text: Option<Str>,
}

impl Record {
    /// A struct of a type with this name.
    pub(super) fn new<const N: usize>(name: &'static str, fields: [(&'static str, Value); N]) -> Self {
        Self { name, fields: fields.into(), text: None }
    }

    /// Prints as its `String` method says.
    pub(super) fn printed(self, text: String) -> Self {
        Self { text: Some(text.into()), ..self }
    }

    pub(super) fn into_value(self) -> Value {
        Value::object(self)
    }
}

impl Object for Record {
    fn go_type(&self) -> Type {
        Type::Named(self.name, &Type::Struct)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn field(&self, name: &str) -> Option<Value> {
        self.fields.iter().find(|(field, _)| *field == name).map(|(_, value)| value.clone())
    }

    fn text(&self) -> Option<Str> {
        self.text.clone()
    }

    fn fields(&self) -> Vec<(&'static str, Value)> {
        self.fields.clone()
    }

    fn equals(&self, other: &dyn Object) -> bool {
        other.as_any().downcast_ref::<Self>().is_some_and(|other| {
            let mut pairs = self.fields.iter().zip(&other.fields);
            self.name == other.name && pairs.all(|((_, one), (_, another))| one.deep_equal(another))
        })
    }
}
