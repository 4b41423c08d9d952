//! `image-updater` as it is typed: what is chosen and why, exit codes, what goes to which stream.

use std::collections::BTreeMap;

use serde::Deserialize;
use testkit::{Folder, Outcome};

const IMAGE_UPDATER: &str = env!("CARGO_BIN_EXE_image-updater-under-test");

const CHOICES: &str = include_str!("../../testdata/image-updater/choices.toml");

const TAGS: &str = r#"["1.2.0", "1.3.0", "2.0.0-rc.1", "latest"]"#;

fn image_updater(folder: &Folder, arguments: &[&str]) -> Outcome {
    folder.run(IMAGE_UPDATER, arguments, TAGS)
}

#[track_caller]
fn fails(outcome: &Outcome, code: i32, message: &str) {
    assert_eq!(outcome.code, Some(code), "{}", outcome.stderr);
    assert_eq!(outcome.stdout, "");
    assert!(outcome.stderr.contains(message), "{}", outcome.stderr);
    assert!(outcome.stderr.starts_with("error: "), "{}", outcome.stderr);
}

mod choices {
    use super::*;

    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Cases {
        case: Vec<Case>,
    }

    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Case {
        why: String,
        #[serde(default, rename = "from")]
        _from: String,
        #[serde(default = "image")]
        image: String,
        #[serde(default)]
        args: Vec<String>,
        tags: String,
        chosen: Option<String>,
        #[serde(default)]
        reasons: BTreeMap<String, String>,
        warning: Option<String>,
        error: Option<String>,
    }

    #[derive(Deserialize)]
    struct Decision {
        chosen: Option<String>,
        decisions: Vec<Verdict>,
    }

    #[derive(Deserialize)]
    struct Verdict {
        tag: String,
        reason: String,
    }

    fn image() -> String {
        "registry.test/shop".to_owned()
    }

    #[test]
    fn are_as_told() {
        let cases: Cases = toml::from_str(CHOICES).unwrap();
        assert!(cases.case.len() > 30, "all cases are read");
        for case in &cases.case {
            judge(case);
        }
    }

    fn judge(case: &Case) {
        let why = &case.why;
        let folder = Folder::with(&[("tags.json", &case.tags)]);
        let mut arguments = vec!["test", &case.image, "--tags-from", "tags.json", "-o", "json"];
        arguments.extend(case.args.iter().map(String::as_str));
        let outcome = image_updater(&folder, &arguments);
        if let Some(error) = &case.error {
            return fails(&outcome, 1, error);
        }
        assert_eq!(outcome.code, Some(0), "{why}: {}", outcome.stderr);
        match &case.warning {
            Some(warning) => assert!(outcome.stderr.contains(warning), "{why}: {}", outcome.stderr),
            None => assert_eq!(outcome.stderr, "", "{why}"),
        }
        let decision: Decision = serde_json::from_str(&outcome.stdout).expect("JSON");
        assert_eq!(decision.chosen, case.chosen, "{why}");
        for (tag, reason) in &case.reasons {
            let told = decision.decisions.iter().find(|verdict| verdict.tag == *tag).expect("a verdict");
            assert_eq!(told.reason, *reason, "{why}: {tag}");
        }
    }
}

mod test {
    use super::*;

