//! The socket's file: made, found to be left over, removed.
//!
//! In: a path. Out: a socket that listens there for its owner only. Refused: a path at which another server answers, or
//! where there is something that is no socket.

use std::fmt;
use std::fs::{self, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

/// The repo-server runs as the same user.
const MODE: u32 = 0o600;

/// Listens, and removes its file when it is dropped.
#[derive(Debug)]
pub(crate) struct Socket {
    listener: UnixListener,
    path: PathBuf,
    /// The file's, which tells it from that of a successor.
    identity: (u64, u64),
}

/// Why there is no socket.
#[derive(Debug)]
pub struct SocketError {
    path: PathBuf,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Answers,
    NoSocket,
    Io(io::Error),
}

impl Socket {
    /// Listens at a path. A socket that was left there and that nobody listens on any more is replaced.
    ///
    /// # Errors
    /// If the socket cannot be created.
    pub(crate) fn bind(path: &Path) -> Result<Self, SocketError> {
        let failed = |kind| SocketError { path: path.to_owned(), kind };
        remove_stale(path).map_err(failed)?;
        let listen = || {
            let listener = UnixListener::bind(path)?;
            fs::set_permissions(path, Permissions::from_mode(MODE))?;
            listener.set_nonblocking(true)?;
            let identity = identity(&fs::symlink_metadata(path)?);
            Ok(Self { listener, path: path.to_owned(), identity })
        };
        listen().map_err(|error| failed(Kind::Io(error)))
    }

    /// The listener, for somebody else to accept clients on.
    pub(crate) fn listener(&self) -> io::Result<UnixListener> {
        self.listener.try_clone()
    }
}

fn remove_stale(path: &Path) -> Result<(), Kind> {
    let metadata = match fs::symlink_metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(Kind::Io(error)),
    };
    if !metadata.file_type().is_socket() {
        return Err(Kind::NoSocket);
    }
    match UnixStream::connect(path) {
        Ok(_) => Err(Kind::Answers),
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            fs::remove_file(path).map_err(Kind::Io)
        }
        Err(error) => Err(Kind::Io(error)),
    }
}

fn identity(metadata: &Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}

impl Drop for Socket {
    fn drop(&mut self) {
        if fs::symlink_metadata(&self.path).is_ok_and(|metadata| identity(&metadata) == self.identity) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

impl SocketError {
    /// Returns true if a file is in the way that somebody has to remove, or a server to be stopped.
    #[must_use]
    pub fn is_taken(&self) -> bool {
        !matches!(self.kind, Kind::Io(_))
    }
}

impl fmt::Display for SocketError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match &self.kind {
            Kind::Answers => write!(f, "another server answers on `{path}`"),
            Kind::NoSocket => write!(f, "cannot create the socket: `{path}` exists and is not a socket"),
            Kind::Io(error) => write!(f, "cannot listen on `{path}`: {error}"),
        }
    }
}

impl std::error::Error for SocketError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_over_is_replaced_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("renderer.sock");
        drop(UnixListener::bind(&path).unwrap());
        let socket = Socket::bind(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, MODE);
        assert!(Socket::bind(&path).unwrap_err().to_string().contains("another server answers"));
        drop(socket);
        assert!(!path.exists());
        fs::write(&path, "precious").unwrap();
        assert!(Socket::bind(&path).unwrap_err().is_taken());
        assert_eq!(fs::read(&path).unwrap(), b"precious");
        assert!(!Socket::bind(&folder.path().join("none/renderer.sock")).unwrap_err().is_taken());
    }

    #[test]
    fn the_file_of_a_successor_is_not_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("renderer.sock");
        let first = Socket::bind(&path).unwrap();
        fs::remove_file(&path).unwrap();
        let second = Socket::bind(&path).unwrap();
        drop(first);
        assert!(path.exists());
        drop(second);
        assert!(!path.exists());
    }
}
