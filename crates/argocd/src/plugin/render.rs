//! From an invocation to objects, by the steps that an Application goes through.
//!
//! In: an [`Invocation`], a checkout and engines. Out: objects as the engine gives them; Argo CD itself does the rest.
//! Refused: see [`Invocation`], and no objects where there should be some.

use std::io;
use std::path::Path;
use std::sync::Arc;

use diagnostic::{Error, Result};
use kustomize_edit::{FILE_NAMES, Kustomization, List};
use vfs::{FileKind, Files};

use super::invocation::Invocation;
use super::table::Scope;
use super::wanted::Sections;
use crate::application::checkout::{self, Absence};
use crate::application::context::Run;
use crate::application::located::Place;
use crate::application::settings::Settings;
use crate::application::value_files::{References, Resolver};
use crate::application::{
    Application, At, ChartOutput, Destination, Engine, Engines, Manifests, Overrides, SyncPolicy, World,
    directory,
};
use crate::context::{Cluster, Context};
use crate::objects::{self, Object};
use crate::repositories::Repositories;
use crate::warning::Warning;

/// The file that a kustomization names among its `resources` if the chart beside it is one of them.
pub(super) const CHART: &str = "Chart.yaml";

/// The setting of Argo CD that build options are in.
const BUILD_OPTIONS: &str = "kustomize.buildOptions";

/// A repository, and the folder of an Application in it. Nothing outside of the repository is read.
#[derive(Clone, Copy, Debug)]
pub struct Checkout<'c> {
    /// The files.
    pub files: &'c dyn Files,
    /// The repository's folder.
    pub root: &'c Path,
    /// The Application's folder.
    pub folder: &'c Path,
}

/// The result of a request.
#[derive(Debug)]
pub struct Rendered {
    /// The engine; Kustomize where a chart is a resource of a kustomization.
    pub engine: Engine,
    /// The objects; lists are taken apart.
    pub objects: Vec<Object>,
    /// Warnings.
    pub warnings: Vec<Warning>,
    /// True if it may be that there are none.
    pub may_be_empty: bool,
}

/// Returns what renders a folder, by its files.
#[must_use]
pub fn detect(checkout: &Checkout<'_>) -> Engine {
    Engine::discovered(checkout.folder, checkout.files, Settings(&Context::default().settings))
}

/// Renders what is asked for.
///
/// A kustomization has a chart as a resource where it says so among its `resources`, by the name `Chart.yaml`; or where
/// the parameter `chain` names the chart's folder. In a folder with both files and neither of these, the chart counts
/// for nothing, as with Argo CD.
///
/// # Errors
/// If the parameters or the source are invalid, or no objects are rendered.
pub fn render<E: Engines>(
    invocation: &Invocation,
    checkout: &Checkout<'_>,
    engines: &E,
) -> Result<Rendered, E::Error> {
    let asked = Asked::new(invocation, checkout)?;
    let mut warnings = Vec::new();
    let objects = asked.with(engines, |run| asked.objects(run, &mut warnings))?;
    let objects = objects::flatten(objects)?;
    let may_be_empty = invocation.wanted.allow_empty;
    if objects.is_empty() && !may_be_empty {
        return Err(asked.empty().into());
    }
    Ok(Rendered { engine: asked.engine, objects, warnings, may_be_empty })
}

/// The inputs of an engine.
pub(super) struct Asked<'a> {
    invocation: &'a Invocation,
    checkout: &'a Checkout<'a>,
    sections: Sections,
    pub(super) engine: Engine,
    /// The folder of the chart that is a resource of the kustomization.
    pub(super) chain: Option<std::path::PathBuf>,
    place: Place<'a>,
}

impl<'a> Asked<'a> {
    pub(super) fn new(invocation: &'a Invocation, checkout: &'a Checkout<'a>) -> Result<Self> {
        let wanted = &invocation.wanted;
        let engine = wanted.engine()?.unwrap_or_else(|| detect(checkout));
        let root = checkout::Checkout::new(checkout.root, checkout.files);
        let root = root.map_err(|error| unreadable(checkout, checkout.root, &error))?;
        let place = Place { checkout: root, folder: checkout.folder.to_owned(), revision: String::new() };
        let chain = match engine {
            Engine::Kustomize => chain(&wanted.chain, &place)?,
            _ => None,
        };
        let sections = wanted.sections()?;
        let asked = Self { invocation, checkout, sections, engine, chain, place };
        invocation.check_scope(asked.scopes(), asked.noun())?;
        Ok(asked)
    }

