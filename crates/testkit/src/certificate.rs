//! Certificates for servers on loopback, and for who asks them, by an authority that nobody else knows.

use std::fmt;
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::PrivatePkcs8KeyDer;

/// An authority.
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pem: String,
}

/// A certificate with its key.
pub struct Certified {
    certificate: rcgen::Certificate,
    key: KeyPair,
}

impl Authority {
    /// A new one.
    ///
    /// # Panics
    /// If no key can be made.
    #[must_use]
    pub fn new() -> Self {
        let key = KeyPair::generate().expect("a key can be made");
        let mut parameters = CertificateParams::new(Vec::new()).expect("they are valid");
        parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let pem = parameters.self_signed(&key).expect("it can be signed").pem();
        Self { issuer: Issuer::new(parameters, key), pem }
    }

    /// Its own certificate in PEM.
    #[must_use]
    pub fn pem(&self) -> &str {
        &self.pem
    }

    /// A certificate for a name.
    ///
    /// # Panics
    /// If no key can be made.
    #[must_use]
    pub fn certify(&self, name: &str) -> Certified {
        let key = KeyPair::generate().expect("a key can be made");
        let parameters = CertificateParams::new(vec![name.to_owned()]).expect("they are valid");
        let certificate = parameters.signed_by(&key, &self.issuer).expect("it can be signed");
        Certified { certificate, key }
    }
}

impl Default for Authority {
    fn default() -> Self {
        Self::new()
    }
}

impl Certified {
    /// The certificate in PEM.
    #[must_use]
    pub fn pem(&self) -> String {
        self.certificate.pem()
    }

    /// The key in PEM.
    #[must_use]
    pub fn key_pem(&self) -> String {
        self.key.serialize_pem()
    }

    /// Returns how a server speaks that proves itself by it.
    pub(crate) fn server_config(&self) -> Arc<ServerConfig> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("ring has them")
            .with_no_client_auth()
            .with_single_cert(
                vec![self.certificate.der().clone()],
                PrivatePkcs8KeyDer::from(self.key.serialize_der()).into(),
            );
        Arc::new(config.expect("key and certificate fit"))
    }
}

impl fmt::Debug for Authority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Authority")
    }
}
