//! A receiver that is faked over a real loopback connection, and the signature as its documents define it.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sha2::{Digest as _, Sha256};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// What it does when it was asked.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    /// Answers these bytes, and closes.
    Bytes(Vec<u8>),
    /// Answers 200, and then one byte after the other without end.
    DripBody,
    /// Never ends its first header.
    DripHead,
    /// Answers 200, and then as much as is taken.
    Flood,
    /// Says nothing, and keeps the connection.
    Silence,
    /// Closes in the middle of its body.
    BreakOff,
}

impl Answer {
    pub(crate) fn status(status: u16, headers: &str, body: &str) -> Self {
        let length = body.len();
        let head = format!("HTTP/1.1 {status} canary-reason\r\ncontent-length: {length}\r\nconnection: close");
        Self::Bytes(format!("{head}\r\n{headers}\r\n{body}").into_bytes())
    }

    pub(crate) fn ok(body: &str) -> Self {
        Self::status(200, "", body)
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Received {
    pub(crate) line: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Received {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

#[derive(Debug)]
pub(crate) struct Fake {
    pub(crate) address: SocketAddr,
    received: Arc<Mutex<Vec<Received>>>,
    serving: tokio::task::JoinHandle<()>,
}

impl Drop for Fake {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl Fake {
    /// Gives these answers in turn, the last again and again.
    pub(crate) async fn start(answers: Vec<Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let received = Arc::new(Mutex::new(Vec::new()));
        let kept = received.clone();
        let serving = tokio::spawn(async move {
            let mut answers = answers.into_iter().peekable();
            while let Ok((stream, _)) = listener.accept().await {
                let answer = answers.next().unwrap();
                if answers.peek().is_none() {
                    answers = vec![answer.clone()].into_iter().peekable();
                }
                tokio::spawn(serve(stream, answer, kept.clone()));
            }
        });
        Self { address, received, serving }
    }

    pub(crate) fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap().clone()
    }
}

async fn serve(mut stream: TcpStream, answer: Answer, received: Arc<Mutex<Vec<Received>>>) -> std::io::Result<()> {
    let request = read(&mut stream).await?;
    received.lock().unwrap().push(request);
    let head = b"HTTP/1.1 200 OK\r\nconnection: close\r\n";
    match answer {
        Answer::Bytes(bytes) => stream.write_all(&bytes).await?,
        Answer::DripBody => {
            stream.write_all(&[head.as_slice(), b"\r\n"].concat()).await?;
            drip(&mut stream).await?;
        }
        Answer::DripHead => {
            stream.write_all(&[head.as_slice(), b"x-slow: "].concat()).await?;
            drip(&mut stream).await?;
        }
        Answer::Flood => {
            stream.write_all(&[head.as_slice(), b"\r\n{\"code\":0,\"errcode\":0,\"x\":\""].concat()).await?;
            loop {
                stream.write_all(&[b'x'; 16 * 1_024]).await?;
            }
        }
        Answer::Silence => {
            // Until the other side gives up.
            while stream.read(&mut [0; 64]).await? > 0 {}
        }
        Answer::BreakOff => {
            stream.write_all(&[head.as_slice(), b"content-length: 99\r\n\r\n{\"code\":0"].concat()).await?
        }
    }
    Ok(())
}

async fn drip(stream: &mut TcpStream) -> std::io::Result<()> {
    loop {
        stream.write_all(b" ").await?;
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

async fn read(stream: &mut TcpStream) -> std::io::Result<Received> {
    let mut bytes = Vec::new();
    let mut chunk = [0; 8 * 1_024];
    loop {
        let count = stream.read(&mut chunk).await?;
        if count == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        bytes.extend_from_slice(&chunk[..count]);
        let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else { continue };
        let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
        let mut lines = head.lines().map(str::to_owned);
        let line = lines.next().unwrap();
        let headers: Vec<_> = lines
            .map(|line| line.split_once(": ").map(|(key, value)| (key.to_lowercase(), value.to_owned())).unwrap())
            .collect();
        let length = headers.iter().find(|(key, _)| key == "content-length").unwrap().1.parse::<usize>().unwrap();
        if bytes.len() == end + 4 + length {
            return Ok(Received { line, headers, body: bytes[end + 4..].to_vec() });
        }
    }
}

/// HMAC-SHA256 as RFC 2104 defines it, of the hash alone: not by what is tested.
pub(crate) fn hmac_sha256(key: &[u8], message: &[u8]) -> Vec<u8> {
    let mut block = [0_u8; 64];
    let key = if key.len() > 64 { Sha256::digest(key).to_vec() } else { key.to_vec() };
    block[..key.len()].copy_from_slice(&key);
    let pad = |with: u8| block.map(|byte| byte ^ with).to_vec();
    let inner = Sha256::digest([pad(0x36), message.to_vec()].concat()).to_vec();
    Sha256::digest([pad(0x5c), inner].concat()).to_vec()
}
