//! `renderer helm version`: the Helm that charts are rendered as, in the form that tools parse.

use clap::Args;
use diagnostic::{Error, ErrorKind, Result};
use gotemplate::{Functions, MissingKey, Options, TemplateSet, Value};

use crate::output;

pub(super) const EXAMPLES: &str = "\
Examples:
  # for who parses it: v4.3.1+renderer.…
  renderer helm version --short

  # the version alone
  renderer helm version --template '{{.Version}}'";

/// The Helm whose output the engine gives.
const HELM: &str = "v4.3.1";

/// The Kubernetes that it takes a cluster for.
const KUBERNETES: &str = "v1.37";

/// The commit of Helm's version output; this program was not built from one.
const COMMIT: &str = concat!("renderer.", env!("CARGO_PKG_VERSION"));

#[derive(Args, Debug)]
#[command(mut_args = super::flags::go_switch)]
pub(in crate::cli) struct Arguments {
    /// Print the version alone, with what gives it
    #[arg(long)]
    short: bool,

    /// Print a Go template's result: `.Version`, `.GitCommit`, `.GitTreeState`, `.GoVersion`, `.KubeClientVersion`
    #[arg(long, value_name = "TEMPLATE")]
    template: Option<String>,

    /// No effect, as there is no server
    #[arg(short, long, hide = true)]
    client: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<()> {
    match &arguments.template {
        Some(template) if !template.is_empty() => output::bytes_to_stdout(&filled(template)?),
        _ if arguments.short => output::to_stdout(&format!("{HELM}+{COMMIT}\n")),
        _ => output::to_stdout(&format!(
            "version.BuildInfo{{Version:\"{HELM}\", GitCommit:\"{COMMIT}\", GitTreeState:\"clean\", GoVersion:\"\", \
             KubeClientVersion:\"{KUBERNETES}\"}}\n"
        )),
    }
}

fn filled(template: &str) -> Result<Vec<u8>> {
    let failed = |error: gotemplate::Error| Error::new(ErrorKind::Invalid, error.to_string());
    let mut set = TemplateSet::new("_", Functions::new(&[]));
    set.parse("_", template.as_bytes()).map_err(failed)?;
    let info = Value::map([
        ("Version", HELM.into()),
        ("GitCommit", COMMIT.into()),
        ("GitTreeState", "clean".into()),
        ("GoVersion", "".into()),
        ("KubeClientVersion", KUBERNETES.into()),
    ]);
    set.execute("_", info, &Options { missing_key: MissingKey::Error, ..Options::default() }).map_err(failed)
}
