//! Rendering: in go a chart, its values and what else templates see, out come the files that its templates write.
//!
//! All templates of all charts are one set, so a name means the same in each of them. Refused is what is no template,
//! what fails or asks too much; in Helm's words.

mod fault;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use gotemplate::{Map, MissingKey, TemplateSet, Value};

use crate::chart::{Chart, File};
use crate::error::Result;
use crate::funcs::{self, Host};
use crate::manifest::Rendered;
use crate::objects::{self, Capabilities, Files};
use crate::options::Options;
use crate::warning::{Code, Warning};

/// What a chart's templates wrote.
#[derive(Clone, Debug, Default)]
pub struct Output {
    /// The files, in the order in which they were executed, with those called `NOTES.txt`.
    pub files: Vec<Rendered>,
    /// What is surely not meant.
    pub warnings: Vec<Warning>,
}

/// The name of the set of templates, which shows in messages.
const SET_NAME: &str = "gotpl";

/// Executes the templates of a chart and of the charts in it, which are those that are enabled. `values` are the
/// coalesced ones, as their `to_map` gives them; templates may change them.
///
/// # Errors
/// When a file is no template, or one cannot be executed with these values.
pub fn render(chart: &Chart, values: &Map, options: &Options<'_>) -> Result<Output> {
    let plan = Plan::new(chart, values, options);
    let mut set = TemplateSet::new(SET_NAME, funcs::functions());
    for template in plan.in_order() {
        set.parse(&template.path, &template.file.data).map_err(|error| fault::parse(&error, &plan))?;
    }
    plan.execute(&set, options)
}

/// The templates, each with what it is executed with.
struct Plan<'c> {
    templates: BTreeMap<String, Template<'c>>,
}

struct Template<'c> {
    path: String,
    file: &'c File,
    /// What `.` is; the templates of a chart share it.
    scope: Map,
    /// The folder of the chart's templates.
    base: String,
}

impl<'c> Plan<'c> {
    fn new(chart: &'c Chart, values: &Map, options: &Options<'_>) -> Self {
        let mut plan = Self { templates: BTreeMap::new() };
        let globals = Globals {
            release: objects::release(options),
            capabilities: Value::object(Capabilities::new(options)),
        };
        plan.add(chart, &chart.metadata.name, objects::values(values), true, &globals);
        plan
    }

    /// Adds the templates of a chart and of the charts in it; returns the chart's scope.
    fn add(&mut self, chart: &'c Chart, path: &str, values: Map, is_root: bool, globals: &Globals) -> Map {
        let subcharts = Map::new::<&str>([]);
        let scope = objects::values(&Map::new([
            ("Capabilities", globals.capabilities.clone()),
            ("Chart", objects::metadata(chart, is_root)),
            ("Files", Value::object(Files::new(&chart.files))),
            ("Release", globals.release.clone()),
            ("Subcharts", subcharts.clone().into()),
            ("Values", values.clone().into()),
        ]));
        for child in &chart.dependencies {
            let name = child.metadata.name.as_str();
            let child_path = format!("{path}/charts/{name}");
            let scope = self.add(child, &child_path, section(&values, name), false, globals);
            subcharts.insert(name, scope.into());
        }
        let is_library = chart.metadata.kind.eq_ignore_ascii_case("library");
        for file in &chart.templates {
            if is_library && !is_partial(&file.name) {
                continue;
            }
            let template = Template {
                path: format!("{path}/{}", file.name),
                file,
                scope: scope.clone(),
                base: format!("{path}/templates"),
            };
            self.templates.insert(template.path.clone(), template);
        }
        scope
    }

    /// The templates from the deepest folders up, and each folder's from the last name to the first: of two templates
    /// of one name the last one parsed counts, so that a chart can replace what the charts in it define.
    fn in_order(&self) -> Vec<&Template<'c>> {
        let mut templates: Vec<&Template<'c>> = self.templates.values().rev().collect();
        templates.sort_by_key(|template| {
            std::cmp::Reverse(template.path.bytes().filter(|byte| *byte == b'/').count())
        });
        templates
    }

    fn execute(&self, set: &TemplateSet, options: &Options<'_>) -> Result<Output> {
        let host = Host { lint: options.lint, ..Host::default() };
        let unstable = RefCell::new(BTreeSet::new());
        let fill = options.random.map(|random| {
            let (host, unstable) = (&host, &unstable);
            move |bytes: &mut [u8]| {
                unstable.borrow_mut().insert(host.file.borrow().clone());
                random(bytes);
            }
        });
        let go_options = gotemplate::Options {
            now: options.now,
            zone: options.zone,
            random: fill.as_ref().map(|fill| fill as &gotemplate::Random<'_>),
            missing_key: if options.strict { MissingKey::Error } else { MissingKey::Zero },
            host: &host,
            limits: options.limits,
        };
        let mut files = Vec::with_capacity(self.templates.len());
        for template in self.in_order() {
            if is_partial(&template.path) {
                continue;
            }
            host.file.replace(template.path.clone());
            template.scope.insert("Template", objects::template(&template.path, &template.base));
            let text = set
                .execute(&template.path, template.scope.clone().into(), &go_options)
                .map_err(|error| fault::execute(&error, self))?;
            let text = funcs::without_no_value(text);
            let text = String::from_utf8(text)
                .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
            files.push(Rendered { path: template.path.clone(), text });
        }
        let warnings = warnings(&host.lookups.borrow(), &unstable.borrow());
        Ok(Output { files, warnings })
    }
}

/// What all charts see alike.
struct Globals {
    release: Value,
    capabilities: Value,
}

/// A sub-chart's part of its parent's values; nothing where there is no map.
fn section(values: &Map, name: &str) -> Map {
    // A dot in the name is a step, as in every path of values.
    let found = name.split('.').try_fold(values.clone(), |map, key| match map.get(key) {
        Some(Value::Map(inner)) => Some(inner),
        _ => None,
    });
    found.unwrap_or_else(|| objects::values(&Map::new::<&str>([])))
}

/// Whether a file is there only for what it defines.
fn is_partial(path: &str) -> bool {
    path.rsplit('/').next().is_some_and(|name| name.starts_with('_'))
}

fn warnings(lookups: &BTreeSet<String>, unstable: &BTreeSet<String>) -> Vec<Warning> {
    let looked = lookups.iter().map(|path| {
        let message = format!("`lookup` in {path} finds nothing, for there is no cluster to ask");
        Warning::new(Code::LookupOffline, message)
    });
    let random = unstable.iter().map(|path| {
        let message = format!("{path} has random values, which differ from one rendering to the next");
        Warning::new(Code::Unstable, message).with_hint("set them in the values")
    });
    looked.chain(random).collect()
}
