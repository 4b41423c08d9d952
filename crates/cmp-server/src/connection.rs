//! A client's connection, with the bytes that it reads rewritten on their way.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::authority::Rewriter;

/// As much is read at once.
const CHUNK: usize = 32 << 10;

/// A connection that is read through a [`Rewriter`] and written directly.
pub(crate) struct Connection<S> {
    stream: S,
    rewriter: Rewriter,
    read: Box<[u8]>,
    rewritten: Vec<u8>,
    /// So much of that was given.
    given: usize,
}

impl<S> Connection<S> {
    pub(crate) fn new(stream: S) -> Self {
        let read = vec![0; CHUNK].into_boxed_slice();
        Self { stream, rewriter: Rewriter::default(), read, rewritten: Vec::new(), given: 0 }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Connection<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        out: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        while this.given == this.rewritten.len() {
            let mut read = ReadBuf::new(&mut this.read);
            ready!(Pin::new(&mut this.stream).poll_read(context, &mut read))?;
            if read.filled().is_empty() {
                return Poll::Ready(Ok(()));
            }
            this.rewritten.clear();
            this.given = 0;
            this.rewriter.rewrite(read.filled(), &mut this.rewritten);
        }
        let ready = &this.rewritten[this.given..];
        let taken = ready.len().min(out.remaining());
        out.put_slice(&ready[..taken]);
        this.given += taken;
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Connection<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, bytes)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}
