//! Benchmark of emitting: `cargo bench -p yamltree --profile quick --bench emit`.
//!
//! Writes about 10 MB of manifests such as config repos hold, several times in each form, and prints the best run of
//! each in MB/s of output.
#![expect(clippy::print_stdout, reason = "the numbers are what a benchmark is for")]

mod manifests;

use std::time::Instant;

use manifests::repeat;
use yamltree::{EmitOptions, JsonOptions, Node, ParseOptions, parse, to_json, to_kyaml, to_sigs_yaml};

const RUNS: usize = 9;

fn main() {
    report("manifests", &manifests::of_all_kinds());
    report("deployments", &repeat(&[manifests::deployment]));
    report("config maps", &repeat(&[manifests::config_map]));
    report("JSON read as YAML", &repeat(&[manifests::json]));
}

fn report(name: &str, text: &str) {
    let documents = parse(text, 0, &ParseOptions::default()).expect("the text is valid");
    let measured = |write: fn(&Node, &mut String)| {
        let mut best = f64::INFINITY;
        let mut out = String::new();
        for _ in 0..RUNS {
            out.clear();
            let start = Instant::now();
            documents.iter().for_each(|document| write(&document.root, &mut out));
            best = best.min(start.elapsed().as_secs_f64());
        }
        out.len() as f64 / 1e6 / best
    };
    let sigs = measured(|node, out| to_sigs_yaml(node, out).expect("the node is a resource"));
    let kyaml = measured(|node, out| to_kyaml(node, EmitOptions::KYAML, out));
    let json = measured(|node, out| to_json(node, JsonOptions::KYAML, out).expect("the node is a resource"));
    println!("{name:17} {sigs:6.1} MB/s as Kustomize prints, {kyaml:6.1} as kyaml, {json:6.1} as JSON");
}
