//! `renderer` as it is typed: exit codes, what goes to which stream, what is written where.

use std::fs;

use testkit::{Folder, Outcome};

const RENDERER: &str = env!("CARGO_BIN_EXE_renderer-under-test");

const CONFIG_MAP: &str = "\
apiVersion: v1
data:
  a: \"1\"
kind: ConfigMap
metadata:
  name: settings
";

fn renderer(folder: &Folder, arguments: &[&str]) -> Outcome {
    folder.run(RENDERER, arguments, "")
}

/// One good target, one with a warning (a deprecated field), one that is wrong.
fn repository() -> Folder {
    Folder::with(&[
        ("base/kustomization.yaml", "resources:\n- settings.yaml\n"),
        ("base/settings.yaml", CONFIG_MAP),
        ("apps/good/kustomization.yaml", "resources:\n- ../../base\n"),
        ("apps/old/kustomization.yaml", "bases:\n- ../../base\n"),
        ("apps/wrong/kustomization.yaml", "resources:\n- ../../base\nnamePrefx: a-\n"),
        ("empty/kustomization.yaml", "resources: [none.yaml]\n"),
        ("empty/none.yaml", ""),
    ])
}

#[track_caller]
fn fails(outcome: &Outcome, code: i32, message: &str) {
    assert_eq!(outcome.code, Some(code), "{}", outcome.stderr);
    assert_eq!(outcome.stdout, "");
    assert!(outcome.stderr.contains(message), "{}", outcome.stderr);
    assert!(
        outcome.stderr.starts_with("error: ") || outcome.stderr.starts_with("warning"),
        "{}",
        outcome.stderr
    );
}

#[track_caller]
fn prints(outcome: &Outcome, stdout: &str) {
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert_eq!(outcome.stdout, stdout);
}

mod kustomize_build {
    use super::*;

    #[test]
    fn manifests_go_to_standard_output() {
        let outcome = renderer(&repository(), &["kustomize", "build", "apps/good"]);
        prints(&outcome, CONFIG_MAP);
        assert_eq!(outcome.stderr, "");
    }

    #[test]
    fn the_working_directory_is_built_where_none_is_named() {
        let folder = Folder::with(&[("kustomization.yaml", "resources: [a.yaml]\n"), ("a.yaml", CONFIG_MAP)]);
        prints(&renderer(&folder, &["kustomize", "build"]), CONFIG_MAP);
    }

    #[test]
    fn wrong_input_is_1_and_says_where() {
        let outcome = renderer(&repository(), &["kustomize", "build", "apps/wrong"]);
        fails(&outcome, 1, "--> apps/wrong/kustomization.yaml:3:1\n");
        assert!(outcome.stderr.contains(" 3 | namePrefx: a-\n   | ^^^^^^^^^\n"), "{}", outcome.stderr);
        assert!(outcome.stderr.contains("hint: did you mean `namePrefix`?"), "{}", outcome.stderr);
        fails(&renderer(&repository(), &["kustomize", "build", "nothing"]), 1, "`nothing` does not exist");
    }

    #[test]
    fn wrong_usage_is_2() {
        let folder = repository();
        fails(&renderer(&folder, &["kustomize", "build", "--no-such-flag"]), 2, "--no-such-flag");
        fails(&renderer(&folder, &["kustomize", "build", "apps/good", "apps/old"]), 2, "apps/old");
        fails(
            &renderer(&folder, &["kustomize", "build", "--load-restrictor", "some"]),
            2,
            "LoadRestrictionsNone",
        );
        fails(&renderer(&folder, &["kustomize", "build", "--enable-star", "apps/good"]), 2, "Starlark");
        fails(&renderer(&folder, &["no-such-command"]), 2, "no-such-command");
    }

    #[test]
    fn a_failing_machine_is_3() {
        let folder = repository();
        fails(
            &renderer(&folder, &["kustomize", "build", "apps/good", "-o", "missing/out.yaml"]),
            3,
            "missing/out.yaml",
        );
    }

