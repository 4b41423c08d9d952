//! Every folder of `testdata/kustomize-edit` is a test: `kustomize edit` runs on its input, through a link of that name, and
//! must leave a file that holds what Kustomize's holds, and from which the same is built.
//!
//! The answers are Kustomize 5.8.1's: its file, what it builds from that, or its error.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use libtest_mimic::{Arguments, Failed, Trial};
use serde::Deserialize;
use testkit::Folder;
use yamledit::{Content, File};

const RENDERER: &str = env!("CARGO_BIN_EXE_renderer-under-test");

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    why: String,
    #[serde(rename = "from")]
    _from: String,
    commands: Vec<Vec<String>>,
    #[serde(default = "usual_name")]
    file: String,
}

fn usual_name() -> String {
    "kustomization.yaml".to_owned()
}

fn main() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/kustomize-edit");
    let mut cases: Vec<PathBuf> = fs::read_dir(&top)
        .unwrap_or_else(|error| panic!("{}: {error}", top.display()))
        .filter_map(|entry| Some(entry.ok()?.path()).filter(|path| path.is_dir()))
        .collect();
    cases.sort();
    assert!(!cases.is_empty(), "no cases in {}", top.display());
    let trial = |folder: PathBuf| {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Trial::test(name, move || run(&folder))
    };
    libtest_mimic::run(&Arguments::from_args(), cases.into_iter().map(trial).collect()).exit();
}

fn run(case: &Path) -> Result<(), Failed> {
    let wanted = |name: &str| fs::read_to_string(case.join(name)).ok();
    let toml = wanted("case.toml").ok_or("there is no case.toml")?;
    let Case { why, commands, file, .. } = toml::from_str(&toml)?;
    let folder = Folder::with(&[]);
    copy(&case.join("in"), &folder.path("work"));
    symlink(RENDERER, folder.path("kustomize"))?;
    let program = folder.path("kustomize").display().to_string();
    let work = folder.path("work").canonicalize()?;
    let kustomize = |arguments: &[&str]| {
        let script = ["-c", "cd work && exec \"$0\" \"$@\"", &program];
        folder.run("sh", &[&script[..], arguments].concat(), "")
    };
    let before = folder.read(&format!("work/{file}"));
    for command in &commands {
        let outcome = kustomize(&command.iter().map(String::as_str).collect::<Vec<_>>());
        if outcome.code == Some(0) {
            continue;
        }
        let error = outcome.stderr.split_once("Error: ").map(|(_, error)| format!("Error: {error}"));
        let error = error.unwrap_or(outcome.stderr);
        let wanted = wanted("want.err").unwrap_or_default().replace("{}", &work.display().to_string());
        check(!wanted.is_empty() && error.starts_with(wanted.trim_end()), &why, &wanted, &error)?;
        check(outcome.code == Some(1), &why, "exit code 1", &format!("{:?}", outcome.code))?;
        let after = folder.read(&format!("work/{file}"));
        return check(after == before, &why, "the file as it was", after.as_deref().unwrap_or_default());
    }
    let want = wanted("want.yaml").ok_or("it should have failed")?;
    let got = folder.read(&format!("work/{file}")).unwrap_or_default();
    check(content(&want)? == content(&got)?, &why, &want, &got)?;
    if let Some(want) = wanted("want.build.yaml") {
        let got = kustomize(&["build"]);
        check(got.stdout == want, &why, &want, &format!("{}{}", got.stdout, got.stderr))?;
    }
    Ok(())
}

fn check(holds: bool, why: &str, wanted: &str, got: &str) -> Result<(), Failed> {
    if holds { Ok(()) } else { Err(format!("{why}\n--- wanted\n{wanted}\n--- got\n{got}").into()) }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder can be made");
    for entry in fs::read_dir(from).expect("a case has input") {
        let path = entry.expect("a folder can be read").path();
        let target = to.join(path.file_name().expect("it has a name"));
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(&path, target).expect("a file can be copied");
        }
    }
}

/// Returns what a kustomization file holds, in Kustomize's form: it writes nothing that is empty, sorts keys, images and replicas,
/// and knows fields in any case.
fn content(text: &str) -> Result<Content, Failed> {
    let file = File::parse(text, 0).map_err(|error| error.to_string())?;
    let Content::Mapping(fields) = file.content().map_err(|error| error.to_string())? else {
        return Err("it is no mapping".into());
    };
    let mut fields: Vec<(String, Content)> =
        fields.into_iter().filter_map(|(key, value)| Some((key.to_lowercase(), normal(value)?))).collect();
    for (key, value) in &mut fields {
        if let ("images" | "replicas", Content::Sequence(items)) = (key.as_str(), value) {
            items.sort_by_key(|item| format!("{item:?}").split("\"name\", ").nth(1).map(str::to_owned));
        }
    }
    fields.sort_by(|left, right| left.0.cmp(&right.0));
    Ok(Content::Mapping(fields))
}

/// A value as Kustomize writes it; nothing where it writes none.
fn normal(value: Content) -> Option<Content> {
    match value {
        Content::Mapping(entries) => {
            let mut entries: Vec<(String, Content)> =
                entries.into_iter().filter_map(|(key, value)| Some((key, normal(value)?))).collect();
            entries.sort_by(|left, right| left.0.cmp(&right.0));
            (!entries.is_empty()).then_some(Content::Mapping(entries))
        }
        Content::Sequence(items) => {
            let items: Vec<Content> = items.into_iter().filter_map(normal).collect();
            (!items.is_empty()).then_some(Content::Sequence(items))
        }
        Content::Bool(false) => None,
        Content::Plain(text) if matches!(text.as_str(), "" | "~" | "null") => None,
        Content::String(text) if text.is_empty() => None,
        value => Some(value),
    }
}
