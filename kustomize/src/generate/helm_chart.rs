//! `helmCharts`: the manifests of Helm charts.
//!
//! In: the entries of `helmCharts` and of the deprecated `helmChartInflationGenerator`, with `helmGlobals`, or a plugin's
//! configuration. The chart is found below `chartHome` or pulled, its values are put together as Kustomize does, and the
//! world outside renders it. Out: the resources in the manifests. It refuses everything unless charts are enabled.

mod args;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use diagnostic::{Error, ErrorKind, Result};
use vfs::FileKind;
use yamltree::{Dialect, JsonOptions, Node, ParseOptions, parse_first, to_json, to_sigs_yaml};

use self::args::{ChartArgs, Globals, ValuesMerge};
use super::{Builtin, Generator};
use crate::context::Context;
use crate::decode::{Located, Object};
use crate::loader::Loader;
use crate::merge::strategic;
use crate::read;
use crate::resource::Resource;
use crate::target::Target;
use crate::world::{Chart, ChartInflator, RemoteChart, Values};

pub(crate) const BUILTIN: Builtin = Builtin { kind: "HelmChartInflationGenerator", from_fields, from_config };

struct HelmChartGenerator {
    args: ChartArgs,
    globals: Globals,
    loader: Arc<Loader>,
}

fn from_fields(target: &Target<'_, '_>) -> Result<Vec<Box<dyn Generator>>> {
    let kustomization = target.kustomization;
    let mut globals = match kustomization.field("helmGlobals") {
        Some(node) => Some(Globals::read(node)?),
        None => None,
    };
    let mut charts = Vec::new();
    for entry in kustomization.items("helmCharts")? {
        let object = Object::new(entry, "an entry of helmCharts")?;
        let args = ChartArgs::decode(&object)?;
        object.finish()?;
        charts.push(args);
    }
    let mut old_globals = Globals::default();
    for entry in kustomization.items("helmChartInflationGenerator")? {
        charts.push(ChartArgs::decode_deprecated(entry, &mut old_globals, target.cx)?);
    }
    let globals = globals.take().unwrap_or(old_globals);
    let namespace = kustomization.text("namespace")?.text;
    let inherited = if namespace.is_empty() { target.helm_namespace } else { Some(namespace.as_str()) };
    let generator = |mut args: ChartArgs| {
        args.inherit_namespace(inherited);
        generator(args, globals.clone(), target)
    };
    charts.into_iter().map(generator).collect()
}

fn from_config(config: &Node, target: &Target<'_, '_>) -> Result<Box<dyn Generator>> {
    let object = Object::plugin(config, "a HelmChartInflationGenerator")?;
    let globals = Globals::decode(&object)?;
    let args = ChartArgs::decode(&object)?;
    object.close(target.cx)?;
    generator(args, globals, target)
}

fn generator(args: ChartArgs, globals: Globals, target: &Target<'_, '_>) -> Result<Box<dyn Generator>> {
    if !target.cx.options.enable_helm {
        // The first words are Kustomize's, for who looks for them.
        let sentence = format!("must specify --enable-helm to inflate the chart `{}`", args.name);
        return Err(Error::new(ErrorKind::Denied, sentence).at(args.span));
    }
    if args.name.is_empty() {
        return Err(Error::invalid("the chart lacks a name").at(args.span).hint("add `name`"));
    }
    Ok(Box::new(HelmChartGenerator { args, globals, loader: Arc::clone(target.loader) }))
}

impl Generator for HelmChartGenerator {
    fn generate(&self, cx: &Context<'_>) -> Result<Vec<Resource>> {
        let Some(charts) = cx.world.charts else {
            let sentence = format!(
                "the chart `{}` cannot be inflated: no renderer of charts is built in",
                self.args.name
            );
            return Err(Error::new(ErrorKind::Unsupported, sentence).at(self.args.span));
        };
        let (folder, is_local) = self.folder(charts, cx)?;
        let mut values = vec![self.values(&folder, is_local, cx)?];
        for file in &self.args.additional_values_files {
            values.push(self.values_file(file, cx)?);
        }
        let inflated =
            charts.inflate(&self.request(&folder, &values, cx)).map_err(|error| self.failed(error))?;
        let name = format!("{} (rendered)", self.args.name);
        let file = cx.sources.rendered(name, inflated.text.into(), inflated.places);
        let via = |error: Error| error.via(format!("in the chart `{}`", self.args.name), self.args.span);
        let kept = read::resources(&file.text, file.source).map_err(via)?;
        let schema = cx.schema();
        let resource = |node| {
            let mut resource = Resource::new(node, &schema);
            resource.helm_generated = true;
            resource
        };
        Ok(kept.nodes.into_iter().map(resource).collect())
    }
}