    #[test]
    fn warnings_go_to_standard_error() {
        let outcome = renderer(&repository(), &["kustomize", "build", "apps/old"]);
        prints(&outcome, CONFIG_MAP);
        assert!(outcome.stderr.starts_with("warning[KUST-W005]: "), "{}", outcome.stderr);
        assert!(outcome.stderr.contains("--> apps/old/kustomization.yaml:1:1\n"), "{}", outcome.stderr);
    }

    #[test]
    fn quiet_hides_warnings_and_strict_fails_on_them() {
        let folder = repository();
        let outcome = renderer(&folder, &["kustomize", "build", "--quiet", "apps/old"]);
        prints(&outcome, CONFIG_MAP);
        assert_eq!(outcome.stderr, "");
        let outcome = renderer(&folder, &["kustomize", "build", "--strict", "apps/old", "-o", "out.yaml"]);
        fails(&outcome, 1, "error: there is a warning");
        assert_eq!(folder.read("out.yaml"), None);
        fails(
            &renderer(&folder, &["kustomize", "build", "--strict", "-q", "apps/old"]),
            1,
            "there is a warning",
        );
        prints(&renderer(&folder, &["kustomize", "build", "--strict", "apps/good"]), CONFIG_MAP);
    }

    #[test]
    fn a_switch_takes_a_value_as_in_go() {
        let folder = repository();
        prints(&renderer(&folder, &["kustomize", "build", "--strict=false", "apps/old"]), CONFIG_MAP);
        // The last one counts.
        prints(
            &renderer(&folder, &["kustomize", "build", "--strict", "--strict=false", "apps/old"]),
            CONFIG_MAP,
        );
        fails(&renderer(&folder, &["kustomize", "build", "--strict=perhaps", "apps/old"]), 2, "perhaps");
    }

    #[test]
    fn all_flags_of_kustomize_are_known() {
        let flags = "--as-current-user --enable-alpha-plugins --enable-exec --enable-helm --enable-managedby-label=false \
             -e A=b --env C --helm-api-versions a/v1 --helm-command helm --helm-debug --helm-kube-version 1.30 \
             --load-restrictor LoadRestrictionsNone --mount type=bind --network --network-name bridge --reorder legacy";
        let mut arguments = vec!["kustomize", "build", "apps/good"];
        arguments.extend(flags.split(' ').filter(|flag| !flag.is_empty()));
        prints(&renderer(&repository(), &arguments), CONFIG_MAP);
    }

    #[test]
    fn a_file_is_written_whole_or_not_at_all() {
        let folder = repository();
        folder.write("out.yaml", "old\n");
        fails(&renderer(&folder, &["kustomize", "build", "apps/wrong", "-o", "out.yaml"]), 1, "namePrefx");
        assert_eq!(folder.read("out.yaml").as_deref(), Some("old\n"));
        prints(&renderer(&folder, &["kustomize", "build", "apps/good", "-o", "out.yaml"]), "");
        assert_eq!(folder.read("out.yaml").as_deref(), Some(CONFIG_MAP));
    }

    #[test]
    fn a_folder_gets_a_file_for_each_resource() {
        let folder = Folder::with(&[
            ("kustomization.yaml", "resources: [all.yaml]\n"),
            (
                "all.yaml",
                "{apiVersion: v1, kind: Namespace, metadata: {name: web}}\n---\n\
                 {apiVersion: apps/v1, kind: Deployment, metadata: {name: Web, namespace: web}}\n",
            ),
        ]);
        fs::create_dir(folder.path("out")).unwrap();
        prints(&renderer(&folder, &["kustomize", "build", "-o", "out"]), "");
        // As Kustomize 5.8.1 names them.
        assert_eq!(folder.files("out"), ["apps_v1_deployment_web.yaml", "v1_namespace_web.yaml"]);
        folder.write(
            "all.yaml",
            &format!("{CONFIG_MAP}---\n{}", CONFIG_MAP.replace("name:", "namespace: b\n  name:")),
        );
        prints(&renderer(&folder, &["kustomize", "build", "-o", "out"]), "");
        let several = ["b_v1_configmap_settings.yaml", "default_v1_configmap_settings.yaml"];
        assert_eq!(folder.files("out")[1..3], several);
        assert_eq!(folder.read("out/default_v1_configmap_settings.yaml").as_deref(), Some(CONFIG_MAP));
    }

