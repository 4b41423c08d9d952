//! Accounts out of a vault in memory. No error has what is in a Secret, which is always `hunter2`.

use std::collections::BTreeMap;

use super::*;
use crate::cluster::Kept;
use crate::dialect;

const URL: &str = "https://git.test/platform/deploy.git";
/// The data of a Secret.
type Data<'d> = &'d [(&'d str, &'d str)];

/// The data of a Secret, the repository, and the expected credentials.
type Row<'r> = (Data<'r>, &'r str, Result<&'r str, &'r str>);

const LABEL: &str = "argocd.argoproj.io/secret-type";

#[derive(Debug, Default)]
struct Memory {
    /// Secrets with what they are labelled as.
    secrets: Vec<(&'static str, Kept)>,
    maps: Vec<Kept>,
}

fn kept(name: &str, data: &[(&str, &str)]) -> Kept {
    let id = Named { namespace: "argocd".to_owned(), name: name.to_owned() };
    let data = data.iter().map(|(key, value)| ((*key).to_owned(), Secret::new(value.as_bytes().to_vec())));
    Kept { id, data: data.collect::<BTreeMap<_, _>>() }
}

impl Memory {
    fn with(secrets: &[(&'static str, &str, Data<'_>)]) -> Self {
        let secrets = secrets.iter().map(|(label, name, data)| (*label, kept(name, data)));
        Self { secrets: secrets.collect(), ..Self::default() }
    }
}

impl Vault for Memory {
    fn secret(&self, id: &Named) -> Result<Option<Kept>> {
        Ok(self.secrets.iter().map(|(_, kept)| kept).find(|kept| kept.id == *id).cloned())
    }

    fn config_map(&self, id: &Named) -> Result<Option<Kept>> {
        Ok(self.maps.iter().find(|kept| kept.id == *id).cloned())
    }

    fn labelled(&self, namespace: &str, label: &str, value: &str) -> Result<Vec<Kept>> {
        assert_eq!((namespace, label), ("argocd", LABEL));
        let labelled = self.secrets.iter().filter(|(known, _)| *known == value);
        Ok(labelled.map(|(_, kept)| kept.clone()).collect())
    }

