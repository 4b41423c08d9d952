//! Benchmark of parsing: `cargo bench -p yamltree --profile quick`.
//!
//! Reads about 10 MB of manifests such as config repos hold, several times, and prints the best run of each kind in
//! MB/s, with the memory that the trees take.
#![expect(clippy::print_stdout, reason = "the numbers are what a benchmark is for")]

mod manifests;

use std::time::{SystemTime, UNIX_EPOCH};

use manifests::repeat;
use yamltree::{Document, Kind, Node, ParseOptions, parse};

const RUNS: usize = 9;

fn main() {
    // A test runner that builds all targets starts this too, without the flag.
    if std::env::args().all(|argument| argument != "--bench") {
        return;
    }
    report("manifests", &manifests::of_all_kinds());
    report("deployments", &repeat(&[manifests::deployment]));
    report("config maps", &repeat(&[manifests::config_map]));
    report("JSON", &repeat(&[manifests::json]));
}

fn report(name: &str, text: &str) {
    let mut best = f64::INFINITY;
    let mut bytes = 0;
    for _ in 0..RUNS {
        let start = clock();
        let documents = parse(text, 0, &ParseOptions::default()).expect("the text is valid");
        best = best.min(clock() - start);
        bytes = documents.iter().map(|Document { root, .. }| size_of::<Document>() + heap_of(root)).sum();
    }
    let megabytes = text.len() as f64 / 1e6;
    println!(
        "{name:12} {:6.1} MB/s, trees of {:.1} times the text",
        megabytes / best,
        bytes as f64 / 1e6 / megabytes
    );
}

/// Seconds that this thread has run, which other programs do not add to; where the system does not tell, seconds.
fn clock() -> f64 {
    let schedule = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    match schedule.split(' ').next().and_then(|nanoseconds| nanoseconds.parse::<f64>().ok()) {
        Some(nanoseconds) => nanoseconds / 1e9,
        None => SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64(),
    }
}

/// The memory that a node owns besides itself.
fn heap_of(node: &Node) -> usize {
    match &node.kind {
        Kind::Scalar(text) | Kind::Alias(text) => {
            if text.is_heap_allocated() {
                text.capacity()
            } else {
                0
            }
        }
        Kind::Sequence(items) => items.iter().map(|item| size_of::<Node>() + heap_of(item)).sum(),
        Kind::Mapping(entries) => entries
            .iter()
            .map(|entry| 2 * size_of::<Node>() + heap_of(&entry.key) + heap_of(&entry.value))
            .sum(),
    }
}