    /// The parameters that have an effect.
    pub(super) fn scopes(&self) -> &'static [Scope] {
        match (self.engine, &self.chain) {
            (Engine::Kustomize, Some(_)) => &[Scope::Any, Scope::Kustomize, Scope::Helm],
            (Engine::Kustomize, None) => &[Scope::Any, Scope::Kustomize],
            (Engine::Helm, _) => &[Scope::Any, Scope::Helm],
            _ => &[Scope::Any, Scope::Directory],
        }
    }

    fn noun(&self) -> &'static str {
        match self.engine {
            Engine::Helm => "a chart",
            Engine::Kustomize => "a kustomization without a chart",
            _ => "a directory of manifests",
        }
    }

    /// Does something with what an Application would be rendered by that says the same.
    pub(super) fn with<E: Engines, T, F>(
        &self,
        engines: &E,
        work: impl FnOnce(&Run<'_, E>) -> Result<T, F>,
    ) -> Result<T, F> {
        let invocation = self.invocation;
        let mut context = Context::default();
        let options = invocation.wanted.build_options.join(" ");
        context.settings.insert(BUILD_OPTIONS.to_owned(), options);
        let repositories = Repositories::new(&context, self.checkout.root);
        let overrides = Overrides::default();
        let world = World {
            context: &context,
            repositories: &repositories,
            projects: None,
            files: self.checkout.files,
            engines,
            overrides: &overrides,
        };
        let api_versions = match invocation.wanted.api_versions.as_slice() {
            [] => invocation.api_versions.clone(),
            given => given.to_vec(),
        };
        let kube_version = invocation.kube_version.clone();
        let cluster = Cluster { kube_version, api_versions, ..Cluster::default() };
        let application = self.application();
        let references = References::new();
        work(&Run { application: &application, world: &world, cluster: &cluster, references: &references })
    }

    /// The name of the Application, or of its folder.
    pub(super) fn name(&self) -> String {
        let folder = self.checkout.folder.file_name().map(|name| name.to_string_lossy().into_owned());
        self.invocation.application.clone().or(folder).unwrap_or_else(|| "release-name".to_owned())
    }

    pub(super) fn namespace(&self) -> &str {
        &self.invocation.namespace
    }

    /// As much of the Application as a plugin is told.
    fn application(&self) -> Application {
        Application {
            name: At { value: self.name(), ..At::default() },
            namespace: String::new(),
            labels: Default::default(),
            annotations: Default::default(),
            project: At::default(),
            destination: Destination { namespace: self.namespace().to_owned(), ..Destination::default() },
            sources: Vec::new(),
            has_multiple_sources: false,
            hydrator: None,
            sync_policy: SyncPolicy::default(),
            ignore_differences: Vec::new(),
            warnings: Vec::new(),
            texts: Arc::from([]),
            span: yamltree::Span::default(),
        }
    }

    /// Returns what paths of parameters mean from a folder.
    pub(super) fn resolver<'r, E>(&'r self, folder: &'r Path, run: &'r Run<'r, E>) -> Resolver<'r> {
        Resolver {
            checkout: &self.place.checkout,
            folder,
            references: run.references,
            environment: &self.invocation.environment,
            schemes: Settings(&run.world.context.settings).value_file_schemes(),
            texts: &self.sections.texts,
        }
    }

    /// The chart's folder, where there is a chart.
    pub(super) fn chart(&self) -> Option<&Path> {
        match self.engine {
            Engine::Helm => Some(&self.place.folder),
            _ => self.chain.as_deref(),
        }
    }

    /// Returns what is said to Helm.
    pub(super) fn helm(&self) -> Option<&crate::application::Helm> {
        self.sections.source.helm.as_ref()
    }

    pub(super) fn objects<E: Engines>(
        &self,
        run: &Run<'_, E>,
        warnings: &mut Vec<Warning>,
    ) -> Result<Vec<Object>, E::Error> {
        let (source, place) = (&self.sections.source, &self.place);
        let resolver = self.resolver(&place.folder, run);
        match self.engine {
            Engine::Helm => Ok(run.helm(source, place, &resolver, warnings)?.0),
            Engine::Kustomize => {
                let chart = self.chain.as_deref().map(|folder| self.chained(folder, run, warnings));
                Ok(run.kustomize(source, place, &resolver, chart.transpose()?)?.0)
            }
            Engine::Directory | Engine::Plugin => {
                let (directory, texts) = (source.directory.clone().unwrap_or_default(), &self.sections.texts);
                let checkout = &place.checkout;
                let folder = checkout.real(&place.folder).map_or(place.folder.clone(), |(real, _)| real);
                Ok(directory::render(&folder, &directory, checkout, texts, true, warnings)?)
            }
        }
    }

    /// Returns what the chart of a kustomization renders to.
    fn chained<E: Engines>(
        &self,
        folder: &Path,
        run: &Run<'_, E>,
        warnings: &mut Vec<Warning>,
    ) -> Result<ChartOutput, E::Error> {
        let place = Place {
            checkout: self.place.checkout.clone(),
            folder: folder.to_owned(),
            revision: String::new(),
        };
        let resolver = self.resolver(folder, run);
        let (Manifests { text, .. }, _) =
            run.chart_manifests(&self.sections.source, &place, &resolver, warnings)?;
        Ok(ChartOutput { path: self.place.folder.join(CHART), text })
    }

    /// That there are no objects, and what may be the matter.
    fn empty(&self) -> Error {
        let has_chart = self.place.checkout.file(&self.place.folder.join(CHART)).is_ok();
        let hint = if self.engine == Engine::Kustomize && self.chain.is_none() && has_chart {
            "add `Chart.yaml` to the `resources` of the kustomization to include the chart"
        } else {
            "set ALLOW_EMPTY in the plugin's env, or the parameter `allow-empty`, to `true` if that is meant"
        };
        Error::invalid(
            "the source renders no manifests, and Argo CD would delete all resources of the Application",
        )
        .hint(hint)
    }
}

