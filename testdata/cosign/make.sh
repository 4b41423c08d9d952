#!/bin/sh
# Makes the keys, payloads and signatures of this folder anew, with OpenSSL only: what is verified in tests was signed by
# another program. Private keys are thrown away. Forms are those of cosign's specs/SIGNATURE_SPEC.md, of DSSE's
# protocol.md and of Sigstore's sigstore_bundle.proto.
set -eu
cd "$(dirname "$0")"
secret=$(mktemp -d)
trap 'rm -rf "$secret"' EXIT
rm -f ./*.pub ./*.sig ./*.json

key() { # NAME, ARGUMENTS OF genpkey
    name=$1
    shift
    openssl genpkey "$@" -out "$secret/$name.pem" 2>/dev/null
    openssl pkey -in "$secret/$name.pem" -pubout -out "$name.pub"
}

sign() { # KEY, HASH, FILE
    case $1 in
        ed25519) openssl pkeyutl -sign -rawin -inkey "$secret/$1.pem" -in "$3" | base64 -w0 ;;
        *) openssl dgst "-$2" -sign "$secret/$1.pem" "$3" | base64 -w0 ;;
    esac
}

key p256 -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -pkeyopt ec_param_enc:named_curve
key p384 -algorithm EC -pkeyopt ec_paramgen_curve:P-384 -pkeyopt ec_param_enc:named_curve
key ed25519 -algorithm ED25519
key rsa2048 -algorithm RSA -pkeyopt rsa_keygen_bits:2048
key other -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -pkeyopt ec_param_enc:named_curve
# What is refused.
key p521 -algorithm EC -pkeyopt ec_paramgen_curve:P-521 -pkeyopt ec_param_enc:named_curve
key secp256k1 -algorithm EC -pkeyopt ec_paramgen_curve:secp256k1 -pkeyopt ec_param_enc:named_curve
key rsa1024 -algorithm RSA -pkeyopt rsa_keygen_bits:1024
key rsapss -algorithm RSA-PSS -pkeyopt rsa_keygen_bits:2048
openssl ec -in "$secret/p256.pem" -pubout -conv_form compressed -out p256-compressed.pub 2>/dev/null
openssl ec -in "$secret/p256.pem" -pubout -param_enc explicit -out p256-explicit.pub 2>/dev/null

printf '%s' '{"schemaVersion":2,"mediaType":"application/vnd.oci.image.index.v1+json","manifests":[]}' > manifest.json
digest=$(sha256sum manifest.json | cut -d' ' -f1)
other=$(printf another | sha256sum | cut -d' ' -f1)

payload() { # DIGEST
    printf '%s' "{\"critical\":{\"identity\":{\"docker-reference\":\"registry.example/team/app\"},\"image\":{\"docker-manifest-digest\":\"sha256:$1\"},\"type\":\"cosign container image signature\"},\"optional\":null}"
}
payload "$digest" > simple.json
payload "$other" > simple-other.json

for signed in p256:sha256 p384:sha256 p384:sha384 ed25519: rsa2048:sha256 rsa2048:sha512 other:sha256; do
    name=${signed%%:*} hash=${signed##*:}
    sign "$name" "$hash" simple.json > "simple.$name$hash.sig"
done
sign p256 sha256 simple-other.json > simple-other.p256sha256.sig
# By a hash that nobody may take any more, and with padding that cosign does not make.
sign p256 sha1 simple.json > simple.p256sha1.sig
openssl dgst -sha256 -sign "$secret/rsa2048.pem" -sigopt rsa_padding_mode:pss simple.json | base64 -w0 > simple.rsa2048pss.sig

statement() { # DIGEST, PREDICATE TYPE
    printf '%s' "{\"_type\":\"https://in-toto.io/Statement/v1\",\"subject\":[{\"digest\":{\"sha256\":\"$1\"}}],\"predicateType\":\"$2\",\"predicate\":{}}"
}

bundle() { # FILE, KEY, HASH, STATEMENT
    type=application/vnd.in-toto+json
    printf '%s' "$4" > "$secret/statement"
    printf 'DSSEv1 %d %s %d %s' "${#type}" "$type" "$(wc -c < "$secret/statement")" "$4" > "$secret/pae"
    hint=$(openssl pkey -pubin -in "$2.pub" -outform DER | openssl dgst -sha256 -binary | base64 -w0)
    printf '%s\n' "{\"mediaType\":\"application/vnd.dev.sigstore.bundle.v0.3+json\",\"verificationMaterial\":{\"publicKey\":{\"hint\":\"$hint\"},\"tlogEntries\":[]},\"dsseEnvelope\":{\"payload\":\"$(base64 -w0 < "$secret/statement")\",\"payloadType\":\"$type\",\"signatures\":[{\"sig\":\"$(sign "$2" "$3" "$secret/pae")\"}]}}" > "$1"
}
signature=https://sigstore.dev/cosign/sign/v1
bundle bundle.p256.json p256 sha256 "$(statement "$digest" $signature)"
bundle bundle.p384.json p384 sha384 "$(statement "$digest" $signature)"
bundle bundle.ed25519.json ed25519 "" "$(statement "$digest" $signature)"
bundle bundle.rsa2048.json rsa2048 sha256 "$(statement "$digest" $signature)"
bundle bundle.other.json other sha256 "$(statement "$digest" $signature)"
bundle bundle-other.p256.json p256 sha256 "$(statement "$other" $signature)"
bundle bundle-provenance.p256.json p256 sha256 "$(statement "$digest" https://slsa.dev/provenance/v1)"

message=$(openssl dgst -sha256 -binary manifest.json | base64 -w0)
printf '%s\n' "{\"mediaType\":\"application/vnd.dev.sigstore.bundle+json;version=0.2\",\"verificationMaterial\":{\"publicKey\":{}},\"messageSignature\":{\"messageDigest\":{\"algorithm\":\"SHA2_256\",\"digest\":\"$message\"},\"signature\":\"$(sign p256 sha256 manifest.json)\"}}" > message.p256.json
