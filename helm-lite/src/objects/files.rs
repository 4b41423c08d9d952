//! `.Files`: a map from paths to bytes, with methods that read, choose and encode them.

use std::any::Any;
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use gostd::base64;
use gotemplate::{CallError, Context, Entries, Function, Map, Object, Str, Type, Value};

use crate::chart::File;
use crate::funcs::to_yaml;
use glob::helm::Glob;

/// The element type of the map.
const BYTES: &Type = &Type::BYTES;

/// `engine.files`. Nothing is copied before a template asks for it.
pub(crate) struct Files {
    files: BTreeMap<String, Arc<[u8]>>,
    map: OnceCell<Value>,
}

impl Files {
    pub(crate) fn new(files: &[File]) -> Self {
        Self::of(files.iter().map(|file| (file.name.clone(), file.data.clone())))
    }

    fn of(files: impl Iterator<Item = (String, Arc<[u8]>)>) -> Self {
        Self { files: files.collect(), map: OnceCell::new() }
    }

    /// The base name of each file with what `encode` makes of its content, as YAML.
    fn to_yaml(&self, encode: impl Fn(&[u8]) -> Value, limit: usize) -> Value {
        let entry = |(path, data): (&String, &Arc<[u8]>)| {
            (Str::from(path.rsplit('/').next().unwrap_or_default()), encode(data))
        };
        let map = Map::typed(Type::STRING_MAP, self.files.iter().map(entry).collect());
        to_yaml(&map.into(), limit).unwrap_or_default().into()
    }
}

impl fmt::Debug for Files {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.files.keys()).finish()
    }
}

impl Object for Files {
    fn go_type(&self) -> Type {
        Type::Named("engine.files", &Type::Map(BYTES))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn method(&self, name: &str) -> Option<&'static Function> {
        const METHODS: &[Function] = &[
            Function::new("AsConfig", &[], as_config),
            Function::new("AsSecrets", &[], as_secrets),
            Function::new("Get", &[Type::String], get),
            Function::new("GetBytes", &[Type::String], get_bytes),
            Function::new("Glob", &[Type::String], glob),
            Function::new("Lines", &[Type::String], lines),
        ];
        METHODS.iter().find(|method| method.name() == name)
    }

    fn underlying(&self) -> Option<Value> {
        let map = self.map.get_or_init(|| {
            let entry = |(path, data): (&String, &Arc<[u8]>)| {
                (Str::from(path.as_str()), Value::Bytes(Str::from(&data[..])))
            };
            Map::typed(Type::Map(BYTES), self.files.iter().map(entry).collect::<Entries>()).into()
        });
        Some(map.clone())
    }

    fn equals(&self, other: &dyn Object) -> bool {
        other.as_any().downcast_ref::<Self>().is_some_and(|other| other.files == self.files)
    }
}

/// The object that a method is called on, and the text that it is given.
fn called(args: &[Value]) -> Result<(&Files, &str), CallError> {
    let files = args.first().and_then(Value::as_object::<Files>).ok_or("no files")?;
    let text = match args.get(1) {
        Some(Value::Str(text)) => std::str::from_utf8(text).unwrap_or_default(),
        _ => "",
    };
    Ok((files, text))
}

fn get(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let (files, path) = called(args)?;
    Ok(Value::Str(files.files.get(path).map(|data| Str::from(&data[..])).unwrap_or_default()))
}

fn get_bytes(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let (files, path) = called(args)?;
    Ok(Value::Bytes(files.files.get(path).map(|data| Str::from(&data[..])).unwrap_or_default()))
}

/// The files whose paths match. A pattern that is none matches everything, as in Helm.
fn glob(context: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let (files, pattern) = called(args)?;
    let glob = Glob::parse(pattern).unwrap_or_else(Glob::everything);
    let mut matching = Vec::new();
    for (path, data) in &files.files {
        context.spend(glob.cost(path))?;
        if glob.matches(path) {
            matching.push((path.clone(), data.clone()));
        }
    }
    Ok(Value::Object(Rc::new(Files::of(matching.into_iter()))))
}

fn as_config(context: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let (files, _) = called(args)?;
    Ok(files.to_yaml(|data| Value::Str(data.into()), context.options().limits.output))
}

fn as_secrets(context: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let (files, _) = called(args)?;
    Ok(files.to_yaml(|data| base64::encode(data).into(), context.options().limits.output))
}

fn lines(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let (files, path) = called(args)?;
    let Some(data) = files.files.get(path) else { return Ok(Value::strings(Vec::<Str>::new())) };
    let data = data.strip_suffix(b"\n").unwrap_or(data);
    Ok(Value::strings(data.split(|byte| *byte == b'\n')))
}
