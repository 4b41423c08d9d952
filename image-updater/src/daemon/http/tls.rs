//! Certificates from files, and the newer ones once they are there.
//!
//! In: the paths of a chain and of its key, in PEM. Out: TLS with what is in the files at the time of a handshake, as
//! cert-manager renews them where they are mounted. Refused: a chain that is not the key's; while one file is newer than
//! the other, what was there before both counts.

use diagnostic::{Error, ErrorKind, Result};
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use clap::ValueEnum;
use rustls::ServerConfig;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use tokio_rustls::TlsAcceptor;

use crate::daemon::logs;
use crate::daemon::watch::Watch;

/// A chain of many certificates is shorter.
const MAX_FILE: u64 = 1 << 20;

/// The oldest TLS that is spoken.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MinVersion {
    /// TLS 1.2
    #[value(name = "1.2")]
    Tls12,
    /// TLS 1.3
    #[value(name = "1.3")]
    Tls13,
}

/// Certificates, as they are in their files.
#[derive(Debug)]
pub(crate) struct Certificates {
    acceptor: Arc<ServerConfig>,
    current: Arc<Current>,
}

/// The certificate that was last read.
#[derive(Debug)]
struct Current {
    chain: PathBuf,
    key: PathBuf,
    provider: Arc<CryptoProvider>,
    kept: Mutex<Kept>,
}

#[derive(Debug)]
struct Kept {
    certified: Arc<CertifiedKey>,
    watches: [Watch; 2],
}

impl Certificates {
    /// Reads them for the first time.
    ///
    /// # Errors
    /// If a file cannot be read, or they do not belong together.
    pub(crate) fn load(chain: &Path, key: &Path, oldest: MinVersion) -> Result<Self> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        // What is written in the meantime is noticed later.
        let watches = [Watch::new(chain), Watch::new(key)];
        let certified = Arc::new(certified(chain, key, &provider)?);
        let current = Arc::new(Current {
            chain: chain.to_owned(),
            key: key.to_owned(),
            provider: Arc::clone(&provider),
            kept: Mutex::new(Kept { certified, watches }),
        });
        let versions: &[_] = match oldest {
            MinVersion::Tls12 => &[&rustls::version::TLS13, &rustls::version::TLS12],
            MinVersion::Tls13 => &[&rustls::version::TLS13],
        };
        let config = ServerConfig::builder_with_provider(provider).with_protocol_versions(versions);
        let config = config.map_err(|error| refused("cannot speak TLS", &error))?;
        let mut config = config.with_no_client_auth().with_cert_resolver(Arc::clone(&current) as _);
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Self { acceptor: Arc::new(config), current })
    }

    /// Shakes hands, with what is in the files now.
    pub(super) fn acceptor(&self) -> TlsAcceptor {
        self.current.refresh();
        TlsAcceptor::from(Arc::clone(&self.acceptor))
    }
}

impl Current {
    /// Takes over what is in the files, if it is other than before and is of use.
    fn refresh(&self) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let [chain, key] = &mut kept.watches;
        // Both are asked, so that one change of both is one.
        if !(chain.has_changed() | key.has_changed()) {
            return;
        }
        match certified(&self.chain, &self.key, &self.provider) {
            Ok(certified) => {
                kept.certified = Arc::new(certified);
                logs::certificate(&self.chain);
            }
            Err(error) => logs::error(None, &error, "the certificate before it stays in use"),
        }
    }
}

impl ResolvesServerCert for Current {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(Arc::clone(&self.kept.lock().unwrap_or_else(PoisonError::into_inner).certified))
    }
}

fn certified(chain: &Path, key: &Path, provider: &CryptoProvider) -> Result<CertifiedKey> {
    let in_file =
        |path: &Path, error: &dyn std::fmt::Display| refused(&format!("in `{}`", path.display()), error);
    let certificates: Vec<CertificateDer<'static>> = CertificateDer::pem_slice_iter(&read(chain)?)
        .collect::<Result<_, _>>()
        .map_err(|error| in_file(chain, &error))?;
    if certificates.is_empty() {
        return Err(in_file(chain, &"it does not contain a certificate"));
    }
    // What is wrong with a key may show a part of it.
    let private = PrivateKeyDer::from_pem_slice(&read(key)?)
        .map_err(|_| in_file(key, &"it does not contain a PEM private key"))?;
    CertifiedKey::from_der(certificates, private, provider)
        .map_err(|error| in_file(chain, &error).hint(format!("its key must be in `{}`", key.display())))
}

fn read(path: &Path) -> Result<Vec<u8>> {
    let refuse = |error: &std::io::Error| Error::io("read", path, error);
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|error| refuse(&error))?;
    file.take(MAX_FILE).read_to_end(&mut bytes).map_err(|error| refuse(&error))?;
    Ok(bytes)
}

fn refused(what: &str, error: &dyn std::fmt::Display) -> Error {
    Error::new(ErrorKind::Invalid, format!("{what}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    fn pair() -> (String, String) {
        let key = rcgen::KeyPair::generate().unwrap();
        let certificate = rcgen::CertificateParams::new(["localhost".to_owned()]).unwrap().self_signed(&key);
        (certificate.unwrap().pem(), key.serialize_pem())
    }

    fn first(certificates: &Certificates) -> Vec<u8> {
        certificates.current.refresh();
        let kept = certificates.current.kept.lock().unwrap();
        kept.certified.cert[0].to_vec()
    }

    fn der(pem: &str) -> Vec<u8> {
        CertificateDer::from_pem_slice(pem.as_bytes()).unwrap().to_vec()
    }

    #[test]
    fn newer_ones_count_once_both_files_are_there() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let pairs = [pair(), pair(), pair()];
        // As a Secret is mounted: a link to a folder, and another link when it has changed.
        for (version, (chain, key)) in ["0", "1"].iter().zip(&pairs) {
            fs::create_dir(at(version)).unwrap();
            fs::write(at(version).join("tls.crt"), chain).unwrap();
            fs::write(at(version).join("tls.key"), key).unwrap();
        }
        symlink("0", at("..data")).unwrap();
        symlink("..data/tls.crt", at("tls.crt")).unwrap();
        symlink("..data/tls.key", at("tls.key")).unwrap();
        let load = || Certificates::load(&at("tls.crt"), &at("tls.key"), MinVersion::Tls13);
        let certificates = load().unwrap();
        assert_eq!(first(&certificates), der(&pairs[0].0));
        symlink("1", at("next")).unwrap();
        fs::rename(at("next"), at("..data")).unwrap();
        assert_eq!(first(&certificates), der(&pairs[1].0));
        // One file after the other.
        fs::write(at("1/tls.crt"), &pairs[2].0).unwrap();
        assert_eq!(first(&certificates), der(&pairs[1].0));
        let error = load().unwrap_err();
        assert!(error.message().contains("tls.crt") && error.get_hint().is_some(), "{error}");
        fs::write(at("1/tls.key"), &pairs[2].1).unwrap();
        assert_eq!(first(&certificates), der(&pairs[2].0));
        fs::write(at("1/tls.key"), "-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n").unwrap();
        assert_eq!(first(&certificates), der(&pairs[2].0));
        let error = load().unwrap_err();
        assert!(error.message().ends_with("it does not contain a PEM private key"), "{error}");
        fs::remove_file(at("tls.crt")).unwrap();
        assert!(load().is_err());
        assert_eq!(first(&certificates), der(&pairs[2].0));
    }
}
