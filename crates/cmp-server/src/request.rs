//! Receives what a client streams: what it asks for, and the tree that it asks for.
//!
//! In: messages, the first of which says what they are about and the others are an archive in pieces. Out: the tree, at
//! hand by its checksum or unpacked as it comes. Refused: streams out of order, and an archive that is not the one that
//! was announced. However that ends, all messages are read: a client that is answered earlier takes it for a failure of
//! the connection.

use std::cell::RefCell;
use std::io::{self, Read};
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use sha2::{Digest as _, Sha256};
use tokio::sync::mpsc;
use tonic::{Status, Streaming};

use crate::archive::{Limits, Refusal, Unpacked, unpack};
use crate::budget::Reservation;
use crate::contents::{Digest, Uses};
use crate::messages::{AppStreamRequest, Metadata, StreamPart};
use crate::record::Cached;
use crate::store::Store;
use crate::trees::{Claim, Ticket, Tree};

/// Pieces are handed on in portions of this size: one of a kilobyte, as they mostly come, is not worth waking a thread.
const PORTION: usize = 64 << 10;

/// Maximum number of times its size an archive of manifests mostly takes in memory.
const USUAL_RATIO: u64 = 8;

/// Memory of a stream besides its tree: windows and buffers.
const STREAM_OVERHEAD: u64 = 512 << 10;

/// A received request.
pub(crate) struct Received {
    pub(crate) metadata: Metadata,
    pub(crate) tree: Arc<Tree>,
    pub(crate) cached: Cached,
}

/// The stream of a client.
pub(crate) struct Incoming<'s> {
    messages: Streaming<AppStreamRequest>,
    store: &'s Arc<Store>,
    limits: Limits,
    is_ended: bool,
    /// The bytes of the archive so far.
    pub(crate) bytes: u64,
    /// The metadata, once received.
    pub(crate) metadata: Option<Metadata>,
}

impl<'s> Incoming<'s> {
    pub(crate) fn new(messages: Streaming<AppStreamRequest>, store: &'s Arc<Store>, limits: Limits) -> Self {
        Self { messages, store, limits, is_ended: false, bytes: 0, metadata: None }
    }

    /// Reads the stream to its end.
    ///
    /// # Errors
    /// If it is invalid, after all of it was received.
    pub(crate) async fn receive(&mut self) -> Result<Received, Status> {
        let received = self.tree().await;
        while !self.is_ended {
            self.message().await?;
        }
        let (tree, cached) = received?;
        let metadata = self.metadata.take().unwrap_or_default();
        Ok(Received { metadata, tree, cached })
    }

    async fn tree(&mut self) -> Result<(Arc<Tree>, Cached), Status> {
        let Some(StreamPart::Metadata(metadata)) = self.message().await? else {
            return Err(Status::invalid_argument("the first message of a stream has to have its metadata"));
        };
        let (checksum, size) = (metadata.checksum.clone(), u64::try_from(metadata.size).unwrap_or(0));
        self.metadata = Some(metadata);
        let checksum = digest(&checksum).ok_or_else(|| {
            Status::invalid_argument("the checksum in the metadata must be a SHA-256 in hexadecimal digits")
        })?;
        let found = match self.store.trees.claim(checksum).await {
            Claim::Ready(tree) => {
                while self.piece().await?.is_some() {}
                (tree, Cached::Hit)
            }
            Claim::Unpack(ticket) => (self.unpack(ticket, checksum, size).await?, Cached::Miss),
        };
        if self.bytes == 0 {
            return Err(Status::invalid_argument("the stream contained no archive"));
        }
        Ok(found)
    }

    /// Unpacks the archive as it comes, on a thread that is blocked where it comes slowly.
    async fn unpack(&mut self, ticket: Ticket, announced: Digest, size: u64) -> Result<Arc<Tree>, Status> {
        let usual = size.saturating_mul(USUAL_RATIO).min(self.limits.tree_bytes);
        let room = self.store.admit(usual.saturating_add(STREAM_OVERHEAD)).await;
        let (sender, receiver) = mpsc::channel(1);
        let unpacking = {
            let (store, limits) = (Arc::clone(self.store), self.limits);
            tokio::task::spawn_blocking(move || unpack_pieces(receiver, &store, &limits, room))
        };
        self.send_pieces(sender).await?;
        let (unpacked, digest) = unpacking
            .await
            .map_err(|_| Status::internal("a fault of the server in unpacking the archive"))?;
        if self.bytes > 0 && digest != announced {
            return Err(Status::invalid_argument(
                "the archive has another checksum than the one in the metadata: it was damaged on its way",
            ));
        }
        let unpacked = unpacked.map_err(|refusal| match refusal {
            Refusal::Invalid(sentence) if self.bytes > 0 => Status::invalid_argument(sentence),
            Refusal::Invalid(_) => Status::invalid_argument("the stream contained no archive"),
            Refusal::TooLarge(sentence) => Status::resource_exhausted(sentence),
            Refusal::NoMemory => self.store.exhausted("the repository"),
        })?;
        Ok(ticket.finish(unpacked))
    }