fn unreadable(checkout: &Checkout<'_>, path: &Path, error: &io::Error) -> Error {
    Error::invalid(format!("cannot read `{}`: {error}", checkout.files.display(path)))
}

/// The folder of the chart that is a resource of a kustomization: named by the parameter, or the kustomization's own.
fn chain(parameter: &str, place: &Place<'_>) -> Result<Option<std::path::PathBuf>> {
    if parameter.is_empty() {
        let is_chart = place.checkout.file(&place.folder.join(CHART)).is_ok();
        return Ok((is_chart && names_chart(place)).then(|| place.folder.clone()));
    }
    let refuse = |absence: &Absence| {
        Error::invalid(match absence {
            Absence::Outside => format!("the chart `{parameter}` is outside of the repository"),
            Absence::Missing | Absence::WrongKind => format!("no chart found in `{parameter}`"),
            Absence::Unreadable(reason) => format!("cannot read the chart `{parameter}`: {reason}"),
        })
        .hint("the parameter `chain` must be the chart's directory, relative to the kustomization, or to the repository with a leading `/`")
    };
    let folder = place.checkout.locate(&place.folder, parameter).map_err(|absence| refuse(&absence))?;
    match place.checkout.real(&folder.join(CHART)).map_err(|absence| refuse(&absence))? {
        (_, FileKind::File) => Ok(Some(folder)),
        (_, FileKind::Directory) => Err(refuse(&Absence::WrongKind)),
    }
}

