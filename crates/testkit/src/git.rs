//! Repositories made with the real git, untouched by the configuration of who runs the tests.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A repository with files checked out, on the branch `main`.
#[derive(Debug)]
pub struct GitRepository {
    path: PathBuf,
}

impl GitRepository {
    /// A repository with one commit.
    #[must_use]
    pub fn with(path: &Path, files: &[(&str, &str)]) -> Self {
        fs::create_dir_all(path).expect("a folder can be made");
        let repository = Self { path: path.to_owned() };
        repository.git(&["init", "--quiet", "--initial-branch=main"]);
        repository.commit(files);
        repository
    }

    /// A repository that somebody else made.
    #[must_use]
    pub fn at(path: &Path) -> Self {
        Self { path: path.to_owned() }
    }

    /// Writes files and commits them; the commit's id.
    pub fn commit(&self, files: &[(&str, &str)]) -> String {
        for (path, content) in files {
            let path = self.path.join(path);
            fs::create_dir_all(path.parent().expect("it is below the folder")).expect("a folder can be made");
            fs::write(path, content).expect("a file can be written");
        }
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "--message=change"]);
        self.head()
    }

    /// The id of the commit that is checked out.
    #[must_use]
    pub fn head(&self) -> String {
        self.git(&["rev-parse", "HEAD"])
    }

    /// Commits a tree that git itself would not make; `entries` are its bytes.
    pub fn commit_raw_tree(&self, entries: &[u8]) -> String {
        let tree = self.git_with(&["hash-object", "-t", "tree", "-w", "--literally", "--stdin"], entries);
        let commit = self.git(&["commit-tree", &tree, "-m", "made by hand"]);
        self.git(&["update-ref", "refs/heads/raw", &commit]);
        commit
    }

    /// The id of a file's content, which is stored.
    #[must_use]
    pub fn blob(&self, content: &str) -> String {
        self.git_with(&["hash-object", "-w", "--stdin"], content.as_bytes())
    }

    /// Runs git; what it prints.
    pub fn git(&self, arguments: &[&str]) -> String {
        self.git_with(arguments, b"")
    }

    /// Runs git; what it prints, where it succeeds.
    #[must_use]
    pub fn try_git(&self, arguments: &[&str]) -> Option<String> {
        let output = isolated_git().current_dir(&self.path).args(arguments).output().expect("git can be run");
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim_end().to_owned())
    }

    fn git_with(&self, arguments: &[&str], input: &[u8]) -> String {
        let mut git = isolated_git();
        git.current_dir(&self.path).args(arguments);
        let mut git = git.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("git can be run");
        git.stdin.take().expect("it is piped").write_all(input).expect("git reads");
        let output = git.wait_with_output().expect("git ends");
        assert!(output.status.success(), "git {arguments:?} failed");
        String::from_utf8(output.stdout).expect("git prints text").trim().to_owned()
    }
}

/// A bare repository as servers have them, and a clone of it in which somebody else works.
#[derive(Debug)]
pub struct BareRepository {
    path: PathBuf,
    bare: GitRepository,
    clone: GitRepository,
}

impl BareRepository {
    /// A repository with one commit on the branch `main`, which takes pushes over http too.
    #[must_use]
    pub fn with(path: &Path, files: &[(&str, &str)]) -> Self {
        let clone = GitRepository::with(&path.with_extension("clone"), files);
        let name = path.display().to_string();
        clone.git(&["clone", "--quiet", "--bare", ".", &name]);
        clone.git(&["remote", "add", "origin", &name]);
        let bare = GitRepository { path: path.to_owned() };
        bare.git(&["config", "http.receivepack", "true"]);
        Self { path: path.to_owned(), bare, clone }
    }

    /// Runs git in it; what it prints.
    pub fn git(&self, arguments: &[&str]) -> String {
        self.bare.git(arguments)
    }

    /// Waits for git that still works in it, as that of a process that was killed: it notices by and by that nobody
    /// listens.
    ///
    /// # Panics
    /// If it does not come to an end.
    pub fn wait_for_git(&self) {
        let repository = self.path.as_os_str().as_encoded_bytes();
        let is_at_it = || {
            let commands = fs::read_dir("/proc").expect("processes can be seen").flatten();
            let mut commands = commands.filter_map(|process| fs::read(process.path().join("cmdline")).ok());
            commands.any(|command| command.windows(repository.len()).any(|part| part == repository))
        };
        let is_locked = || {
            let objects = fs::read_dir(self.path.join("objects")).into_iter().flatten().flatten();
            let mut names = objects.map(|entry| entry.file_name());
            names.any(|name| name.to_string_lossy().starts_with("tmp_objdir"))
                || self.path.join("refs/heads/main.lock").exists()
        };
        for _ in 0..500 {
            if !is_at_it() && !is_locked() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        panic!("git does not come to an end");
    }

    /// A file of a branch; nothing where there is none.
    #[must_use]
    pub fn read(&self, branch: &str, path: &str) -> Option<String> {
        self.bare.try_git(&["cat-file", "blob", &format!("{branch}:{path}")])
    }

    /// The subjects of a branch's commits, newest first.
    #[must_use]
    pub fn subjects(&self, branch: &str) -> Vec<String> {
        self.git(&["log", "--format=%s", branch]).lines().map(str::to_owned).collect()
    }

    /// Somebody else's commit on a branch, pushed; its id.
    pub fn rival(&self, branch: &str, files: &[(&str, &str)]) -> String {
        self.clone.git(&["fetch", "--quiet", "origin"]);
        self.clone.git(&["checkout", "--quiet", "-B", branch, &format!("origin/{branch}")]);
        let commit = self.clone.commit(files);
        self.clone.git(&["push", "--quiet", "origin", branch]);
        commit
    }

    /// A commit of somebody else's on top of `main` that is here and that no branch has.
    pub fn prepare_rival(&self, files: &[(&str, &str)]) -> String {
        self.clone.git(&["fetch", "--quiet", "origin"]);
        self.clone.git(&["checkout", "--quiet", "--detach", "origin/main"]);
        let commit = self.clone.commit(files);
        self.bare.git(&["fetch", "--quiet", &self.clone.path.display().to_string(), "HEAD"]);
        commit
    }

    /// Has a script run by git at one of its hooks.
    pub fn hook(&self, name: &str, script: &str) {
        let path = self.path.join("hooks").join(name);
        fs::create_dir_all(path.parent().expect("it is below the repository")).expect("it can be made");
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("it can be written");
        fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).expect("it is ours");
    }

    /// Has git check everything.
    pub fn check(&self) {
        self.git(&["fsck", "--strict", "--no-dangling"]);
    }
}

/// git with a configuration of its own.
pub(crate) fn isolated_git() -> Command {
    let mut git = Command::new("git");
    let variables = std::env::vars_os().map(|(name, _)| name);
    for name in variables.filter(|name| name.as_encoded_bytes().starts_with(b"GIT_")) {
        git.env_remove(name);
    }
    git.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    for name in ["GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"] {
        git.env(name, "test");
    }
    git
}
