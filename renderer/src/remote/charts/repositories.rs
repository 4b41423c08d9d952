//! `repositories.yaml`: the repositories that Helm was told of.
//!
//! In: the file. Out: its entries, and the file again with a change, replaced whole under the lock that Helm takes too.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use diagnostic::{Error, ErrorKind, Result};
use oci_registry::Secret;
use tempfile::NamedTempFile;
use yamltree::{
    Dialect, DuplicateKeys, Entry, Expansion, Node, ParseOptions, Resolved, SourceId, to_sigs_yaml,
};

use super::access::{Access, Account, Tls};
use crate::output;

/// A list of repositories that a person keeps is not larger.
const MAX_FILE: u64 = 16 << 20;

/// As long as Helm waits for others to be done with the file.
const PATIENCE: Duration = Duration::from_secs(30);

/// Maximum number of times the lock is asked for.
const TICK: Duration = Duration::from_millis(25);

/// A repository.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Repository {
    pub(crate) name: String,
    pub(crate) url: String,
    pub(crate) username: String,
    pub(crate) password: Option<Secret<String>>,
    pub(crate) tls: Tls,
    pub(crate) pass_credentials: bool,
}

/// The file's content.
#[derive(Clone, Debug, Default)]
pub(crate) struct Repositories {
    /// The `apiVersion` of the file.
    api_version: String,
    generated: Option<String>,
    pub(crate) list: Vec<Repository>,
}

impl Repository {
    /// By what it is asked.
    pub(crate) fn access(&self) -> Access {
        let password = self.password.as_ref().map(|password| password.expose().as_str()).unwrap_or_default();
        Access {
            account: Account::new(&self.username, password),
            pass_credentials: self.pass_credentials,
            tls: self.tls.clone(),
            plain_http: false,
        }
    }

    fn read(node: &Node) -> Self {
        let text = |key: &str| text(node, key);
        let path = |key: &str| Some(text(key)).filter(|path| !path.is_empty()).map(Into::into);
        let is_on = |key: &str| {
            node.get(key).is_some_and(|node| matches!(node.resolved(Dialect::V2), Ok(Resolved::Bool(true))))
        };
        Self {
            name: text("name"),
            url: text("url"),
            username: text("username"),
            password: Some(text("password")).filter(|password| !password.is_empty()).map(Secret::new),
            tls: Tls {
                authorities: path("caFile"),
                certificate: path("certFile"),
                key: path("keyFile"),
                is_unchecked: is_on("insecure_skip_tls_verify"),
            },
            pass_credentials: is_on("pass_credentials_all"),
        }
    }

    fn node(&self) -> Node {
        let path = |path: &Option<std::path::PathBuf>| {
            path.as_ref().map(|path| path.display().to_string()).unwrap_or_default()
        };
        let password = self.password.as_ref().map(|password| password.expose().as_str()).unwrap_or_default();
        let field = |key, value: &str| Entry::new(key, Node::string(value));
        let switch = |key, on: bool| Entry::new(key, Node::plain(if on { "true" } else { "false" }));
        Node::mapping(vec![
            field("caFile", &path(&self.tls.authorities)),
            field("certFile", &path(&self.tls.certificate)),
            switch("insecure_skip_tls_verify", self.tls.is_unchecked),
            field("keyFile", &path(&self.tls.key)),
            field("name", &self.name),
            switch("pass_credentials_all", self.pass_credentials),
            field("password", password),
            field("url", &self.url),
            field("username", &self.username),
        ])
    }
}

