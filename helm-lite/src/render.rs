//! Rendering: in go a chart, its values and what else templates see, out come the files that its templates write.
//!
//! All templates of all charts are one set, so a name means the same in each of them. Refused is what is no template,
//! what fails or asks too much; in Helm's words.

mod events;
mod fault;
mod missing;

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use diagnostic::Result;
use gotemplate::{Event, Map, MissingKey, TemplateSet, Trace, Value};
use yamltree::Location;

use self::events::Events;
use crate::chart::{Chart, File};
use crate::funcs::{self, Host};
use crate::manifest::RenderedFile;
use crate::objects::{self, Capabilities, Files};
use crate::options::Options;
use crate::origin::{self, Writer};
use crate::values::UserValues;
use crate::version::HelmVersion;
use crate::warning::Warning;

/// The output of a chart's templates.
#[derive(Clone, Debug, Default)]
pub(crate) struct Output {
    /// The files, in the order in which they were executed, with those called `NOTES.txt`.
    pub files: Vec<RenderedFile>,
    /// Warnings.
    pub warnings: Vec<Warning>,
}

/// The name of the set of templates, which shows in messages.
const SET_NAME: &str = "gotpl";

/// Executes the templates of a chart and of the charts in it, which are those that are enabled. `values` are the
/// coalesced ones, as their `to_map` gives them; templates may change them.
///
/// # Errors
/// If a file is no template, or one cannot be executed with these values.
pub(crate) fn render(
    chart: &Chart,
    values: &Map,
    user: &UserValues,
    options: &Options<'_>,
) -> Result<Output> {
    let plan = Plan::new(chart, values, user, options);
    let mut set = TemplateSet::new(SET_NAME, funcs::functions());
    for template in plan.in_order() {
        set.parse(&template.path, &template.file.data).map_err(|error| fault::parse(&error, &plan))?;
    }
    plan.execute(&set, options)
}

/// The templates, each with what it is executed with.
struct Plan<'c> {
    chart: &'c Chart,
    /// Messages about missing values name the user's files.
    user: &'c UserValues,
    templates: BTreeMap<String, Template<'c>>,
}

struct Template<'c> {
    path: String,
    file: &'c File,
    /// The value of `.`; the templates of a chart share it.
    scope: Map,
    /// The folder of the chart's templates.
    base: String,
    /// The way to the chart through the charts that it is in, by their names.
    way: Rc<[String]>,
}

impl<'c> Plan<'c> {
    fn new(chart: &'c Chart, values: &Map, user: &'c UserValues, options: &Options<'_>) -> Self {
        let mut plan = Self { chart, user, templates: BTreeMap::new() };
        let globals = Globals {
            release: objects::release(options),
            capabilities: Value::object(Capabilities::new(options)),
            version: options.version,
        };
        plan.add(chart, &chart.metadata.name, &objects::values(values), &[], &globals);
        plan
    }

    /// Adds the templates of a chart and of the charts in it; returns the chart's scope.
    fn add(&mut self, chart: &'c Chart, path: &str, values: &Map, way: &[String], globals: &Globals) -> Map {
        let subcharts = Map::new::<&str>([]);
        let scope = objects::values(&Map::new([
            ("Capabilities", globals.capabilities.clone()),
            ("Chart", objects::metadata(chart, way.is_empty(), globals.version)),
            ("Files", Value::object(Files::new(&chart.files))),
            ("Release", globals.release.clone()),
            ("Subcharts", subcharts.clone().into()),
            ("Values", values.clone().into()),
        ]));
        for child in &chart.dependencies {
            let name = child.metadata.name.as_str();
            let child_path = format!("{path}/charts/{name}");
            let inner = [way, &[name.to_owned()]].concat();
            let scope = self.add(child, &child_path, &section(values, name), &inner, globals);
            subcharts.insert(name, scope.into());
        }
        let way: Rc<[String]> = way.into();
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
                way: Rc::clone(&way),
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
        let host = Host { lint: options.lint, cluster: options.cluster.clone(), ..Host::default() };
        let events = Events::default();
        let watch = |event: Event, file: &str, offset: usize| {
            events.add(event, file, offset, &host.file.borrow(), self.templates.contains_key(file));
        };
        let go_options = gotemplate::Options {
            now: options.now,
            zone: options.zone,
            random: options.random,
            missing_key: if options.strict { MissingKey::Error } else { MissingKey::Zero },
            host: &host,
            limits: options.limits,
            watch: Some(&watch),
            trace: None,
        };
        let mut files = Vec::with_capacity(self.templates.len());
        for template in self.in_order() {
            if is_partial(&template.path) {
                continue;
            }
            host.file.replace(template.path.clone());
            template.scope.insert("Template", objects::template(&template.path, &template.base));
            let trace = Trace::default();
            let written = set
                .execute(
                    &template.path,
                    template.scope.clone().into(),
                    &gotemplate::Options { trace: Some(&trace), ..go_options },
                )
                .map_err(|error| fault::execute(&error, self, options))?;
            files.push(template.rendered(written, trace));
        }
        let warnings = events.warnings(|file, offset, length| self.place(file, offset, length));
        Ok(Output { files, warnings })
    }

