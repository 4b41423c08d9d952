//! A case: the content of its directory, as a review.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::Arc;

use argocd::application::IgnoreDifferences;
use argocd::diffing::Normalizer;
use argocd::objects::{Key, read};
use libtest_mimic::Failed;
use manifest_diff::{
    ApplyOptions, FormatOptions, Options, Plan, PlanStep, PlannedObject, Review, SecretKey, Target,
    TargetKind, VolatileField, review,
};
use serde::Deserialize;
use yamltree::{Location, Source, Span};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Case {
    /// The purpose of the case.
    #[serde(rename = "why")]
    _why: String,
    #[serde(default)]
    color: bool,
    limit: Option<usize>,
    title: Option<String>,
    full_report: Option<String>,
    command: Option<String>,
    /// The settings of targets, by the names of their files.
    #[serde(default)]
    target: BTreeMap<String, Known>,
    /// Strings that occur in Secrets and must not occur in reports.
    #[serde(default)]
    pub(crate) secret: Vec<String>,
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

impl Case {
    pub(crate) fn read(folder: &Path) -> Result<(Self, Review), Failed> {
        let case: Self = toml::from_str(&fs::read_to_string(folder.join("case.toml"))?)?;
        let base = targets(&folder.join("base"), &case, true)?;
        let head = targets(&folder.join("head"), &case, false)?;
        let review = review(&base, &head, &Options { secret_key: SecretKey::new([42; 32]) });
        Ok((case, review))
    }

    pub(crate) fn options(&self) -> FormatOptions {
        FormatOptions {
            color: self.color,
            limit: self.limit,
            title: self.title.clone(),
            full_report: self.full_report.clone(),
            command: self.command.clone(),
        }
    }
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
        let source = Source { name, text: fs::read_to_string(&file)?.into() };
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
        other => return Err(format!("unknown target kind `{other}`").into()),
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
    let ignored: Vec<_> = ignored.collect();
    let normalizer = Normalizer::new(&ignored, &BTreeMap::new()).expect("no settings");
    // `group/Kind/namespace/name /json/pointer`
    let volatile =
        known.volatile.iter().filter_map(|field| field.split_once(' ')).filter_map(|(key, pointer)| {
            let parts: Vec<&str> = key.split('/').collect();
            let [group, kind, namespace, name] = <[&str; 4]>::try_from(parts).ok()?.map(str::to_owned);
            Some(VolatileField { object: Key { group, kind, namespace, name }, pointer: pointer.to_owned() })
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
        apply: ApplyOptions {
            prune: known.prune,
            cascade: known.cascade,
            normalizer: (!ignored.is_empty()).then_some(normalizer),
            objects_in_files: true,
        },
        volatile: volatile.collect(),
        warnings: known.warnings.clone(),
        origin: known.origin.as_ref().map(|path| Location {
            source: Arc::new(Source { name: path.clone(), text: "".into() }),
            span: Span { source: 0, start: 0, end: 0 },
        }),
        plan: (!steps.is_empty()).then_some(Plan { steps }),
        ..target
    }
}
