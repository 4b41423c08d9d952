//! The flags that build commands share, as typed: those of `kustomize build`, and ours.
//!
//! They are declared by hand because Go's switches take a value too (`--enable-helm=false`), which costs four
//! attributes a switch in clap's derive.

use std::path::PathBuf;

use clap::builder::{EnumValueParser, PossibleValue};
use clap::error::Error;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches, ValueEnum};
use kustomize::{LoadRestrictor, Reorder};

/// The flags of a build.
#[derive(Clone, Debug)]
pub(crate) struct BuildFlags {
    pub(crate) load_restrictor: LoadRestrictor,
    pub(crate) reorder: Option<Reorder>,
    pub(crate) enable_managedby_label: bool,
    pub(crate) enable_helm: bool,
    pub(crate) helm_command: Option<String>,
    pub(crate) helm_kube_version: Option<String>,
    pub(crate) helm_api_versions: Vec<String>,
    pub(crate) enable_alpha_plugins: bool,
    pub(crate) enable_exec: bool,
    pub(crate) enable_star: bool,
    pub(crate) env: Vec<String>,
    pub(crate) offline: bool,
    pub(crate) cache_dir: Option<PathBuf>,
    pub(crate) root: Option<PathBuf>,
    pub(crate) strict: bool,
    pub(crate) quiet: bool,
}

impl Args for BuildFlags {
    fn augment_args(command: Command) -> Command {
        let kustomize = [
            option(
                "load-restrictor",
                "RULE",
                "Which files a kustomization may load: those below its own folder, or any",
            )
            .value_parser(EnumValueParser::<Restrictor>::new())
            .default_value("LoadRestrictionsRootOnly"),
            option("reorder", "ORDER", "Deprecated: order the output (use `sortOptions`)")
                .value_parser(EnumValueParser::<Order>::new()),
            switch(
                "enable-managedby-label",
                "Deprecated: label all as managed by Kustomize (use `buildMetadata: [managedByLabel]`)",
            ),
        ];
        let charts = [
            switch("enable-helm", "Inflate the Helm charts that kustomizations name"),
            option("helm-kube-version", "VERSION", "The Kubernetes version that charts see"),
            option("helm-api-versions", "API", "An API version that charts see (repeatable)")
                .action(ArgAction::Append),
            option("helm-command", "PROGRAM", "No effect: charts are rendered without helm"),
            switch("helm-debug", "No effect: charts are rendered without helm"),
        ];
        let functions = [
            switch("enable-alpha-plugins", "Allow plugins that are not built in"),
            switch("enable-exec", "Allow plugins to run programs (only for trusted files)"),
            switch("enable-star", "Refused: Kustomize runs no Starlark any more").hide(true),
            option("env", "NAME=VALUE", "An environment variable for functions (repeatable)")
                .short('e')
                .action(ArgAction::Append),
            switch("network", "No effect: containers are not run"),
            option("network-name", "NAME", "No effect: containers are not run"),
            switch("as-current-user", "No effect: containers are not run"),
            option("mount", "MOUNT", "No effect: containers are not run").action(ArgAction::Append),
        ];
        command
            .arg(switch("offline", "Take remote resources from the cache only"))
            .arg(
                option(
                    "cache-dir",
                    "DIR",
                    "Where remote resources are kept [env: RENDERER_CACHE_DIR] [default: ~/.cache/renderer]",
                )
                .value_parser(clap::value_parser!(PathBuf)),
            )
            .arg(
                option(
                    "root",
                    "DIR",
                    "Read no file outside of DIR [default: the git work tree of what is rendered]",
                )
                .value_parser(clap::value_parser!(PathBuf)),
            )
            .arg(switch("strict", "Fail where there is a warning"))
            .arg(switch("quiet", "Print no warnings").short('q'))
            .next_help_heading("Kustomize")
            .args(kustomize)
            .next_help_heading("Charts")
            .args(charts)
            .next_help_heading("Functions")
            .args(functions)
            .next_help_heading(None)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

fn switch(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name)
        .long(name)
        .help(help)
        .value_name("BOOL")
        .value_parser(clap::value_parser!(bool))
        .num_args(0..=1)
        .require_equals(true)
        .default_missing_value("true")
        .hide_possible_values(true)
}

fn option(name: &'static str, value: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).help(help).value_name(value)
}

impl FromArgMatches for BuildFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let on = |name| matches.get_one(name).copied().unwrap_or_default();
        let texts = |name| matches.get_many(name).into_iter().flatten().cloned().collect();
        Ok(Self {
            load_restrictor: matches
                .get_one("load-restrictor")
                .map(|Restrictor(rule)| *rule)
                .unwrap_or_default(),
            reorder: matches.get_one("reorder").map(|Order(order)| *order),
            enable_managedby_label: on("enable-managedby-label"),
            enable_helm: on("enable-helm"),
            helm_command: matches.get_one("helm-command").cloned(),
            helm_kube_version: matches.get_one("helm-kube-version").cloned(),
            helm_api_versions: texts("helm-api-versions"),
            enable_alpha_plugins: on("enable-alpha-plugins"),
            enable_exec: on("enable-exec"),
            enable_star: on("enable-star"),
            env: texts("env"),
            offline: on("offline"),
            cache_dir: matches.get_one("cache-dir").cloned(),
            root: matches.get_one("root").cloned(),
            strict: on("strict"),
            quiet: on("quiet"),
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// [`LoadRestrictor`] as Kustomize spells it.
#[derive(Clone, Copy)]
struct Restrictor(LoadRestrictor);

impl ValueEnum for Restrictor {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self(LoadRestrictor::RootOnly), Self(LoadRestrictor::None)]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(match self.0 {
            LoadRestrictor::RootOnly => "LoadRestrictionsRootOnly",
            LoadRestrictor::None => "LoadRestrictionsNone",
        }))
    }
}

/// [`Reorder`] as Kustomize spells it.
#[derive(Clone, Copy)]
struct Order(Reorder);

impl ValueEnum for Order {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self(Reorder::Legacy), Self(Reorder::None)]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(match self.0 {
            Reorder::Legacy => "legacy",
            Reorder::None => "none",
        }))
    }
}
