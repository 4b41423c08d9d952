//! Sizes in bytes as Kubernetes writes them: `512Mi`, `1G`, `1000000`.

const UNITS: [(&str, u64); 8] = [
    ("Ki", 1 << 10),
    ("Mi", 1 << 20),
    ("Gi", 1 << 30),
    ("Ti", 1 << 40),
    ("k", 1_000),
    ("M", 1_000_000),
    ("G", 1_000_000_000),
    ("T", 1_000_000_000_000),
];

/// Reads a size, for clap.
pub(super) fn parse(text: &str) -> Result<u64, String> {
    let unit = UNITS.iter().find_map(|(unit, factor)| Some((text.strip_suffix(unit)?, *factor)));
    let (number, factor) = unit.unwrap_or((text, 1));
    let size = number.parse::<u64>().ok().and_then(|number| number.checked_mul(factor));
    size.filter(|size| *size > 0).ok_or_else(|| "a size is a number with a unit, such as `512Mi`".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        for (text, want) in
            [("512Mi", Some(512 << 20)), ("1G", Some(1_000_000_000)), ("7", Some(7)), ("2k", Some(2000))]
        {
            assert_eq!(parse(text).ok(), want, "{text}");
        }
        for wrong in ["", "Mi", "1.5Gi", "-1", "0", "1MB", "99999999Ti"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