    /// Returns where what Go shows of a template begins: it counts the place of a chain of fields from the second on.
    fn start_of(&self, path: &str, offset: usize, shown: &str) -> Option<usize> {
        let data = &self.templates.get(path)?.file.data;
        let from = offset.saturating_sub(shown.len());
        let end = offset.saturating_add(shown.len()).min(data.len());
        let found = memchr::memmem::find_iter(data.get(from..end)?, shown.as_bytes());
        found.map(|at| from + at).filter(|start| *start <= offset).last()
    }

    /// A place in a template.
    fn place(&self, path: &str, offset: usize, length: usize) -> Option<Location> {
        origin::place(path, &self.templates.get(path)?.file.data, offset, length)
    }
}

impl Template<'_> {
    /// The file that it rendered to.
    fn rendered(&self, written: Vec<u8>, trace: Trace) -> RenderedFile {
        let removed = (funcs::no_values(&written), funcs::NO_VALUE.len());
        let text = String::from_utf8(funcs::without_no_value(written))
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
        let writer = Writer { template: self.file.data.clone(), marks: trace.into_marks(), removed };
        RenderedFile { path: self.path.clone(), text, writer: Some(Arc::new(writer)) }
    }
}

/// The values that all charts share.
struct Globals {
    release: Value,
    capabilities: Value,
    version: HelmVersion,
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

/// Returns true if a file is there only for what it defines.
fn is_partial(path: &str) -> bool {
    path.rsplit('/').next().is_some_and(|name| name.starts_with('_'))
}

#[cfg(test)]
mod tests {
    use gotemplate::Limits;

    use super::*;

    /// Builds without optimisations need much.
    const STACK: usize = 512 << 20;

    /// Returns what a chart of these files renders to: each file's path and text, or Helm's words.
    fn attempt(files: &[(&str, &str)]) -> Result<Vec<(String, String)>, String> {
        let mut files: Vec<File> =
            files.iter().map(|(name, text)| File::new(*name, text.as_bytes())).collect();
        if !files.iter().any(|file| file.name == "Chart.yaml") {
            files.push(File::new("Chart.yaml", b"apiVersion: v2\nname: c\nversion: 1.0.0\n"));
        }
        let chart = Chart::load(files, "c", HelmVersion::default()).expect("a chart");
        let limits = Limits { stack: STACK / 2, ..Limits::default() };
        let options = Options { release_name: "r".to_owned(), limits, ..Options::default() };
        let output = render(&chart, &chart.values.to_map(), &UserValues::default(), &options)
            .map_err(|error| error.message().to_owned())?;
        Ok(output.files.into_iter().map(|file| (file.path, file.text)).collect())
    }

    fn text(template: &str) -> String {
        let files = attempt(&[("templates/a.yaml", template), ("f.txt", "hello\n"), ("d/g.txt", "x")]);
        files.expect("it renders").remove(0).1
    }

    fn refused(template: &str, other: &str) -> String {
        attempt(&[("templates/a.yaml", template), ("templates/_h.tpl", other)]).expect_err("it is refused")
    }