    #[test]
    fn no_resource_is_written_outside_the_folder_or_over_another() {
        for (names, message) in
            [(["../../evil", "b"], "invalid file name"), (["twin", "Twin"], "both be written to")]
        {
            let folder = Folder::with(&[("app/kustomization.yaml", "resources: [all.yaml]\n")]);
            let all = names.map(|name| format!("{{apiVersion: v1, kind: A, metadata: {{name: {name}}}}}\n"));
            folder.write("app/all.yaml", &all.join("---\n"));
            fs::create_dir(folder.path("out")).unwrap();
            fails(&renderer(&folder, &["kustomize", "build", "app", "-o", "out"]), 1, message);
            assert!(folder.files("out").is_empty());
        }
    }

    #[test]
    fn json_is_an_array() {
        let folder = repository();
        let object =
            r#"{"apiVersion":"v1","data":{"a":"1"},"kind":"ConfigMap","metadata":{"name":"settings"}}"#;
        let outcome = renderer(&folder, &["kustomize", "build", "-o", "json", "apps/good"]);
        prints(&outcome, &format!("[\n{object}\n]\n"));
        prints(&renderer(&folder, &["kustomize", "build", "-o", "json", "empty"]), "[]\n");
        prints(&renderer(&folder, &["kustomize", "build", "-o", "yaml", "apps/good"]), CONFIG_MAP);
        prints(&renderer(&folder, &["kustomize", "build", "-o", "", "apps/good"]), CONFIG_MAP);
        // A file of that name is still to be had.
        prints(&renderer(&folder, &["kustomize", "build", "-o", "./json", "apps/good"]), "");
        assert_eq!(folder.read("json").as_deref(), Some(CONFIG_MAP));
    }

    #[test]
    fn a_reader_that_stops_is_no_fault() {
        let command = format!("{RENDERER} kustomize build apps/good | true; exit ${{PIPESTATUS[0]}}");
        assert_eq!(repository().run("bash", &["-c", &command], "").code, Some(0));
    }

    #[test]
    fn messages_are_coloured_only_where_wanted() {
        let folder = repository();
        let plain = renderer(&folder, &["kustomize", "build", "apps/wrong"]).stderr;
        assert!(!plain.contains('\u{1b}'), "{plain}");
        let command = format!("CLICOLOR_FORCE=1 {RENDERER} kustomize build apps/wrong");
        let forced = folder.run("sh", &["-c", &command], "").stderr;
        assert!(forced.contains("\u{1b}["), "{forced}");
    }
}

mod build {
    use super::*;

    #[test]
    fn each_target_gets_a_file() {
        let folder = repository();
        let outcome = renderer(&folder, &["build", "apps/good", "base", "--output-dir", "out/all"]);
        prints(&outcome, "");
        assert_eq!(folder.files("out"), ["all/apps/good.yaml", "all/base.yaml"]);
        assert_eq!(folder.read("out/all/apps/good.yaml").as_deref(), Some(CONFIG_MAP));
    }

    #[test]
    fn a_failed_target_does_not_stop_the_others() {
        let folder = repository();
        folder.write("out/apps/wrong.yaml", "old\n");
        let outcome =
            renderer(&folder, &["build", "nothing", "apps/wrong", "apps/good", "--output-dir", "out"]);
        fails(&outcome, 1, "while building `apps/wrong`");
        assert!(outcome.stderr.contains("`nothing` does not exist"), "{}", outcome.stderr);
        assert_eq!(outcome.stderr.matches("error: ").count(), 2);
        assert_eq!(folder.files("out"), ["apps/good.yaml", "apps/wrong.yaml"]);
        assert_eq!(folder.read("out/apps/wrong.yaml").as_deref(), Some("old\n"));
    }

    #[test]
    fn without_a_folder_all_go_to_standard_output_or_none() {
        let folder = repository();
        prints(
            &renderer(&folder, &["build", "base", "empty", "apps/good"]),
            &format!("{CONFIG_MAP}---\n{CONFIG_MAP}"),
        );
        fails(&renderer(&folder, &["build", "base", "apps/wrong"]), 1, "namePrefx");
    }

