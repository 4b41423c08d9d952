//! Resources of Flux and Argo CD Image Updater, and the work that they define.
//!
//! `testdata/image-updater/dialects/<case>/` has files in `in/`; what they come to in `want.yaml`, as one of our own
//! configurations for each batch; and in `case.toml` the faults and warnings, with the rule that the case shows. What is
//! wanted follows from the documentation of the tools.

use std::fs;
use std::path::{Path, PathBuf};

use diagnostic::{Error, Location};
use image_updater::config::Config;
use image_updater::dialect::{self, Found};
use image_updater::work::{Batch, Files};
use proptest::prelude::*;
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    #[serde(rename = "why")]
    _why: String,
    #[serde(default)]
    faults: Vec<String>,
    #[serde(default)]
    warnings: Vec<String>,
}

fn cases() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/image-updater/dialects");
    let mut cases: Vec<PathBuf> =
        fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    cases.sort();
    cases
}

fn files(below: &Path, folder: &Path, files: &mut Vec<(String, String)>) {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            self::files(below, &path, files);
        } else {
            let name = path.strip_prefix(below).ok().and_then(Path::to_str).expect("a name").to_owned();
            files.push((name, fs::read_to_string(&path).expect("a text")));
        }
    }
}

fn home() -> Files {
    Files::Folder(PathBuf::from("."))
}

fn read(case: &Path) -> Found {
    let mut list = Vec::new();
    files(&case.join("in"), &case.join("in"), &mut list);
    dialect::read(&list, &home())
}

/// Batches without the places where they are configured.
fn placeless(batches: impl IntoIterator<Item = Batch>) -> Vec<Batch> {
    let mut batches: Vec<Batch> = batches.into_iter().collect();
    for update in batches.iter_mut().flat_map(|batch| &mut batch.updates) {
        update.place = Location::at_line("", "", 1, 1);
    }
    batches
}

fn configured(text: &str, name: &str) -> Vec<Config> {
    Config::parse_all(text, name, Path::new(".")).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

#[test]
fn files_come_to_what_is_wanted() {
    for case in cases() {
        let name = case.file_name().unwrap().to_str().unwrap();
        let wanted: Case = toml::from_str(&fs::read_to_string(case.join("case.toml")).unwrap()).unwrap();
        let found = read(&case);
        let texts = |errors: &[Error]| errors.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(texts(&found.faults), wanted.faults, "faults of {name}");
        assert_eq!(texts(&found.warnings), wanted.warnings, "warnings of {name}");
        let text = fs::read_to_string(case.join("want.yaml")).unwrap_or_default();
        let configs = configured(&text, name);
        let registries = configs.first().map(|config| config.registries.clone()).unwrap_or_default();
        assert_eq!(found.registries, registries, "registries of {name}");
        let batches = placeless(configs.into_iter().map(|config| config.batch));
        assert_eq!(placeless(found.batches), batches, "batches of {name}");
    }
}

#[test]
fn what_is_printed_says_the_same() {
    for case in cases() {
        let name = case.file_name().unwrap().to_str().unwrap();
        let found = read(&case);
        let text = dialect::print(&found).unwrap();
        let configs = configured(&text, name);
        for config in &configs {
            assert_eq!(config.registries, found.registries, "registries of {name}");
        }
        let batches = placeless(configs.into_iter().map(|config| config.batch));
        assert_eq!(batches, placeless(found.batches.clone()), "{name}:\n{text}");
        for warning in &found.warnings {
            assert!(text.contains(&format!("# {warning}")) || found.batches.is_empty(), "{name}:\n{text}");
        }
    }
}

/// An order of files and of documents is no order of importance, where names are not ambiguous.
#[test]
fn the_order_of_files_does_not_matter() {
    for case in cases() {
        let mut list = Vec::new();
        files(&case.join("in"), &case.join("in"), &mut list);
        let count = |found: &Found| {
            let updates: usize = found.batches.iter().map(|batch| batch.updates.len()).sum();
            (found.batches.len(), updates, found.faults.len(), found.warnings.len())
        };
        let before = count(&dialect::read(&list, &home()));
        list.reverse();
        assert_eq!(count(&dialect::read(&list, &home())), before, "{}", case.display());
    }
}

fn texts() -> Vec<String> {
    let mut list = Vec::new();
    for case in cases() {
        files(&case.join("in"), &case.join("in"), &mut list);
    }
    list.into_iter().map(|(_, text)| text).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Real objects with a part cut out, and another text in its place.
    #[test]
    fn no_file_is_too_odd_to_read(
        which in any::<prop::sample::Index>(),
        from in any::<prop::sample::Index>(),
        length in 0usize..40,
        instead in "[ -~\n]{0,12}",
    ) {
        let texts = texts();
        let mut text = which.get(&texts).clone();
        let mut start = from.index(text.len());
        let mut end = (start + length).min(text.len());
        while !text.is_char_boundary(start) { start -= 1; }
        while !text.is_char_boundary(end) { end += 1; }
        text.replace_range(start..end, &instead);
        let found = dialect::read(&[("a/b.yaml".to_owned(), text)], &home());
        for error in found.faults.iter().chain(&found.warnings) {
            prop_assert!(error.location().is_some(), "{error}");
        }
        if let Ok(text) = dialect::print(&found) {
            prop_assert!(Config::parse_all(&text, "printed", Path::new(".")).is_ok(), "{text}");
        }
    }
}

/// A file with nothing of the tools is not even parsed.
#[test]
fn other_files_are_not_looked_at() {
    let files = [("a.yaml".to_owned(), "kind: [".to_owned()), ("b.yaml".to_owned(), "\u{0}".to_owned())];
    let found = dialect::read(&files, &home());
    assert!(found.faults.is_empty() && found.batches.is_empty());
    assert!(!dialect::concerns("a.yaml", "kind: Deployment\n"));
    assert!(dialect::concerns("charts/a/Chart.yaml", "name: a\n"));
}

#[test]
fn aliases_of_yaml_cannot_swell() {
    let mut text = "apiVersion: image.toolkit.fluxcd.io/v1\nkind: ImagePolicy\na0: &a0 [x, x]\n".to_owned();
    for level in 1..40 {
        text.push_str(&format!("a{level}: &a{level} [*a{}, *a{}]\n", level - 1, level - 1));
    }
    let found = dialect::read(&[("a.yaml".to_owned(), text)], &home());
    assert_eq!(found.faults.len(), 1);
}
