//! Pushes and pull requests as a GitHub App, at a stand-in that speaks as GitHub does.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use testkit::{BareRepository, Folder, Habits, Outcome, Reply, Request, Server, StandIn};

use super::{IMAGE_UPDATER, VALUES, fails};

/// Made for tests by `openssl genrsa`.
const KEY: &str = include_str!("../../../image-updater/testdata/forge/app-pkcs1.pem");

const TOKEN: &str = "ghs_of-the-app-77b2";

/// GitHub's side: tokens for an App, which are good for some minutes, and pull requests.
struct GitHub {
    stand_in: StandIn,
    minutes: Arc<Mutex<i64>>,
}

impl GitHub {
    fn start() -> Self {
        let (minutes, pulls) = (Arc::new(Mutex::new(60)), Mutex::new(Vec::new()));
        let good_for = Arc::clone(&minutes);
        let stand_in = StandIn::start(move |request| {
            let minutes = *good_for.lock().expect("no answer panics");
            answer(request, minutes, &mut pulls.lock().expect("no answer panics"))
        });
        Self { stand_in, minutes }
    }

    /// Returns how often a token was asked for since this was last asked.
    fn tokens(&self) -> usize {
        let requests = self.stand_in.requests();
        requests.iter().filter(|request| request.contains("access_tokens")).count()
    }
}

fn answer(request: &Request, minutes: i64, pulls: &mut Vec<Value>) -> Reply {
    let shown = request.header("authorization").and_then(|header| header.strip_prefix("Bearer "));
    let reply = |status, body: Value| Reply::new(status).body(body.to_string());
    if request.path == "/api/app/installations/67/access_tokens" {
        // A statement has three parts; that it is signed rightly is shown where it is made.
        let is_statement = shown.is_some_and(|shown| shown.split('.').count() == 3);
        let expires =
            std::time::SystemTime::now() + std::time::Duration::from_secs(60 * minutes.unsigned_abs());
        let expires = httpdate(expires);
        return match is_statement {
            true => reply(201, json!({"token": TOKEN, "expires_at": expires})),
            false => Reply::new(401),
        };
    }
    if shown != Some(TOKEN) {
        return Reply::new(401);
    }
    match (request.method.as_str(), request.path.as_str()) {
        ("GET", "/api/repos/git/config/pulls") => reply(200, Value::Array(pulls.clone())),
        ("POST", "/api/repos/git/config/pulls") => {
            let body: Value = serde_json::from_slice(&request.body).expect("it is JSON");
            pulls.push(json!({
                "number": 1, "node_id": "n", "html_url": "https://github.test/pull/1", "state": "open",
                "title": body["title"], "body": body["body"], "merged_at": null, "draft": false,
                "auto_merge": null, "labels": [],
                "head": {"ref": body["head"], "repo": {"id": 1}}, "base": {"ref": body["base"], "repo": {"id": 1}},
            }));
            reply(201, pulls[0].clone())
        }
        _ => Reply::new(404),
    }
}

/// A time as GitHub writes it.
fn httpdate(time: std::time::SystemTime) -> String {
    let seconds = time.duration_since(std::time::UNIX_EPOCH).expect("it is later").as_secs();
    let output = std::process::Command::new("date")
        .args(["-u", "-d", &format!("@{seconds}"), "+%Y-%m-%dT%H:%M:%SZ"])
        .output()
        .expect("there is `date`");
    String::from_utf8(output.stdout).expect("it is ASCII").trim().to_owned()
}

