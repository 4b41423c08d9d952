//! A real registry: `docker-registry`, plain and with TLS, with and without an account.

use std::sync::Arc;
use std::time::Duration;

use diagnostic::ErrorKind;
use oci_registry::{
    Client, ClientCertificate, Content, Credential, CredentialSource, DockerConfig, Options, PullSecretKind,
    Reference, RegistrySettings, Repository, Retry, Secret, Wanted,
};
use testkit::{DockerRegistry, RegistryHabits};

const CHART: &str = "application/vnd.cncf.helm.chart.content.v1.tar+gzip";

fn client(settings: RegistrySettings, source: Option<Arc<dyn CredentialSource>>) -> Client {
    let retry = Retry { pause: Duration::from_millis(1), ..Retry::default() };
    Client::new(Options { registries: vec![settings], credentials: source, retry, ..Options::default() })
}

fn plain(registry: &DockerRegistry) -> RegistrySettings {
    RegistrySettings { plain_http: true, ..RegistrySettings::for_host(&registry.host()) }
}

fn account() -> Option<Arc<dyn CredentialSource>> {
    let (user, password) = DockerRegistry::ACCOUNT;
    Some(Arc::new(Credential::basic(user, password)))
}

fn image(registry: &DockerRegistry, name: &str) -> Reference {
    format!("{}/{name}", registry.host()).parse().expect("it is well-formed")
}

#[test]
fn tags_digests_dates_and_platforms_of_a_real_registry() {
    let registry = DockerRegistry::start(RegistryHabits::default());
    let old = registry.push_image("team/app", "1.0.0", "linux/amd64", "2024-01-01T00:00:00Z");
    let young = registry.push_image("team/app", "1.1.0", "linux/arm64", "2024-02-01T00:00:00Z");
    let index = registry.push_index("team/app", "1.2.0", &[("linux/amd64", &old), ("linux/arm64", &young)]);
    let client = client(plain(&registry), None);
    let repository: Repository = format!("{}/team/app", registry.host()).parse().unwrap();
    let list = client.tags(&repository).unwrap();
    let mut tags: Vec<&str> = list.tags().collect();
    tags.sort_unstable();
    assert_eq!(tags, ["1.0.0", "1.1.0", "1.2.0"]);
    let of_index = image(&registry, "team/app:1.2.0");
    assert_eq!(client.digest(&of_index).unwrap().as_str(), index.digest);
    assert_eq!(client.digest(&image(&registry, "team/app:1.0.0")).unwrap().as_str(), old.digest);
    let wanted = Wanted { created: true, labels: true, ..Wanted::default() };
    let known = client.image(&of_index, &wanted).unwrap();
    assert_eq!(known.created.unwrap().to_string(), "2024-02-01T00:00:00Z");
    assert_eq!(known.labels["org.opencontainers.image.version"], "1.0.0");
    assert_eq!(known.platforms.len(), 2);
    let by_digest = image(&registry, &format!("team/app@{}", old.digest));
    assert_eq!(
        client.image(&by_digest, &wanted).unwrap().created.unwrap().to_string(),
        "2024-01-01T00:00:00Z"
    );
}

#[test]
fn what_is_missing_is_named() {
    let registry = DockerRegistry::start(RegistryHabits::default());
    registry.push_image("team/app", "1.0.0", "linux/amd64", "2024-01-01T00:00:00Z");
    let client = client(plain(&registry), None);
    let host = registry.host();
    let error = client.tags(&format!("{host}/team/nope").parse().unwrap()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NameUnknown);
    let want = format!(
        "`{host}/team/nope` not found: no such repository at `{host}` (it says: repository name not known to registry)"
    );
    assert_eq!(error.message(), want);
    // Of a manifest this registry says the same where it has no such repository.
    for reference in ["team/app:9.9.9", "team/nope:1"] {
        let error = client.digest(&image(&registry, reference)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ManifestUnknown);
        assert!(error.message().contains("(it says: manifest unknown)"), "{error}");
    }
    let error = client.manifest(&image(&registry, "team/app:9.9.9")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ManifestUnknown);
    assert!(error.message().starts_with(&format!("`{host}/team/app:9.9.9` not found")), "{error}");
}

