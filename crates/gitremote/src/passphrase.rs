//! Passes the passphrase of a key to ssh programs by way of an askpass program.
//!
//! In: a passphrase. Out: a script that says it, and that is gone with its value. It is in a file that other users cannot
//! read, and in no variable and no command line.

use std::fs::Permissions;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use diagnostic::{Error, ErrorKind, Result};
use gix::bstr::ByteSlice as _;
use tempfile::{Builder, TempPath};

use crate::access::{Secret, SecretFile};

/// A passphrase that programs can ask for.
pub(crate) struct Passphrase {
    script: TempPath,
    _secret: SecretFile,
}

impl Passphrase {
    pub(crate) fn of(passphrase: &Secret) -> Result<Self> {
        let secret = passphrase.to_file()?;
        let failed = |error: std::io::Error| {
            Error::new(ErrorKind::Unavailable, format!("a private program cannot be written: {error}"))
        };
        let mut script =
            Builder::new().permissions(Permissions::from_mode(0o700)).tempfile().map_err(failed)?;
        let mut text = b"#!/bin/sh\nexec cat ".to_vec();
        text.extend_from_slice(&gix::quote::single(secret.path().as_os_str().as_bytes().as_bstr()));
        text.push(b'\n');
        script.write_all(&text).map_err(failed)?;
        // A program that is open for writing cannot be run.
        Ok(Self { script: script.into_temp_path(), _secret: secret })
    }

    /// Has a program ask for it here, and nowhere else.
    pub(crate) fn give_to(&self, command: &mut Command) {
        command.env("SSH_ASKPASS_REQUIRE", "force").env("SSH_ASKPASS", &self.script);
    }
}
