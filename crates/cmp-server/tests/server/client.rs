//! A client that can do what the repo-server does, and what it must not.

use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use h2::client::{ResponseFuture, SendRequest};
use h2::{RecvStream, SendStream};
use http::Request;
use sha2::{Digest as _, Sha256};
use tar::{EntryType, Header};
use tokio::net::UnixStream;

/// As the repo-server cuts archives unless it is told otherwise.
const CHUNK: usize = 1024;

/// The result of a call.
#[derive(Debug)]
pub(crate) struct Reply {
    /// The number of the gRPC status; nothing where there was none.
    pub(crate) code: Option<i32>,
    pub(crate) message: String,
    pub(crate) body: Vec<u8>,
}

/// The metadata of a call.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) method: &'static str,
    pub(crate) app: String,
    pub(crate) env: Vec<(&'static str, String)>,
    pub(crate) timeout: Option<&'static str>,
}

/// A call that has begun.
pub(crate) struct Open {
    response: ResponseFuture,
    pub(crate) stream: SendStream<Bytes>,
}

impl Call {
    pub(crate) fn generate(app: &str) -> Self {
        Self { method: "GenerateManifest", app: app.to_owned(), env: Vec::new(), timeout: None }
    }

    pub(crate) fn with(mut self, name: &'static str, value: &str) -> Self {
        self.env.push((name, value.to_owned()));
        self
    }

    /// The first message, for an archive with this checksum.
    pub(crate) fn metadata(&self, checksum: &str, size: usize) -> Vec<u8> {
        let mut metadata = field(1, self.app.rsplit('/').next().unwrap_or_default().as_bytes());
        metadata.extend(field(2, self.app.as_bytes()));
        metadata.extend(field(3, checksum.as_bytes()));
        metadata.push(4 << 3);
        varint(size, &mut metadata);
        for (name, value) in &self.env {
            metadata.extend(field(5, &[field(1, name.as_bytes()), field(2, value.as_bytes())].concat()));
        }
        message(&field(1, &metadata))
    }

    pub(crate) async fn open(&self, socket: &Path) -> Open {
        let path = format!("/plugin.ConfigManagementPluginService/{}", self.method);
        open(&mut connect(socket).await, &path, self.timeout).await
    }

    /// Sends it all, as the repo-server does.
    pub(crate) async fn send(&self, socket: &Path, archive: &[u8]) -> Reply {
        let mut open = self.open(socket).await;
        let mut messages = vec![self.metadata(&checksum(archive), archive.len())];
        messages.extend(archive.chunks(CHUNK).map(piece));
        for message in messages {
            if !open.send(message).await {
                break;
            }
        }
        open.end().await
    }
}

impl Open {
    /// Sends bytes as far as the server takes them; whether it took all.
    pub(crate) async fn send(&mut self, bytes: Vec<u8>) -> bool {
        let mut bytes = Bytes::from(bytes);
        while !bytes.is_empty() {
            self.stream.reserve_capacity(bytes.len());
            match std::future::poll_fn(|context| self.stream.poll_capacity(context)).await {
                Some(Ok(capacity)) => {
                    let part = bytes.split_to(capacity.min(bytes.len()));
                    if self.stream.send_data(part, false).is_err() {
                        return false;
                    }
                }
                _ => return false,
            }
        }
        true
    }

    /// Returns true if the server says nothing for a while.
    pub(crate) async fn is_silent(&mut self) -> bool {
        tokio::time::timeout(Duration::from_millis(100), &mut self.response).await.is_err()
    }

    pub(crate) async fn end(mut self) -> Reply {
        let _ = self.stream.send_data(Bytes::new(), true);
        let mut reply = Reply { code: None, message: String::new(), body: Vec::new() };
        let Ok(response) = self.response.await else { return reply };
        reply.read_status(response.headers());
        let mut body: RecvStream = response.into_body();
        while let Some(Ok(data)) = body.data().await {
            let _ = body.flow_control().release_capacity(data.len());
            reply.body.extend_from_slice(&data);
        }
        if let Ok(Some(trailers)) = body.trailers().await {
            reply.read_status(&trailers);
        }
        reply
    }
}

