//! Compression of what is read as text: pages, JSON, metrics. The files of the page are compressed at build time.
//!
//! A body is compressed as it comes, so a page that is streamed stays a stream. Long pieces are compressed by the pool
//! of workers: on the runtime's own threads they would delay everybody else's answers.

use std::io::{self, Write};

use axum::body::{Body, Bytes, HttpBody as _};
use axum::extract::{MatchedPath, Request, State};
use axum::http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, ETAG, VARY};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::Response;
use brotli::CompressorWriter;
use flate2::write::GzEncoder;
use futures_util::stream::unfold;
use futures_util::{FutureExt as _, StreamExt as _};

use crate::assets::accepts;
use crate::worker_pool::{CallerTurn, WorkerPool};
use crate::{Http, routes};

/// A body that is known to be shorter goes as it is: its headers weigh as much.
const BYTES_MIN: u64 = 1_024;
/// Longer pieces are compressed by the pool of workers; this much takes a fraction of a millisecond.
const INLINE_BYTES_MAX: usize = 16 * 1_024;
/// Pieces that are there together are compressed together, up to this.
const PIECE_BYTES_MAX: usize = 256 * 1_024;
/// Where pages stop becoming much smaller and begin to take much longer.
const BROTLI_QUALITY: u32 = 4;
/// Bits of the window: 512 KB. A page is hardly longer, and each answer has a window of its own.
const BROTLI_WINDOW: u32 = 19;
const BUFFER_BYTES: usize = 4 * 1_024;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Encoding {
    Brotli,
    Gzip,
}

impl Encoding {
    /// The smaller one that the client takes.
    fn accepted(headers: &HeaderMap) -> Option<Self> {
        [Self::Brotli, Self::Gzip].into_iter().find(|encoding| accepts(headers, encoding.name()))
    }

    fn name(self) -> &'static str {
        match self {
            Self::Brotli => "br",
            Self::Gzip => "gzip",
        }
    }
}

/// Compresses the answer if its route allows that, it is text, and the client takes it.
pub(crate) async fn compress(State(http): State<Http>, request: Request, next: Next) -> Response {
    let matched = request.extensions().get::<MatchedPath>().map(MatchedPath::as_str);
    let is_allowed = !matched.is_some_and(routes::has_secret);
    let encoding = Encoding::accepted(request.headers()).filter(|_| request.method() != Method::HEAD);
    let mut response = next.run(request).await;
    if !is_allowed || !is_compressible(&response) {
        return response;
    }
    response.headers_mut().append(VARY, HeaderValue::from_name(ACCEPT_ENCODING));
    let is_short = response.body().size_hint().upper().is_some_and(|bytes| bytes < BYTES_MIN);
    let Some(encoding) = encoding.filter(|_| !is_short) else { return response };
    let (mut parts, body) = response.into_parts();
    parts.headers.insert(CONTENT_ENCODING, HeaderValue::from_static(encoding.name()));
    // Both speak of the bytes that the handler made.
    parts.headers.remove(CONTENT_LENGTH);
    parts.headers.remove(ETAG);
    Response::from_parts(parts, compressed(body, encoding, http.work.clone()))
}

/// Text that nobody has encoded yet.
fn is_compressible(response: &Response) -> bool {
    let headers = response.headers();
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    let is_text = kind.starts_with("text/") || matches!(kind, "application/json" | "application/x-ndjson");
    let has_body = !matches!(response.status(), StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED);
    is_text && has_body && !headers.contains_key(CONTENT_ENCODING)
}

/// A body, and what it is compressed with; None after its end.
type Source = (axum::body::BodyDataStream, Option<Compressor>);

/// The body, compressed piece by piece: whatever is there goes on its way before the next is waited for.
fn compressed(body: Body, encoding: Encoding, workers: WorkerPool) -> Body {
    let source: Source = (body.into_data_stream(), Some(Compressor::new(encoding)));
    Body::from_stream(unfold(source, move |(mut pieces, compressor)| {
        let workers = workers.clone();
        async move {
            let compressor = compressor?;
            let (piece, is_last) = match gather(&mut pieces).await {
                Ok(gathered) => gathered,
                Err(error) => return Some((Err(error), (pieces, None))),
            };
            let encoded = if piece.len() <= INLINE_BYTES_MAX {
                compressor.take(&piece, is_last)
            } else {
                match workers.make_in(CallerTurn::default(), move || compressor.take(&piece, is_last)).await {
                    Ok(encoded) => encoded,
                    Err(_) => Err(io::Error::other("the answer could not be compressed")),
                }
            };
            match encoded {
                Ok((bytes, compressor)) => Some((Ok(bytes), (pieces, compressor))),
                Err(error) => Some((Err(axum::Error::new(error)), (pieces, None))),
            }
        }
    }))
}

