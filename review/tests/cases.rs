//! The cases of `testdata/review`: a folder is a case, and each `want.*` in it what one of the formats writes.
//!
//! `base/` and `head/` have a file of manifests for each target, `case.toml` says why the case is there and what else is
//! known of its targets. Our own reports have no peer to ask, so `UPDATE=1` writes what is wanted anew; each line of it
//! was read by a person.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use argocd::objects::{Key, read};
use libtest_mimic::{Arguments, Failed, Trial};
use review::{
    FORMATS, Facts, FormatOptions, IgnoreDifferences, Location, Options, Plan, PlanStep, PlannedObject,
    SecretKey, Target, TargetKind, Volatile, review,
};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    /// What the case shows.
    #[serde(rename = "why")]
    _why: String,
    #[serde(default)]
    color: bool,
    limit: Option<usize>,
    title: Option<String>,
    full_report: Option<String>,
    command: Option<String>,
    /// What is known of targets, by the names of their files.
    #[serde(default)]
    target: BTreeMap<String, Known>,
    /// Texts that stand in Secrets, and in no report.
    #[serde(default)]
    secret: Vec<String>,
}

#[derive(Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Known {
    name: Option<String>,
    kind: String,
    prune: bool,
    cascade: bool,
    base_error: Option<String>,
    head_error: Option<String>,
    warnings: Vec<String>,
    origin: Option<String>,
    ignored: Vec<String>,
    volatile: Vec<String>,
    plan: Vec<(String, Vec<String>)>,
}

fn main() {
    let arguments = Arguments::from_args();
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/review");
    let mut trials = Vec::new();
    let mut folders: Vec<PathBuf> =
        fs::read_dir(cases).expect("the cases").map(|entry| entry.expect("a case").path()).collect();
    folders.sort();
    for folder in folders {
        let name = folder.file_name().expect("a name").to_string_lossy().into_owned();
        trials.push(Trial::test(name, move || check(&folder)));
    }
    libtest_mimic::run(&arguments, trials).exit();
}

fn check(folder: &Path) -> Result<(), Failed> {
    let case: Case = toml::from_str(&fs::read_to_string(folder.join("case.toml"))?)?;
    let (base, head) =
        (targets(&folder.join("base"), &case, true)?, targets(&folder.join("head"), &case, false)?);
    let options = Options { secret_key: SecretKey::new([42; 32]) };
    let review = review(&base, &head, &options);
    let options = FormatOptions {
        color: case.color,
        limit: case.limit,
        title: case.title.clone(),
        full_report: case.full_report.clone(),
        command: case.command.clone(),
    };
    let mut wrong = Vec::new();
    for format in FORMATS {
        let text = (format.write)(&review, &options);
        for secret in &case.secret {
            if text.contains(secret) {
                wrong.push(format!("{} has the secret {secret}", format.name));
            }
        }
        let want = folder.join(format!("want.{}.{}", format.name, format.extension));
        if !want.exists() {
            continue;
        }
        if std::env::var_os("UPDATE").is_some() {
            fs::write(&want, &text)?;
        } else if fs::read_to_string(&want)? != text {
            wrong.push(format!("{} is not as wanted:\n{text}", format.name));
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}

fn targets(folder: &Path, case: &Case, is_base: bool) -> Result<Vec<Target>, Failed> {
    let mut files = BTreeSet::new();
    if folder.exists() {
        for entry in fs::read_dir(folder)? {
            files.insert(entry?.path());
        }
    }
    let mut targets = Vec::new();
    for file in files {
        let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let known = case.target.get(&stem).cloned().unwrap_or_default();
        let name = format!("apps/{stem}.yaml");
        let source = yamltree::Source { name, text: fs::read_to_string(&file)?.into() };
        let objects = read(&Arc::new(source)).map_err(|error| error.to_string())?;
        targets.push(told(Target::rendered(kind(&known)?, name_of(&known, &stem), objects), &known));
    }
    // One that fails on this side only has no file here.
    for (stem, known) in &case.target {
        let error = if is_base { &known.base_error } else { &known.head_error };
        if let Some(error) = error
            && !targets.iter().any(|target| target.name == name_of(known, stem))
        {
            targets.push(told(Target::failed(kind(known)?, name_of(known, stem), error), known));
        }
    }
    Ok(targets)
}

fn name_of(known: &Known, stem: &str) -> String {
    known.name.clone().unwrap_or_else(|| stem.to_owned())
}

fn kind(known: &Known) -> Result<TargetKind, Failed> {
    Ok(match known.kind.as_str() {
        "" | "application" => TargetKind::Application,
        "kustomization" => TargetKind::Kustomization,
        "helm-release" => TargetKind::HelmRelease,
        other => return Err(format!("{other} is no kind of target").into()),
    })
}

fn told(target: Target, known: &Known) -> Target {
    // `Kind: /json/pointer`
    let ignored = known.ignored.iter().filter_map(|rule| rule.split_once(": ")).map(|(kind, pointer)| {
        let json_pointers = vec![pointer.to_owned()];
        IgnoreDifferences {
            group: "*".to_owned(),
            kind: kind.to_owned(),
            json_pointers,
            ..Default::default()
        }
    });
    // `group/Kind/namespace/name /json/pointer`
    let volatile =
        known.volatile.iter().filter_map(|field| field.split_once(' ')).filter_map(|(key, pointer)| {
            let parts: Vec<&str> = key.split('/').collect();
            let [group, kind, namespace, name] = <[&str; 4]>::try_from(parts).ok()?.map(str::to_owned);
            Some(Volatile { object: Key { group, kind, namespace, name }, pointer: pointer.to_owned() })
        });
    let step = |(title, objects): &(String, Vec<String>)| PlanStep {
        title: title.clone(),
        objects: objects
            .iter()
            .map(|object| PlannedObject { action: "apply".to_owned(), object: object.clone(), note: None })
            .collect(),
    };
    let steps: Vec<PlanStep> = known.plan.iter().map(step).collect();
    Target {
        facts: Facts {
            prune: known.prune,
            cascade: known.cascade,
            ignore_differences: ignored.collect(),
            objects_in_files: true,
        },
        volatile: volatile.collect(),
        warnings: known.warnings.clone(),
        origin: known.origin.as_ref().map(|path| Location { path: path.clone(), line: 1, column: 1 }),
        plan: (!steps.is_empty()).then_some(Plan { steps }),
        ..target
    }
}
