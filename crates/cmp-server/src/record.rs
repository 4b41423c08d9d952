//! The log record of a request: no content, and no variable except the application's name.

use std::time::Duration;

use tonic::Code;

/// Tells whether something was at hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cached {
    /// It was.
    Hit,
    /// It had to be made.
    Miss,
}

/// One request.
#[derive(Clone, Debug)]
pub struct Record {
    /// The method, such as `GenerateManifest`.
    pub method: &'static str,
    /// The application's name, where it was said.
    pub application: Option<String>,
    /// The path of its folder in the repository.
    pub path: String,
    /// The archive's checksum.
    pub checksum: String,
    /// Tells whether the tree was at hand; nothing where it did not come to that.
    pub tree: Option<Cached>,
    /// Tells whether the manifests were at hand; nothing where it did not come to that.
    pub result: Option<Cached>,
    /// The bytes of the archive that came.
    pub received_bytes: u64,
    /// The files of the tree.
    pub files: usize,
    /// The objects in the response.
    pub manifests: usize,
    /// The bytes of the response.
    pub sent_bytes: usize,
    /// Time the request came in, an archive being unpacked meanwhile.
    pub receiving: Duration,
    /// Time it took from there.
    pub serving: Duration,
    /// The gRPC status code.
    pub code: Code,
    /// The error message sent to the client.
    pub message: Option<String>,
}

impl Record {
    pub(crate) fn new(method: &'static str) -> Self {
        Self {
            method,
            application: None,
            path: String::new(),
            checksum: String::new(),
            tree: None,
            result: None,
            received_bytes: 0,
            files: 0,
            manifests: 0,
            sent_bytes: 0,
            receiving: Duration::ZERO,
            serving: Duration::ZERO,
            code: Code::Ok,
            message: None,
        }
    }
}

impl Cached {
    /// `hit` or `miss`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Hit => "hit",
            Self::Miss => "miss",
        }
    }
}