/// Waits for the next piece, takes those that are there already, and tells whether the body ended with them.
async fn gather(pieces: &mut axum::body::BodyDataStream) -> Result<(Vec<u8>, bool), axum::Error> {
    let mut gathered = Vec::new();
    let mut next = pieces.next().await;
    loop {
        match next {
            None => return Ok((gathered, true)),
            Some(piece) => gathered.extend_from_slice(&piece?),
        }
        if gathered.len() >= PIECE_BYTES_MAX {
            return Ok((gathered, false));
        }
        match pieces.next().now_or_never() {
            Some(ready) => next = ready,
            None => return Ok((gathered, false)),
        }
    }
}

enum Compressor {
    Brotli(Box<CompressorWriter<Vec<u8>>>),
    Gzip(Box<GzEncoder<Vec<u8>>>),
}

impl Compressor {
    fn new(encoding: Encoding) -> Self {
        match encoding {
            Encoding::Brotli => {
                Self::Brotli(Box::new(CompressorWriter::new(Vec::new(), BUFFER_BYTES, BROTLI_QUALITY, BROTLI_WINDOW)))
            }
            Encoding::Gzip => Self::Gzip(Box::new(GzEncoder::new(Vec::new(), flate2::Compression::default()))),
        }
    }

    /// Encodes a piece so that the client can read all of it; the last one with the end of the stream.
    fn take(self, piece: &[u8], is_last: bool) -> io::Result<(Bytes, Option<Self>)> {
        match self {
            Self::Brotli(mut writer) => {
                writer.write_all(piece)?;
                if is_last {
                    return Ok((writer.into_inner().into(), None));
                }
                writer.flush()?;
                Ok((std::mem::take(writer.get_mut()).into(), Some(Self::Brotli(writer))))
            }
            Self::Gzip(mut writer) => {
                writer.write_all(piece)?;
                if is_last {
                    return Ok((writer.finish()?.into(), None));
                }
                writer.flush()?;
                Ok((std::mem::take(writer.get_mut()).into(), Some(Self::Gzip(writer))))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use futures_util::stream;

    use super::*;

    fn text(encoding: Encoding, bytes: &[u8]) -> String {
        let mut text = String::new();
        match encoding {
            Encoding::Brotli => brotli::Decompressor::new(bytes, 4_096).read_to_string(&mut text).unwrap(),
            Encoding::Gzip => flate2::read::GzDecoder::new(bytes).read_to_string(&mut text).unwrap(),
        };
        text
    }

    #[tokio::test]
    async fn what_is_read_is_what_was_written() {
        for encoding in [Encoding::Brotli, Encoding::Gzip] {
            for count in [0, 1, 500, 100_000] {
                let written: String = (0..count).map(|n| format!("/lock-{n} ")).collect();
                let pieces: Vec<_> =
                    written.as_bytes().chunks(300_000).map(|piece| Ok::<_, io::Error>(piece.to_vec())).collect();
                let body = compressed(Body::from_stream(stream::iter(pieces)), encoding, WorkerPool::new());
                let bytes = axum::body::to_bytes(body, usize::MAX).await.unwrap();
                assert_eq!(text(encoding, &bytes), written, "{encoding:?} {count}");
                assert!(count < 500 || bytes.len() * 3 < written.len(), "{encoding:?}: {} bytes", bytes.len());
            }
        }
    }

    #[tokio::test]
    async fn a_piece_is_there_before_the_next_one() {
        for encoding in [Encoding::Brotli, Encoding::Gzip] {
            let waits = stream::iter([Ok::<_, io::Error>(b"<p>first</p>".to_vec())]).chain(stream::pending());
            let mut body = compressed(Body::from_stream(waits), encoding, WorkerPool::new()).into_data_stream();
            let first = body.next().await.unwrap().unwrap();
            let mut read = [0; 12];
            match encoding {
                Encoding::Brotli => brotli::Decompressor::new(&first[..], 4_096).read_exact(&mut read).unwrap(),
                Encoding::Gzip => flate2::read::GzDecoder::new(&first[..]).read_exact(&mut read).unwrap(),
            }
            assert_eq!(&read, b"<p>first</p>");
        }
    }

    #[tokio::test]
    async fn a_body_that_fails_is_no_whole_one() {
        let breaks = stream::iter([Ok(b"<p>".to_vec()), Err(io::Error::other("planted"))]);
        let body = compressed(Body::from_stream(breaks), Encoding::Brotli, WorkerPool::new());
        assert!(axum::body::to_bytes(body, usize::MAX).await.is_err());
    }
}