    #[test]
    fn targets_are_read_from_standard_input() {
        let folder = repository();
        let outcome = folder.run(RENDERER, &["build", "-", "--output-dir", "out"], "base\n\napps/good\n");
        prints(&outcome, "");
        assert_eq!(folder.files("out"), ["apps/good.yaml", "base.yaml"]);
    }

    #[test]
    fn strict_fails_only_the_targets_with_warnings() {
        let folder = repository();
        let outcome = renderer(&folder, &["build", "--strict", "apps/old", "base", "--output-dir", "out"]);
        fails(&outcome, 1, "while building `apps/old`");
        assert_eq!(folder.files("out"), ["base.yaml"]);
    }

    #[test]
    fn json_files_are_named_so() {
        let folder = repository();
        prints(&renderer(&folder, &["build", "base", "-o", "json", "--output-dir", "out"]), "");
        assert_eq!(folder.files("out"), ["base.json"]);
    }

    #[test]
    fn the_order_of_targets_is_kept() {
        let folder = Folder::with(&[]);
        let names: Vec<String> = (0..40).map(|number| format!("app{number}")).collect();
        for name in &names {
            folder.write(&format!("{name}/kustomization.yaml"), "resources: [a.yaml]\n");
            folder.write(&format!("{name}/a.yaml"), &CONFIG_MAP.replace("settings", name));
        }
        let mut arguments = vec!["build", "--jobs", "8"];
        arguments.extend(names.iter().map(String::as_str));
        let want: Vec<String> = names.iter().map(|name| CONFIG_MAP.replace("settings", name)).collect();
        prints(&renderer(&folder, &arguments), &want.join("---\n"));
    }

    #[test]
    fn nothing_is_written_above_the_output_folder() {
        let folder = repository();
        let outcome = folder.run(
            "sh",
            &["-c", &format!("cd apps && {RENDERER} build ../base --output-dir ../out")],
            "",
        );
        fails(&outcome, 2, "has no path below");
        assert!(folder.files("out").is_empty());
    }
}

mod about {
    use super::*;

    #[test]
    fn every_command_has_help_with_examples() {
        let folder = Folder::with(&[]);
        for command in [&["build"][..], &["kustomize", "build"], &["completion"], &["man"]] {
            let outcome = renderer(&folder, &[command, &["--help"]].concat());
            assert_eq!(outcome.code, Some(0));
            assert!(outcome.stdout.contains("Examples:"), "{}", outcome.stdout);
        }
        // Nothing asked for is wrong usage, and help is what it needs.
        let outcome = renderer(&folder, &[]);
        assert_eq!(outcome.code, Some(2));
        assert!(outcome.stderr.contains("Usage:"), "{}", outcome.stderr);
    }

    #[test]
    fn versions_are_told() {
        let folder = Folder::with(&[]);
        let outcome = renderer(&folder, &["version"]);
        assert!(outcome.stdout.contains("Kustomize 5.8.1"), "{}", outcome.stdout);
        let outcome = renderer(&folder, &["version", "-o", "json"]);
        assert!(outcome.stdout.starts_with("{\"renderer\":\""), "{}", outcome.stdout);
    }

    #[test]
    fn shells_complete_it() {
        let folder = Folder::with(&[]);
        for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
            let outcome = renderer(&folder, &["completion", shell]);
            assert_eq!(outcome.code, Some(0));
            assert!(outcome.stdout.contains("load-restrictor"), "{shell}");
        }
    }

    #[test]
    fn there_is_a_page_for_each_command() {
        let folder = Folder::with(&[]);
        let outcome = renderer(&folder, &["man", "kustomize", "build"]);
        assert!(outcome.stdout.contains("load\\-restrictor"), "{}", outcome.stdout);
        assert!(
            outcome.stdout.contains("renderer kustomize build")
                || outcome.stdout.contains("renderer\\-kustomize\\-build")
        );
        assert!(renderer(&folder, &["man"]).stdout.contains(".TH"));
        fails(&renderer(&folder, &["man", "no", "such"]), 2, "unknown command `no`");
    }
}
