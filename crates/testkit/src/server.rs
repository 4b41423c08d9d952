//! A web server on loopback: real `git http-backend` below `/git`, files below `/files`, and servers' bad habits.

use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::certificate::Authority;
use crate::git::isolated_git;

/// Settings that differ from a plain server.
#[derive(Clone, Debug, Default)]
pub struct Habits {
    /// It asks for this user and password, or for the password alone as a token.
    pub account: Option<(&'static str, &'static str)>,
    /// It speaks TLS.
    pub tls: bool,
    /// Its git knows only the first protocol, and hands out nothing but branches and tags.
    pub old_git: bool,
}

/// A running server; it stops when it is dropped.
#[derive(Debug)]
pub struct Server {
    address: String,
    port: u16,
    state: Arc<State>,
    /// The certificate of its authority.
    certificate: String,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct State {
    root: PathBuf,
    habits: Habits,
    requests: Mutex<Vec<String>>,
    stopped: AtomicBool,
}

/// A request of a client.
#[derive(Debug)]
pub struct Request {
    /// `GET`
    pub method: String,
    /// Without the query.
    pub path: String,
    /// Behind the question mark; empty where there is none.
    pub query: String,
    headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl Server {
    /// Serves the folders `git` and `files` below a folder.
    #[must_use]
    pub fn start(root: &Path, habits: Habits) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port is free");
        let port = listener.local_addr().expect("it is bound").port();
        let authority = Authority::new();
        let tls = habits.tls.then(|| authority.certify("localhost").server_config());
        let scheme = if habits.tls { "https" } else { "http" };
        let state = Arc::new(State {
            root: root.to_owned(),
            habits,
            requests: Mutex::default(),
            stopped: AtomicBool::new(false),
        });
        let of_thread = Arc::clone(&state);
        let thread = thread::spawn(move || accept(&listener, &of_thread, tls.as_ref()));
        Self {
            address: format!("{scheme}://localhost:{port}"),
            port,
            state,
            certificate: authority.pem().to_owned(),
            thread: Some(thread),
        }
    }

