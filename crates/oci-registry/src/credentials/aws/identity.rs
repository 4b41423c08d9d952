//! The AWS identity of a workload. Input: variables, and the files that they name. Output: the first keys available
//! from variables, a role of its service account (IRSA), an agent (EKS Pod Identity, ECS), and the role of its
//! machine.

use diagnostic::{Error, Result};
use serde::Deserialize;

use super::partition::suffix_of;
use crate::credentials::cloud::ask::{Ask, Session};
use crate::credentials::cloud::surroundings::Surroundings;
use crate::credentials::memo::{Given, Memo};
use crate::credentials::{missing, moment};
use crate::secret::Secret;

/// The agent of ECS.
const CONTAINER_HOST: &str = "http://169.254.170.2";

/// The agents that may be asked without TLS beside those on this machine: of ECS, and of EKS by both kinds of addresses.
const AGENT_HOSTS: [&str; 3] = ["169.254.170.2", "169.254.170.23", "[fd00:ec2::23]"];

/// The metadata server of a machine.
const MACHINE_HOST: &str = "http://169.254.169.254";

/// The regions for which the whole world's STS may be meant, by `AWS_STS_REGIONAL_ENDPOINTS=legacy`.
const LEGACY_REGIONS: &str = "ap-northeast-1 ap-south-1 ap-southeast-1 ap-southeast-2 ca-central-1 eu-central-1 \
     eu-north-1 eu-west-1 eu-west-2 eu-west-3 sa-east-1 us-east-1 us-east-2 us-west-1 us-west-2";

const STS: &str = "the token service of AWS";
const AGENT: &str = "the agent for credentials of AWS";
const MACHINE: &str = "the metadata server of AWS";

/// By what AWS knows who signs.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Keys {
    pub(super) access_key: String,
    pub(super) secret_key: Secret<String>,
    pub(super) session_token: Option<Secret<String>>,
}

/// Gives keys.
pub(super) struct Identity {
    surroundings: Surroundings,
    known: Memo<Keys>,
}

/// The answer of an agent or metadata server.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Answer {
    access_key_id: String,
    secret_access_key: String,
    token: Option<String>,
    expiration: Option<String>,
}

impl Identity {
    pub(super) fn new(surroundings: &Surroundings) -> Self {
        Self { surroundings: surroundings.clone(), known: Memo::default() }
    }

    /// Returns true if the environment says who the workload is.
    pub(super) fn is_announced(&self) -> bool {
        let has = |names: &[&str]| self.surroundings.has(names);
        has(&["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"])
            || has(&["AWS_ROLE_ARN", "AWS_WEB_IDENTITY_TOKEN_FILE"])
            || has(&["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"])
            || has(&["AWS_CONTAINER_CREDENTIALS_FULL_URI"])
    }

    /// The keys, asked for in a region unless the environment names another.
    pub(super) fn keys(&self, region: &str, session: &Session) -> Result<Keys> {
        self.known.get("", self.surroundings.now(), || self.ask(region, session))
    }

    /// Keys that were refused are asked for again.
    pub(super) fn forget(&self, refused: &Keys) {
        self.known.forget(|known| known == refused);
    }

    fn ask(&self, region: &str, session: &Session) -> Result<Given<Keys>> {
        let variables = &self.surroundings;
        if variables.has(&["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"]) {
            return self.of_variables();
        }
        if variables.has(&["AWS_WEB_IDENTITY_TOKEN_FILE"]) {
            return self.of_role(region, session);
        }
        if let Some(path) = variables.text("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI") {
            return self.of_agent(&format!("{CONTAINER_HOST}{path}"), session);
        }
        if let Some(address) = variables.text("AWS_CONTAINER_CREDENTIALS_FULL_URI") {
            return self.of_agent(&address, session);
        }
        if variables.is_true("AWS_EC2_METADATA_DISABLED") {
            return Err(unknown("no credentials in the environment, and the metadata server is disabled"));
        }
        self.of_machine(session)
    }

