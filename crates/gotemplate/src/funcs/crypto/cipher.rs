//! AES in CBC mode, with a key that is the password itself.

use aes::Aes256;
use aes::cipher::{BlockCipherDecrypt as _, BlockCipherEncrypt as _, KeyInit as _};
use gostd::base64;

use crate::context::Context;
use crate::error::CallError;
use crate::funcs::args::text;
use crate::function::Function;
use crate::value::{Type, Value};

const BLOCK: usize = 16;

pub(in crate::funcs) const FUNCS: &[Function] = &[
    Function::new("decryptAES", &[Type::String, Type::String], decrypt),
    Function::new("encryptAES", &[Type::String, Type::String], encrypt),
];

/// The cipher whose key is the beginning of the password, with zeros up to its length.
fn cipher(password: &[u8]) -> Aes256 {
    let mut key = [0; 32];
    let length = password.len().min(key.len());
    key[..length].copy_from_slice(&password[..length]);
    Aes256::new(&key.into())
}

fn encrypt(context: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let plain = text(args, 1);
    if plain.is_empty() {
        return Ok("".into());
    }
    let cipher = cipher(text(args, 0));
    let mut previous = [0; BLOCK];
    context.fill_random(&mut previous)?;
    let mut out = previous.to_vec();
    // What is missing in the last block is filled with bytes that say how many they are.
    let padding = BLOCK - plain.len() % BLOCK;
    let padded = [plain, &vec![padding as u8; padding]].concat();
    for block in padded.as_chunks::<BLOCK>().0 {
        let mut mixed = std::array::from_fn(|index| block[index] ^ previous[index]).into();
        cipher.encrypt_block(&mut mixed);
        previous = mixed.into();
        out.extend(previous);
    }
    Ok(base64::encode(&out).into())
}

fn decrypt(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let encoded = text(args, 1);
    if encoded.is_empty() {
        return Ok("".into());
    }
    let crypt = base64::decode(encoded).map_err(|error| error.to_string())?;
    let (blocks, rest) = crypt.as_chunks::<BLOCK>();
    let Some((first, blocks)) = blocks.split_first() else {
        return Err(too_short(encoded.len() / 4 * 3, crypt.len()));
    };
    if !rest.is_empty() {
        return Err("crypto/cipher: input not full blocks".into());
    }
    let cipher = cipher(text(args, 0));
    let mut previous = *first;
    let mut out = Vec::with_capacity(crypt.len());
    for block in blocks {
        let mut mixed = (*block).into();
        cipher.decrypt_block(&mut mixed);
        let mixed: [u8; BLOCK] = mixed.into();
        out.extend((0..BLOCK).map(|index| mixed[index] ^ previous[index]));
        previous = *block;
    }
    let padding = *out.last().ok_or("runtime error: index out of range [-1]")?;
    let length = out.len().checked_sub(padding.into()).ok_or_else(|| {
        format!("runtime error: slice bounds out of range [:-{}]", usize::from(padding) - out.len())
    })?;
    out.truncate(length);
    Ok(out.into())
}

/// Returns what Go says when it cuts the first block off less than one, in space that may be enough.
fn too_short(capacity: usize, length: usize) -> CallError {
    CallError::new(if capacity < BLOCK {
        format!("runtime error: slice bounds out of range [:{BLOCK}] with capacity {capacity}")
    } else {
        format!("runtime error: slice bounds out of range [{BLOCK}:{length}]")
    })
}

#[cfg(test)]
mod tests {
    use crate::funcs::testing::{check, check_refusals};

    // What Helm 4.3.1 makes of these.
    const CASES: &[(&str, &str)] = &[
        (
            r#"{{ decryptAES "secretkey" "" }}|{{ encryptAES "k" "" }}|{{ encryptAES "k" "text" | decryptAES "k" }}|{{ encryptAES (repeat 40 "k") (repeat 16 "é") | decryptAES (repeat 32 "k") }}|{{ encryptAES "k" "0123456789abcdef" | b64dec | len }}"#,
            "||text|éééééééééééééééé|48",
        ),
        (r#"{{ decryptAES "secretkey" "30tEfhuJSVRhpG97XCuWgz2okj7L8vQ1s6V9zVUPeDQ=" }}"#, "plaintext"),
    ];
    const REFUSALS: &[(&str, &str)] = &[
        (r#"{{ decryptAES "k" "!!" }}"#, "illegal base64 data at input byte 0"),
        (r#"{{ decryptAES "k" "AAAA" }}"#, "runtime error: slice bounds out of range [:16] with capacity 3"),
        (r#"{{ decryptAES "k" "AAAAAAAAAAAAAAAAAAAAAAAA" }}"#, "crypto/cipher: input not full blocks"),
        (r#"{{ decryptAES "k" "AAAAAAAAAAAAAAAAAAAAAA==" }}"#, "runtime error: index out of range [-1]"),
        (
            r#"{{ decryptAES "k" "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=" }}"#,
            "runtime error: slice bounds out of range [:-19]",
        ),
    ];

    #[test]
    fn answers_are_those_of_helm() {
        check(CASES);
    }

    #[test]
    fn refusals_are_in_the_words_of_helm() {
        check_refusals(REFUSALS);
    }
}
