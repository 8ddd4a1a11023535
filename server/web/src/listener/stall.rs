//! A stream that gives up on a peer who takes nothing of what it is sent: else it would hold its place for ever.

use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

pub(super) struct Stall<S> {
    stream: S,
    /// How long nothing may be taken.
    max: Duration,
    /// Runs out then; None while bytes go out.
    deadline: Option<Pin<Box<Sleep>>>,
}

impl<S> Stall<S> {
    pub(super) fn new(stream: S, max: Duration) -> Self {
        Self { stream, max, deadline: None }
    }

    /// Lets a write through, or ends the stream when it was held up too long.
    fn watch<T>(&mut self, context: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.deadline = None;
            return written;
        }
        let deadline =
            self.deadline.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(Instant::now() + self.max)));
        match deadline.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Stall<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        pin!(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Stall<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = pin!(&mut self.stream).poll_write(context, bytes);
        self.watch(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = pin!(&mut self.stream).poll_write_vectored(context, bytes);
        self.watch(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = pin!(&mut self.stream).poll_flush(context);
        self.watch(context, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let shut = pin!(&mut self.stream).poll_shutdown(context);
        self.watch(context, shut)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    #[tokio::test]
    async fn a_peer_that_reads_nothing_ends_the_stream_and_one_that_reads_does_not() {
        let (ours, mut theirs) = tokio::io::duplex(8);
        let mut stall = Stall::new(ours, Duration::from_millis(50));
        assert_eq!(stall.write_all(&[7; 64]).await.unwrap_err().kind(), io::ErrorKind::TimedOut);
        drop(stall);
        let mut taken = Vec::new();
        theirs.read_to_end(&mut taken).await.unwrap();
        assert_eq!(taken, [7; 8]);

        let (ours, mut theirs) = tokio::io::duplex(8);
        let mut stall = Stall::new(ours, Duration::from_secs(20));
        let reads = tokio::spawn(async move {
            let mut taken = 0;
            while taken < 64 {
                tokio::task::yield_now().await;
                taken += theirs.read(&mut [0; 8]).await.unwrap();
            }
        });
        stall.write_all(&[7; 64]).await.unwrap();
        reads.await.unwrap();
    }
}
