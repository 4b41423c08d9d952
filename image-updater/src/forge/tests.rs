//! Proposals against a stand-in for each of the forges, and what is said when one refuses.

use oci_registry::Secret;

use super::mark::Mark;
use super::stand_in::{Kind, Pull, StandIn};
use super::*;

const TOKEN: &str = "glpat-5ecret";

const KINDS: [(Kind, &str); 3] =
    [(Kind::GitHub, "GitHub"), (Kind::GitLab, "GitLab"), (Kind::Gitea, "Forgejo")];

fn client(forge: &StandIn, name: &str) -> Client {
    let settings = Settings {
        forge: Some(name.to_owned()),
        api: Some(forge.api()),
        token: Secret::new(TOKEN.to_owned()),
        certificates: None,
    };
    Client::new("git@forge.example:org/repo.git", &settings).unwrap()
}

fn proposal<'a>(labels: &'a [String], reviewers: &'a [String]) -> Proposal<'a> {
    Proposal {
        head: "updates",
        base: "main",
        title: "update app",
        body: "app 1 → 2",
        target: "0123abcd",
        changes: "ff",
        labels,
        reviewers,
        draft: false,
        auto_merge: None,
        supersede: false,
    }
}

fn propose(forge: &StandIn, name: &str, proposal: &Proposal<'_>) -> Outcome {
    let outcome = client(forge, name).propose(proposal).unwrap();
    assert!(outcome.warnings.is_empty(), "{name}: {:?}", outcome.warnings);
    outcome
}

/// The calls that the forges' documentation has for what is asked for.
#[test]
fn a_request_is_opened_with_all_that_belongs_to_it() {
    let (labels, reviewers) = (["images".to_owned(), "more".to_owned()], ["ann".to_owned()]);
    let wanted = [
        &[
            "POST repos/org/repo/pulls",
            "POST repos/org/repo/issues/1/labels",
            "POST repos/org/repo/pulls/1/requested_reviewers",
            "POST graphql",
        ][..],
        &[
            "POST projects/org%2Frepo/merge_requests",
            "PUT projects/org%2Frepo/merge_requests/1",
            "PUT projects/org%2Frepo/merge_requests/1",
            "PUT projects/org%2Frepo/merge_requests/1/merge",
        ],
        &[
            "POST repos/org/repo/pulls",
            "POST repos/org/repo/labels",
            "POST repos/org/repo/issues/1/labels",
            "POST repos/org/repo/pulls/1/requested_reviewers",
            "POST repos/org/repo/pulls/1/merge",
        ],
    ];
    for ((kind, name), wanted) in KINDS.into_iter().zip(wanted) {
        let forge = StandIn::new(kind);
        let all = Proposal {
            auto_merge: Some(MergeMethod::Squash),
            supersede: true,
            ..proposal(&labels, &reviewers)
        };
        let outcome = propose(&forge, name, &all);
        assert_eq!((outcome.action, outcome.number), (Action::Created, 1), "{name}");
        assert_eq!(outcome.url, "https://forge.example/1");
        assert_eq!(forge.writes(), wanted, "{name}");
        let pull = forge.pull(1);
        assert_eq!((pull.title.as_str(), pull.merging), ("update app", true), "{name}");
        assert_eq!(Mark::read(&pull.body), Some(Mark::new("0123abcd", "ff")), "{name}");
        assert_eq!(pull.labels.len(), 2, "{name}: {:?}", pull.labels);
    }
}

#[test]
fn a_second_run_writes_nothing_and_another_one_what_is_other() {
    let labels = ["images".to_owned()];
    for (kind, name) in KINDS {
        let forge = StandIn::new(kind);
        let first = Proposal { draft: true, supersede: true, ..proposal(&labels, &[]) };
        propose(&forge, name, &first);
        // As Gitea names it once it has it.
        forge.change(1, |pull| pull.labels = vec!["Images".to_owned()]);
        forge.asked();
        assert_eq!(propose(&forge, name, &first).action, Action::Unchanged, "{name}");
        assert_eq!(forge.writes(), [""; 0], "{name}");
        // Forges keep the ends of lines as browsers send them, and trim texts.
        forge.change(1, |pull| pull.body = pull.body.trim().replace('\n', "\r\n"));
        assert_eq!(propose(&forge, name, &first).action, Action::Unchanged, "{name}");
        assert_eq!(forge.writes(), [""; 0], "{name}");

        let next = Proposal { title: "update app again", body: "app 1 → 3", changes: "ee", ..first };
        let outcome = propose(&forge, name, &next);
        assert_eq!((outcome.action, outcome.number), (Action::Updated, 1), "{name}");
        assert_eq!(forge.writes().len(), 1, "{name}");
        assert!(
            forge.pull(1).title.ends_with("update app again") && forge.pull(1).body.contains("1 → 3"),
            "{name}"
        );
    }
}

