//! Pull requests, at a stand-in that speaks as Gitea does.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use testkit::{Reply, Request, StandIn};

use super::{VALUES, World};

const TOKEN: &str = "token-of-the-forge-51fe";

struct Forge {
    stand_in: StandIn,
    pulls: Arc<Mutex<Vec<Value>>>,
}

impl Forge {
    fn start() -> Self {
        let pulls: Arc<Mutex<Vec<Value>>> = Arc::default();
        let known = Arc::clone(&pulls);
        let stand_in =
            StandIn::start(move |request| answer(request, &mut known.lock().expect("no answer panics")));
        Self { stand_in, pulls }
    }

    fn git(&self, more: &str) -> String {
        format!(
            "  pullRequest:\n    forge: gitea\n    api: http://{}/api/v1\n    tokenFrom: {{file: forge-token}}\n{more}",
            self.stand_in.host()
        )
    }
}

fn answer(request: &Request, pulls: &mut Vec<Value>) -> Reply {
    if request.header("authorization") != Some(&format!("token {TOKEN}")) {
        return Reply::new(401);
    }
    let Some(rest) = request.path.strip_prefix("/api/v1/repos/git/config/pulls") else {
        return Reply::new(404);
    };
    let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
    let answer = match (request.method.as_str(), rest.trim_start_matches('/')) {
        ("GET", "") => {
            let asks = |pair: &str| request.query.split('&').any(|known| known == pair);
            let wanted = |pull: &&Value| {
                asks("page=1") && asks(&format!("state={}", pull["state"].as_str().expect("it is text")))
            };
            Value::Array(pulls.iter().filter(wanted).cloned().collect())
        }
        ("POST", "") => {
            let number = pulls.len() + 1;
            pulls.push(json!({
                "number": number, "html_url": format!("https://forge.test/pulls/{number}"), "state": "open",
                "title": body["title"], "body": body["body"], "merged": false,
                "head": {"ref": body["head"], "repo_id": 1}, "base": {"ref": body["base"], "repo_id": 1},
            }));
            pulls[number - 1].clone()
        }
        ("PATCH", number) => {
            let pull = &mut pulls[number.parse::<usize>().expect("it is a number") - 1];
            for (name, value) in body.as_object().expect("it is an object") {
                pull[name] = value.clone();
            }
            pull.clone()
        }
        _ => return Reply::new(200),
    };
    Reply::new(200).header("Content-Type: application/json").body(answer.to_string())
}

const BODY: &str = "{% for change in changes %}{{ change.new }}{% if change.compare %} {{ change.compare | link(text='changes') }}{% endif %}\n{% endfor %}";

#[test]
fn a_request_is_opened_kept_up_to_date_and_not_opened_again_once_it_was_turned_down() {
    let (world, forge) = (World::usual(), Forge::start());
    world.folder.write("forge-token", TOKEN);
    world.folder.write("body.md", BODY);
    world.configure(&forge.git("    title: 'Update {{ .AppName }}'\n    body: body.md\n"));
    let outcome = world.update(&["--pr"]);
    assert!(outcome.stderr.contains("opened the request: https://forge.test/pulls/1"), "{}", outcome.stderr);
    assert!(!outcome.stderr.contains(TOKEN));
    let pull = forge.pulls.lock().unwrap()[0].clone();
    assert_eq!((&pull["title"], &pull["base"]["ref"]), (&json!("Update config"), &json!("main")));
    // As the labels of the images have it.
    let linked = "1\\.1\\.0 [changes](<https://github.com/acme/app/compare/of-1.0.0...of-1.1.0>)\n";
    assert!(pull["body"].as_str().unwrap().starts_with(linked), "{pull}");
    let branch = pull["head"]["ref"].as_str().unwrap().to_owned();
    assert!(branch.starts_with("image-updater-"), "{branch}");
    assert_eq!(world.values(&branch), VALUES.replace("1.0.0", "1.1.0"));
    assert_eq!(world.values("main"), VALUES);
    assert_eq!(world.exchanges(), (1, 1));

    // The second run only reads.
    forge.stand_in.requests();
    world.update(&["--pr"]);
    let requests = forge.stand_in.requests();
    assert!(requests.iter().all(|request| request.starts_with("GET ")), "{requests:?}");
    assert_eq!(world.exchanges(), (0, 0));

    // A newer version goes into the same request.
    world.registry.has("app", &["1.0.0", "1.1.0", "1.2.0"]);
    world.update(&["--pr"]);
    assert_eq!(forge.pulls.lock().unwrap().len(), 1);
    assert_eq!(world.values(&branch), VALUES.replace("1.0.0", "1.2.0"));

    // A person closes it and deletes the branch.
    forge.pulls.lock().unwrap()[0]["state"] = "closed".into();
    world.config.git(&["branch", "-D", &branch]);
    let outcome = world.update(&["--pr"]);
    assert!(outcome.stderr.contains("a person closed the request"), "{}", outcome.stderr);
    assert!(world.config.read(&branch, "app/values.yaml").is_none());
    assert_eq!(forge.pulls.lock().unwrap().len(), 1);
}

#[test]
fn a_pipeline_can_open_a_request_for_what_it_built() {
    let (world, forge) = (World::usual(), Forge::start());
    world.folder.write("forge-token", TOKEN);
    world.configure(&forge.git(""));
    let image = format!("{}:2.0.0", world.registry.image("app"));
    let outcome = world.run(&[
        "set",
        &image,
        "--pr",
        "--config",
        "image-updater.yaml",
        "--target",
        "helmvalues:app/values.yaml",
        "--tag-path",
        "image.tag",
    ]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.stderr);
    let branch = forge.pulls.lock().unwrap()[0]["head"]["ref"].as_str().unwrap().to_owned();
    assert_eq!(world.values(&branch), VALUES.replace("1.0.0", "2.0.0"));
}

#[test]
fn without_a_token_nothing_is_pushed() {
    let (world, forge) = (World::usual(), Forge::start());
    world.configure(&forge.git("").replace("file: forge-token", "env: IMAGE_UPDATER_NO_SUCH_TOKEN"));
    super::fails(&world.run(&["update", "--pr"]), "`$IMAGE_UPDATER_NO_SUCH_TOKEN`: it is not set");
    assert_eq!(world.config.git(&["for-each-ref", "--format=%(refname)"]), "refs/heads/main");
}