    #[test]
    fn the_decision_is_json_with_every_tag() {
        let folder = Folder::with(&[("tags.json", TAGS)]);
        let outcome =
            image_updater(&folder, &["test", "r.test/a:1.2.0", "--tags-from", "tags.json", "-o", "json"]);
        assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&outcome.stdout).unwrap(),
            serde_json::json!({
                "image": "r.test/a:1.2.0",
                "current": "1.2.0",
                "chosen": "1.3.0",
                "digest": null,
                "decisions": [
                    {"tag": "1.3.0", "verdict": "chosen", "reason": "the highest version"},
                    {"tag": "1.2.0", "verdict": "kept", "reason": "lower than `1.3.0`"},
                    {"tag": "2.0.0-rc.1", "verdict": "dropped", "reason": "a pre-release, and none is asked for"},
                    {"tag": "latest", "verdict": "dropped", "reason": "no version"},
                ],
            })
        );
    }

    #[test]
    fn a_person_gets_a_table_and_no_colours_in_a_pipe() {
        let outcome = image_updater(&Folder::with(&[]), &["test", "r.test/a", "--tags-from", "-"]);
        assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
        assert_eq!(
            outcome.stdout,
            "IMAGE    r.test/a\nCURRENT  -\nCHOSEN   1.3.0\nDIGEST   -\n\n\
             TAG         VERDICT  REASON\n\
             1.3.0       chosen   the highest version\n\
             1.2.0       kept     lower than `1.3.0`\n\
             2.0.0-rc.1  dropped  a pre-release, and none is asked for\n\
             latest      dropped  no version\n"
        );
    }

    #[test]
    fn all_that_is_wrong_is_1() {
        let folder =
            Folder::with(&[("tags.json", TAGS), ("bad.json", "[\"1.0\",\n 2]"), ("no.json", "\u{0}")]);
        let run = |arguments: &[&str]| {
            let start = ["test", "r.test/a", "--tags-from", "tags.json"];
            image_updater(&folder, &[&start, arguments].concat())
        };
        fails(&run(&["--update-strategy", "highest"]), 1, "highest");
        fails(&run(&["--order", "up", "--update-strategy", "numerical"]), 1, "up");
        fails(&run(&["--no-such-flag"]), 1, "--no-such-flag");
        fails(&run(&["--semver-constraint", ">>1"]), 1, "invalid version constraint `>>1`");
        fails(&run(&["--min-age", "3"]), 1, "a unit is missing");
        fails(&run(&["--now", "today"]), 1, "invalid time `today`");
        fails(&run(&["--platforms", "linux"]), 1, "invalid platform `linux`");
        fails(&run(&["--ignore-tags", "a["]), 1, "invalid glob `a[`");
        fails(&run(&["--extract", "$1"]), 1, "`filter-tags` matches, which is missing");
        fails(&run(&["--current", "a b"]), 1, "invalid current tag `a b`");
        let from = |file: &str| image_updater(&folder, &["test", "r.test/a", "--tags-from", file]);
        fails(&from("bad.json"), 1, "--> bad.json:2:2");
        fails(&from("no.json"), 1, "--> no.json:1:1");
        fails(&from("missing.json"), 1, "cannot read `missing.json`");
        fails(&image_updater(&folder, &["test", "R.test/A b", "--tags-from", "tags.json"]), 1, "A b");
    }
}

mod explain {
    use super::*;

    #[test]
    fn every_tag_has_the_rule_that_decided() {
        let folder = Folder::with(&[("tags.json", TAGS)]);
        let outcome = image_updater(&folder, &["explain", "r.test/a", "--tags-from", "tags.json"]);
        assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
        assert_eq!(
            outcome.stdout,
            "IMAGE    r.test/a\nCURRENT  -\nCHOSEN   1.3.0\nDIGEST   -\n\n\
             RULE        DROPPED\n\
             prerelease  1\n\
             version     1\n\n\
             TAG         VERDICT  RULE        REASON\n\
             1.3.0       chosen   order       the highest version\n\
             1.2.0       kept     order       lower than `1.3.0`\n\
             2.0.0-rc.1  dropped  prerelease  a pre-release, and none is asked for\n\
             latest      dropped  version     no version\n"
        );
    }

    #[test]
    fn one_tag_can_be_asked_for() {
        let folder = Folder::with(&[("tags.json", TAGS)]);
        let run = |tag: &str| {
            image_updater(&folder, &["explain", "r.test/a", tag, "--tags-from", "tags.json", "-o", "json"])
        };
        let explanation: serde_json::Value = serde_json::from_str(&run("latest").stdout).unwrap();
        let told = serde_json::json!([
            {"tag": "latest", "verdict": "dropped", "rule": "version", "reason": "no version"}
        ]);
        assert_eq!(explanation["tags"], told);
        assert_eq!(explanation["chosen"], "1.3.0");
        fails(&run("9.9.9"), 1, "no tag `9.9.9` of `r.test/a`");
    }
}

mod others {
    use super::*;

    #[test]
    fn wrong_usage_is_2() {
        let folder = Folder::with(&[]);
        let outcome = image_updater(&folder, &["no-such-command"]);
        fails(&outcome, 2, "no-such-command");
        assert_eq!(image_updater(&folder, &["--help"]).code, Some(0));
    }

    #[test]
    fn every_command_has_examples() {
        let folder = Folder::with(&[]);
        for command in ["test", "explain", "schema", "completion", "version"] {
            let outcome = image_updater(&folder, &[command, "--help"]);
            assert!(outcome.stdout.contains("Examples:"), "{command}: {}", outcome.stdout);
            assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""));
        }
    }

    #[test]
    fn shells_complete_commands() {
        let folder = Folder::with(&[]);
        for shell in ["bash", "zsh", "fish"] {
            let outcome = image_updater(&folder, &["completion", shell]);
            assert!(outcome.stdout.contains("explain"), "{shell}");
        }
    }
}
