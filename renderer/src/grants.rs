//! Capabilities that only the operator grants: running programs, and reading beside a kustomization.
//!
//! In: the operator's options, on the command line or in a context file that the command line names. Out: what the files of
//! a repository may ask for. Rejected: build flags from a repository (a context file that was found there, the parameters
//! of a plugin) that ask for more.

use argocd::Context;
use clap::Parser;
use diagnostic::{Error, ErrorKind, Result};
use kustomize::{LoadRestrictor, Options};

use crate::cli::flags::BuildFlags;
use crate::config;

/// The setting that build flags are in; one for a version of Kustomize has that version behind it.
const BUILD_OPTIONS: &str = "kustomize.buildOptions";

/// The granted capabilities.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Grants {
    alpha_plugins: bool,
    exec: bool,
    any_file: bool,
}

/// Build flags on a command line.
#[derive(Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
struct BuildOptions {
    #[command(flatten)]
    flags: BuildFlags,
}

impl Grants {
    /// The capabilities that options of the command line grant.
    pub(crate) fn of(options: &Options) -> Self {
        Self {
            alpha_plugins: options.enable_alpha_plugins,
            exec: options.enable_exec,
            any_file: options.load_restrictor == LoadRestrictor::None,
        }
    }

    /// The capabilities that the settings of an operator's context file grant.
    pub(crate) fn of_context(context: &Context) -> Self {
        let settings = context.settings.iter().filter(|(key, _)| key.starts_with(BUILD_OPTIONS));
        // What is wrong with the flags is said where they are used.
        let options = settings.filter_map(|(_, flags)| parse(flags.split_whitespace()).ok());
        options.fold(Self::default(), |grants, options| grants.and(Self::of(&options)))
    }

    /// All that either grants.
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            alpha_plugins: self.alpha_plugins || other.alpha_plugins,
            exec: self.exec || other.exec,
            any_file: self.any_file || other.any_file,
        }
    }

    /// Rejects options that ask for more.
    ///
    /// # Errors
    /// [`ErrorKind::Denied`], with the flag and who can grant it.
    pub(crate) fn check(self, asked: &Options) -> Result<()> {
        let asked = Self::of(asked);
        for (wants, has, flag, meaning) in [
            (asked.exec, self.exec, "--enable-exec", "lets files of the repository run programs"),
            (
                asked.alpha_plugins,
                self.alpha_plugins,
                "--enable-alpha-plugins",
                "lets files of the repository name plugins to run",
            ),
            (
                asked.any_file,
                self.any_file,
                "--load-restrictor LoadRestrictionsNone",
                "lets kustomizations read files outside of their directories",
            ),
        ] {
            if wants && !has {
                let message = format!("`{flag}` {meaning}, and only the operator can grant it");
                return Err(Error::new(ErrorKind::Denied, message).hint(
                    "the operator puts it on the command line of the plugin, or into `kustomize.buildOptions` of a \
                     context file that `--context` names",
                ));
            }
        }
        Ok(())
    }
}

/// Parses build flags.
///
/// # Errors
/// If one of them is not a flag of `kustomize build`.
pub(crate) fn parse<'f>(flags: impl Iterator<Item = &'f str>) -> Result<Options> {
    let parsed = BuildOptions::try_parse_from(flags).map_err(|error| {
        let message = error.to_string();
        let first = message.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
        Error::new(ErrorKind::Invalid, format!("the setting `{BUILD_OPTIONS}`: {first}"))
            .hint("it has flags of `kustomize build`")
    })?;
    config::check_build_flags(&parsed.flags)?;
    Ok(config::build_options(&parsed.flags))
}

#[cfg(test)]
mod tests {
    use yamlserde::YamlFile;

    use super::*;

    fn asked(flags: &str) -> Options {
        parse(flags.split_whitespace()).unwrap()
    }

    const ALL: [&str; 3] =
        ["--enable-exec", "--enable-alpha-plugins", "--load-restrictor LoadRestrictionsNone"];

    #[test]
    fn each_capability_is_granted_by_itself() {
        for (at, flag) in ALL.iter().enumerate() {
            let error = Grants::default().check(&asked(flag)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Denied, "{flag}");
            assert!(error.message().starts_with(&format!("`{flag}` lets ")), "{error}");
            assert!(error.get_hint().unwrap().contains("`--context`"), "{error:?}");
            for (other, granted) in ALL.iter().enumerate() {
                assert_eq!(
                    Grants::of(&asked(granted)).check(&asked(flag)).is_ok(),
                    at == other,
                    "{flag} by {granted}"
                );
            }
        }
        assert!(Grants::default().check(&asked("--enable-helm --reorder none -e A=b")).is_ok());
    }

    #[test]
    fn the_settings_of_a_context_grant_what_they_ask_for() {
        let text = "apiVersion: renderer/v1alpha1\nkind: Context\nsettings:\n  kustomize.buildOptions: --enable-exec\n  \
                    kustomize.buildOptions.v5: --enable-alpha-plugins\n  other: --load-restrictor LoadRestrictionsNone\n";
        let context = Context::read(&YamlFile::new("context.yaml", text)).unwrap();
        let grants = Grants::of_context(&context);
        assert!(grants.check(&asked("--enable-exec --enable-alpha-plugins")).is_ok());
        assert!(grants.check(&asked(ALL[2])).is_err());
    }
}
