//! Passwords: their hashes, and those derived from a master password.

use bcrypt::bcrypt as bcrypt_raw;
use hmac::{Hmac, KeyInit as _, Mac as _};
use scrypt::Params;
use sha2::Sha256;

use crate::context::Context;
use crate::error::CallError;
use crate::funcs::args::{lossy, text};
use crate::function::Function;
use crate::value::{Type, UintKind, Value};

const TEXT: Type = Type::String;

pub(in crate::funcs) const FUNCS: &[Function] = &[
    Function::new("bcrypt", &[TEXT], |context, args| Ok(hash(context, text(args, 0))?.into())),
    Function::new("derivePassword", &[Type::Uint(UintKind::Uint32), TEXT, TEXT, TEXT, TEXT], derive_password),
    Function::new("htpasswd", &[TEXT, TEXT], htpasswd),
];

/// Maximum number of times two to this the password that is worked in.
const COST: u32 = 10;

/// Maximum number of bytes of a password that bcrypt uses.
const LONGEST: usize = 72;

/// The digits of the base64 that bcrypt has of its own.
const DIGITS: &[u8; 64] = b"./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/// The hash with its salt, as files of passwords have it; or the complaint, which Sprig returns too.
fn hash(context: &mut Context<'_>, password: &[u8]) -> Result<String, CallError> {
    if password.len() > LONGEST {
        let reason = "bcrypt: password length exceeds 72 bytes";
        return Ok(format!("failed to encrypt string with bcrypt: {reason}"));
    }
    // Some 50 milliseconds.
    context.spend(1_000_000)?;
    let mut salt = [0; 16];
    context.fill_random(&mut salt)?;
    let hash = bcrypt_raw(COST, salt, &[password, &[0]].concat());
    // Of the 24 bytes the last is left out.
    Ok(format!("$2a${COST}${}{}", encode(&salt), encode(&hash[..23])))
}

fn encode(bytes: &[u8]) -> String {
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let number =
            chunk.iter().fold(0u32, |number, byte| number << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for place in 0..=chunk.len() {
            out.push(char::from(DIGITS[(number >> (18 - 6 * place) & 63) as usize]));
        }
    }
    out
}

fn htpasswd(context: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let user = lossy(args, 0);
    if user.contains(':') {
        return Ok(format!("invalid username: {user}").into());
    }
    let hash = hash(context, text(args, 1))?;
    Ok(format!("{user}:{hash}").into())
}

const SEED: &[u8] = b"com.lyndir.masterpassword";

/// The forms of a kind of password, each letter of which stands for a class of characters.
fn forms(kind: &str) -> Option<&'static [&'static str]> {
    Some(match kind {
        "maximum" => &["anoxxxxxxxxxxxxxxxxx", "axxxxxxxxxxxxxxxxxno"],
        "long" => &[
            "CvcvnoCvcvCvcv",
            "CvcvCvcvnoCvcv",
            "CvcvCvcvCvcvno",
            "CvccnoCvcvCvcv",
            "CvccCvcvnoCvcv",
            "CvccCvcvCvcvno",
            "CvcvnoCvccCvcv",
            "CvcvCvccnoCvcv",
            "CvcvCvccCvcvno",
            "CvcvnoCvcvCvcc",
            "CvcvCvcvnoCvcc",
            "CvcvCvcvCvccno",
            "CvccnoCvccCvcv",
            "CvccCvccnoCvcv",
            "CvccCvccCvcvno",
            "CvcvnoCvccCvcc",
            "CvcvCvccnoCvcc",
            "CvcvCvccCvccno",
            "CvccnoCvcvCvcc",
            "CvccCvcvnoCvcc",
            "CvccCvcvCvccno",
        ],
        "medium" => &["CvcnoCvc", "CvcCvcno"],
        "short" => &["Cvcn"],
        "basic" => &["aaanaaan", "aannaaan", "aaannaaa"],
        "pin" => &["nnnn"],
        _ => return None,
    })
}

