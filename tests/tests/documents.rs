//! The documents say what the code does.

use std::fs;
use std::path::Path;

use testkit::case::Case;

fn read(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path))
        .expect("the document exists")
}

#[test]
fn compatibility_pages_list_every_warning_code() {
    let kustomize = kustomize::Code::ALL.iter().map(|code| (code.as_str(), code.meaning()));
    let helm = helm_lite::Code::ALL.iter().map(|code| (code.as_str(), code.meaning()));
    let argo = argocd::Code::ALL.iter().map(|code| (code.as_str(), code.meaning()));
    let flux = flux::Code::ALL.iter().map(|code| (code.as_str(), code.meaning()));
    assert_lists("docs/compatibility/kustomize.md", kustomize);
    assert_lists("docs/compatibility/helm.md", helm);
    assert_lists("docs/compatibility/argocd.md", argo);
    assert_lists("docs/compatibility/flux.md", flux);
}

fn assert_lists(page: &str, codes: impl Iterator<Item = (&'static str, &'static str)>) {
    let document = read(page);
    for (code, meaning) in codes {
        let row = format!("| {code} | {meaning} |");
        assert!(document.contains(&row), "{page} lacks the row\n{row}");
    }
}

#[test]
fn compatibility_lists_every_case_that_differs() {
    let document = read("docs/compatibility/kustomize.md");
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/kustomize");
    for entry in fs::read_dir(top).expect("the cases exist") {
        let folder = entry.expect("a case").path();
        let (case, _) = Case::load(&folder).expect("a case");
        let name = folder.file_name().expect("a name").to_string_lossy();
        if case.gap.is_some() {
            assert!(
                document.contains(&format!("`{name}`")),
                "docs/compatibility/kustomize.md does not name the gap {name}"
            );
        }
    }
}
