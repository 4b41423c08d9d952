//! Turns `data/kubernetes-1.21.2.schema` into tables, so that a build starts without reading it.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

const DATA: &str = "data/kubernetes-1.21.2.schema";
/// Stands for no shape, as in `src/schema/tables.rs`.
const NONE: u32 = u32::MAX;

fn main() {
    println!("cargo::rerun-if-changed={DATA}");
    println!("cargo::rerun-if-changed=build.rs");
    let data = fs::read_to_string(DATA).expect("the data is part of the crate");
    let out = env::var_os("OUT_DIR").expect("cargo sets it");
    fs::write(Path::new(&out).join("kubernetes.rs"), Tables::read(&data).code())
        .expect("cargo made the folder");
}

/// The tables in the making; their types are in `src/schema/tables.rs`.
#[derive(Default)]
struct Tables {
    text: String,
    texts: HashMap<String, (u32, u32)>,
    /// Types by name; a type's place here is its shape.
    types: BTreeMap<String, Vec<String>>,
    shapes: Vec<String>,
    /// Lists and maps by the text that describes them.
    composed: HashMap<String, u32>,
    fields: Vec<String>,
    keys: Vec<String>,
    resources: Vec<(String, String, String)>,
}

impl Tables {
    fn read(data: &str) -> Self {
        let mut tables = Self::default();
        let mut resources = Vec::new();
        let mut current = String::new();
        for line in data.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            if let Some(field) = line.strip_prefix(' ') {
                tables.types.get_mut(&current).expect("a field follows its type").push(field.to_owned());
            } else if line.contains(' ') {
                resources.push(line.to_owned());
            } else {
                line.clone_into(&mut current);
                tables.types.insert(current.clone(), Vec::new());
            }
        }
        tables.shapes = vec![String::new(); tables.types.len()];
        for (at, fields) in tables.types.clone().into_values().enumerate() {
            tables.shapes[at] = tables.object(&fields);
        }
        for resource in &resources {
            tables.resource(resource);
        }
        tables.resources.sort();
        tables
    }

    fn text(&mut self, text: &str) -> String {
        let next = u32::try_from(self.text.len()).expect("small");
        let (start, len) =
            *self.texts.entry(text.to_owned()).or_insert((next, u32::try_from(text.len()).expect("small")));
        if start == next {
            self.text.push_str(text);
        }
        format!("Range {{ start: {start}, len: {len} }}")
    }

    fn object(&mut self, fields: &[String]) -> String {
        let mut entries: Vec<(String, u32)> = fields
            .iter()
            .map(|field| {
                let (name, what) = field.split_once(' ').expect("NAME WHAT");
                (name.to_owned(), self.shape(what))
            })
            .collect();
        entries.sort();
        let range = format!("Range {{ start: {}, len: {} }}", self.fields.len(), entries.len());
        for (name, shape) in entries {
            let name = self.text(&name);
            self.fields.push(format!("Field {{ name: {name}, shape: {shape} }}"));
        }
        shape(&range, NONE, NONE, None)
    }

    fn shape(&mut self, what: &str) -> u32 {
        if let Some(at) = self.types.keys().position(|name| name == what) {
            return u32::try_from(at).expect("small");
        }
        if let Some(known) = self.composed.get(what) {
            return *known;
        }
        let empty = "Range { start: 0, len: 0 }";
        let (form, rest) = what.split_at_checked(2).expect("`[]` or `{}`");
        let (mut of, mut keys) = (NONE, None);
        for word in rest.split_whitespace() {
            match word.strip_prefix("merge") {
                Some(list) => keys = Some(self.key_list(list.trim_start_matches('='))),
                None => of = self.shape(word),
            }
        }
        let made = match form {
            "[]" => shape(empty, NONE, of, keys.as_deref()),
            // Every map has values, even where nothing more is known of them.
            "{}" => {
                let each = if of == NONE { self.shape("[]") } else { of };
                shape(empty, each, NONE, None)
            }
            _ => panic!("neither a type nor a list nor a map: {what}"),
        };
        self.shapes.push(made);
        let at = u32::try_from(self.shapes.len() - 1).expect("small");
        self.composed.insert(what.to_owned(), at);
        at
    }

    fn key_list(&mut self, keys: &str) -> String {
        let start = self.keys.len();
        for key in keys.split(',').filter(|key| !key.is_empty()) {
            let key = self.text(key);
            self.keys.push(key);
        }
        format!("Range {{ start: {start}, len: {} }}", self.keys.len() - start)
    }

    fn resource(&mut self, line: &str) {
        let words: Vec<&str> = line.split(' ').collect();
        let scope = match words[0] {
            "C" => "Scope::Cluster",
            "N" => "Scope::Namespaced",
            _ => "Scope::Unknown",
        };
        let (api_version, kind) = (words[1], words[2]);
        let shape = words.get(3).map_or(NONE, |name| self.shape(name));
        let (version, name) = (self.text(api_version), self.text(kind));
        let entry =
            format!("Resource {{ kind: {name}, api_version: {version}, shape: {shape}, scope: {scope} }}");
        self.resources.push((kind.to_owned(), api_version.to_owned(), entry));
    }

    fn code(mut self) -> String {
        let names: Vec<String> = self.types.keys().cloned().collect();
        let types: Vec<String> = names.iter().map(|name| self.text(name)).collect();
        let resources: Vec<String> = self.resources.into_iter().map(|(_, _, entry)| entry).collect();
        let mut code = format!("static TEXT: &str = {:?};\n", self.text);
        for (name, of, entries) in [
            ("TYPES", "Range", &types),
            ("SHAPES", "Shape", &self.shapes),
            ("FIELDS", "Field", &self.fields),
            ("KEYS", "Range", &self.keys),
            ("RESOURCES", "Resource", &resources),
        ] {
            writeln!(code, "static {name}: &[{of}] = &[").expect("to memory");
            for entry in entries {
                writeln!(code, "    {entry},").expect("to memory");
            }
            code.push_str("];\n");
        }
        code
    }
}

fn shape(fields: &str, each: u32, items: u32, merge: Option<&str>) -> String {
    let merge = merge.map_or_else(|| "None".to_owned(), |keys| format!("Some({keys})"));
    format!("Shape {{ fields: {fields}, each: {each}, items: {items}, merge: {merge} }}")
}
