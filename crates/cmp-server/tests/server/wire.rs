//! Bytes on the socket that a client library would not send.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use crate::Running;

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00";

const DATA: u8 = 0;
const RESET: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const GO_AWAY: u8 = 7;

/// A message without fields, and the answer of a server that is well.
const EMPTY: &[u8] = b"\x00\x00\x00\x00\x00";
const SERVING: &[u8] = b"\x00\x00\x00\x00\x02\x08\x01";

struct Wire(UnixStream);

struct Frame {
    kind: u8,
    flags: u8,
    stream: u8,
    payload: Vec<u8>,
}

impl Wire {
    fn connect(socket: &Path) -> Self {
        let stream = UnixStream::connect(socket).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        Self(stream)
    }

    fn send(&mut self, kind: u8, flags: u8, stream: u8, payload: &[u8]) {
        let length = (payload.len() as u32).to_be_bytes();
        let head = [length[1], length[2], length[3], kind, flags, 0, 0, 0, stream];
        self.0.write_all(&[&head, payload].concat()).unwrap();
    }

    fn read(&mut self) -> Frame {
        let mut head = [0; 9];
        self.0.read_exact(&mut head).unwrap();
        let mut payload = vec![0; u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize];
        self.0.read_exact(&mut payload).unwrap();
        Frame { kind: head[3], flags: head[4], stream: head[8], payload }
    }

    /// The message on a stream.
    fn answer(&mut self, stream: u8) -> Vec<u8> {
        let mut answer = Vec::new();
        while answer.len() < SERVING.len() {
            let frame = self.read();
            assert!(!matches!(frame.kind, RESET | GO_AWAY), "{:?}", frame.payload);
            if frame.kind == DATA && frame.stream == stream {
                answer.extend(frame.payload);
            }
        }
        answer
    }
}

/// A field that is added to the table of both ends.
fn indexed(name: &[u8], value: &[u8]) -> Vec<u8> {
    let mut field = name.to_vec();
    assert!(value.len() < 127 || value.len() >= 255);
    if value.len() < 127 {
        field.push(value.len() as u8);
    } else {
        let rest = value.len() - 127;
        field.extend([127, (rest & 127) as u8 | 128, (rest >> 7) as u8]);
    }
    field.extend_from_slice(value);
    field
}

/// The headers of a check of health, all in the table; `:method` and `:scheme` have places of their own.
fn check(authority: &[u8]) -> Vec<u8> {
    [
        vec![0x83, 0x86],
        indexed(b"\x44", b"/grpc.health.v1.Health/Check"),
        indexed(b"\x41", authority),
        indexed(b"\x5f", b"application/grpc"),
        indexed(b"\x40\x02te", b"trailers"),
    ]
    .concat()
}

#[test]
fn an_authority_that_is_a_path_is_taken_and_the_table_stays_in_step() {
    let server = Running::new();
    // A name as long as the table is emptied for it at both ends, as it has no room for more.
    for length in [0, 300, 3900, 4020, 4100, 8000] {
        let mut wire = Wire::connect(&server.socket);
        wire.0.write_all(PREFACE).unwrap();
        let authority =
            [b"home%2Fargocd%2Fcmp-server%2Fplugins%2Frenderer.sock".to_vec(), vec![b'%'; length]].concat();
        wire.send(1, 4, 1, &check(&authority));
        wire.send(DATA, 1, 1, EMPTY);
        assert_eq!(wire.answer(1), SERVING, "{length}");
        // Once more by the table: path and authority, where there was room for them, content-type and te.
        let short = [indexed(b"\x04", b"/grpc.health.v1.Health/Check"), indexed(b"\x01", b"a%b")].concat();
        let first = if length < 3900 { b"\xc1\xc0" } else { short.as_slice() };
        let by_index = [b"\x83\x86", first, b"\xbf\xbe"].concat();
        wire.send(1, 4, 3, &by_index);
        wire.send(DATA, 1, 3, EMPTY);
        assert_eq!(wire.answer(3), SERVING, "{length}");
    }
}

#[test]
fn headers_may_come_in_pieces() {
    let server = Running::new();
    let mut wire = Wire::connect(&server.socket);
    for byte in PREFACE {
        wire.0.write_all(&[*byte]).unwrap();
    }
    let headers = check(b"home%2Fargocd");
    let padded = [&[3][..], &[0, 0, 0, 0, 16], &headers[..40], &[0; 3]].concat();
    wire.send(1, 0x28, 1, &padded);
    wire.send(9, 0, 1, &headers[40..50]);
    wire.send(9, 4, 1, &headers[50..]);
    wire.send(DATA, 1, 1, EMPTY);
    assert_eq!(wire.answer(1), SERVING);
}

#[test]
fn settings_come_at_once() {
    let server = Running::new();
    let mut wire = Wire::connect(&server.socket);
    assert_eq!(wire.read().kind, SETTINGS);
}

#[test]
fn pings_are_answered_however_many() {
    let server = Running::new();
    let mut wire = Wire::connect(&server.socket);
    wire.0.write_all(PREFACE).unwrap();
    for number in 0..200_u64 {
        wire.send(PING, 0, 0, &number.to_be_bytes());
        loop {
            let frame = wire.read();
            assert_ne!(frame.kind, GO_AWAY);
            if frame.kind == PING {
                assert_eq!((frame.flags, frame.payload), (1, number.to_be_bytes().to_vec()));
                break;
            }
        }
    }
}

#[test]
fn what_is_no_http_is_closed() {
    let server = Running::new();
    let mut wire = Wire::connect(&server.socket);
    wire.0.write_all(b"GET /%2F HTTP/1.1\r\nHost: a%2Fb\r\n\r\n").unwrap();
    let mut rest = Vec::new();
    // It is closed, and may be reset as not all of that was read.
    let _ = wire.0.read_to_end(&mut rest);
    assert!(server.is_well());
}
