//! Amounts as Kubernetes writes them (apimachinery's `resource.Quantity`).

/// The suffixes, but for exponents.
const SUFFIXES: [&str; 16] =
    ["", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

/// Returns true if a text is an amount: `1`, `-0.5`, `100m`, `1e3`, `2Gi`.
#[must_use]
pub fn is_quantity(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let end = unsigned.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(unsigned.len());
    let (number, suffix) = unsigned.split_at(end);
    let has_digits = number.bytes().any(|byte| byte.is_ascii_digit());
    let is_number = has_digits && number.matches('.').count() <= 1;
    is_number && (SUFFIXES.contains(&suffix) || is_exponent(suffix))
}

fn is_exponent(suffix: &str) -> bool {
    let Some(exponent) = suffix.strip_prefix(['e', 'E']) else { return false };
    let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// apimachinery/pkg/api/resource: ParseQuantity and its tests.
    #[test]
    fn amounts_are_as_kubernetes_reads_them() {
        for text in
            ["0", "1", "-1", "+1.5", ".5", "1.", "100m", "1k", "1Ki", "2Gi", "1e3", "1E-3", "1E", "12E"]
        {
            assert!(is_quantity(text), "{text}");
        }
        for text in ["", "m", "1 Gi", "1gi", "1GB", "1KI", "1e", "1ee3", "1.1.1", ".", "--1", "0x10", "1Gi "]
        {
            assert!(!is_quantity(text), "{text}");
        }
    }
}
