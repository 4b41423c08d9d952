//! Charts from outside: targets of `build` beside overlays, and the commands that helm has for them.

use tests::{Folder, Outcome};

const RENDERER: &str = env!("CARGO_BIN_EXE_renderer-under-test");

const CHART: &str = "apiVersion: v2\nname: web\nversion: 1.2.3\n";
const TEMPLATE: &str = "\
kind: ConfigMap
apiVersion: v1
metadata: {name: '{{ .Release.Name }}', namespace: '{{ .Release.Namespace }}'}
data: {on: yes, color: '{{ .Values.color }}'}
";
const TEST: &str = "\
kind: Pod
metadata: {name: probe, annotations: {helm.sh/hook: test}}
";

fn renderer(folder: &Folder, arguments: &[&str]) -> Outcome {
    folder.run(RENDERER, arguments, "")
}

fn repository() -> Folder {
    Folder::with(&[
        ("charts/web/Chart.yaml", CHART),
        ("charts/web/values.yaml", "color: red\n"),
        ("charts/web/templates/cm.yaml", TEMPLATE),
        ("charts/web/templates/test.yaml", TEST),
        ("charts/nothing/Chart.yaml", "apiVersion: v2\nname: nothing\nversion: 0.1.0\n"),
        ("charts/broken/Chart.yaml", "apiVersion: v2\nname: broken\nversion: 0.1.0\n"),
        ("charts/broken/templates/a.yaml", "a: {{ .Values.a.b }}\n"),
        ("overlay/kustomization.yaml", "configMapGenerator:\n- {name: settings, literals: [a=1]}\n"),
        ("values.yaml", "color: blue\n"),
    ])
}

#[track_caller]
fn prints(outcome: &Outcome, stdout: &str) {
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert_eq!(outcome.stdout, stdout);
}

mod build {
    use super::*;

    const OVERLAY: &str = "\
apiVersion: v1
data:
  a: \"1\"
kind: ConfigMap
metadata:
  name: settings-h29d89cmmt
";

    fn chart(name: &str, namespace: &str, color: &str) -> String {
        format!(
            "---\n# Source: web/templates/cm.yaml\nkind: ConfigMap\napiVersion: v1\n\
             metadata: {{name: '{name}', namespace: '{namespace}'}}\ndata: {{on: yes, color: '{color}'}}\n"
        )
    }

    /// As `helm template web charts/web` prints it.
    #[test]
    fn the_release_of_a_chart_is_named_after_its_folder() {
        let repository = repository();
        let test = format!("---\n# Source: web/templates/test.yaml\n{TEST}\n");
        prints(&renderer(&repository, &["build", "charts/web"]), &(chart("web", "default", "red") + &test));
    }

    #[test]
    fn charts_and_overlays_make_one_stream() {
        let repository = repository();
        let outcome = renderer(
            &repository,
            &["build", "charts/web", "overlay", "charts/nothing", "charts/web", "--skip-tests"],
        );
        let web = chart("web", "default", "red");
        prints(&outcome, &format!("{web}---\n{OVERLAY}{web}"));
    }

    #[test]
    fn what_is_said_of_charts_counts_for_all_of_them() {
        let repository = repository();
        let flags = [
            "-f",
            "values.yaml",
            "-n",
            "prod",
            "--release-name",
            "shop",
            "--no-hooks",
            "--output-dir",
            "out",
        ];
        let outcome = renderer(&repository, &[&["build", "charts/web", "overlay"], &flags[..]].concat());
        prints(&outcome, "");
        assert_eq!(repository.read("out/charts/web.yaml"), Some(chart("shop", "prod", "blue")));
        assert_eq!(repository.read("out/overlay.yaml").as_deref(), Some(OVERLAY));
    }

    /// As Helm reads what a chart gives: `on` and `yes` are booleans.
    #[test]
    fn what_charts_give_can_be_json() {
        let outcome =
            renderer(&repository(), &["build", "charts/web", "charts/nothing", "--no-hooks", "-o", "json"]);
        let object = "{\"apiVersion\":\"v1\",\"data\":{\"color\":\"red\",\"true\":true},\"kind\":\"ConfigMap\",\
                      \"metadata\":{\"name\":\"web\",\"namespace\":\"default\"}}";
        prints(&outcome, &format!("[\n{object}\n]\n"));
    }

    #[test]
    fn errors_name_the_target() {
        let outcome = renderer(&repository(), &["build", "charts/web", "charts/broken"]);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(1), ""));
        assert!(outcome.stderr.contains("nil pointer evaluating interface {}.b"), "{}", outcome.stderr);
        assert!(outcome.stderr.contains("while building `charts/broken`"), "{}", outcome.stderr);
    }
}

mod show {
    use super::*;

    #[test]
    fn a_part_of_a_chart_is_printed() {
        let repository = repository();
        prints(&renderer(&repository, &["helm", "show", "values", "charts/web"]), "color: red\n\n");
        prints(&renderer(&repository, &["helm", "inspect", "chart", "charts/web"]), &format!("{CHART}\n"));
        prints(&renderer(&repository, &["helm", "show", "readme", "charts/web"]), "");
        let all = format!("{CHART}\n---\ncolor: red\n\n");
        prints(&renderer(&repository, &["helm", "show", "all", "charts/web"]), &all);
    }

    #[test]
    fn what_is_no_chart_is_refused() {
        let outcome = renderer(&repository(), &["helm", "show", "values", "overlay"]);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(1), ""));
        assert!(outcome.stderr.contains("Chart.yaml file is missing"), "{}", outcome.stderr);
    }
}

mod version {
    use super::*;

    /// Kustomize and Argo CD look for `v4.3.1` in it.
    #[test]
    fn it_says_which_helm_it_renders_as() {
        let folder = Folder::with(&[]);
        let short = renderer(&folder, &["helm", "version", "--short"]);
        assert!(
            short.stdout.starts_with("v4.3.1+renderer.") && short.stdout.ends_with('\n'),
            "{}",
            short.stdout
        );
        let whole = renderer(&folder, &["helm", "version"]);
        assert!(
            whole.stdout.starts_with("version.BuildInfo{Version:\"v4.3.1\", GitCommit:"),
            "{}",
            whole.stdout
        );
        prints(
            &renderer(&folder, &["helm", "version", "--template", "Version: {{.Version}}"]),
            "Version: v4.3.1",
        );
        let outcome = renderer(&folder, &["helm", "version", "--template", "{{.Nope}}"]);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(1), ""));
    }
}
