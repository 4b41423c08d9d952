#!/usr/bin/env python3
"""Makes src/schemas.json.gz, the schemas of Kubernetes' own kinds.

    pip download --no-deps kubernetes-validate==1.37.0
    python3 update.py kubernetes_validate-1.37.0-py3-none-any.whl 1.32 1.33 1.34 1.35 1.36 1.37

The wheel (PyPI, Apache-2.0) holds what openapi2jsonschema makes of Kubernetes' published OpenAPI documents, for each
minor version. Descriptions are left out, which are nine tenths of it; a type that is the same in several versions is
kept once. The result is the same bytes for the same wheel and versions.

    {"minors": ["1.32", ...],
     "types": [{"n": name, "m": bits of the minors, "s": schema, "g": [[group, version, kind], ...]}, ...]}

A schema is {"t": type, "f": format, "p": properties, "r": required, "i": items, "a": additional properties,
"$": name of a type, "e": enum, "l": list type, "k": list map keys}, each key only where it says something. The type
`quantity` and `int-or-string` are Kubernetes' own, and no type means any value.
"""
import gzip
import json
import sys
import zipfile

FOLDER = "kubernetes_validate/kubernetes-json-schema/v%s.0-local/_definitions.json"
OWN = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity": {"t": "quantity"},
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": {"t": "int-or-string"},
}


def compact(schema):
    out = {}
    if "$ref" in schema:
        out["$"] = schema["$ref"].rpartition("/")[2]
        return out
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = [name for name in kind if name != "null"][0]
    for key, value in (
        ("t", kind),
        ("f", schema.get("format")),
        ("r", sorted(schema.get("required", []))),
        ("e", schema.get("enum")),
        ("l", schema.get("x-kubernetes-list-type")),
        ("k", schema.get("x-kubernetes-list-map-keys")),
    ):
        if value:
            out[key] = value
    if "properties" in schema:
        out["p"] = {name: compact(inner) for name, inner in sorted(schema["properties"].items())}
    if isinstance(schema.get("items"), dict):
        out["i"] = compact(schema["items"])
    if isinstance(schema.get("additionalProperties"), dict):
        out["a"] = compact(schema["additionalProperties"])
    return out


def main():
    wheel, minors = sys.argv[1], sys.argv[2:]
    types = {}
    with zipfile.ZipFile(wheel) as archive:
        for bit, minor in enumerate(minors):
            for name, schema in json.loads(archive.read(FOLDER % minor))["$defs"].items():
                kinds = [[g["group"], g["version"], g["kind"]] for g in schema.get("x-kubernetes-group-version-kind", [])]
                # `apiVersion` and `kind` are how a type is chosen; what they allow follows from that.
                for field in ("apiVersion", "kind"):
                    schema.get("properties", {}).get(field, {}).pop("enum", None)
                entry = {"n": name, "s": OWN.get(name) or compact(schema), "g": sorted(kinds)}
                if not kinds:
                    del entry["g"]
                key = json.dumps(entry, sort_keys=True)
                types.setdefault(key, dict(entry, m=0))["m"] |= 1 << bit
    listed = sorted(types.values(), key=lambda entry: (entry["n"], entry["m"]))
    text = json.dumps({"minors": minors, "types": listed}, separators=(",", ":"), sort_keys=True)
    with open("src/schemas.json.gz", "wb") as out:
        out.write(gzip.compress(text.encode(), 9, mtime=0))


if __name__ == "__main__":
    main()
