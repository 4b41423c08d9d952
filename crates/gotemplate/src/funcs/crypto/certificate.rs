//! Certificates for a while, signed by themselves or by another.

use std::any::Any;
use std::net::IpAddr;

use gostd::base64;

use super::key::PrivateKey;
use super::pem;
use super::rsa::RsaKey;
use super::x509::{Certificate, Issuer, Template};
use crate::context::{Context, Now};
use crate::error::CallError;
use crate::fmt::sprint;
use crate::funcs::args::{int, lossy, text};
use crate::funcs::big::Natural;
use crate::function::Function;
use crate::value::{Object, Str, Type, Value};

const TEXT: Type = Type::String;
const CERTIFICATE: Type = Type::Named("sprig.certificate", &Type::Struct);

/// The size of keys that are made for a certificate.
const BITS: usize = 2048;

pub(in crate::funcs) const FUNCS: &[Function] = &[
    Function::new("buildCustomCert", &[TEXT, TEXT], build_custom_cert),
    Function::new("genCA", &[TEXT, Type::INT], |context, args| gen_ca(context, args, None)),
    Function::new("genCAWithKey", &[TEXT, Type::INT, TEXT], |context, args| gen_ca(context, args, Some(2))),
    Function::new("genSelfSignedCert", &[TEXT, Type::LIST, Type::LIST, Type::INT], |context, args| {
        gen_self_signed(context, args, None)
    }),
    Function::new(
        "genSelfSignedCertWithKey",
        &[TEXT, Type::LIST, Type::LIST, Type::INT, TEXT],
        |context, args| gen_self_signed(context, args, Some(4)),
    ),
    Function::new(
        "genSignedCert",
        &[TEXT, Type::LIST, Type::LIST, Type::INT, CERTIFICATE],
        |context, args| gen_signed(context, args, None),
    ),
    Function::new(
        "genSignedCertWithKey",
        &[TEXT, Type::LIST, Type::LIST, Type::INT, CERTIFICATE, TEXT],
        |context, args| gen_signed(context, args, Some(5)),
    ),
];

/// A certificate and its private key, both in PEM.
#[derive(Debug, PartialEq, Eq)]
struct Pair {
    cert: Str,
    key: Str,
}

impl Object for Pair {
    fn go_type(&self) -> Type {
        CERTIFICATE
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn field(&self, name: &str) -> Option<Value> {
        match name {
            "Cert" => Some(self.cert.clone().into()),
            "Key" => Some(self.key.clone().into()),
            _ => None,
        }
    }

    fn fields(&self) -> Vec<(&'static str, Value)> {
        vec![("Cert", self.cert.clone().into()), ("Key", self.key.clone().into())]
    }

    fn equals(&self, other: &dyn Object) -> bool {
        other.as_any().downcast_ref() == Some(self)
    }
}

fn build_custom_cert(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let cert = base64::decode(text(args, 0)).map_err(|_| "unable to decode base64 certificate")?;
    let key = base64::decode(text(args, 1)).map_err(|_| "unable to decode base64 private key")?;
    parse_certificate(&cert, "decodedCert")?;
    PrivateKey::from_pem(&key).map_err(|error| format!("error parsing private key: {error}"))?;
    Ok(Value::object(Pair { cert: cert.into(), key: key.into() }))
}

fn parse_certificate(text: &[u8], variable: &str) -> Result<Certificate, CallError> {
    let block = pem::decode(text).ok_or("unable to decode certificate")?;
    let certificate = Certificate::from_der(&block.bytes);
    certificate.ok_or_else(|| {
        format!("error parsing certificate: {variable}.Bytes: x509: malformed certificate").into()
    })
}

fn gen_ca(context: &mut Context<'_>, args: &[Value], key: Option<usize>) -> Result<Value, CallError> {
    let key = key_at(context, args, key)?;
    let template = Template { is_ca: true, ..template(context, args, &Value::Nil, &Value::Nil, 1)? };
    sign_self(&template, &key)
}

fn gen_self_signed(
    context: &mut Context<'_>,
    args: &[Value],
    key: Option<usize>,
) -> Result<Value, CallError> {
    let key = key_at(context, args, key)?;
    sign_self(&template(context, args, &args[1], &args[2], 3)?, &key)
}

fn sign_self(template: &Template, key: &PrivateKey) -> Result<Value, CallError> {
    sign(template, key, &Issuer { subject: template.subject(), key_id: None, key })
}

fn gen_signed(context: &mut Context<'_>, args: &[Value], key: Option<usize>) -> Result<Value, CallError> {
    let key = key_at(context, args, key)?;
    let ca = args[4].as_object::<Pair>().ok_or("no certificate")?;
    let certificate = parse_certificate(&ca.cert, "decodedSignerCert")?;
    let ca_key =
        PrivateKey::from_pem(&ca.key).map_err(|error| format!("error parsing private key: {error}"))?;
    let template = template(context, args, &args[1], &args[2], 3)?;
    if ca_key.public_info().is_some_and(|(info, _)| info != certificate.public_key) {
        let reason = "x509: provided PrivateKey doesn't match parent's PublicKey";
        return Err(format!("error creating certificate: {reason}").into());
    }
    let issuer = Issuer { subject: certificate.subject, key_id: certificate.key_id, key: &ca_key };
    sign(&template, &key, &issuer)
}

/// The key that is an argument, or a new one.
fn key_at(context: &mut Context<'_>, args: &[Value], index: Option<usize>) -> Result<PrivateKey, CallError> {
    match index {
        None => Ok(PrivateKey::Rsa(RsaKey::generate(context, BITS)?)),
        Some(index) => {
            let key = PrivateKey::from_pem(text(args, index));
            key.map_err(|error| format!("parsing private key: {error}").into())
        }
    }
}

/// Returns what the certificate says: `args` begins with the name and has at `days` for how long it holds.
fn template(
    context: &mut Context<'_>,
    args: &[Value],
    addresses: &Value,
    names: &Value,
    days: usize,
) -> Result<Template, CallError> {
    const DAY: i64 = 24 * 3_600;
    let addresses = addresses_of(context, addresses)?;
    let dns_names = names_of(context, names)?;
    let mut serial = [0; 16];
    context.fill_random(&mut serial)?;
    let now = context.now();
    // As nanoseconds the time is an int64, and wraps around as one.
    let valid = int(args, days).wrapping_mul(DAY).wrapping_mul(1_000_000_000) / 1_000_000_000;
    Ok(Template {
        common_name: lossy(args, 0),
        addresses,
        dns_names,
        serial: Natural::from_bytes(&serial),
        not_before: now,
        not_after: Now { seconds: now.seconds.saturating_add(valid), ..now },
        is_ca: false,
    })
}

/// The strings of a list, or what is said of an item that is none.
fn strings_of(context: &Context<'_>, list: &Value, complaint: &str) -> Result<Vec<Str>, CallError> {
    let Value::List(list) = list else { return Ok(Vec::new()) };
    let string = |item: &Value| {
        item.as_str().cloned().ok_or_else(|| {
            let text =
                sprint(std::slice::from_ref(item), context.options().limits.output).unwrap_or_default();
            CallError::new(format!("{complaint}: {} is not a string", String::from_utf8_lossy(&text)))
        })
    };
    list.items().iter().map(string).collect()
}

fn addresses_of(context: &Context<'_>, list: &Value) -> Result<Vec<IpAddr>, CallError> {
    let strings = strings_of(context, list, "error parsing ip")?;
    let address = |text: &Str| {
        let text = text.to_text();
        text.parse().map_err(|_| CallError::new(format!("error parsing ip: {text}")))
    };
    strings.iter().map(address).collect()
}

fn names_of(context: &Context<'_>, list: &Value) -> Result<Vec<Vec<u8>>, CallError> {
    let strings = strings_of(context, list, "error processing alternate dns name")?;
    Ok(strings.iter().map(|name| name.to_vec()).collect())
}

fn sign(template: &Template, key: &PrivateKey, issuer: &Issuer<'_>) -> Result<Value, CallError> {
    let der = template.sign(key, issuer).map_err(|error| format!("error creating certificate: {error}"))?;
    Ok(Value::object(Pair { cert: pem::encode("CERTIFICATE", &der).into(), key: key.to_pem().into() }))
}

#[cfg(test)]
mod tests {
    use crate::funcs::testing::{check, check_refusals};

