//! Charts from outside: targets of `build` beside overlays, and the commands that helm has for them.

use testkit::{Folder, Outcome};

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
        assert!(outcome.stderr.contains("in the chart `overlay`"), "{}", outcome.stderr);
    }

    /// As `helm template overlay` has it, which looks for the file before it loads the chart.
    #[test]
    fn what_is_no_chart_is_not_rendered() {
        let outcome = renderer(&repository(), &["helm", "template", "overlay"]);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(1), ""));
        assert!(outcome.stderr.contains("unable to detect chart at /"), "{}", outcome.stderr);
        assert!(outcome.stderr.contains("/overlay/Chart.yaml: no such file"), "{}", outcome.stderr);
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

mod lookup {
    use super::*;

    const OBJECTS: &str = "\
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Secret, metadata: {name: db, namespace: prod}, data: {password: c2VjcmV0}}
";

    fn repository() -> Folder {
        let template = "password: {{ (lookup \"v1\" \"Secret\" \"prod\" \"db\").data.password }}\n\
                        others: {{ len (lookup \"v1\" \"ConfigMap\" \"prod\" \"\").items }}\n";
        Folder::with(&[
            ("web/Chart.yaml", CHART),
            ("web/templates/a.yaml", template),
            ("objects.yaml", OBJECTS),
            (
                "dump/b/more.json",
                "{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"metadata\": {\"name\": \"a\", \"namespace\": \"prod\"}}",
            ),
            ("dump/notes.txt", "no object"),
            ("bad.yaml", "kind: Secret\n"),
        ])
    }

    #[test]
    fn objects_are_found_in_files_and_folders() {
        let arguments = ["helm", "template", "web", "--lookup-from", "objects.yaml", "--lookup-from", "dump"];
        let outcome = renderer(&repository(), &arguments);
        prints(&outcome, "---\n# Source: web/templates/a.yaml\npassword: c2VjcmV0\nothers: 1\n");
        assert_eq!(outcome.stderr, "");
    }

    #[test]
    fn what_is_no_object_is_refused() {
        for (path, message) in [
            ("bad.yaml", "the object lacks `apiVersion` or `kind`\n  --> bad.yaml:1:1"),
            ("none.yaml", "cannot read `none.yaml`"),
        ] {
            let outcome = renderer(&repository(), &["helm", "template", "web", "--lookup-from", path]);
            assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(1), ""));
            assert!(outcome.stderr.contains(message), "{}", outcome.stderr);
        }
    }
}

mod post_renderer {
    use super::*;

    #[test]
    fn a_program_has_the_last_word() {
        let arguments = ["helm", "template", "charts/web", "--no-hooks", "--post-renderer", "sed"];
        let program = ["--post-renderer-args", "-e", "--post-renderer-args", "s/red/green/"];
        let outcome = renderer(&repository(), &[&arguments[..], &program].concat());
        assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
        assert!(outcome.stdout.ends_with("data: {on: yes, color: 'green'}\n"), "{}", outcome.stdout);
    }

    #[test]
    fn a_program_that_fails_or_prints_no_manifests_is_an_error() {
        for (program, script, message) in [
            ("sh", "echo no way >&2; exit 3", "the post-renderer `sh` failed: exit status: 3\nno way"),
            ("sh", "echo - a", "the post-renderer `sh` did not print a manifest: YAML parse error on sh"),
            ("./nothing", "", "cannot run the post-renderer `./nothing`"),
        ] {
            let arguments = ["helm", "template", "charts/web", "--post-renderer", program];
            let program = ["--post-renderer-args", "-c", "--post-renderer-args", script];
            let outcome = renderer(&repository(), &[&arguments[..], &program].concat());
            assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(1), ""), "{}", outcome.stderr);
            assert!(outcome.stderr.contains(message), "{}", outcome.stderr);
        }
    }
}
