//! Content by its digest, handed on while it comes. A connection that breaks is taken up where it broke. It refuses what
//! is longer than it says, and says at the end whether it is what its digest says: until then nothing of it may be used.

use std::io::Write;
use std::time::{Duration, Instant};

use diagnostic::{Error, ErrorKind, Result};
use reqwest::StatusCode;
use reqwest::header::{CONTENT_RANGE, HeaderValue, RANGE};

use crate::digest::Hasher;
use crate::endpoint::{Call, Endpoint};
use crate::manifest::Descriptor;
use crate::problem::Subject;
use crate::reference::Repository;
use crate::retry::Failure;
use crate::web::Answer;

/// Time content may come, however slowly.
const MAX_TIME: Duration = Duration::from_secs(30 * 60);

/// Hands content on to a writer.
pub(crate) fn download(
    endpoint: &Endpoint,
    repository: &Repository,
    descriptor: &Descriptor,
    writer: &mut dyn Write,
) -> Result<()> {
    let digest = descriptor.digest.as_str();
    let mut call =
        Call::get(endpoint.url(repository, &format!("blobs/{digest}")), repository, Subject::Blob(digest));
    let mut download = Download {
        descriptor,
        name: format!("{repository}@{digest}"),
        writer,
        hasher: descriptor.digest.hasher(),
        written: 0,
        deadline: Instant::now() + MAX_TIME,
    };
    let outcome = endpoint.exchange(|| {
        call.headers.clear();
        if download.written > 0 {
            let range = HeaderValue::from_str(&format!("bytes={}-", download.written));
            call.headers.extend(range.map(|range| (RANGE, range)));
        }
        endpoint.attempt(&call, |answer| download.receive(answer))
    });
    outcome.map_err(|error| endpoint.name(error, &call))?;
    download.finish()
}

struct Download<'d> {
    descriptor: &'d Descriptor,
    name: String,
    writer: &'d mut dyn Write,
    hasher: Hasher,
    written: u64,
    deadline: Instant,
}

impl Download<'_> {
    fn receive(&mut self, mut answer: Answer) -> Result<(), Failure> {
        let mut skip = if self.continues(&answer) { 0 } else { self.written };
        let mut part = vec![0; 64 << 10];
        loop {
            let count = match answer.read(&mut part) {
                Ok(0) => break,
                // All is there, however the connection ends.
                Err(_) if self.written == self.descriptor.size => break,
                outcome => outcome?,
            };
            let skipped = usize::try_from(skip).unwrap_or(usize::MAX).min(count);
            skip -= skipped as u64;
            self.take(&part[skipped..count])?;
        }
        if self.written < self.descriptor.size {
            let message = format!("`{}` ends too early", self.name);
            return Err(Failure::Passing { error: Error::new(ErrorKind::Unavailable, message), wait: None });
        }
        Ok(())
    }

    /// Returns true if the answer starts where the last one broke.
    fn continues(&self, answer: &Answer) -> bool {
        let start = format!("bytes {}-", self.written);
        answer.status == StatusCode::PARTIAL_CONTENT
            && answer.header(CONTENT_RANGE).is_some_and(|range| range.starts_with(&start))
    }

    fn take(&mut self, part: &[u8]) -> Result<()> {
        self.written += part.len() as u64;
        if self.written > self.descriptor.size {
            let message = format!(
                "`{}` is larger than the {} bytes that its manifest says",
                self.name, self.descriptor.size
            );
            return Err(Error::new(ErrorKind::DigestMismatch, message));
        }
        if Instant::now() > self.deadline {
            return Err(Error::new(
                ErrorKind::Unavailable,
                format!("`{}` was not received in time", self.name),
            ));
        }
        self.hasher.update(part);
        self.writer.write_all(part).map_err(|error| {
            Error::new(ErrorKind::Environment, format!("`{}` cannot be written: {error}", self.name))
        })
    }

    fn finish(self) -> Result<()> {
        let digest = self.hasher.finish();
        if digest == self.descriptor.digest {
            return Ok(());
        }
        let message = format!("`{}` does not match its digest: received `{digest}`", self.name);
        Err(Error::new(ErrorKind::DigestMismatch, message)
            .hint("the registry, or something on the way, changed it"))
    }
}