    fn pull_secrets(&self, _: &Named) -> Result<Option<Vec<String>>> {
        Ok(None)
    }
}

/// Returns what is shown, in short.
fn told(login: &Login) -> String {
    match &login.shown {
        Shown::Nothing => "nothing".to_owned(),
        Shown::Account(Account { user, password }) => format!("{user}:{}", password.expose()),
        Shown::Bearer(token) => format!("bearer {}", token.expose()),
        Shown::Key { key, passphrase } => {
            let passphrase =
                passphrase.as_ref().map(|text| format!(" {}", text.expose())).unwrap_or_default();
            format!("key {}{passphrase}", key.expose())
        }
        Shown::App(AppKey { id, installation, key, api }) => {
            format!("app {id} {installation} {} {}", key.expose(), api.as_deref().unwrap_or("-"))
        }
    }
}

#[track_caller]
fn check(vault: &Memory, account: &GitAccount, url: &str, expected: Result<&str, &str>) {
    let result = login(vault, account, url);
    match (&result, expected) {
        (Ok(login), Ok(expected)) => assert_eq!(told(login), expected),
        (Err(error), Err(expected)) => {
            let text = format!("{error} {}", error.get_hint().unwrap_or_default());
            assert!(text.contains(expected), "{text}");
            assert!(!text.contains("hunter2"), "{text}");
        }
        _ => panic!("{result:?} and not {expected:?}"),
    }
    assert!(!format!("{result:?}").contains("hunter2"), "{result:?}");
}

fn argocd(project: &str) -> GitAccount {
    GitAccount::ArgoCd { namespace: "argocd".to_owned(), project: project.to_owned() }
}

fn named(name: &str) -> Named {
    Named { namespace: "argocd".to_owned(), name: name.to_owned() }
}

#[test]
fn a_repository_counts_before_the_longest_beginning() {
    let host: &[_] = &[("url", "https://git.test"), ("username", "host"), ("password", "1")];
    let folder: &[_] = &[("url", "https://git.test/platform"), ("username", "folder"), ("password", "2")];
    let other: &[_] = &[("url", "https://git.test/other"), ("username", "other"), ("password", "3")];
    let exact: &[_] =
        &[("url", "https://GIT.test/platform/deploy"), ("username", "exact"), ("password", "4")];
    let bare: &[_] = &[("url", URL)];
    let of_shop: &[_] = &[("url", URL), ("project", "shop"), ("username", "shop"), ("password", "5")];
    let creds = [("repo-creds", "a", host), ("repo-creds", "b", folder), ("repo-creds", "c", other)];
    for (more, project, expected) in [
        (vec![], "shop", Ok("folder:2")),
        (vec![("repository", "d", exact)], "shop", Ok("exact:4")),
        (vec![("repository", "d", bare)], "shop", Ok("folder:2")),
        (vec![("repository", "d", exact), ("repository", "e", of_shop)], "shop", Ok("shop:5")),
        (vec![("repository", "e", of_shop), ("repository", "d", exact)], "blog", Ok("exact:4")),
        // That of another project is none of ours.
        (vec![("repository", "e", of_shop)], "blog", Ok("folder:2")),
    ] {
        let vault = Memory::with(&[&creds[..], &more[..]].concat());
        check(&vault, &argocd(project), URL, expected);
    }
    let vault = Memory::with(&[("repository", "d", bare)]);
    check(&vault, &argocd("shop"), URL, Err("no Secret of Argo CD in the namespace `argocd`"));
    let vault = Memory::with(&[("repo-creds", "a", host), ("repo-creds", "b", host)]);
    check(&vault, &argocd("shop"), "https://git.test.evil.test/x", Err("no Secret of Argo CD"));
}

#[test]
fn each_form_of_argo_cd_is_shown() {
    let app: &[_] =
        &[("githubAppID", "12"), ("githubAppInstallationID", "34"), ("githubAppPrivateKey", "hunter2")];
    let enterprise = [app, &[("githubAppEnterpriseBaseUrl", "https://git.test/api/v3")]].concat();
    let ssh = "git@git.test:platform/deploy.git";
    let rows: [Row<'_>; 14] = [
        (&[("username", "me"), ("password", "hunter2")], URL, Ok("me:hunter2")),
        (&[("password", "hunter2")], URL, Ok("x-access-token:hunter2")),
        (&[("bearerToken", "hunter2")], URL, Ok("bearer hunter2")),
        (app, URL, Ok("app 12 34 hunter2 -")),
        (&enterprise, URL, Ok("app 12 34 hunter2 https://git.test/api/v3")),
        (&[("sshPrivateKey", "hunter2")], ssh, Ok("key hunter2")),
        (&[("sshPrivateKey", "hunter2")], URL, Err("`argocd/s` has no credentials for https")),
        (&[("username", "me"), ("password", "hunter2")], ssh, Err("`sshPrivateKey` is missing")),
        (&[("username", "me")], URL, Err("`password` is missing")),
        (&app[..2], URL, Err("`githubAppPrivateKey` is missing")),
        (&[("githubAppID", "hunter2"), app[1], app[2]], URL, Err("`githubAppID` is not a number")),
        (&[("gcpServiceAccountKey", "hunter2")], URL, Err("`gcpServiceAccountKey` is of a kind")),
        (&[("password", "hunter2"), ("insecure", "hunter2")], URL, Err("`insecure` is neither")),
        (
            &[("password", "hunter2"), ("tlsClientCertData", "hunter2")],
            URL,
            Err("`tlsClientCertKey` is missing"),
        ),
    ];
    for (data, url, expected) in rows {
        let vault = Memory::with(&[("", "s", data)]);
        let account = GitAccount::Secret { secret: named("s"), argocd: "argocd".to_owned() };
        check(&vault, &account, url, expected);
    }
    let account = GitAccount::Secret { secret: named("gone"), argocd: "argocd".to_owned() };
    check(
        &Memory::default(),
        &account,
        URL,
        Err("the Secret `argocd/gone` with the credentials of the git server does not exist"),
    );
    check(&Memory::with(&[("", "gone", &[])]), &account, "/srv/git", Err("neither an address of https"));
}

#[test]
fn servers_are_trusted_as_argo_cd_trusts_them() {
    let password = ("password", "hunter2");
    let ssh = "ssh://git@git.test:2222/platform/deploy.git";
    let mut vault = Memory::with(&[
        (
            "repository",
            "a",
            &[("url", URL), password, ("proxy", "http://me:hunter2@proxy.test"), ("noProxy", "a.test")],
        ),
        ("repository", "b", &[("url", ssh), ("sshPrivateKey", "hunter2")]),
        ("repository", "c", &[("url", "https://lax.test/x"), password, ("insecure", "true")]),
        ("repo-creds", "d", &[("url", "https://other.test"), password, ("insecure", "true")]),
        (
            "repository",
            "e",
            &[("url", "git@git.test:proxied"), ("sshPrivateKey", "x"), ("proxy", "http://hunter2")],
        ),
    ]);
    vault.maps.push(kept("argocd-tls-certs-cm", &[("git.test", "PEM"), ("lax.test", "PEM")]));
    vault.maps.push(kept("argocd-ssh-known-hosts-cm", &[("ssh_known_hosts", "git.test ssh-ed25519 AAAA")]));
    let of = |url: &str| login(&vault, &argocd(""), url).unwrap();
    let https = of(URL);
    assert_eq!(https.authorities.as_deref(), Some(&b"PEM"[..]));
    assert_eq!(https.proxy.and_then(|proxy| proxy.except).as_deref(), Some("a.test"));
    assert_eq!((https.known_hosts, https.is_insecure), (None, false));
    assert_eq!(of(ssh).known_hosts.as_deref(), Some("git.test ssh-ed25519 AAAA"));
    let lax = of("https://lax.test/x.git");
    assert_eq!((lax.authorities, lax.is_insecure), (None, true));
    // What is for many repositories lifts no check.
    assert!(!of("https://other.test/x").is_insecure);
    check(&vault, &argocd(""), "git@git.test:proxied", Err("does not use a proxy"));
}

#[test]
fn each_form_of_flux_is_shown() {
    let app: &[_] =
        &[("githubAppID", "12"), ("githubAppInstallationID", "34"), ("githubAppPrivateKey", "hunter2")];
    let owner: &[_] = &[("githubAppID", "12"), ("githubAppInstallationOwner", "hunter2")];
    let ssh = "ssh://git@git.test/platform/deploy.git";
    let key: &[_] = &[("identity", "hunter2"), ("known_hosts", "git.test x"), ("password", "open")];
    let rows: [(bool, Row<'_>); 10] = [
        (false, (&[("username", "me"), ("password", "hunter2")], URL, Ok("me:hunter2"))),
        (false, (&[("bearerToken", "hunter2"), ("username", "me")], URL, Ok("bearer hunter2"))),
        (false, (&[("ca.crt", "PEM")], URL, Ok("nothing"))),
        (false, (&[("password", "hunter2")], URL, Err("`username` is missing"))),
        (true, (app, URL, Ok("app 12 34 hunter2 -"))),
        (false, (app, URL, Err("`provider: github`"))),
        (true, (owner, URL, Err("`githubAppInstallationOwner` is not looked up"))),
        (false, (key, ssh, Ok("key hunter2 open"))),
        (false, (&key[..1], ssh, Err("`known_hosts` is missing"))),
        (false, (&key[1..], ssh, Err("`identity` is missing"))),
    ];
    for (is_app, (data, url, expected)) in rows {
        let vault = Memory::with(&[("", "s", data)]);
        check(&vault, &GitAccount::Flux { secret: Some(named("s")), proxy: None, is_app }, url, expected);
    }
    let data: &[_] = &[("caFile", "old"), ("ca.crt", "new"), ("tls.crt", "C"), ("tls.key", "hunter2")];
    let proxy: &[_] = &[("address", "http://proxy.test:3128"), ("username", "me"), ("password", "hunter2")];
    let vault = Memory::with(&[("", "s", data), ("", "p", proxy)]);
    let account = GitAccount::Flux { secret: Some(named("s")), proxy: Some(named("p")), is_app: false };
    let found = login(&vault, &account, URL).unwrap();
    assert_eq!(found.authorities.as_deref(), Some(&b"new"[..]));
    assert!(found.certificate.is_some());
    let Some(gitremote::Secret::Value(url)) = found.proxy.map(|proxy| proxy.url) else { panic!("no proxy") };
    assert_eq!(url, "http://me:hunter2@proxy.test:3128/");
    let vault = Memory::with(&[("", "s", data), ("", "p", &[("address", "hunter2")])]);
    check(&vault, &account, URL, Err("`address` is not a proxy URL"));
}

#[test]
fn a_method_says_which_account_it_is() {
    let account = |method: &str| {
        let annotations = format!(
            "argocd-image-updater.argoproj.io/image-list: r.test/shop\n    \
             argocd-image-updater.argoproj.io/write-back-method: {method}"
        );
        let text = format!(
            "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata:\n  name: web\n  namespace: apps\n  \
             annotations:\n    {annotations}\nspec:\n  project: shop\n  source: {{repoURL: '{URL}', path: a, helm: {{}}}}\n"
        );
        let found = dialect::read_live(&[("Application/apps/web".to_owned(), text)], "argocd");
        match found.batches.into_iter().next() {
            Some(batch) => Ok(batch.delivery.account),
            None => Err(found.faults[0].message().to_owned()),
        }
    };
    let secret = Named { namespace: "apps".to_owned(), name: "creds".to_owned() };
    for method in ["git:secret:creds", "git:secret:apps/creds"] {
        let expected = GitAccount::Secret { secret: secret.clone(), argocd: "argocd".to_owned() };
        assert_eq!(account(method), Ok(Some(expected)), "{method}");
    }
    for method in ["git", "git:repocreds"] {
        assert_eq!(account(method), Ok(Some(argocd("shop"))), "{method}");
    }
    assert_eq!(account("argocd"), Ok(None));
    assert!(account("git:secret:argocd/creds").unwrap_err().contains("the Secret is in `argocd`"));
}