    /// Helm 4 takes Go's errors apart only as long as no function put words of its own between them.
    #[test]
    fn failures_are_laid_out_as_helm_does() {
        let define = |body: &str| format!("{{{{ define \"x\" }}}}{body}{{{{ end }}}}");
        let include = "{{ include \"x\" . }}";
        for (template, other, wanted) in [
            (
                include,
                define("\n {{ .Values.a.b.c }}"),
                "c/templates/a.yaml:1:3\n  executing \"c/templates/a.yaml\" at <include \"x\" .>:\n    error calling include:\nc/templates/_h.tpl:2:11\n  executing \"x\" at <.Values.a.b.c>:\n    nil pointer evaluating interface {}.b",
            ),
            (
                "{{ template \"x\" . }}",
                define("{{ .Values.a.b }}"),
                "c/templates/_h.tpl:1:26\n  executing \"x\" at <.Values.a.b>:\n    nil pointer evaluating interface {}.b",
            ),
            (
                "{{ include \"nope\" . }}",
                String::new(),
                "c/templates/a.yaml:1:3\n  executing \"c/templates/a.yaml\" at <include \"nope\" .>:\n    error calling include:\ntemplate: no template \"nope\" associated with template \"gotpl\"",
            ),
            (
                "{{ tpl \"{{ include \\\"x\\\" . }}\" . }}",
                define("{{ .Values.a.b }}"),
                "template: c/templates/a.yaml:1:3: executing \"c/templates/a.yaml\" at <tpl \"{{ include \\\"x\\\" . }}\" .>: error calling tpl: error during tpl function execution for \"{{ include \\\"x\\\" . }}\": template: gotpl:1:3: executing \"gotpl\" at <include \"x\" .>: error calling include: template: c/templates/_h.tpl:1:26: executing \"x\" at <.Values.a.b>: nil pointer evaluating interface {}.b",
            ),
            (
                "{{ tpl \"{{ if }}\" . }}",
                String::new(),
                "template: c/templates/a.yaml:1:3: executing \"c/templates/a.yaml\" at <tpl \"{{ if }}\" .>: error calling tpl: cannot parse template \"{{ if }}\": template: gotpl:1: missing value for if",
            ),
            (
                "{{ index .Values \"a\" \"b\" 1 }}",
                String::new(),
                "template: c/templates/a.yaml:1:3: executing \"c/templates/a.yaml\" at <index .Values \"a\" \"b\" 1>: error calling index: index of nil pointer",
            ),
            (
                "{{ .Chart.Foo }}{{ .Capabilities.Foo }}",
                String::new(),
                "c/templates/a.yaml:1:32\n  executing \"c/templates/a.yaml\" at <.Capabilities.Foo>:\n    can't evaluate field Foo in type interface {}",
            ),
            ("x\n{{ if }}", String::new(), "parse error at (c/templates/a.yaml:2): missing value for if"),
        ] {
            assert_eq!(refused(template, &other), wanted, "{template}");
        }
    }

    /// The place is that of the outermost template, wherever the author's words stand.
    #[test]
    fn what_the_author_says_is_all_that_is_said() {
        let other = "{{ define \"x\" }}{{ fail \"no\\nway\" }}{{ end }}";
        for (template, wanted) in [
            ("a\n{{ include \"x\" . }}", "execution error at (c/templates/a.yaml:2:3): no\nway"),
            (
                "{{ required \"need: it\" .Values.x }}",
                "execution error at (c/templates/a.yaml:1:3): need: it",
            ),
            (
                "{{ tpl \"{{ fail \\\"in tpl\\\" }}\" . }}",
                "execution error at (c/templates/a.yaml:1:3): in tpl",
            ),
        ] {
            assert_eq!(refused(template, other), wanted);
        }
    }

    #[test]
    fn a_template_can_be_included_a_thousand_times_within_itself() {
        let other = "{{ define \"x\" }}{{ if gt . 0 }}{{ include \"x\" (sub . 1) }}{{ end }}{{ end }}";
        let on_a_large_stack = |depth: u32| {
            let run =
                move || refused(&format!("{{{{ include \"x\" {depth} }}}}{{{{ fail \"done\" }}}}"), other);
            let thread = std::thread::Builder::new().stack_size(STACK).spawn(run);
            thread.expect("a thread").join().expect("no panic")
        };
        assert_eq!(on_a_large_stack(1000), "execution error at (c/templates/a.yaml:1:25): done");
        let refused = on_a_large_stack(1001);
        assert!(refused.starts_with("template: c/templates/a.yaml:1:3: executing"), "{refused}");
        let reason = "rendering template has a nested reference name: x: unable to execute template";
        assert!(refused.ends_with(reason), "{refused}");
    }