impl Reply {
    fn read_status(&mut self, headers: &http::HeaderMap) {
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
        if let Some(code) = text("grpc-status") {
            self.code = code.parse().ok();
            self.message = text("grpc-message").unwrap_or_default().replace("%20", " ").replace("%60", "`");
        }
    }

    /// The manifests of a response that has them.
    pub(crate) fn manifests(&self) -> Vec<String> {
        assert_eq!(self.code, Some(0), "{}", self.message);
        let mut rest = &self.body[5..];
        let mut manifests = Vec::new();
        while let Some((&tag, after)) = rest.split_first() {
            let (length, after) = read_varint(after);
            if tag == (1 << 3 | 2) {
                manifests.push(String::from_utf8(after[..length].to_vec()).unwrap());
            }
            rest = &after[length..];
        }
        manifests
    }
}

pub(crate) async fn connect(socket: &Path) -> SendRequest<Bytes> {
    let stream = UnixStream::connect(socket).await.unwrap();
    let (client, connection) = h2::client::Builder::new()
        .initial_window_size(16 << 20)
        .initial_connection_window_size(16 << 20)
        .handshake(stream)
        .await
        .unwrap();
    tokio::spawn(connection);
    client.ready().await.unwrap()
}

pub(crate) async fn open(client: &mut SendRequest<Bytes>, path: &str, timeout: Option<&str>) -> Open {
    let mut request = Request::post(format!("http://localhost{path}"))
        .header("content-type", "application/grpc")
        .header("te", "trailers");
    if let Some(timeout) = timeout {
        request = request.header("grpc-timeout", timeout);
    }
    let (response, stream) = client.send_request(request.body(()).unwrap(), false).unwrap();
    Open { response, stream }
}

/// A repository as the repo-server packs it.
pub(crate) fn archive(files: &[(&str, &[u8])]) -> Vec<u8> {
    archive_of(files.iter().map(|(path, content)| (EntryType::Regular, *path, "", *content)))
}

/// The same of entries that no walk over a checkout gives.
pub(crate) fn archive_of<'e>(
    entries: impl IntoIterator<Item = (EntryType, &'e str, &'e str, &'e [u8])>,
) -> Vec<u8> {
    packed(Compression::none(), entries)
}

/// The same, packed as well as can be.
pub(crate) fn bomb(path: &str, size: usize) -> Vec<u8> {
    packed(Compression::best(), [(EntryType::Regular, path, "", vec![0; size].as_slice())])
}

fn packed<'e>(
    level: Compression,
    entries: impl IntoIterator<Item = (EntryType, &'e str, &'e str, &'e [u8])>,
) -> Vec<u8> {
    let mut tar = tar::Builder::new(GzEncoder::new(Vec::new(), level));
    for (kind, name, link, content) in entries {
        let mut header = Header::new_ustar();
        header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
        header.as_mut_bytes()[157..157 + link.len()].copy_from_slice(link.as_bytes());
        header.set_entry_type(kind);
        header.set_size(content.len() as u64);
        header.set_cksum();
        tar.append(&header, content).unwrap();
    }
    let mut gzip = tar.into_inner().unwrap();
    gzip.flush().unwrap();
    gzip.finish().unwrap()
}

pub(crate) fn checksum(archive: &[u8]) -> String {
    Sha256::digest(archive).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A message with a piece of an archive.
pub(crate) fn piece(chunk: &[u8]) -> Vec<u8> {
    message(&field(2, &field(1, chunk)))
}

fn message(bytes: &[u8]) -> Vec<u8> {
    [&[0][..], &(bytes.len() as u32).to_be_bytes(), bytes].concat()
}

fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    let mut field = vec![number << 3 | 2];
    varint(bytes.len(), &mut field);
    field.extend_from_slice(bytes);
    field
}

fn varint(mut number: usize, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn read_varint(bytes: &[u8]) -> (usize, &[u8]) {
    let end = bytes.iter().position(|byte| byte & 0x80 == 0).unwrap();
    let number = bytes[..=end].iter().rev().fold(0, |number, byte| number << 7 | usize::from(byte & 0x7f));
    (number, &bytes[end + 1..])
}
