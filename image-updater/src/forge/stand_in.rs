//! A forge for tests: one repository `org/repo` in memory, seen through any of the three APIs as their documentation has
//! them, and a list of what was asked.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

use reqwest::Url;
use serde_json::{Value, json};

/// Which API it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    GitHub,
    GitLab,
    Gitea,
}

/// A request of the repository.
#[derive(Clone, Debug, Default)]
pub(super) struct Pull {
    pub(super) number: u64,
    pub(super) title: String,
    pub(super) body: String,
    pub(super) head: String,
    pub(super) from_fork: bool,
    pub(super) closed: bool,
    pub(super) merging: bool,
    pub(super) labels: Vec<String>,
    pub(super) comments: Vec<String>,
}

/// The recorded requests.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub(super) method: String,
    /// The path as it was written, without its query.
    pub(super) path: String,
    pub(super) query: Vec<(String, String)>,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Value,
}

/// An answer: the status with its words, headers, JSON.
pub(super) type Answer = (&'static str, Vec<String>, String);

/// The forge, which ends with its value.
pub(super) struct StandIn {
    address: String,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    kind: Kind,
    stopped: AtomicBool,
    asked: Mutex<Vec<Asked>>,
    pulls: Mutex<Vec<Pull>>,
    /// Given to the next requests, whatever they ask for.
    next: Mutex<Vec<Answer>>,
}

impl StandIn {
    pub(super) fn new(kind: Kind) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let shared = Arc::new(Shared {
            kind,
            stopped: AtomicBool::new(false),
            asked: Mutex::default(),
            pulls: Mutex::default(),
            next: Mutex::default(),
        });
        let served = Arc::clone(&shared);
        let thread = thread::spawn(move || {
            for connection in listener.incoming() {
                if served.stopped.load(Ordering::Relaxed) {
                    return;
                }
                // A client that hangs up is no fault of the server's.
                let _ = connection.and_then(|connection| served.serve(&connection));
            }
        });
        Self { address, shared, thread: Some(thread) }
    }

    /// Returns where its API is.
    pub(super) fn api(&self) -> String {
        format!("http://{}/api", self.address)
    }

    /// Has a request that somebody has opened.
    pub(super) fn add(&self, pull: Pull) {
        self.shared.pulls.lock().unwrap().push(pull);
    }

    /// Answers the next request this way.
    pub(super) fn answer(&self, status: &'static str, headers: &[&str], body: &str) {
        let headers = headers.iter().map(|header| (*header).to_owned()).collect();
        self.shared.next.lock().unwrap().push((status, headers, body.to_owned()));
    }

    /// The request of a number.
    pub(super) fn pull(&self, number: u64) -> Pull {
        let pulls = self.shared.pulls.lock().unwrap();
        pulls.iter().find(|pull| pull.number == number).cloned().unwrap()
    }

    /// The request of a number as its API shows it.
    pub(super) fn shown(&self, number: u64) -> String {
        self.shared.show(&self.pull(number)).to_string()
    }

    /// Changes the request of a number, as a person does.
    pub(super) fn change(&self, number: u64, change: impl FnOnce(&mut Pull)) {
        change(self.shared.pulls.lock().unwrap().iter_mut().find(|pull| pull.number == number).unwrap());
    }

    /// Returns what it was asked since it was last asked this.
    pub(super) fn asked(&self) -> Vec<Asked> {
        std::mem::take(&mut *self.shared.asked.lock().unwrap())
    }

    /// Returns what was written since, as method and path.
    pub(super) fn writes(&self) -> Vec<String> {
        let asked = self.asked();
        let writes = asked.iter().filter(|asked| asked.method != "GET");
        writes.map(|asked| format!("{} {}", asked.method, asked.path.trim_start_matches("/api/"))).collect()
    }
}

