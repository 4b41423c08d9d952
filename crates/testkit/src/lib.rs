//! Shared helpers of end-to-end tests: directories with files, and programs run in them.

pub mod apiserver;
pub mod case;
mod certificate;
pub mod cosign;
mod daemon;
mod docker_registry;
mod git;
mod server;
mod ssh;
mod stand_in;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

pub use certificate::{Authority, Certified};
pub use daemon::Daemon;
pub use docker_registry::{DockerRegistry, Pushed, RegistryHabits};
pub use git::{BareRepository, GitRepository};
pub use server::{Habits, Request, Server};
pub use ssh::SshServer;
pub use stand_in::{Reply, StandIn};

/// A folder with files, removed at the end of its test.
#[derive(Debug)]
pub struct Folder(TempDir);

/// The result of a program.
#[derive(Debug)]
pub struct Outcome {
    /// The exit code; nothing where a signal ended it.
    pub code: Option<i32>,
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
}

impl Folder {
    /// A folder with files of the given contents.
    ///
    /// # Panics
    /// If the disk fails.
    #[must_use]
    pub fn with(files: &[(&str, &str)]) -> Self {
        let folder = Self(TempDir::new().expect("a temporary folder can be made"));
        for (path, content) in files {
            folder.write(path, content);
        }
        folder
    }

    /// Writes a file, with the folders above it.
    ///
    /// # Panics
    /// If the disk fails.
    pub fn write(&self, path: &str, content: &str) {
        self.write_bytes(path, content.as_bytes());
    }

    /// Writes a file that is no text, with the folders above it.
    ///
    /// # Panics
    /// If the disk fails.
    pub fn write_bytes(&self, path: &str, content: &[u8]) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().expect("it is below the folder")).expect("a folder can be made");
        fs::write(path, content).expect("a file can be written");
    }

    /// A file's content; nothing where there is none.
    #[must_use]
    pub fn read(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.path(path)).ok()
    }

    /// The path of something in the folder.
    #[must_use]
    pub fn path(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    /// All files below a folder, in order.
    ///
    /// # Panics
    /// If the disk fails.
    #[must_use]
    pub fn files(&self, path: &str) -> Vec<String> {
        let top = self.path(path);
        let mut files = Vec::new();
        collect(&top, &top, &mut files);
        files.sort();
        files
    }

    /// Runs a program here, without the environment's say in what Kustomize and terminals do.
    ///
    /// # Panics
    /// If it cannot be run.
    #[must_use]
    pub fn run(&self, program: &str, arguments: &[&str], stdin: &str) -> Outcome {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .current_dir(self.0.path())
            .env_remove("KUSTOMIZE_ENABLE_MANAGEDBY_LABEL")
            .env_remove("CLICOLOR_FORCE");
        Self::finish(command, stdin)
    }

    /// Runs a program here with the given variables, its home and its cache in the folder, and nothing of what git, ssh
    /// and TLS would take from the environment.
    ///
    /// # Panics
    /// If it cannot be run.
    #[must_use]
    pub fn run_at_home(&self, program: &str, arguments: &[&str], variables: &[(&str, &str)]) -> Outcome {
        Self::finish(self.at_home(program, arguments, variables), "")
    }

    /// A program as [`Self::run_at_home`] runs it, for a test that has more to do with it.
    #[must_use]
    pub fn at_home(&self, program: &str, arguments: &[&str], variables: &[(&str, &str)]) -> Command {
        let mut command = Command::new(program);
        let foreign = ["GIT_", "SSH_", "SSL_", "DOCKER_", "RENDERER_", "KUSTOMIZE_", "CLICOLOR"];
        for name in std::env::vars().map(|(name, _)| name) {
            if foreign.iter().any(|start| name.starts_with(start)) || name.to_lowercase().ends_with("_proxy")
            {
                command.env_remove(name);
            }
        }
        command
            .args(arguments)
            .current_dir(self.0.path())
            .env("HOME", self.path("home"))
            .env("XDG_CACHE_HOME", self.path("cache"))
            .env_remove("XDG_CONFIG_HOME")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .envs(variables.iter().copied());
        command
    }

    fn finish(mut command: Command, stdin: &str) -> Outcome {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program can be run");
        let mut input = child.stdin.take().expect("it is piped");
        // It may end without reading it all.
        let _ = input.write_all(stdin.as_bytes());
        drop(input);
        let output = child.wait_with_output().expect("the program ends");
        Outcome {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).expect("manifests are text"),
            stderr: String::from_utf8(output.stderr).expect("messages are text"),
        }
    }
}

fn collect(top: &Path, folder: &Path, files: &mut Vec<String>) {
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.expect("a folder can be read").path();
        if path.is_dir() {
            collect(top, &path, files);
        } else {
            let below = path.strip_prefix(top).expect("it is below the top");
            files.push(below.display().to_string());
        }
    }
}