    async fn send_pieces(&mut self, sender: mpsc::Sender<Bytes>) -> Result<(), Status> {
        let mut portion = BytesMut::new();
        while let Some(piece) = self.piece().await? {
            let ready = if portion.is_empty() && piece.len() >= PORTION {
                piece
            } else {
                portion.extend_from_slice(&piece);
                if portion.len() < PORTION {
                    continue;
                }
                portion.split().freeze()
            };
            // The thread reads on to the end also where it cannot unpack.
            let _ = sender.send(ready).await;
        }
        let _ = sender.send(portion.freeze()).await;
        Ok(())
    }

    /// The next piece of the archive; nothing where it has ended.
    async fn piece(&mut self) -> Result<Option<Bytes>, Status> {
        match self.message().await? {
            Some(StreamPart::File(file)) => {
                self.bytes += file.chunk.len() as u64;
                Ok(Some(file.chunk))
            }
            Some(StreamPart::Metadata(_)) => {
                Err(Status::invalid_argument("only the first message of a stream may have metadata"))
            }
            None => Ok(None),
        }
    }

    /// The next message that has something in it; nothing where the stream has ended.
    async fn message(&mut self) -> Result<Option<StreamPart>, Status> {
        loop {
            match self.messages.message().await {
                Ok(Some(AppStreamRequest { request: Some(part) })) => return Ok(Some(part)),
                Ok(Some(AppStreamRequest { request: None })) => {}
                Ok(None) => {
                    self.is_ended = true;
                    return Ok(None);
                }
                Err(status) => {
                    self.is_ended = true;
                    return Err(status);
                }
            }
        }
    }
}

/// Returns what the thread does: unpacks with what room there is, reads on to the end, and gives the checksum of it all.
fn unpack_pieces(
    pieces: mpsc::Receiver<Bytes>,
    store: &Store,
    limits: &Limits,
    room: Reservation,
) -> (Result<Unpacked, Refusal>, Digest) {
    let room = RefCell::new(room);
    let reserve = |bytes: u64| {
        let mut room = room.borrow_mut();
        if bytes <= room.bytes() { Some(room.split(bytes)) } else { store.reserve(bytes) }
    };
    let mut pieces = Pieces { pieces, current: Bytes::new(), hash: Sha256::new() };
    let unpacked = unpack(&mut pieces, limits, Uses::of(&store.contents), &reserve);
    while pieces.next() {
        pieces.current.clear();
    }
    (unpacked, pieces.hash.finalize().into())
}

/// Pieces as one stream of bytes, with its checksum.
struct Pieces {
    pieces: mpsc::Receiver<Bytes>,
    current: Bytes,
    hash: Sha256,
}

impl Pieces {
    /// Waits for the next piece; whether there is one.
    fn next(&mut self) -> bool {
        while self.current.is_empty() {
            match self.pieces.blocking_recv() {
                Some(piece) => {
                    self.hash.update(&piece);
                    self.current = piece;
                }
                None => return false,
            }
        }
        true
    }
}

impl Read for Pieces {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if !self.next() {
            return Ok(0);
        }
        let taken = buffer.len().min(self.current.len());
        buffer[..taken].copy_from_slice(&self.current.split_to(taken));
        Ok(taken)
    }
}

/// The digest of hexadecimal digits.
fn digest(text: &str) -> Option<Digest> {
    let digits = text.as_bytes();
    if digits.len() != 2 * size_of::<Digest>() {
        return None;
    }
    let mut digest = [0; size_of::<Digest>()];
    for (byte, pair) in digest.iter_mut().zip(digits.chunks(2)) {
        let value = |digit: u8| char::from(digit).to_digit(16);
        *byte = (value(pair[0])? << 4 | value(pair[1])?) as u8;
    }
    Some(digest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checksum_is_read_from_its_digits() {
        let text = "00ff".repeat(16);
        assert_eq!(digest(&text).unwrap()[..3], [0, 0xff, 0]);
        assert_eq!(digest(&text.to_uppercase()), digest(&text));
        for wrong in ["", "00ff", &"0g".repeat(32), &"ä".repeat(32), &"00".repeat(33)] {
            assert_eq!(digest(wrong), None, "{wrong}");
        }
    }
}