    fn of_variables(&self) -> Result<Given<Keys>> {
        let variables = &self.surroundings;
        let value = Keys {
            access_key: variables.required("AWS_ACCESS_KEY_ID")?,
            secret_key: Secret::new(variables.required("AWS_SECRET_ACCESS_KEY")?),
            session_token: variables.text("AWS_SESSION_TOKEN").map(Secret::new),
        };
        Ok(Given { value, until: None })
    }

    /// The role that the service account may take on.
    fn of_role(&self, region: &str, session: &Session) -> Result<Given<Keys>> {
        let variables = &self.surroundings;
        let token = variables.token_file(&variables.required("AWS_WEB_IDENTITY_TOKEN_FILE")?)?;
        let role = variables.required("AWS_ROLE_ARN")?;
        let name = variables.text("AWS_ROLE_SESSION_NAME");
        let ask = Ask::service(STS, &self.sts(region))?.form(&[
            ("Action", "AssumeRoleWithWebIdentity"),
            ("Version", "2011-06-15"),
            ("RoleArn", &role),
            ("RoleSessionName", name.as_deref().unwrap_or(variables.program())),
            ("WebIdentityToken", token.expose()),
        ]);
        let answer = session.text(&ask)?;
        let given = Answer::of_xml(&answer).and_then(|answer| answer.given(variables));
        given.ok_or_else(|| missing(STS, "its answer cannot be read"))
    }

    /// Returns where a role is asked for.
    fn sts(&self, region: &str) -> String {
        let variables = &self.surroundings;
        if let Some(address) =
            variables.text("AWS_ENDPOINT_URL_STS").or_else(|| variables.text("AWS_ENDPOINT_URL"))
        {
            return address;
        }
        let named = variables.text("AWS_REGION").or_else(|| variables.text("AWS_DEFAULT_REGION"));
        let region = named.as_deref().unwrap_or(region);
        let is_legacy = variables.text("AWS_STS_REGIONAL_ENDPOINTS").is_some_and(|kind| kind == "legacy");
        if is_legacy && LEGACY_REGIONS.split(' ').any(|known| known == region) {
            return "https://sts.amazonaws.com/".to_owned();
        }
        let service = if variables.is_true("AWS_USE_FIPS_ENDPOINT") { "sts-fips" } else { "sts" };
        format!("https://{service}.{region}.{}/", suffix_of(region))
    }

    /// Returns what an agent beside the workload has for it.
    fn of_agent(&self, address: &str, session: &Session) -> Result<Given<Keys>> {
        let mut ask = Ask::metadata(AGENT, address)?;
        if !ask.is_secure() && !ask.is_loopback() && !AGENT_HOSTS.contains(&ask.host_name()) {
            let host = ask.host();
            return Err(unknown(&format!("`{host}` is not an AWS agent, and must be reached with TLS")));
        }
        let variables = &self.surroundings;
        let token = match variables.text("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE") {
            Some(path) => Some(variables.token_file(&path)?),
            None => variables.text("AWS_CONTAINER_AUTHORIZATION_TOKEN").map(Secret::new),
        };
        if let Some(token) = token {
            ask = ask.header("authorization", token.expose())?;
        }
        self.read(AGENT, session.json(&ask)?)
    }

    /// Returns what the machine may do, by the second version of its metadata server.
    fn of_machine(&self, session: &Session) -> Result<Given<Keys>> {
        let base = self.surroundings.text("AWS_EC2_METADATA_SERVICE_ENDPOINT");
        let base = base.as_deref().unwrap_or(MACHINE_HOST).trim_end_matches('/');
        let ask = Ask::metadata(MACHINE, &format!("{base}/latest/api/token"))?
            .put()
            .header("x-aws-ec2-metadata-token-ttl-seconds", "300")?;
        let token = Secret::new(session.text(&ask).map_err(|error| {
            error.hint("bind a role to the service account of this program, by IRSA or EKS Pod Identity")
        })?);
        let get = |address: &str| {
            Ask::metadata(MACHINE, address)?.header("x-aws-ec2-metadata-token", token.expose())
        };
        let roles = format!("{base}/latest/meta-data/iam/security-credentials/");
        let role = session.text(&get(&roles)?)?;
        let role = role.lines().next().unwrap_or_default().trim();
        if role.is_empty() || role.contains(['/', '?', '#', '%']) {
            return Err(missing(MACHINE, "the machine does not have a role"));
        }
        self.read(MACHINE, session.json(&get(&format!("{roles}{role}"))?)?)
    }