    /// An address on it.
    #[must_use]
    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.address)
    }

    /// The address without its scheme.
    #[must_use]
    pub fn host(&self) -> String {
        format!("localhost:{}", self.port)
    }

    /// The certificate by which it is trusted.
    #[must_use]
    pub fn certificate(&self) -> &str {
        &self.certificate
    }

    /// Returns what it was asked since it was last asked this: method, path, and for git's protocol the command.
    #[must_use]
    pub fn requests(&self) -> Vec<String> {
        std::mem::take(&mut *self.state.requests.lock().expect("no thread panics"))
    }

    /// Returns how many of these were for objects.
    #[must_use]
    pub fn fetches(&self) -> usize {
        self.requests().iter().filter(|request| request.ends_with(" fetch")).count()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.state.stopped.store(true, Ordering::Relaxed);
        // Wakes the thread that waits for connections.
        let _ = TcpStream::connect(("127.0.0.1", self.port));
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn accept(listener: &TcpListener, state: &Arc<State>, tls: Option<&Arc<ServerConfig>>) {
    for connection in listener.incoming() {
        if state.stopped.load(Ordering::Relaxed) {
            return;
        }
        let Ok(connection) = connection else { continue };
        let (state, tls) = (Arc::clone(state), tls.cloned());
        // A client that hangs up is no fault of the server's.
        thread::spawn(move || match tls {
            Some(config) => {
                let session = ServerConnection::new(config).expect("the configuration is complete");
                let _ = serve(StreamOwned::new(session, connection), &state);
            }
            None => {
                let closing = connection.try_clone();
                let _ = serve(connection, &state);
                let _ = closing.and_then(|connection| connection.shutdown(Shutdown::Write));
            }
        });
    }
}

/// One request for each connection.
fn serve(stream: impl Read + Write, state: &State) -> io::Result<()> {
    let mut stream = BufReader::new(stream);
    let request = Request::read(&mut stream)?;
    let command = if request.body.windows(13).any(|part| part == b"command=fetch") {
        " fetch"
    } else if request.body.windows(15).any(|part| part == b"command=ls-refs") {
        " ls-refs"
    } else if request.body.windows(5).any(|part| part == b"want ") {
        " fetch"
    } else {
        ""
    };
    let command = if request.query == "service=git-receive-pack" { " receive-pack" } else { command };
    let line = format!("{} {}{command}", request.method, request.path);
    state.requests.lock().expect("no thread panics").push(line);
    let response = state.answer(&request);
    let stream = stream.get_mut();
    stream.write_all(&response)?;
    stream.flush()
}

impl Request {
    pub(crate) fn read(stream: &mut impl BufRead) -> io::Result<Self> {
        let mut line = String::new();
        stream.read_line(&mut line)?;
        let mut words = line.split_whitespace().map(str::to_owned);
        let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let (path, query) = target.split_once('?').unwrap_or((&target, ""));
        let mut headers = Vec::new();
        loop {
            let mut line = String::new();
            stream.read_line(&mut line)?;
            let Some((name, value)) = line.trim_end().split_once(':') else { break };
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        let mut request =
            Self { method, path: path.to_owned(), query: query.to_owned(), headers, body: Vec::new() };
        let length = request.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
        request.body = vec![0; length];
        stream.read_exact(&mut request.body)?;
        Ok(request)
    }

    /// The value of a header, which is named in lower case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

impl State {
    fn answer(&self, request: &Request) -> Vec<u8> {
        let (place, rest) = request.path[1..].split_once('/').unwrap_or((&request.path[1..], ""));
        if !self.admits(request) {
            return response("401 Unauthorized", &["WWW-Authenticate: Basic realm=\"git\""], b"");
        }
        match place {
            "git" => self.git(request, rest),
            "files" => self.file(request, rest),
            // Accepts, and never says a word.
            "silent" => {
                self.wait(Duration::MAX);
                Vec::new()
            }
            // Takes its time to say where the branches are to who wants to push.
            "slow" => {
                if request.query == "service=git-receive-pack" {
                    self.wait(Duration::from_secs(8));
                }
                self.git(request, rest)
            }
            // Hangs up in the middle of an answer.
            "broken" => {
                let mut answer = self.git(request, rest);
                if request.method == "POST" {
                    answer.truncate(answer.len() - 40);
                }
                answer
            }
            // Does what a push asks for, and hangs up without a word about it.
            "mute" => {
                let answer = self.git(request, rest);
                if rest.ends_with("/git-receive-pack") { Vec::new() } else { answer }
            }
            // The same with a file.
            "cut" => {
                let mut answer = self.file(request, rest);
                answer.truncate(answer.len() - 20);
                answer
            }
            "moved" => redirect(&format!("/{rest}?{}", request.query)),
            "circle" => redirect("/circle"),
            "elsewhere" => redirect(&format!("http://{rest}")),
            _ => response("404 Not Found", &[], b"no"),
        }
    }

    /// Waits, but not longer than until it stops.
    fn wait(&self, time: Duration) {
        let start = Instant::now();
        while !self.stopped.load(Ordering::Relaxed) && start.elapsed() < time {
            thread::sleep(Duration::from_millis(20));
        }
    }

    fn admits(&self, request: &Request) -> bool {
        let Some((user, password)) = self.habits.account else { return true };
        let wanted = format!("Basic {}", STANDARD.encode(format!("{user}:{password}")));
        let token = format!("Bearer {password}");
        request.header("authorization").is_some_and(|shown| shown == wanted || shown == token)
    }

    fn file(&self, request: &Request, path: &str) -> Vec<u8> {
        let Ok(content) = fs::read(self.root.join("files").join(path)) else {
            return response("404 Not Found", &[], b"no");
        };
        let tag = format!("\"{}\"", content.iter().map(|byte| u64::from(*byte)).sum::<u64>());
        if request.header("if-none-match") == Some(&tag) {
            return response("304 Not Modified", &[], b"");
        }
        response("200 OK", &[&format!("ETag: {tag}")], &content)
    }

    fn git(&self, request: &Request, path: &str) -> Vec<u8> {
        let mut backend = isolated_git();
        backend
            .arg("http-backend")
            .env("GIT_PROJECT_ROOT", self.root.join("git"))
            .env("GIT_HTTP_EXPORT_ALL", "1")
            .env("PATH_INFO", format!("/{path}"))
            .env("QUERY_STRING", &request.query)
            .env("REQUEST_METHOD", &request.method)
            .env("CONTENT_TYPE", request.header("content-type").unwrap_or_default())
            .env("CONTENT_LENGTH", request.body.len().to_string());
        match request.header("git-protocol") {
            Some(protocol) if !self.habits.old_git => backend.env("GIT_PROTOCOL", protocol),
            _ => backend.env_remove("GIT_PROTOCOL"),
        };
        let mut backend = backend
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("git can be run");
        let mut input = backend.stdin.take().expect("it is piped");
        // It may not want the body.
        let _ = input.write_all(&request.body);
        drop(input);
        let output = backend.wait_with_output().expect("git ends").stdout;
        let end = output.windows(4).position(|part| part == b"\r\n\r\n").unwrap_or(0);
        let head = String::from_utf8_lossy(&output[..end]).into_owned();
        let status = head.lines().find_map(|line| line.strip_prefix("Status: ")).unwrap_or("200 OK");
        let headers: Vec<&str> = head.lines().filter(|line| !line.starts_with("Status: ")).collect();
        response(status, &headers, &output[end + 4..])
    }
}

fn redirect(to: &str) -> Vec<u8> {
    response("302 Found", &[&format!("Location: {to}")], b"")
}

fn response(status: &str, headers: &[&str], body: &[u8]) -> Vec<u8> {
    let mut response =
        format!("HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {}\r\n", body.len());
    for header in headers {
        response.push_str(header);
        response.push_str("\r\n");
    }
    response.push_str("\r\n");
    let mut response = response.into_bytes();
    response.extend_from_slice(body);
    response
}
