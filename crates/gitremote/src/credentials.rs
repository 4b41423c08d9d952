//! Selects git credentials: given ones, those of the URL, of `.netrc`, of git's helpers. Never prompts at a terminal,
//! and never sends the credentials of one server to another.

use std::fs;
use std::path::{Path, PathBuf};

use gix::credentials::helper::{Action, Cascade, NextAction};
use gix::credentials::protocol::{Context, Outcome};
use gix::sec::identity::Account;

use crate::access::Credentials;

/// A `.netrc` has a line for each host that somebody logs in to.
const MAX_NETRC: u64 = 1 << 20;

/// Finds credentials for one exchange with a server.
pub(crate) struct Answers<'r> {
    given: &'r Credentials,
    /// The address that they are given for.
    url: &'r gix::Url,
    repository: &'r gix::Repository,
    /// Those that were asked, to hear whether what they gave was of use.
    asked: Option<(Cascade, gix::prompt::Options)>,
}

impl<'r> Answers<'r> {
    /// With the helpers that the configuration of a repository's user names.
    pub(crate) fn new(given: &'r Credentials, url: &'r gix::Url, repository: &'r gix::Repository) -> Self {
        Self { given, url, repository, asked: None }
    }

    /// Does what gix asks for: to get credentials, or to hear whether they were of use.
    pub(crate) fn answer(&mut self, action: Action) -> gix::Result<Option<Outcome>> {
        if let Action::Get(context) = &action {
            // After a redirect it is another address than the first.
            let url = gix::url::parse(context.url.clone().unwrap_or_default())?;
            let account = match self.given {
                Credentials::Configured => netrc_path().and_then(|path| of_netrc(&path, url.host()?)),
                // It has been shown, and was not enough.
                Credentials::Bearer(_) => return Ok(None),
                Credentials::Account { .. } if !is_same_server(&url, self.url) => return Ok(None),
                Credentials::Account { username, password } => {
                    let password = password.read().map_err(gix::Error::from_error)?;
                    Some(Account { username: username.clone(), password, oauth_refresh_token: None })
                }
            };
            if let Some(identity) = account {
                return Ok(Some(Outcome { identity, next: NextAction::from(Context::default()) }));
            }
            let (helpers, _, mut prompt) = self.repository.config_snapshot().credential_helpers(url)?;
            // `GIT_ASKPASS` is still asked.
            prompt.mode = gix::prompt::Mode::Disable;
            self.asked = Some((helpers, prompt));
        }
        match &mut self.asked {
            Some((helpers, prompt)) => helpers.invoke(action, prompt.clone()),
            None => Ok(None),
        }
    }
}

fn is_same_server(one: &gix::Url, other: &gix::Url) -> bool {
    one.scheme == other.scheme
        && one.host() == other.host()
        && one.port_or_default() == other.port_or_default()
}

/// Returns where curl looks, and with it git.
fn netrc_path() -> Option<PathBuf> {
    std::env::home_dir().map(|home| home.join(".netrc"))
}

fn of_netrc(path: &Path, host: &str) -> Option<Account> {
    let is_small = fs::metadata(path).is_ok_and(|metadata| metadata.is_file() && metadata.len() <= MAX_NETRC);
    let text = if is_small { fs::read_to_string(path).ok()? } else { return None };
    find(&text, host)
}

/// The first entry for a host, or the one for all.
fn find(text: &str, host: &str) -> Option<Account> {
    let mut words = Words(text);
    let mut applies = false;
    let (mut login, mut password) = (None, None);
    while let Some(word) = words.next() {
        match word.as_str() {
            "machine" | "default" => {
                if applies && password.is_some() {
                    break;
                }
                applies =
                    word == "default" || words.next().is_some_and(|name| name.eq_ignore_ascii_case(host));
                (login, password) = (None, None);
            }
            "login" => login = words.next(),
            "password" => password = words.next(),
            "account" => drop(words.next()),
            "macdef" => words.skip_macro(),
            _ => {}
        }
    }
    let account =
        |password| Account { username: login.unwrap_or_default(), password, oauth_refresh_token: None };
    password.filter(|_| applies).map(account)
}

/// The words of a `.netrc`, which may stand in quotes.
struct Words<'t>(&'t str);

impl Iterator for Words<'_> {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        self.0 = self.0.trim_start();
        while self.0.starts_with('#') {
            self.0 = self.0.split_once('\n').map_or("", |(_, rest)| rest).trim_start();
        }
        if let Some(quoted) = self.0.strip_prefix('"') {
            return Some(self.quoted(quoted));
        }
        let end = self.0.find(char::is_whitespace).unwrap_or(self.0.len());
        let (word, rest) = self.0.split_at(end);
        self.0 = rest;
        (!word.is_empty()).then(|| word.to_owned())
    }
}

impl<'t> Words<'t> {
    fn quoted(&mut self, text: &'t str) -> String {
        let mut word = String::new();
        let mut characters = text.chars();
        while let Some(character) = characters.next() {
            match character {
                '"' => break,
                '\\' => word.extend(characters.next()),
                other => word.push(other),
            }
        }
        self.0 = characters.as_str();
        word
    }

    /// A macro ends with an empty line.
    fn skip_macro(&mut self) {
        self.0 = self.0.split_once("\n\n").map_or("", |(_, rest)| rest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, host: &str) -> Option<(String, String)> {
        find(text, host).map(|account| (account.username, account.password))
    }

    #[test]
    fn what_is_given_for_a_server_is_for_no_other() {
        let url = |text: &str| gix::url::parse(text).unwrap();
        let ours = url("https://h.example/org/repo");
        assert!(is_same_server(&url("https://h.example:443/elsewhere"), &ours));
        for other in ["https://h.example:8443/org/repo", "http://h.example/org/repo", "https://g.example/"] {
            assert!(!is_same_server(&url(other), &ours), "{other}");
        }
    }

    #[test]
    fn netrc_is_read_as_curl_reads_it() {
        let text = "# mine\nmachine a.example\n\tlogin me\n\tpassword one\nmacdef init\nlogin x\n\n\
            machine b.example password \"two \\\"words\\\"\" login you\n\
            machine c.example login nobody\ndefault login any password last\n";
        let some = |login: &str, password: &str| Some((login.to_owned(), password.to_owned()));
        assert_eq!(found(text, "a.example"), some("me", "one"));
        assert_eq!(found(text, "B.example"), some("you", "two \"words\""));
        assert_eq!(found(text, "c.example"), some("any", "last"));
        assert_eq!(found(text, "d.example"), some("any", "last"));
        assert_eq!(found("machine a.example login me", "a.example"), None);
        assert_eq!(found("machine", "a"), None);
        assert_eq!(found("machine a password \"open", "a"), some("", "open"));
    }
}
