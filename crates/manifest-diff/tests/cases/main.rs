//! The cases of `testdata/review`: a directory is a case, and each `want.*` in it is the output of one format.
//!
//! `base/` and `head/` have a file of manifests for each target, `case.toml` says why the case is there and what else is
//! known of its targets. Our own reports have no peer to ask, so `UPDATE=1` writes what is wanted anew; each line of it
//! was read by a person. The page is opened in a browser as well.

mod browser;
mod case;
mod page;

use std::fs;
use std::path::{Path, PathBuf};

use libtest_mimic::{Arguments, Failed, Trial};
use manifest_diff::FORMATS;

use case::Case;

fn main() {
    let arguments = Arguments::from_args();
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/review");
    let mut folders: Vec<PathBuf> =
        fs::read_dir(&cases).expect("the cases").map(|entry| entry.expect("a case").path()).collect();
    folders.sort();
    let mut trials = page::trials(&cases);
    for folder in folders {
        let name = folder.file_name().expect("a name").to_string_lossy().into_owned();
        trials.push(Trial::test(name, move || check(&folder)));
    }
    libtest_mimic::run(&arguments, trials).exit();
}

fn check(folder: &Path) -> Result<(), Failed> {
    let (case, review) = Case::read(folder)?;
    let mut wrong = Vec::new();
    for format in FORMATS {
        let text = (format.write)(&review, &case.options());
        for secret in case.secret.iter().filter(|secret| text.contains(*secret)) {
            wrong.push(format!("{} has the secret {secret}", format.name));
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
