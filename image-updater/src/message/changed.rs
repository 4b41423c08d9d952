//! `.Changed` of Flux's templates: files, in them objects, in them values, and the two methods that list these without
//! the files. Flux walks them in the random order of Go's maps where it makes lists; here it is that of names.

use std::any::Any;
use std::collections::BTreeMap;

use gotemplate::{CallError, Context, Entries, Function, List, Map, Object, Str, Type, Value};

use super::data::line;
use super::record::Record;
use crate::change::{Change, Edit, ObjectId};

const CHANGE: Type = Type::Named("update.Change", &Type::Struct);
const CHANGES: Type = Type::Slice(&CHANGE);
const OBJECT_CHANGES: Type = Type::Named("update.ObjectChanges", &Type::Map(&CHANGES));
const FILE_CHANGES: Type = Type::Map(&OBJECT_CHANGES);

const METHODS: &[Function] =
    &[Function::new("Changes", &[], changes_of), Function::new("Objects", &[], objects_of)];

/// Flux's `update.Result`.
#[derive(Debug)]
struct Changed {
    files: Value,
    changes: Value,
    objects: Value,
}

/// Values by the object that they are in, whose key is a struct.
#[derive(Debug)]
struct ObjectChanges(Vec<(ObjectId, Value)>);

/// Returns what Flux's templates find in `.Changed`.
pub(super) fn value(changes: &[Change]) -> Value {
    let edits: Vec<&Edit> = changes.iter().flat_map(|change| &change.edits).collect();
    let mut files: BTreeMap<&str, Vec<&Edit>> = BTreeMap::new();
    for edit in &edits {
        files.entry(&edit.file).or_default().push(edit);
    }
    let file_changes: Entries =
        files.iter().map(|(file, edits)| (Str::from(line(file)), by_object(edits))).collect();
    let in_order: Vec<&Edit> = files.into_values().flatten().collect();
    Value::object(Changed {
        files: Value::Map(Map::typed(FILE_CHANGES, file_changes)),
        changes: distinct(&in_order),
        objects: by_object(&in_order),
    })
}

fn by_object(edits: &[&Edit]) -> Value {
    let mut objects: BTreeMap<ObjectId, Vec<Value>> = BTreeMap::new();
    for edit in edits {
        objects.entry(edit.object.clone().unwrap_or_default()).or_default().push(change(edit));
    }
    let objects = objects.into_iter().map(|(id, changes)| (id, Value::List(List::typed(CHANGES, changes))));
    Value::object(ObjectChanges(objects.collect()))
}

/// Each of the changes once, those of one object side by side.
fn distinct(edits: &[&Edit]) -> Value {
    let mut in_order = edits.to_vec();
    in_order.sort_by(|one, another| (&one.file, &one.object).cmp(&(&another.file, &another.object)));
    let mut seen = std::collections::BTreeSet::new();
    in_order.retain(|edit| seen.insert((&edit.old, &edit.new, &edit.setter)));
    Value::List(List::typed(CHANGES, in_order.into_iter().map(change).collect()))
}

fn change(edit: &Edit) -> Value {
    let fields = [
        ("OldValue", line(&edit.old).into()),
        ("NewValue", line(&edit.new).into()),
        ("Setter", line(&edit.setter).into()),
    ];
    Record::new("update.Change", fields).into_value()
}

fn identifier(id: &ObjectId) -> Value {
    let fields = [
        ("APIVersion", line(&id.api_version).into()),
        ("Kind", line(&id.kind).into()),
        ("Name", line(&id.name).into()),
        ("Namespace", line(&id.namespace).into()),
    ];
    Record::new("update.ObjectIdentifier", fields).printed(printed(id)).into_value()
}

/// As Go prints it: its struct is of two structs without names, one for the type and one for the name.
fn printed(id: &ObjectId) -> String {
    let ObjectId { api_version, kind, name, namespace } = id;
    line(&format!("{{{{{{{api_version} {kind}}} {{{name} {namespace}}}}}}}"))
}

fn changes_of(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    Ok(args[0].as_object::<Changed>().map_or(Value::Nil, |changed| changed.changes.clone()))
}

fn objects_of(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    Ok(args[0].as_object::<Changed>().map_or(Value::Nil, |changed| changed.objects.clone()))
}

impl Object for Changed {
    fn go_type(&self) -> Type {
        Type::Named("update.Result", &Type::Struct)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn field(&self, name: &str) -> Option<Value> {
        (name == "FileChanges").then(|| self.files.clone())
    }

    fn method(&self, name: &str) -> Option<&'static Function> {
        METHODS.iter().find(|method| method.name() == name)
    }

    fn fields(&self) -> Vec<(&'static str, Value)> {
        vec![("FileChanges", self.files.clone())]
    }

    fn equals(&self, other: &dyn Object) -> bool {
        other.as_any().downcast_ref::<Self>().is_some_and(|other| self.files.deep_equal(&other.files))
    }
}

impl Object for ObjectChanges {
    fn go_type(&self) -> Type {
        OBJECT_CHANGES
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn entries(&self) -> Option<Vec<(Value, Value)>> {
        Some(self.0.iter().map(|(id, changes)| (identifier(id), changes.clone())).collect())
    }

    fn underlying(&self) -> Option<Value> {
        let entries = self.0.iter().map(|(id, changes)| (printed(id).into(), changes.clone()));
        Some(Value::Map(Map::typed(OBJECT_CHANGES, entries.collect())))
    }

    fn equals(&self, other: &dyn Object) -> bool {
        other.as_any().downcast_ref::<Self>().is_some_and(|other| {
            let mut pairs = self.0.iter().zip(&other.0);
            self.0.len() == other.0.len()
                && pairs.all(|(one, other)| one.0 == other.0 && one.1.deep_equal(&other.1))
        })
    }
}