    const KEY: &str = r#"{{ $k := genPrivateKey "ecdsa" }}{{ $a := genCAWithKey "a" 1 $k }}"#;

    #[test]
    fn a_certificate_and_its_key_are_fields() {
        let both = r#"{{ hasPrefix "-----BEGIN CERTIFICATE-----" $a.Cert }}|{{ eq $a.Key $k }}|{{ typeOf $a }}|{{ kindOf $a }}"#;
        let built = r#"|{{ deepEqual $a (buildCustomCert (b64enc $a.Cert) (b64enc $a.Key)) }}"#;
        check(&[(&format!("{KEY}{both}{built}"), "true|true|sprig.certificate|struct|true")]);
    }

    // The words are those of Helm 4.3.1.
    #[test]
    fn what_makes_no_certificate_is_refused() {
        check_refusals(&[
            (r#"{{ buildCustomCert "!" "x" }}"#, "unable to decode base64 certificate"),
            (r#"{{ buildCustomCert "YQ==" "!" }}"#, "unable to decode base64 private key"),
            (r#"{{ buildCustomCert "YQ==" "YQ==" }}"#, "unable to decode certificate"),
            (
                r#"{{ buildCustomCert (b64enc "-----BEGIN CERTIFICATE-----\nYWJj\n-----END CERTIFICATE-----\n") "" }}"#,
                "error parsing certificate: decodedCert.Bytes: x509: malformed certificate",
            ),
            (
                &format!(r#"{KEY}{{{{ genSelfSignedCertWithKey "x" (list 1) nil 1 $k }}}}"#),
                "error parsing ip: 1 is not a string",
            ),
            (
                &format!(r#"{KEY}{{{{ genSelfSignedCertWithKey "x" (list "1.2.3") nil 1 $k }}}}"#),
                "error parsing ip: 1.2.3",
            ),
            (
                &format!(r#"{KEY}{{{{ genSelfSignedCertWithKey "x" nil (list 1) 1 $k }}}}"#),
                "error processing alternate dns name: 1 is not a string",
            ),
            (
                &format!(r#"{KEY}{{{{ genSelfSignedCertWithKey "x" nil (list "é") 1 $k }}}}"#),
                "error creating certificate: x509: \"é\" cannot be encoded as an IA5String",
            ),
            (
                &format!(
                    r#"{KEY}{{{{ $b := buildCustomCert (b64enc $a.Cert) (b64enc (genPrivateKey "ecdsa")) }}}}{{{{ genSignedCertWithKey "x" nil nil 1 $b $k }}}}"#
                ),
                "error creating certificate: x509: provided PrivateKey doesn't match parent's PublicKey",
            ),
        ]);
    }
}
