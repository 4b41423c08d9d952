//! The `renderer` binary.

use std::process::ExitCode;

fn main() -> ExitCode {
    renderer::cli::main()
}