#[test]
fn an_account_is_needed_and_taken_from_where_docker_has_it() {
    let registry = DockerRegistry::start(RegistryHabits { account: true, ..RegistryHabits::default() });
    registry.push_image("team/app", "1.0.0", "linux/amd64", "2024-01-01T00:00:00Z");
    let repository: Repository = format!("{}/team/app", registry.host()).parse().unwrap();
    let config =
        DockerConfig::pull_secret("test", PullSecretKind::ConfigJson, registry.docker_config().into_bytes());
    let client_of = |source| client(plain(&registry), source);
    assert_eq!(client_of(Some(Arc::new(config))).tags(&repository).unwrap().tags().count(), 1);
    client_of(account()).check(&registry.host()).unwrap();
    let wrong: Arc<dyn CredentialSource> = Arc::new(Credential::basic("ci", "wr0ng"));
    for source in [None, Some(wrong)] {
        let error = client_of(source.clone()).check(&registry.host()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unauthorized);
        let error = client_of(source).tags(&repository).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unauthorized);
        assert!(!format!("{error:?}").contains("wr0ng"));
        assert!(error.get_hint().unwrap().contains(&registry.host()), "{error:?}");
    }
}

#[test]
fn tls_is_checked_unless_told_otherwise() {
    let registry =
        DockerRegistry::start(RegistryHabits { tls: true, account: true, ..RegistryHabits::default() });
    registry.push(
        "charts/web",
        "1.0.0",
        ("application/vnd.cncf.helm.config.v1+json", b"{}"),
        &[(CHART, b"chart")],
    );
    let host = registry.host();
    let reference = Reference::parse_oci(&format!("oci://{host}/charts/web:1.0.0")).unwrap();
    let trusting = RegistrySettings {
        authorities: Some(registry.authority().pem().into()),
        ..RegistrySettings::for_host(&host)
    };
    let insecure = RegistrySettings { insecure_tls: true, ..RegistrySettings::for_host(&host) };
    for settings in [trusting, insecure] {
        let client = client(settings, account());
        let Content::Image(manifest) = client.manifest(&reference).unwrap().content().unwrap() else {
            panic!("a chart is no index");
        };
        assert_eq!(manifest.layers[0].media_type, CHART);
        let mut chart = Vec::new();
        client.blob(reference.repository(), &manifest.layers[0], 100, &mut chart).unwrap();
        assert_eq!(chart, b"chart");
    }
    let error = client(RegistrySettings::for_host(&host), account()).manifest(&reference).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Tls, "{error}");
    assert_eq!(error.get_hint(), Some("trust its authority, or let it not be checked"));
    let error = client(plain(&registry), account()).manifest(&reference).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Protocol, "{error}");
    let plain_registry = DockerRegistry::start(RegistryHabits::default());
    let settings = RegistrySettings::for_host(&plain_registry.host());
    let error = client(settings, None).check(&plain_registry.host()).unwrap_err();
    assert_eq!(
        (error.kind(), error.get_hint()),
        (ErrorKind::Tls, Some("does it speak plain http?")),
        "{error}"
    );
}

#[test]
fn a_client_proves_itself_by_its_certificate() {
    let registry = DockerRegistry::start(RegistryHabits {
        tls: true,
        client_certificate: true,
        ..RegistryHabits::default()
    });
    registry.push_image("team/app", "1.0.0", "linux/amd64", "2024-01-01T00:00:00Z");
    let own = registry.authority().certify("reader");
    let settings = |client_certificate| RegistrySettings {
        authorities: Some(registry.authority().pem().into()),
        client_certificate,
        ..RegistrySettings::for_host(&registry.host())
    };
    let certificate =
        ClientCertificate { certificate: own.pem().into(), key: Secret::new(own.key_pem().into_bytes()) };
    client(settings(Some(certificate)), None).digest(&image(&registry, "team/app:1.0.0")).unwrap();
    let error = client(settings(None), None).digest(&image(&registry, "team/app:1.0.0")).unwrap_err();
    // In TLS 1.3 the server says so only after the client's first words, and may hang up before it is heard.
    assert!(matches!(error.kind(), ErrorKind::Tls | ErrorKind::Unavailable), "{error}");
    let wrong = ClientCertificate { certificate: own.pem().into(), key: Secret::new(b"no key".to_vec()) };
    let error = client(settings(Some(wrong)), None).digest(&image(&registry, "team/app:1.0.0")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
}