/// Returns true if a kustomization names the chart beside it among its resources. What is wrong with it the build will say.
fn names_chart(place: &Place<'_>) -> bool {
    let mut paths = FILE_NAMES.iter().map(|name| place.checkout.file(&place.folder.join(name)));
    let Some(Ok(path)) = paths.find(Result::is_ok) else { return false };
    let Ok(bytes) = place.checkout.files.read(&path) else { return false };
    let Ok(text) = yamltree::decode(&bytes, 0) else { return false };
    Kustomization::parse(&text)
        .is_ok_and(|kustomization| kustomization.paths(List::Resources).contains(&CHART))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::{Value, json};
    use vfs::MemoryTree;

    use super::*;
    use crate::application::{ChartRequest, KustomizationRequest, PulledChart, RemoteChart};
    use crate::application::{helm, kustomize};

    /// Engines that give what they were asked for, as a text in an object.
    struct Scribe;

    impl Engines for Scribe {
        type Error = Error;

        fn chart(&self, request: &ChartRequest) -> Result<Manifests> {
            let values =
                request.values.as_ref().map(|values| format!("\n{}", values.text)).unwrap_or_default();
            Ok(told(&format!("{}{values}", helm::command(request, &request.repository))).into())
        }

        fn kustomization(&self, request: &KustomizationRequest) -> Result<Manifests> {
            let mut text = kustomize::build_command(request);
            for version in request.kube_version.iter().chain(&request.api_versions) {
                text.push_str(&format!("\nfor {version}"));
            }
            if let Some(edited) = &request.edited {
                // What `kustomize edit` adds to every file.
                let added = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n";
                text.push_str(&format!("\n{}", edited.text.replace(added, "")));
            }
            if let Some(chart) = &request.chart {
                text.push_str(&format!("\n{}: {}", chart.path.display(), chart.text));
            }
            Ok(told(&text).into())
        }

        fn pull(&self, _: &RemoteChart<'_>) -> Result<PulledChart> {
            Err(Error::invalid("nothing is pulled"))
        }
    }

    fn told(text: &str) -> String {
        json!({"kind": "Told", "text": text}).to_string()
    }

    const FILES: [(&str, &[u8]); 14] = [
        ("chart/Chart.yaml", b"name: web\n"),
        ("chart/values.yaml", b"image: {tag: '1.0'}\nports: [80, {name: x}]\nnone: null\n"),
        ("chart/prod.yaml", b"image: {tag: '2.0'}\n"),
        ("envs/eu/values.yaml", b"region: eu\n"),
        (
            "overlay/kustomization.yaml",
            b"resources:\n- a.yaml\nnamePrefix: dev-\nreplicas:\n- {name: web, count: 2}\n",
        ),
        ("both/Chart.yaml", b"name: web\n"),
        ("both/kustomization.yaml", b"resources:\n- a.yaml\n"),
        ("chained/Chart.yaml", b"name: web\n"),
        ("chained/kustomization.yaml", b"resources:\n- Chart.yaml\n- a.yaml\n"),
        ("chained/v.yaml", b""),
        ("plain/a.yaml", b"kind: A\n"),
        ("plain/b.json", b"{\"kind\": \"B\"}"),
        ("plain/sub/c.yaml", b"kind: List\nitems: [{kind: C}]\n"),
        ("empty/README.md", b"nothing\n"),
    ];

    fn tree() -> MemoryTree {
        FILES.into_iter().map(|(path, content)| (format!("repo/{path}"), content)).collect()
    }

    fn variables(parameters: &Value) -> BTreeMap<String, String> {
        let parameters = match parameters {
            Value::Object(map) => {
                let each = map.iter().map(|(name, value)| match value {
                    Value::String(_) => json!({"name": name, "string": value}),
                    Value::Array(_) => json!({"name": name, "array": value}),
                    _ => json!({"name": name, "map": value}),
                });
                Value::Array(each.collect())
            }
            other => other.clone(),
        };
        [
            ("ARGOCD_APP_NAME", "team_web"),
            ("ARGOCD_APP_NAMESPACE", "shop"),
            ("ARGOCD_APP_REVISION", "0123456789"),
            ("ARGOCD_ENV_REGION", "eu"),
            ("KUBE_VERSION", "1.33.2"),
            ("KUBE_API_VERSIONS", "v1,apps/v1"),
            ("HOME_SECRET", "hunter2"),
            ("ARGOCD_APP_PARAMETERS", &parameters.to_string()),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into()
    }

    fn run(folder: &str, parameters: &Value) -> Result<(Invocation, Rendered)> {
        let variables = variables(parameters);
        let invocation = Invocation::read(&|name| variables.get(name).cloned())?;
        let tree = tree();
        let folder = Path::new("/repo").join(folder);
        let checkout = Checkout { files: &tree, root: Path::new("/repo"), folder: &folder };
        let rendered = render(&invocation, &checkout, &Scribe)?;
        Ok((invocation, rendered))
    }

    /// Returns what the engine was asked for; the objects' kinds where there is none.
    fn asked(folder: &str, parameters: &Value) -> String {
        let (_, rendered) = run(folder, parameters).unwrap();
        let objects = rendered.objects.iter();
        let text = |object: &Object| match object.node().get("text").and_then(yamltree::Node::text) {
            Some(text) => text.to_owned(),
            None => object.kind().to_owned(),
        };
        objects.map(text).collect::<Vec<_>>().join(" ")
    }

    const HELM: &str = "helm template . --name-template web --namespace shop --kube-version 1.33.2";
    const APIS: &str = "--api-versions v1 --api-versions apps/v1";

    #[test]
    fn parameters_of_charts_are_flags_of_helm() {
        for (parameters, want) in [
            (Value::Null, format!("{HELM} {APIS} --include-crds")),
            (
                json!({"helm-value-files": ["prod.yaml", "/envs/${ARGOCD_ENV_REGION}/values.yaml"]}),
                format!("{HELM} --values /chart/prod.yaml --values /envs/eu/values.yaml {APIS} --include-crds"),
            ),
            (
                json!({"helm-values": "a: 1\n"}),
                format!(
                    "{HELM} --values \"<temp file with values from source.helm.values/valuesObject>\" {APIS} \
                     --include-crds\na: 1\n"
                ),
            ),
            (
                json!({"helm-parameters": {"a.b": "x,y"}, "helm-string-parameters": {"rev": "$ARGOCD_APP_REVISION"}}),
                format!("{HELM} --set a.b=x\\,y --set-string rev=0123456789 {APIS} --include-crds"),
            ),
            // What is no variable of Argo CD's is not there.
            (
                json!({"helm-parameters": {"a": "[$HOME_SECRET]"}}),
                format!("{HELM} --set a=[] {APIS} --include-crds"),
            ),
            (
                json!({"helm-file-parameters": {"a": "prod.yaml"}}),
                format!("{HELM} --set-file a=/chart/prod.yaml {APIS} --include-crds"),
            ),
            (
                json!({
                    "helm-release-name": "other", "helm-namespace": "ns", "kube-version": "v1.30.1+k3s1",
                    "api-versions": ["x/v1"], "helm-skip-crds": "true", "helm-skip-tests": "true",
                    "helm-skip-schema-validation": "true",
                }),
                "helm template . --name-template other --namespace ns --kube-version 1.30.1 --api-versions x/v1 \
                 --skip-schema-validation --skip-tests"
                    .to_owned(),
            ),
            (
                json!({"helm-value-files": ["none.yaml"], "helm-ignore-missing-value-files": "true"}),
                format!("{HELM} {APIS} --include-crds"),
            ),
        ] {
            assert_eq!(asked("chart", &parameters).replace("./chart/", "/chart/").replace("./envs/", "/envs/"), want, "{parameters}");
        }
    }

    #[test]
    fn parameters_of_kustomizations_are_edits_of_them() {
        let built = "kustomize build ./overlay\nfor 1.33.2\nfor v1\nfor apps/v1";
        let own = "resources:\n- a.yaml\nnamePrefix: dev-\nreplicas:\n- {name: web, count: 2}\n";
        for (parameters, want) in [
            (json!({}), built.to_owned()),
            (
                json!({"kustomize-images": ["nginx:$ARGOCD_APP_REVISION"]}),
                format!("{built}\n{own}images:\n- name: nginx\n  newTag: \"0123456789\"\n"),
            ),
            (
                json!({"kustomize-name-prefix": "a-", "kustomize-name-suffix": "-z", "kustomize-namespace": "ns"}),
                format!("{built}\n{}nameSuffix: -z\nnamespace: ns\n", own.replace("dev-", "a-")),
            ),
            (
                json!({"kustomize-replicas": {"web": "3"}}),
                format!("{built}\n{}", own.replace("count: 2", "count: 3")),
            ),
            (
                json!({"kustomize-build-options": ["--enable-helm", "--reorder none"]}),
                built.replacen("./overlay", "./overlay --enable-helm --reorder none", 1),
            ),
            (
                json!({"kustomize-patches": ["kind: A\nmetadata: {name: a}\n", "{path: p.yaml, target: {kind: A}}"]}),
                format!(
                    "{built}\n{own}patches:\n- patch: |\n    kind: A\n    metadata: {{name: a}}\n- path: p.yaml\n  \
                     target:\n    kind: A\n"
                ),
            ),
            (
                json!({"kustomize-components": ["gone"], "kustomize-ignore-missing-components": "true"}),
                built.to_owned(),
            ),
        ] {
            assert_eq!(asked("overlay", &parameters), want, "{parameters}");
        }
    }

    #[test]
    fn a_chart_is_a_resource_where_a_kustomization_or_a_parameter_says_so() {
        let chained = asked("chained", &json!({"helm-value-files": ["v.yaml"], "kustomize-namespace": "x"}));
        assert!(chained.contains("\nresources:\n- Chart.yaml\n- a.yaml\nnamespace: x\n"), "{chained}");
        assert!(chained.contains("/repo/chained/Chart.yaml: {"), "{chained}");
        assert!(chained.contains("--name-template web") && chained.contains("chained/v.yaml"), "{chained}");
        // Nothing says so, and Argo CD takes it for a kustomization.
        assert_eq!(asked("both", &json!({})), "kustomize build ./both\nfor 1.33.2\nfor v1\nfor apps/v1");
        for (folder, chart) in [("both", "."), ("overlay", "../chart"), ("overlay", "/chart")] {
            let elsewhere = asked(folder, &json!({"chain": chart, "helm-skip-crds": "true"}));
            assert!(elsewhere.contains("- a.yaml\n- Chart.yaml\n"), "{elsewhere}");
            assert!(elsewhere.contains("helm template"), "{elsewhere}");
        }
    }

    #[test]
    fn folders_of_manifests_are_read_as_they_are() {
        for (parameters, want) in [
            (json!({}), "A B"),
            (json!({"directory-recurse": "true"}), "A B C"),
            (json!({"directory-recurse": "true", "directory-exclude": "{a,b}*"}), "C"),
            (json!({"directory-include": "*.json"}), "B"),
        ] {
            assert_eq!(asked("plain", &parameters), want, "{parameters}");
        }
        // The section of an Application would decide too.
        assert_eq!(asked("both", &json!({"engine": "helm"})).split(' ').next(), Some("helm"));
    }

    #[test]
    fn what_is_wrong_is_refused_by_name() {
        for (folder, parameters, want, hint) in [
            (
                "chart",
                json!({"valueFiles": []}),
                "unknown parameter `valueFiles`",
                "did you mean `helm-value-files`? There are: helm-value-files, engine,",
            ),
            (
                "chart",
                json!({"images": []}),
                "unknown parameter `images`",
                "did you mean `kustomize-images`?",
            ),
            ("chart", json!({"zzz": []}), "unknown parameter `zzz`", "there are: engine, helm-value-files"),
            (
                "chart",
                json!({"helm-value-files": "a"}),
                "the parameter `helm-value-files` is given as `string`",
                "write it as `array`",
            ),
            (
                "chart",
                json!({"helm-skip-crds": "yes"}),
                "the parameter `helm-skip-crds` must be `true` or `false`, not `yes`",
                "",
            ),
            ("chart", json!({"engine": "jsonnet"}), "the parameter `engine` names none", "expected `helm`"),
            (
                "chart",
                json!({"kustomize-images": ["a"]}),
                "the parameter `kustomize-images` does not apply to a chart",
                "it is for kustomizations",
            ),
            (
                "overlay",
                json!({"helm-values": ""}),
                "the parameter `helm-values` does not apply to a kustomization without a chart",
                "it is for charts",
            ),
            (
                "plain",
                json!({"helm-values": ""}),
                "the parameter `helm-values` does not apply to a directory of manifests",
                "it is for charts",
            ),
            (
                "overlay",
                json!({"kustomize-replicas": {"web": "many"}}),
                "the parameter `kustomize-replicas` must have an integer for `web`",
                "",
            ),
            (
                "overlay",
                json!({"kustomize-patches": ["a: 1"]}),
                "this is not a patch",
                "an item of `kustomize-patches`",
            ),
            (
                "overlay",
                json!({"chain": "../plain"}),
                "no chart found in `../plain`",
                "the parameter `chain` must be",
            ),
            (
                "overlay",
                json!({"chain": "../../chart"}),
                "the chart `../../chart` is outside of the repository",
                "the parameter `chain` must be",
            ),
            ("chart", json!({"helm-value-files": ["../../x"]}), "`../../x` is outside of the repository", ""),
            ("chart", json!({"kube-version": "new"}), "invalid Kubernetes version `new`", ""),
            (
                "empty",
                json!({}),
                "the source renders no manifests, and Argo CD would delete all resources of the Application",
                "set ALLOW_EMPTY",
            ),
        ] {
            let error = run(folder, &parameters).unwrap_err();
            assert_eq!(error.message(), want, "{parameters}");
            assert!(error.get_hint().unwrap_or_default().starts_with(hint), "{parameters}: {error:?}");
        }
        assert!(run("empty", &json!({"allow-empty": "true"})).unwrap().1.objects.is_empty());
    }

    #[test]
    fn secrets_are_hidden_in_messages() {
        let parameters = json!({
            "helm-parameters": {"password": "hunter22", "on": "true"},
            "helm-values": "db:\n  token: \"s3cr3t-t0ken\"\n  list:\n  - p1ck-l3\n",
        });
        let (invocation, _) = run("chart", &parameters).unwrap();
        let message = "cannot take hunter22, s3cr3t-t0ken or p1ck-l3 for true";
        assert_eq!(invocation.without_secrets(message), "cannot take ***, *** or *** for true");
    }

    #[test]
    fn values_so_far_are_announced() {
        let announced = |folder: &str, parameters: &Value| {
            let variables = variables(parameters);
            let invocation = Invocation::read(&|name| variables.get(name).cloned()).unwrap();
            let tree = tree();
            let folder = Path::new("/repo").join(folder);
            let checkout = Checkout { files: &tree, root: Path::new("/repo"), folder: &folder };
            let announced = super::super::announce(&invocation, &checkout, &Scribe).unwrap();
            announced.into_iter().map(|each| (each.name, each.content)).collect::<BTreeMap<_, _>>()
        };
        let text = |text: &str| super::super::Content::Text(text.to_owned());
        let map = |entries: &[(&str, &str)]| {
            let entries = entries.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
            super::super::Content::Map(entries.collect())
        };
        let chart = announced("chart", &json!({"helm-value-files": ["prod.yaml"]}));
        assert_eq!(chart["engine"], text("helm"));
        assert_eq!(chart["helm-release-name"], text("web"));
        let values = [("image.tag", "2.0"), ("none", ""), ("ports[0]", "80"), ("ports[1].name", "x")];
        assert_eq!(chart["helm-parameters"], map(&values));
        assert!(!chart.contains_key("kustomize-images"));
        let overlay = announced("overlay", &json!({}));
        assert_eq!(overlay["kustomize-name-prefix"], text("dev-"));
        assert_eq!(overlay["kustomize-replicas"], map(&[("web", "2")]));
        assert!(!overlay.contains_key("helm-values"));
        let chained = announced("chained", &json!({}));
        assert_eq!(chained["chain"], text("."));
        assert!(chained.contains_key("helm-values"));
        assert_eq!(announced("overlay", &json!({"chain": "/chart"}))["chain"], text("../chart"));
    }
}
