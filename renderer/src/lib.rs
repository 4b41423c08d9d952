//! Renders kustomizations to manifests: the engines with disk, environment and processes behind them, and the
//! command line over it all.
//!
//! [`Renderer`] is the way in for programs, [`cli::main`] that of the binary.

mod argocd;
mod built;
mod chart;
mod chart_target;
mod charts;
pub mod cli;
mod cluster;
mod cmp;
mod config;
mod definitions;
mod dependencies;
mod diff;
mod explain;
mod flux;
mod functions;
pub mod git;
mod grants;
mod homes;
mod inflate;
mod linting;
mod manifests;
mod output;
mod progress;
mod remote;
mod render;
mod report;
mod roots;
mod stack;
mod target;
mod validate;

pub use built::{Built, Overlay, RenderedChart};
pub use chart::Values;
pub use chart_target::ChartOptions;
pub use config::Config;
pub use functions::Programs;
pub use output::Format;
pub use remote::Remotes;
pub use render::{Event, Renderer};
