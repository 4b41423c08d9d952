//! `renderer version`: what this is, and what it renders like.

use clap::Args;
use diagnostic::Result;

use crate::output;

const RENDERER: &str = env!("CARGO_PKG_VERSION");

/// The Kustomize whose output the engine gives.
pub(super) const KUSTOMIZE: &str = "5.8.1";

/// The Helm whose output the engine gives.
const HELM: &str = "4.3.1";

#[derive(Args, Debug)]
pub(super) struct Arguments {
    /// Print for a machine to read
    #[arg(short, long, value_name = "FORMAT")]
    output: Option<super::Format>,
}

pub(super) fn run(arguments: &Arguments) -> Result<()> {
    let text = match arguments.output {
        None => format!("renderer {RENDERER} (renders as Kustomize {KUSTOMIZE} and Helm {HELM})\n"),
        Some(super::Format::Yaml) => format!("renderer: {RENDERER}\nkustomize: {KUSTOMIZE}\nhelm: {HELM}\n"),
        Some(super::Format::Json) => {
            format!("{{\"renderer\":\"{RENDERER}\",\"kustomize\":\"{KUSTOMIZE}\",\"helm\":\"{HELM}\"}}\n")
        }
    };
    output::to_stdout(&text)
}