impl HelmChartGenerator {
    /// The chart's folder, and whether it was there and not pulled. What is there is taken as it is.
    fn folder(&self, charts: &dyn ChartInflator, cx: &Context<'_>) -> Result<(PathBuf, bool)> {
        let home = self.home();
        if let Ok((folder, FileKind::Directory)) =
            cx.world.files.resolve(&self.loader.root().join(&home).join(&self.args.name))
        {
            return Ok((folder, true));
        }
        if self.args.repo.is_empty() {
            let sentence = format!("no chart `{}` found in `{}`", self.args.name, home.display());
            let error = Error::new(ErrorKind::NotFound, sentence).at(self.args.span);
            return Err(error.hint("put it there, or name the `repo` that has it"));
        }
        let remote = RemoteChart {
            name: &self.args.name,
            repo: &self.args.repo,
            version: given(&self.args.version),
            devel: self.args.devel,
            config_home: given(&self.globals.config_home).map(Path::new),
        };
        Ok((charts.pull(&remote).map_err(|error| self.failed(error))?, false))
    }

    /// Returns where charts are, relative to the kustomization: charts pulled at a version have a folder of their own.
    fn home(&self) -> PathBuf {
        let home = PathBuf::from(&self.globals.chart_home);
        let args = &self.args;
        if args.version.is_empty() || args.repo.is_empty() {
            return home;
        }
        home.join(format!("{}-{}", args.name, args.version))
    }

    /// The values file, or the chart's own values, together with those that stand in the kustomization.
    fn values(&self, folder: &Path, is_local: bool, cx: &Context<'_>) -> Result<Values> {
        let inline = self.args.values_inline.as_ref();
        if let (Some(inline), ValuesMerge::Replace) = (inline, self.args.values_merge) {
            return written(inline, "valuesInline").map_err(|error| error.at(self.args.span));
        }
        let base = match &self.args.values_file {
            Some(file) => self.values_file(file, cx)?,
            None if is_local => {
                let path = self.home().join(&self.args.name).join("values.yaml");
                let text = path.to_string_lossy().into_owned();
                self.values_file(&Located { text, span: self.args.span }, cx)?
            }
            None => self.pulled_values(&folder.join("values.yaml"), cx)?,
        };
        match inline {
            Some(inline) => self.merged(&base, inline, cx),
            None => Ok(base),
        }
    }

    fn values_file(&self, file: &Located, cx: &Context<'_>) -> Result<Values> {
        let text = self.loader.text(file, cx)?.text;
        Ok(Values { name: file.text.clone(), text })
    }

    fn pulled_values(&self, path: &Path, cx: &Context<'_>) -> Result<Values> {
        let name = cx.world.files.display(path);
        let bytes = cx
            .world
            .files
            .read(path)
            .map_err(|error| self.failed(Error::invalid(format!("cannot read `{name}`: {error}"))))?;
        let text = yamltree::decode(&bytes, yamltree::SourceId::MAX)
            .map_err(|error| self.failed(Error::from(error).prefix(name.as_str())))?;
        Ok(Values { name, text: text.into() })
    }

    fn merged(&self, base: &Values, inline: &Node, cx: &Context<'_>) -> Result<Values> {
        let file = cx.sources.file(base.name.clone(), Arc::clone(&base.text));
        let options = ParseOptions { dialect: Dialect::V3, ..ParseOptions::default() };
        let base_values = match parse_first(&file.text, file.source, &options)? {
            Some(document) => document.root,
            None => Node::mapping(Vec::new()),
        };
        let (mut below, above) = match self.args.values_merge {
            ValuesMerge::Merge => (inline.clone(), base_values),
            ValuesMerge::Override | ValuesMerge::Replace => (base_values, inline.clone()),
        };
        let merged =
            strategic::apply(&mut below, &above, &cx.schema()).map_err(|error| error.at(self.args.span))?;
        for warning in merged.warnings {
            cx.push_warning(warning);
        }
        written(&below, &base.name).map_err(|error| error.at(self.args.span))
    }

