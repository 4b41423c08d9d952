//! A real ssh server on loopback, with keys of its own, for whoever runs the tests.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

/// Path of the program in Debian and most others; it must be started by its full path.
const SSHD: &str = "/usr/sbin/sshd";

/// A running server; it stops when it is dropped.
#[derive(Debug)]
pub struct SshServer {
    folder: PathBuf,
    port: u16,
    user: String,
    daemon: Child,
}

impl SshServer {
    /// Serves the machine to its own user, who has the key `key` in the folder; the server is known in `known_hosts`.
    ///
    /// # Panics
    /// If there is no `sshd`; `.ci/run` installs it.
    #[must_use]
    pub fn start(folder: &Path) -> Self {
        assert!(Path::new(SSHD).exists(), "{SSHD} is missing: install the package openssh-server");
        let user = output("id", &["-un"]);
        if user == "root" {
            // As root it wants a place for its unprivileged part, which else the service makes.
            fs::create_dir_all("/run/sshd").expect("root can make it");
        }
        let port = TcpListener::bind(("127.0.0.1", 0))
            .and_then(|listener| listener.local_addr())
            .expect("a port is free")
            .port();
        fs::create_dir_all(folder).expect("a folder can be made");
        let path = |name: &str| folder.join(name).display().to_string();
        for key in ["host_key", "key", "other_key"] {
            output("ssh-keygen", &["-q", "-t", "ed25519", "-N", "", "-f", &path(key)]);
        }
        let host_key = fs::read_to_string(folder.join("host_key.pub")).expect("it was made");
        let write =
            |name: &str, content: &str| fs::write(folder.join(name), content).expect("it can be written");
        write("known_hosts", &format!("[localhost]:{port} {host_key}"));
        fs::copy(folder.join("key.pub"), folder.join("authorized_keys")).expect("it was made");
        let variables =
            format!("PATH={}:{}", std::env::var("PATH").expect("it is set"), output("git", &["--exec-path"]));
        let configuration = [
            format!("Port {port}"),
            "ListenAddress 127.0.0.1".to_owned(),
            format!("HostKey {}", path("host_key")),
            format!("AuthorizedKeysFile {}", path("authorized_keys")),
            "PidFile none".to_owned(),
            "StrictModes no".to_owned(),
            "UsePAM no".to_owned(),
            "PasswordAuthentication no".to_owned(),
            "KbdInteractiveAuthentication no".to_owned(),
            "AcceptEnv GIT_PROTOCOL".to_owned(),
            format!("SetEnv {variables}"),
        ];
        write("sshd_config", &configuration.join("\n"));
        let daemon = Command::new(SSHD)
            .args(["-D", "-e", "-f", &path("sshd_config")])
            .stdin(Stdio::null())
            .stderr(fs::File::create(folder.join("log")).expect("it can be made"))
            .spawn()
            .expect("sshd can be run");
        let mut server = Self { folder: folder.to_owned(), port, user, daemon };
        server.wait();
        server
    }

    fn wait(&mut self) {
        for _ in 0..500 {
            if TcpStream::connect(("127.0.0.1", self.port)).is_ok() {
                return;
            }
            if self.daemon.try_wait().expect("it is a child").is_some() {
                break;
            }
            thread::sleep(Duration::from_millis(20));
        }
        let log = fs::read_to_string(self.folder.join("log")).unwrap_or_default();
        panic!("sshd does not listen: {log}");
    }

    /// The address of a path, in ssh's notation.
    #[must_use]
    pub fn url(&self, path: &str) -> String {
        format!("ssh://{}@localhost:{}{path}", self.user, self.port)
    }

    /// Its port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns the user who may log in.
    #[must_use]
    pub fn user(&self) -> &str {
        &self.user
    }
}

impl Drop for SshServer {
    fn drop(&mut self) {
        let _ = self.daemon.kill();
        let _ = self.daemon.wait();
    }
}

fn output(program: &str, arguments: &[&str]) -> String {
    let output =
        Command::new(program).args(arguments).output().unwrap_or_else(|error| panic!("{program}: {error}"));
    assert!(output.status.success(), "{program} {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}