/// GitLab answers 405 until it has looked at a new request; see its issue 353984.
#[test]
fn merging_is_asked_for_until_it_is_taken_and_not_of_drafts() {
    for (kind, name) in KINDS {
        let forge = StandIn::new(kind);
        let merge = Proposal { auto_merge: Some(MergeMethod::Merge), ..proposal(&[], &[]) };
        propose(&forge, name, &proposal(&[], &[]));
        if kind == Kind::Gitea {
            // It does not say whether it was told, so that it is told when there is something new.
            assert_eq!(propose(&forge, name, &merge).action, Action::Unchanged);
            assert!(!forge.pull(1).merging);
            propose(&forge, name, &Proposal { title: "other", ..merge });
            assert!(forge.pull(1).merging);
            continue;
        }
        let shown = forge.shown(1);
        forge.answer("200 OK", &[], &format!("[{shown}]"));
        forge.answer("405 Method Not Allowed", &[], "{}");
        let outcome = client(&forge, name).propose(&merge).unwrap();
        assert_eq!((outcome.action, outcome.warnings.len()), (Action::Unchanged, 1), "{name}");
        propose(&forge, name, &merge);
        assert!(forge.pull(1).merging, "{name}");
        forge.asked();
        propose(&forge, name, &merge);
        assert_eq!(forge.writes(), [""; 0], "{name}");
    }
    let forge = StandIn::new(Kind::GitLab);
    propose(
        &forge,
        "gitlab",
        &Proposal { draft: true, auto_merge: Some(MergeMethod::Merge), ..proposal(&[], &[]) },
    );
    assert!(!forge.pull(1).merging);
}

#[test]
fn whether_it_is_a_draft_is_for_people_once_it_is_open() {
    let forge = StandIn::new(Kind::GitLab);
    let draft = Proposal { draft: true, ..proposal(&[], &[]) };
    propose(&forge, "gitlab", &draft);
    for title in ["update app", "[Draft] update app", "draft:update app"] {
        forge.change(1, |pull| pull.title = title.to_owned());
        assert_eq!(propose(&forge, "gitlab", &draft).action, Action::Unchanged, "{title}");
    }
    propose(&forge, "gitlab", &Proposal { title: "other", ..draft });
    assert_eq!(forge.pull(1).title, "draft:other");
}

#[test]
fn older_requests_of_the_target_are_closed_and_no_others() {
    for (kind, name) in KINDS {
        let forge = StandIn::new(kind);
        let pull = |number: u64, head: &str, target: &str, from_fork| Pull {
            number,
            head: head.to_owned(),
            from_fork,
            body: Mark::new(target, "ee").write("text"),
            ..Pull::default()
        };
        forge.add(pull(1, "updates-1", "0123abcd", false));
        forge.add(pull(2, "updates-2", "others00", false));
        forge.add(pull(3, "updates-3", "0123abcd", true));
        forge.add(Pull { body: "by a person".to_owned(), ..pull(4, "mine", "", false) });
        let supersede = Proposal { supersede: true, ..proposal(&[], &[]) };
        let outcome = propose(&forge, name, &supersede);
        assert_eq!(
            (outcome.action, outcome.number, outcome.superseded),
            (Action::Created, 5, vec![1]),
            "{name}"
        );
        let first = forge.pull(1);
        let comment = if kind == Kind::GitLab { "Superseded by !5." } else { "Superseded by #5." };
        assert_eq!((first.closed, first.comments), (true, vec![comment.to_owned()]), "{name}");
        assert!((2..=4).all(|number| !forge.pull(number).closed), "{name}");
        forge.asked();
        assert_eq!(propose(&forge, name, &supersede).superseded, [0; 0]);
        assert_eq!(forge.writes(), [""; 0], "{name}");
        // Nobody has turned the first one down: where its changes come back, so may it.
        assert_eq!(
            client(&forge, name).standing("updates-1", "main", "0123abcd", "ee").unwrap(),
            Standing::Absent
        );
    }
}

