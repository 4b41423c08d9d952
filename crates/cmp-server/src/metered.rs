//! Counts large messages against the memory while they come in: a message is in memory as a whole before it is read.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::{Body, Frame};
use tonic::Status;

use crate::budget::Reservation;
use crate::grpc::MAX_MESSAGE;
use crate::store::Store;

/// Smaller ones are not counted; there is at most one of each stream.
const LARGE: u64 = 1 << 20;

/// Maximum number of times a message is in memory at most: as it comes in, and on its way to be unpacked.
const COPIES: u64 = 2;

/// The flag and the length in front of a message.
const HEAD: usize = 5;

/// The body of a request.
pub(crate) struct Metered<B> {
    body: B,
    store: Arc<Store>,
    /// The received part of a message's header.
    head: Vec<u8>,
    /// The bytes of the message that are still to come.
    left: u64,
    reservation: Option<Reservation>,
}

impl<B> Metered<B> {
    pub(crate) fn new(body: B, store: Arc<Store>) -> Self {
        Self { body, store, head: Vec::with_capacity(HEAD), left: 0, reservation: None }
    }

    /// Follows the messages in what has come.
    fn follow(&mut self, mut data: &[u8]) -> Result<(), Status> {
        while !data.is_empty() {
            if self.left > 0 {
                let taken = usize::try_from(self.left).unwrap_or(usize::MAX).min(data.len());
                self.left -= taken as u64;
                data = &data[taken..];
                continue;
            }
            self.head.push(data[0]);
            data = &data[1..];
            if let [_, length @ ..] = self.head.as_slice()
                && let Ok(length) = <[u8; 4]>::try_from(length)
            {
                self.left = u64::from(u32::from_be_bytes(length));
                self.head.clear();
                self.begin()?;
            }
        }
        Ok(())
    }

    fn begin(&mut self) -> Result<(), Status> {
        self.reservation = None;
        // What is larger than it may be is refused when it is read.
        if self.left > LARGE && self.left <= MAX_MESSAGE {
            let reservation = self.store.reserve(self.left * COPIES);
            self.reservation = Some(reservation.ok_or_else(|| self.store.exhausted("a message"))?);
        }
        Ok(())
    }
}

impl<B: Body<Data = Bytes> + Unpin> Body for Metered<B>
where
    B::Error: std::error::Error + Send + Sync + 'static,
{
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let frame = match ready!(Pin::new(&mut self.body).poll_frame(context)) {
            Some(Ok(frame)) => frame,
            Some(Err(error)) => return Poll::Ready(Some(Err(Status::from_error(Box::new(error))))),
            None => return Poll::Ready(None),
        };
        if let Some(data) = frame.data_ref()
            && let Err(status) = self.follow(data)
        {
            return Poll::Ready(Some(Err(status)));
        }
        Poll::Ready(Some(Ok(frame)))
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    struct NoBody;

    impl Body for NoBody {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(
            self: Pin<&mut Self>,
            _context: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
            Poll::Ready(None)
        }
    }

    #[test]
    fn large_messages_are_counted_however_they_are_cut() {
        let store = Arc::new(Store::new(8 << 20));
        let message = |length: usize| {
            let mut message = vec![0];
            message.extend_from_slice(&(length as u32).to_be_bytes());
            message.extend(vec![0; length]);
            message
        };
        let large = LARGE as usize + 1;
        let bytes = [message(3), message(0), message(large), message(7)].concat();
        for piece in [1, 2, 7, 1000, bytes.len()] {
            let mut body = Metered::new(NoBody, Arc::clone(&store));
            let mut most = 0;
            for data in bytes.chunks(piece) {
                body.follow(data).unwrap();
                most = most.max(store.budget.used());
            }
            assert_eq!(body.left, 0);
            assert_eq!(store.budget.used(), 0);
            assert!(piece == bytes.len() || most == COPIES * (LARGE + 1), "{piece}: {most}");
        }
        let mut body = Metered::new(NoBody, Arc::clone(&store));
        let refused = body.follow(&message(5 << 20)[..HEAD]).unwrap_err();
        assert_eq!(refused.code(), tonic::Code::ResourceExhausted);
    }
}
