//! Values while `--set` and its like change them: owned, table by table as deep as they reach.

use std::collections::BTreeMap;
use std::sync::Arc;

use compact_str::CompactString;
use yamltree::Span;

use super::table::{Data, Item, Table};

/// A table that is changed.
pub(super) type Fields = BTreeMap<CompactString, Draft>;

/// A value that is changed, or one that still is as it was read.
#[derive(Clone, Debug)]
pub(super) enum Draft {
    Item(Item),
    List(Vec<Draft>, Span),
    Table(Fields, Span),
}

impl Draft {
    pub(super) fn null() -> Self {
        Self::Item(Item { data: Data::Null, span: Span::NONE })
    }

    /// The fields of a table, to change them.
    pub(super) fn fields_mut(&mut self) -> Option<&mut Fields> {
        if let Self::Item(Item { data: Data::Table(table), span }) = self {
            *self = Self::Table(fields(table), *span);
        }
        match self {
            Self::Table(fields, _) => Some(fields),
            _ => None,
        }
    }

    /// The items of a list, to change them.
    pub(super) fn items_mut(&mut self) -> Option<&mut Vec<Self>> {
        if let Self::Item(Item { data: Data::List(items), span }) = self {
            *self = Self::List(items.iter().cloned().map(Self::Item).collect(), *span);
        }
        match self {
            Self::List(items, _) => Some(items),
            _ => None,
        }
    }

    pub(super) fn is_null(&self) -> bool {
        matches!(self, Self::Item(item) if item.data.is_null())
    }

    /// The type as Go's `%T` prints it.
    pub(super) fn type_name(&self) -> &'static str {
        match self {
            Self::Item(item) => item.data.type_name(),
            Self::List(..) => "[]interface {}",
            Self::Table(..) => "map[string]interface {}",
        }
    }

    fn freeze(self) -> Item {
        match self {
            Self::Item(item) => item,
            Self::List(items, span) => {
                let items = items.into_iter().map(Self::freeze).collect();
                Item { data: Data::List(Arc::new(items)), span }
            }
            Self::Table(fields, span) => Item { data: Data::Table(freeze(fields)), span },
        }
    }
}

/// The fields of a table.
pub(super) fn fields(table: &Table) -> Fields {
    table.entries().iter().map(|(key, item)| (key.clone(), Draft::Item(item.clone()))).collect()
}

/// The table that its fields have become.
pub(super) fn freeze(fields: Fields) -> Table {
    Table::from_sorted(fields.into_iter().map(|(key, draft)| (key, draft.freeze())).collect())
}
