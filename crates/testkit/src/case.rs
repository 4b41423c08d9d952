//! The cases of `testdata`: a folder each, with the reason, the input and what the renderer must print.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

/// The content of `case.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// The purpose of the case.
    pub why: String,
    /// The source of the answer: the real tool (`kustomize 5.8.1`), or `own` if ours differs on purpose or has more.
    pub from: String,
    /// The command line, without the target.
    #[serde(default = "kustomize_build")]
    pub command: Vec<String>,
    /// The target, relative to the input.
    #[serde(default = "here")]
    pub target: String,
    /// The input, relative to the case.
    #[serde(default = "input")]
    pub input: PathBuf,
    /// Why the case fails still; one that passes nevertheless is an error.
    pub gap: Option<String>,
}

/// The expected result.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Standard output; absent where the command must fail.
    pub stdout: Option<String>,
    /// Standard error, where the case says what it must be.
    pub stderr: Option<String>,
}

fn kustomize_build() -> Vec<String> {
    vec!["kustomize".to_owned(), "build".to_owned()]
}

fn here() -> String {
    ".".to_owned()
}

fn input() -> PathBuf {
    PathBuf::from("in")
}

impl Case {
    /// Reads a case's folder.
    ///
    /// # Errors
    /// A sentence that names what is wrong with the case.
    pub fn load(folder: &Path) -> Result<(Self, Wanted), String> {
        let path = folder.join("case.toml");
        let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let case: Case = toml::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?;
        let wanted = Wanted {
            stdout: fs::read_to_string(folder.join("want.yaml")).ok(),
            stderr: fs::read_to_string(folder.join("want.err")).ok(),
        };
        if wanted == Wanted::default() {
            return Err(format!("{} has neither want.yaml nor want.err", folder.display()));
        }
        Ok((case, wanted))
    }

    /// Returns true if the wanted answer may be rewritten by what we print.
    #[must_use]
    pub fn is_own(&self) -> bool {
        self.from == "own"
    }
}
