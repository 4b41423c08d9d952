//! A web server on loopback that answers as a test says, and counts what it is asked: for what real registries do too
//! rarely, too late or only with thousands of images.

use std::fmt::{self, Write as _};
use std::io::{self, BufReader, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

use crate::server::Request;

type Answer = dyn Fn(&Request) -> Reply + Send + Sync;

/// A running stand-in; it stops when it is dropped.
pub struct StandIn {
    port: u16,
    state: Arc<State>,
    thread: Option<JoinHandle<()>>,
}

struct State {
    answer: Box<Answer>,
    requests: Mutex<Vec<String>>,
    stopped: AtomicBool,
}

/// A response.
#[derive(Clone, Debug)]
pub struct Reply {
    status: u16,
    headers: Vec<String>,
    body: Vec<u8>,
    /// Part of the body is sent before the connection ends.
    cut: Option<usize>,
    endless: bool,
}

impl Reply {
    /// An answer with a status.
    #[must_use]
    pub fn new(status: u16) -> Self {
        Self { status, headers: Vec::new(), body: Vec::new(), cut: None, endless: false }
    }

    /// With a header, `Name: value`.
    #[must_use]
    pub fn header(mut self, line: impl Into<String>) -> Self {
        self.headers.push(line.into());
        self
    }

    /// With a body.
    #[must_use]
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    /// Hangs up after so much of the body.
    #[must_use]
    pub fn cut(mut self, after: usize) -> Self {
        self.cut = Some(after);
        self
    }

    /// Sends the body over and over.
    #[must_use]
    pub fn endless(mut self) -> Self {
        self.endless = true;
        self
    }

    fn send(&self, stream: &mut TcpStream, method: &str) -> io::Result<()> {
        let mut head = format!("HTTP/1.1 {} Status\r\nConnection: close\r\n", self.status);
        if !self.endless {
            let _ = write!(head, "Content-Length: {}\r\n", self.body.len());
        }
        for header in &self.headers {
            let _ = write!(head, "{header}\r\n");
        }
        head.push_str("\r\n");
        stream.write_all(head.as_bytes())?;
        if method == "HEAD" {
            return Ok(());
        }
        loop {
            let end = self.cut.unwrap_or(self.body.len()).min(self.body.len());
            stream.write_all(&self.body[..end])?;
            if !self.endless {
                return stream.flush();
            }
        }
    }
}

impl StandIn {
    /// Starts one that answers by what it is asked.
    ///
    /// # Panics
    /// If no port is free.
    #[must_use]
    pub fn start(answer: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port is free");
        let port = listener.local_addr().expect("it is bound").port();
        let state = Arc::new(State {
            answer: Box::new(answer),
            requests: Mutex::default(),
            stopped: AtomicBool::new(false),
        });
        let of_thread = Arc::clone(&state);
        let thread = thread::spawn(move || accept(&listener, &of_thread));
        Self { port, state, thread: Some(thread) }
    }

    /// Its host and port.
    #[must_use]
    pub fn host(&self) -> String {
        format!("localhost:{}", self.port)
    }

    /// Returns what it was asked since it was last asked this: method, path and query.
    ///
    /// # Panics
    /// If an answer did.
    pub fn requests(&self) -> Vec<String> {
        std::mem::take(&mut *self.state.requests.lock().expect("no answer panics"))
    }
}

impl Drop for StandIn {
    fn drop(&mut self) {
        self.state.stopped.store(true, Ordering::Relaxed);
        // Wakes the thread that waits for connections.
        let _ = TcpStream::connect(("127.0.0.1", self.port));
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl fmt::Debug for StandIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StandIn on {}", self.host())
    }
}

fn accept(listener: &TcpListener, state: &Arc<State>) {
    for connection in listener.incoming() {
        if state.stopped.load(Ordering::Relaxed) {
            return;
        }
        let Ok(connection) = connection else { continue };
        let state = Arc::clone(state);
        // A client that hangs up is no fault of the server's.
        thread::spawn(move || drop(serve(connection, &state)));
    }
}

fn serve(connection: TcpStream, state: &State) -> io::Result<()> {
    let mut stream = BufReader::new(connection);
    let request = Request::read(&mut stream)?;
    let mark = if request.query.is_empty() { "" } else { "?" };
    let line = format!("{} {}{mark}{}", request.method, request.path, request.query);
    let reply = (state.answer)(&request);
    state.requests.lock().map_err(|_| io::Error::other("an answer panicked"))?.push(line);
    let mut connection = stream.into_inner();
    reply.send(&mut connection, &request.method)?;
    connection.shutdown(Shutdown::Write)
}
