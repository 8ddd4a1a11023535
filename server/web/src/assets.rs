//! The files of the page: embedded in the binary (read from disk in debug builds), compressed at build time. Embedded is
//! the smallest form alone (`build.rs`); another is made of it when the first client asks for it, and kept.

mod unpacked;

use std::borrow::Cow;

use axum::Router;
use axum::body::Bytes;
use axum::extract::Path;
use axum::http::header::{ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, IF_NONE_MATCH, VARY};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use rust_embed::RustEmbed;

use super::problem::ErrorResponse;

/// What `style` built.
#[derive(RustEmbed)]
#[folder = "$LOCKSCOPE_SITE"]
struct Site;

/// The manifest: plain name to hashed name.
const MANIFEST: &str = "manifest.json";
/// The chunks of the page's code that each part needs beside the first file.
const CHUNKS: &str = "chunks.json";
/// The part that has all pages but the board and a lock's (`page::app`).
const PAGES: &str = "pages";
/// A hashed name never changes its content.
const FOR_EVER: &str = "public, max-age=31536000, immutable";
const FOR_A_DAY: &str = "public, max-age=86400";
/// The icon, by what is the matter.
const ICONS: [&str; 5] =
    ["/favicon.svg", "/favicon-warn.svg", "/favicon-odd.svg", "/favicon-bad.svg", "/favicon-lost.svg"];
/// Encodings with a twin on disk, the smaller first.
const TWINS: [(&str, &str); 2] = [("br", BROTLI), ("gzip", ".gz")];
const BROTLI: &str = ".br";

/// Names of the page's files; None while the page was not built.
pub(super) fn names() -> Option<lockscope_page::AssetNames> {
    let manifest = Site::get(MANIFEST)?;
    let names: std::collections::BTreeMap<String, String> = serde_json::from_slice(&manifest.data).ok()?;
    let name = |plain: &str| names.get(plain).cloned();
    let chunks: std::collections::BTreeMap<String, Vec<String>> =
        serde_json::from_slice(&Site::get(CHUNKS)?.data).ok()?;
    Some(lockscope_page::AssetNames {
        css: name("app.css")?,
        server_pages_css: name("server-pages.css")?,
        js: name("app.js")?,
        loader: name("loader.js")?,
        wasm: name("app.wasm")?,
        pages: chunks.get(PAGES).cloned().unwrap_or_default(),
    })
}

pub(super) fn routes() -> Router {
    let files = Router::new().route(
        "/pkg/{name}",
        get(|Path(name): Path<String>, headers: HeaderMap| async move { file(name, headers, FOR_EVER).await }),
    );
    ICONS.into_iter().fold(files, |files, path| {
        files.route(
            path,
            get(move |headers: HeaderMap| async move {
                file(path.trim_start_matches('/').to_owned(), headers, FOR_A_DAY).await
            }),
        )
    })
}

async fn file(name: String, headers: HeaderMap, cache: &'static str) -> Response {
    let public = name != MANIFEST && name != CHUNKS && !TWINS.iter().any(|(_, suffix)| name.ends_with(suffix));
    let found = match find(&name, &headers).filter(|_| public) {
        Some(found) => Some(found),
        None if public => unpacked(&name, &headers).await,
        None => None,
    };
    let Some((data, encoding, hash)) = found else {
        return ErrorResponse::not_found(format!(
            "there is no file {name}; reload the page, it may be of an older version"
        ))
        .into_response();
    };
    let etag = format!("\"{hash}\"");
    if headers.get(IF_NONE_MATCH).is_some_and(|known| known.as_bytes() == etag.as_bytes()) {
        return StatusCode::NOT_MODIFIED.into_response();
    }
    let mut response = data.into_response();
    let out = response.headers_mut();
    out.insert(CONTENT_TYPE, HeaderValue::from_static(content_type(&name)));
    out.insert(CACHE_CONTROL, HeaderValue::from_static(cache));
    out.insert(VARY, HeaderValue::from_static("accept-encoding"));
    if let Some(encoding) = encoding {
        out.insert(CONTENT_ENCODING, HeaderValue::from_static(encoding));
    }
    if let Ok(etag) = HeaderValue::from_str(&etag) {
        out.insert(ETAG, etag);
    }
    response
}