fn characters(class: u8) -> &'static [u8] {
    match class {
        b'V' => b"AEIOU",
        b'C' => b"BCDFGHJKLMNPQRSTVWXYZ",
        b'v' => b"aeiou",
        b'c' => b"bcdfghjklmnpqrstvwxyz",
        b'A' => b"AEIOUBCDFGHJKLMNPQRSTVWXYZ",
        b'a' => b"AEIOUaeiouBCDFGHJKLMNPQRSTVWXYZbcdfghjklmnpqrstvwxyz",
        b'n' => b"0123456789",
        b'o' => b"@&%?,=[]_:-+*$#!'^~;()/.",
        _ => b"AEIOUaeiouBCDFGHJKLMNPQRSTVWXYZbcdfghjklmnpqrstvwxyz0123456789!@#$%^&*()",
    }
}

/// The password of a user at a site, by the Master Password algorithm.
fn derive_password(context: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let counter = match args[0] {
        Value::Uint(_, counter) => counter as u32,
        _ => 0,
    };
    let kind = lossy(args, 1);
    let Some(forms) = forms(&kind) else {
        return Ok(format!("cannot find password template {kind}").into());
    };
    // Some 100 milliseconds, and 32 MiB.
    context.spend(2_000_000)?;
    let failed = |reason: String| CallError::new(format!("failed to derive password: {reason}"));
    let params = Params::new(15, 8, 2).map_err(|error| failed(error.to_string()))?;
    let mut key = [0; 64];
    scrypt::scrypt(text(args, 2), &named(text(args, 3), &[]), &params, &mut key)
        .map_err(|error| failed(error.to_string()))?;
    let mut mac = Hmac::<Sha256>::new_from_slice(&key).map_err(|error| failed(error.to_string()))?;
    mac.update(&named(text(args, 4), &counter.to_be_bytes()));
    let seed = mac.finalize().into_bytes();
    let form = forms[usize::from(seed[0]) % forms.len()];
    let password = form.bytes().zip(&seed[1..]).map(|(class, byte)| {
        let characters = characters(class);
        char::from(characters[usize::from(*byte) % characters.len()])
    });
    Ok(password.collect::<String>().into())
}

/// The seed, a name after its length, and what follows it.
fn named(name: &[u8], after: &[u8]) -> Vec<u8> {
    [SEED, &(name.len() as u32).to_be_bytes(), name, after].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::funcs::testing::check;

    // A test vector of OpenBSD's implementation, which jBCrypt has too.
    #[test]
    fn hashes_are_those_of_other_implementations() {
        let salt = *b"\x10\x41\x04\x10\x41\x04\x10\x41\x04\x10\x41\x04\x10\x41\x04\x10";
        assert_eq!(encode(&salt), "CCCCCCCCCCCCCCCCCCCCC.");
        let hash = bcrypt_raw(5, salt, b"U*U\0");
        assert_eq!(encode(&hash[..23]), "E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW");
    }

    // What Helm 4.3.1 makes of these.
    const CASES: &[(&str, &str)] = &[
        (
            r#"{{ derivePassword 1 "long" "password" "user" "example.com" }}|{{ derivePassword 2 "maximum" "pw" "é" "s" }}|{{ derivePassword 1 "pin" "" "" "" }}"#,
            "ZedaFaxcZaso9*|C4%DMHOPvFvSs2cFhS*D|1578",
        ),
        (
            r#"{{ derivePassword 1 "nope" "a" "b" "c" }}|{{ htpasswd "a:b" "c" }}|{{ bcrypt (repeat 73 "a") }}|{{ bcrypt "a" | len }}"#,
            "cannot find password template nope|invalid username: a:b|failed to encrypt string with bcrypt: bcrypt: password length exceeds 72 bytes|60",
        ),
    ];

    #[test]
    fn answers_are_those_of_helm() {
        check(CASES);
    }
}
