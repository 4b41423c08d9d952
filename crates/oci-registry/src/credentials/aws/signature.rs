//! Signature Version 4, by which AWS knows who asks: "Signing AWS API requests" of its reference. In: a `POST` to `/`
//! and the keys. Out: the headers to send with it. No other request is made here, so no other is signed.

use hmac::{Hmac, KeyInit, Mac};
use jiff::Timestamp;
use sha2::{Digest as _, Sha256};

use super::identity::Keys;

const ALGORITHM: &str = "AWS4-HMAC-SHA256";

/// The signed parts of a request.
pub(super) struct Signed<'s> {
    pub(super) host: &'s str,
    pub(super) region: &'s str,
    pub(super) service: &'s str,
    /// Names in lower case.
    pub(super) headers: &'s [(&'static str, &'s str)],
    pub(super) body: &'s str,
}

impl Signed<'_> {
    /// The headers that are sent beside the signed ones.
    pub(super) fn headers(&self, keys: &Keys, now: Timestamp) -> Vec<(&'static str, String)> {
        let time = now.strftime("%Y%m%dT%H%M%SZ").to_string();
        let day = &time[..8];
        let mut headers: Vec<(&str, &str)> = self.headers.to_vec();
        headers.extend([("host", self.host), ("x-amz-date", &time)]);
        let token = keys.session_token.as_ref();
        headers.extend(token.map(|token| ("x-amz-security-token", token.expose().as_str())));
        headers.sort_unstable();
        let names: Vec<&str> = headers.iter().map(|(name, _)| *name).collect();
        let names = names.join(";");
        let scope = format!("{day}/{}/{}/aws4_request", self.region, self.service);
        let request = self.canonical(&headers, &names);
        let text = format!("{ALGORITHM}\n{time}\n{scope}\n{}", hex(&Sha256::digest(request)));
        let signature = hex(&hmac(&self.key(keys, day), &text));
        let access_key = &keys.access_key;
        let authorization = format!(
            "{ALGORITHM} Credential={access_key}/{scope}, SignedHeaders={names}, Signature={signature}"
        );
        let token = token.map(|token| ("x-amz-security-token", token.expose().clone()));
        let mut sent = vec![("authorization", authorization), ("x-amz-date", time)];
        sent.extend(token);
        sent
    }

    fn canonical(&self, headers: &[(&str, &str)], names: &str) -> String {
        let lines: String = headers.iter().map(|(name, value)| format!("{name}:{value}\n")).collect();
        format!("POST\n/\n\n{lines}\n{names}\n{}", hex(&Sha256::digest(self.body)))
    }

    fn key(&self, keys: &Keys, day: &str) -> [u8; 32] {
        let secret = format!("AWS4{}", keys.secret_key.expose());
        let parts = [day, self.region, self.service, "aws4_request"];
        let first = hmac(secret.as_bytes(), parts[0]);
        parts[1..].iter().fold(first, |key, part| hmac(&key, part))
    }
}

fn hmac(key: &[u8], text: &str) -> [u8; 32] {
    // A key of any length is one.
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("keys of any length are accepted");
    mac.update(text.as_bytes());
    mac.finalize().into_bytes().into()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::secret::Secret;

    const TOKEN: &str = "AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfpSPfIeoIYRqTflfKD8YUuwthAx7mSEI/qkPpKPi/kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPkyQDYwT7WZ0wq5VSXDvp75YU9HFvlRd8Tx6q6fE8YQcHNVXAkiY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBAz+scqKmlzm8FDrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2ICCR/oLxBA==";

    fn keys(token: Option<&str>) -> Keys {
        Keys {
            access_key: "AKIDEXAMPLE".to_owned(),
            secret_key: Secret::from("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"),
            session_token: token.map(Secret::from),
        }
    }

    /// The cases of AWS' test suite that are a `POST` to `/`: `post-vanilla`, `post-header-key-sort`,
    /// `post-x-www-form-urlencoded`, `post-sts-header-before`.
    #[test]
    fn signatures_are_those_that_aws_published() {
        let form = [("content-type", "application/x-www-form-urlencoded")];
        for (headers, body, token, names, want) in [
            (
                &[][..],
                "",
                None,
                "host;x-amz-date",
                "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b",
            ),
            (
                &[("my-header1", "value1")],
                "",
                None,
                "host;my-header1;x-amz-date",
                "c5410059b04c1ee005303aed430f6e6645f61f4dc9e1461ec8f8916fdf18852c",
            ),
            (
                &form,
                "Param1=value1",
                None,
                "content-type;host;x-amz-date",
                "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a",
            ),
            (
                &[],
                "",
                Some(TOKEN),
                "host;x-amz-date;x-amz-security-token",
                "85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead",
            ),
        ] {
            let signed = Signed {
                host: "example.amazonaws.com",
                region: "us-east-1",
                service: "service",
                headers,
                body,
            };
            let now = "2015-08-30T12:36:00Z".parse().unwrap();
            let sent = signed.headers(&keys(token), now);
            let authorization = format!(
                "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, \
                 SignedHeaders={names}, Signature={want}"
            );
            assert_eq!(sent[0], ("authorization", authorization));
            assert_eq!(sent[1], ("x-amz-date", "20150830T123600Z".to_owned()));
            assert_eq!(sent.get(2), token.map(|token| ("x-amz-security-token", token.to_owned())).as_ref());
        }
    }

    /// "Deriving the signing key" of AWS' reference.
    #[test]
    fn the_key_is_for_a_day_a_region_and_a_service() {
        let signed = Signed { host: "", region: "us-east-1", service: "iam", headers: &[], body: "" };
        let key = hex(&signed.key(&keys(None), "20150830"));
        assert_eq!(key, "c4afb1cc5771d871763a393e44b703571b55cc28424d1a5e86da6ed3c154a4b9");
    }
}
