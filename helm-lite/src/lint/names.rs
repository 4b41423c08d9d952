//! Names of Kubernetes objects: whether they are what a kind asks for.
//!
//! In: a kind and a name. Out: nothing, or what is wrong with it in Kubernetes' words.

const MAX_SUBDOMAIN: usize = 253;
const MAX_LABEL: usize = 63;

const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const LABEL: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const OLD_LABEL: &str = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";

/// Returns what is wrong with the name of an object.
pub(super) fn fault(kind: &str, name: &str) -> Option<String> {
    let faults = match kind.to_lowercase().as_str() {
        "service" => old_label(name),
        "namespace" => label(name),
        "certificatesigningrequest" => Vec::new(),
        "role" | "clusterrole" | "rolebinding" | "clusterrolebinding" => path_segment(name),
        _ => subdomain(name),
    };
    let quoted = gostd::quoted(name.as_bytes());
    let invalid: Vec<String> =
        faults.iter().map(|fault| format!("metadata.name: Invalid value: {quoted}: {fault}")).collect();
    let listed = match invalid.as_slice() {
        [] => return None,
        [one] => one.clone(),
        several => format!("[{}]", several.join(", ")),
    };
    Some(format!("object name does not conform to Kubernetes naming requirements: {quoted}: {listed}"))
}

fn subdomain(name: &str) -> Vec<String> {
    let mut faults = too_long(name, MAX_SUBDOMAIN);
    if !is_subdomain(name) {
        faults.push(SUBDOMAIN.to_owned());
    }
    faults
}

fn label(name: &str) -> Vec<String> {
    let mut faults = too_long(name, MAX_LABEL);
    if !is_label(name, is_word) {
        // A name that is all right but for its dots is told so.
        let fault = if is_subdomain(name) { "must not contain dots" } else { LABEL };
        faults.push(fault.to_owned());
    }
    faults
}

fn old_label(name: &str) -> Vec<String> {
    let mut faults = too_long(name, MAX_LABEL);
    if !is_label(name, |c| c.is_ascii_lowercase()) {
        faults.push(OLD_LABEL.to_owned());
    }
    faults
}

fn path_segment(name: &str) -> Vec<String> {
    if name == "." || name == ".." {
        return vec![format!("may not be '{name}'")];
    }
    let contained = ["/", "%"].iter().filter(|part| name.contains(**part));
    contained.map(|part| format!("may not contain '{part}'")).collect()
}

fn too_long(name: &str, most: usize) -> Vec<String> {
    if name.len() > most { vec![format!("must be no more than {most} characters")] } else { Vec::new() }
}

fn is_subdomain(text: &str) -> bool {
    text.split('.').all(|part| is_label(part, is_word))
}

fn is_word(c: u8) -> bool {
    c.is_ascii_lowercase() || c.is_ascii_digit()
}

fn is_label(text: &str, may_start: impl Fn(u8) -> bool) -> bool {
    let bytes = text.as_bytes();
    let ends = bytes.first().zip(bytes.last());
    ends.is_some_and(|(first, last)| may_start(*first) && is_word(*last))
        && bytes.iter().all(|c| is_word(*c) || *c == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As `helm lint` says it.
    #[test]
    fn a_kind_has_its_own_rules() {
        for (kind, name) in [
            ("Pod", "a.b-c.0"),
            ("Service", "web-1"),
            ("Namespace", "1web"),
            ("ClusterRole", "system:Node"),
            ("CertificateSigningRequest", "A B"),
            ("Anything", "a"),
        ] {
            assert_eq!(fault(kind, name), None, "{kind} {name}");
        }
        for (kind, name, wanted) in [
            ("Service", "1web", OLD_LABEL),
            ("Namespace", "a.b", "must not contain dots"),
            ("Namespace", "A.b", LABEL),
            ("Pod", "", SUBDOMAIN),
            ("Role", "..", "may not be '..'"),
            ("Pod", &"a".repeat(254), "must be no more than 253 characters"),
        ] {
            let fault = fault(kind, name).expect(name);
            assert!(fault.ends_with(&format!("metadata.name: Invalid value: {name:?}: {wanted}")), "{fault}");
        }
        assert_eq!(
            fault("Role", "a/b%").as_deref(),
            Some(
                "object name does not conform to Kubernetes naming requirements: \"a/b%\": [metadata.name: Invalid value: \"a/b%\": may not contain '/', metadata.name: Invalid value: \"a/b%\": may not contain '%']"
            )
        );
    }
}
