//! The renderer as these tests run it: cargo keeps it up to date beside them, which it does not do for the binary of
//! another crate.

use std::process::ExitCode;

fn main() -> ExitCode {
    renderer::cli::main()
}
