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
