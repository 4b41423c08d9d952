//! `renderer helm lint`: the charts of `testdata/lint`, whose `.out` files are what helm 4.3.1 prints of them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use helm_lite::{File, pack};
use testkit::Folder;

const RENDERER: &str = env!("CARGO_BIN_EXE_renderer-under-test");

/// The name of the wanted text, the command line, and what is said on standard error where charts fail.
const CASES: &[(&str, &[&str], &str)] = &[
    ("bad", &["bad"], "1 chart(s) linted, 1 chart(s) failed"),
    ("good", &["good"], ""),
    ("quiet", &["good", "--quiet"], ""),
    ("missing", &["good", "nothing"], "2 chart(s) linted, 1 chart(s) failed"),
    ("subcharts", &["bad", "good", "--quiet", "--with-subcharts"], "3 chart(s) linted, 1 chart(s) failed"),
    ("values", &["good", "--set", "name=A_"], ""),
    ("strict", &["good", "--set", "name=A_", "--strict"], "1 chart(s) linted, 1 chart(s) failed"),
    (
        "old-cluster",
        &["bad", "--set", "replicas=x", "--skip-schema-validation", "--kube-version", "1.7.0", "--quiet"],
        "1 chart(s) linted, 1 chart(s) failed",
    ),
    ("schema", &["bad", "--set", "replicas=x", "--quiet"], "1 chart(s) linted, 1 chart(s) failed"),
];

struct Outcome {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

fn lint(arguments: &[&str]) -> Outcome {
    let mut command = Command::new(RENDERER);
    command.args(["helm", "lint"]).args(arguments).current_dir(testdata().join("charts"));
    let output = command.output().expect("the program can be run");
    let text = |bytes| String::from_utf8(bytes).expect("it prints text");
    Outcome { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

fn testdata() -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/lint");
    folder.canonicalize().expect("the cases are there")
}

#[test]
fn charts_are_judged_as_helm_judges_them() {
    let folder = testdata();
    for (name, arguments, error) in CASES {
        let wanted = fs::read_to_string(folder.join(format!("{name}.out"))).expect(name);
        let wanted = wanted.replace("FOLDER", &folder.join("charts").to_string_lossy());
        let outcome = lint(arguments);
        assert_eq!(outcome.stdout, wanted, "{name}");
        assert_eq!(outcome.code, Some(i32::from(!error.is_empty())), "{name}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(error), "{name}: {}", outcome.stderr);
    }
}

#[test]
fn an_archive_is_judged_like_a_folder() {
    let archives = Folder::with(&[]);
    let path = archives.path("good-1.0.0.tgz");
    let files = ["Chart.yaml", "values.yaml", "templates/a.yaml"].map(|name| {
        let data = fs::read(testdata().join("charts/good").join(name)).expect(name);
        File::new(name, &data)
    });
    let packed = pack("good", &files).expect("an archive");
    fs::write(&path, packed).expect("a file can be written");
    let path = path.to_string_lossy();
    let wanted = format!(
        "==> Linting {path}\n[INFO] Chart.yaml: icon is recommended\n\n1 chart(s) linted, 0 chart(s) failed\n"
    );
    assert_eq!(lint(&[&*path]).stdout, wanted);
    fs::write(archives.path("bad.tgz"), "no archive").expect("a file can be written");
    let outcome = lint(&[&archives.path("bad.tgz").to_string_lossy()]);
    assert_eq!(outcome.code, Some(1));
    assert!(outcome.stdout.contains("\nError unable to extract tarball: "), "{}", outcome.stdout);
}

#[test]
fn what_cannot_be_asked_is_refused() {
    let outcome = lint(&["good", "--kube-version", "x"]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(1), ""));
    assert!(
        outcome.stderr.contains("invalid kube version 'x': could not parse \"x\" as version"),
        "{}",
        outcome.stderr
    );
}
