//! Flags as helm takes them: switches that may have a value, and those that say nothing to a renderer.
//!
//! Flags about a cluster or the storage of releases are checked as helm does and have no effect.

use clap::error::Error as ClapError;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};

/// Lets a switch have a value, as Go's flags do: `--no-hooks=false`. And another flag take what follows, whatever it begins
/// with: a password may begin with a dash.
pub(in crate::cli) fn go_switch(arg: Arg) -> Arg {
    if !matches!(arg.get_action(), ArgAction::SetTrue) {
        let takes_next = arg.get_action().takes_values() && !arg.is_positional();
        return if takes_next { arg.allow_hyphen_values(true) } else { arg };
    }
    arg.action(ArgAction::Set)
        .value_name("BOOL")
        .value_parser(go_bool)
        .num_args(0..=1)
        .require_equals(true)
        .default_value("false")
        .default_missing_value("true")
        .hide_default_value(true)
}

/// `strconv.ParseBool`.
fn go_bool(text: &str) -> Result<bool, String> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(false),
        _ => Err("it is neither `true` nor `false`".to_owned()),
    }
}

/// Flags of helm's commands that render which have no effect here.
#[derive(Clone, Copy, Debug)]
pub(super) struct InertFlags;

/// The argument of a flag.
#[derive(Clone, Copy)]
enum Takes {
    Switch,
    Text,
    Duration,
    Integer,
    Number,
    Labels,
    Wait,
    Color,
}

/// A flag's name, letter, and what it takes.
type Inert = (&'static str, Option<char>, Takes);

/// Those of all commands.
const OF_ALL: &[Inert] = &[
    ("burst-limit", None, Takes::Integer),
    ("color", None, Takes::Color),
    ("colour", None, Takes::Color),
    ("content-cache", None, Takes::Text),
    ("kube-apiserver", None, Takes::Text),
    ("kube-as-group", None, Takes::Text),
    ("kube-as-user", None, Takes::Text),
    ("kube-ca-file", None, Takes::Text),
    ("kube-context", None, Takes::Text),
    ("kube-insecure-skip-tls-verify", None, Takes::Switch),
    ("kube-tls-server-name", None, Takes::Text),
    ("kube-token", None, Takes::Text),
    ("kubeconfig", None, Takes::Text),
    ("qps", None, Takes::Number),
];

/// Those of all commands that are of use to the ones which render.
const OF_OTHERS: &[Inert] = &[("debug", None, Takes::Switch), ("namespace", Some('n'), Takes::Text)];

/// Those of the commands which render.
const OF_RELEASES: &[Inert] = &[
    ("atomic", None, Takes::Switch),
    ("create-namespace", None, Takes::Switch),
    ("description", None, Takes::Text),
    ("disable-openapi-validation", None, Takes::Switch),
    ("enable-dns", None, Takes::Switch),
    ("force", None, Takes::Switch),
    ("force-conflicts", None, Takes::Switch),
    ("force-replace", None, Takes::Switch),
    ("hide-notes", None, Takes::Switch),
    ("labels", Some('l'), Takes::Labels),
    ("render-subchart-notes", None, Takes::Switch),
    ("replace", None, Takes::Switch),
    ("rollback-on-failure", None, Takes::Switch),
    ("server-side", None, Takes::Switch),
    ("take-ownership", None, Takes::Switch),
    ("timeout", None, Takes::Duration),
    ("wait", None, Takes::Wait),
    ("wait-for-jobs", None, Takes::Switch),
];

/// Flags that helm has for all commands, and that have no effect on this one.
#[derive(Clone, Copy, Debug)]
pub(super) struct GlobalFlags;

impl Args for InertFlags {
    fn augment_args(command: Command) -> Command {
        command.args(args(&[OF_ALL, OF_RELEASES]))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for InertFlags {
    fn from_arg_matches(_: &ArgMatches) -> Result<Self, ClapError> {
        Ok(Self)
    }

    fn update_from_arg_matches(&mut self, _: &ArgMatches) -> Result<(), ClapError> {
        Ok(())
    }
}

impl Args for GlobalFlags {
    fn augment_args(command: Command) -> Command {
        command.args(args(&[OF_ALL, OF_OTHERS]))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for GlobalFlags {
    fn from_arg_matches(_: &ArgMatches) -> Result<Self, ClapError> {
        Ok(Self)
    }

    fn update_from_arg_matches(&mut self, _: &ArgMatches) -> Result<(), ClapError> {
        Ok(())
    }
}

fn args(tables: &[&'static [Inert]]) -> Vec<Arg> {
    let flag = |(name, letter, takes): &Inert| {
        takes.parsed(Arg::new(*name).long(*name).short(*letter).hide(true).value_name("VALUE"))
    };
    tables.iter().copied().flatten().map(flag).collect()
}

impl Takes {
    fn parsed(self, arg: Arg) -> Arg {
        let arg = arg.action(ArgAction::Append);
        match self {
            Self::Switch => go_switch(arg.action(ArgAction::SetTrue)),
            Self::Text => arg,
            Self::Duration => arg.value_parser(duration),
            Self::Integer => arg.value_parser(clap::value_parser!(i64)).allow_negative_numbers(true),
            Self::Number => arg.value_parser(clap::value_parser!(f32)).allow_negative_numbers(true),
            Self::Labels => arg.value_parser(labels),
            Self::Wait => {
                let strategies = ["watcher", "hookOnly", "legacy", "true", "false"];
                arg.value_parser(strategies).num_args(0..=1).require_equals(true)
            }
            Self::Color => arg.value_parser(["auto", "always", "never"]),
        }
    }
}

fn duration(text: &str) -> Result<(), String> {
    gotemplate::time::Duration::parse(text.as_bytes()).map(drop).map_err(|_| "such as `5m0s`".to_owned())
}

/// Labels of the release, which are kept beside those that helm itself writes.
fn labels(text: &str) -> Result<(), String> {
    const OF_HELM: [&str; 6] = ["name", "owner", "status", "version", "createdAt", "modifiedAt"];
    for label in text.split(',').filter(|_| !text.is_empty()) {
        match label.split_once('=') {
            None => return Err(format!("`{label}` is not `key=value`")),
            Some((key, _)) if OF_HELM.contains(&key) => {
                return Err(format!("the label `{key}` is helm's own"));
            }
            Some(_) => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parses(flag: &str) -> bool {
        let command = InertFlags::augment_args(Command::new("template")).arg(Arg::new("chart"));
        command.try_get_matches_from(["template", flag, "chart"]).is_ok()
    }

    /// As `helm template` does.
    #[test]
    fn what_has_no_effect_is_checked_all_the_same() {
        for flag in [
            "--timeout=5m",
            "--wait",
            "--wait=legacy",
            "--labels=a=b,c=",
            "-la=b",
            "--burst-limit=-1",
            "--qps=1.5",
            "--hide-notes=0",
            "--atomic",
            "--kubeconfig=/nope",
        ] {
            assert!(parses(flag), "{flag}");
        }
        for flag in [
            "--timeout=5",
            "--wait=foo",
            "--labels=a",
            "--labels=owner=x",
            "--burst-limit=x",
            "--color=foo",
            "--hide-notes=x",
        ] {
            assert!(!parses(flag), "{flag}");
        }
    }
}
