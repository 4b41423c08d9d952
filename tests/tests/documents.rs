//! The documents say what the code does.

use std::fs;
use std::path::Path;

use tests::case::Case;

fn read(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path))
        .expect("the document exists")
}

#[test]
fn compatibility_lists_every_warning_code() {
    let document = read("COMPATIBILITY.md");
    let kustomize = kustomize::Code::ALL.iter().map(|code| (code.as_str(), code.meaning()));
    let helm = helm_lite::Code::ALL.iter().map(|code| (code.as_str(), code.meaning()));
    let argo = argocd::Code::ALL.iter().map(|code| (code.as_str(), code.meaning()));
    let flux = flux::Code::ALL.iter().map(|code| (code.as_str(), code.meaning()));
    for (code, meaning) in kustomize.chain(helm).chain(argo).chain(flux) {
        let row = format!("| {code} | {meaning} |");
        assert!(document.contains(&row), "COMPATIBILITY.md lacks the row\n{row}");
    }
}

#[test]
fn compatibility_lists_every_case_that_differs() {
    let document = read("COMPATIBILITY.md");
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/kustomize");
    for entry in fs::read_dir(top).expect("the cases exist") {
        let folder = entry.expect("a case").path();
        let (case, _) = Case::load(&folder).expect("a case");
        let name = folder.file_name().expect("a name").to_string_lossy();
        if case.gap.is_some() {
            assert!(document.contains(&format!("`{name}`")), "COMPATIBILITY.md does not name the gap {name}");
        }
    }
}