    fn request<'c>(&'c self, folder: &'c Path, values: &'c [Values], cx: &'c Context<'_>) -> Chart<'c> {
        let args = &self.args;
        Chart {
            name: &args.name,
            folder,
            repository: self.loader.repository().map(|(_, top)| top),
            release_name: given(&args.release_name),
            name_template: given(&args.name_template),
            namespace: given(&args.namespace),
            values,
            api_versions: args.api_versions.as_deref().unwrap_or(&cx.options.helm_api_versions),
            kube_version: given(&args.kube_version).or(cx.options.helm_kube_version.as_deref()),
            include_crds: args.include_crds,
            skip_hooks: args.skip_hooks,
            skip_tests: args.skip_tests,
            debug: args.debug,
            devel: args.devel,
        }
    }

    fn failed(&self, error: Error) -> Error {
        error.at(self.args.span).via(format!("in the chart `{}`", self.args.name), self.args.span)
    }
}

fn given(text: &str) -> Option<&str> {
    Some(text).filter(|text| !text.is_empty())
}

fn written(values: &Node, name: &str) -> Result<Values> {
    let mut text = String::new();
    to_sigs_yaml(values, &mut text)?;
    Ok(Values { name: name.to_owned(), text: text.into() })
}

/// Values as they are after a way through JSON, on which the words of YAML 1.1 become booleans and numbers floats.
fn through_json(values: &Node, dialect: Dialect) -> Result<Node> {
    let mut json = String::new();
    to_json(values, JsonOptions { dialect, floats: true, ..JsonOptions::SIGS }, &mut json)?;
    let options = ParseOptions { dialect: Dialect::V3, ..ParseOptions::default() };
    let document = parse_first(&json, values.span.source, &options)?;
    Ok(document.map_or_else(|| Node::mapping(Vec::new()), |document| document.root))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use crate::options::Options;
    use crate::output::Output;
    use crate::testing::build_with_charts;
    use crate::world::{Chart, ChartInflator, Inflated, RemoteChart};
    use diagnostic::Error;

    /// Shows what it is asked for in place of manifests.
    struct Mirror;

    impl ChartInflator for Mirror {
        fn pull(&self, chart: &RemoteChart<'_>) -> Result<PathBuf, Error> {
            match chart.version {
                Some("9") => Err(Error::invalid("no such version")),
                version => Ok(format!("/pulled/{}-{}", chart.name, version.unwrap_or("newest")).into()),
            }
        }

        fn inflate(&self, chart: &Chart<'_>) -> Result<Inflated, Error> {
            let values: Vec<_> =
                chart.values.iter().map(|values| format!("{}: {:?}", values.name, values.text)).collect();
            let Chart { release_name, namespace, kube_version, include_crds, .. } = chart;
            Ok(format!(
                "---\n# Source: x\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: mirror}}\ndata:\n  folder: {}\n  \
                 release: {release_name:?}\n  namespace: {namespace:?}\n  kube: {kube_version:?}\n  crds: {include_crds:?}\n  \
                 apis: '{:?}'\n  values: |-\n    {}\n",
                chart.folder.display(),
                chart.api_versions,
                values.join("\n    "),
            )
            .into())
        }
    }

    const VALUES: &str = "a: 1\nb: 2\nlist: [a, b]\nmap: {a: 4, b: 5}\n";

    fn build(kustomization: &str) -> Result<Output, Error> {
        let files = [
            ("kustomization.yaml", kustomization),
            ("charts/web/Chart.yaml", "name: web"),
            ("charts/web/values.yaml", VALUES),
            ("more.yaml", "m: 1\n"),
            ("pulled/db-newest/values.yaml", "p: 1\n"),
        ];
        let options = Options {
            enable_helm: true,
            helm_kube_version: Some("1.30".to_owned()),
            helm_api_versions: vec!["a/v1".to_owned()],
            ..Options::default()
        };
        build_with_charts(&files, &Mirror, &options)
    }

    #[track_caller]
    fn asked(kustomization: &str) -> String {
        let output = build(kustomization).unwrap_or_else(|error| panic!("{error}"));
        output.yaml().to_owned()
    }

    #[track_caller]
    fn refused(kustomization: &str) -> String {
        build(kustomization).expect_err("refused").to_string()
    }

    #[test]
    fn a_local_chart_is_given_its_own_values() {
        let wanted = "apiVersion: v1\ndata:\n  apis: '[\"a/v1\"]'\n  crds: false\n  folder: /charts/web\n  kube: Some(\"1.30\")\n  \
            namespace: None\n  release: Some(\"r\")\n  \
            values: 'charts/web/values.yaml: \"a: 1\\nb: 2\\nlist: [a, b]\\nmap: {a: 4, b: 5}\\n\"'\n\
            kind: ConfigMap\nmetadata:\n  name: mirror\n";
        assert_eq!(asked("helmCharts: [{name: web, releaseName: r}]\n"), wanted);
    }

    #[test]
    fn an_entry_wins_over_the_command_line_and_the_kustomization() {
        let text = asked(
            "namespace: out\nhelmCharts: [{name: web, namespace: own, kubeVersion: '1.31', apiVersions: [b/v1], includeCRDs: true}]\n",
        );
        for wanted in ["namespace: Some(\"own\")", "kube: Some(\"1.31\")", "apis: '[\"b/v1\"]'", "crds: true"]
        {
            assert!(text.contains(wanted), "{wanted} in\n{text}");
        }
        // The namespace transformer leaves a chart's resources alone.
        assert!(text.ends_with("metadata:\n  name: mirror\n"), "{text}");
        assert!(asked("namespace: out\nhelmCharts: [{name: web}]\n").contains("namespace: Some(\"out\")"));
    }

    /// As Kustomize's own tests have it.
    #[test]
    fn inline_values_are_merged() {
        let values = |merge: &str| {
            let inline = "valuesInline: {a: 4, c: on, list: [c], map: {a: 7, b: null}}";
            let output = build(&format!("helmCharts: [{{name: web, {inline}{merge}}}]\n")).expect("a build");
            let values = output.objects()[0].node.lookup(&["data", "values"]).expect("values");
            let (_, text) = values.text().and_then(|text| text.split_once(": \"")).expect("a text");
            text.trim_end_matches('"').replace("\\n", "\n")
        };
        assert_eq!(values(""), "a: 4\nb: 2\nc: true\nlist:\n- c\nmap:\n  a: 7\n");
        assert_eq!(values(", valuesMerge: override"), values(""));
        assert_eq!(
            values(", valuesMerge: merge"),
            "a: 1\nb: 2\nc: true\nlist:\n- a\n- b\nmap:\n  a: 4\n  b: 5\n"
        );
        assert_eq!(values(", valuesMerge: replace"), "a: 4\nc: true\nlist:\n- c\nmap:\n  a: 7\n  b: null\n");
    }

    #[test]
    fn other_values_files_follow() {
        let text =
            asked("helmCharts: [{name: web, valuesFile: more.yaml, additionalValuesFiles: [more.yaml]}]\n");
        assert!(
            text.contains("values: |-\n    more.yaml: \"m: 1\\n\"\n    more.yaml: \"m: 1\\n\"\n"),
            "{text}"
        );
    }

    #[test]
    fn a_chart_that_is_not_there_is_pulled() {
        let text = asked("helmCharts: [{name: db, repo: 'https://charts.example.com'}]\n");
        assert!(
            text.contains("folder: /pulled/db-newest\n") && text.contains("values.yaml: \"p: 1\\n\""),
            "{text}"
        );
        assert_eq!(
            refused("helmCharts: [{name: db, repo: 'https://charts.example.com', version: '9'}]\n"),
            "kustomization.yaml:1:14: no such version"
        );
        assert_eq!(
            refused("helmCharts: [{name: db}]\n"),
            "kustomization.yaml:1:14: no chart `db` found in `charts`"
        );
    }

    #[test]
    fn the_deprecated_form_is_understood() {
        let text = asked(
            "helmChartInflationGenerator: [{chartName: web, releaseName: r, values: more.yaml, chartHome: charts}]\n",
        );
        assert!(text.contains("release: Some(\"r\")") && text.contains("more.yaml: \"m: 1\\n\""), "{text}");
    }

    #[test]
    fn what_is_wrong_is_said() {
        assert_eq!(refused("helmCharts: [{repo: x}]\n"), "kustomization.yaml:1:14: the chart lacks a name");
        assert_eq!(
            refused("helmCharts: [{name: web, valuesMerge: deep}]\n"),
            "kustomization.yaml:1:39: unknown `valuesMerge` `deep`"
        );
        assert_eq!(
            refused("helmCharts: [{name: web, vesion: 1.0.0}]\n"),
            "kustomization.yaml:1:26: unknown field `vesion` in an entry of helmCharts"
        );
        let disabled = crate::testing::build_files(&[("kustomization.yaml", "helmCharts: [{name: web}]\n")]);
        let wanted = "kustomization.yaml:1:14: must specify --enable-helm to inflate the chart `web`";
        assert_eq!(disabled.expect_err("not enabled").to_string(), wanted);
    }
}
