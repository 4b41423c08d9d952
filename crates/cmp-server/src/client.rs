//! Asks whether a server is well, for a probe that is a command: Kubernetes' own for gRPC knows no sockets.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

/// `grpc.health.v1.Health/Check` for the server as a whole, as a client of HTTP/2 says it: the preface, its settings,
/// the headers of stream 1 (by the static table, nothing coded), a message without fields.
const CHECK: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\
    \x00\x00\x00\x04\x00\x00\x00\x00\x00\
    \x00\x00\x4b\x01\x04\x00\x00\x00\x01\
    \x83\x86\x01\x09localhost\x04\x1c/grpc.health.v1.Health/Check\x0f\x10\x10application/grpc\x00\x02te\x08trailers\
    \x00\x00\x05\x00\x01\x00\x00\x00\x01\x00\x00\x00\x00\x00";

/// A response that says `SERVING`.
const SERVING: [u8; 7] = [0, 0, 0, 0, 2, 8, 1];

/// No answer to a check has more.
const MAX_FRAMES: usize = 32;

/// Kinds of frames, and a flag.
const DATA: u8 = 0;
const RESET: u8 = 3;
const END_STREAM: u8 = 1;

/// Returns whether a server answers on a socket, and says that it is well.
///
/// # Errors
/// If the server did not answer in time.
pub fn probe(socket: &Path, patience: Duration) -> io::Result<()> {
    let until = Instant::now() + patience;
    let mut stream = UnixStream::connect(socket)?;
    stream.set_write_timeout(Some(patience))?;
    stream.write_all(CHECK)?;
    let mut answer = Vec::new();
    for _ in 0..MAX_FRAMES {
        let left = until.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
        stream.set_read_timeout(Some(left))?;
        let mut head = [0; 9];
        stream.read_exact(&mut head)?;
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
        let mut payload = vec![0; length as usize];
        stream.read_exact(&mut payload)?;
        let is_ours = head[5..] == [0, 0, 0, 1];
        if is_ours && head[3] == DATA {
            answer.extend_from_slice(&payload);
        }
        if answer == SERVING {
            return Ok(());
        }
        if answer.len() >= SERVING.len() {
            return Err(io::Error::other("it reports that it is not serving"));
        }
        if is_ours && (head[3] == RESET || head[4] & END_STREAM != 0) {
            break;
        }
    }
    Err(io::Error::other("it gave no answer to a check of health"))
}
