//! Text in other forms and back: base64, base32, JSON; and checksums of it.

use gostd::{base32, base64};
use sha1::Sha1;
use sha2::{Digest, Sha256, Sha512};

use super::args::text;
use crate::Context;
use crate::error::CallError;
use crate::function::Function;
use crate::json::{Style, decode, encode};
use crate::value::{Type, Value};

pub(super) const FUNCS: &[Function] = &[
    Function::new("adler32sum", &[Type::String], adler32sum),
    Function::new("b32dec", &[Type::String], b32dec),
    Function::new("b32enc", &[Type::String], |_, args| Ok(base32::encode(text(args, 0)).into())),
    Function::new("b64dec", &[Type::String], b64dec),
    Function::new("b64enc", &[Type::String], |_, args| Ok(base64::encode(text(args, 0)).into())),
    Function::new("fromJson", &[Type::String], from_json),
    Function::new("mustFromJson", &[Type::String], must_from_json),
    Function::new("mustToJson", &[Type::Any], |context, args| json(context, args, Style::COMPACT)),
    Function::new("mustToPrettyJson", &[Type::Any], |context, args| json(context, args, Style::PRETTY)),
    Function::new("mustToRawJson", &[Type::Any], |context, args| json(context, args, Style::RAW)),
    Function::new("sha1sum", &[Type::String], |_, args| Ok(hex(&Sha1::digest(text(args, 0))).into())),
    Function::new("sha256sum", &[Type::String], |_, args| Ok(hex(&Sha256::digest(text(args, 0))).into())),
    Function::new("sha512sum", &[Type::String], |_, args| Ok(hex(&Sha512::digest(text(args, 0))).into())),
    Function::new("toJson", &[Type::Any], |context, args| json_or_nothing(context, args, Style::COMPACT)),
    Function::new("toPrettyJson", &[Type::Any], |context, args| {
        json_or_nothing(context, args, Style::PRETTY)
    }),
    Function::new("toRawJson", &[Type::Any], |context, args| json(context, args, Style::RAW)),
];

/// The result for a text that is not base64 is the error's text.
fn b64dec(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    Ok(base64::decode(text(args, 0)).map_or_else(|error| error.to_string().into(), Value::from))
}

fn b32dec(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    Ok(base32::decode(text(args, 0)).map_or_else(|error| error.to_string().into(), Value::from))
}

fn json(context: &mut Context<'_>, args: &[Value], style: Style) -> Result<Value, CallError> {
    Ok(encode(&args[0], style, context.options().limits.output)?.into())
}

fn json_or_nothing(context: &mut Context<'_>, args: &[Value], style: Style) -> Result<Value, CallError> {
    Ok(json(context, args, style).unwrap_or_else(|_| "".into()))
}

/// Returns what a text says; nothing if it is no JSON.
fn from_json(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    Ok(decode(text(args, 0)).map_or(Value::Nil, |decoded| decoded.value))
}

fn must_from_json(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    let decoded = decode(text(args, 0))?;
    match decoded.out_of_range {
        Some(number) => Err(number.to_string().into()),
        None => Ok(decoded.value),
    }
}

/// The bytes in hexadecimal.
fn hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .filter_map(|digit| char::from_digit(digit.into(), 16))
        .collect()
}

fn adler32sum(_: &mut Context<'_>, args: &[Value]) -> Result<Value, CallError> {
    const MODULUS: u32 = 65_521;
    // So many bytes can be summed up before the sums are too large for their type.
    const ROUND: usize = 5_552;
    let (mut low, mut high) = (1u32, 0u32);
    for round in text(args, 0).chunks(ROUND) {
        for byte in round {
            low += u32::from(*byte);
            high += low;
        }
        low %= MODULUS;
        high %= MODULUS;
    }
    Ok((high << 16 | low).to_string().into())
}

#[cfg(test)]
mod tests {
    use crate::funcs::testing::{check, check_refusals};

    // What Helm 4.3.1 makes of these.
    const CASES: &[(&str, &str)] = &[
        (
            r#"{{ b64enc "héllo" }}|{{ b64dec "aMOpbGxv" }}|{{ b64dec "a" }}|{{ b32enc "hello" }}|{{ b32dec "NBSWY3DP" }}|{{ b32dec "!" }}"#,
            "aMOpbGxv|héllo|illegal base64 data at input byte 0|NBSWY3DP|hello|illegal base32 data at input byte 0",
        ),
        (
            r#"{{ sha1sum "a" }}|{{ sha256sum "" }}|{{ sha512sum "a" | trunc 20 }}|{{ adler32sum "Wikipedia" }}|{{ adler32sum (repeat 9999 "\u00ff") }}"#,
            "86f7e437faa5a7fce15d1ddcb9eaeaea377667b8|e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855|1f40fc92da2416947509|300286872|1470228485",
        ),
        (
            r#"{{ toRawJson (dict "a" "<&>\u2028" "b" (list 1.5 nil)) }}|{{ toPrettyJson (dict "a" (list 1)) }}|{{ mustFromJson "{\"a\":[1,2.5,null,\"\\u00e9\"]}" }}|{{ mustFromJson "{\"a\":1}" | typeOf }}"#,
            "{\"a\":\"<&>\\u2028\",\"b\":[1.5,null]}|{\n  \"a\": [\n    1\n  ]\n}|map[a:[1 2.5 <nil> é]]|map[string]interface {}",
        ),
    ];
    const REFUSALS: &[(&str, &str)] = &[
        (r#"{{ mustFromJson "[1" }}"#, "unexpected end of JSON input"),
        (r#"{{ mustFromJson "[1e400]" }}"#, "json: cannot unmarshal number 1e400 into .0 of type float64"),
        (r#"{{ toRawJson (float64 "inf") }}"#, "json: unsupported value: +Inf"),
        ("{{ mustToPrettyJson (list 1i) }}", "json: unsupported type: complex128"),
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