#[test]
fn what_a_person_has_closed_stays_closed_until_there_is_something_new() {
    for (kind, name) in KINDS {
        let forge = StandIn::new(kind);
        let first = proposal(&[], &[]);
        let standing = || client(&forge, name).standing("updates", "main", "0123abcd", "ff").unwrap();
        assert_eq!(standing(), Standing::Absent);
        propose(&forge, name, &first);
        let url = "https://forge.example/1".to_owned();
        assert_eq!(standing(), Standing::Open { url: url.clone(), same_changes: true });
        forge.change(1, |pull| pull.closed = true);
        forge.asked();
        assert_eq!(standing(), Standing::Declined { url });
        assert_eq!(propose(&forge, name, &first).action, Action::Declined, "{name}");
        assert_eq!(forge.writes(), [""; 0], "{name}");
        let outcome = propose(&forge, name, &Proposal { changes: "ee", ..first });
        assert_eq!((outcome.action, outcome.number), (Action::Created, 2), "{name}");
    }
}

#[test]
fn one_that_somebody_opens_in_between_is_brought_up_to_date() {
    for (kind, name) in KINDS {
        let forge = StandIn::new(kind);
        forge.add(Pull {
            number: 1,
            head: "updates".to_owned(),
            title: "theirs".to_owned(),
            ..Pull::default()
        });
        // It is not there yet when it is looked for: Gitea is asked for open ones and for closed ones.
        for _ in 0..if kind == Kind::Gitea { 2 } else { 1 } {
            forge.answer("200 OK", &[], "[]");
        }
        let outcome = propose(&forge, name, &proposal(&[], &[]));
        assert_eq!((outcome.action, outcome.number), (Action::Updated, 1), "{name}");
        assert_eq!(forge.pull(1).title, "update app");
    }
}

#[test]
fn the_token_goes_into_its_header() {
    let headers = ["Bearer glpat-5ecret", "Bearer glpat-5ecret", "token glpat-5ecret"];
    for ((kind, name), wanted) in KINDS.into_iter().zip(headers) {
        let forge = StandIn::new(kind);
        propose(&forge, name, &proposal(&[], &[]));
        let asked = forge.asked();
        assert!(asked.iter().all(|asked| asked.header("authorization") == Some(wanted)), "{name}");
        assert!(asked.iter().all(|asked| !format!("{:?}", asked.query).contains(TOKEN)));
    }
}