impl Drop for StandIn {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::Relaxed);
        // Wakes the thread that waits for connections.
        let _ = TcpStream::connect(&self.address);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Asked {
    fn read(connection: &TcpStream) -> io::Result<Self> {
        let mut stream = BufReader::new(connection);
        let mut line = String::new();
        stream.read_line(&mut line)?;
        let mut words = line.split_whitespace();
        let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let url = Url::parse(&format!("http://host{target}")).map_err(io::Error::other)?;
        let mut headers = Vec::new();
        loop {
            let mut line = String::new();
            stream.read_line(&mut line)?;
            let Some((name, value)) = line.trim_end().split_once(':') else { break };
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        let length =
            headers.iter().find(|(name, _)| name == "content-length").map_or("0", |(_, length)| length);
        let mut body = vec![0; length.parse().map_err(io::Error::other)?];
        stream.read_exact(&mut body)?;
        let query = url.query_pairs().map(|(name, value)| (name.into_owned(), value.into_owned())).collect();
        let (method, path) = (method.to_owned(), url.path().to_owned());
        Ok(Self { method, path, query, headers, body: serde_json::from_slice(&body).unwrap_or(Value::Null) })
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    fn query(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

impl Shared {
    fn serve(&self, mut connection: &TcpStream) -> io::Result<()> {
        let asked = Asked::read(connection)?;
        self.asked.lock().unwrap().push(asked.clone());
        let mut next = self.next.lock().unwrap();
        let (status, headers, body) = if next.is_empty() { self.answer(&asked) } else { next.remove(0) };
        let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
        let length = body.len();
        let head =
            format!("HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {length}\r\n{headers}\r\n");
        connection.write_all((head + &body).as_bytes())
    }

    fn answer(&self, asked: &Asked) -> Answer {
        let start = match self.kind {
            Kind::GitLab => "/api/projects/org%2Frepo/merge_requests",
            _ => "/api/repos/org/repo/",
        };
        let Some(rest) = asked.path.strip_prefix(start) else { return self.beside(asked) };
        let words: Vec<&str> =
            rest.trim_start_matches('/').split('/').filter(|word| !word.is_empty()).collect();
        let mut pulls = self.pulls.lock().unwrap();
        match (asked.method.as_str(), self.kind, &words[..]) {
            ("GET", Kind::GitLab, []) | ("GET", _, ["pulls"]) => ok(&self.list(&pulls, asked)),
            ("POST", Kind::GitLab, []) | ("POST", _, ["pulls"]) => self.create(&mut pulls, &asked.body),
            ("GET", Kind::Gitea, ["labels"]) => match asked.query("page") {
                Some("1") => ok(&json!([{"id": 7, "name": "images"}])),
                _ => ok(&json!([])),
            },
            ("POST", Kind::Gitea, ["labels"]) => ok(&json!({"id": 8, "name": asked.body["name"]})),
            (_, _, words) => {
                let number = words.iter().find_map(|word| word.parse::<u64>().ok());
                match pulls.iter_mut().find(|pull| Some(pull.number) == number) {
                    Some(pull) => self.touch(pull, words.last().copied().unwrap_or_default(), &asked.body),
                    None => ("404 Not Found", Vec::new(), json!({"message": "Not Found"}).to_string()),
                }
            }
        }
    }

    /// Returns what is not of the repository.
    fn beside(&self, asked: &Asked) -> Answer {
        match (self.kind, asked.path.as_str()) {
            (Kind::GitHub, "/api/graphql") => {
                let id = asked.body["variables"]["id"]
                    .as_str()
                    .and_then(|id| id.strip_prefix("node")?.parse().ok());
                let mut pulls = self.pulls.lock().unwrap();
                pulls.iter_mut().filter(|pull| Some(pull.number) == id).for_each(|pull| pull.merging = true);
                ok(&json!({"data": {}}))
            }
            (Kind::GitLab, "/api/users") if asked.query("username") == Some("ann") => {
                ok(&json!([{"id": 42}]))
            }
            (Kind::GitLab, "/api/users") => ok(&json!([])),
            _ => ("404 Not Found", Vec::new(), json!({"message": "Not Found"}).to_string()),
        }
    }

    fn list(&self, pulls: &[Pull], asked: &Asked) -> Value {
        if asked.query("page").is_some_and(|page| page != "1") {
            return json!([]);
        }
        let state = asked.query("state").unwrap_or("all");
        let head = match self.kind {
            Kind::GitHub => asked.query("head").map(|head| head.trim_start_matches("org:")),
            Kind::GitLab => asked.query("source_branch"),
            Kind::Gitea => None,
        };
        let is_asked_for = |pull: &&Pull| {
            let in_state = match state {
                "open" | "opened" => !pull.closed,
                "closed" => pull.closed,
                _ => true,
            };
            in_state && head.is_none_or(|head| pull.head == head)
        };
        pulls.iter().filter(is_asked_for).rev().map(|pull| self.show(pull)).collect()
    }

    fn create(&self, pulls: &mut Vec<Pull>, body: &Value) -> Answer {
        let text = |name: &str| body[name].as_str().unwrap_or_default().to_owned();
        let (head, text_name) = match self.kind {
            Kind::GitLab => (text("source_branch"), "description"),
            _ => (text("head"), "body"),
        };
        if pulls.iter().any(|pull| pull.head == head && !pull.closed) {
            return match self.kind {
                Kind::GitHub => {
                    let error = json!({"message": "A pull request already exists for org:head."});
                    let body = json!({"message": "Validation Failed", "errors": [error]});
                    ("422 Unprocessable Entity", Vec::new(), body.to_string())
                }
                _ => ("409 Conflict", Vec::new(), json!({"message": ["there is one"]}).to_string()),
            };
        }
        let number = pulls.iter().map(|pull| pull.number).max().unwrap_or(0) + 1;
        let pull = Pull { number, title: text("title"), body: text(text_name), head, ..Pull::default() };
        let shown = self.show(&pull);
        pulls.push(pull);
        ("201 Created", Vec::new(), shown.to_string())
    }

    fn touch(&self, pull: &mut Pull, what: &str, body: &Value) -> Answer {
        let text = |name: &str| body[name].as_str().map(str::to_owned);
        match what {
            "labels" => {
                let names = body["labels"].as_array().cloned().unwrap_or_default();
                let name =
                    |label: &Value| label.as_str().map_or_else(|| format!("label {label}"), str::to_owned);
                pull.labels.extend(names.iter().map(name));
                return ok(&json!([]));
            }
            "comments" | "notes" => pull.comments.extend(text("body")),
            "requested_reviewers" => {}
            "merge" => pull.merging = true,
            _ => {
                pull.title = text("title").unwrap_or_else(|| pull.title.clone());
                pull.body = text("body").or_else(|| text("description")).unwrap_or_else(|| pull.body.clone());
                pull.closed |=
                    text("state").is_some_and(|state| state == "closed") || text("state_event").is_some();
                pull.labels
                    .extend(text("add_labels").iter().flat_map(|all| all.split(',')).map(str::to_owned));
            }
        }
        // An answer without content, as some of these have.
        if what == "merge" { ("200 OK", Vec::new(), String::new()) } else { ok(&self.show(pull)) }
    }

    fn show(&self, pull: &Pull) -> Value {
        let Pull { number, title, body, head, from_fork, closed, merging, labels, .. } = pull;
        let (url, repo) = (format!("https://forge.example/{number}"), if *from_fork { 2 } else { 1 });
        let named: Vec<Value> =
            labels.iter().enumerate().map(|(id, name)| json!({"id": id, "name": name})).collect();
        match self.kind {
            Kind::GitHub => json!({
                "number": number, "node_id": format!("node{number}"), "html_url": url, "title": title, "body": body,
                "state": if *closed { "closed" } else { "open" }, "merged_at": null, "labels": named, "draft": false,
                "auto_merge": merging.then(|| json!({"merge_method": "squash"})),
                "head": {"ref": head, "repo": {"id": repo}}, "base": {"ref": "main", "repo": {"id": 1}},
            }),
            Kind::GitLab => json!({
                "iid": number, "web_url": url, "title": title, "description": body, "labels": labels,
                "state": if *closed { "closed" } else { "opened" }, "source_branch": head,
                "merge_when_pipeline_succeeds": merging,
                "source_project_id": repo, "target_project_id": 1,
            }),
            Kind::Gitea => json!({
                "number": number, "html_url": url, "title": title, "body": body, "labels": named,
                "state": if *closed { "closed" } else { "open" }, "merged": false,
                "head": {"ref": head, "repo_id": repo}, "base": {"ref": "main", "repo_id": 1},
            }),
        }
    }
}

fn ok(body: &Value) -> Answer {
    ("200 OK", Vec::new(), body.to_string())
}
