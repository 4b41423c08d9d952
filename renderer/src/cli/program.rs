//! The name under which the binary was called: its own, or kustomize or helm.
//!
//! In: the name that it was called by. Out: whose command line is read, and how that program words what is wrong with
//! it. Called as another program it ends as that does: errors begin with `Error:`, and every failure is exit code 1.

use std::ffi::OsStr;
use std::path::Path;

use clap::error::{ContextKind, ContextValue, ErrorKind};

/// The program whose command line is parsed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Program {
    #[default]
    Renderer,
    Kustomize,
    Helm,
}

impl Program {
    /// By a name such as `/usr/local/bin/kustomize`, `helm.exe` or `kustomize-v5.8.1`.
    pub(crate) fn called(path: &OsStr) -> Self {
        let name = name_of(path);
        let is = |program: &str| name.strip_prefix(program).is_some_and(is_version);
        match () {
            () if is("kustomize") => Self::Kustomize,
            () if is("helm") => Self::Helm,
            () => Self::Renderer,
        }
    }

    /// Returns what the program's commands are called in our own help texts.
    fn commands(self) -> &'static str {
        match self {
            Self::Renderer => "renderer",
            Self::Kustomize => "renderer kustomize",
            Self::Helm => "renderer helm",
        }
    }

    /// A help text that speaks of the program under the name that it was called by.
    pub(crate) fn in_own_words(self, text: &str, name: &str) -> String {
        if self == Self::Renderer {
            return text.to_owned();
        }
        let own =
            text.replace(self.commands(), name).replace("renderer completion", &format!("{name} completion"));
        own.replace("_renderer", &format!("_{name}")).replace("renderer.fish", &format!("{name}.fish"))
    }

    /// Returns the message for a wrong command line.
    pub(crate) fn usage_error(self, error: &clap::Error, name: &str) -> String {
        let text = error.render().ansi().to_string();
        if self == Self::Renderer {
            return text;
        }
        let context = |kind| match error.get(kind) {
            Some(ContextValue::String(text)) => Some(text.as_str()),
            _ => None,
        };
        match (error.kind(), context(ContextKind::InvalidArg), context(ContextKind::InvalidSubcommand)) {
            (ErrorKind::UnknownArgument, Some(flag), _) if flag.starts_with("--") => {
                format!("Error: unknown flag: {flag}\nRun '{name} --help' for usage.\n")
            }
            (ErrorKind::UnknownArgument, Some(flag), _) if flag.starts_with('-') => {
                let letter = flag.trim_start_matches('-');
                format!(
                    "Error: unknown shorthand flag: '{letter}' in {flag}\nRun '{name} --help' for usage.\n"
                )
            }
            (ErrorKind::InvalidSubcommand, _, Some(command)) => {
                format!(
                    "Error: unknown command \"{command}\" for \"{name}\"\nRun '{name} --help' for usage.\n"
                )
            }
            _ => self.in_own_words(&error.render().to_string(), name).replacen("error:", "Error:", 1),
        }
    }

    /// Returns true if this stands in another program's place.
    pub(crate) fn is_stand_in(self) -> bool {
        self != Self::Renderer
    }
}

/// The last part of a path, without the ending that programs have on Windows.
pub(crate) fn name_of(path: &OsStr) -> String {
    let name = Path::new(path).file_name().unwrap_or(path).to_string_lossy().into_owned();
    name.strip_suffix(".exe").map_or(name.clone(), str::to_owned)
}

/// Returns true if what follows a program's name is nothing or a version: `3`, `-5.8.1`, `_v5`.
fn is_version(rest: &str) -> bool {
    let version = rest.trim_start_matches(['-', '_', '.', '@']);
    let version = version.strip_prefix('v').unwrap_or(version);
    rest.is_empty() || version.starts_with(|first: char| first.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_known_by_its_name() {
        for (path, program) in [
            ("kustomize", Program::Kustomize),
            ("/usr/local/bin/kustomize", Program::Kustomize),
            ("./kustomize-5.8.1", Program::Kustomize),
            ("kustomize_v5.8.1", Program::Kustomize),
            ("kustomize5.exe", Program::Kustomize),
            ("helm", Program::Helm),
            ("helm3", Program::Helm),
            ("helm-v4.3.1", Program::Helm),
            ("helmfile", Program::Renderer),
            ("helm-docs", Program::Renderer),
            ("kustomize-controller", Program::Renderer),
            ("renderer", Program::Renderer),
            ("helm/renderer", Program::Renderer),
            ("", Program::Renderer),
        ] {
            assert_eq!(Program::called(OsStr::new(path)), program, "{path}");
        }
    }

    #[test]
    fn help_speaks_of_the_program_that_was_called() {
        let text = "renderer helm pull x\n~/.cache/renderer RENDERER_CACHE_DIR\n";
        assert_eq!(
            Program::Helm.in_own_words(text, "helm3"),
            "helm3 pull x\n~/.cache/renderer RENDERER_CACHE_DIR\n"
        );
        assert_eq!(Program::Renderer.in_own_words(text, "renderer"), text);
    }
}
