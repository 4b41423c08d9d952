//! Answers three questions over HTTP, none of which has a body or parameters. Of the protocol it speaks no more than that
//! needs: one request for a connection, and of its head only the first line counts.
//!
//! Refused: heads that are long or slow, methods but GET and HEAD, and more connections than a few at a time. Whoever asks
//! cannot make it hold more than a few kilobytes for a few seconds.

use std::io::{self, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// A head with cookies and all that proxies add is shorter.
const MAX_HEAD: usize = 8 << 10;

/// How long a client may take to ask, and to hear the answer.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Two probes and some that collect numbers.
const MAX_CONNECTIONS: usize = 16;

/// How long to wait where the system has no connections left to give.
const PAUSE: Duration = Duration::from_millis(200);

const TEXT: &str = "text/plain; charset=utf-8";

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Page {
    pub(super) status: u16,
    pub(super) content_type: &'static str,
    pub(super) body: String,
}

impl Page {
    pub(super) fn text(status: u16, body: &str) -> Self {
        Self { status, content_type: TEXT, body: body.to_owned() }
    }
}

/// Answers in threads of its own, as long as the process lives.
///
/// # Errors
/// Where there are no threads.
pub(super) fn serve(
    listener: TcpListener,
    pages: impl Fn(&str) -> Option<Page> + Send + Sync + 'static,
) -> io::Result<()> {
    let (pages, open) = (Arc::new(pages), Arc::new(AtomicUsize::new(0)));
    let accept = move || {
        for stream in listener.incoming() {
            let Ok(stream) = stream else {
                thread::sleep(PAUSE);
                continue;
            };
            let place = Place::take(&open);
            let pages = Arc::clone(&pages);
            let answer = move || {
                let _place = place;
                // Who hangs up does not want to know.
                let _ = converse(stream, &*pages);
            };
            if open.load(Ordering::Relaxed) <= MAX_CONNECTIONS {
                // Without threads the connection is closed, which says enough.
                let _ = thread::Builder::new().name("http".to_owned()).stack_size(128 << 10).spawn(answer);
            }
        }
    };
    thread::Builder::new().name("http".to_owned()).spawn(accept).map(drop)
}

/// One of the connections.
struct Place(Arc<AtomicUsize>);

impl Place {
    fn take(open: &Arc<AtomicUsize>) -> Self {
        open.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(open))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

fn converse(mut stream: TcpStream, pages: &dyn Fn(&str) -> Option<Page>) -> io::Result<()> {
    stream.set_write_timeout(Some(TIMEOUT))?;
    let head = read_head(&mut stream)?;
    let (page, has_body) = respond(&head, pages);
    let reason = match page.status {
        200 => "OK",
        400 => "Bad Request",
        404 => "Not Found",
        405 => "Method Not Allowed",
        431 => "Request Header Fields Too Large",
        _ => "Service Unavailable",
    };
    let Page { status, content_type, body } = page;
    let mut answer = format!(
        "HTTP/1.1 {status} {reason}\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\n\
         Cache-Control: no-store\r\nConnection: close\r\n\r\n",
        body.len()
    );
    if has_body {
        answer.push_str(&body);
    }
    stream.write_all(answer.as_bytes())?;
    stream.flush()
}

/// Reads up to the empty line, or as much as is allowed.
fn read_head(stream: &mut TcpStream) -> io::Result<Vec<u8>> {
    let deadline = Instant::now() + TIMEOUT;
    let (mut head, mut part) = (Vec::new(), [0; 1024]);
    while !is_whole(&head) && head.len() < MAX_HEAD {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stream.set_read_timeout(Some(left))?;
        match stream.read(&mut part) {
            Ok(0) => break,
            Ok(length) => head.extend_from_slice(&part[..length]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(head)
}

fn is_whole(head: &[u8]) -> bool {
    head.windows(4).any(|part| part == b"\r\n\r\n")
}

/// The answer to a head, and whether its body is wanted.
fn respond(head: &[u8], pages: &dyn Fn(&str) -> Option<Page>) -> (Page, bool) {
    if !is_whole(head) {
        let status = if head.len() < MAX_HEAD { 400 } else { 431 };
        return (Page::text(status, "this is no request\n"), true);
    }
    let line = head.split(|byte| *byte == b'\r').next().unwrap_or_default();
    let words: Vec<&str> = std::str::from_utf8(line).unwrap_or_default().split(' ').collect();
    let (method, target) = match words.as_slice() {
        [method, target, "HTTP/1.1" | "HTTP/1.0"] => (*method, *target),
        _ => return (Page::text(400, "this is no request\n"), true),
    };
    if !matches!(method, "GET" | "HEAD") {
        return (Page::text(405, "only GET and HEAD are answered\n"), true);
    }
    let path = target.split_once('?').map_or(target, |(path, _)| path);
    let page = pages(path).unwrap_or_else(|| Page::text(404, "there are /healthz, /readyz and /metrics\n"));
    (page, method == "GET")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(head: &str) -> (u16, bool) {
        let pages = |path: &str| (path == "/healthz").then(|| Page::text(200, "ok\n"));
        let (page, has_body) = respond(head.as_bytes(), &pages);
        (page.status, has_body)
    }

    #[test]
    fn only_what_is_known_is_answered() {
        assert_eq!(status("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"), (200, true));
        assert_eq!(status("GET /healthz?verbose HTTP/1.0\r\n\r\n"), (200, true));
        assert_eq!(status("HEAD /healthz HTTP/1.1\r\n\r\n"), (200, false));
        assert_eq!(status("GET /healthz/../x HTTP/1.1\r\n\r\n"), (404, true));
        assert_eq!(status("POST /healthz HTTP/1.1\r\n\r\n"), (405, true));
        assert_eq!(status("GET /healthz HTTP/2\r\n\r\n"), (400, true));
        assert_eq!(status("GET  /healthz HTTP/1.1\r\n\r\n"), (400, true));
        assert_eq!(status("\u{16}\u{3}\u{1}\r\n\r\n"), (400, true));
        assert_eq!(status("GET /healthz HTTP/1.1\r\n"), (400, true));
        assert_eq!(status(&"a".repeat(MAX_HEAD)), (431, true));
    }

    #[test]
    fn a_connection_too_many_is_closed_and_the_next_one_is_answered() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        serve(listener, |_| Some(Page::text(200, "ok\n"))).unwrap();
        let silent: Vec<TcpStream> =
            (0..MAX_CONNECTIONS).map(|_| TcpStream::connect(address).unwrap()).collect();
        let ask = || {
            let mut stream = TcpStream::connect(address).unwrap();
            let mut answer = String::new();
            // Where it is closed already, there is nothing to write to.
            let _ = stream.write_all(b"GET / HTTP/1.1\r\n\r\n");
            let _ = stream.read_to_string(&mut answer);
            answer
        };
        assert_eq!(ask(), "");
        drop(silent);
        // Their threads need a moment to notice.
        let answered = (0..500).any(|_| {
            thread::sleep(Duration::from_millis(10));
            ask().ends_with("\r\n\r\nok\n")
        });
        assert!(answered);
    }
}