#[test]
fn a_refusal_is_told_from_others_and_shows_no_token() {
    let limit = ["Retry-After: 60"];
    let used_up = ["X-RateLimit-Remaining: 0", "X-RateLimit-Reset: 1"];
    let cases: [(&'static str, &[&str], &str, ErrorKind); 9] = [
        ("401 Unauthorized", &[], "{\"message\":\"Bad credentials glpat-5ecret\"}", ErrorKind::Unauthorized),
        ("403 Forbidden", &[], "{\"message\":\"no\"}", ErrorKind::Denied),
        ("403 Forbidden", &limit, "{\"message\":\"secondary rate limit\"}", ErrorKind::RateLimited),
        ("403 Forbidden", &used_up, "{}", ErrorKind::RateLimited),
        ("404 Not Found", &[], "<html>", ErrorKind::NotFound),
        ("422 Unprocessable Entity", &[], "{\"errors\":[{\"message\":\"base\"}]}", ErrorKind::Invalid),
        ("429 Too Many Requests", &limit, "", ErrorKind::RateLimited),
        ("502 Bad Gateway", &[], "", ErrorKind::Unavailable),
        ("200 OK", &[], "<html>", ErrorKind::Protocol),
    ];
    for (status, headers, body, kind) in cases {
        let forge = StandIn::new(Kind::GitHub);
        forge.answer(status, headers, body);
        let client = client(&forge, "github");
        let error = client.propose(&proposal(&[], &[])).unwrap_err();
        assert_eq!(error.kind(), kind, "{status}: {error}");
        assert!(error.to_string().starts_with("GitHub cannot look for a pull request: "), "{error}");
        assert!(error.get_hint().is_some(), "{status}");
        assert!(!format!("{error} {error:?} {client:?}").contains(TOKEN), "{error:?}");
        let wait = headers.first().filter(|header| header.starts_with("Retry")).map(|_| 60);
        assert!(wait.is_none() || error.retry_after().map(|wait| wait.as_secs()) == wait, "{error:?}");
        assert_eq!(forge.asked().len(), 1, "{status}: nothing is tried twice");
    }
}

#[test]
fn what_is_less_than_the_request_is_a_warning() {
    let forge = StandIn::new(Kind::GitLab);
    let (labels, reviewers) = (["a".to_owned()], ["nobody".to_owned()]);
    let outcome = client(&forge, "gitlab").propose(&proposal(&labels, &reviewers)).unwrap();
    assert_eq!(outcome.action, Action::Created);
    assert_eq!(outcome.warnings.len(), 1);
    assert!(outcome.warnings[0].to_string().contains("`nobody`"));
}

#[test]
fn a_redirect_takes_the_token_nowhere_else() {
    let (forge, other) = (StandIn::new(Kind::GitHub), StandIn::new(Kind::GitHub));
    let location = format!("Location: {}/repos/org/repo/pulls", other.api());
    forge.answer("302 Found", &[&location], "");
    let error = client(&forge, "github").propose(&proposal(&[], &[])).unwrap_err();
    assert!(error.to_string().contains("the token is not sent"), "{error}");
    assert!(other.asked().is_empty());

    // Within the host, a repository that was renamed is found.
    forge.answer("301 Moved Permanently", &["Location: /api/repos/org/repo/pulls"], "");
    propose(&forge, "github", &proposal(&[], &[]));
    forge.asked();
    let next = Proposal { title: "other", ..proposal(&[], &[]) };
    forge.answer("307 Temporary Redirect", &["Location: /api/repos/org/repo/pulls"], "");
    propose(&forge, "github", &next);

    // What is written would be lost on the way of an old redirect.
    let forge = StandIn::new(Kind::GitHub);
    forge.answer("200 OK", &[], "[]");
    forge.answer("301 Moved Permanently", &["Location: /api/x"], "");
    assert!(client(&forge, "github").propose(&next).is_err());
    let circle = StandIn::new(Kind::GitHub);
    for _ in 0..10 {
        circle.answer("302 Found", &["Location: /api/x"], "");
    }
    let error = client(&circle, "github").propose(&next).unwrap_err();
    assert!(error.to_string().contains("too many redirects"), "{error}");
}

#[test]
fn a_proposal_that_cannot_be_is_refused_before_anybody_is_asked() {
    let forge = StandIn::new(Kind::GitHub);
    let comma = ["a,b".to_owned()];
    let good = proposal(&[], &[]);
    for bad in [
        Proposal { title: " ", ..good },
        Proposal { title: "a\nb", ..good },
        Proposal { base: "updates", ..good },
        Proposal { labels: &comma, ..good },
    ] {
        assert_eq!(client(&forge, "github").propose(&bad).unwrap_err().kind(), ErrorKind::Invalid);
    }
    assert!(forge.asked().is_empty());
}

fn refusal(repository: &str, forge: Option<&str>, api: Option<&str>, token: &str) -> String {
    let settings = Settings {
        forge: forge.map(str::to_owned),
        api: api.map(str::to_owned),
        token: Secret::new(token.to_owned()),
        certificates: None,
    };
    Client::new(repository, &settings).err().map(|error| error.to_string()).unwrap_or_default()
}

#[test]
fn what_is_configured_is_checked() {
    assert_eq!(
        refusal("https://git.example/a/b", None, None, "t"),
        "it is not clear which forge `git.example` is"
    );
    assert_eq!(
        refusal("https://git.example/a/b", Some("bitbucket"), None, "t"),
        "no forge is called `bitbucket`"
    );
    assert!(refusal("http://gitea.example/a/b", None, None, "t").contains("without TLS"));
    assert_eq!(refusal("http://gitea.example/a/b", None, Some("http://gitea.example/api/v1"), "t"), "");
    assert!(refusal("https://github.com/a/b", None, Some("api.github.com"), "t").contains("not one of http"));
    assert!(refusal("https://github.com/a/b", None, Some("https://u:p@h/"), "t").contains("not one of http"));
    assert_eq!(refusal("https://github.com/a/b", None, None, ""), "there is no token for GitHub");
}

#[test]
fn a_file_of_certificates_has_some() {
    let settings = |pem: &str| Settings {
        forge: None,
        api: None,
        token: Secret::new(TOKEN.to_owned()),
        certificates: Some(pem.as_bytes().to_vec()),
    };
    for pem in ["", "not PEM", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"] {
        assert!(Client::new("https://github.com/a/b", &settings(pem)).is_err(), "{pem}");
    }
}

#[test]
fn a_forge_in_a_folder_knows_its_repositories_without_it() {
    let path = |api: &str, path: &str| below(&Url::parse(api).unwrap(), path).to_owned();
    assert_eq!(path("https://host/gitlab/api/v4", "gitlab/group/repo"), "group/repo");
    assert_eq!(path("https://host/api/v4", "group/repo"), "group/repo");
    assert_eq!(path("https://host/git/api/v1", "git/repo"), "git/repo");
    assert_eq!(path("https://api.github.com/", "org/repo"), "org/repo");
}