type Found = (Bytes, Option<&'static str>, String);

/// A form that is there as it is wanted.
fn find(name: &str, headers: &HeaderMap) -> Option<Found> {
    let twin = TWINS.iter().filter(|(encoding, _)| accepts(headers, encoding)).find_map(|(encoding, suffix)| {
        let file = Site::get(&format!("{name}{suffix}"))?;
        Some((bytes(file.data), Some(*encoding), short_hash(file.metadata.sha256_hash())))
    });
    twin.or_else(|| Site::get(name).map(|file| (bytes(file.data), None, short_hash(file.metadata.sha256_hash()))))
}

/// Without a copy of what is embedded.
fn bytes(data: Cow<'static, [u8]>) -> Bytes {
    match data {
        Cow::Borrowed(embedded) => Bytes::from_static(embedded),
        Cow::Owned(read) => read.into(),
    }
}

/// A form that is made of the embedded one, on a thread that may take its time.
async fn unpacked(name: &str, headers: &HeaderMap) -> Option<Found> {
    let file = Site::get(&format!("{name}{BROTLI}"))?;
    let hash = short_hash(file.metadata.sha256_hash());
    let (name, is_gzip) = (name.to_owned(), accepts(headers, "gzip"));
    let made = tokio::task::spawn_blocking(move || unpacked::form(&name, &file.data, is_gzip)).await.ok()??;
    let (encoding, hash) =
        if is_gzip { (Some("gzip"), format!("{hash}-gzip")) } else { (None, format!("{hash}-plain")) };
    Some((made, encoding, hash))
}

fn short_hash(hash: [u8; 32]) -> String {
    hex::encode(hash.split_at(8).0)
}

/// Whether the client takes an encoding: named, and not with a quality of zero.
pub(super) fn accepts(headers: &HeaderMap, encoding: &str) -> bool {
    let offers = headers
        .get_all(ACCEPT_ENCODING)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','));
    offers.map(|offer| offer.split_once(';').unwrap_or((offer, ""))).any(|(name, quality)| {
        let refused = quality.trim().strip_prefix("q=").is_some_and(|quality| quality.trim().parse() == Ok(0.0_f32));
        name.trim() == encoding && !refused
    })
}

fn content_type(name: &str) -> &'static str {
    match name.rsplit_once('.').map(|(_, extension)| extension) {
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("wasm") => "application/wasm",
        Some("svg") => "image/svg+xml",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_encoding_is_taken_only_when_offered() {
        let mut headers = HeaderMap::new();
        assert!(!accepts(&headers, "br"));
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("gzip, br;q=0, zstd;q=0.5"));
        assert!(accepts(&headers, "gzip") && accepts(&headers, "zstd") && !accepts(&headers, "br"));
    }

    #[tokio::test]
    async fn twins_and_manifest_are_not_files_of_their_own() {
        for name in [MANIFEST, "app.wasm.br", "../Cargo.toml", ""] {
            let answer = file(name.to_owned(), HeaderMap::new(), FOR_EVER).await;
            assert_eq!(answer.status(), StatusCode::NOT_FOUND, "{name}");
        }
    }

    #[tokio::test]
    async fn what_is_made_of_the_embedded_form_is_the_file() {
        let Some(names) = names() else { return };
        let Some(plain) = Site::get(&names.css) else { return };
        let mut headers = HeaderMap::new();
        let (made, encoding, hash) = unpacked(&names.css, &headers).await.unwrap();
        assert!(*made == *plain.data && encoding.is_none() && hash.ends_with("-plain"));
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("gzip"));
        let (made, encoding, hash) = unpacked(&names.css, &headers).await.unwrap();
        let mut unzipped = Vec::new();
        std::io::copy(&mut flate2::read::GzDecoder::new(&*made), &mut unzipped).unwrap();
        assert!(*unzipped == *plain.data && encoding == Some("gzip") && hash.ends_with("-gzip"));
    }
}