    /// Deeper files come first, and in each folder the last; what is parsed later replaces what was there.
    #[test]
    fn templates_run_from_the_deepest_and_the_shallowest_definition_counts() {
        let files = attempt(&[
            ("templates/a.yaml", "{{ include \"n\" . }} {{ .Values.seen }}"),
            ("templates/_b.tpl", "{{ define \"n\" }}b{{ end }}"),
            ("templates/b.yaml", "{{ define \"n\" }}late{{ end }}{{ $_ := set .Values \"seen\" \"b\" }}"),
            ("templates/d/c.yaml", "{{ define \"n\" }}deep{{ end }}{{ .Values.seen }}<no value>"),
            ("templates/NOTES.txt", "n"),
        ])
        .expect("it renders");
        let got: Vec<(&str, &str)> = files
            .iter()
            .map(|(path, text)| (path.strip_prefix("c/templates/").unwrap_or(path), text.as_str()))
            .collect();
        assert_eq!(got, [("d/c.yaml", ""), ("b.yaml", ""), ("a.yaml", "b b"), ("NOTES.txt", "n")]);
    }

    #[test]
    fn a_sub_chart_sees_its_own_part() {
        let files = attempt(&[
            ("values.yaml", "sub: {a: 1}\n"),
            ("charts/sub/Chart.yaml", "apiVersion: v2\nname: sub\nversion: 0.2.0\n"),
            (
                "charts/sub/templates/a.yaml",
                "{{ .Values.a }} {{ .Chart.Name }} {{ .Template.BasePath }} {{ .Chart.IsRoot }}",
            ),
            (
                "templates/z.yaml",
                "{{ .Subcharts.sub.Chart.Version }} {{ .Values.sub.a }} {{ .Template.Name }}",
            ),
        ])
        .expect("it renders");
        assert_eq!(files[0].1, "1 sub c/charts/sub/templates false");
        assert_eq!(files[1].1, "0.2.0 1 c/templates/z.yaml");
    }

    /// As `helm template` prints them.
    #[test]
    fn objects_are_what_they_are_in_helm() {
        for (template, wanted) in [
            (
                "{{ .Capabilities.KubeVersion }} {{ .Capabilities.KubeVersion.GitVersion }} {{ .Capabilities.KubeVersion.Minor }}",
                "v1.37.0 v1.37.0 37",
            ),
            (
                "{{ .Capabilities.APIVersions.Has \"apps/v1\" }} {{ .Capabilities.APIVersions.Has \"apps/v1/Deployment\" }} {{ len .Capabilities.APIVersions }}",
                "true false 57",
            ),
            (
                "{{ toJson .Capabilities.KubeVersion }}",
                "{\"Version\":\"v1.37.0\",\"Major\":\"1\",\"Minor\":\"37\"}",
            ),
            ("{{ .Capabilities.HelmVersion.Version }}", "v4.3.1"),
            (
                "{{ printf \"%T %T %T %T %T\" .Capabilities .Files .Values .Release .Chart }}",
                "*common.Capabilities engine.files common.Values map[string]interface {} map[string]interface {}",
            ),
            (
                "{{ .Files.Get \"f.txt\" | quote }} {{ .Files.Get \"nope\" | quote }} {{ .Files.Lines \"f.txt\" }}",
                "\"hello\\n\" \"\" [hello]",
            ),
            (
                "{{ range $path, $data := .Files.Glob \"**.txt\" }}{{ $path }}={{ $data | len }} {{ end }}",
                "d/g.txt=1 f.txt=6 ",
            ),
            (
                "{{ (.Files.Glob \"**.txt\").AsConfig }}\n{{ (.Files.Glob \"*.txt\").AsSecrets }}",
                "f.txt: |\n  hello\ng.txt: x\nf.txt: aGVsbG8K",
            ),
            (
                "{{ toJson (.Files.Glob \"d/*\") }} {{ (.Files.Glob \"nope\").AsConfig }}",
                "{\"d/g.txt\":\"eA==\"} {}",
            ),
            (
                "{{ .Release }}",
                "map[IsInstall:true IsUpgrade:false Name:r Namespace:default Revision:1 Service:Helm]",
            ),
            (
                "{{ .Chart.Keywords }} {{ .Chart.Annotations }} {{ .Chart.Nope }} {{ .Chart.Version }}",
                "[] map[]  1.0.0",
            ),
            ("{{ lookup \"v1\" \"Pod\" \"\" \"\" }}", "map[]"),
        ] {
            assert_eq!(text(template), wanted, "{template}");
        }
    }
}
