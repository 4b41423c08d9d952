//! A keyring of gpg's with one key, which is gone with its value.
//!
//! In: an armoured private key. Out: who signs with it. Refused: a text with no key, or with several.

use std::fs::{Permissions, set_permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};

use diagnostic::{Error, ErrorKind, Result};
use tempfile::TempDir;

use crate::access::Secret;
use crate::sign::{GpgSigner, Sign, output};

/// Signs with the only key of a keyring of its own.
#[derive(Debug)]
pub struct GpgKeyring {
    signer: GpgSigner,
    home: TempDir,
}

impl GpgKeyring {
    /// With the machine's `gpg`.
    ///
    /// # Errors
    /// If the text has no private key, or several; no error has anything of it.
    pub fn of(key: &Secret, passphrase: Option<Secret>) -> Result<Self> {
        let failed = |error: std::io::Error| {
            Error::new(ErrorKind::Unavailable, format!("a keyring cannot be made: {error}"))
        };
        let home = TempDir::new().map_err(failed)?;
        set_permissions(home.path(), Permissions::from_mode(0o700)).map_err(failed)?;
        let home_path = Some(home.path().to_owned());
        let signer = GpgSigner { home: home_path, passphrase, ..GpgSigner::new(String::new()) };
        let mut keyring = Self { signer, home };
        let mut import = keyring.gpg();
        import.args(["--pinentry-mode", "error", "--import"]);
        output(import, key.read()?.as_bytes(), |_| true)?;
        keyring.signer.key = keyring.only_key()?;
        Ok(keyring)
    }

    fn gpg(&self) -> Command {
        let mut command = Command::new(&self.signer.program);
        command.args(["--batch", "--no-tty", "--quiet", "--homedir"]).arg(self.home.path());
        command
    }

    /// The fingerprint of the only private key.
    fn only_key(&self) -> Result<String> {
        let mut list = self.gpg();
        list.args(["--with-colons", "--list-secret-keys"]);
        let keys = output(list, b"", |_| true)?;
        let mut found = Vec::new();
        let mut lines = keys.lines();
        while let Some(line) = lines.next() {
            if line.starts_with("sec:") {
                found.extend(
                    lines.find_map(|line| {
                        line.strip_prefix("fpr:")?.split(':').find(|field| !field.is_empty())
                    }),
                );
            }
        }
        match found.as_slice() {
            [only] => Ok((*only).to_owned()),
            [] => Err(Error::new(ErrorKind::Invalid, "it does not contain an OpenPGP private key")),
            _ => Err(Error::new(
                ErrorKind::Invalid,
                "it has several private keys, and which one signs is not said",
            )),
        }
    }
}

impl Sign for GpgKeyring {
    fn sign(&self, payload: &[u8]) -> Result<String> {
        self.signer.sign(payload)
    }
}

impl Drop for GpgKeyring {
    /// Ends the agent that gpg starts for each keyring; one that stays ends soon, as its keyring is gone.
    fn drop(&mut self) {
        let mut command = Command::new("gpgconf");
        command.arg("--homedir").arg(self.home.path()).args(["--kill", "gpg-agent"]);
        let _ = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    }
}