impl Repositories {
    /// Reads the file; nothing where there is none.
    ///
    /// # Errors
    /// A file that cannot be read, or is none of Helm's.
    pub(crate) fn load(path: &Path) -> Result<Option<Self>> {
        let bytes = match fs::metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Ok(metadata) if metadata.len() > MAX_FILE => {
                let sentence = format!("`{}` is too large for a list of repositories", path.display());
                return Err(Error::new(ErrorKind::Invalid, sentence));
            }
            _ => fs::read(path).map_err(|error| {
                let sentence = format!("couldn't load repositories file ({}): {error}", path.display());
                Error::new(ErrorKind::Invalid, sentence)
            })?,
        };
        let refused = |error: yamltree::Error| {
            let sentence =
                format!("couldn't load repositories file ({}): {}", path.display(), error.go_text());
            Error::new(ErrorKind::Invalid, sentence)
        };
        Self::parse(&bytes).map(Some).map_err(refused)
    }

    /// The repository with a name.
    pub(crate) fn get(&self, name: &str) -> Option<&Repository> {
        self.list.iter().find(|repository| repository.name == name)
    }

    /// Puts a repository in the place of the one with its name, or at the end.
    pub(crate) fn put(&mut self, repository: Repository) {
        match self.list.iter_mut().find(|known| known.name == repository.name) {
            Some(known) => *known = repository,
            None => self.list.push(repository),
        }
    }

    /// Replaces the file.
    ///
    /// # Errors
    /// If writing fails.
    pub(crate) fn store(&self, path: &Path) -> Result<()> {
        let text = self.text();
        if fs::symlink_metadata(path).is_ok() {
            return output::replace(path, text.as_bytes());
        }
        // It holds passwords: what is made here is for its owner's eyes only.
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let written = NamedTempFile::new_in(folder).and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            file.persist(path).map_err(|error| error.error)
        });
        written.map(drop).map_err(|error| Error::disk("write", path, &error))
    }

    fn parse(bytes: &[u8]) -> std::result::Result<Self, yamltree::Error> {
        let source = SourceId::MAX;
        let content = yamltree::decode(bytes, source)?;
        let options = ParseOptions {
            dialect: Dialect::V2,
            duplicate_keys: DuplicateKeys::KeepLast,
            ..ParseOptions::default()
        };
        let document = yamltree::parse_first(&content, source, &options)?;
        let mut root = document.map_or_else(Node::null, |document| document.root);
        root.expand_aliases(Expansion::Decoded(Dialect::V2))?;
        let list = root.get("repositories").and_then(Node::items).map(Vec::as_slice).unwrap_or_default();
        Ok(Self {
            api_version: text(&root, "apiVersion"),
            generated: root.get("generated").and_then(Node::text).map(str::to_owned),
            list: list.iter().filter(|node| node.is_mapping()).map(Repository::read).collect(),
        })
    }

    fn text(&self) -> String {
        let generated = self.generated.as_deref().unwrap_or("0001-01-01T00:00:00Z");
        let root = Node::mapping(vec![
            Entry::new("apiVersion", Node::string(&self.api_version)),
            Entry::new("generated", Node::string(generated)),
            Entry::new("repositories", Node::sequence(self.list.iter().map(Repository::node).collect())),
        ]);
        let mut text = String::new();
        to_sigs_yaml(&root, &mut text).expect("strings have a form in YAML");
        text
    }
}

/// Takes the lock that guards the file, with the folder that it is in. It is held until what comes back is dropped.
///
/// # Errors
/// A folder that cannot be made, and a lock that others hold on to.
pub(crate) fn lock(path: &Path) -> Result<File> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    if let Some(folder) = folder {
        let made = DirBuilder::new().recursive(true).mode(0o755).create(folder);
        made.map_err(|error| Error::disk("make", folder, &error))?;
    }
    let beside = path.with_extension("lock");
    let opened = OpenOptions::new().append(true).create(true).mode(0o600).open(&beside);
    let file = opened.map_err(|error| Error::io("open", &beside, &error))?;
    let started = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if started.elapsed() < PATIENCE => thread::sleep(TICK),
            Err(error) => {
                let sentence = format!("cannot lock `{}`: {error}", beside.display());
                return Err(Error::new(ErrorKind::Environment, sentence));
            }
        }
    }
}

/// A field that is a string.
fn text(node: &Node, key: &str) -> String {
    let scalar = node.get(key).filter(|node| !matches!(node.resolved(Dialect::V2), Ok(Resolved::Null)));
    scalar.and_then(Node::text).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The file of `helm repo add` 4.3.1 after two repositories.
    const OF_HELM: &str = "\
apiVersion: \"\"
generated: \"0001-01-01T00:00:00Z\"
repositories:
- caFile: \"\"
  certFile: \"\"
  insecure_skip_tls_verify: false
  keyFile: \"\"
  name: one
  pass_credentials_all: false
  password: \"\"
  url: http://127.0.0.1:18801/
  username: \"\"
- caFile: \"\"
  certFile: \"\"
  insecure_skip_tls_verify: false
  keyFile: \"\"
  name: two
  pass_credentials_all: false
  password: pw
  url: http://127.0.0.1:18802
  username: me
";

    #[test]
    fn the_file_is_helms() {
        let mut repositories = Repositories::default();
        let url = "http://127.0.0.1:18801/".to_owned();
        repositories.put(Repository { name: "one".to_owned(), url, ..Repository::default() });
        repositories.put(Repository { name: "two".to_owned(), ..Repository::default() });
        repositories.put(Repository {
            name: "two".to_owned(),
            url: "http://127.0.0.1:18802".to_owned(),
            username: "me".to_owned(),
            password: Some(Secret::new("pw".to_owned())),
            ..Repository::default()
        });
        assert_eq!(repositories.text(), OF_HELM);
        let again = Repositories::parse(OF_HELM.as_bytes()).expect("it is YAML");
        assert_eq!(again.list, repositories.list);
        assert_eq!(again.text(), OF_HELM);
        assert!(!format!("{again:?}").contains("pw"));
    }

    #[test]
    fn what_another_generation_wrote_stays() {
        let text = OF_HELM.replace("apiVersion: \"\"", "apiVersion: v1").replace("0001-", "2024-");
        assert_eq!(Repositories::parse(text.as_bytes()).expect("it is YAML").text(), text);
    }
}
