//! The `image-updater` binary.

use std::process::ExitCode;

fn main() -> ExitCode {
    image_updater::cli::main()
}
