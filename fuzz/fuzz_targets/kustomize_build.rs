//! Builds an arbitrary tree in memory. Run with
//! `RUSTC_BOOTSTRAP=1 cargo fuzz run -s none kustomize_build -- -max_total_time=600`.
//!
//! The input is cut at lines `=== path` into files. Nothing may panic or run without end, a build gives the same bytes
//! twice, and what is printed is read back as the same objects.

#![no_main]

use std::path::Path;

use vfs::MemoryTree;
use kustomize::{Options, Output, Shared, World, build};
use libfuzzer_sys::fuzz_target;

/// A build of a small tree that takes longer than this is a fault of its own; libFuzzer's time-out finds it.
const MAX_INPUT: usize = 16 << 10;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if text.len() > MAX_INPUT {
        return;
    }
    let files = files(text);
    let Some(first) = run(&files) else { return };
    let second = run(&files).expect("what was built once is built again");
    assert_eq!(first.yaml(), second.yaml());
    let options = yamltree::ParseOptions::default();
    let documents = yamltree::parse(first.yaml(), 0, &options).expect("what is printed is YAML");
    assert_eq!(documents.len(), first.objects().len());
});

fn files(text: &str) -> MemoryTree {
    let mut files: Vec<(String, String)> = vec![("kustomization.yaml".to_owned(), String::new())];
    for line in text.split_inclusive('\n') {
        match line.strip_prefix("=== ") {
            Some(path) if !path.contains("..") => files.push((path.trim().to_owned(), String::new())),
            _ => files.last_mut().expect("there is a first file").1.push_str(line),
        }
    }
    files.into_iter().map(|(path, text)| (path, text.into_bytes())).collect()
}

fn run(files: &MemoryTree) -> Option<Output> {
    let world = World { files, remote: None, charts: None, functions: None };
    build(Path::new("/"), world, &Options::default(), &Shared::default()).ok()
}
