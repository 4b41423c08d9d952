//! Every folder of `testdata/kustomize` and `testdata/helm` is a test: the renderer runs in its input and must print what it wants.
//!
//! `UPDATE=1` writes what we print into cases whose answer is our own; an answer of the real tool is never touched.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use libtest_mimic::{Arguments, Failed, Trial};
use testkit::case::{Case, Wanted};

const RENDERER: &str = env!("CARGO_BIN_EXE_renderer-under-test");

fn main() {
    let arguments = Arguments::from_args();
    let trials = ["kustomize", "helm"].into_iter().flat_map(trials).collect();
    libtest_mimic::run(&arguments, trials).exit();
}

/// A test for each case of a family.
fn trials(family: &'static str) -> impl Iterator<Item = Trial> {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata").join(family);
    let mut folders: Vec<PathBuf> = fs::read_dir(&top)
        .unwrap_or_else(|error| panic!("{}: {error}", top.display()))
        .filter_map(|entry| Some(entry.ok()?.path()).filter(|path| path.is_dir()))
        .collect();
    folders.sort();
    assert!(!folders.is_empty(), "no cases in {}", top.display());
    folders.into_iter().map(move |folder| {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Trial::test(format!("{family}/{name}"), move || run(&folder))
    })
}

fn run(folder: &Path) -> Result<(), Failed> {
    let (case, wanted) = Case::load(folder)?;
    let (code, got) = build(folder, &case);
    let verdict = judge(&case, &wanted, code, &got);
    match (&case.gap, verdict) {
        (Some(_), Ok(())) => Err("the gap is closed: delete the line `gap` from case.toml".into()),
        (Some(_), Err(_)) | (None, Ok(())) => Ok(()),
        (None, Err(_)) if case.is_own() && std::env::var_os("UPDATE").is_some() => {
            update(folder, &wanted, &got)
        }
        (None, Err(difference)) => Err(difference.into()),
    }
}

/// The exit code and what was printed.
fn build(folder: &Path, case: &Case) -> (Option<i32>, Wanted) {
    let output = Command::new(RENDERER)
        .args(&case.command)
        .arg(&case.target)
        .current_dir(folder.join(&case.input))
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .output()
        .expect("the renderer can be run");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("it prints text");
    (output.status.code(), Wanted { stdout: Some(text(output.stdout)), stderr: Some(text(output.stderr)) })
}

fn judge(case: &Case, wanted: &Wanted, code: Option<i32>, got: &Wanted) -> Result<(), String> {
    let stderr = got.stderr.as_deref().unwrap_or_default();
    let wanted_code = i32::from(wanted.stdout.is_none());
    if code != Some(wanted_code) {
        return Err(format!("{}: exit code {code:?}, not {wanted_code}\n{stderr}", case.why));
    }
    compare(
        "stdout",
        wanted.stdout.as_deref().unwrap_or_default(),
        got.stdout.as_deref().unwrap_or_default(),
    )?;
    wanted.stderr.as_deref().map_or(Ok(()), |wanted| compare("stderr", wanted, stderr))
}

fn compare(stream: &str, wanted: &str, got: &str) -> Result<(), String> {
    if wanted == got {
        return Ok(());
    }
    let line = wanted.lines().zip(got.lines()).take_while(|(wanted, got)| wanted == got).count();
    let at = |text: &str| text.lines().nth(line).unwrap_or("(the end)").to_owned();
    Err(format!(
        "{stream} differs at line {}\n  wanted: {}\n  got:    {}\n\n{got}",
        line + 1,
        at(wanted),
        at(got)
    ))
}

fn update(folder: &Path, wanted: &Wanted, got: &Wanted) -> Result<(), Failed> {
    for (file, wanted, got) in
        [("want.yaml", &wanted.stdout, &got.stdout), ("want.err", &wanted.stderr, &got.stderr)]
    {
        if let (Some(_), Some(got)) = (wanted, got) {
            fs::write(folder.join(file), got)?;
        }
    }
    Ok(())
}