    fn read(&self, service: &str, answer: Answer) -> Result<Given<Keys>> {
        let given = answer.given(&self.surroundings);
        given.ok_or_else(|| missing(service, "it lacks an expiry time for its keys"))
    }
}

impl Answer {
    fn of_xml(text: &str) -> Option<Self> {
        let credentials = element(text, "Credentials")?;
        Some(Self {
            access_key_id: element(credentials, "AccessKeyId")?.to_owned(),
            secret_access_key: element(credentials, "SecretAccessKey")?.to_owned(),
            token: element(credentials, "SessionToken").map(str::to_owned),
            expiration: element(credentials, "Expiration").map(str::to_owned),
        })
    }

    fn given(self, surroundings: &Surroundings) -> Option<Given<Keys>> {
        let expires = moment::parse(&self.expiration?)?;
        let value = Keys {
            access_key: self.access_key_id,
            secret_key: Secret::new(self.secret_access_key),
            session_token: self.token.map(Secret::new),
        };
        Some(Given::expiring(value, surroundings.now(), expires))
    }
}

/// The text of an element. Keys have none of the characters that XML writes otherwise.
fn element<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(&format!("<{name}>"))?;
    let (content, _) = rest.split_once(&format!("</{name}>"))?;
    Some(content.trim())
}

fn unknown(reason: &str) -> Error {
    missing("AWS", reason)
        .hint("bind a role to the service account of this program, by IRSA or EKS Pod Identity")
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;

    fn identity(set: &'static [(&str, &str)]) -> Identity {
        let variable =
            |name: &str| set.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value));
        Identity::new(&Surroundings::new(variable))
    }

    #[test]
    fn roles_are_asked_for_in_the_region_of_the_workload() {
        let sts = |set| identity(set).sts("eu-west-1");
        assert_eq!(sts(&[]), "https://sts.eu-west-1.amazonaws.com/");
        assert_eq!(sts(&[("AWS_REGION", "cn-north-1")]), "https://sts.cn-north-1.amazonaws.com.cn/");
        assert_eq!(sts(&[("AWS_DEFAULT_REGION", "us-east-2")]), "https://sts.us-east-2.amazonaws.com/");
        const LEGACY: (&str, &str) = ("AWS_STS_REGIONAL_ENDPOINTS", "legacy");
        assert_eq!(sts(&[LEGACY]), "https://sts.amazonaws.com/");
        assert_eq!(sts(&[LEGACY, ("AWS_REGION", "af-south-1")]), "https://sts.af-south-1.amazonaws.com/");
        assert_eq!(sts(&[("AWS_USE_FIPS_ENDPOINT", "true")]), "https://sts-fips.eu-west-1.amazonaws.com/");
        assert_eq!(sts(&[("AWS_ENDPOINT_URL_STS", "https://vpce.example")]), "https://vpce.example");
    }

    #[test]
    fn agents_are_asked_without_tls_only_where_they_are() {
        let set = &[("AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://169.254.169.254/role")];
        let identity = identity(set);
        assert!(identity.is_announced());
        let session = Session::new(&identity.surroundings);
        let error = identity.keys("eu-west-1", &session).map(|_| ()).unwrap_err();
        assert!(error.message().contains("`169.254.169.254` is not an AWS agent"), "{error}");
    }

    #[test]
    fn an_answer_without_an_end_of_its_time_is_none() {
        let answer = "<R><Credentials><AccessKeyId>A</AccessKeyId><SecretAccessKey>S</SecretAccessKey>";
        let surroundings = Surroundings::new(|_| None);
        let given = |more: &str| {
            let text = format!("{answer}{more}</Credentials></R>");
            Answer::of_xml(&text).and_then(|answer| answer.given(&surroundings)).map(|given| given.value)
        };
        assert!(given("").is_none());
        let keys = given("<SessionToken> T </SessionToken><Expiration>2999-01-01T00:00:00Z</Expiration>");
        assert_eq!(keys.unwrap().session_token, Some(Secret::from("T")));
    }
}
