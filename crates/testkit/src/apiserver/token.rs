//! Tokens of service accounts, as `TokenRequest` asks for them. They have the form of real ones, and are signed by nobody.

use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use super::call::{Call, Verb};
use super::cluster::{Cluster, Reply};
use super::failure::{Cause, Failure};
use super::metadata;

/// Of a token, in seconds, where nobody says.
const USUAL_LIFE: u64 = 3600;

const SHORTEST_LIFE: u64 = 600;

const ISSUER: &str = "https://kubernetes.default.svc.cluster.local";

/// `POST …/serviceaccounts/NAME/token`
pub(super) fn create(cluster: &Cluster, call: &Call) -> Result<Reply, Failure> {
    if call.verb != Verb::Create {
        return Err(Failure::method_not_allowed());
    }
    let mut request: Value = serde_json::from_slice(&call.body).map_err(|error| {
        Failure::bad_request(format!("couldn't get version/kind; json parse error: {error}"))
    })?;
    let Some(account) = cluster.store.get(&call.resource.table, &call.key(&call.name)) else {
        return Err(call.resource.not_found(&call.name));
    };
    let life = request["spec"]["expirationSeconds"].as_u64().unwrap_or(USUAL_LIFE);
    if life < SHORTEST_LIFE {
        let cause = Cause::invalid(
            "spec.expirationSeconds",
            &request["spec"]["expirationSeconds"],
            "may not specify a duration less than 10 minutes",
        );
        return Err(Failure::invalid("authentication.k8s.io", "TokenRequest", "", &[cause]));
    }
    if request["spec"]["audiences"].as_array().is_none_or(Vec::is_empty) {
        request["spec"]["audiences"] = json!([ISSUER]);
    }
    request["spec"]["expirationSeconds"] = life.into();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("it is after 1970").as_secs();
    let end = i64::try_from(now + life).ok().and_then(|end| jiff::Timestamp::from_second(end).ok());
    let end = end.ok_or_else(|| Failure::bad_request("spec.expirationSeconds: may not be so far away"))?;
    let claims = json!({
        "iss": ISSUER,
        "sub": format!("system:serviceaccount:{}:{}", call.namespace, call.name),
        "aud": request["spec"]["audiences"], "iat": now, "nbf": now, "exp": now + life,
        "kubernetes.io": {
            "namespace": call.namespace,
            "serviceaccount": {"name": call.name, "uid": metadata::text(account, "uid")},
        },
    });
    request["apiVersion"] = "authentication.k8s.io/v1".into();
    request["kind"] = "TokenRequest".into();
    request["metadata"] = json!({
        "name": call.name, "namespace": call.namespace, "creationTimestamp": metadata::now(),
    });
    request["status"] = json!({"token": unsigned(&claims), "expirationTimestamp": end.to_string()});
    Ok(Reply { code: 201, value: request, warnings: Vec::new() })
}

fn unsigned(claims: &Value) -> String {
    let header = json!({"alg": "RS256", "kid": "of-tests"});
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    format!("{}.{}.{}", part(&header), part(claims), URL_SAFE_NO_PAD.encode("signed by nobody"))
}