/// A git server that lets in the App only, and a configuration for it.
fn world(github: &GitHub) -> (Folder, BareRepository, Server) {
    let folder = Folder::with(&[("app.pem", KEY), ("tags.json", r#"{"r.test/app": ["1.0.0", "1.1.0"]}"#)]);
    let config = BareRepository::with(&folder.path("git/config.git"), &[("app/values.yaml", VALUES)]);
    let account = Some(("x-access-token", TOKEN));
    let server = Server::start(&folder.path(""), Habits { account, tls: true, ..Habits::default() });
    folder.write("authority.pem", server.certificate());
    folder.write(
        "image-updater.yaml",
        &format!(
            "apiVersion: image-updater/v1alpha1\nkind: Config\ngit:\n  url: {}\n  caFile: authority.pem\n  \
             githubApp: {{id: 12345, installation: 67, privateKeyFrom: {{file: app.pem}}}}\n  \
             pullRequest: {{forge: github, api: 'http://{}/api'}}\n\
             updates:\n- images: [{{image: r.test/app}}]\n  \
             targets: [{{kind: helmvalues, path: app/values.yaml, tagPath: image.tag}}]\n",
            server.url("/git/config.git"),
            github.stand_in.host(),
        ),
    );
    (folder, config, server)
}

fn run(folder: &Folder, arguments: &[&str]) -> Outcome {
    let outcome =
        folder.run_at_home(IMAGE_UPDATER, &[arguments, &["--tags-from", "tags.json"]].concat(), &[]);
    for secret in [TOKEN, "MII", "MIJ"] {
        assert!(!outcome.stderr.contains(secret) && !outcome.stdout.contains(secret), "{}", outcome.stderr);
    }
    outcome
}

#[test]
fn an_app_pushes_and_opens_a_request() {
    let github = GitHub::start();
    let (folder, config, _server) = world(&github);
    let outcome = run(&folder, &["update", "--push"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert_eq!(config.read("main", "app/values.yaml").unwrap() + "\n", VALUES.replace("1.0.0", "1.1.0"));
    assert_eq!(github.tokens(), 1, "one for the fetch and the push");
    folder.write("tags.json", r#"{"r.test/app": ["1.2.0"]}"#);
    let outcome = run(&folder, &["update", "--pr"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("opened the request: https://github.test/pull/1"), "{}", outcome.stderr);
    assert_eq!(github.tokens(), 1, "one for git and the request");
}

#[test]
fn a_token_is_asked_for_again_before_it_is_of_no_more_use() {
    for (minutes, is_kept) in [(60, true), (5, false)] {
        let github = GitHub::start();
        *github.minutes.lock().unwrap() = minutes;
        let (folder, _config, _server) = world(&github);
        let log = std::fs::File::create(folder.path("log")).unwrap();
        let arguments = ["run", "--interval", "1s", "--tags-from", "tags.json"];
        let mut daemon = folder.at_home(IMAGE_UPDATER, &arguments, &[]).stderr(log).spawn().unwrap();
        let rounds = || folder.read("log").unwrap_or_default().matches("Processing results").count();
        for _ in 0..3_000 {
            if rounds() >= 3 {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        daemon.kill().unwrap();
        daemon.wait().unwrap();
        let log = folder.read("log").unwrap();
        assert!(rounds() >= 3, "{log}");
        assert_eq!(github.tokens() == 1, is_kept, "{log}");
        assert!(!log.contains(TOKEN) && !log.contains("MII"));
    }
}

#[test]
fn an_app_that_cannot_be_is_one_error_without_its_key() {
    let github = GitHub::start();
    let (folder, config, _server) = world(&github);
    folder.write("app.pem", &KEY.replace("MII", "MIJ"));
    fails(&run(&folder, &["update", "--push"]), "the private key of the GitHub App `12345` cannot be used");
    std::fs::remove_file(folder.path("app.pem")).unwrap();
    fails(&run(&folder, &["update", "--push"]), "app.pem");
    folder.write("app.pem", KEY);
    let text = folder.read("image-updater.yaml").unwrap();
    folder.write("image-updater.yaml", &text.replace("installation: 67", "installation: 68"));
    fails(&run(&folder, &["update", "--push"]), "GitHub");
    assert_eq!(config.subjects("main"), ["change"]);
}
